"""Types and attributes of the ``kernel`` dialect: arrays in memory, schedules, and bounds of loops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from equiforge.codegen.layout import Digit, Dimension, Layout


@irdl_attr_definition
class RefType(ParametrizedAttribute, TypeAttribute):
    """An array in global memory: ``!kernel.ref<32x128xf16, [128, 1], offset = 64>``, strides and offset in elements.

    A dimension that no single stride describes lists its digits, extent x stride, outermost first:
    ``!kernel.ref<8x64xf16, [(2 x 64, 4 x 0), 1]>`` is 2 rows, each read 4 times (``equiforge/codegen/layout.py``).
    """

    name = "kernel.ref"
    extents: ArrayAttr[IntAttr] = param_def()
    element_type: Attribute = param_def()
    digits: ArrayAttr[ArrayAttr[IntAttr]] = param_def()
    first: IntAttr = param_def()

    @staticmethod
    def of(layout: Layout, element_type: Attribute) -> RefType:
        return RefType(
            ArrayAttr([IntAttr(e) for e in layout.shape]),
            element_type,
            ArrayAttr([ArrayAttr([IntAttr(n) for digit in dim for n in digit]) for dim in layout.dims]),
            IntAttr(layout.offset),
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(e.data for e in self.extents)

    @property
    def layout(self) -> Layout:
        dims: list[Dimension] = []
        for dim in self.digits:
            numbers = [n.data for n in dim]
            dims.append(tuple(zip(numbers[::2], numbers[1::2], strict=True)))
        return Layout(tuple(dims), self.first.data)

    def verify(self) -> None:
        if self.layout.shape != self.shape:
            raise VerifyException(f"kernel.ref: the strides describe shape {self.layout.shape}, not {self.shape}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def digit() -> Digit:
            extent = parser.parse_integer()
            parser.parse_keyword("x")
            return extent, parser.parse_integer()

        def stride() -> list[Digit] | int:
            digits = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, digit)
            return parser.parse_integer() if digits is None else digits

        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
            parser.parse_punctuation(",")
            position = parser.pos
            strides = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, stride)
            if len(strides) != len(shape):
                parser.raise_error(f"{len(shape)} dimensions have {len(strides)} strides", position, parser.pos)
            offset = 0
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("offset")
                parser.parse_punctuation("=")
                offset = parser.parse_integer(allow_negative=False)
        dims: list[Dimension] = []
        for extent, entry in zip(shape, strides, strict=True):
            given = [(extent, entry)] if isinstance(entry, int) else entry
            dims.append(tuple(d for d in given if d[0] != 1))
        return [
            ArrayAttr([IntAttr(e) for e in shape]),
            element_type,
            *RefType.of(Layout(tuple(dims), offset), element_type).parameters[2:],
        ]

    def print_parameters(self, printer: Printer) -> None:
        layout = self.layout
        strides = Layout(tuple(dim if len(dim) == 1 else () for dim in layout.dims)).strides or ()
        texts = [
            "(" + ", ".join(f"{e} x {s}" for e, s in dim) + ")" if len(dim) > 1 else str(stride)
            for dim, stride in zip(layout.dims, strides, strict=True)
        ]
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{d}x" for d in self.shape))
            printer.print_attribute(self.element_type)
            printer.print_string(f", [{', '.join(texts)}]")
            if layout.offset:
                printer.print_string(f", offset = {layout.offset}")


@irdl_attr_definition
class ScheduleAttr(ParametrizedAttribute):
    """``#kernel.schedule<tiles = {k0 = 64, q0 = 64}, warps = 4, stages = 3, matmul = dot>``.

    (C1) tile sizes, warps are powers of two; (C2) ``matmul`` is ``dot`` or ``fma``.
    """

    name = "kernel.schedule"
    axes: ArrayAttr[StringAttr] = param_def()
    sizes: ArrayAttr[IntAttr] = param_def()
    warp_count: IntAttr = param_def()
    stage_count: IntAttr = param_def()
    matmul_kind: StringAttr = param_def()

    @staticmethod
    def of(tiles: dict[str, int], warps: int, stages: int, matmul: str = "dot") -> ScheduleAttr:
        names = sorted(tiles)
        return ScheduleAttr(
            ArrayAttr([StringAttr(n) for n in names]),
            ArrayAttr([IntAttr(tiles[n]) for n in names]),
            IntAttr(warps),
            IntAttr(stages),
            StringAttr(matmul),
        )

    @property
    def tiles(self) -> dict[str, int]:
        return {name.data: size.data for name, size in zip(self.axes, self.sizes, strict=True)}

    @property
    def warps(self) -> int:
        return self.warp_count.data

    @property
    def stages(self) -> int:
        return self.stage_count.data

    @property
    def matmul(self) -> str:
        return self.matmul_kind.data

    def verify(self) -> None:
        # (C1)
        for what, value in [*self.tiles.items(), ("warps", self.warps)]:
            if value < 1 or value & (value - 1):
                raise VerifyException(f"kernel.schedule: {what} = {value} is no power of two")
        if self.stages < 1:
            raise VerifyException(f"kernel.schedule: stages = {self.stages} is less than 1")
        # (C2)
        if self.matmul not in ("dot", "fma"):
            raise VerifyException(f"kernel.schedule: matmul = {self.matmul} is neither dot nor fma")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def entry() -> tuple[str, int]:
            axis = parser.parse_identifier()
            parser.parse_punctuation("=")
            return axis, parser.parse_integer()

        def number(keyword: str) -> int:
            parser.parse_punctuation(",")
            parser.parse_keyword(keyword)
            parser.parse_punctuation("=")
            return parser.parse_integer()

        with parser.in_angle_brackets():
            parser.parse_keyword("tiles")
            parser.parse_punctuation("=")
            tiles = dict(parser.parse_comma_separated_list(parser.Delimiter.BRACES, entry))
            warps = number("warps")
            stages = number("stages")
            parser.parse_punctuation(",")
            parser.parse_keyword("matmul")
            parser.parse_punctuation("=")
            matmul = parser.parse_identifier()
        return ScheduleAttr.of(tiles, warps, stages, matmul).parameters

    def print_parameters(self, printer: Printer) -> None:
        tiles = ", ".join(f"{axis} = {size}" for axis, size in self.tiles.items())
        printer.print_string(
            f"<tiles = {{{tiles}}}, warps = {self.warps}, stages = {self.stages}, matmul = {self.matmul}>"
        )


@irdl_attr_definition
class BoundAttr(ParametrizedAttribute):
    """An affine bound ``@q0 + c`` or a constant: as a lower bound, the first element of the current tile of ``@q0``
    plus c; as an upper bound, its last element plus c."""

    name = "kernel.bound"
    axis: StringAttr = param_def()
    shift: IntAttr = param_def()

    @staticmethod
    def of(axis: str | None, shift: int) -> BoundAttr:
        return BoundAttr(StringAttr(axis or ""), IntAttr(shift))

    @property
    def axis_name(self) -> str | None:
        return self.axis.data or None

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            symbol = parser.parse_optional_symbol_name()
            if symbol is not None:
                parser.parse_punctuation(",")
            shift = parser.parse_integer(allow_negative=True)
        return [symbol or StringAttr(""), IntAttr(shift)]

    def print_parameters(self, printer: Printer) -> None:
        axis = f"@{self.axis.data}, " if self.axis.data else ""
        printer.print_string(f"<{axis}{self.shift.data}>")


@irdl_attr_definition
class RangeAttr(ParametrizedAttribute):
    """Elements i of a loop's dimension that can be live: every ``lower`` ≤ i and i ≤ every ``upper``."""

    name = "kernel.range"
    lower: ArrayAttr[BoundAttr] = param_def()
    upper: ArrayAttr[BoundAttr] = param_def()

    @staticmethod
    def of(lower: Sequence[BoundAttr], upper: Sequence[BoundAttr]) -> RangeAttr:
        return RangeAttr(ArrayAttr(lower), ArrayAttr(upper))
