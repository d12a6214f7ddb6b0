"""The meaning of each tile op on families of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.ir import Attribute, Operation

from equiforge.dialects import tile
from equiforge.dialects.tile_types import axes_of, element_type_of
from equiforge.errors import EquiforgeError
from equiforge.verify import numeric
from equiforge.verify.forge_semantics import OpT, family
from equiforge.verify.interpreter import Interpreter, Meaning, dtype_of
from equiforge.verify.numeric import Array
from equiforge.verify.values import Family, Value, zip_tiles

DType: TypeAlias = "np.dtype[Any]"

TILE_MEANINGS: dict[type[Operation], Meaning] = {}


def meaning(op_type: type[OpT]) -> Callable[[Callable[[Interpreter, OpT, list[Value]], Value]], None]:
    """Registers the meaning of an op class."""

    def register(function: Callable[[Interpreter, OpT, list[Value]], Value]) -> None:
        TILE_MEANINGS[op_type] = cast(Meaning, function)

    return register


def field_by_field(function: Callable[[Family], Family], value: Value) -> Value:
    """Applies a function to a family or to each field of a tuple."""
    if isinstance(value, tuple):
        return tuple(field_by_field(function, field) for field in value)
    return function(value)


@meaning(tile.PartitionOp)
def _(interpreter: Interpreter, op: tile.PartitionOp, operands: list[Value]) -> Value:
    axis, dim = op.axis_name, op.dim

    tiling, outer = interpreter.tiling, interpreter.tiling.outer.get(axis)

    def cut(position: int, whole: Array, at: dict[str, int]) -> Array:
        part = tiling.interval(axis, position, interpreter.place(at))
        # What the coordinate holds is a slice already where the outer axis has cut it.
        first = tiling.interval(outer, at[outer]).start if outer is not None and outer in at else 0
        return whole[(*[slice(None)] * dim, slice(part.start - first, part.stop - first))]

    return family(operands[0]).extended(axis, partial(interpreter.positions, axis), cut)


@meaning(tile.ReplicateOp)
def _(interpreter: Interpreter, op: tile.ReplicateOp, operands: list[Value]) -> Value:
    axis = op.axis_name

    def replicate(x: Family) -> Family:
        return x.extended(axis, partial(interpreter.positions, axis), lambda _, whole, __: whole)

    return field_by_field(replicate, operands[0])


@meaning(tile.CombineOp)
def _(interpreter: Interpreter, op: tile.CombineOp, operands: list[Value]) -> Value:
    axis, x = op.axis_name, family(operands[0])
    joined = {rest: np.concatenate(tiles, axis=op.dim) for rest, tiles in x.grouped(axis)}
    return Family(x.without(axis), joined)


@meaning(tile.CollectOp)
def _(interpreter: Interpreter, op: tile.CollectOp, operands: list[Value]) -> Value:
    axis = op.axis_name

    def collect(x: Family) -> Family:
        return Family(x.without(axis), {rest: np.stack(tiles) for rest, tiles in x.grouped(axis)})

    return field_by_field(collect, operands[0])


@meaning(tile.MatmulOp)
def _(interpreter: Interpreter, op: tile.MatmulOp, operands: list[Value]) -> Value:
    return zip_tiles(numeric.matmul, family(operands[0]), family(operands[1]))


@meaning(tile.StoreOp)
def _(interpreter: Interpreter, op: tile.StoreOp, operands: list[Value]) -> Value:
    dtype = dtype_of(element_type_of(op.result.type))
    return family(operands[0]).map(lambda _, whole: numeric.convert(whole, dtype))


@meaning(tile.AccumulateOp)
def _(interpreter: Interpreter, op: tile.AccumulateOp, operands: list[Value]) -> Value:
    acc, x = family(operands[0]), family(operands[1])
    tiles = dict(acc.tiles)
    for rest, parts in x.grouped(op.axis_name):
        for part in parts:
            tiles[rest] = numeric.fold(op.reducer, tiles[rest], part)
    return Family(acc.axes, tiles)


def fold_partials(reducer: str, x: Family, axis: str) -> Family:
    """Combines the partial values along an axis."""
    tiles: dict[tuple[int, ...], Array] = {}
    for rest, parts in x.grouped(axis):
        total = parts[0]
        for part in parts[1:]:
            total = numeric.fold(reducer, total, part)
        tiles[rest] = total
    return Family(x.without(axis), tiles)


def replicated(interpreter: Interpreter, type_: Attribute, make: Callable[[dict[str, int]], Array]) -> Family:
    """A value made for each coordinate of the axes of its type."""
    result = Family.whole(np.zeros(()))
    for axis in axes_of(type_):
        positions = partial(interpreter.positions, axis)
        result = result.extended(axis, positions, lambda _, whole, __: whole)
    return result.map(lambda coordinate, _: make(result.named(coordinate)))


@meaning(tile.ReduceOp)
def _(interpreter: Interpreter, op: tile.ReduceOp, operands: list[Value]) -> Value:
    dim, axis = op.dim, op.axis_name
    if dim is not None:
        return family(operands[0]).map(lambda _, x: numeric.reduce(op.reducer, x, dim))
    assert axis is not None, "the verifier asks for a dimension or an axis"
    if op.is_rolling:
        reducer = interpreter.reducer(op.reducer)
        if op.slices is not None:
            return rolling_in_slices(interpreter, reducer, operands, axis, op.slices)
        return rolling(interpreter, reducer, operands, axis)
    return fold_partials(op.reducer, family(operands[0]), axis)


def identity_states(interpreter: Interpreter, reducer: tile.ReducerOp) -> list[Value]:
    """The states before the first input: each one's identity in the shape of its type; infinities of integers are their
    extreme values."""
    states: list[Value] = []
    for type_, identity in zip(reducer.state_types, reducer.identity, strict=True):
        dtype = dtype_of(element_type_of(type_))

        def make(at: dict[str, int], type_: Attribute = type_, value: float = identity, dtype: DType = dtype) -> Array:
            if dtype.kind == "i" and np.isinf(value):
                value = np.iinfo(dtype).max if value > 0 else np.iinfo(dtype).min
            return np.full(interpreter.local_shape(type_, at), value, dtype)

        states.append(replicated(interpreter, type_, make))
    return states


def rolling(interpreter: Interpreter, reducer: tile.ReducerOp, inputs: list[Value], axis: str) -> Value:
    """Runs a reducer's body over the positions of an axis in order, from the identity, then its final region."""
    return finish(interpreter, reducer, rolled(interpreter, reducer, inputs, axis))


def rolled(interpreter: Interpreter, reducer: tile.ReducerOp, inputs: list[Value], axis: str) -> list[Value]:
    """The states after all positions of an axis."""
    states = identity_states(interpreter, reducer)
    for position in interpreter.positions(axis, {}):
        states = step(interpreter, reducer, states, inputs, axis, position)
    return states


def rolling_in_slices(
    interpreter: Interpreter, reducer: tile.ReducerOp, inputs: list[Value], axis: str, outer: str
) -> Value:
    """Runs a reducer in each slice of an outer axis; gives the states of each, raw."""
    found: dict[int, list[Value]] = {}
    for position in interpreter.positions(outer, {}):
        here = [field_by_field(lambda x, at=position: x.sliced(outer, at), value) for value in inputs]
        with interpreter.in_slice(outer, position):
            found[position] = rolled(interpreter, reducer, here, axis)
    states = range(reducer.num_states)
    return tuple(Family.joined(outer, {at: family(parts[n]) for at, parts in found.items()}) for n in states)


def step(
    interpreter: Interpreter,
    reducer: tile.ReducerOp,
    states: list[Value],
    inputs: list[Value],
    axis: str,
    position: int,
) -> list[Value]:
    """Runs a reducer's body once, on what the inputs hold at one position of the axis."""
    with interpreter.at_position(axis, position):
        here = [field_by_field(lambda x: x.restricted(axis, position), value) for value in inputs]
        return interpreter.block(reducer.body.block, [*states, *here])


def merge(interpreter: Interpreter, reducer: tile.ReducerOp, left: list[Value], right: list[Value]) -> list[Value]:
    """Combines two lists of states by the reducer's merge region."""
    if not reducer.has_merge:
        raise EquiforgeError(f"reducer @{reducer.sym_name.data} has no merge region")
    return interpreter.block(reducer.merge.block, [*left, *right])


def finish(interpreter: Interpreter, reducer: tile.ReducerOp, states: list[Value]) -> Value:
    """Applies the reducer's final region, if it has one."""
    return tuple(interpreter.block(reducer.final.block, states) if reducer.has_final else states)


def rolling_in_parts(
    interpreter: Interpreter, reducer: tile.ReducerOp, inputs: list[Value], axis: str, parts: Sequence[Sequence[int]]
) -> Value:
    """Like ``rolling``, but reduces each part of the positions on its own and merges the states: what a split
    reduction does.
    """
    total: list[Value] | None = None
    for part in parts:
        states = identity_states(interpreter, reducer)
        for position in part:
            states = step(interpreter, reducer, states, inputs, axis, position)
        total = states if total is None else merge(interpreter, reducer, total, states)
    return finish(interpreter, reducer, total or identity_states(interpreter, reducer))
