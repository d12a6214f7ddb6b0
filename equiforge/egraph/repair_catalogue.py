"""The families of repairs that synthesis knows, as documentation: what ``docs/rules.md`` says of them.

Rules in egglog text are documented in their files; a repair is derived for each program by
:mod:`equiforge.egraph.symbolic`, so its families are documented here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RepairFamily:
    """One family: ``c`` is what the consumer holds, ``s`` and ``s′`` the producer before and after, ``g`` what is added
    for an element."""

    name: str
    statement: str
    condition: str
    reason: str
    tests: str = ""


@dataclass(frozen=True)
class RepairRefusal:
    """Contributions that are not fused, and the reason given for it."""

    equality: str
    reason: str


REPAIR_FAMILIES = (
    RepairFamily(
        "factor",
        "h(c, s, s′) = c · g(x,s′)/g(x,s); softmax: c · exp(s − s′)",
        "the quotient is free of x, and positive where the consumer is a maximum",
        "a factor of all terms leaves their sum, and a positive one their maximum",
    ),
    RepairFamily(
        "summand",
        "h(c, s, s′) = c + g(x,s′) − g(x,s)",
        "the difference is free of x, and the consumer is a maximum or minimum",
        "what is added to every element is added to their maximum",
    ),
)
REPAIR_REFUSALS = (
    RepairRefusal("a summand under a sum", "it counts once for each element"),
    RepairRefusal("a factor under a product", "a factor does not distribute over a product"),
    RepairRefusal("neither factor nor summand is free of the inputs", "no repair can follow the producer"),
    RepairRefusal(
        "an input that is the producer's identity contributes something else than the consumer's identity",
        "a row that has seen nothing yet could not be guarded",
    ),
)
