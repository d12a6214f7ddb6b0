"""Where the axes of a kernel are bound: by its grid, and by loops over the tiles of an axis."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FlatSymbolRefAttr, SymbolRefAttr
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, SymbolTable
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.kernel_types import RangeAttr
from equiforge.dialects.tile_axes import AxisOp, outer_axis
from equiforge.dialects.tile_types import PartialAttr, PartitionAttr, states_of


class BindingOp(IRDLOperation):
    """An op in whose body axes have a current tile."""

    @property
    @abstractmethod
    def binds(self) -> tuple[str, ...]:
        """The names of the axes."""


def bound_axes(op: Operation) -> dict[str, Operation]:
    """The axes that are bound where ``op`` stands, each with the op that binds it innermost (a loop or the kernel)."""
    found: dict[str, Operation] = {}
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, BindingOp):
            for name in parent.binds:
                found.setdefault(name, parent)
        parent = parent.parent_op()
    return found


def needed_axes(type_: Attribute) -> set[str]:
    """The axes that a tile of this type depends on."""
    return {s.axis_name for s in states_of(type_) if isinstance(s, PartitionAttr | PartialAttr)}


def check_bound(op: Operation, type_: Attribute) -> None:
    """The axes that a tile of this type depends on are bound where ``op`` stands."""
    missing = needed_axes(type_) - set(bound_axes(op))
    if missing:
        raise VerifyException(
            f"{op.name}: {type_} depends on axis @{min(missing)}, which neither the grid nor an enclosing loop binds"
        )


@irdl_op_definition
class ForOp(BindingOp):
    """A loop over the tiles of an axis: ``%r = kernel.for @k0 iter_args(%acc = %zero) ranges [#kernel.range<…>] { …
    }``.

    The initial values are the identities of what is accumulated. ``ranges`` (optional) bounds the elements that
    matter: a tile outside all of them is not visited. ``kernel.for @k1 in @k0 …`` visits the tiles of ``@k1`` in the
    current tile of ``@k0`` only: values inside need not name ``@k0``, as a tile of ``@k1`` tells where it is. (C1) the
    axis is a ``tile.axis``; (C2) the types of initial values, block arguments, yielded values and results agree; (C3)
    no such type depends on the loop's axis; (C4) a bound's axis is bound outside; (C5) so is the outer axis, which the
    loop's axis is declared within.
    """

    name = "kernel.for"
    axis = prop_def(FlatSymbolRefAttr)
    outer = opt_prop_def(FlatSymbolRefAttr)
    ranges = opt_prop_def(ArrayAttr[RangeAttr])
    inits = var_operand_def()
    body = region_def("single_block")
    res = var_result_def()

    def __init__(
        self,
        axis: str,
        inits: Sequence[SSAValue],
        body: Region,
        ranges: Sequence[RangeAttr] | None = None,
        outer: str | None = None,
    ):
        super().__init__(
            properties={
                "axis": SymbolRefAttr(axis),
                "outer": None if outer is None else SymbolRefAttr(outer),
                "ranges": None if ranges is None else ArrayAttr(ranges),
            },
            operands=[inits],
            result_types=[[i.type for i in inits]],
            regions=[body],
        )

    @property
    def axis_name(self) -> str:
        return self.axis.root_reference.data

    @property
    def binds(self) -> tuple[str, ...]:
        return (self.axis_name,)

    @property
    def outer_name(self) -> str | None:
        """The axis whose current tile holds the tiles that the loop visits; None for the whole dimension."""
        return None if self.outer is None else self.outer.root_reference.data

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        def entry() -> tuple[Parser.UnresolvedArgument, SSAValue]:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            # The initial value stands before the loop, so its type is known and the text need not repeat it.
            return argument, parser.parse_operand()  # pyright: ignore[reportDeprecated]

        axis = parser.parse_symbol_name()
        outer = parser.parse_symbol_name().data if parser.parse_optional_keyword("in") else None
        parser.parse_keyword("iter_args")
        pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, entry)
        ranges = None
        if parser.parse_optional_keyword("ranges"):
            ranges = cast(ArrayAttr[RangeAttr], parser.parse_attribute()).data
        arguments = [argument.resolve(init.type) for argument, init in pairs]
        body = parser.parse_region(arguments)
        return cls(axis.data, [init for _, init in pairs], body, ranges, outer)

    def print(self, printer: Printer) -> None:
        def entry(pair: tuple[BlockArgument, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_ssa_value(pair[1])

        slices = "" if self.outer_name is None else f" in @{self.outer_name}"
        printer.print_string(f" @{self.axis_name}{slices} iter_args(")
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
            check_bound(self, type_)
        # (C4)
        outer = bound_axes(self)
        for range_ in self.ranges or ():
            for bound in (*range_.lower, *range_.upper):
                if bound.axis_name is not None and bound.axis_name not in outer:
                    raise VerifyException(
                        f"kernel.for @{self.axis_name}: a bound names @{bound.axis_name}, which is not bound outside"
                    )
        # (C5)
        if (name := self.outer_name) is not None and (name not in outer or outer_axis(self, self.axis_name) != name):
            what = "is not bound outside" if name not in outer else "does not hold it: no axis is declared so"
            raise VerifyException(f"kernel.for @{self.axis_name} in @{name}: @{name} {what}")


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The next values of a loop's iter_args: ``kernel.yield %acc : !tile.view<…>``."""

    name = "kernel.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "$values `:` type($values) attr-dict"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])
