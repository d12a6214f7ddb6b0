"""Reductions and products of a kernel, and structural ops on computed tiles."""

from __future__ import annotations

from math import inf
from typing import cast

from xdsl.ir import SSAValue

from equiforge.codegen.errors import CodegenError
from equiforge.codegen.grid import DOT_SIDE
from equiforge.codegen.kernel_builder import IDENTITIES, is_parallel
from equiforge.codegen.pointwise import TRITON_TYPES, is_float, template
from equiforge.codegen.printer import Printer, element_name, joint, unreplicated
from equiforge.codegen.tiles import Tile, integer_range
from equiforge.dialects import forge, tile
from equiforge.dialects.inference import surviving_dims
from equiforge.dialects.tile_types import shape_of

_ACCUMULATE = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "all": "and"}


class ProductText(Printer):
    """Ops that combine elements. Padding beyond a ragged edge is replaced by the identity first, never multiplied
    away."""

    def _reduce(self, op: tile.ReduceOp) -> None:
        if is_parallel(op):
            raise CodegenError(f"{op.name} over @{op.axis_name} is left in a kernel")
        dim = cast(int, op.dim)
        operand = op.operands[0]
        value = self._widened(self.values[operand])
        result = op.results[0]
        reducer = op.reducer
        if dim not in value.dims:
            if self.sizes.size(operand.type, dim) == 1:
                self._alias(result, value)
                return
            value = self._filled(value, operand.type)
            if self.sizes.is_ragged(operand.type, dim):
                value = Tile(value.text, value.dims, value.element)
        identity = IDENTITIES[reducer]
        if not is_float(value.element) and identity in (inf, -inf):
            identity = integer_range(value.element)[identity > 0]
        value = self._selected(value, operand.type, dim, identity)
        position = value.dims.index(dim)
        dims = tuple(d for d in value.dims if d != dim)
        text = self._reduced(reducer, value, position)
        element = element_name(result.type)
        if element in ("i8", "i16", "f16", "bf16"):
            text += f".to({TRITON_TYPES[element]})"
        pads = {d: v for d, v in value.pads.items() if d != dim and v == 0.0 and reducer in ("sum", "max", "min")}
        self._assign(result, Tile(text, dims, element, pads=pads), f"row_{reducer}")

    def _reduced(self, reducer: str, value: Tile, axis: int) -> str:
        if reducer == "sum":
            return f"tl.sum({value.text}, axis={axis})"
        if reducer in ("any", "all"):
            text = value.text if value.atom else f"({value.text})"
            return f"(tl.{'max' if reducer == 'any' else 'min'}({text}.to(tl.int32), axis={axis}) != 0)"
        if reducer != "prod" and not is_float(value.element):
            return f"tl.{reducer}({value.text}, axis={axis})"
        helper = {"max": "larger", "min": "smaller", "prod": "product"}[reducer]
        self.helpers.add(helper)
        return f"tl.reduce({value.text}, {axis}, {helper})"

    def _matmul(self, op: tile.MatmulOp) -> None:
        a_value, b_value = op.operands[0], op.operands[1]
        rank = len(shape_of(a_value.type))
        rows, inner, columns = rank - 2, rank - 1, rank - 1
        a = self._operand(a_value, inner)
        b = self._operand(b_value, rows)
        result = op.results[0]
        element = element_name(result.type)
        sides = (
            self.sizes.size(a_value.type, rows),
            self.sizes.size(a_value.type, inner),
            self.sizes.size(b_value.type, columns),
        )
        batched = [d for d in range(rank - 2) if d in a.dims or d in b.dims]
        use_dot = min(sides) >= DOT_SIDE and not batched and self.sizes.schedule.matmul == "dot" and is_float(a.element)
        if not use_dot:
            self._multiplied(op, a, b, rank)
            return
        a = self._filled(a, a_value.type)
        b = self._filled(b, b_value.type)
        extra = f', input_precision="{op.precision}"' if a.element == "f32" else ""
        if a.element == "f64":
            extra = ", out_dtype=tl.float64"
        dims = (rows, columns)
        user = self._only_user(result)
        if isinstance(user, tile.AccumulateOp) and user.reducer == "sum" and element in ("f32", "f64"):
            self.values[result] = Tile("", dims, element, product=(a.text, b.text, extra))
            return
        text = f"tl.dot({a.text}, {b.text}{extra})"
        if element not in ("f32", "f64"):
            text += f".to({TRITON_TYPES[element]})"
        self._assign(result, Tile(text, dims, element), "dot")

    def _operand(self, value: SSAValue, inner: int) -> Tile:
        """An operand of a product, with 0 beyond a ragged edge of the contraction ``inner``."""
        shown = self.values[value]
        if inner not in shown.dims and self.sizes.size(value.type, inner) > 1:
            shown = self._filled(shown, value.type)
        cast_op = unreplicated(value).owner
        if isinstance(cast_op, forge.CastOp) and shown.text.endswith(f".to({TRITON_TYPES[shown.element]})"):
            # Selecting before the cast keeps the literal's type that of the tile.
            wide = self._selected(self.values[cast_op.operand], value.type, inner, 0.0)
            text = wide.text if wide.atom else f"({wide.text})"
            return Tile(f"{text}.to({TRITON_TYPES[shown.element]})", wide.dims, shown.element, pads=wide.pads)
        return self._selected(shown, value.type, inner, 0.0)

    def _multiplied(self, op: tile.MatmulOp, a: Tile, b: Tile, rank: int) -> None:
        """The product as a broadcast multiplication and a sum: rows, contraction and columns are dimensions rank-2,
        rank-1, rank."""
        inner = rank - 1
        element = element_name(op.results[0].type)
        left = self._widened(self._unnarrowed(op.operands[0], a))
        right = self._widened(self._unnarrowed(op.operands[1], b))
        if element != left.element and not is_float(element):
            # Small integers are multiplied in the type that they are summed in.
            left = Tile(f"{left.shown(left.dims)}.to({TRITON_TYPES[element]})", left.dims, element)
            right = Tile(f"{right.shown(right.dims)}.to({TRITON_TYPES[element]})", right.dims, element)
        right = Tile(right.text, tuple(d + 1 if d >= rank - 2 else d for d in right.dims), right.element, right.atom)
        dims = joint([left, right])
        text = f"{left.shown(dims)} * {right.shown(dims)}"
        if inner in dims:
            text = f"tl.sum({text}, axis={dims.index(inner)})"
        kept = tuple(d - 1 if d == rank else d for d in dims if d != inner)
        computed = left.element
        if element != computed:
            text = f"({text}).to({TRITON_TYPES[element]})"
        self._assign(op.results[0], Tile(text, kept, element, atom=inner in dims), "dot")

    def _unnarrowed(self, value: SSAValue, shown: Tile) -> Tile:
        """An operand that was narrowed for a dot, as it was before: multiplication takes it as it is, unless casts
        are rounding steps."""
        suffix = f".to({TRITON_TYPES[shown.element]})"
        cast_op = unreplicated(value).owner
        if self.strict or not isinstance(cast_op, forge.CastOp) or not shown.text.endswith(suffix):
            return shown
        before = element_name(cast_op.operand.type)
        return Tile(shown.text.removesuffix(suffix), shown.dims, before) if before == "f32" else shown

    def _accumulate(self, op: tile.AccumulateOp) -> None:
        acc, x = self.values[op.operands[0]], self.values[op.operands[1]]
        result = op.results[0]
        if x.product is not None:
            a, b, extra = x.product
            target = self._filled(acc, op.operands[0].type)
            text = f"tl.dot({a}, {b}, {target.text}{extra})"
            self._assign(result, Tile(text, x.dims, acc.element), "acc")
            return
        dims = joint([acc, x])
        form = template(_ACCUMULATE[op.reducer], acc.element)
        if form is None:
            raise CodegenError(f"{op.name} {op.reducer} of {acc.element} has no Triton form")
        if form[1] is not None:
            self.helpers.add(form[1])
        if "({0}" in form[0]:
            left, right = x.argument(dims), acc.argument(dims)
        elif op.reducer == "sum":
            left, right = acc.term(dims), x.term(dims)
        else:
            left, right = acc.shown(dims), x.shown(dims)
        text = form[0].format(left, right)
        self._assign(result, Tile(text, dims, acc.element, atom=False), "acc")

    def _transpose(self, op: forge.TransposeOp) -> None:
        value = self.values[op.operand]
        moved = {old: new for new, old in enumerate(op.perm)}
        order = sorted(value.dims, key=lambda d: moved[d])
        dims = tuple(moved[d] for d in order)
        pads = {moved[d]: v for d, v in value.pads.items()}
        if tuple(order) == value.dims:
            self._alias(op.result, Tile(value.text, dims, value.element, value.atom, pads, value.number))
            return
        perm = [value.dims.index(d) for d in order]
        text = f"tl.permute({value.text}, {perm})"
        self._assign(op.result, Tile(text, dims, value.element, pads=pads), "transposed")

    def _expand(self, op: forge.ExpandOp) -> None:
        self._alias(op.result, self.values[op.operand])

    def _reshape(self, op: forge.ReshapeOp) -> None:
        value = self.values[op.operand]
        before, after = shape_of(op.operand.type), op.shape
        old = [d for d in range(len(before)) if before[d] != 1]
        new = [d for d in range(len(after)) if after[d] != 1]
        if [before[d] for d in old] == [after[d] for d in new]:
            moved = dict(zip(old, new, strict=True))
            dims = tuple(moved[d] for d in value.dims)
            pads = {moved[d]: v for d, v in value.pads.items()}
            self._alias(op.result, Tile(value.text, dims, value.element, value.atom, pads, value.number))
            return
        # Dimensions that stay as they are may be padded: both sides are padded alike.
        kept = surviving_dims(before, after)
        if any(self.sizes.is_ragged(op.operand.type, d) for d in old if d not in kept.values()) or any(
            self.sizes.is_ragged(op.result.type, d) for d in new if d not in kept
        ):
            raise CodegenError(
                f"forge.reshape of a computed tile with padded dimensions ({op.operand.type} to {op.result.type})"
            )
        value = self._filled(value, op.operand.type)
        dims = self.sizes.dims(op.result.type)
        text = f"tl.reshape({value.text}, [{self._shape(op.result.type, dims)}])"
        self._assign(op.result, Tile(text, dims, value.element), "reshaped")
