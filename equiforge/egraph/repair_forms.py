"""What repair synthesis is given and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from equiforge.egraph.contributions import Tree
from equiforge.egraph.symbolic import Symbols, sympy_module, to_sympy

COUNT: Tree = ("state", "count")
OLD_COUNT: Tree = ("old", "count")
HELD: Tree = ("held",)


@dataclass(frozen=True)
class State:
    """A state that a contribution reads: its reducer, which input of the contribution it reduces (-1: none), and
    whether it is known positive once an element was seen."""

    reducer: str
    own: int = -1
    positive: bool = False


@dataclass(frozen=True)
class Hidden:
    """A state that a repair needs beside the program's own: its contribution, and its repair as a whole value."""

    name: str
    contribution: Tree
    repair: Tree


@dataclass(frozen=True)
class Repair:
    """``tree`` is the factor (``mode`` mul), the summand (add) or the whole repaired value (map).

    ``certificate`` says what was shown. ``contribution`` is g as the loop computes it where that differs from the
    program's (moments). ``guarded`` are the positions of the states that need a stand-in at their identity, ``hidden``
    the further states that the trees read by name, the count of elements as ``count``.
    """

    mode: str
    tree: Tree
    certificate: str
    family: str = "factor"
    contribution: Tree | None = None
    guarded: tuple[int, ...] = (0,)
    hidden: tuple[Hidden, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """No repair: the reason, in words."""

    reason: str


@dataclass
class Problem:
    """A contribution with its symbols; ``old`` and ``new`` are the symbols of the states before and after."""

    tree: Tree
    consumer: str
    states: tuple[State, ...]
    extent: int
    element: str
    weighted: bool = False
    """The consumer is a matrix product: each contribution has a weight of its own that is not part of it."""
    symbols: Symbols = field(default_factory=lambda: {})

    def __post_init__(self) -> None:
        sympy = sympy_module()
        positive = [True if s.positive else None for s in self.states]
        self.g = to_sympy(self.tree, self.symbols)
        self.old = [sympy.Symbol(f"s{k or ''}_old", real=True, positive=p) for k, p in enumerate(positive)]
        self.new = [sympy.Symbol(f"s{k or ''}_new", real=True, positive=p) for k, p in enumerate(positive)]
        self.inputs = {symbol for tree, symbol in self.symbols.items() if tree[0] == "input"}

    def at(self, expression: Any, states: list[Any]) -> Any:
        """An expression with its states replaced."""
        known = [(self.symbols[leaf("state", k)], s) for k, s in enumerate(states) if leaf("state", k) in self.symbols]
        return expression.subs(known)

    def leaves(self) -> dict[Any, Tree]:
        """What a repair may be made of."""
        found = {symbol: tree for tree, symbol in self.symbols.items() if tree[0] == "const"}
        for name, symbols in (("old", self.old), ("new", self.new)):
            found |= {symbol: leaf(name, k) for k, symbol in enumerate(symbols)}
        return found


def leaf(name: str, state: int) -> Tree:
    """The leaf of a state by its position."""
    return (name, state) if state else (name,)


def compare(predicate: str, a: Tree, b: Tree) -> Tree:
    """A comparison as a tree."""
    return ("binary", (f"cmp.{predicate}",), a, b)
