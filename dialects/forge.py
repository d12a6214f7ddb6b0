"""The ``forge`` dialect: tensor programs as pure expressions over tensors of static shape.

A program is a ``func.func``; its arguments and results are ``tensor``s. Pointwise ops broadcast size-1 dimensions
between operands of equal rank, reductions keep the dimension with size 1, so ranks change in ``forge.reshape`` only.
Element types are f64, f32, f16, bf16, fp8 for storage, i64 to i8 and i1. The attribute ``forge.numerics`` of the
module says which rewrites are allowed: ``real`` (also when absent) or ``strict``.

    builtin.module attributes {forge.numerics = "real"} {
      func.func @main(%x : tensor<64x128xf32>) -> tensor<64x128xf32> {
        %m = forge.reduce max over 1 %x : (tensor<64x128xf32>) -> tensor<64x1xf32>
        %d = forge.sub %x, %m : (tensor<64x128xf32>, tensor<64x1xf32>) -> tensor<64x128xf32>
        %e = forge.exp %d : tensor<64x128xf32>
        %s = forge.reduce sum over 1 %e : (tensor<64x128xf32>) -> tensor<64x1xf32>
        %y = forge.div %e, %s : (tensor<64x128xf32>, tensor<64x1xf32>) -> tensor<64x128xf32>
        func.return %y : tensor<64x128xf32>
      }
    }

This file gathers the dialect; the ops stand in ``forge_sources``, ``forge_pointwise`` and ``forge_structure``, their
type rules in ``inference``.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Dialect

from equiforge.dialects.forge_pointwise import (
    BINARY_OPS,
    UNARY_OPS,
    AbsOp,
    AddOp,
    AndOp,
    BinaryOp,
    CastOp,
    CeilOp,
    CommutativeOp,
    CompareOp,
    CosOp,
    DivOp,
    ErfOp,
    ExpOp,
    FloorOp,
    LogOp,
    MaxOp,
    MinOp,
    MulOp,
    NegOp,
    NotOp,
    OrOp,
    PowOp,
    RecipOp,
    ReluOp,
    RemOp,
    RoundOp,
    RsqrtOp,
    SelectOp,
    SigmoidOp,
    SinOp,
    SqrtOp,
    SubOp,
    TanhOp,
    UnaryOp,
    XorOp,
)
from equiforge.dialects.forge_sources import ConstantOp, IndexOp, IotaOp, OpaqueOp, Places, RandomOp
from equiforge.dialects.forge_structure import (
    ConcatOp,
    ExpandOp,
    GatherOp,
    GetOp,
    MatmulOp,
    PadOp,
    ReduceOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
    TupleOp,
)
from equiforge.dialects.inference import (
    infer_broadcast,
    infer_cast,
    infer_compare,
    infer_concat,
    infer_expand,
    infer_gather,
    infer_matmul,
    infer_pad,
    infer_pointwise,
    infer_reduce,
    infer_reshape,
    infer_select,
    infer_slice,
    infer_transpose,
)
from equiforge.dialects.literals import LiteralAttr

NUMERICS = ("real", "strict")


def numerics_of(module: ModuleOp) -> str:
    """Which rewrites of floats the module allows: ``real`` or ``strict``."""
    mode = module.attributes.get("forge.numerics")
    return mode.data if isinstance(mode, StringAttr) else "real"


Forge = Dialect(
    "forge",
    [
        *UNARY_OPS.values(),
        *BINARY_OPS.values(),
        CompareOp,
        SelectOp,
        CastOp,
        ConstantOp,
        IotaOp,
        IndexOp,
        MatmulOp,
        ReduceOp,
        TransposeOp,
        ReshapeOp,
        ExpandOp,
        SliceOp,
        ConcatOp,
        PadOp,
        GatherOp,
        RandomOp,
        OpaqueOp,
        TupleOp,
        GetOp,
    ],
    [LiteralAttr],
)

__all__ = [
    "BINARY_OPS",
    "NUMERICS",
    "UNARY_OPS",
    "AbsOp",
    "AddOp",
    "AndOp",
    "BinaryOp",
    "CastOp",
    "CeilOp",
    "CommutativeOp",
    "CompareOp",
    "ConcatOp",
    "ConstantOp",
    "CosOp",
    "DivOp",
    "ErfOp",
    "ExpOp",
    "ExpandOp",
    "FloorOp",
    "Forge",
    "GatherOp",
    "GetOp",
    "IndexOp",
    "IotaOp",
    "LiteralAttr",
    "LogOp",
    "MatmulOp",
    "MaxOp",
    "MinOp",
    "MulOp",
    "NegOp",
    "NotOp",
    "OpaqueOp",
    "OrOp",
    "PadOp",
    "Places",
    "PowOp",
    "RandomOp",
    "RecipOp",
    "ReduceOp",
    "ReluOp",
    "RemOp",
    "ReshapeOp",
    "RoundOp",
    "RsqrtOp",
    "SelectOp",
    "SigmoidOp",
    "SinOp",
    "SliceOp",
    "SqrtOp",
    "SubOp",
    "TanhOp",
    "TransposeOp",
    "TupleOp",
    "UnaryOp",
    "XorOp",
    "infer_broadcast",
    "infer_cast",
    "infer_compare",
    "infer_concat",
    "infer_expand",
    "infer_gather",
    "infer_matmul",
    "infer_pad",
    "infer_pointwise",
    "infer_reduce",
    "infer_reshape",
    "infer_select",
    "infer_slice",
    "infer_transpose",
    "numerics_of",
]
