"""Products, reductions and structure in the ``forge`` dialect, and grouping.

    %p = forge.matmul %q, %k : (tensor<8x64x32xf16>, tensor<8x32x64xf16>) -> tensor<8x64x64xf16>
    %s = forge.reduce sum over 2 %p : (tensor<8x64x64xf16>) -> tensor<8x64x1xf16>
    %t = forge.transpose %p perm [0, 2, 1] : tensor<8x64x64xf16>

Structural ops take tensors of static shape; dimensions count from 0. Transpose, reshape, expand, slice and concat take
tiles too, where the dimensions that an axis partitions stay whole:

    %t = forge.transpose %p perm [1, 0] : (!tile.view<8x64xf32, [#tile.partition<@q0, 0>]>)
        -> !tile.view<64x8xf32, [#tile.partition<@q0, 1>]>
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TupleType,
    f64,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException

from equiforge.dialects.assembly import InferredOp, Number, Signature, Word, int_attr, ints_attr
from equiforge.dialects.inference import (
    infer_concat,
    infer_expand,
    infer_gather,
    infer_matmul,
    infer_pad,
    infer_reduce,
    infer_reshape,
    infer_slice,
    infer_transpose,
    tensor_operand,
)
from equiforge.dialects.tile_axes import check_nesting
from equiforge.dialects.tile_types import State, element_type_of, shape_of, states_of

Operand = SSAValue | Operation


class StructurePatterns(HasCanonicalizationPatternsTrait):
    """Rewrites that move no element."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from equiforge.dialects import forge_patterns as patterns

        return patterns.STRUCTURE_PATTERNS


# Products and reductions


@irdl_op_definition
class MatmulOp(InferredOp):
    """A batched matrix product: ``%p = forge.matmul %a, %b : (tensor<8x64x32xf16>, tensor<1x32x16xf16>) ->
    tensor<8x64x16xf16>``.

    (C1) equal ranks of 2 or more; (C2) contraction dimensions agree, batch dimensions broadcast; (C3) equal element
    types of the operands, and a result of the same kind.
    """

    name = "forge.matmul"
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (Signature,)
    assembly_format = "$lhs `,` $rhs attr-dict `:` custom<Signature>(functional-type(operands, results))"

    def __init__(self, lhs: Operand, rhs: Operand, result_element_type: Attribute | None = None):
        a, b = SSAValue.get(lhs), SSAValue.get(rhs)
        element = result_element_type or element_type_of(a.type)
        super().__init__(operands=[a, b], result_types=[infer_matmul(self.name, a.type, b.type, element)])

    def infer(self) -> Attribute:
        return infer_matmul(self.name, self.lhs.type, self.rhs.type, element_type_of(self.result.type))


@irdl_op_definition
class ReduceOp(InferredOp):
    """Reduces a dimension to size 1: ``%s = forge.reduce sum over 1 %x : (tensor<8x64xf32>) -> tensor<8x1xf32>``.

    (C1) the reducer is sum, prod, max, min, any or all, and takes the element type; (C2) the dimension exists. An
    empty dimension gives the reducer's identity; max and min propagate NaN.
    """

    name = "forge.reduce"
    reducer_attr = prop_def(StringAttr, prop_name="reducer")
    dim_attr = prop_def(IntegerAttr[I64], prop_name="dim")
    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (Signature, Word)
    assembly_format = (
        "custom<Word>($reducer) `over` $dim $operand attr-dict `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

    def __init__(self, reducer: str, operand: Operand, dim: int):
        value = SSAValue.get(operand)
        super().__init__(
            operands=[value],
            properties={"reducer": StringAttr(reducer), "dim": int_attr(dim)},
            result_types=[infer_reduce(self.name, reducer, tensor_operand(self.name, value.type), dim)],
        )

    @property
    def reducer(self) -> str:
        return self.reducer_attr.data

    @property
    def dim(self) -> int:
        return self.dim_attr.value.data

    def infer(self) -> Attribute:
        return infer_reduce(self.name, self.reducer, tensor_operand(self.name, self.operand.type), self.dim)


# Structure


@irdl_op_definition
class TransposeOp(InferredOp):
    """Permutes dimensions: ``%t = forge.transpose %x perm [1, 0] : (tensor<8x64xf32>) -> tensor<64x8xf32>``.

    Result dimension j is operand dimension ``perm[j]``; partitions move along. (C1) ``perm`` is a permutation of the
    dimensions; (C2) no operand is partial.
    """

    name = "forge.transpose"
    perm_attr = prop_def(DenseArrayBase.constr(I64), prop_name="perm")
    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure(), StructurePatterns())
    custom_directives = (Signature,)
    assembly_format = "$operand `perm` $perm attr-dict `:` custom<Signature>(functional-type(operands, results))"

    def __init__(self, operand: Operand, perm: Sequence[int]):
        value = SSAValue.get(operand)
        super().__init__(
            operands=[value], properties={"perm": ints_attr(perm)}, result_types=[infer_transpose(value.type, perm)]
        )

    @property
    def perm(self) -> tuple[int, ...]:
        return tuple(self.perm_attr.get_values())

    def infer(self) -> Attribute:
        return infer_transpose(self.operand.type, self.perm)


class ShapeOp(InferredOp):
    """An op whose result has a shape of its own: ``%r = forge.reshape %x : (tensor<8x64xf32>) -> tensor<512xf32>``."""

    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure(), StructurePatterns())
    custom_directives = (Signature,)
    assembly_format = "$operand attr-dict `:` custom<Signature>(functional-type(operands, results))"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return shape_of(self.result.type)


@irdl_op_definition
class ReshapeOp(ShapeOp):
    """Splits or merges dimensions, in row-major order.

    (C1) the number of elements stays; (C2) a partitioned dimension is neither split nor merged; (C3) nothing is
    partial.
    """

    name = "forge.reshape"

    def __init__(self, operand: Operand, shape: Sequence[int]):
        value = SSAValue.get(operand)
        super().__init__(operands=[value], result_types=[infer_reshape(value.type, shape)])

    def infer(self) -> Attribute:
        return infer_reshape(self.operand.type, self.shape)


@irdl_op_definition
class ExpandOp(ShapeOp):
    """Repeats along dimensions of size 1.

    (C1) equal ranks; (C2) other dimensions keep their size; (C3) nothing is partial. Where the operand is replicated
    over an axis, the result may be a partition by it of a dimension that grows; (C4) two axes that cut one are nested.
    """

    name = "forge.expand"

    def __init__(self, operand: Operand, shape: Sequence[int], states: Sequence[State] = ()):
        """``states`` asks for partitions of dimensions that grow."""
        value = SSAValue.get(operand)
        super().__init__(operands=[value], result_types=[infer_expand(value.type, shape, states)])

    def infer(self) -> Attribute:
        return infer_expand(self.operand.type, self.shape, states_of(self.result.type))

    def verify_(self) -> None:
        super().verify_()
        # (C4)
        check_nesting(self, self.result.type)


@irdl_op_definition
class SliceOp(InferredOp):
    """A range of a dimension: ``%r = forge.slice %x along 1 from 0 to 64 step 2 : (tensor<8x64xf32>) ->
    tensor<8x32xf32>``.

    (C1) the dimension exists; (C2) 0 <= start <= stop <= size and step >= 1; (C3) no axis partitions the dimension and
    nothing is partial.
    """

    name = "forge.slice"
    operand = operand_def()
    dim_attr = prop_def(IntegerAttr[I64], prop_name="dim")
    start_attr = prop_def(IntegerAttr[I64], prop_name="start")
    stop_attr = prop_def(IntegerAttr[I64], prop_name="stop")
    step_attr = prop_def(IntegerAttr[I64], prop_name="step")
    result = result_def()
    traits = traits_def(Pure(), StructurePatterns())
    custom_directives = (Signature,)
    assembly_format = (
        "$operand `along` $dim `from` $start `to` $stop `step` $step attr-dict `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

    def __init__(self, operand: Operand, dim: int, start: int, stop: int, step: int = 1):
        value = SSAValue.get(operand)
        super().__init__(
            operands=[value],
            properties={
                "dim": int_attr(dim),
                "start": int_attr(start),
                "stop": int_attr(stop),
                "step": int_attr(step),
            },
            result_types=[infer_slice(value.type, dim, start, stop, step)],
        )

    @property
    def dim(self) -> int:
        return self.dim_attr.value.data

    @property
    def start(self) -> int:
        return self.start_attr.value.data

    @property
    def stop(self) -> int:
        return self.stop_attr.value.data

    @property
    def step(self) -> int:
        return self.step_attr.value.data

    def infer(self) -> Attribute:
        return infer_slice(self.operand.type, self.dim, self.start, self.stop, self.step)


@irdl_op_definition
class ConcatOp(InferredOp):
    """Joins along a dimension: ``%r = forge.concat 1 %a, %b : (tensor<8x64xf32>, tensor<8x32xf32>) ->
    tensor<8x96xf32>``.

    (C1) the dimension exists; (C2) element types and all other sizes are equal; (C3) so are the states; no axis
    partitions the dimension and nothing is partial.
    """

    name = "forge.concat"
    dim_attr = prop_def(IntegerAttr[I64], prop_name="dim")
    inputs = var_operand_def()
    result = result_def()
    traits = traits_def(Pure(), StructurePatterns())
    custom_directives = (Signature,)
    assembly_format = "$dim $inputs attr-dict `:` custom<Signature>(functional-type(operands, results))"

    def __init__(self, inputs: Sequence[Operand], dim: int):
        values = [SSAValue.get(value) for value in inputs]
        super().__init__(
            operands=[values],
            properties={"dim": int_attr(dim)},
            result_types=[infer_concat([value.type for value in values], dim)],
        )

    @property
    def dim(self) -> int:
        return self.dim_attr.value.data

    def infer(self) -> Attribute:
        return infer_concat(self.operand_types, self.dim)


@irdl_op_definition
class PadOp(InferredOp):
    """Adds elements: ``%r = forge.pad %x along 1 by 2, 0 with 0.0 : (tensor<8x64xf32>) -> tensor<8x66xf32>``.

    (C1) the dimension exists; (C2) neither amount is negative. The value is kept as f64 and rounded to the element
    type.
    """

    name = "forge.pad"
    operand = operand_def()
    dim_attr = prop_def(IntegerAttr[I64], prop_name="dim")
    low_attr = prop_def(IntegerAttr[I64], prop_name="low")
    high_attr = prop_def(IntegerAttr[I64], prop_name="high")
    value_attr = prop_def(FloatAttr, prop_name="value")
    result = result_def()
    traits = traits_def(Pure(), StructurePatterns())
    custom_directives = (Number, Signature)
    assembly_format = (
        "$operand `along` $dim `by` $low `,` $high `with` custom<Number>($value) attr-dict `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

    def __init__(self, operand: Operand, dim: int, low: int, high: int, value: float):
        source = SSAValue.get(operand)
        super().__init__(
            operands=[source],
            properties={
                "dim": int_attr(dim),
                "low": int_attr(low),
                "high": int_attr(high),
                "value": FloatAttr(float(value), f64),
            },
            result_types=[infer_pad(source.type, dim, low, high)],
        )

    @property
    def dim(self) -> int:
        return self.dim_attr.value.data

    @property
    def low(self) -> int:
        return self.low_attr.value.data

    @property
    def high(self) -> int:
        return self.high_attr.value.data

    @property
    def value(self) -> float:
        return self.value_attr.value.data

    def infer(self) -> Attribute:
        return infer_pad(self.operand.type, self.dim, self.low, self.high)


@irdl_op_definition
class GatherOp(InferredOp):
    """Takes along a dimension: ``%r = forge.gather %x, %i along 0 : (tensor<100x64xf32>, tensor<8x1xi64>) ->
    tensor<8x64xf32>``.

    Element [i, j] of the result is ``x[index[i, j], j]`` for dimension 0; negative indices count from the end. (C1)
    the index is an integer; (C2) ranks are equal and all other dimensions broadcast.
    """

    name = "forge.gather"
    operand = operand_def()
    index = operand_def()
    dim_attr = prop_def(IntegerAttr[I64], prop_name="dim")
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (Signature,)
    assembly_format = (
        "$operand `,` $index `along` $dim attr-dict `:` custom<Signature>(functional-type(operands, results))"
    )

    def __init__(self, operand: Operand, index: Operand, dim: int):
        x, chosen = SSAValue.get(operand), SSAValue.get(index)
        super().__init__(
            operands=[x, chosen],
            properties={"dim": int_attr(dim)},
            result_types=[infer_gather(x.type, chosen.type, dim)],
        )

    @property
    def dim(self) -> int:
        return self.dim_attr.value.data

    def infer(self) -> Attribute:
        return infer_gather(self.operand.type, self.index.type, self.dim)


# Grouping


@irdl_op_definition
class TupleOp(InferredOp):
    """Groups values: ``%t = forge.tuple %a, %b : (tensor<8xf32>, tensor<8xi64>) -> tuple<tensor<8xf32>,
    tensor<8xi64>>``.
    """

    name = "forge.tuple"
    inputs = var_operand_def()
    result = result_def(TupleType)
    traits = traits_def(Pure())
    custom_directives = (Signature,)
    assembly_format = "$inputs attr-dict `:` custom<Signature>(functional-type(operands, results))"

    def __init__(self, *inputs: Operand):
        values = [SSAValue.get(value) for value in inputs]
        super().__init__(operands=[values], result_types=[_tuple_of([value.type for value in values])])

    def infer(self) -> Attribute:
        return _tuple_of(self.operand_types)


def _tuple_of(types: Sequence[Attribute]) -> TupleType:
    return TupleType(tuple(type_ for type_ in types if isinstance(type_, TypeAttribute)))


@irdl_op_definition
class GetOp(InferredOp):
    """A member of a tuple: ``%a = forge.get 0 of %t : (tuple<tensor<8xf32>, tensor<8xi64>>) -> tensor<8xf32>``; (C1)
    it exists.
    """

    name = "forge.get"
    index_attr = prop_def(IntegerAttr[I64], prop_name="index")
    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure(), StructurePatterns())
    custom_directives = (Signature,)
    assembly_format = "$index `of` $operand attr-dict `:` custom<Signature>(functional-type(operands, results))"

    def __init__(self, operand: Operand, index: int):
        value = SSAValue.get(operand)
        super().__init__(
            operands=[value], properties={"index": int_attr(index)}, result_types=[_member(value.type, index)]
        )

    @property
    def index(self) -> int:
        return self.index_attr.value.data

    def infer(self) -> Attribute:
        return _member(self.operand.type, self.index)


def _member(type_: Attribute, index: int) -> Attribute:
    if not isinstance(type_, TupleType):
        raise VerifyException(f"forge.get: {type_} is no tuple")
    if not 0 <= index < len(type_.types):
        raise VerifyException(f"forge.get: member {index} of {type_}, which has {len(type_.types)}")
    return type_.types.data[index]
