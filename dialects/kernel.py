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
from xdsl.ir import Attribute, Dialect, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, Pure, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.kernel_gather import GatherOp
from equiforge.dialects.kernel_host import BufferOp, GraphOp, HostCallOp, LaunchOp, ReturnOp, ViewOp
from equiforge.dialects.kernel_loops import BindingOp, ForOp, YieldOp, bound_axes, check_bound, needed_axes
from equiforge.dialects.kernel_types import BoundAttr, RangeAttr, RefType, ScheduleAttr
from equiforge.dialects.literals import LiteralAttr, float_text, parse_float
from equiforge.dialects.tile_axes import AxisOp
from equiforge.dialects.tile_types import PartialAttr, PartitionAttr, element_type_of, shape_of, state_on, states_of


@irdl_op_definition
class FuncOp(BindingOp):
    """One kernel: ``kernel.func @name(%q : !kernel.ref<…>, …) grid [@h0, @q0] schedule #kernel.schedule<…> { … }``.

    The first grid axis varies fastest. (C1) each grid axis is a ``tile.axis`` and stands once; (C2) an operand's axes
    are bound where it is used by what binds them where it is made; stores at an axis fit the schedule; (C3) under the
    schedule the tile of a loop's axis divides that of the axis in whose tiles it loops.
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

    @property
    def binds(self) -> tuple[str, ...]:
        return self.grid_axes

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
            # (C3)
            if isinstance(op, ForOp) and op.outer_name is not None and self.schedule is not None:
                inner, size = (self.schedule.tiles.get(a) for a in (op.axis_name, op.outer_name))
                if inner is not None and size is not None and size % inner:
                    raise VerifyException(
                        f"kernel.func @{self.sym_name.data}: tiles of {inner} of @{op.axis_name} do not divide "
                        f"those of @{op.outer_name}, which have {size}"
                    )


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
    check_bound(op, tile)
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
        check_bound(self, self.result.type)


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
        check_bound(self, self.result.type)


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
    [
        GraphOp,
        ReturnOp,
        BufferOp,
        ViewOp,
        LaunchOp,
        HostCallOp,
        FuncOp,
        LoadOp,
        GatherOp,
        StoreOp,
        FillOp,
        IotaOp,
        ForOp,
        YieldOp,
    ],
    [RefType, ScheduleAttr, BoundAttr, RangeAttr],
)

__all__ = [
    "BoundAttr",
    "BufferOp",
    "FillOp",
    "ForOp",
    "FuncOp",
    "GatherOp",
    "GraphOp",
    "HostCallOp",
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
