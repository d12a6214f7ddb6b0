"""Types of the two expression levels: ``!tile.view`` with its states, and helpers that read tensors and views alike.

A view is a family of values, one at each coordinate of its parallel axes:

    !tile.view<32x128x4096xf32, [#tile.partition<@k0, 2>, #tile.partition<@q0, 1>, #tile.replicate<@v0>]>
    !tile.view<32x128x1xf32, [#tile.partial<@k0, sum>, #tile.partition<@q0, 1>]>

The shape is the logical one, whatever the states. The list is sorted by the name of the axis and an axis stands in it
once, so equal types are equal attributes. A value without states is a ``tensor``.

Two axes may cut one dimension when one is declared ``within`` the other: the inner axis cuts each slice of the outer
one again. The type alone does not know the declarations, so it allows two; the verifiers of the ops check them.

    !tile.view<1x16384x64xf16, [#tile.partition<@k0, 1>, #tile.partition<@k1, 1>]>
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BFloat16Type,
    ContainerType,
    Float8E4M3FNType,
    Float8E5M2Type,
    IntAttr,
    IntegerType,
    NoneAttr,
    ShapedType,
    StringAttr,
    TensorType,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.op_table import ELEMENT_TYPES, REDUCERS


class StateAttr(ParametrizedAttribute):
    """What a view is along one parallel axis."""

    axis_attr: StringAttr

    @property
    def axis_name(self) -> str:
        """The axis without its ``@``."""
        return self.axis_attr.data


@irdl_attr_definition
class PartitionAttr(StateAttr):
    """``#tile.partition<@q0, 1>``: coordinate p of ``@q0`` holds slice p of dimension 1."""

    name = "tile.partition"
    axis_attr: StringAttr = param_def()
    dim_attr: IntAttr = param_def()

    def __init__(self, axis: str, dim: int):
        super().__init__(StringAttr(axis), IntAttr(dim))

    @property
    def dim(self) -> int:
        return self.dim_attr.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            axis = parser.parse_symbol_name()
            parser.parse_punctuation(",")
            dim = parser.parse_integer(allow_negative=False, allow_boolean=False)
        return [axis, IntAttr(dim)]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<@{self.axis_name}, {self.dim}>")


@irdl_attr_definition
class ReplicateAttr(StateAttr):
    """``#tile.replicate<@v0>``: every coordinate of ``@v0`` holds the whole value."""

    name = "tile.replicate"
    axis_attr: StringAttr = param_def()

    def __init__(self, axis: str):
        super().__init__(StringAttr(axis))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [parser.parse_symbol_name()]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<@{self.axis_name}>")


@irdl_attr_definition
class PartialAttr(StateAttr):
    """``#tile.partial<@k0, sum>``: the value is the sum of what the coordinates of ``@k0`` hold.

    ``#tile.partial<@k0>`` without a reducer is a *raw state*: each coordinate holds a state of a ``tile.reducer`` after
    its own slice, and no built-in reducer joins them. It can be cast and collected, nothing else.
    """

    name = "tile.partial"
    axis_attr: StringAttr = param_def()
    reducer_attr: StringAttr | NoneAttr = param_def()

    def __init__(self, axis: str, reducer: str | None = None):
        super().__init__(StringAttr(axis), NoneAttr() if reducer is None else StringAttr(reducer))

    @property
    def reducer(self) -> str | None:
        """The built-in reducer that joins the parts, ``None`` for a raw state."""
        return self.reducer_attr.data if isinstance(self.reducer_attr, StringAttr) else None

    def verify(self) -> None:
        if self.reducer is not None and self.reducer not in REDUCERS:
            raise VerifyException(
                f"tile.partial over @{self.axis_name}: no reducer {self.reducer}; there are {', '.join(REDUCERS)}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            axis = parser.parse_symbol_name()
            if parser.parse_optional_punctuation(",") is None:
                return [axis, NoneAttr()]
            return [axis, StringAttr(parser.parse_identifier())]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<@{self.axis_name}>" if self.reducer is None else f"<@{self.axis_name}, {self.reducer}>")


State = PartitionAttr | ReplicateAttr | PartialAttr


@irdl_attr_definition
class ViewType(ParametrizedAttribute, TypeAttribute, ShapedType, ContainerType[Attribute]):
    """A value at each coordinate of its parallel axes: ``!tile.view<64x128xf32, [#tile.partition<@q0, 0>]>``.

    (C1) there is at least one state; (C2) states are sorted by axis, each axis once; (C3) a partitioned dimension
    exists and (C4) is partitioned by one axis, or by two of which one is declared within the other.
    """

    name = "tile.view"
    shape_attr: ArrayAttr[IntAttr] = param_def()
    element_type: Attribute = param_def()
    states_attr: ArrayAttr[Attribute] = param_def()

    def __init__(self, shape: Iterable[int], element_type: Attribute, states: Iterable[State]):
        super().__init__(
            ArrayAttr([IntAttr(extent) for extent in shape]),
            element_type,
            ArrayAttr(sorted(states, key=lambda state: state.axis_name)),
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(extent.data for extent in self.shape_attr)

    @property
    def states(self) -> tuple[State, ...]:
        return tuple(state for state in self.states_attr if isinstance(state, State))

    def get_num_dims(self) -> int:
        return len(self.shape_attr)

    def get_shape(self) -> tuple[int, ...]:
        return self.shape

    def get_element_type(self) -> Attribute:
        return self.element_type

    def verify(self) -> None:
        states = self.states
        if len(states) != len(self.states_attr):
            raise VerifyException("tile.view: a state is partition, replicate or partial")
        # (C1)
        if not states:
            raise VerifyException("tile.view: no states; a value without parallel axes is a tensor")
        # (C2)
        axes = [state.axis_name for state in states]
        if axes != sorted(set(axes)):
            listed = ", ".join(f"@{axis}" for axis in axes)
            raise VerifyException(f"tile.view: axes are ({listed}), not sorted and distinct")
        owners: dict[int, list[str]] = {}
        for state in states:
            if not isinstance(state, PartitionAttr):
                continue
            # (C3)
            if not 0 <= state.dim < len(self.shape_attr):
                raise VerifyException(
                    f"tile.view: @{state.axis_name} partitions dimension {state.dim} of "
                    f"{len(self.shape_attr)} dimensions"
                )
            # (C4)
            cut_by = owners.setdefault(state.dim, [])
            cut_by.append(state.axis_name)
            if len(cut_by) > 2:
                listed = ", ".join(f"@{axis}" for axis in cut_by)
                raise VerifyException(f"tile.view: {listed} all partition dimension {state.dim}; two axes may at most")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
            parser.parse_punctuation(",")
            states = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_attribute)
        return [ArrayAttr([IntAttr(extent) for extent in shape]), element_type, ArrayAttr(states)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{'?' if d == DYNAMIC_INDEX else d}x" for d in self.shape))
            printer.print_attribute(self.element_type)
            printer.print_string(", [")
            printer.print_list(self.states_attr, printer.print_attribute)
            printer.print_string("]")


Shaped = TensorType[Attribute] | ViewType
"""The types that values of the expression levels have, tuples apart."""


def shaped(type_: Attribute) -> Shaped:
    """The type as a tensor or view; any other type is a ``VerifyException``."""
    if isinstance(type_, ViewType):
        return type_
    if isinstance(type_, TensorType):
        return cast("TensorType[Attribute]", type_)
    raise VerifyException(f"{type_} is neither a tensor nor a tile.view")


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The logical shape of a tensor or view."""
    return shaped(type_).get_shape()


def element_type_of(type_: Attribute) -> Attribute:
    """The element type of a tensor or view."""
    return shaped(type_).get_element_type()


def states_of(type_: Attribute) -> tuple[State, ...]:
    """The states sorted by axis; none for what is no view."""
    return type_.states if isinstance(type_, ViewType) else ()


def axes_of(type_: Attribute) -> tuple[str, ...]:
    """The names of the parallel axes, sorted."""
    return tuple(state.axis_name for state in states_of(type_))


def state_on(type_: Attribute, axis: str) -> State | None:
    """The state along an axis, ``None`` where the value does not depend on that axis."""
    return next((state for state in states_of(type_) if state.axis_name == axis), None)


def make_type(shape: Iterable[int], element_type: Attribute, states: Iterable[State] = ()) -> Shaped:
    """A view, or a tensor when there are no states."""
    states = tuple(states)
    return ViewType(shape, element_type, states) if states else TensorType(element_type, tuple(shape))


def with_states(type_: Attribute, states: Iterable[State]) -> Shaped:
    """The same logical value with other states."""
    return make_type(shape_of(type_), element_type_of(type_), states)


def without_axis(type_: Attribute, axis: str) -> Shaped:
    """The same logical value, independent of an axis."""
    return with_states(type_, (state for state in states_of(type_) if state.axis_name != axis))


def with_element_type(type_: Attribute, element_type: Attribute) -> Shaped:
    """The same shape and states with another element type."""
    return make_type(shape_of(type_), element_type, states_of(type_))


@cache
def element_name(element_type: Attribute) -> str:
    """``f32``, ``i1`` and so on; an element type that the compiler does not know is a ``VerifyException``."""
    name = str(element_type)
    if name not in ELEMENT_TYPES:
        raise VerifyException(f"no element type {name}; there are {', '.join(ELEMENT_TYPES)}")
    return name


_FLOAT_TYPES: dict[str, Attribute] = {
    "f64": f64,
    "f32": f32,
    "f16": f16,
    "bf16": BFloat16Type(),
    "f8E4M3FN": Float8E4M3FNType(),
    "f8E5M2": Float8E5M2Type(),
}


def element_type(name: str) -> Attribute:
    """The type that ``element_name`` names."""
    return _FLOAT_TYPES[name] if name in _FLOAT_TYPES else IntegerType(int(name[1:]))
