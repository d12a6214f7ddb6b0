"""The choice of a cut as an integer program, solved by HiGHS to its optimum.

    minimize saved bytes               subject to recomputed operations ≤ F
    minimize recomputed operations     subject to saved bytes ≤ B

Each is followed by a second program that, at the optimum of the first, minimizes the other quantity. Where an ungated
program is asked for it can't fail: to save whatever the backward reads is always a solution.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import highspy
from xdsl.ir import BlockArgument, Operation, SSAValue

from equiforge.analysis.highs import new_solver
from equiforge.analysis.storage import Storage
from equiforge.analysis.work import flops_of
from equiforge.remat.model import Cut

SECONDS = 60.0
"""Time after which the solver gives the best that it has found."""


@dataclass(frozen=True)
class Choice:
    """What is saved, which ops the forward and the backward compute, what that costs, and whether it is optimal.

    ``recomputed`` counts the operations of ops that both compute; ``gap`` is how far, in the unit of the objective, the
    best bound of the solver lies below the solution: 0 for an optimum.
    """

    saved: tuple[Storage, ...]
    forward: frozenset[Operation]
    backward: frozenset[Operation]
    saved_bytes: int
    recomputed: int
    gap: float = 0.0


class _Program:
    """The integer program of a cut, with HiGHS's columns by op and storage."""

    def __init__(self, cut: Cut):
        self.cut = cut
        self.highs = new_solver()
        self.highs.setOptionValue("time_limit", SECONDS)
        self.forward: dict[Any, Any] = {}
        self.backward: dict[Any, Any] = {}
        self.saved: dict[Storage, Any] = {}
        self._build()

    def _binary(self, fixed: bool | None = None) -> Any:
        if fixed is None:
            return self.highs.addBinary()
        return self.highs.addVariable(lb=float(fixed), ub=float(fixed))

    def _build(self) -> None:
        cut, highs = self.cut, self.highs
        for op in cut.early:
            self.forward[op] = self._binary(True if op in cut.required else None)
            self.backward[op] = self._binary(None if op in cut.pure else False)
        for op in cut.early:
            for operand in op.operands:
                if operand.owner in self.forward and op not in cut.required:
                    highs.addConstr(self.forward[operand.owner] >= self.forward[op])
                self._require(operand, self.backward[op])
        for value in cut.needed:
            self._require(value, 1.0)

    def _require(self, value: SSAValue, demand: Any) -> None:
        """``demand`` of the backward for an early value: saved, or computed there."""
        roots = [storage for storage in self.cut.storages.of(value) if storage.root is value]
        if isinstance(value, BlockArgument):
            for storage in roots:
                self.highs.addConstr(self._save(storage) >= demand)
        elif roots:
            self.highs.addConstr(self.backward[value.owner] + self._save(roots[0]) >= demand)
        else:
            self.highs.addConstr(self.backward[value.owner] >= demand)

    def _save(self, storage: Storage) -> Any:
        if storage not in self.saved:
            column = self.saved[storage] = self._binary()
            if storage.root.owner in self.forward:
                self.highs.addConstr(column <= self.forward[storage.root.owner])
        return self.saved[storage]

    # Objectives, in units that keep the numbers small

    def bytes(self, unit: int) -> Any:
        terms = [(self.cut.cost(s) / unit) * column for s, column in self.saved.items() if self.cut.cost(s)]
        return self.highs.qsum(terms)

    def operations(self, unit: int) -> Any:
        """All operations of early ops, those of required ones in the forward left out."""
        terms: list[Any] = []
        for op in self.cut.early:
            flops = flops_of(op) / unit
            if flops:
                terms.append(flops * self.backward[op])
                if op not in self.cut.required:
                    terms.append(flops * self.forward[op])
        return self.highs.qsum(terms)

    def chosen(self, columns: Iterable[tuple[Any, Any]]) -> list[Any]:
        values: Any = self.highs.getSolution().col_value
        return [key for key, column in columns if values[column.index] > 0.5]


def solve(cut: Cut, max_recomputed: int | None = None, max_saved: int | None = None) -> Choice | None:
    """The best choice under one bound, or under both; None if there is none.

    With ``max_saved`` the fewest recomputed operations, else the fewest saved bytes.
    """
    byte_unit = math.gcd(*(s.bytes for op in cut.early for r in op.results for s in cut.storages.of(r)), 0) or 1
    flop_unit = math.gcd(*(flops_of(op) for op in cut.early), 0) or 1
    program = _Program(cut)
    highs = program.highs
    base = first_computed(cut)
    saved, operations = program.bytes(byte_unit), program.operations(flop_unit)
    if max_saved is not None:
        highs.addConstr(saved <= max_saved // byte_unit)
    if max_recomputed is not None:
        highs.addConstr(operations <= (base + max_recomputed) // flop_unit)
    bytes_first = max_saved is None
    goals = (saved, operations) if bytes_first else (operations, saved)
    choice, gap = None, 0.0
    for number, goal in enumerate(goals):
        highs.minimize(goal)
        info: Any = highs.getInfo()
        if info.primal_solution_status != highspy.kSolutionStatusFeasible:
            return choice
        if number == 0:
            unit = byte_unit if bytes_first else flop_unit
            gap = max(0.0, info.objective_function_value - info.mip_dual_bound) * unit
            highs.addConstr(goal <= round(info.objective_function_value))
        choice = _choice(program, gap)
    return choice


def first_computed(cut: Cut) -> int:
    """Operations of early ops that the forward does not need, but somebody: these are computed once in any choice."""
    needed: set[Operation] = set()
    stack = [value.owner for value in cut.needed]
    while stack:
        op = stack.pop()
        if isinstance(op, Operation) and op not in needed and op not in cut.required:
            needed.add(op)
            stack += [operand.owner for operand in op.operands]
    return sum(flops_of(op) for op in needed)


def _choice(program: _Program, gap: float) -> Choice:
    """Read the solution off; what nobody needs although the solver set it is left out."""
    cut = program.cut
    saved = set(program.chosen(program.saved.items()))
    recompute = set(program.chosen(program.backward.items()))
    used: set[Storage] = set()
    backward: set[Operation] = set()
    stack = list(cut.needed)
    while stack:
        value = stack.pop()
        roots = [storage for storage in cut.storages.of(value) if storage.root is value]
        if roots and all(storage in saved for storage in roots):
            used.update(roots)
            continue
        op = value.owner
        assert isinstance(op, Operation) and op in recompute, "a value of the backward comes from nowhere"
        if op not in backward:
            backward.add(op)
            stack += op.operands
    forward = set(cut.required)
    stack = [storage.root for storage in used]
    while stack:
        op = stack.pop().owner
        if isinstance(op, Operation) and op not in forward:
            forward.add(op)
            stack += op.operands
    total = sum(flops_of(op) for op in backward) + sum(flops_of(op) for op in forward - cut.required)
    kept = sorted(used, key=lambda storage: _place(cut, storage))
    return Choice(
        tuple(kept), frozenset(forward), frozenset(backward),
        sum(cut.cost(s) for s in kept), total - first_computed(cut), gap,
    )  # fmt: skip


def _place(cut: Cut, storage: Storage) -> tuple[int, int]:
    """Arguments first, then in the order of the ops."""
    root = storage.root
    if isinstance(root, BlockArgument):
        return (0, root.index)
    order = {op: number for number, op in enumerate(cut.early)}
    return (1, order.get(root.owner, 0) if isinstance(root.owner, Operation) else 0)
