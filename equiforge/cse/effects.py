"""What an op does to memory, as far as merging and erasing ops depends on it.

Effects come from the traits of xDSL: an op without any is unknown, and what is unknown writes. Summaries of ops with
regions are kept, and made without recursion: regions nest hundreds deep.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Generator, Iterator
from enum import IntEnum
from typing import Any

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    NoMemoryEffect,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)

Task = Generator["Task"]


def run_flat(task: Task) -> None:
    """Runs a generator that yields generators, depth first, on a stack of its own: no depth is too deep."""
    stack: list[Task] = [task]
    while stack:
        inner = next(stack[-1], None)
        if inner is None:
            stack.pop()
        else:
            stack.append(inner)


@contextlib.contextmanager
def collector_paused() -> Generator[None]:
    """No garbage collection meanwhile: it would look through the whole program again and again, and the passes make no
    garbage in cycles before they erase ops at the end."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def walk(root: Operation) -> Iterator[Operation]:
    """All ops in ``root``, itself first, each before what it holds; ``Operation.walk`` without its recursion."""
    stack: list[Iterator[Operation]] = [iter((root,))]
    while stack:
        op = next(stack[-1], None)
        if op is None:
            stack.pop()
            continue
        yield op
        stack.extend(iter(block.ops) for region in reversed(op.regions) for block in reversed(region.blocks))


def erase(op: Operation) -> None:
    """Erases an op whose results have no uses, with all that it holds, without recursion.

    What is inside goes first, the last op first; values that are still used inside lose those uses before.
    """
    if op.regions:
        nested = list(walk(op))
        for inner in nested:
            inner.operands = []
            inner.successors = []
        for inner in reversed(nested[1:]):
            inner.detach()
            inner.erase()
    if op.parent is not None:
        op.detach()
    op.erase()


class Effects(IntEnum):
    """The strongest effect of an op and of what it holds; each includes those before it."""

    NONE = 0
    READS = 1
    ALLOCATES = 2
    """Memory of its own, and nothing else that could be seen from outside."""
    WRITES = 3
    """Or frees, or nobody knows."""


class EffectTable:
    """Summaries of ops; one table serves one run, in which no op changes its effects."""

    def __init__(self) -> None:
        self._by_class: dict[type[Operation], Effects | None] = {}
        self._nested: dict[Operation, Effects] = {}
        self._anchored: dict[type[Operation], bool] = {}

    def of(self, op: Operation) -> Effects:
        """The effects of the op with those of its regions where the op says that they count."""
        kind = type(op)
        if kind in self._by_class:
            known = self._by_class[kind]
        else:
            known = self._by_class[kind] = _of_class(kind)
        if known is not None:
            return known
        if kind.get_trait(RecursiveMemoryEffect) is None:
            return self._own(op)
        if op not in self._nested:
            run_flat(self._summarize(op))
        return self._nested[op]

    def writes(self, op: Operation) -> bool:
        """May the op change what a later op reads?"""
        return self.of(op) is Effects.WRITES

    def anchored(self, op: Operation) -> bool:
        """Is the op needed where it is for what it is, a terminator or a symbol?"""
        kind = type(op)
        anchored = self._anchored.get(kind)
        if anchored is None:
            anchored = self._anchored[kind] = kind.has_trait(IsTerminator) or kind.has_trait(SymbolOpInterface)
        return anchored

    def removable(self, op: Operation) -> bool:
        """Does nobody miss the op if nobody uses its results?"""
        return self.of(op) is not Effects.WRITES and not self.anchored(op)

    def _summarize(self, op: Operation) -> Task:
        strongest = Effects.NONE
        for inner in _direct(op):
            recursive = inner.get_trait(RecursiveMemoryEffect) is not None
            if recursive and inner not in self._nested:
                yield self._summarize(inner)
            strongest = max(strongest, self._nested[inner] if recursive else self.of(inner))
        if len(op.get_traits_of_type(MemoryEffect)) > 1:
            strongest = max(strongest, self._own(op))
        self._nested[op] = strongest

    def _own(self, op: Operation) -> Effects:
        """By the traits that look at the op alone."""
        strongest = Effects.NONE
        traits = [
            trait for trait in op.get_traits_of_type(MemoryEffect) if not isinstance(trait, RecursiveMemoryEffect)
        ]
        if not traits:
            return Effects.WRITES
        for trait in traits:
            found = trait.get_effects(op)
            if found is None:
                return Effects.WRITES
            for effect in found:
                if effect.kind is MemoryEffectKind.READ:
                    strongest = max(strongest, Effects.READS)
                elif effect.kind is MemoryEffectKind.ALLOC and _is_own(op, effect.value):
                    strongest = max(strongest, Effects.ALLOCATES)
                else:
                    return Effects.WRITES
        return strongest


def _of_class(kind: type[Operation]) -> Effects | None:
    """The effects that all ops of a class have, or ``None`` if they depend on the op."""
    traits = kind.get_traits_of_type(MemoryEffect)
    if not traits:
        return Effects.WRITES
    return Effects.NONE if all(isinstance(trait, NoMemoryEffect) for trait in traits) else None


def _is_own(op: Operation, value: Any) -> bool:
    return any(value is result for result in op.results)


def _direct(op: Operation) -> Iterator[Operation]:
    """The ops of the op's regions, not of theirs."""
    for region in op.regions:
        for block in region.blocks:
            yield from block.ops


def is_isolated(op: Operation) -> bool:
    """Do regions of the op see no value from outside? Of an op that nobody registered we don't know, so they don't."""
    return isinstance(op, UnregisteredOp) or op.has_trait(IsolatedFromAbove)
