"""The host side of the ``kernel`` dialect: the graph, its buffers, views of them, and launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DictionaryAttr, FlatSymbolRefAttr, StringAttr, SymbolNameConstraint, SymbolRefAttr
from xdsl.ir import Region, SSAValue
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
from xdsl.traits import IsTerminator, Pure, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.kernel_types import RefType
from equiforge.dialects.literals import LiteralAttr

BUFFER_KINDS = ("input", "constant", "temporary", "output")


@irdl_op_definition
class GraphOp(IRDLOperation):
    """The host program: buffers, views and launches, ended by ``kernel.return``."""

    name = "kernel.graph"
    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, body: Region):
        super().__init__(properties={"sym_name": StringAttr(name)}, regions=[body])

    @classmethod
    def parse(cls, parser: Parser) -> GraphOp:
        name = parser.parse_symbol_name()
        return cls(name.data, parser.parse_region())

    def print(self, printer: Printer) -> None:
        printer.print_string(f" @{self.sym_name.data} ")
        printer.print_region(self.body)

    def verify_(self) -> None:
        if not isinstance(self.body.block.last_op, ReturnOp):
            raise VerifyException("kernel.graph must end with kernel.return")


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The results of the program: buffers, views of them, or inputs: ``kernel.return %y : !kernel.ref<…>``."""

    name = "kernel.return"
    values = var_operand_def(RefType)
    traits = traits_def(IsTerminator())
    assembly_format = "$values `:` type($values) attr-dict"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])


@irdl_op_definition
class BufferOp(IRDLOperation):
    """A tensor in global memory: ``%q = kernel.buffer input "q" : !kernel.ref<…>``.

    (C1) the kind is ``input``, ``constant``, ``temporary`` or ``output``; (C2) exactly a constant has a value, of as
    many elements.
    """

    name = "kernel.buffer"
    kind = prop_def(StringAttr)
    label = prop_def(StringAttr)
    value = opt_prop_def(LiteralAttr)
    result = result_def(RefType)

    def __init__(self, kind: str, label: str, type_: RefType, value: LiteralAttr | None = None):
        super().__init__(
            properties={"kind": StringAttr(kind), "label": StringAttr(label), "value": value}, result_types=[type_]
        )

    @classmethod
    def parse(cls, parser: Parser) -> BufferOp:
        kind = parser.parse_identifier()
        label = parser.parse_str_literal()
        value = None
        if parser.parse_optional_punctuation("="):
            value = cast(LiteralAttr, parser.parse_attribute())
        parser.parse_punctuation(":")
        return cls(kind, label, cast(RefType, parser.parse_type()), value)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_string_literal(self.label.data)
        if self.value is not None:
            printer.print_string(" = ")
            printer.print_attribute(self.value)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        # (C1)
        if self.kind.data not in BUFFER_KINDS:
            raise VerifyException(f"kernel.buffer: kind {self.kind.data} is none of {', '.join(BUFFER_KINDS)}")
        # (C2)
        if (self.kind.data == "constant") != (self.value is not None):
            raise VerifyException(f"kernel.buffer: kind {self.kind.data} with{'' if self.value else 'out'} a value")


@irdl_op_definition
class ViewOp(IRDLOperation):
    """Another strided reading of the same memory, without a copy: ``kernel.view %b : !kernel.ref<…> to
    !kernel.ref<…>``.

    (C1) the element type stays; (C2) the view lies inside the span of its source.
    """

    name = "kernel.view"
    source = operand_def(RefType)
    result = result_def(RefType)
    traits = traits_def(Pure())
    assembly_format = "$source `:` type($source) `to` type($result) attr-dict"

    def __init__(self, source: SSAValue, type_: RefType):
        super().__init__(operands=[source], result_types=[type_])

    def verify_(self) -> None:
        source, result = cast(RefType, self.source.type), self.result.type
        # (C1)
        if source.element_type != result.element_type:
            raise VerifyException(
                f"kernel.view changes the element type {source.element_type} to {result.element_type}"
            )
        # (C2)
        if result.layout.last > source.layout.last or result.layout.offset < source.layout.offset:
            raise VerifyException(f"kernel.view: {result} reaches beyond {source}")


@irdl_op_definition
class HostCallOp(IRDLOperation):
    """A call of the original operator between launches: ``%y = kernel.host_call "aten.cumsum.default"(%x) arguments
    {dim = 1 : i64} : (!kernel.ref<…>) -> !kernel.ref<…>``.

    Operands and arguments are those of ``forge.opaque``; each result is a new row-major array. It may have effects (it
    may draw random numbers), so calls keep their order. (C1) there is a result.
    """

    name = "kernel.host_call"
    target_attr = prop_def(StringAttr, prop_name="target")
    call_arguments = opt_prop_def(DictionaryAttr, prop_name="arguments")
    inputs = var_operand_def(RefType)
    outputs = var_result_def(RefType)
    assembly_format = (
        "$target `(` $inputs `)` (`arguments` $arguments^)? attr-dict `:` functional-type($inputs, $outputs)"
    )

    def __init__(
        self, target: str, inputs: Sequence[SSAValue], result_types: Sequence[RefType], arguments: DictionaryAttr | None
    ):
        super().__init__(
            operands=[inputs],
            properties={"target": StringAttr(target), "arguments": arguments},
            result_types=[result_types],
        )

    @property
    def target(self) -> str:
        return self.target_attr.data

    def verify_(self) -> None:
        # (C1)
        if not self.outputs:
            raise VerifyException(f"kernel.host_call {self.target}: no result")


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """Runs a kernel over its grid: ``kernel.launch @attention(%q, %o) : !kernel.ref<…>, !kernel.ref<…>``.

    (C1) the callee is a ``kernel.func``; (C2) the operand types are those of its arguments.
    """

    name = "kernel.launch"
    callee = prop_def(FlatSymbolRefAttr)
    arguments = var_operand_def(RefType)
    assembly_format = "$callee `(` $arguments `)` `:` type($arguments) attr-dict"

    def __init__(self, callee: str, arguments: Sequence[SSAValue]):
        super().__init__(properties={"callee": SymbolRefAttr(callee)}, operands=[arguments])

    def verify_(self) -> None:
        # (C1)
        target = SymbolTable.lookup_symbol(self, self.callee)
        if target is None or target.name != "kernel.func":
            raise VerifyException(f"kernel.launch: @{self.callee.root_reference.data} is no kernel.func")
        # (C2)
        expected = tuple(target.regions[0].block.arg_types)
        found = tuple(a.type for a in self.arguments)
        if expected != found:
            raise VerifyException(
                f"kernel.launch: @{self.callee.root_reference.data} takes ({', '.join(map(str, expected))}), not "
                f"({', '.join(map(str, found))})"
            )
