"""The ``tile`` dialect: computation on tiles, on the way from tensors to kernels.

A value of type ``!tile.view`` is a family of values indexed by its parallel axes (``tile_types``); without states it
is a ``tensor``. An axis is declared once, as a symbol of the module, with the extent that it cuts; tile sizes are
chosen later. Pointwise ops are those of ``forge``, on views. A value that is written to global memory is marked by
``tile.store``: each store is the root of one kernel.

    tile.axis @q0 extent 64
    tile.axis @k0 extent 128
    func.func @main(%x : tensor<64x128xf32>) -> tensor<64x1xf32> {
      %k = tile.partition %x along 1 by @k0 : (tensor<64x128xf32>) -> !tile.view<64x128xf32, [#tile.partition<@k0, 1>]>
      %v = tile.partition %k along 0 by @q0 : (…) -> !tile.view<…, [#tile.partition<@k0, 1>, #tile.partition<@q0, 0>]>
      %p = tile.reduce sum over axis(1) %v : (…) -> !tile.view<…, [#tile.partial<@k0, sum>, #tile.partition<@q0, 0>]>
      %s = tile.reduce sum over parallel(@k0) %p : (…) -> !tile.view<64x1xf32, [#tile.partition<@q0, 0>]>
      %c = tile.combine %s along 0 by @q0 : (…) -> tensor<64x1xf32>
      %r = tile.store %c : tensor<64x1xf32>
      func.return %r : tensor<64x1xf32>
    }

A dimension can be cut in two levels: ``tile.axis @k1 extent 128 within @k0`` cuts each slice of ``@k0`` again. What a
loop over ``@k1`` leaves of each slice is partial over ``@k0``, or a raw state where a reducer of its own did it, and is
stored by ``tile.collect`` for another kernel to merge: flash-decoding, or a split product with a loop in each part.

    %v = tile.partition %k along 1 by @k1 : (…) -> !tile.view<64x128xf32, [#tile.partition<@k0, 1>,
        #tile.partition<@k1, 1>]>
    %p = tile.reduce sum over axis(1) %v : (…) -> !tile.view<64x1xf32, [#tile.partial<@k0, sum>,
        #tile.partial<@k1, sum>]>
    %s = tile.reduce sum over parallel(@k1) %p : (…) -> !tile.view<64x1xf32, [#tile.partial<@k0, sum>]>
    %w = tile.collect %s by @k0 into 4 : (…) -> tensor<4x64x1xf32>

The verifiers are the type system. This file gathers the dialect: types stand in ``tile_types``, the rules in
``inference``, axes and views in ``tile_axes``, reductions in ``tile_reducer``.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.assembly import InferredOp, Signature
from equiforge.dialects.inference import (
    default_matmul_element,
    infer_accumulate,
    infer_collect,
    infer_combine,
    infer_matmul,
    infer_parallel_reduce,
    infer_partition,
    infer_pointwise,
    infer_reduce,
    infer_replicate,
    tensor_operand,
)
from equiforge.dialects.tile_axes import AxisOp, CollectOp, CombineOp, PartitionOp, ReplicateOp, collected_tile
from equiforge.dialects.tile_reducer import AccumulateOp, ReduceOp, ReducerOp, YieldOp
from equiforge.dialects.tile_types import (
    PartialAttr,
    PartitionAttr,
    ReplicateAttr,
    Shaped,
    State,
    StateAttr,
    ViewType,
    axes_of,
    element_name,
    element_type_of,
    make_type,
    shape_of,
    shaped,
    state_on,
    states_of,
    with_element_type,
    with_states,
    without_axis,
)

PRECISIONS = ("ieee", "tf32")


@irdl_op_definition
class MatmulOp(InferredOp):
    """The product of the tiles at each coordinate: ``%p = tile.matmul %a, %b {precision = "tf32"} : (…) -> …``.

    Operands are f64, f32, f16, bf16, fp8 or integers; it accumulates in f32 (f64 for f64) unless the result says
    otherwise. ``precision`` is that of f32 operands: ``ieee``, which is the default, or ``tf32``. A contraction
    dimension that both operands partition by an axis gives ``partial<axis, sum>``.

    (C1) the rules of ``forge.matmul``; (C2) states fit; (C3) the precision is ieee or tf32.
    """

    name = "tile.matmul"
    lhs = operand_def()
    rhs = operand_def()
    precision_attr = prop_def(StringAttr, prop_name="precision", default_value=StringAttr("ieee"))
    result = result_def()
    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)
    custom_directives = (Signature,)
    assembly_format = "$lhs `,` $rhs attr-dict `:` custom<Signature>(functional-type(operands, results))"

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        result_element_type: Attribute | None = None,
        precision: str = "ieee",
    ):
        a, b = SSAValue.get(lhs), SSAValue.get(rhs)
        element = result_element_type or default_matmul_element(self.name, element_type_of(a.type))
        super().__init__(
            operands=[a, b],
            properties={"precision": StringAttr(precision)},
            result_types=[infer_matmul(self.name, a.type, b.type, element)],
        )

    @property
    def precision(self) -> str:
        return self.precision_attr.data

    def infer(self) -> Attribute:
        # (C3)
        if self.precision not in PRECISIONS:
            raise VerifyException(f"{self.name}: precision {self.precision} is none of {', '.join(PRECISIONS)}")
        return infer_matmul(self.name, self.lhs.type, self.rhs.type, element_type_of(self.result.type))


@irdl_op_definition
class StoreOp(IRDLOperation):
    """A value in global memory, the root of one kernel.

        %r = tile.store %x : (tensor<8x64xf32>) -> tensor<8x64xf16>

    Rounds to the element type of the result and is the identity otherwise. (C1) operand and result are tensors of one
    shape.
    """

    name = "tile.store"
    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (Signature,)
    assembly_format = "$operand attr-dict `:` custom<Signature>(functional-type(operands, results))"

    def __init__(self, operand: SSAValue | Operation, element_type: Attribute | None = None):
        value = SSAValue.get(operand)
        result = tensor_operand(self.name, value.type)
        super().__init__(
            operands=[value], result_types=[with_element_type(result, element_type) if element_type else result]
        )

    def verify_(self) -> None:
        operand = tensor_operand(self.name, self.operand.type)
        result = tensor_operand(self.name, self.result.type)
        if operand.get_shape() != result.get_shape():
            raise VerifyException(f"{self.name}: the operand is {operand}, but the result {result}")
        element_name(result.element_type)


Tile = Dialect(
    "tile",
    [
        AxisOp,
        PartitionOp,
        ReplicateOp,
        CombineOp,
        CollectOp,
        MatmulOp,
        ReduceOp,
        AccumulateOp,
        ReducerOp,
        YieldOp,
        StoreOp,
    ],
    [ViewType, PartitionAttr, ReplicateAttr, PartialAttr],
)

__all__ = [
    "PRECISIONS",
    "AccumulateOp",
    "AxisOp",
    "CollectOp",
    "CombineOp",
    "MatmulOp",
    "PartialAttr",
    "PartitionAttr",
    "PartitionOp",
    "ReduceOp",
    "ReducerOp",
    "ReplicateAttr",
    "ReplicateOp",
    "Shaped",
    "State",
    "StateAttr",
    "StoreOp",
    "Tile",
    "ViewType",
    "YieldOp",
    "axes_of",
    "collected_tile",
    "default_matmul_element",
    "element_name",
    "element_type_of",
    "infer_accumulate",
    "infer_collect",
    "infer_combine",
    "infer_matmul",
    "infer_parallel_reduce",
    "infer_partition",
    "infer_pointwise",
    "infer_reduce",
    "infer_replicate",
    "make_type",
    "shape_of",
    "shaped",
    "state_on",
    "states_of",
    "with_element_type",
    "with_states",
    "without_axis",
]
