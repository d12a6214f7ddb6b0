"""Repairs of contributions that are polynomial in the state but for a factor, under a sum: Taylor's formula.

A contribution is g = e(x, s) · q(x, u): e has a factor f = e(x, s')/e(x, s) that is free of x, as in
:mod:`equiforge.egraph.families`, or is free of s; q is a polynomial in one quantity u that is made of the states alone.
With Dₖ = Σ e ∂ᵏq/∂uᵏ / k! over the elements so far,

    Σ g(x, s') = f (Σ g(x, s) + Σₖ Dₖ (u' - u)ᵏ)      and      Dₖ becomes f Σⱼ C(k+j, j) Dₖ₊ⱼ (u' - u)ʲ

so that the Dₖ follow the states as well. An entropy Σ p log p has e = p = exp(x - m)/l and u = m + log l, its D₁ is
-Σ p; a label-smoothed Σ (x - m - log l) has e = 1, and D₁ is minus the number of elements.

Where the producer is a sum, u is the mean s/n of the n elements so far, and N·u stands for the total of all N: it is
the total once n = N. Of a sum of squares about the mean this makes M + D₁ (u' - u) + n (u' - u)² (Chan, Golub, LeVeque
1979), of higher powers the formulas of Pébay (2008). There D₁ = -2 Σ (x - u) vanishes, as the deviations from a mean
add up to 0. But they do not add up to 0 about the *rounded* mean that the loop has: left out, D₁ costs digits in
proportion to mean/deviation. As a state it costs one sum of small numbers, and the result is as accurate as that of a
second pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from equiforge.egraph.contributions import IDENTITY, Tree
from equiforge.egraph.repair_forms import COUNT, HELD, OLD_COUNT, Hidden, Problem, Repair, compare, leaf
from equiforge.egraph.symbolic import holds_at_samples, sympy_module, to_tree, vanishes

_HIGHEST = 4
_MOST = 1 << 24
"""Elements that are counted exactly in f32."""


def moments(problem: Problem) -> Repair | None:
    """The repair, or None if the contribution is of another form."""
    sympy = sympy_module()
    if problem.consumer != "sum" or not 0 < problem.extent <= _MOST or problem.g.has(sympy.Abs, sympy.Max, sympy.Min):
        return None
    form = _factored(problem)
    if form is None or not 1 <= int(sympy.degree(sympy.expand(form.polynomial), form.u)) <= _HIGHEST:
        return None
    taylor = _Taylor(problem, form)
    repair, contribution, hidden = taylor.follow(0), taylor.within(0), taylor.hidden()
    if repair is None or contribution is None or hidden is None or not taylor.holds():
        return None
    guarded = tuple(k for k, s in enumerate(problem.states) if math.isinf(IDENTITY[s.reducer]) or s.positive)
    contribution = contribution if form.averaged else problem.tree
    return Repair("map", repair, taylor.certificate(), "moments", contribution, guarded, hidden)


@dataclass(frozen=True)
class _Form:
    """g = ``rate`` · ``polynomial``, over the symbols of the old states and, in the polynomial, ``u`` alone: u is the
    mean where the producer is a sum (``averaged``), else the sum of the ``parts``. ``factor`` is what brings the rate
    to the new states."""

    rate: Any
    polynomial: Any
    factor: Any
    u: Any
    parts: tuple[Any, ...]
    averaged: bool


def _factored(problem: Problem) -> _Form | None:
    sympy = sympy_module()
    g = sympy.expand_log(problem.at(problem.g, problem.old))
    states, rate, rest, factor = set(problem.old), sympy.Integer(1), sympy.Integer(1), sympy.Integer(1)
    # A polynomial keeps the form that it has: in factors it may have constants that are no numbers of the machine.
    for part in sympy.Mul.make_args(sympy.factor(g) if g.is_Add and not g.is_polynomial(*states) else g):
        if part.free_symbols & states and part.is_polynomial(*states):
            rest *= part
            continue
        moved = sympy.powsimp(sympy.expand(part.subs(_to_new(problem)) / part))
        if moved.free_symbols & problem.inputs:
            rest *= part
        else:
            rate, factor = rate * part, factor * moved
    u = sympy.Symbol("u", real=True)
    if len(states) == 1 and problem.states[0].reducer == "sum":
        (total,) = states
        polynomial = rest.subs(total, problem.extent * u)
        fits = polynomial.is_polynomial(u) and not rate.free_symbols & states
        return _Form(rate, polynomial, factor, u, (total / problem.extent,), True) if fits else None
    return _of_one_quantity(problem, rate, rest, factor, u)


def _to_new(problem: Problem) -> list[tuple[Any, Any]]:
    return list(zip(problem.old, problem.new, strict=True))


def _of_one_quantity(problem: Problem, rate: Any, rest: Any, factor: Any, u: Any) -> _Form | None:
    """The form with a polynomial in several quantities made of states as one in a sum of them, if it is one: all
    derivatives are multiples of each other."""
    sympy = sympy_module()
    states = set(problem.old)
    polynomial = sympy.expand(rest)
    if not polynomial.free_symbols & states:
        return None
    generators = sympy.Poly(polynomial).gens
    quantities = [x for x in generators if x.free_symbols & states]
    if any(x.free_symbols & problem.inputs for x in quantities):
        return None
    names = {x: sympy.Dummy(real=True) if x in quantities else x for x in generators}
    named = sympy.Poly(polynomial, *generators).as_expr(*names.values())
    first, *others = (names[x] for x in quantities)
    slopes = [sympy.cancel(named.diff(x) / named.diff(first)) for x in others]
    if any(slope.free_symbols & {*problem.inputs, *names.values()} for slope in slopes):
        return None
    shifted = u - sympy.Add(*(slope * x for slope, x in zip(slopes, others, strict=True)))
    in_u = sympy.expand(named.subs(first, shifted))
    if in_u.free_symbols & {first, *others} or in_u.has(sympy.zoo, sympy.nan):
        return None
    parts = (quantities[0], *(slope * x for slope, x in zip(slopes, quantities[1:], strict=True)))
    return _Form(rate, sympy.factor(in_u), factor, u, parts, False)


class _Taylor:
    """The terms of one contribution: ∂ᵏq/∂uᵏ / k! is ``scales[k] · terms[k]``, ``closed[k]`` what ``rate · terms[k]``
    adds up to where that follows from the number of elements n, or None."""

    def __init__(self, problem: Problem, form: _Form):
        sympy = sympy_module()
        self.problem = problem
        self.form = form
        self.n = sympy.Symbol("n", positive=True)
        self.degree = int(sympy.degree(sympy.expand(form.polynomial), form.u))
        # In factors: expanded, w·(x - u) would be a difference of large numbers.
        derivatives = [form.polynomial.diff(form.u, k) / sympy.factorial(k) for k in range(self.degree + 1)]
        split = [sympy.factor(d).as_coeff_Mul() for d in derivatives]
        self.scales: list[Any] = [sympy.Integer(1), *(scale for scale, _ in split[1:])]
        self.terms = [derivatives[0], *(term for _, term in split[1:])]
        self.closed = [self._closed(term) for term in self.terms]
        self.factor = None if form.factor == 1 else to_tree(form.factor, problem.leaves())
        self.step = self._step()

    def _leaves(self, name: str) -> dict[Any, Tree]:
        """What stands for symbols in trees that read the states called ``name``."""
        known = {symbol: tree for tree, symbol in self.problem.symbols.items() if tree[0] in ("input", "const")}
        return known | {symbol: leaf(name, k) for k, symbol in enumerate(self.problem.old)}

    def _quantity(self, name: str) -> list[Tree | None]:
        """The parts of u."""
        if self.form.averaged:
            return [("binary", ("div",), (name,), (name, COUNT[1]))]
        return [to_tree(part, self._leaves(name)) for part in self.form.parts]

    def _step(self) -> Tree | None:
        """u' - u part by part: of the sum of two numbers the lesser one would lose digits."""
        steps: list[Tree] = []
        for before, after in zip(self._quantity("old"), self._quantity("new"), strict=True):
            if before is None or after is None:
                return None
            difference: Tree = ("binary", ("sub",), after, before)
            steps.append(("select", (), compare("eq", after, before), ("const", 0.0), difference))
        result = steps[0]
        for step in steps[1:]:
            result = ("binary", ("add",), result, step)
        return result

    def _closed(self, term: Any) -> Any:
        """The sum of a term over the elements so far, where it follows from their number."""
        sympy = sympy_module()
        term = sympy.expand(self.form.rate * term)
        if term.free_symbols & {*self.problem.inputs, *self.problem.old}:
            return None
        return None if self.problem.weighted and not term.is_zero else sympy.simplify(self.n * term)

    def follow(self, k: int) -> Tree | None:
        """What holds Σ rate · terms[k], brought to the new states; an empty part keeps what it holds."""
        sympy, problem = sympy_module(), self.problem
        if self.step is None or (self.factor is None and self.form.factor != 1):
            return None
        result = HELD
        for j in range(1, self.degree - k + 1):
            if self.closed[k + j] == 0:
                continue
            term: Tree | None = ("old", f"moment{k + j}")
            scale = sympy.binomial(k + j, j) * self.scales[k + j] / self.scales[k]
            if self.closed[k + j] is not None:
                term, scale = to_tree(scale * self.closed[k + j], problem.leaves() | {self.n: OLD_COUNT}), 1
            if term is None:
                return None
            for _ in range(j):
                term = ("binary", ("mul",), term, self.step)
            if scale != 1:
                term = ("binary", ("mul",), term, ("const", float(scale)))
            result = ("binary", ("add",), result, term)
        if self.factor is not None:
            result = ("binary", ("mul",), result, self.factor)
        if result == HELD or not self.form.averaged:
            return result
        return ("select", (), compare("eq", OLD_COUNT, ("const", 0.0)), HELD, result)

    def within(self, k: int) -> Tree | None:
        """What an element contributes to Σ rate · terms[k]."""
        u, known = self.form.u, self._leaves("state")
        (first, *_) = self._quantity("state")
        if self.form.averaged and first is not None:
            return to_tree(self.form.rate * self.terms[k], known | {u: first})
        made = sympy_module().Add(*self.form.parts)
        return to_tree(self.form.rate * self.terms[k].subs(u, made), known)

    def hidden(self) -> tuple[Hidden, ...] | None:
        """The moments that are states of their own, those first that others follow; None if one has no form in the
        IR."""
        found: list[Hidden] = []
        for k in range(self.degree, 0, -1):
            if self.closed[k] is None:
                contribution, repair = self.within(k), self.follow(k)
                if contribution is None or repair is None:
                    return None
                found.append(Hidden(f"moment{k}", contribution, repair))
        return tuple(found)

    def holds(self) -> bool:
        """That the form is g, that its rate follows, and Taylor's formula for one, two and three elements and any u."""
        sympy, problem, form = sympy_module(), self.problem, self.form
        made = form.polynomial.subs(form.u, sympy.Add(*form.parts)) * form.rate
        if not holds_at_samples(made - sympy.expand_log(problem.at(problem.g, problem.old))):
            return False
        if not vanishes(form.rate.subs(_to_new(problem)) - form.rate * form.factor):
            return False
        return all(self._holds_for(count) for count in (1, 2, 3))

    def _holds_for(self, count: int) -> bool:
        sympy, u = sympy_module(), self.form.u
        moved: Any = sympy.Symbol("u'", real=True)
        known = [{x: sympy.Symbol(f"{x}_{e}", real=True) for x in self.problem.inputs} for e in range(count)]
        rates = [
            sympy.Symbol(f"e_{e}", real=True)
            if self.form.rate.free_symbols & {*self.problem.inputs, *self.problem.old}
            else self.form.rate
            for e in range(count)
        ]
        difference: Any = sympy.Integer(0)
        for rate, element in zip(rates, known, strict=True):
            difference += rate * (self.form.polynomial - self.form.polynomial.subs(u, moved)).subs(element)
        for k in range(1, self.degree + 1):
            total: Any = self.closed[k]
            if total is None:
                total = sympy.Add(*(r * self.terms[k].subs(e) for r, e in zip(rates, known, strict=True)))
            difference += self.scales[k] * total * (moved - u) ** k
        difference = sympy.expand(difference.subs(self.n, count))
        return difference == 0 and holds_at_samples(difference)

    def certificate(self) -> str:
        """What was shown, in formulas."""
        sympy, form = sympy_module(), self.form
        powers = ["", "*(u' - u)", *(f"*(u' - u)**{k}" for k in range(2, self.degree + 1))]
        sums = [
            f"{s}*moment{k}" if c is None else str(s * c)
            for k, (s, c) in enumerate(zip(self.scales, self.closed, strict=True))
        ]
        terms = " + ".join(
            f"({sums[k].removeprefix('1*')}){powers[k]}" for k in range(1, self.degree + 1) if sums[k] != "0"
        )
        what = f"u = s/n, N = {self.problem.extent}" if form.averaged else f"u = {sympy.Add(*form.parts)}"
        result = f"c + {terms}" if form.factor == 1 else f"({form.factor})*(c + {terms})"
        g = form.rate * form.polynomial if form.averaged else self.problem.at(self.problem.g, self.problem.old)
        return f"g = {g}, {what}; h(c) = {result}; h(sum g(x,u)) - sum g(x,u') = 0"
