"""Element types: torch dtypes against xDSL types, and the questions that lowering asks of them."""

from __future__ import annotations

import struct
from typing import Any

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)

ElementType = BFloat16Type | Float16Type | Float32Type | Float64Type | IntegerType
Scalar = bool | int | float

_BY_NAME: dict[str, ElementType] = {
    "float64": f64,
    "float32": f32,
    "float16": f16,
    "bfloat16": bf16,
    "int64": i64,
    "int32": i32,
    "int16": i16,
    "int8": i8,
    "bool": i1,
}

DTYPE_ALIASES = {
    "fp64": "float64",
    "fp32": "float32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
}

_TORCH_NAMES = {value: key for key, value in _BY_NAME.items()}

_LARGEST: dict[ElementType, float] = {
    f16: 65504.0,
    bf16: 3.3895313892515355e38,
    f32: 3.4028234663852886e38,
    f64: 1.7976931348623157e308,
}
EPSILON: dict[ElementType, float] = {f16: 2.0**-10, bf16: 2.0**-7, f32: 2.0**-23, f64: 2.0**-52}


def element_type_of_dtype(dtype: Any) -> ElementType | None:
    """The xDSL type of a ``torch.dtype``, or None where the compiler has none (complex, unsigned, fp8)."""
    return _BY_NAME.get(str(dtype).removeprefix("torch."))


def torch_dtype(element_type: ElementType) -> Any:
    """The ``torch.dtype`` of an element type."""
    import torch

    return getattr(torch, _TORCH_NAMES[element_type])


def is_float(element_type: ElementType) -> bool:
    return not isinstance(element_type, IntegerType)


def is_half(element_type: ElementType) -> bool:
    return isinstance(element_type, Float16Type | BFloat16Type)


def is_bool(element_type: ElementType) -> bool:
    return element_type == i1


def compute_type(element_type: ElementType) -> ElementType:
    """Where eager evaluates composite operators of this type: halves in f32, the others in themselves."""
    return f32 if is_half(element_type) else element_type


def round_scalar(value: Scalar, element_type: ElementType) -> Scalar:
    """``value`` as the element type holds it (round to nearest even), as a Python number of the right kind."""
    if is_bool(element_type):
        return bool(value)
    if isinstance(element_type, IntegerType):
        return int(value)
    number = float(value)
    if number != number or number in (float("inf"), float("-inf")) or element_type == f64:
        return number
    try:
        if element_type == f16:
            return struct.unpack("<e", struct.pack("<e", number))[0]
        single = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
    if element_type == f32:
        return single
    # bf16 is the upper half of an f32; from f64 through f32 is double rounding only for ties within 2^-24, which
    # no literal written by a person hits.
    (bits,) = struct.unpack("<I", struct.pack("<f", single))
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def is_exact(value: Scalar, element_type: ElementType) -> bool:
    """Does the element type hold this number without rounding (NaN counts as held)?"""
    rounded = round_scalar(value, element_type)
    return rounded == value or value != value


def largest(element_type: ElementType) -> float:
    """The largest finite number of a float type."""
    return _LARGEST[element_type]
