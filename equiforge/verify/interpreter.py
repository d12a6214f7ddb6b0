"""The reference meaning of forge and tile functions, in NumPy float64.

Written for clearness: each op's meaning is a function in ``forge_semantics`` or ``tile_semantics``, of the op and its
operands' values. A value with parallel axes is evaluated coordinate by coordinate, with real ragged tiles, and every
result is checked against the shape that its type gives to that coordinate. No code is shared with the code generator.

Floats are computed in float64 and never rounded, unless ``rounding="storage"``: then every float result is rounded to
its own element type, so that a program with ``numerics=strict`` means what it says.

>>> evaluate(module, [q, k, v], tile_sizes={"q0": 16, "k0": 16})     # doctest: +SKIP
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr, TupleType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from equiforge.dialects import tile
from equiforge.dialects.tile_types import axes_of, element_type_of, shape_of
from equiforge.errors import EquiforgeError
from equiforge.verify.numeric import Array, convert
from equiforge.verify.tiling import Tiling, collected_counts
from equiforge.verify.values import Family, Value, round_to

Rounding: TypeAlias = Literal["none", "storage"]
Meaning: TypeAlias = "Callable[[Interpreter, Operation, list[Value]], Value]"

DTYPES = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64"}


def dtype_of(element_type: Attribute) -> np.dtype[Any]:
    """The NumPy type that an element type is computed in."""
    return np.dtype(DTYPES.get(str(element_type), "float64"))


def location_of(op: Operation) -> str | None:
    """``file:line`` of the user's program that an op stems from."""
    location = op.attributes.get("loc")
    return location.data if isinstance(location, StringAttr) else None


class Interpreter:
    """Evaluates the functions of one module with one choice of tile sizes."""

    def __init__(self, scope: Operation, tile_sizes: Mapping[str, int] | None = None, rounding: Rounding = "none"):
        axes = {op.axis_name: op.extent for op in scope.walk() if isinstance(op, tile.AxisOp)}
        self.scope = scope
        outer = {op.axis_name: op.outer for op in scope.walk() if isinstance(op, tile.AxisOp) and op.outer}
        self.tiling = Tiling(axes, tile_sizes, collected_counts(scope), outer)
        self.rounding = rounding
        self._current: dict[str, int] = {}
        self._slice: dict[str, int] = {}

    def positions(self, axis: str, at: Mapping[str, int]) -> list[int]:
        """The positions of an axis at which a value is evaluated that ``at`` holds: all, or the current one in a
        reducer's body.
        """
        if axis in self._current:
            return [self._current[axis]]
        return list(range(self.tiling.count(axis, self.place(at))))

    def place(self, at: Mapping[str, int]) -> dict[str, int]:
        """A coordinate with the position of the outer axis at which a reducer runs now."""
        return {**self._slice, **at}

    @contextlib.contextmanager
    def at_position(self, axis: str, position: int) -> Generator[None]:
        """Evaluates at one position of an axis only."""
        self._current[axis] = position
        try:
            yield
        finally:
            del self._current[axis]

    @contextlib.contextmanager
    def in_slice(self, axis: str, position: int) -> Generator[None]:
        """Evaluates what one position of an outer axis holds: values do not depend on the axis, and axes within it
        cut its slice.
        """
        self._slice[axis] = position
        try:
            yield
        finally:
            del self._slice[axis]

    def call(self, func: FuncOp, args: Sequence[np.ndarray]) -> list[Array]:
        """Evaluates a function on whole arrays."""
        types = func.function_type.inputs.data
        if len(args) != len(types):
            raise EquiforgeError(f"{len(args)} arguments for the {len(types)} parameters of @{func.sym_name.data}")
        values: list[Value] = []
        for number, (arg, type_) in enumerate(zip(args, types, strict=True)):
            if tuple(arg.shape) != tuple(shape_of(type_)):
                raise EquiforgeError(f"argument {number} has shape {tuple(arg.shape)}, the program takes {type_}")
            element = element_type_of(type_)
            value = convert(arg, dtype_of(element))
            values.append(self._rounded(Family.whole(value), element))
        # Overflow, division by zero and invalid operations give IEEE's results, silently.
        with np.errstate(all="ignore"):
            results = self.block(func.body.block, values)
        arrays: list[Array] = []
        for result in results:
            if not isinstance(result, Family) or result.axes:
                raise EquiforgeError(f"@{func.sym_name.data} returns a value that is no tensor")
            arrays.append(result.array)
        return arrays

    def block(self, block: Block, args: Sequence[Value]) -> list[Value]:
        """Evaluates a block and returns the operands of its terminator."""
        environment: dict[SSAValue, Value] = dict(zip(block.args, args, strict=True))
        for op in block.ops:
            operands = [environment[operand] for operand in op.operands]
            if isinstance(op, ReturnOp | tile.YieldOp):
                return operands
            if isinstance(op, CallOp):
                callee = self.function(op)
                environment.update(zip(op.results, self.block(callee.body.block, operands), strict=True))
                continue
            environment[op.results[0]] = self.op(op, operands)
        raise EquiforgeError(f"a block of {block.parent_op()} has no terminator")

    def op(self, op: Operation, operands: list[Value]) -> Value:
        """Evaluates one op; its result is rounded (with ``rounding="storage"``) and checked against its type."""
        meaning = meanings().get(type(op))
        if meaning is None:
            raise EquiforgeError(
                f"{op.name} has no reference meaning", location_of(op), "it can't be checked by the interpreter"
            )
        result = meaning(self, op, operands)
        type_ = op.results[0].type
        if isinstance(result, Family):
            result = self._rounded(result, element_type_of(type_))
        self.check(op, type_, result)
        return result

    def check(self, op: Operation, type_: Attribute, value: Value) -> None:
        """Raises if a value does not have the axes and the tile shapes that its type says."""
        if isinstance(value, tuple):
            fields = type_.types.data if isinstance(type_, TupleType) else ()
            for field_type, field in zip(fields, value, strict=True):
                self.check(op, field_type, field)
            return
        if value.axes != axes_of(type_):
            raise EquiforgeError(f"{op.name}: a value of type {type_} has axes {value.axes}", location_of(op))
        for coordinate, array in value.tiles.items():
            expected = self.local_shape(type_, value.named(coordinate))
            if len(expected) != array.ndim or any(
                e >= 0 and e != n for e, n in zip(expected, array.shape, strict=True)
            ):
                place = f"{op.name}: the tile at {value.named(coordinate)}"
                raise EquiforgeError(f"{place} has shape {array.shape}, {type_} says {expected}", location_of(op))

    def local_shape(self, type_: Attribute, at: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of the tile that a coordinate holds of a value of the given type."""
        return self.tiling.local_shape(type_, self.place(at))

    def function(self, call: CallOp) -> FuncOp:
        """Finds the function that is called."""
        found = SymbolTable.lookup_symbol(self.scope, call.callee)
        if not isinstance(found, FuncOp) or found.is_declaration:
            raise EquiforgeError(f"no function {call.callee} with a body", location_of(call))
        return found

    def reducer(self, symbol: str) -> tile.ReducerOp:
        """Finds a reducer by its symbol."""
        found = SymbolTable.lookup_symbol(self.scope, symbol)
        if not isinstance(found, tile.ReducerOp):
            raise EquiforgeError(f"no reducer @{symbol}")
        return found

    def _rounded(self, value: Family, element_type: Attribute) -> Family:
        if self.rounding == "none" or dtype_of(element_type) != np.float64:
            return value
        return value.map(lambda _, array: round_to(array, str(element_type)))


_MEANINGS: dict[type[Operation], Meaning] = {}


def meanings() -> dict[type[Operation], Meaning]:
    """The meaning of every op class."""
    if not _MEANINGS:
        from equiforge.verify.forge_semantics import FORGE_MEANINGS
        from equiforge.verify.tile_semantics import TILE_MEANINGS

        _MEANINGS.update(FORGE_MEANINGS)
        _MEANINGS.update(TILE_MEANINGS)
    return _MEANINGS


def main_function(module_or_func: ModuleOp | FuncOp) -> FuncOp:
    """Returns the function itself, or the function ``@main`` (or the only one) of a module."""
    if isinstance(module_or_func, FuncOp):
        return module_or_func
    functions = [op for op in module_or_func.ops if isinstance(op, FuncOp)]
    for function in functions:
        if function.sym_name.data == "main" or len(functions) == 1:
            return function
    raise EquiforgeError(f"the module has {len(functions)} functions and none is @main")


def evaluate(
    module_or_func: ModuleOp | FuncOp,
    args: Sequence[np.ndarray],
    tile_sizes: Mapping[str, int] | None = None,
    rounding: Rounding = "none",
) -> list[Array]:
    """Evaluates a forge or tile function on whole arrays and returns its results.

    ``args`` have the parameters' shapes; floats of any width are taken as float64. ``tile_sizes`` gives tile sizes of
    parallel axes by name (default: about a third of the extent, so that there is a ragged tile); a ``tile.collect``
    into a number of tiles sets that of its axis. Raises ``EquiforgeError`` for ops without a meaning here, such as
    ``forge.random`` and ``forge.opaque``.
    """
    func = main_function(module_or_func)
    scope = module_or_func if isinstance(module_or_func, ModuleOp) else func.parent_op() or func
    return Interpreter(scope, tile_sizes, rounding).call(func, args)
