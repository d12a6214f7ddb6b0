"""Reductions of the ``tile`` dialect: built-in reducers, reducers with a body of their own, and how both are applied.

    tile.reducer @online identity [-inf, 0.0] body(%m : …, %l : …, %x : …) {
      …
      tile.yield %m1, %l1 : …
    } final(%m : …, %l : …) { … }
    %t = tile.reduce @online over parallel(@k0) %x : (…) -> tuple<…>

A reducer of its own is what a kernel loops with: ``body`` is one iteration over a tile of the reduction axis.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TupleType,
    f64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue, TypeAttribute
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
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.assembly import InferredOp, Signature, Word, int_attr, symbol_attr
from equiforge.dialects.inference import infer_accumulate, infer_parallel_reduce, infer_reduce
from equiforge.dialects.literals import float_text, parse_float
from equiforge.dialects.tile_axes import check_axis, check_innermost, check_nesting, find_symbol, outer_axis
from equiforge.dialects.tile_types import (
    PartialAttr,
    PartitionAttr,
    state_on,
    states_of,
    with_states,
    without_axis,
)

Operand = SSAValue | Operation


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a region of a reducer: ``tile.yield %m, %l : tensor<64x1xf32>, tensor<64x1xf32>``."""

    name = "tile.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "$values `:` type($values) attr-dict"

    def __init__(self, *values: Operand):
        super().__init__(operands=[[SSAValue.get(value) for value in values]])


@irdl_op_definition
class ReducerOp(IRDLOperation):
    """A reducer with states: the symbol that ``tile.reduce`` and the kernels of a rolling reduction name.

    The states start as ``identity``, one number a state. ``body(states…, inputs…)`` yields the states after the
    inputs of one tile, which are partitioned over the reduction axis in it; ``merge(states…, states…)``, where there
    is one, joins two results; ``final(states…)`` is applied once at the end. ``certificate`` says how the reducer was
    derived.

    (C1) there is a state, and an input; (C2) the body yields the types of the states; (C3) merge takes the states
    twice and yields them; (C4) final takes the states.
    """

    name = "tile.reducer"
    sym_name = prop_def(SymbolNameConstraint())
    identity_attr = prop_def(ArrayAttr[FloatAttr], prop_name="identity")
    certificate_attr = opt_prop_def(StringAttr, prop_name="certificate")
    body = region_def()
    merge = region_def()
    final = region_def()
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove())

    def __init__(
        self,
        name: str,
        identity: Sequence[float],
        body: Region,
        certificate: str | None = None,
        merge: Region | None = None,
        final: Region | None = None,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "identity": ArrayAttr([FloatAttr(float(value), f64) for value in identity]),
                "certificate": None if certificate is None else StringAttr(certificate),
            },
            regions=[body, merge or Region(), final or Region()],
        )

    @property
    def identity(self) -> tuple[float, ...]:
        return tuple(value.value.data for value in self.identity_attr)

    @property
    def certificate(self) -> str | None:
        return self.certificate_attr.data if self.certificate_attr is not None else None

    @property
    def num_states(self) -> int:
        return len(self.identity_attr)

    @property
    def state_types(self) -> tuple[Attribute, ...]:
        """Of the states, which do not depend on the reduction axis."""
        return tuple(self.body.block.arg_types)[: self.num_states]

    @property
    def input_types(self) -> tuple[Attribute, ...]:
        """Of the inputs, which are partitioned over the reduction axis."""
        return tuple(self.body.block.arg_types)[self.num_states :]

    @property
    def has_merge(self) -> bool:
        return bool(self.merge.blocks)

    @property
    def has_final(self) -> bool:
        return bool(self.final.blocks)

    @property
    def result_types_of_use(self) -> tuple[Attribute, ...]:
        """The members of the tuple that a reduction gives."""
        return self._yielded(self.final) if self.has_final else self.state_types

    def _yielded(self, region: Region) -> tuple[Attribute, ...]:
        last = region.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException(f"{self.name} @{self.sym_name.data}: a region does not end with tile.yield")
        return tuple(last.operand_types)

    def verify_(self) -> None:
        label = f"{self.name} @{self.sym_name.data}"
        # (C1)
        if len(self.body.blocks) != 1 or self.num_states == 0 or len(self.body.block.args) <= self.num_states:
            raise VerifyException(f"{label}: {self.num_states} identities need as many states and an input in the body")
        states = self.state_types
        # (C2)
        self._check(f"{label}: the body yields", self._yielded(self.body), states)
        # (C3)
        if self.has_merge:
            self._check(f"{label}: merge takes", tuple(self.merge.block.arg_types), (*states, *states))
            self._check(f"{label}: merge yields", self._yielded(self.merge), states)
        # (C4)
        if self.has_final:
            self._check(f"{label}: final takes", tuple(self.final.block.arg_types), states)
            self._yielded(self.final)

    def _check(self, what: str, found: Sequence[Attribute], expected: Sequence[Attribute]) -> None:
        if tuple(found) != tuple(expected):
            texts = [", ".join(str(type_) for type_ in types) for types in (found, expected)]
            raise VerifyException(f"{what} ({texts[0]}), but the states are ({texts[1]})")

    @classmethod
    def parse(cls, parser: Parser) -> ReducerOp:
        name = parser.parse_symbol_name()
        parser.parse_keyword("identity")
        identity = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_float(parser))
        certificate = parser.parse_str_literal() if parser.parse_optional_keyword("certificate") else None
        attributes = parser.parse_optional_attr_dict_with_keyword()
        regions: dict[str, Region] = {}
        for keyword in ("body", "merge", "final"):
            if keyword == "body":
                parser.parse_keyword(keyword)
            elif not parser.parse_optional_keyword(keyword):
                continue
            args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
            regions[keyword] = parser.parse_region(args)
        op = cls(name.data, identity, regions["body"], certificate, regions.get("merge"), regions.get("final"))
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        numbers = ", ".join(float_text(value, lambda other, value=value: other == value) for value in self.identity)
        printer.print_string(f" @{self.sym_name.data} identity [{numbers}]")
        if self.certificate_attr is not None:
            printer.print_string(" certificate ")
            printer.print_string_literal(self.certificate_attr.data)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        for keyword, region in (("body", self.body), ("merge", self.merge), ("final", self.final)):
            if not region.blocks:
                continue
            printer.print_string(f" {keyword}(")
            # The arguments belong to the region's scope of names, so they are named before it is printed.
            printer.enter_scope()
            printer.print_list(region.block.args, printer.print_block_argument)
            printer.print_string(") ")
            printer.print_region(region, print_entry_block_args=False)
            printer.exit_scope()


def raw_states(reducer: ReducerOp, axis: str) -> tuple[Attribute, ...]:
    """The types of a reducer's states after the slice that each coordinate of an axis holds."""
    return tuple(with_states(type_, (*states_of(type_), PartialAttr(axis))) for type_ in reducer.state_types)


@irdl_custom_directive
class ReduceHead(CustomDirective):
    """``sum over axis(1)``, ``sum over parallel(@k0)`` or ``@online over parallel(@k0)``."""

    reducer: AttributeVariable
    dim: AttributeVariable
    axis: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        symbol = parser.parse_optional_symbol_name()
        reducer = SymbolRefAttr(symbol) if symbol else StringAttr(parser.parse_identifier())
        self.reducer.set(state, reducer)
        parser.parse_keyword("over")
        where = parser.parse_keyword_in(("axis", "parallel"))
        with parser.in_parens():
            if where == "axis":
                self.dim.set(state, int_attr(parser.parse_integer(allow_negative=False, allow_boolean=False)))
            else:
                self.axis.set(state, SymbolRefAttr(parser.parse_symbol_name()))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        assert isinstance(op, ReduceOp)
        state.print_whitespace(printer)
        where = f"parallel(@{op.axis_name})" if op.axis_name is not None else f"axis({op.dim})"
        printer.print_string(f"{'@' if op.is_rolling else ''}{op.reducer} over {where}")


@irdl_op_definition
class ReduceOp(InferredOp):
    """A reduction inside each tile, across the coordinates of an axis, or by a reducer of its own.

        %p = tile.reduce sum over axis(1) %x : (…) -> …           over a dimension; a partitioned one gives partial
        %s = tile.reduce sum over parallel(@k0) %p : (…) -> …     needs partial over the axis, and removes it
        %t = tile.reduce @online over parallel(@k0) %x, %v : (…) -> tuple<…>

    A reducer of its own over an axis that is within another, on operands that depend on that one too, runs at each
    coordinate of the outer axis on what that coordinate holds. Its text does not mention the outer axis: operands are
    as it says plus their state along ``@k0``, results are its *states*, without ``final``, each
    ``#tile.partial<@k0>``: to be collected and merged by another kernel.

        %t = tile.reduce @online over parallel(@k1) %x : (!tile.view<64x128xf32, [#tile.partition<@k0, 1>,
            #tile.partition<@k1, 1>]>) -> tuple<!tile.view<64x1xf32, [#tile.partial<@k0>]>, …>

    (C1) one of dimension and axis is given, a reducer of its own goes over an axis; (C2) the operand's state fits;
    (C3) the axis is declared, and no axis within it is left; (C4) operands and results of a reducer of its own are as
    it says, the operands depend on the axis and the results do not.
    """

    name = "tile.reduce"
    reducer_attr = prop_def(StringAttr | SymbolRefAttr, prop_name="reducer")
    dim_attr = opt_prop_def(IntegerAttr[I64], prop_name="dim")
    axis_attr = opt_prop_def(SymbolRefAttr, prop_name="axis")
    inputs = var_operand_def()
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (ReduceHead, Signature)
    assembly_format = (
        "custom<ReduceHead>($reducer, $dim, $axis) $inputs attr-dict `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

    def __init__(
        self,
        reducer: StringAttr | SymbolRefAttr,
        inputs: Sequence[Operand],
        result_type: Attribute,
        dim: int | None = None,
        axis: str | None = None,
    ):
        super().__init__(
            operands=[[SSAValue.get(value) for value in inputs]],
            properties={
                "reducer": reducer,
                "dim": None if dim is None else int_attr(dim),
                "axis": None if axis is None else symbol_attr(axis),
            },
            result_types=[result_type],
        )

    @classmethod
    def over_axis(cls, reducer: str, operand: Operand, dim: int) -> ReduceOp:
        """Inside each tile, over a dimension."""
        value = SSAValue.get(operand)
        return cls(StringAttr(reducer), [value], infer_reduce(cls.name, reducer, value.type, dim), dim=dim)

    @classmethod
    def over_parallel(cls, reducer: str, operand: Operand | Sequence[Operand], axis: str) -> ReduceOp:
        """Across the coordinates of an axis, along which the operand is partial."""
        value = SSAValue.get(operand) if isinstance(operand, SSAValue | Operation) else SSAValue.get(operand[0])
        return cls(StringAttr(reducer), [value], infer_parallel_reduce(cls.name, reducer, value.type, axis), axis=axis)

    @classmethod
    def rolling(cls, symbol: str, inputs: Sequence[Operand], axis: str, result_types: Sequence[Attribute]) -> ReduceOp:
        """By ``tile.reducer @symbol``; the result is a tuple of ``result_types``."""
        members = tuple(type_ for type_ in result_types if isinstance(type_, TypeAttribute))
        return cls(symbol_attr(symbol), inputs, TupleType(members), axis=axis)

    @property
    def is_rolling(self) -> bool:
        """True for a reducer that is a symbol."""
        return isinstance(self.reducer_attr, SymbolRefAttr)

    @property
    def reducer(self) -> str:
        """The name of the built-in reducer, or of the symbol."""
        attr = self.reducer_attr
        return attr.root_reference.data if isinstance(attr, SymbolRefAttr) else attr.data

    @property
    def dim(self) -> int | None:
        return self.dim_attr.value.data if self.dim_attr is not None else None

    @property
    def axis_name(self) -> str | None:
        return self.axis_attr.root_reference.data if self.axis_attr is not None else None

    def infer(self) -> Attribute:
        dim, axis = self.dim, self.axis_name
        # (C1)
        if (dim is None) == (axis is None) or (self.is_rolling and axis is None):
            raise VerifyException(
                f"{self.name} {self.reducer}: goes over a dimension or over a parallel axis, the latter for a symbol"
            )
        if self.is_rolling:
            return self.result.type
        if len(self.inputs) != 1:
            raise VerifyException(f"{self.name} {self.reducer}: takes one operand, not {len(self.inputs)}")
        # (C2)
        if dim is not None:
            return infer_reduce(self.name, self.reducer, self.inputs[0].type, dim)
        assert axis is not None
        return infer_parallel_reduce(self.name, self.reducer, self.inputs[0].type, axis)

    def verify_(self) -> None:
        super().verify_()
        axis = self.axis_name
        if axis is None:
            return
        # (C3)
        check_axis(self, axis)
        for type_ in self.operand_types:
            check_innermost(self, axis, type_)
        if self.is_rolling:
            self._verify_rolling(axis)

    @property
    def slices(self) -> str | None:
        """The outer axis in each of whose slices the reduction goes over its axis, None where it goes over the whole
        dimension.
        """
        axis = self.axis_name
        outer = outer_axis(self, axis) if axis is not None else None
        return outer if outer and any(state_on(type_, outer) for type_ in self.operand_types) else None

    def _verify_rolling(self, axis: str) -> None:
        # (C4)
        label = f"{self.name} @{self.reducer}"
        if not any(isinstance(state_on(type_, axis), PartitionAttr) for type_ in self.operand_types):
            raise VerifyException(f"{label}: no operand is partitioned over @{axis}")
        if not isinstance(self.result.type, TupleType):
            raise VerifyException(f"{label}: the result is {self.result.type}, not a tuple")
        members = tuple(self.result.type.types)
        for type_ in members:
            if (state := state_on(type_, axis)) is not None:
                raise VerifyException(f"{label}: along @{axis} a result is {state}, but the reduction removes the axis")
        found, has_table = find_symbol(self, self.reducer)
        if not has_table:
            return
        if not isinstance(found, ReducerOp):
            raise VerifyException(f"{label}: no tile.reducer @{self.reducer} is declared")
        slices = self.slices
        operands, results = tuple(self.operand_types), found.result_types_of_use
        if slices is not None:
            for type_ in operands:
                check_nesting(self, type_)
            operands = tuple(without_axis(type_, slices) for type_ in operands)
            results = raw_states(found, slices)
        for what, given, wanted in (("operands", operands, found.input_types), ("results", members, results)):
            if given != wanted:
                texts = [", ".join(str(type_) for type_ in types) for types in (given, wanted)]
                raise VerifyException(f"{label}: the {what} are ({texts[0]}), but the reducer's are ({texts[1]})")


@irdl_op_definition
class AccumulateOp(InferredOp):
    """Adds one coordinate's part to an accumulator: ``%n = tile.accumulate sum %acc, %x over @k0 : (…) -> …``.

    Stands where ``@k0`` is a loop: in the body of a reducer or of a kernel. (C1) ``x`` is partial over the axis by
    the same reducer; (C2) the accumulator is what it reduces to; (C3) the axis is declared.
    """

    name = "tile.accumulate"
    reducer_attr = prop_def(StringAttr, prop_name="reducer")
    accumulator = operand_def()
    operand = operand_def()
    axis_attr = prop_def(SymbolRefAttr, prop_name="axis")
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (Signature, Word)
    assembly_format = (
        "custom<Word>($reducer) $accumulator `,` $operand `over` $axis attr-dict `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

    def __init__(self, reducer: str, accumulator: Operand, operand: Operand, axis: str):
        acc, x = SSAValue.get(accumulator), SSAValue.get(operand)
        super().__init__(
            operands=[acc, x],
            properties={"reducer": StringAttr(reducer), "axis": symbol_attr(axis)},
            result_types=[infer_accumulate(self.name, reducer, acc.type, x.type, axis)],
        )

    @property
    def reducer(self) -> str:
        return self.reducer_attr.data

    @property
    def axis_name(self) -> str:
        return self.axis_attr.root_reference.data

    def infer(self) -> Attribute:
        return infer_accumulate(self.name, self.reducer, self.accumulator.type, self.operand.type, self.axis_name)

    def verify_(self) -> None:
        super().verify_()
        check_axis(self, self.axis_name)
        check_innermost(self, self.axis_name, self.operand.type)
