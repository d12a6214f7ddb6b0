"""Repairs of contributions that are polynomial in the state, under a sum: Taylor's formula about the old state.

With g(x, u) = Σₖ tₖ(x, u) and Dₖ = Σ ∂ᵏg/∂uᵏ / k! over the elements so far,

    Σ g(x, u') = Σ g(x, u) + Σₖ Dₖ (u' - u)ᵏ        and        Dₖ becomes Σⱼ C(k+j, j) Dₖ₊ⱼ (u' - u)ʲ

so that the Dₖ follow the state as well. Where the producer is a sum, u is the mean s/n of the n elements so far, and
N·u stands for the total of all N: it is the total once n = N. Of a sum of squares about the mean this makes
M + D₁ (u' - u) + n (u' - u)² (Chan, Golub, LeVeque 1979), of higher powers the formulas of Pébay (2008).

There D₁ = -2 Σ (x - u) vanishes, as the deviations from a mean add up to 0. But they do not add up to 0 about the
*rounded* mean that the loop has: left out, D₁ costs digits in proportion to mean/deviation. As a state it costs one
sum of small numbers, and the result is as accurate as that of a second pass.
"""

from __future__ import annotations

import math
from typing import Any

from equiforge.egraph.contributions import IDENTITY, Tree
from equiforge.egraph.repair_forms import COUNT, HELD, OLD_COUNT, Hidden, Problem, Repair, compare
from equiforge.egraph.symbolic import holds_at_samples, sympy_module, to_tree

_HIGHEST = 4
_MOST = 1 << 24
"""Elements that are counted exactly in f32."""


def moments(problem: Problem) -> Repair | None:
    """The repair, or None if the contribution is no polynomial in the one state that it reads."""
    sympy, state = sympy_module(), problem.states[0]
    s = problem.symbols.get(("state",))
    if problem.consumer != "sum" or len(problem.states) > 1 or s is None or not 0 < problem.extent <= _MOST:
        return None
    if problem.g.has(sympy.Abs, sympy.Max, sympy.Min) or not problem.g.is_polynomial(s):
        return None
    taylor = _Taylor(problem, s)
    if not 1 <= taylor.degree <= _HIGHEST:
        return None
    repair, contribution = taylor.follow(0), taylor.within(0)
    hidden = taylor.hidden()
    if repair is None or contribution is None or hidden is None or not taylor.holds():
        return None
    guarded = (0,) if math.isinf(IDENTITY[state.reducer]) else ()
    contribution = contribution if taylor.averaged else problem.tree
    return Repair("map", repair, taylor.certificate(), "moments", contribution, guarded, hidden)


class _Taylor:
    """The terms of one contribution: ``terms[k]`` is ∂ᵏg/∂uᵏ / k!, ``closed[k]`` its sum in n and u, or None."""

    def __init__(self, problem: Problem, s: Any):
        sympy = sympy_module()
        self.problem = problem
        self.averaged = problem.states[0].reducer == "sum"
        self.u = sympy.Symbol("u", real=True)
        self.n = sympy.Symbol("n", positive=True)
        self.g = problem.g.subs(s, problem.extent * self.u if self.averaged else self.u)
        self.degree = int(sympy.degree(sympy.expand(self.g), self.u))
        self.known = {symbol: tree for tree, symbol in problem.symbols.items() if tree[0] in ("input", "const")}
        # In factors: expanded, w·(x - u) would be a difference of large numbers.
        self.terms = [sympy.factor(self.g.diff(self.u, k) / sympy.factorial(k)) for k in range(self.degree + 1)]
        self.closed = [self._closed(term) for term in self.terms]
        before, after = self._mean("old"), self._mean("new")
        difference: Tree = ("binary", ("sub",), after, before)
        self.step: Tree = ("select", (), compare("eq", after, before), ("const", 0.0), difference)

    def _mean(self, name: str) -> Tree:
        return ("binary", ("div",), (name,), (name, COUNT[1])) if self.averaged else (name,)

    def _closed(self, term: Any) -> Any:
        """The sum of a term over the elements so far, where it follows from their number."""
        sympy = sympy_module()
        term = sympy.expand(term)
        if term.free_symbols & self.problem.inputs or (self.problem.weighted and not term.is_zero):
            return None
        return sympy.simplify(self.n * term)

    def _coefficient(self, k: int) -> Tree | None:
        if self.closed[k] is None:
            return ("old", f"moment{k}")
        return to_tree(self.closed[k], self.known | {self.n: OLD_COUNT, self.u: self._mean("old")})

    def follow(self, k: int) -> Tree | None:
        """What holds Dₖ, brought to the new state; an empty part keeps what it holds."""
        result = HELD
        for j in range(1, self.degree - k + 1):
            if self.closed[k + j] == 0:
                continue
            term = self._coefficient(k + j)
            if term is None:
                return None
            for _ in range(j):
                term = ("binary", ("mul",), term, self.step)
            if math.comb(k + j, j) != 1:
                term = ("binary", ("mul",), term, ("const", float(math.comb(k + j, j))))
            result = ("binary", ("add",), result, term)
        if result == HELD or not self.averaged:
            return result
        return ("select", (), compare("eq", OLD_COUNT, ("const", 0.0)), HELD, result)

    def within(self, k: int) -> Tree | None:
        """What an element contributes to Dₖ."""
        return to_tree(self.terms[k], self.known | {self.u: self._mean("state")})

    def hidden(self) -> tuple[Hidden, ...] | None:
        """The Dₖ that are states of their own, those first that others follow; None if one has no form in the IR."""
        found: list[Hidden] = []
        for k in range(self.degree, 0, -1):
            if self.closed[k] is None:
                contribution, repair = self.within(k), self.follow(k)
                if contribution is None or repair is None:
                    return None
                found.append(Hidden(f"moment{k}", contribution, repair))
        return tuple(found)

    def holds(self) -> bool:
        """The identity for one, two and three elements and any u."""
        sympy = sympy_module()
        moved: Any = sympy.Symbol("u'", real=True)
        inputs = sorted(self.problem.inputs, key=str)
        for count in (1, 2, 3):
            elements: list[dict[Any, Any]] = [
                {x: sympy.Symbol(f"{x}_{e}", real=True) for x in inputs} for e in range(count)
            ]
            difference: Any = sympy.Integer(0)
            for element in elements:
                difference += self.g.subs(element) - self.g.subs(self.u, moved).subs(element)
            for k in range(1, self.degree + 1):
                total: Any = self.closed[k]
                if total is None:
                    total = sympy.Add(*(self.terms[k].subs(element) for element in elements))
                difference += total * (moved - self.u) ** k
            difference = sympy.expand(difference.subs(self.n, count))
            if difference != 0 or not holds_at_samples(difference):
                return False
        return True

    def certificate(self) -> str:
        names = [f"moment{k}" if c is None else str(c) for k, c in enumerate(self.closed)]
        powers = ["", "*(u' - u)", *(f"*(u' - u)**{k}" for k in range(2, self.degree + 1))]
        terms = " + ".join(f"({names[k]}){powers[k]}" for k in range(1, self.degree + 1) if names[k] != "0")
        what = f"u = s/n, N = {self.problem.extent}" if self.averaged else "u = s"
        return f"g = {self.g}, {what}; h(c) = c + {terms}; h(sum g(x,u)) - sum g(x,u') = 0"
