"""The families of repairs that synthesis knows, as documentation: what ``docs/rules.md`` says of them.

Rules in egglog text are documented in their files; a repair is derived for each program by
:mod:`equiforge.egraph.families`, so its families are documented here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RepairFamily:
    """One family: ``c`` is what the consumer holds, ``s`` and ``s′`` the producer before and after, ``g`` what is added
    for an element. ``guard`` is what keeps rows and parts harmless that have seen nothing yet, ``certificate`` what
    SymPy shows before a repair is used."""

    name: str
    statement: str
    condition: str
    reason: str
    guard: str
    certificate: str
    tests: str = ""
    up_to: str = ""
    """Which non-finite values loop and program may differ in, as of rules."""


@dataclass(frozen=True)
class RepairRefusal:
    """Contributions that are not fused, and a part of the reason that the tool gives."""

    equality: str
    reason: str


_STAND_IN = "0 stands in for a state at an infinite identity, 1 for a sum of 0 that is divided by"

REPAIR_FAMILIES = (
    RepairFamily(
        "factor",
        "h(c, s, s′) = c · g(x,s′)/g(x,s); softmax: c · exp(s − s′)",
        "the quotient is free of x, and positive where the consumer is a maximum",
        "a factor of all terms leaves their sum, and a positive one their maximum",
        _STAND_IN,
        "h(g(x,s)) − g(x,s′) = 0",
        "repair/softmax.mlir",
    ),
    RepairFamily(
        "summand",
        "h(c, s, s′) = c + g(x,s′) − g(x,s)",
        "the difference is free of x, and the consumer is a maximum or minimum",
        "what is added to every element is added to their maximum",
        f"{_STAND_IN}; nothing is added while s′ = s",
        "h(g(x,s)) − g(x,s′) = 0",
        "repair/softmax.mlir",
    ),
    RepairFamily(
        "reset",
        "h(c, s, s′) = c if s′ = s, else e; argmax: e = no index yet",
        "the producer is a maximum or minimum of x, e = g(x,s′) for every x that came before, and ρ(e,e) = e",
        "an element that is no longer the maximum contributes what all such elements contribute",
        "states are read as they are, NaN is one state; an e that is not the identity waits for a first element",
        "g(s′ − d, s′) = e for every d > 0",
        "repair/argmax.mlir",
    ),
    RepairFamily(
        "moments",
        "h(c, s, s′) = f · (c + Σₖ Dₖ (u′ − u)ᵏ) with g = e·q, f = e(x,s′)/e(x,s), Dₖ = Σ e ∂ᵏq/∂uᵏ / k!; "
        "sum of squares about the mean: c + D₁ (u′ − u) + n (u′ − u)²; "
        "entropy Σ p log p of a softmax: f = exp(m − m′) · l/l′, u = m + log l, D₁ = −Σ p",
        "the consumer is a sum, f is free of x, and q a polynomial of degree 1 to 4 in one u, "
        "which is made of one or more states, or is the mean s/n of a sum",
        "Taylor's formula; N·u is the sum of all N elements once n = N; Dₖ is a multiple of n or a further state",
        f"{_STAND_IN}; an empty part (n = 0) keeps what it holds; nothing moves while u′ = u",
        "e(x,s′) − f·e(x,s) = 0, and h(Σ g(xᵢ,u)) − Σ g(xᵢ,u′) = 0 for one, two and three elements and any u",
        "repair/moments.mlir",
        "NaN for an infinity, where an input other than x is infinite (a weight w): w·(x − μ)² is ∞, and a sum of "
        "moments may be ∞ − ∞",
    ),
    RepairFamily(
        "chain",
        "h(c, s, s′) = c · g(x,s′)/g(x,s) for several states s; Σ p² of a softmax: c · exp(2 (m − m′)) · (l/l′)²",
        "a state is the producer, one of its consumers, or another reduction over the axis; the quotient is free of x",
        "as for one state: all move at once; several states may also make the u of moments",
        _STAND_IN,
        "h(g(x,s)) − g(x,s′) = 0",
        "repair/chain.mlir",
    ),
)
REPAIR_CHECK = (
    "Each derived loop is also run at scalars before it is used: on rows with −inf, inf, NaN and huge values in each "
    "place, with equal values, and with nothing in the first tiles or in any. Loop and merge of up to four parts, in "
    "several splits, must give what the reductions of the program give one after the other."
)
REPAIR_REFUSALS = (
    RepairRefusal(
        "tanh(x − s), sigmoid(x − s), exp(x·s), |x − mean|, (x − mean of x)·(y − mean of y)",
        "neither factor nor summand",
    ),
    RepairRefusal("a summand under a sum whose elements are not counted", "it counts once for each element"),
    RepairRefusal("exp(x − s) under a product", "a factor does not distribute over a product"),
    RepairRefusal("x·s under a maximum, s a sum", "is not known positive"),
    RepairRefusal("a norm or a quotient by a running sum, which may be 0 on its way", "is not finite"),
    RepairRefusal("exp(w − s), s the maximum of another input", "does not read the producer's own input"),
    RepairRefusal("exp(x − s) under a maximum", "does not contribute the consumer's identity"),
    RepairRefusal("the largest element below the maximum", "which still depends on it"),
    RepairRefusal("the number of elements below the maximum", "adds up"),
    RepairRefusal("a comparison with a running sum", "no running maximum or minimum of the compared input"),
    RepairRefusal("a select of which one branch follows s and the other does not", "in a branch of a select"),
    RepairRefusal("a select between two rates of exp", "need different repairs"),
    RepairRefusal("erf(x − s)", "without a symbolic form"),
    RepairRefusal(
        "Σ p log p with the logarithm of p itself: NaN where p is 0 in the end, not on the way", "merge gives"
    ),
)
