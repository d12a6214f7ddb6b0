"""Peak memory of a function in the order of its ops.

    %a = forge.exp %x : tensor<64x64xf32>                                              16384 B + the argument
    %b = forge.transpose %a perm [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>     a view: no byte
    %c = forge.add %a, %b : tensor<64x64xf32>                                          peak: x, a and c
    func.return %c : tensor<64x64xf32>

A storage (see ``storage``) is held from the op that makes it up to the last op that reads it or a view of it: an op's
operands and results are held at one time. Results of the function are held to its end. Arguments belong to the caller,
who holds them throughout, except those said to be ``donated``: they are given back after their last use.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation
from xdsl.traits import SymbolTable

from equiforge.analysis.storage import Storage, Storages
from equiforge.analysis.work import Work, work_of
from equiforge.errors import EquiforgeError


@dataclass(frozen=True)
class Lifetime:
    """Numbers of the first and last op at which a storage is held; an argument's first is 0."""

    first: int
    last: int


@dataclass(frozen=True)
class Profile:
    """What a function costs: its ops, their work, and the bytes held at each of them.

    ``ops`` are all but the terminator, in order; ``held`` has one number more, for the terminator. ``peak`` is the
    largest of them and ``peak_at`` its first place.
    """

    ops: tuple[Operation, ...]
    work: Work
    held: tuple[int, ...]
    lifetimes: dict[Storage, Lifetime]

    @property
    def peak(self) -> int:
        return max(self.held)

    @property
    def peak_at(self) -> int:
        return self.held.index(self.peak)

    def peak_op(self) -> Operation | None:
        """The op at which the most is held; None if that is the return."""
        return self.ops[self.peak_at] if self.peak_at < len(self.ops) else None

    def held_at(self, place: int) -> list[Storage]:
        """The storages held at an op, largest first."""
        held = [s for s, life in self.lifetimes.items() if life.first <= place <= life.last and s.bytes]
        return sorted(held, key=lambda storage: -storage.bytes)


@dataclass(frozen=True)
class Figures:
    """A profile in four numbers: ops, operations, bytes moved, peak; and the line of the op where that is reached."""

    ops: int
    flops: int
    bytes: int
    peak: int
    peak_op: str = ""

    @staticmethod
    def of(found: Profile) -> Figures:
        op = found.peak_op()
        where = "func.return" if op is None else op.name
        location = op.attributes.get("loc") if op is not None else None
        if isinstance(location, StringAttr):
            where += f" ({location.data})"
        return Figures(len(found.ops), found.work.flops, found.work.bytes, found.peak, where)

    def __str__(self) -> str:
        return f"{self.ops} ops, {self.flops} flops, {self.bytes} B moved, peak {self.peak} B at {self.peak_op}"


def profile(function: FuncOp, donated: Collection[int] = ()) -> Profile:
    """Sweep a function of one block whose ops hold no regions.

    ``donated`` are numbers of arguments. A call of another function of the module counts the callee's work, and what
    the callee holds beyond its arguments and results. Raises EquiforgeError for control flow, and for recursion.
    """
    return _Sweep(()).profile(function, donated)


def profile_main(module: ModuleOp, donated: Collection[int] = ()) -> Profile:
    """``profile`` of ``@main``, or of the only function."""
    from equiforge.verify.interpreter import main_function

    return profile(main_function(module), donated)


class _Sweep:
    def __init__(self, callers: tuple[str, ...]):
        self.callers = callers

    def profile(self, function: FuncOp, donated: Collection[int]) -> Profile:
        name = function.sym_name.data
        if name in self.callers:
            raise EquiforgeError(f"@{name} calls itself", hint="the memory of recursion has no bound here")
        block = straight_line(function)
        *ops, terminator = block.ops
        storages = Storages(block)
        lifetimes = lifetimes_of([*ops, terminator], storages, donated)
        work = Work()
        transient: dict[int, int] = {}
        for place, op in enumerate(ops):
            if isinstance(op, CallOp):
                inner = self._callee(function, op, (*self.callers, name))
                work += inner.work
                known = sum(s.bytes for value in {*op.operands, *op.results} for s in storages.of(value))
                transient[place] = max(0, inner.peak - known)
            else:
                work += work_of(op, storages)
        return Profile(tuple(ops), work, _held(len(ops) + 1, lifetimes, transient), lifetimes)

    def _callee(self, function: FuncOp, call: CallOp, callers: tuple[str, ...]) -> Profile:
        callee = SymbolTable.lookup_symbol(function, call.callee)
        if not isinstance(callee, FuncOp):
            raise EquiforgeError(f"@{call.callee.string_value()} is no function of the module")
        return _Sweep(callers).profile(callee, ())


def straight_line(function: FuncOp) -> Block:
    """The block of a function without control flow; raises EquiforgeError for another one."""
    blocks = list(function.body.blocks)
    if len(blocks) != 1 or any(op.regions for op in blocks[0].ops):
        raise EquiforgeError(
            f"@{function.sym_name.data} has control flow",
            hint="the memory model follows functions of one block without nested regions",
        )
    return blocks[0]


def lifetimes_of(ops: list[Operation], storages: Storages, donated: Collection[int] = ()) -> dict[Storage, Lifetime]:
    """Where each storage is held; the last of ``ops`` is the terminator."""
    first: dict[Storage, int] = {}
    last: dict[Storage, int] = {}
    end = len(ops) - 1
    for storage in storages.arguments():
        first[storage] = 0
        last[storage] = 0 if storage.argument in donated else end
    for place, op in enumerate(ops):
        for value in op.operands:
            for storage in storages.of(value):
                last[storage] = max(last[storage], place)
        for value in op.results:
            for storage in storages.of(value):
                first.setdefault(storage, place)
                last[storage] = max(last.get(storage, place), place)
    return {storage: Lifetime(first[storage], last[storage]) for storage in first}


def _held(places: int, lifetimes: dict[Storage, Lifetime], transient: dict[int, int]) -> tuple[int, ...]:
    changes = [0] * (places + 1)
    for storage, life in lifetimes.items():
        changes[life.first] += storage.bytes
        changes[life.last + 1] -= storage.bytes
    held = list(accumulate(changes[:-1]))
    for place, more in transient.items():
        held[place] += more
    return tuple(held)
