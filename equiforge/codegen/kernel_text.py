"""One ``kernel.func`` as the text of a ``@triton.jit`` function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, cast

from xdsl.ir import Attribute, Block, Operation, SSAValue

from equiforge.codegen.errors import CodegenError
from equiforge.codegen.grid import DOT_SIDE, Sizes
from equiforge.codegen.kernel_builder import IDENTITIES, is_parallel
from equiforge.codegen.pointwise import (
    COMPARISONS,
    HELPERS,
    TRITON_TYPES,
    cast_text,
    is_float,
    numeric,
    template,
    whole_power,
)
from equiforge.codegen.tiles import Names, Tile, constant, literal, rounded, subscript, typed
from equiforge.dialects import forge, kernel, tile
from equiforge.dialects.tile_types import element_type_of, shape_of

_WIDE = 112
_LONGEST_INLINE = 48
_INT32_MAX = 2**31 - 1
#: Ops whose result may share its operand's text, so that uses of the one are uses of the other.
_ALIASES = (
    "tile.replicate",
    "tile.reduce",
    "tile.matmul",
    "forge.cast",
    "forge.transpose",
    "forge.expand",
    "forge.reshape",
)
_ACCUMULATE = {"sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "all": "and"}


def element_name(type_: Attribute) -> str:
    return str(element_type_of(type_))


class KernelText:
    """Prints one function; ``helpers`` collects the helper functions that the module must carry."""

    def __init__(self, function: kernel.FuncOp, sizes: Sizes, helpers: set[str], strict: bool = False):
        self.function = function
        self.sizes = sizes
        self.helpers = helpers
        self.strict = strict
        pointers = [a.name_hint or f"arg{i}" for i, a in enumerate(function.body.block.args)]
        self.blocks = {a: f"BLOCK_{a.upper()}" for a in sorted(sizes.tiles) if sizes.tiles[a] > 1 and self._is_used(a)}
        self.names = Names([*HELPERS, *self.blocks.values(), function.sym_name.data])
        self.pointers = [self.names.fresh(f"{p}_ptr") for p in pointers]
        self.refs = dict(zip(function.body.block.args, self.pointers, strict=True))
        self.values: dict[SSAValue, Tile] = {}
        self.starts: dict[str, str] = {}
        self.indices: dict[str, str] = {}
        self.whole: dict[tuple[int, int], str] = {}
        self.head: list[str] = []
        self.body: list[str] = []
        self.depth = 1
        #: Values that are assigned straight to a loop-carried name, and the tile type that they must fill.
        self.carried: dict[SSAValue, str] = {}

    def _is_used(self, axis: str) -> bool:
        return axis in self.function.grid_axes or any(
            isinstance(op, kernel.ForOp) and op.axis_name == axis for op in self.function.body.walk()
        )

    def text(self) -> str:
        self._grid()
        self._block(self.function.body.block)
        parameters = [*self.pointers, *(f"{b}: tl.constexpr" for b in self.blocks.values())]
        head = f"def {self.function.sym_name.data}({', '.join(parameters)}):"
        if len(head) > _WIDE:
            head = f"def {self.function.sym_name.data}(\n    " + ",\n    ".join(parameters) + ",\n):"
        return "\n".join(["@triton.jit", head, *self._comments(), *self.head, *self.body]) + "\n"

    # Coordinates

    def _comments(self) -> list[str]:
        """Which axis cuts which dimension of what."""
        cuts: dict[str, dict[int, list[str]]] = {}
        for op in self.function.body.walk():
            if not isinstance(op, kernel.LoadOp | kernel.StoreOp):
                continue
            ref, value = (op.source, op.result) if isinstance(op, kernel.LoadOp) else (op.target, op.value)
            name = self._root(ref).name_hint or "?"
            for dim in range(len(shape_of(value.type))):
                axis = self.sizes.axis_on(value.type, dim)
                if axis is not None and name not in cuts.setdefault(axis, {}).setdefault(dim, []):
                    cuts[axis][dim].append(name)
        lines: list[str] = []
        for axis in sorted(cuts):
            places = "; ".join(f"dimension {d} of {', '.join(names)}" for d, names in sorted(cuts[axis].items()))
            role = "program" if axis in self.function.grid_axes else "loop"
            if axis in self.function.grid_axes and any(
                isinstance(op, kernel.ForOp) and op.axis_name == axis for op in self.function.body.walk()
            ):
                role = "program and loop"
            lines.append(f"    # {axis} ({role}, {self.sizes.extents[axis]} elements): {places}")
        return lines

    def _grid(self) -> None:
        grid = self.sizes.grid
        if self.sizes.linear:
            pid = self.names.fresh("pid")
            self.head.append(f"    {pid} = tl.program_id(0)")
            for number, (axis, count) in enumerate(grid):
                last = number + 1 == len(grid)
                self._bind(axis, pid if last else f"{pid} % {count}", self.head)
                if not last:
                    self.head.append(f"    {pid} = {pid} // {count}")
        else:
            for number, (axis, _) in enumerate(grid):
                self._bind(axis, f"tl.program_id({number})", self.head)
        running = {axis for axis, _ in grid}
        for axis in self.function.grid_axes:
            if axis not in running:
                self._bind(axis, None, self.head)

    def _bind(self, axis: str, coordinate: str | None, lines: list[str]) -> None:
        """Names for the current tile of a grid axis; no coordinate means that there is one tile."""
        size = self.sizes.tiles[axis]
        if size == 1:
            if coordinate is None:
                self.indices[axis] = self.starts[axis] = "0"
                return
            name = self.names.fresh(axis)
            lines.append(f"    {name} = {coordinate}")
            self.indices[axis] = self.starts[axis] = name
            return
        name = self.names.fresh(axis)
        block = self.blocks[axis]
        if coordinate is None:
            self.starts[axis] = "0"
            lines.append(f"    {name} = tl.arange(0, {block})")
        else:
            start = self.names.fresh(f"{axis}_start")
            self.starts[axis] = start
            product = coordinate if " " not in coordinate else f"({coordinate})"
            lines.append(f"    {start} = {product} * {block}")
            lines.append(f"    {name} = {start} + tl.arange(0, {block})")
        self.indices[axis] = name

    def _index(self, type_: Attribute, dim: int) -> str:
        """The index along a dimension: a vector where the tile keeps the dimension, else a scalar."""
        axis = self.sizes.axis_on(type_, dim)
        extent = shape_of(type_)[dim]
        if extent == 1:
            return "0"
        if axis is not None:
            return self.indices[axis]
        size = self.sizes.size(type_, dim)
        if (extent, size) not in self.whole:
            name = self.names.fresh(f"d{extent}")
            self.whole[extent, size] = name
            self.head.append(f"    {name} = tl.arange(0, {size})")
        return self.whole[extent, size]

    def _mask(self, type_: Attribute, dims: Sequence[int], only: Sequence[int] | None = None) -> str:
        """Where a tile of dimensions ``dims`` is inside its ragged edges; empty where it always is."""
        parts: list[str] = []
        for dim in dims if only is None else only:
            if dim in dims and self.sizes.is_ragged(type_, dim):
                inside = f"({self._index(type_, dim)} < {shape_of(type_)[dim]})"
                parts.append(inside + subscript((dim,), dims))
        if len(parts) == 1 and parts[0].endswith(")"):
            return parts[0][1:-1]
        return " & ".join(parts)

    # Lines

    def _line(self, text: str) -> None:
        self.body.append("    " * self.depth + text)

    def _call(self, prefix: str, function: str, arguments: Sequence[str], suffix: str = "") -> None:
        line = f"{prefix}{function}({', '.join(arguments)}){suffix}"
        if len(line) + 4 * self.depth <= _WIDE:
            self._line(line)
            return
        self._line(f"{prefix}{function}(")
        for argument in arguments:
            self._line(f"    {argument},")
        self._line(f"){suffix}")

    def _assign(self, value: SSAValue, result: Tile, default: str) -> None:
        """Writes ``name = text`` and remembers the name."""
        target = self.carried.get(value)
        if target is not None:
            result = self._filled(result, value.type)
            name = target
        elif not list(value.uses):
            return
        elif inlinable(value) and len(result.text) <= _LONGEST_INLINE:
            self.values[value] = result
            return
        else:
            name = self.names.fresh(value.name_hint or default)
        text = result.text
        if result.number is not None:
            text = typed(result)
        self._line(f"{name} = {text}")
        self.values[value] = Tile(name, result.dims, result.element, pads=result.pads)

    def _filled(self, value: Tile, type_: Attribute) -> Tile:
        """The tile with every dimension that its type keeps."""
        dims = self.sizes.dims(type_)
        if value.dims == dims:
            return value
        shape = self._shape(type_, dims)
        if value.number is not None:
            return Tile(f"tl.full([{shape}], {value.text}, {TRITON_TYPES[value.element]})", dims, value.element)
        return Tile(f"tl.broadcast_to({value.shown(dims)}, [{shape}])", dims, value.element)

    def _shape(self, type_: Attribute, dims: Sequence[int]) -> str:
        sizes: list[str] = []
        for dim in dims:
            axis = self.sizes.axis_on(type_, dim)
            sizes.append(self.blocks[axis] if axis is not None else str(self.sizes.size(type_, dim)))
        return ", ".join(sizes)

    # Ops

    def _block(self, block: Block) -> None:
        for op in block.ops:
            handler = _HANDLERS.get(op.name)
            if handler is not None:
                handler(self, op)
            elif isinstance(op, forge.UnaryOp | forge.BinaryOp):
                self._pointwise(op)
            else:
                raise CodegenError(f"{op.name} has no Triton form in a kernel")

    def _root(self, ref: SSAValue) -> SSAValue:
        while isinstance(ref.owner, kernel.ViewOp):
            ref = ref.owner.source
        return ref

    def _address(self, ref: SSAValue, type_: Attribute) -> tuple[str, tuple[int, ...]]:
        """Pointer text for a tile and the dimensions that it varies along."""
        root = self._root(ref)
        layout = cast(kernel.RefType, ref.type).layout
        span = cast(kernel.RefType, root.type).layout.last + layout.last
        wide = ".to(tl.int64)" if span + 1 > _INT32_MAX else ""
        terms: list[tuple[tuple[int, ...], str, int, bool]] = []
        for dim, digits in enumerate(layout.dims):
            if not digits:
                continue
            index = self._index(type_, dim)
            if index == "0":
                continue
            kept = (dim,) if self.sizes.size(type_, dim) > 1 else ()
            inner = 1
            for position in range(len(digits) - 1, -1, -1):
                extent, stride = digits[position]
                text = index if inner == 1 else f"{index} // {inner}"
                if position > 0:
                    text = f"{text} % {extent}" if inner == 1 else f"({text}) % {extent}"
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
        element = element_name(type_)
        pointer, dims = self._address(op.source, type_)
        mask = self._mask(type_, dims)
        other = literal(0, element)
        arguments = [pointer, *([f"mask={mask}", f"other={other}"] if mask else [])]
        pads = {d: 0.0 for d in dims if self.sizes.is_ragged(type_, d)}
        suffix = ""
        value: SSAValue = op.result
        user = self._only_user(value)
        if isinstance(user, forge.CastOp) and element != "i1" and element_name(user.result.type) != "i1":
            # The widening stands with the load.
            value = user.result
            suffix = cast_text("", element, element_name(value.type))
            element = element_name(value.type)
        name = self.carried.get(value)
        if name is None:
            name = self.names.fresh(
                value.name_hint or op.result.name_hint or self._root(op.source).name_hint or "loaded"
            )
            self._call(f"{name} = ", "tl.load", arguments, suffix)
            self.values[value] = Tile(name, dims, element, pads=pads)
        else:
            self._assign(value, Tile(f"tl.load({', '.join(arguments)}){suffix}", dims, element), "loaded")

    def _only_user(self, value: SSAValue) -> Operation | None:
        """The one user of a value, if it stands in the same block."""
        uses = list(value.uses)
        if len(uses) != 1:
            return None
        user = uses[0].operation
        return user if isinstance(value.owner, Operation) and user.parent is value.owner.parent else None

    def _store(self, op: kernel.StoreOp) -> None:
        type_ = op.value.type
        value = self.values[op.value]
        pointer, dims = self._address(op.target, type_)
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

    def _replicate(self, op: tile.ReplicateOp) -> None:
        self._alias(op.result, self.values[op.operand])

    def _alias(self, value: SSAValue, same: Tile) -> None:
        if value in self.carried:
            self._assign(value, same, "value")
        else:
            self.values[value] = same

    def _pointwise(self, op: forge.UnaryOp | forge.BinaryOp) -> None:
        result = op.results[0]
        operands = [self._widened(self.values[v]) for v in op.operands]
        element = operands[0].element
        numbers = [o.number for o in operands]
        number = numeric(op.mnemonic, numbers)
        if number is not None:
            self._alias(result, constant(number, element_name(result.type)))
            return
        if all(n is not None for n in numbers):
            operands = [Tile(typed(operands[0]), (), element), *operands[1:]]
        dims = _joint(operands)
        if op.mnemonic == "pow" and numbers[1] is not None:
            power = whole_power(operands[0].shown(dims), numbers[1], is_float(element))
            if power is not None:
                self._assign(result, self._narrowed(power, dims, element, result, {}), "power")
                return
        form = template(op.mnemonic, element)
        if form is None:
            raise CodegenError(f"{op.name} of {element} has no Triton form")
        is_call = "({0}" in form[0]
        shown = [o.argument(dims) if is_call else o.shown(dims) for o in operands]
        if op.mnemonic == "pow":
            shown = [typed(o) if o.number is not None else s for o, s in zip(operands, shown, strict=True)]
        exact = {"div": "tl.div_rn({0}, {1})", "recip": "tl.div_rn(1.0, {0})", "sqrt": "tl.sqrt_rn({0})"}
        if self.strict and element == "f32" and op.mnemonic in exact:
            form, is_call = (exact[op.mnemonic], None), True
        text, helper = form[0].format(*shown), form[1]
        if helper is not None:
            self.helpers.add(helper)
        narrowed = self._narrowed(text, dims, element, result, self._pads(op, operands), is_call)
        self._assign(result, narrowed, op.mnemonic)

    def _pads(self, op: forge.UnaryOp | forge.BinaryOp, operands: Sequence[Tile]) -> dict[int, float]:
        """What the op makes of padding that is known in every operand."""
        pads: dict[int, float] = {}
        for dim in {d for o in operands for d in o.pads}:
            values = [o.number if o.number is not None else o.pads.get(dim) for o in operands]
            known = numeric(op.mnemonic, values)
            if known is not None:
                pads[dim] = known
        return pads

    def _widened(self, value: Tile) -> Tile:
        """Half precision and less is never computed in: float32 instead."""
        if not is_float(value.element) or value.element in ("f32", "f64"):
            return value
        if value.number is not None:
            return Tile(value.text, (), "f32", value.atom, number=value.number)
        text = value.text if value.atom else f"({value.text})"
        return Tile(f"{text}.to(tl.float32)", value.dims, "f32", pads=value.pads)

    def _narrowed(
        self,
        text: str,
        dims: tuple[int, ...],
        element: str,
        result: SSAValue,
        pads: dict[int, float],
        atom: bool = False,
    ) -> Tile:
        wanted = element_name(result.type)
        if wanted in ("f16", "bf16") and element == "f32":
            return Tile(f"({text}).to({TRITON_TYPES[wanted]})", dims, wanted, pads=pads)
        return Tile(text, dims, wanted, atom, pads)

    def _compare(self, op: forge.CompareOp) -> None:
        operands = [self._widened(self.values[v]) for v in (op.lhs, op.rhs)]
        dims = _joint(operands)
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
        dims = _joint([condition, a, b])
        texts = [t.argument(dims) for t in (condition, a, b)]
        text = f"tl.where({', '.join(texts)})"
        computed = a.element
        if (a.number is not None and b.number is not None and element in ("f64", "i64", "i16", "i8")) or (element in ("i16", "i8") and (a.number is not None or b.number is not None)):
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
            cast_tile = Tile(f"{text} != 0", source.dims, after, atom=False)
        else:
            pads = {d: rounded(v, after) for d, v in source.pads.items() if is_float(after)}
            cast_tile = Tile(cast_text(text, before, after), source.dims, after, pads=pads)
        users = _readers(result)
        if len(users) == 1 and users[0].parent is op.parent and result not in self.carried:
            self.values[result] = cast_tile
        else:
            self._assign(result, cast_tile, "narrow" if after in ("f16", "bf16") else "wide")

    def _selected(self, value: Tile, type_: Attribute, dim: int, identity: float) -> Tile:
        """The tile with the identity beyond a ragged edge of ``dim``, unless that stands there already."""
        if dim not in value.dims or not self.sizes.is_ragged(type_, dim) or value.pads.get(dim) == identity:
            return value
        mask = self._mask(type_, value.dims, [dim])
        text = f"tl.where({mask}, {value.text}, {literal(identity, value.element)})"
        if value.element in ("f16", "bf16", "i8", "i16"):
            text += f".to({TRITON_TYPES[value.element]})"
        return Tile(text, value.dims, value.element)

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
            width = int(value.element[1:])
            identity = (1 << (width - 1)) - 1 if identity > 0 else -(1 << (width - 1))
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
        cast_op = value.owner
        if isinstance(cast_op, forge.CastOp) and shown.text.endswith(f".to({TRITON_TYPES[shown.element]})"):
            # Selecting before the cast keeps the literal's type that of the tile.
            wide = self._selected(self.values[cast_op.operand], value.type, inner, 0.0)
            text = wide.text if wide.atom else f"({wide.text})"
            return Tile(f"{text}.to({TRITON_TYPES[shown.element]})", wide.dims, shown.element, pads=wide.pads)
        return self._selected(shown, value.type, inner, 0.0)

    def _multiplied(self, op: tile.MatmulOp, a: Tile, b: Tile, rank: int) -> None:
        """The product as a broadcast multiplication and a sum: rows, contraction and columns are dimensions rank-2, rank-1, rank."""
        inner = rank - 1
        element = element_name(op.results[0].type)
        left = self._widened(self._unnarrowed(op.operands[0], a))
        right = self._widened(self._unnarrowed(op.operands[1], b))
        if element != left.element and not is_float(element):
            # Small integers are multiplied in the type that they are summed in.
            left = Tile(f"{left.shown(left.dims)}.to({TRITON_TYPES[element]})", left.dims, element)
            right = Tile(f"{right.shown(right.dims)}.to({TRITON_TYPES[element]})", right.dims, element)
        right = Tile(right.text, tuple(d + 1 if d >= rank - 2 else d for d in right.dims), right.element, right.atom)
        dims = _joint([left, right])
        text = f"{left.shown(dims)} * {right.shown(dims)}"
        if inner in dims:
            text = f"tl.sum({text}, axis={dims.index(inner)})"
        kept = tuple(d - 1 if d == rank else d for d in dims if d != inner)
        computed = left.element
        if element != computed:
            text = f"({text}).to({TRITON_TYPES[element]})"
        self._assign(op.results[0], Tile(text, kept, element, atom=inner in dims), "dot")

    def _unnarrowed(self, value: SSAValue, shown: Tile) -> Tile:
        """An operand that was narrowed for a dot, as it was before: multiplication takes it as it is, unless casts are rounding steps."""
        suffix = f".to({TRITON_TYPES[shown.element]})"
        if self.strict or not isinstance(value.owner, forge.CastOp) or not shown.text.endswith(suffix):
            return shown
        before = element_name(value.owner.operand.type)
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
        dims = _joint([acc, x])
        form = template(_ACCUMULATE[op.reducer], acc.element)
        if form is None:
            raise CodegenError(f"{op.name} {op.reducer} of {acc.element} has no Triton form")
        if form[1] is not None:
            self.helpers.add(form[1])
        left, right = (x.argument(dims), acc.argument(dims)) if "({0}" in form[0] else (acc.shown(dims), x.shown(dims))
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
        if any(self.sizes.is_ragged(op.operand.type, d) for d in old) or any(
            self.sizes.is_ragged(op.result.type, d) for d in new
        ):
            raise CodegenError(
                f"forge.reshape of a computed tile with padded dimensions ({op.operand.type} to {op.result.type})"
            )
        value = self._filled(value, op.operand.type)
        dims = self.sizes.dims(op.result.type)
        text = f"tl.reshape({value.text}, [{self._shape(op.result.type, dims)}])"
        self._assign(op.result, Tile(text, dims, value.element), "reshaped")

    # Loops

    def _for(self, op: kernel.ForOp) -> None:
        axis = op.axis_name
        block = op.body.block
        last = cast(kernel.YieldOp, block.last_op)
        names: list[str] = []
        for number, (argument, init) in enumerate(zip(block.args, op.inits, strict=True)):
            name = self.names.fresh(op.res[number].name_hint or argument.name_hint or "acc")
            names.append(name)
            start = self._filled(self.values[init], argument.type)
            self._line(f"{name} = {typed(start) if start.number is not None else start.text}")
            self.values[argument] = Tile(name, self.sizes.dims(argument.type), element_name(argument.type))
        outer = dict(self.starts), dict(self.indices), dict(self.carried)
        self._in_place(block, last, names)
        size = self.sizes.tiles[axis]
        low, high = self._loop_bounds(op)
        for text, what in ((low, "first"), (high, "end")):
            if not text.isdigit():
                bound = self.names.fresh(f"{axis}_{what}")
                self._line(f"{bound} = {text}")
                low, high = (bound, high) if what == "first" else (low, bound)
        index = self.names.fresh(axis)
        start = index if size == 1 else self.names.fresh(f"{axis}_start")
        step = "" if size == 1 else f", {self.blocks[axis]}"
        self._line(f"for {start} in range({low}, {high}{step}):")
        self.depth += 1
        self.starts[axis], self.indices[axis] = start, index
        if size > 1:
            self._line(f"{index} = {start} + tl.arange(0, {self.blocks[axis]})")
        self._block(block)
        self._rest(block, last, names)
        self.depth -= 1
        self.starts, self.indices, self.carried = outer
        for name, result in zip(names, op.res, strict=True):
            self.values[result] = Tile(name, self.sizes.dims(result.type), element_name(result.type))

    def _in_place(self, block: Block, last: kernel.YieldOp, names: Sequence[str]) -> None:
        """Marks yielded values that may take the loop-carried name at once: nothing after them reads the old value."""
        order = {op: i for i, op in enumerate(block.ops)}
        yielded = list(last.operands)
        for name, argument, value in zip(names, block.args, yielded, strict=True):
            if value.owner not in order or yielded.count(value) > 1:
                continue
            if all(position <= order[cast(Operation, value.owner)] for position in _use_positions(argument, order)):
                self.carried[value] = name

    def _rest(self, block: Block, last: kernel.YieldOp, names: Sequence[str]) -> None:
        targets: list[str] = []
        texts: list[str] = []
        for name, argument, value in zip(names, block.args, last.operands, strict=True):
            if value in self.carried or value is argument:
                continue
            filled = self._filled(self.values[value], argument.type)
            targets.append(name)
            texts.append(typed(filled) if filled.number is not None else filled.text)
        if targets:
            self._line(f"{', '.join(targets)} = {', '.join(texts)}")

    def _loop_bounds(self, op: kernel.ForOp) -> tuple[str, str]:
        """Texts of the first and past-the-end element; the union of several ranges is visited from its first to its last element."""
        extent = self.sizes.extents[op.axis_name]
        if op.ranges is None:
            return "0", str(extent)
        lows = [self._extreme([self._low(b) for b in r.lower], "maximum") for r in op.ranges]
        highs = [self._extreme([self._high(b) for b in r.upper], "minimum") for r in op.ranges]
        low = "0" if any(text is None for text in lows) else self._extreme(cast(list[str], lows), "minimum")
        high = str(extent) if any(text is None for text in highs) else self._extreme(cast(list[str], highs), "maximum")
        high_text = _clamped(cast(str, high), extent)
        low_text = cast(str, low)
        if low_text.lstrip("-").isdigit():
            size = self.sizes.tiles[op.axis_name]
            return str(max(int(low_text), 0) // size * size), high_text
        low_text = f"tl.maximum({low_text}, 0)"
        if self.sizes.tiles[op.axis_name] > 1:
            block = self.blocks[op.axis_name]
            low_text = f"{low_text} // {block} * {block}"
        return low_text, high_text

    def _low(self, bound: kernel.BoundAttr) -> str:
        return _plus(self.starts[bound.axis_name], bound.shift.data) if bound.axis_name else str(bound.shift.data)

    def _high(self, bound: kernel.BoundAttr) -> str:
        """One past the last element that an upper bound allows."""
        if bound.axis_name is None:
            return str(bound.shift.data + 1)
        size = self.sizes.tiles[bound.axis_name]
        start = self.starts[bound.axis_name]
        shift = bound.shift.data
        if size == 1:
            return _plus(start, shift + 1)
        return _plus(
            f"{start} + {self.blocks[bound.axis_name]}" if start != "0" else self.blocks[bound.axis_name], shift
        )

    def _extreme(self, texts: list[str], function: str) -> str | None:
        if not texts:
            return None
        numbers = [int(t) for t in texts if t.lstrip("-").isdigit()]
        rest = list(dict.fromkeys(t for t in texts if not t.lstrip("-").isdigit()))
        if numbers:
            rest.append(str(max(numbers) if function == "maximum" else min(numbers)))
        text = rest[0]
        for other in rest[1:]:
            text = f"tl.{function}({text}, {other})"
        return text


def _plus(text: str, shift: int) -> str:
    if shift == 0:
        return text
    if text == "0":
        return str(shift)
    return f"{text} + {shift}" if shift > 0 else f"{text} - {-shift}"


def _clamped(text: str, extent: int) -> str:
    if text.lstrip("-").isdigit():
        return str(min(int(text), extent))
    return f"tl.minimum({text}, {extent})"


def _joint(tiles: Sequence[Tile]) -> tuple[int, ...]:
    return tuple(sorted({d for t in tiles for d in t.dims}))


def _readers(value: SSAValue) -> list[Operation]:
    """The ops that read a value, those behind ``tile.replicate`` included; an op that reads it twice stands twice."""
    result: list[Operation] = []
    for use in value.uses:
        op = use.operation
        result.extend(_readers(op.result) if isinstance(op, tile.ReplicateOp) else [op])
    return result


def inlinable(value: SSAValue) -> bool:
    """True for a result without a name of its own that one op of the same block reads: its text may stand in that op's."""
    if value.name_hint is not None or not isinstance(
        value.owner, forge.UnaryOp | forge.BinaryOp | tile.ReduceOp | forge.SelectOp
    ):
        return False
    users = _readers(value)
    if len(users) != 1:
        return False
    user = users[0]
    # A product reads its operands' texts twice where they are also masked, and a yield is no op of its own.
    return user.parent is value.owner.parent and not isinstance(
        user, kernel.YieldOp | tile.MatmulOp | tile.ReduceOp | kernel.ForOp
    )


def _use_positions(value: SSAValue, order: dict[Operation, int]) -> list[int]:
    """Where in a block a value, or what may share its text, is read."""
    positions: list[int] = []
    for use in value.uses:
        op: Operation | None = use.operation
        while op is not None and op not in order:
            op = op.parent_op()
        if op is None:
            continue
        positions.append(order[op] if not isinstance(use.operation, kernel.YieldOp) else len(order))
        if use.operation.name in _ALIASES or any(inlinable(r) for r in use.operation.results):
            for result in use.operation.results:
                positions.extend(_use_positions(result, order))
    return positions


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


def _skip(_printer: KernelText, _op: Operation) -> None:
    """Ops that the text of others speaks for."""


_HANDLERS: dict[str, Callable[[KernelText, Any], None]] = {
    "kernel.view": _skip,
    "kernel.yield": _skip,
    "kernel.load": KernelText._load,
    "kernel.store": KernelText._store,
    "kernel.fill": KernelText._fill,
    "kernel.iota": KernelText._iota,
    "kernel.for": KernelText._for,
    "tile.replicate": KernelText._replicate,
    "tile.reduce": KernelText._reduce,
    "tile.matmul": KernelText._matmul,
    "tile.accumulate": KernelText._accumulate,
    "forge.compare": KernelText._compare,
    "forge.select": KernelText._select,
    "forge.cast": KernelText._cast,
    "forge.transpose": KernelText._transpose,
    "forge.expand": KernelText._expand,
    "forge.reshape": KernelText._reshape,
}
