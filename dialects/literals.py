"""``#forge.literal``: tensor literals whose text keeps every bit.

The text of xDSL 0.75's own ``dense`` attribute reads back as other numbers for infinities, NaN and floats that print
without a point. A literal has the accessors of a ``dense`` attribute.

    #forge.literal<-inf : tensor<1x1xf32>>                    one number for all elements
    #forge.literal<[[0.5, nan], [1.0, 2.0]] : tensor<2x2xf16>>
    #forge.literal<"0x0000803f…" : tensor<256xf32>>           more than 64 elements: little-endian bytes
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, IntegerType, TensorType, i1
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

_MOST_IN_TEXT = 64


def parse_float(parser: AttrParser) -> float:
    """A decimal number, ``inf``, ``nan``, or one of these after a minus sign."""
    sign = -1.0 if parser.parse_optional_punctuation("-") else 1.0
    special = parser.parse_optional_keyword_in(("inf", "nan"))
    magnitude = float(special) if special else float(parser.parse_number(allow_boolean=False))
    return math.copysign(magnitude, sign)


def float_text(value: float, same: Callable[[float], bool] = lambda _: False) -> str:
    """The shortest text that ``parse_float`` reads back as the number, or as one that is the same for the purpose."""
    if math.isnan(value):
        return "-nan" if math.copysign(1.0, value) < 0 else "nan"
    if math.isinf(value):
        return repr(value)
    text = next(
        (t for t in (f"{value:.{digits}g}" for digits in range(1, 17)) if _is_same(same, float(t))), repr(value)
    )
    if "." in text:
        return text
    return text.replace("e", ".0e") if "e" in text else text + ".0"


def _is_same(same: Callable[[float], bool], other: float) -> bool:
    """False also for a number that was rounded up beyond the range of the element type."""
    try:
        return same(other)
    except (OverflowError, VerifyException):
        return False


@irdl_attr_definition
class LiteralAttr(ParametrizedAttribute):
    """The elements of a tensor of static shape, in row-major order and little-endian; (C1) as many as the type has."""

    name = "forge.literal"
    type: Attribute = param_def()
    data: BytesAttr = param_def()

    @classmethod
    def of(cls, value: Any, type_: TensorType[Attribute]) -> LiteralAttr:
        """A number for every element, or a nested list or array of the type's shape; NaN, infinities and -0.0 keep
        their bits.
        """
        leaves = _flatten(value)
        count = type_.element_count()
        if len(leaves) not in (1, count):
            raise VerifyException(f"forge.literal: {len(leaves)} values for {type_}")
        element = cast(Any, type_.element_type)
        try:
            numbers: list[Any]
            if isinstance(element, IntegerType):
                numbers = [cast(Any, element).get_normalized_value(_whole(leaf)) for leaf in leaves]
            else:
                numbers = [float(leaf) for leaf in leaves]
            data: bytes = element.pack(numbers)
        except (VerifyException, ValueError, OverflowError) as error:
            raise VerifyException(f"forge.literal: no {element}: {error}") from error
        if len(numbers) != count:
            data *= count
        return cls.new([type_, BytesAttr(data)])

    @property
    def tensor_type(self) -> TensorType[Attribute]:
        return cast("TensorType[Attribute]", self.type)

    @property
    def splat(self) -> int | float | None:
        """The number that every element is, bit for bit; ``None`` if they differ or there are none."""
        data, size = self.data.data, self.tensor_type.element_count()
        if size == 0 or data != data[: len(data) // size] * size:
            return None
        return self._unpack(data[: len(data) // size], 1)[0]

    def _unpack(self, data: bytes, count: int) -> tuple[int | float, ...]:
        numbers: tuple[int | float, ...] = cast(Any, self.tensor_type.element_type).unpack(data, count)
        # xDSL reads a true i1 as -1.
        return tuple(int(n) & 1 for n in numbers) if self.tensor_type.element_type == i1 else numbers

    def get_type(self) -> TensorType[Attribute]:
        return self.tensor_type

    def get_shape(self) -> tuple[int, ...]:
        return self.tensor_type.get_shape()

    def get_element_type(self) -> Attribute:
        return self.tensor_type.element_type

    def get_values(self) -> tuple[int | float, ...]:
        """All elements in row-major order; i1 as 0 and 1."""
        return self._unpack(self.data.data, self.tensor_type.element_count())

    def to_dense(self) -> DenseIntOrFPElementsAttr:
        """The builtin attribute with the same bits; its text may not keep them."""
        return DenseIntOrFPElementsAttr(cast(Any, self.type), self.data)

    def verify(self) -> None:
        # (C1)
        tensor = self.tensor_type
        if not isinstance(self.type, TensorType) or not tensor.has_static_shape():
            raise VerifyException(f"forge.literal: {tensor} is no tensor of static shape")
        size = tensor.element_count() * cast(Any, tensor.element_type).compile_time_size
        if len(self.data.data) != size:
            raise VerifyException(f"forge.literal: {len(self.data.data)} bytes for {tensor}, which has {size}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return cls.parse_body(parser).parameters

    @classmethod
    def parse_body(cls, parser: AttrParser) -> LiteralAttr:
        """``1.0 : tensor<1x1xf32>``, what stands between the angle brackets."""
        start = parser.pos
        text = parser.parse_optional_str_literal()
        tree = None if text is not None else _parse_tree(parser)
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not isinstance(type_, TensorType):
            parser.raise_error(f"a literal is a tensor, not {type_}", start, parser.pos)
        tensor = cast("TensorType[Attribute]", type_)
        try:
            if text is not None:
                return cls.new([tensor, BytesAttr(bytes.fromhex(text.removeprefix("0x")))])
            return cls.of(tree, tensor)
        except (VerifyException, ValueError) as error:
            parser.raise_error(str(error), start, parser.pos)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_body(printer)

    def print_body(self, printer: Printer) -> None:
        """What ``parse_body`` reads."""
        printer.print_string(self._text())
        printer.print_string(" : ")
        printer.print_attribute(self.type)

    def _text(self) -> str:
        data, type_ = self.data.data, self.tensor_type
        count = type_.element_count()
        splat = self.splat is not None
        shown = 1 if splat else count
        if shown > _MOST_IN_TEXT:
            return f'"0x{data.hex()}"'
        size = len(data) // count if count else 0
        numbers = self._unpack(data[: shown * size], shown)
        words: list[str] = []
        for index, number in enumerate(numbers):
            word = _number_text(number, data[index * size : (index + 1) * size], cast(Any, type_.element_type))
            if word is None:
                return f'"0x{data.hex()}"'
            words.append(word)
        return words[0] if splat else _nested(words, type_.get_shape())


def _flatten(value: Any) -> list[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [leaf for item in cast("Sequence[Any]", value) for leaf in _flatten(item)]
    return [value]


def _whole(number: Any) -> int:
    if int(number) != number:
        raise ValueError(f"{number} is not whole")
    return int(number)


def _parse_tree(parser: AttrParser) -> Any:
    items = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_tree(parser))
    if items is not None:
        return items
    truth = parser.parse_optional_boolean()
    if truth is not None:
        return truth
    minus = parser.parse_optional_punctuation("-")
    special = parser.parse_optional_keyword_in(("inf", "nan"))
    number = float(special) if special else parser.parse_number(allow_boolean=False)
    if not minus:
        return number
    return -number if isinstance(number, int) else math.copysign(number, -1.0)


def _number_text(number: int | float, bits: bytes, element_type: Any) -> str | None:
    """``None`` where the text would not read back as the same bits: a NaN with a payload of its own."""
    if isinstance(element_type, IntegerType):
        return str(number) if element_type != i1 else ("true" if number else "false")

    def same(other: float) -> bool:
        try:
            return element_type.pack((other,)) == bits
        except OverflowError:
            return False

    text = float_text(float(number), same)
    return text if same(float(text)) else None


def _nested(words: Sequence[str], shape: Sequence[int]) -> str:
    if not shape:
        return words[0]
    step = len(words) // shape[0] if shape[0] else 0
    return "[" + ", ".join(_nested(words[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"
