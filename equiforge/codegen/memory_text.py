"""Loads, stores, indices and constants of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.ir import Attribute, SSAValue

from equiforge.codegen.pointwise import TRITON_TYPES, cast_text
from equiforge.codegen.printer import Printer, element_name
from equiforge.codegen.tiles import Tile, constant, literal, subscript
from equiforge.dialects import forge, kernel, tile

_INT32_MAX = 2**31 - 1


class MemoryText(Printer):
    """Ops that touch memory or make a tile from nothing."""

    def _root(self, ref: SSAValue) -> SSAValue:
        while isinstance(ref.owner, kernel.ViewOp):
            ref = ref.owner.source
        return ref

    def _address(
        self, ref: SSAValue, type_: Attribute, leading: str | None = None, places: Mapping[int, Tile] | None = None
    ) -> tuple[str, tuple[int, ...]]:
        """Pointer text for a tile and the dimensions that it varies along; ``leading`` is the index in a dimension
        that the array has before the tile's, ``places`` are positions along some dimensions other than the tile's."""
        places = places or {}
        root = self._root(ref)
        layout = cast(kernel.RefType, ref.type).layout
        span = cast(kernel.RefType, root.type).layout.last + layout.last
        wide = ".to(tl.int64)" if span + 1 > _INT32_MAX else ""
        terms: list[tuple[tuple[int, ...], str, int, bool]] = []
        for dim, digits in enumerate(layout.dims, start=0 if leading is None else -1):
            if not digits:
                continue
            if dim in places:
                index, kept = places[dim].text, places[dim].dims
            else:
                index = self._index(type_, dim) if leading is None or dim >= 0 else leading
                kept = (dim,) if dim >= 0 and self.sizes.size(type_, dim) > 1 else ()
            if index == "0":
                continue
            inner = 1
            for position in range(len(digits) - 1, -1, -1):
                extent, stride = digits[position]
                text = index if inner == 1 else f"{_factor(index)} // {inner}"
                if position > 0:
                    text = f"{_factor(text)} % {extent}" if inner == 1 else f"({text}) % {extent}"
                inner *= extent
                if stride != 0:
                    terms.append((kept, text, stride, " " in text))
        dims = tuple(sorted({d for kept, *_ in terms for d in kept}))
        parts = [str(layout.offset)] if layout.offset else []
        for kept, text, stride, compound in sorted(terms, key=lambda t: t[0]):
            shown = f"({text})" if compound and (kept or wide or stride != 1) else text
            shown += wide + subscript(kept, dims)
            parts.append(shown if stride == 1 else f"{shown} * {stride}")
        pointer = self.refs[root]
        if not parts:
            return pointer, ()
        offset = " + ".join(parts)
        return f"{pointer} + {offset}" if len(parts) == 1 else f"{pointer} + ({offset})", dims

    def _load(self, op: kernel.LoadOp) -> None:
        type_ = op.result.type
        pointer, dims = self._address(op.source, type_)
        self._read(op.source, op.result, pointer, dims, self._mask(type_, dims))

    def _gather(self, op: kernel.GatherOp) -> None:
        type_ = op.result.type
        places = {dim: self.values[index] for dim, index in zip(op.dims, op.indices, strict=True)}
        pointer, dims = self._address(op.source, type_, places=places)
        mask = self._mask(type_, dims)
        layout = cast(kernel.RefType, op.source.type).layout
        checks: list[str] = []
        for dim in op.checked:
            if layout.dims[dim]:
                place = _factor(places[dim].text) + subscript(places[dim].dims, dims)
                checks.append(f"({place} >= 0) & ({place} < {layout.shape[dim]})")
        if mask and checks:
            checks.insert(0, mask if mask.startswith("(") else f"({mask})")
        self._read(op.source, op.result, pointer, dims, " & ".join(checks) or mask)

    def _read(self, ref: SSAValue, result: SSAValue, pointer: str, dims: tuple[int, ...], mask: str) -> None:
        """A ``tl.load`` of the elements at a pointer tile, where the mask holds."""
        type_ = result.type
        element = element_name(type_)
        other = literal(0, element)
        arguments = [pointer, *([f"mask={mask}", f"other={other}"] if mask else [])]
        pads = {d: 0.0 for d in dims if self.sizes.is_ragged(type_, d)}
        suffix = ""
        value: SSAValue = result
        user = self._only_user(value)
        if isinstance(user, forge.CastOp) and element != "i1" and element_name(user.result.type) != "i1":
            # The widening stands with the load.
            value = user.result
            suffix = cast_text("", element, element_name(value.type))
            element = element_name(value.type)
        name = self.carried.get(value)
        if name is None:
            name = self.names.fresh(value.name_hint or result.name_hint or self._root(ref).name_hint or "loaded")
            self._call(f"{name} = ", "tl.load", arguments, suffix)
            self.values[value] = Tile(name, dims, element, pads=pads)
        else:
            self._assign(value, Tile(f"tl.load({', '.join(arguments)}){suffix}", dims, element), "loaded")

    def _store(self, op: kernel.StoreOp) -> None:
        type_ = op.value.type
        value = self.values[op.value]
        pointer, dims = self._address(op.target, type_, None if op.axis_name is None else self.collected[op.axis_name])
        mask = self._mask(type_, dims)
        self._call("", "tl.store", [pointer, value.argument(dims), *([f"mask={mask}"] if mask else [])])

    def _fill(self, op: kernel.FillOp) -> None:
        self.values[op.result] = constant(op.number, element_name(op.result.type))

    def _iota(self, op: kernel.IotaOp) -> None:
        type_ = op.result.type
        dim = op.dim.value.data
        element = element_name(type_)
        index = self._index(type_, dim)
        dims = (dim,) if self.sizes.size(type_, dim) > 1 else ()
        if index == "0":
            self.values[op.result] = constant(0, element)
            return
        if element != "i32" and not _only_compared(op.result):
            index = f"{index}.to({TRITON_TYPES[element]})"
        self.values[op.result] = Tile(index, dims, element)


def _factor(text: str) -> str:
    """The text as an operand of any operator."""
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _only_compared(value: SSAValue) -> bool:
    """True if an index only ends in comparisons, so that 32 bits do."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, forge.CompareOp):
            continue
        if isinstance(op, forge.AddOp | forge.SubOp | tile.ReplicateOp) and _only_compared(op.results[0]):
            continue
        return False
    return True
