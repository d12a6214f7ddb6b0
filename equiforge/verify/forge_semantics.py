"""The meaning of each forge op on families of arrays.

Pointwise ops act on the tile at each coordinate, and so do structural ops: the type system sees to it that what an axis
partitions stays whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np
from xdsl.ir import Operation

from equiforge.dialects import forge
from equiforge.dialects.tile_types import element_type_of, shape_of
from equiforge.errors import EquiforgeError, UnsupportedOpError
from equiforge.verify import numeric
from equiforge.verify.interpreter import Interpreter, Meaning, dtype_of, location_of
from equiforge.verify.numeric import Array
from equiforge.verify.values import Family, Value, zip_tiles

OpT = TypeVar("OpT", bound=Operation)

FORGE_MEANINGS: dict[type[Operation], Meaning] = {}


def meaning(op_type: type[OpT]) -> Callable[[Callable[[Interpreter, OpT, list[Value]], Value]], None]:
    """Registers the meaning of an op class."""

    def register(function: Callable[[Interpreter, OpT, list[Value]], Value]) -> None:
        FORGE_MEANINGS[op_type] = cast(Meaning, function)

    return register


def family(value: Value) -> Family:
    """The value as a family; a tuple here is an error of the program."""
    if isinstance(value, tuple):
        raise EquiforgeError("a tuple where a tensor is needed")
    return value


def elementwise(function: Callable[..., Array]) -> Meaning:
    """The meaning of a pointwise op: the function of the tiles at each coordinate, size-1 dimensions broadcast."""

    def evaluate(_: Interpreter, op: Operation, operands: list[Value]) -> Value:
        return zip_tiles(lambda *tiles: np.asarray(function(*tiles)), *map(family, operands))

    return evaluate


for _name, _class in forge.UNARY_OPS.items():
    FORGE_MEANINGS[_class] = elementwise(numeric.UNARY[_name])
for _name, _class in forge.BINARY_OPS.items():
    FORGE_MEANINGS[_class] = elementwise(numeric.BINARY[_name])
FORGE_MEANINGS[forge.SelectOp] = elementwise(numeric.select)


@meaning(forge.CompareOp)
def _(interpreter: Interpreter, op: forge.CompareOp, operands: list[Value]) -> Value:
    return elementwise(numeric.COMPARE[op.predicate])(interpreter, op, operands)


@meaning(forge.CastOp)
def _(interpreter: Interpreter, op: forge.CastOp, operands: list[Value]) -> Value:
    dtype = dtype_of(element_type_of(op.result.type))
    return family(operands[0]).map(lambda _, tile: numeric.convert(tile, dtype))


@meaning(forge.ConstantOp)
def _(interpreter: Interpreter, op: forge.ConstantOp, operands: list[Value]) -> Value:
    dtype = dtype_of(element_type_of(op.result.type))
    values = np.array(op.value.get_values(), dtype=dtype)
    return Family.whole(values.reshape(shape_of(op.result.type)))


@meaning(forge.IotaOp)
def _(interpreter: Interpreter, op: forge.IotaOp, operands: list[Value]) -> Value:
    shape, dtype = shape_of(op.result.type), dtype_of(element_type_of(op.result.type))
    along = [extent if dim == op.dim else 1 for dim, extent in enumerate(shape)]
    return Family.whole(np.broadcast_to(np.arange(shape[op.dim]).astype(dtype).reshape(along), shape))


@meaning(forge.IndexOp)
def _(interpreter: Interpreter, op: forge.IndexOp, operands: list[Value]) -> Value:
    shape, dtype = shape_of(op.result.type), dtype_of(element_type_of(op.result.type))
    return Family.whole(np.array([op.places.at(i) for i in range(shape[op.dim])], dtype=dtype).reshape(shape))


@meaning(forge.MatmulOp)
def _(interpreter: Interpreter, op: forge.MatmulOp, operands: list[Value]) -> Value:
    return zip_tiles(numeric.matmul, family(operands[0]), family(operands[1]))


@meaning(forge.ReduceOp)
def _(interpreter: Interpreter, op: forge.ReduceOp, operands: list[Value]) -> Value:
    return family(operands[0]).map(lambda _, tile: numeric.reduce(op.reducer, tile, op.dim))


def _local_shape(interpreter: Interpreter, op: Operation, operand: Value, at: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the tile that the result has at a coordinate of its operand."""
    return interpreter.local_shape(op.results[0].type, family(operand).named(at))


@meaning(forge.TransposeOp)
def _(interpreter: Interpreter, op: forge.TransposeOp, operands: list[Value]) -> Value:
    return family(operands[0]).map(lambda _, tile: np.transpose(tile, op.perm))


@meaning(forge.ReshapeOp)
def _(interpreter: Interpreter, op: forge.ReshapeOp, operands: list[Value]) -> Value:
    return family(operands[0]).map(lambda at, tile: tile.reshape(_local_shape(interpreter, op, operands[0], at)))


@meaning(forge.ExpandOp)
def _(interpreter: Interpreter, op: forge.ExpandOp, operands: list[Value]) -> Value:
    return family(operands[0]).map(
        lambda at, tile: np.broadcast_to(tile, _local_shape(interpreter, op, operands[0], at))
    )


@meaning(forge.SliceOp)
def _(interpreter: Interpreter, op: forge.SliceOp, operands: list[Value]) -> Value:
    dim = op.dim
    part = slice(op.start, op.stop, op.step)
    return family(operands[0]).map(lambda _, tile: tile[(*[slice(None)] * dim, part)])


@meaning(forge.ConcatOp)
def _(interpreter: Interpreter, op: forge.ConcatOp, operands: list[Value]) -> Value:
    dim = op.dim
    return zip_tiles(lambda *tiles: np.concatenate(tiles, axis=dim), *map(family, operands))


@meaning(forge.PadOp)
def _(interpreter: Interpreter, op: forge.PadOp, operands: list[Value]) -> Value:
    dim = op.dim

    def pad(_: tuple[int, ...], tile: Array) -> Array:
        def filled(extent: int) -> Array:
            shape = (*tile.shape[:dim], extent, *tile.shape[dim + 1 :])
            return np.full(shape, op.value).astype(tile.dtype)

        return np.concatenate([filled(op.low), tile, filled(op.high)], axis=dim)

    return family(operands[0]).map(pad)


@meaning(forge.GatherOp)
def _(interpreter: Interpreter, op: forge.GatherOp, operands: list[Value]) -> Value:
    dim = op.dim

    def take(x: Array, index: Array) -> Array:
        return numeric.gather(x, index, dim)

    return zip_tiles(take, family(operands[0]), family(operands[1]))


@meaning(forge.TupleOp)
def _(interpreter: Interpreter, op: forge.TupleOp, operands: list[Value]) -> Value:
    return tuple(operands)


@meaning(forge.GetOp)
def _(interpreter: Interpreter, op: forge.GetOp, operands: list[Value]) -> Value:
    fields = operands[0]
    if not isinstance(fields, tuple):
        raise EquiforgeError(f"{op.name} of a value that is no tuple", location_of(op))
    return fields[op.index]


@meaning(forge.RandomOp)
def _(interpreter: Interpreter, op: forge.RandomOp, operands: list[Value]) -> Value:
    raise UnsupportedOpError(
        "a random value has no reference meaning", location_of(op), "evaluate the program without it"
    )


@meaning(forge.OpaqueOp)
def _(interpreter: Interpreter, op: forge.OpaqueOp, operands: list[Value]) -> Value:
    raise UnsupportedOpError(
        f"{op.target} has no reference meaning", location_of(op), "it is compared by running PyTorch only"
    )
