"""The ``kernel`` dialect: what runs, one step above Triton text.

A module holds the axes and reducers of the tile level, one ``kernel.graph`` and the ``kernel.func``s it launches. The
graph is the host side: buffers, other views of them, launches in data-dependence order. A function is one kernel: a
program instance for each coordinate of its grid axes. Inside, values are tiles; their types are the tile types
(``!tile.view``, or ``tensor`` for what depends on no axis) and the ops on them are the pointwise ``forge`` ops,
``tile.matmul``, ``tile.reduce`` and ``tile.accumulate``.

Invariants:

* a value with the state ``partition`` or ``partial`` of an axis stands where that axis is bound: by the grid, or by
  an enclosing ``kernel.for`` over it. The innermost binding counts, so a loop over ``@t0`` inside a kernel with the
  grid axis ``@t0`` sees other tiles than the code around it, and may not use that code's ``@t0`` values;
* the state ``replicate`` costs nothing: such a value is the same at every coordinate;
* memory effects are in ``kernel.store`` only, and no kernel loads what it stores; partial results are stored only
  ``at`` their axis, a slice for each coordinate.

    kernel.graph @main {
      %x = kernel.buffer input "x" : !kernel.ref<64x128xf16, [128, 1]>
      %y = kernel.buffer output "y" : !kernel.ref<64x1xf32, [1, 1]>
      kernel.launch @row_sum(%x, %y) : !kernel.ref<64x128xf16, [128, 1]>, !kernel.ref<64x1xf32, [1, 1]>
      kernel.return %y : !kernel.ref<64x1xf32, [1, 1]>
    }
    kernel.func @row_sum(%x : !kernel.ref<64x128xf16, [128, 1]>, %y : !kernel.ref<64x1xf32, [1, 1]>) grid [@t0] {
      %zero = kernel.fill 0.0 : !tile.view<64x1xf32, [#tile.partition<@t0, 0>]>
      %sum = kernel.for @d0 iter_args(%acc = %zero) { … }
      kernel.store %sum, %y : …
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    FlatSymbolRefAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, Pure, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.kernel_host import BufferOp, GraphOp, LaunchOp, ReturnOp, ViewOp
from equiforge.dialects.kernel_types import BoundAttr, RangeAttr, RefType, ScheduleAttr
from equiforge.dialects.literals import LiteralAttr, float_text, parse_float
from equiforge.dialects.tile import AxisOp
from equiforge.dialects.tile_types import PartialAttr, PartitionAttr, element_type_of, shape_of, state_on, states_of


def bound_axes(op: Operation) -> dict[str, Operation]:
    """The axes that are bound where ``op`` stands, each with the op that binds it innermost (a loop or the kernel)."""
    found: dict[str, Operation] = {}
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            found.setdefault(parent.axis_name, parent)
        elif isinstance(parent, FuncOp):
            for name in parent.grid_axes:
                found.setdefault(name, parent)
        parent = parent.parent_op()
    return found


def needed_axes(type_: Attribute) -> set[str]:
    """The axes that a tile of this type depends on."""
    return {s.axis_name for s in states_of(type_) if isinstance(s, PartitionAttr | PartialAttr)}


def _check_bound(op: Operation, type_: Attribute) -> None:
    missing = needed_axes(type_) - set(bound_axes(op))
    if missing:
        raise VerifyException(
            f"{op.name}: {type_} depends on axis @{min(missing)}, which neither the grid nor an enclosing loop binds"
        )


@irdl_op_definition
class FuncOp(IRDLOperation):
    """One kernel: ``kernel.func @name(%q : !kernel.ref<…>, …) grid [@h0, @q0] schedule #kernel.schedule<…> { … }``.

    The first grid axis varies fastest. (C1) each grid axis is a ``tile.axis`` and stands once; (C2) an operand's axes
    are bound where it is used by what binds them where it is made; stores at an axis fit the schedule.
    """

    name = "kernel.func"
    sym_name = prop_def(SymbolNameConstraint())
    grid = prop_def(ArrayAttr[FlatSymbolRefAttr])
    schedule = opt_prop_def(ScheduleAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), NoTerminator())

    def __init__(self, name: str, grid: Sequence[str], body: Region, schedule: ScheduleAttr | None = None):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "grid": ArrayAttr([SymbolRefAttr(g) for g in grid]),
                "schedule": schedule,
            },
            regions=[body],
        )

    @property
    def grid_axes(self) -> tuple[str, ...]:
        return tuple(g.root_reference.data for g in self.grid)

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        parser.parse_keyword("grid")
        grid = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_symbol_name)
        schedule = None
        if parser.parse_optional_keyword("schedule"):
            schedule = cast(ScheduleAttr, parser.parse_attribute())
        body = parser.parse_region(arguments)
        return cls(name.data, [g.data for g in grid], body, schedule)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" @{self.sym_name.data}(")
        printer.enter_scope()
        printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(") grid [" + ", ".join(f"@{g}" for g in self.grid_axes) + "] ")
        if self.schedule is not None:
            printer.print_string("schedule ")
            printer.print_attribute(self.schedule)
            printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.exit_scope()

    def verify_(self) -> None:
        # (C1)
        for axis in self.grid_axes:
            if not isinstance(SymbolTable.lookup_symbol(self, axis), AxisOp):
                raise VerifyException(f"kernel.func @{self.sym_name.data}: no tile.axis @{axis} is declared")
        if len(set(self.grid_axes)) != len(self.grid_axes):
            raise VerifyException(
                f"kernel.func @{self.sym_name.data}: an axis stands twice in the grid {list(self.grid_axes)}"
            )
        for op in self.body.walk():
            for operand in op.operands:
                _check_coordinate(op, operand)
            if isinstance(op, StoreOp) and op.axis_name is not None and self.schedule is not None:
                found = SymbolTable.lookup_symbol(self, op.axis_name)
                size = self.schedule.tiles.get(op.axis_name)
                if isinstance(found, AxisOp) and size is not None:
                    op.check_tiles(found.extent, size)


def _check_coordinate(op: Operation, operand: SSAValue) -> None:
    """An operand's axes have the same binding where it is made as where it is used."""
    owner = operand.owner if isinstance(operand.owner, Operation) else operand.owner.first_op
    if owner is None or isinstance(operand.type, RefType):
        return
    made, used = bound_axes(owner), bound_axes(op)
    for axis in sorted(needed_axes(operand.type)):
        if made.get(axis) is not used.get(axis):
            raise VerifyException(
                f"{op.name} uses a value of type {operand.type} that was made outside the loop over "
                f"@{axis}: its tile is another one"
            )


@irdl_op_definition
class LoadOp(IRDLOperation):
    """A tile of an array: ``%t = kernel.load %q : !kernel.ref<…> -> !tile.view<…>``; ragged edges read as 0.

    The partitions of the result type say which axis cuts which dimension. (C1) shape and element type are those of
    the array; (C2) the axes are bound here; (C3) the result is no partial value.
    """

    name = "kernel.load"
    source = operand_def(RefType)
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "$source `:` type($source) `->` type($result) attr-dict"

    def __init__(self, source: SSAValue, type_: Attribute):
        super().__init__(operands=[source], result_types=[type_])

    def verify_(self) -> None:
        _check_memory(self, cast(RefType, self.source.type), self.result.type)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Writes a tile: ``kernel.store %t, %o : !tile.view<…>, !kernel.ref<…>``; nothing beyond a ragged edge is
    written.

    The constraints are those of ``kernel.load``. ``kernel.store %t, %o at @k0 : …`` writes what each coordinate of
    the grid axis ``@k0`` has, a partial result over that axis, to its own slice of the array's leading dimension:
    (C4) the axis is of the grid; (C5) the tile's shape is that of a slice, which ``@k0`` does not partition; (C6)
    under the kernel's schedule the axis has as many tiles as there are slices.
    """

    name = "kernel.store"
    value = operand_def()
    target = operand_def(RefType)
    axis = opt_prop_def(FlatSymbolRefAttr)
    assembly_format = "$value `,` $target (`at` $axis^)? `:` type($value) `,` type($target) attr-dict"

    def __init__(self, value: SSAValue, target: SSAValue, axis: str | None = None):
        place = None if axis is None else SymbolRefAttr(axis)
        super().__init__(operands=[value, target], properties={"axis": place})

    @property
    def axis_name(self) -> str | None:
        return None if self.axis is None else self.axis.root_reference.data

    @property
    def slices(self) -> int:
        """Elements of the leading dimension that the axis indexes."""
        return cast(RefType, self.target.type).shape[0]

    def verify_(self) -> None:
        ref, axis = cast(RefType, self.target.type), self.axis_name
        if axis is not None:
            # (C4)
            if not isinstance(bound_axes(self).get(axis), FuncOp):
                raise VerifyException(f"kernel.store: @{axis} is no axis of the grid here")
            # (C5)
            if isinstance(state_on(self.value.type, axis), PartitionAttr):
                raise VerifyException(f"kernel.store at @{axis}: the tile is a part of {self.value.type} along it")
        _check_memory(self, ref, self.value.type, axis)

    def check_tiles(self, extent: int, size: int) -> None:
        """(C6): the axis cuts ``extent`` elements into tiles of ``size``."""
        if -(-extent // size) != self.slices:
            raise VerifyException(
                f"kernel.store at @{self.axis_name}: {self.slices} slices, but tiles of {size} cut {extent} elements "
                f"into {-(-extent // size)}"
            )


def _check_memory(op: Operation, ref: RefType, tile: Attribute, leading: str | None = None) -> None:
    # (C1)
    shape = ref.shape if leading is None else ref.shape[1:]
    if shape != tuple(shape_of(tile)) or ref.element_type != element_type_of(tile):
        raise VerifyException(f"{op.name}: tile {tile} and array {ref} differ in shape or element type")
    # (C2)
    _check_bound(op, tile)
    # (C3)
    for state in states_of(tile):
        if isinstance(state, PartialAttr) and state.axis_name != leading:
            raise VerifyException(
                f"{op.name}: {tile} is a partial result over @{state.axis_name} and can't be in memory"
            )


@irdl_op_definition
class FillOp(IRDLOperation):
    """A tile of one value: ``%l = kernel.fill 0.0 : !tile.view<…>``. (C1) the value has the tile's element type."""

    name = "kernel.fill"
    value = prop_def(LiteralAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, number: float, type_: Attribute):
        literal = LiteralAttr.of(number, TensorType(element_type_of(type_), []))
        super().__init__(properties={"value": literal}, result_types=[type_])

    @property
    def number(self) -> float:
        splat = self.value.splat
        assert splat is not None
        return splat

    @classmethod
    def parse(cls, parser: Parser) -> FillOp:
        truth = parser.parse_optional_boolean()
        number = parse_float(parser) if truth is None else float(truth)
        parser.parse_punctuation(":")
        return cls(number, parser.parse_type())

    def print(self, printer: Printer) -> None:
        number, element = self.number, element_type_of(self.result.type)
        if isinstance(element, IntegerType):
            text = str(number) if element != i1 else ("true" if number else "false")
        else:
            text = float_text(number, lambda other: LiteralAttr.of(other, self.value.get_type()) == self.value)
        printer.print_string(f" {text} : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        # (C1)
        if self.value.get_element_type() != element_type_of(self.result.type):
            raise VerifyException(
                f"kernel.fill: {self.value.get_element_type()} in a tile of {element_type_of(self.result.type)}"
            )
        _check_bound(self, self.result.type)


@irdl_op_definition
class IotaOp(IRDLOperation):
    """The index along a dimension of the tensor: ``%i = kernel.iota 2 : !tile.view<…>``. (C1) the dimension exists."""

    name = "kernel.iota"
    dim = prop_def(IntegerAttr[I64])
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "$dim `:` type($result) attr-dict"

    def __init__(self, dim: int, type_: Attribute):
        super().__init__(properties={"dim": IntegerAttr(dim, i64)}, result_types=[type_])

    def verify_(self) -> None:
        # (C1)
        if not 0 <= self.dim.value.data < len(shape_of(self.result.type)):
            raise VerifyException(f"kernel.iota: {self.result.type} has no dimension {self.dim.value.data}")
        _check_bound(self, self.result.type)


@irdl_op_definition
class ForOp(IRDLOperation):
    """A loop over the tiles of an axis: ``%r = kernel.for @k0 iter_args(%acc = %zero) ranges [#kernel.range<…>] { …
    }``.

    The initial values are the identities of what is accumulated. ``ranges`` (optional) bounds the elements that
    matter: a tile outside all of them is not visited. (C1) the axis is a ``tile.axis``; (C2) the types of initial
    values, block arguments, yielded values and results agree; (C3) no such type depends on the loop's axis; (C4) a
    bound's axis is bound outside.
    """

    name = "kernel.for"
    axis = prop_def(FlatSymbolRefAttr)
    ranges = opt_prop_def(ArrayAttr[RangeAttr])
    inits = var_operand_def()
    body = region_def("single_block")
    res = var_result_def()

    def __init__(self, axis: str, inits: Sequence[SSAValue], body: Region, ranges: Sequence[RangeAttr] | None = None):
        super().__init__(
            properties={"axis": SymbolRefAttr(axis), "ranges": None if ranges is None else ArrayAttr(ranges)},
            operands=[inits],
            result_types=[[i.type for i in inits]],
            regions=[body],
        )

    @property
    def axis_name(self) -> str:
        return self.axis.root_reference.data

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        def entry() -> tuple[Parser.UnresolvedArgument, SSAValue]:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            # The initial value stands before the loop, so its type is known and the text need not repeat it.
            return argument, parser.parse_operand()  # pyright: ignore[reportDeprecated]

        axis = parser.parse_symbol_name()
        parser.parse_keyword("iter_args")
        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, entry)
        ranges = None
        if parser.parse_optional_keyword("ranges"):
            ranges = cast(ArrayAttr[RangeAttr], parser.parse_attribute()).data
        arguments = [argument.resolve(init.type) for argument, init in pairs]
        body = parser.parse_region(arguments)
        return cls(axis.data, [init for _, init in pairs], body, ranges)

    def print(self, printer: Printer) -> None:
        def entry(pair: tuple[BlockArgument, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_ssa_value(pair[1])

        printer.print_string(f" @{self.axis_name} iter_args(")
        printer.print_list(zip(self.body.block.args, self.inits, strict=True), entry)
        printer.print_string(") ")
        if self.ranges is not None:
            printer.print_string("ranges ")
            printer.print_attribute(self.ranges)
            printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    def verify_(self) -> None:
        # (C1)
        if not isinstance(SymbolTable.lookup_symbol(self, self.axis_name), AxisOp):
            raise VerifyException(f"kernel.for: no tile.axis @{self.axis_name} is declared")
        # (C2)
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("kernel.for must end with kernel.yield")
        expected = [i.type for i in self.inits]
        for what, types in (("block arguments", self.body.block.arg_types), ("yielded values", last.operand_types)):
            if list(types) != expected:
                raise VerifyException(
                    f"kernel.for @{self.axis_name}: initial values are "
                    f"({', '.join(map(str, expected))}) but the {what} ({', '.join(map(str, types))})"
                )
        # (C3)
        for type_ in expected:
            if self.axis_name in needed_axes(type_):
                raise VerifyException(
                    f"kernel.for @{self.axis_name} carries {type_}, which depends on the loop's own axis"
                )
            _check_bound(self, type_)
        # (C4)
        outer = bound_axes(self)
        for range_ in self.ranges or ():
            for bound in (*range_.lower, *range_.upper):
                if bound.axis_name is not None and bound.axis_name not in outer:
                    raise VerifyException(
                        f"kernel.for @{self.axis_name}: a bound names @{bound.axis_name}, which is not bound outside"
                    )


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The next values of a loop's iter_args: ``kernel.yield %acc : !tile.view<…>``."""

    name = "kernel.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "$values `:` type($values) attr-dict"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])


def functions_of(module: Operation) -> Iterator[FuncOp]:
    """The kernels of a module in order."""
    for region in module.regions:
        for op in region.block.ops:
            if isinstance(op, FuncOp):
                yield op


def is_tile(type_: Attribute) -> bool:
    """True for a value inside a kernel (a view or a plain tensor), False for memory."""
    return bool(states_of(type_)) or isinstance(type_, TensorType)


Kernel = Dialect(
    "kernel",
    [GraphOp, ReturnOp, BufferOp, ViewOp, LaunchOp, FuncOp, LoadOp, StoreOp, FillOp, IotaOp, ForOp, YieldOp],
    [RefType, ScheduleAttr, BoundAttr, RangeAttr],
)

__all__ = [
    "BoundAttr",
    "BufferOp",
    "FillOp",
    "ForOp",
    "FuncOp",
    "GraphOp",
    "IotaOp",
    "Kernel",
    "LaunchOp",
    "LoadOp",
    "RangeAttr",
    "RefType",
    "ReturnOp",
    "ScheduleAttr",
    "StoreOp",
    "ViewOp",
    "YieldOp",
    "bound_axes",
    "functions_of",
    "is_tile",
    "needed_axes",
]
