"""What the ops of both dialects share: signatures, literals and bare words in their text, inferred result types."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    FunctionalTypeDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.literals import LiteralAttr, float_text, parse_float


class InferredOp(IRDLOperation):
    """An op whose one result type follows from its operands and properties."""

    @abstractmethod
    def infer(self) -> Attribute:
        """The result type; raises ``VerifyException`` where the operands do not fit."""
        raise NotImplementedError

    def verify_(self) -> None:
        try:
            expected = self.infer()
        except VerifyException as error:
            # What concerns a type alone does not know the op.
            if str(error).startswith(("forge.", "tile.")):
                raise
            raise VerifyException(f"{self.name}: {error}") from error
        if self.results[0].type != expected:
            raise VerifyException(
                f"{self.name}: the result is {self.results[0].type}, but the operands give {expected}"
            )


@irdl_custom_directive
class Signature(CustomDirective):
    """``(T, U) -> V``, or just ``T`` where all operands and the one result have the same type."""

    types: FunctionalTypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        counts = [len(operands or ()) for operands in state.operands]
        if parser.parse_optional_punctuation("("):
            start = parser.pos
            inner = parser.parse_optional_undelimited_comma_separated_list(
                parser.parse_optional_type, parser.parse_type
            )
            operand_types: Sequence[Attribute] = inner or ()
            parser.parse_punctuation(")")
            if len(operand_types) != sum(counts):
                parser.raise_error(f"{sum(counts)} operands have {len(operand_types)} types", start, parser.pos)
            parser.parse_punctuation("->")
            if parser.parse_optional_punctuation("("):
                inner = parser.parse_optional_undelimited_comma_separated_list(
                    parser.parse_optional_type, parser.parse_type
                )
                result_types: Sequence[Attribute] = inner or ()
                parser.parse_punctuation(")")
            else:
                result_types = (parser.parse_type(),)
        else:
            only = parser.parse_type()
            operand_types, result_types = (only,) * sum(counts), (only,)
        first = 0
        for index, count in enumerate(counts):
            state.operand_types[index] = operand_types[first : first + count]
            first += count
        state.result_types[0] = result_types

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        operand_types, result_types = op.operand_types, op.result_types
        if len(result_types) == 1 and operand_types and all(type_ == result_types[0] for type_ in operand_types):
            state.print_whitespace(printer)
            printer.print_attribute(result_types[0])
        else:
            self.types.print(printer, state, op)


@irdl_custom_directive
class Word(CustomDirective):
    """A string property written as a bare identifier."""

    text: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.text.set(state, StringAttr(parser.parse_identifier()))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        text = self.text.get(op)
        assert isinstance(text, StringAttr)
        printer.print_string(text.data)


@irdl_custom_directive
class Number(CustomDirective):
    """An f64 property written as a bare number."""

    number: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.number.set(state, FloatAttr(parse_float(parser), f64))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        number = self.number.get(op)
        assert isinstance(number, FloatAttr)
        value = number.value.data
        printer.print_string(float_text(value, lambda other: other == value))


@irdl_custom_directive
class Literal(CustomDirective):
    """A literal property with its type, which is the result's: ``[1.0, 2.0] : tensor<2xf32>``."""

    literal: AttributeVariable
    result: TypeDirective

    def parse(self, parser: Parser, state: ParsingState) -> None:
        literal = LiteralAttr.parse_body(parser)
        self.literal.set(state, literal)
        self.result.set(state, (literal.get_type(),))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        literal = self.literal.get(op)
        assert isinstance(literal, LiteralAttr)
        literal.print_body(printer)


def int_attr(value: int) -> IntegerAttr[I64]:
    """A dimension, an extent or an index."""
    return IntegerAttr(value, i64)


def ints_attr(values: Sequence[int]) -> DenseArrayBase[I64]:
    """A permutation or a shape."""
    return DenseArrayBase.from_list(i64, tuple(values))


def symbol_attr(name: str) -> SymbolRefAttr:
    """A reference to a symbol of the module, the name without its ``@``."""
    return SymbolRefAttr(name, ArrayAttr([]))
