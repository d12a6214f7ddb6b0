"""Pointwise ops of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from equiforge.codegen.errors import CodegenError
from equiforge.codegen.pointwise import COMPARISONS, TRITON_TYPES, cast_text, is_float, numeric, template, whole_power
from equiforge.codegen.printer import Printer, element_name, joint, readers
from equiforge.codegen.tiles import Tile, constant, rounded, typed
from equiforge.dialects import forge, tile


class PointwiseText(Printer):
    """Ops on each element, and ``tile.replicate``, which does nothing to a tile."""

    def _replicate(self, op: tile.ReplicateOp) -> None:
        self._alias(op.result, self.values[op.operand])

    def _pointwise(self, op: forge.UnaryOp | forge.BinaryOp) -> None:
        result = op.results[0]
        operands = [self._widened(self.values[v]) for v in op.operands]
        element = operands[0].element
        numbers = [o.number for o in operands]
        exact = element != "i1" and op.mnemonic in ("add", "sub", "mul", "neg", "max", "min")
        number = numeric(op.mnemonic, numbers) if is_float(element) or exact else None
        if number is not None:
            self._alias(result, constant(number, element_name(result.type)))
            return
        if all(n is not None for n in numbers):
            operands = [Tile(typed(operands[0]), (), element), *operands[1:]]
        dims = joint(operands)
        if op.mnemonic == "pow" and numbers[1] is not None:
            power = whole_power(operands[0].shown(dims), numbers[1], is_float(element))
            if power is not None:
                self._assign(result, self._narrowed(power, dims, element, result, {}), "power")
                return
        form = template(op.mnemonic, element)
        if form is None:
            raise CodegenError(f"{op.name} of {element} has no Triton form")
        is_call = "({0}" in form[0]
        is_sum = op.mnemonic in ("add", "sub") and not is_call
        shown = [o.argument(dims) if is_call else o.term(dims) if is_sum else o.shown(dims) for o in operands]
        if op.mnemonic == "pow":
            shown = [typed(o) if o.number is not None else s for o, s in zip(operands, shown, strict=True)]
        exact = {"div": "tl.div_rn({0}, {1})", "recip": "tl.div_rn(1.0, {0})", "sqrt": "tl.sqrt_rn({0})"}
        if self.strict and element == "f32" and op.mnemonic in exact:
            form, is_call = (exact[op.mnemonic], None), True
        text, helper = form[0].format(*shown), form[1]
        if helper is not None:
            self.helpers.add(helper)
        narrowed = self._narrowed(text, dims, element, result, self._pads(op, operands), is_call)
        is_factor = op.mnemonic in ("mul", "div") and element != "i1" and not narrowed.atom
        self._assign(result, replace(narrowed, factor=is_factor), op.mnemonic)

    def _pads(self, op: forge.UnaryOp | forge.BinaryOp, operands: Sequence[Tile]) -> dict[int, float]:
        """What the op makes of padding that is known in every operand."""
        pads: dict[int, float] = {}
        for dim in {d for o in operands for d in o.pads}:
            values = [o.number if o.number is not None else o.pads.get(dim) for o in operands]
            known = numeric(op.mnemonic, values)
            if known is not None:
                pads[dim] = known
        return pads

    def _compare(self, op: forge.CompareOp) -> None:
        operands = [self._widened(self.values[v]) for v in (op.lhs, op.rhs)]
        dims = joint(operands)
        if all(o.number is not None for o in operands):
            operands = [Tile(typed(operands[0]), (), operands[0].element), operands[1]]
        left, right = (o.shown(dims) for o in operands)
        self._assign(op.result, Tile(f"{left} {COMPARISONS[op.predicate]} {right}", dims, "i1", atom=False), "mask")

    def _select(self, op: forge.SelectOp) -> None:
        condition, a, b = (self.values[v] for v in (op.condition, op.on_true, op.on_false))
        if condition.number is not None:
            self._alias(op.result, a if condition.number else b)
            return
        element = element_name(op.result.type)
        a, b = self._widened(a), self._widened(b)
        dims = joint([condition, a, b])
        texts = [t.argument(dims) for t in (condition, a, b)]
        text = f"tl.where({', '.join(texts)})"
        computed = a.element
        if (a.number is not None and b.number is not None and element in ("f64", "i64", "i16", "i8")) or (
            element in ("i16", "i8") and (a.number is not None or b.number is not None)
        ):
            text += f".to({TRITON_TYPES[element]})"
        pads = {d: v for d, v in a.pads.items() if b.pads.get(d, b.number) == v}
        self._assign(op.result, self._narrowed(text, dims, computed, op.result, pads, True), "select")

    def _cast(self, op: forge.CastOp) -> None:
        result = op.result
        if result in self.values:
            return
        source = self.values[op.operand]
        before, after = element_name(op.operand.type), element_name(result.type)
        if before == after:
            self._alias(result, source)
            return
        if source.number is not None:
            value = source.number
            number = float(value != 0) if after == "i1" else value if is_float(after) else float(int(value))
            self._alias(result, constant(number, after))
            return
        text = source.text if source.atom else f"({source.text})"
        if after == "i1":
            cast_tile = Tile(f"{self._widened(source).shown(source.dims)} != 0", source.dims, after, atom=False)
        else:
            pads = {d: rounded(v, after) for d, v in source.pads.items() if is_float(after)}
            cast_tile = Tile(cast_text(text, before, after), source.dims, after, pads=pads)
        users = readers(result)
        if len(users) == 1 and users[0].parent is op.parent and result not in self.carried:
            self.values[result] = cast_tile
        else:
            self._assign(result, cast_tile, "narrow" if after in ("f16", "bf16") else "wide")
