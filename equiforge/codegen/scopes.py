"""Scopes of a kernel under construction: the grid, and a loop body for each ``kernel.for``.

A tile value is a family over the axes of its type, so it is computed once in the innermost scope that binds one of
them: what does not depend on a loop's axis stands outside that loop by construction. An axis bound twice (grid and
loop) means the innermost loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from equiforge.codegen.errors import CodegenError
from equiforge.codegen.sources import needed_axes
from equiforge.dialects import forge, tile
from equiforge.dialects.tile_types import ReplicateAttr, axes_of, states_of, with_states, without_axis


@dataclass(eq=False)
class Scope:
    """``axes`` are those that this scope binds; ``block`` receives its ops; ``memo`` holds the tile values computed
    here. ``sliced`` is an outer axis that values here do not name, as they lie in the loop over an axis within it."""

    axes: frozenset[str]
    parent: Scope | None
    block: Block = field(default_factory=Block)
    sliced: str | None = None
    memo: dict[SSAValue, SSAValue] = field(default_factory=lambda: {})
    fields: dict[SSAValue, Sequence[SSAValue]] = field(default_factory=lambda: {})
    emitted: dict[tuple[object, ...], SSAValue] = field(default_factory=lambda: {})

    def home(self, type_: Attribute) -> Scope:
        """The scope in which a value of this type is computed, seen from here."""
        needed = needed_axes(type_)
        scope = self
        while scope.parent is not None:
            if needed & scope.axes:
                return scope
            scope = scope.parent
        if missing := needed - scope.axes - self.bound():
            raise CodegenError(
                f"a value of type {type_} depends on axis @{min(missing)}, which is neither in the grid nor looped over"
            )
        return scope

    def local(self, type_: Attribute) -> Attribute:
        """The type that a value of the tile program has here: only axes that it depends on, and none that is left
        unsaid."""
        return dependent_type(type_ if self.sliced is None else without_axis(type_, self.sliced))

    def bound(self) -> frozenset[str]:
        """Every axis bound here or outside."""
        return self.axes if self.parent is None else self.axes | self.parent.bound()

    def emit(self, op: Operation, name: str | None = None) -> SSAValue:
        """Appends an op of one result, or finds an equal one that stands here already."""
        key = (
            op.name,
            tuple(id(v) for v in op.operands),
            tuple(sorted((k, str(v)) for k, v in op.properties.items())),
            str(op.results[0].type),
        )
        if key in self.emitted:
            op.erase()
            return self.emitted[key]
        self.block.add_op(op)
        result = op.results[0]
        result.name_hint = name
        self.emitted[key] = result
        return result

    def rebuilt(self, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
        """The op on other operands of the same meaning; the result type follows from theirs.

        Operands keep only the axes that they depend on; ``tile.replicate`` supplies those that others bring in.
        """
        if isinstance(op, forge.ExpandOp):
            # A dimension that grows is cut by axes that the operand need not depend on.
            wanted = needed_axes(self.local(op.result.type))
            grown = [a for a in sorted(wanted) if a not in axes_of(operands[0].type)]
            operands = [self._replicated(operands[0], grown)]
        elif any(s.axis_name for v in operands for s in states_of(v.type)):
            operands = self.aligned(operands, op)
        new = type(op).create(
            operands=operands,
            result_types=[op.results[0].type],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        infer = getattr(new, "infer", None)
        if infer is not None:
            try:
                expected = infer()
            except VerifyException as error:
                raise CodegenError(f"tile IR is not well typed: {error}") from error
            if expected != new.results[0].type:
                new.erase()
                new = type(op).create(
                    operands=operands,
                    result_types=[expected],
                    properties=dict(op.properties),
                    attributes=dict(op.attributes),
                )
        return self.emit(new, op.results[0].name_hint)

    def aligned(self, operands: Sequence[SSAValue], op: Operation) -> list[SSAValue]:
        """The operands with the same axes everywhere."""
        if isinstance(op, tile.AccumulateOp):
            return list(operands)
        axes = sorted({axis for v in operands for axis in axes_of(v.type)})
        return [self._replicated(value, axes) for value in operands]

    def _replicated(self, value: SSAValue, axes: Sequence[str]) -> SSAValue:
        """The value with a state along all of the axes."""
        for axis in axes:
            if axis not in axes_of(value.type):
                value = self.emit(tile.ReplicateOp(value, axis), value.name_hint)
        return value


def dependent_type(type_: Attribute) -> Attribute:
    """The type without the axes along which the value is replicated."""
    if not states_of(type_):
        return type_
    return with_states(type_, [s for s in states_of(type_) if not isinstance(s, ReplicateAttr)])
