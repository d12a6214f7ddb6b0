"""What every part of the kernel printer uses: coordinates, masks, lines, and names for values."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from equiforge.codegen.grid import Sizes
from equiforge.codegen.pointwise import HELPERS, TRITON_TYPES, is_float
from equiforge.codegen.tiles import Names, Tile, literal, subscript, typed
from equiforge.dialects import forge, kernel, tile
from equiforge.dialects.tile_types import element_type_of, shape_of

WIDE = 112
_LONGEST_INLINE = 48


def element_name(type_: Attribute) -> str:
    return str(element_type_of(type_))


class Printer:
    """State and lines of one kernel's text; ``helpers`` collects the helper functions that the module must carry."""

    def __init__(self, function: kernel.FuncOp, sizes: Sizes, helpers: set[str], strict: bool = False):
        self.function = function
        self.sizes = sizes
        self.helpers = helpers
        self.strict = strict
        pointers = [a.name_hint or f"arg{i}" for i, a in enumerate(function.body.block.args)]
        self.blocks = {a: f"BLOCK_{a.upper()}" for a in sorted(sizes.tiles) if sizes.tiles[a] > 1 and self._is_used(a)}
        self.names = Names([*HELPERS, *self.blocks.values(), function.sym_name.data])
        self.pointers = [self.names.fresh(f"{p}_ptr") for p in pointers]
        self.refs: dict[SSAValue, str] = dict(zip(function.body.block.args, self.pointers, strict=True))
        self.values: dict[SSAValue, Tile] = {}
        self.starts: dict[str, str] = {}
        self.indices: dict[str, str] = {}
        #: The number of the current tile of each grid axis that is collected.
        self.collected: dict[str, str] = {op.axis_name: "0" for op in stores_at(function) if op.axis_name}
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

    def _is_indexed(self, axis: str) -> bool:
        """False for an axis of the grid that cuts no tile itself: only loops over an axis within it do."""
        return any(
            self.sizes.axis_on(type_, dim) == axis
            for op in self.function.body.walk()
            for type_ in (*op.operand_types, *op.result_types)
            if kernel.is_tile(type_)
            for dim in range(len(shape_of(type_)))
        )

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
        indexed = self._is_indexed(axis)
        if size == 1:
            if coordinate is None:
                self.indices[axis] = self.starts[axis] = "0"
                return
            name = self.names.fresh(axis)
            lines.append(f"    {name} = {coordinate}")
            self.indices[axis] = self.starts[axis] = name
            if axis in self.collected:
                self.collected[axis] = name
            return
        name = self.names.fresh(axis)
        block = self.blocks[axis]
        if coordinate is None:
            self.starts[axis] = "0"
            if indexed:
                lines.append(f"    {name} = tl.arange(0, {block})")
        else:
            start = self.names.fresh(f"{axis}_start")
            self.starts[axis] = start
            if axis in self.collected:
                self.collected[axis] = self.names.fresh(f"{axis}_tile")
                lines.append(f"    {self.collected[axis]} = {coordinate}")
                coordinate = self.collected[axis]
            product = coordinate if " " not in coordinate else f"({coordinate})"
            lines.append(f"    {start} = {product} * {block}")
            if indexed:
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

    def _line(self, text: str) -> None:
        self.body.append("    " * self.depth + text)

    def _call(self, prefix: str, function: str, arguments: Sequence[str], suffix: str = "") -> None:
        line = f"{prefix}{function}({', '.join(arguments)}){suffix}"
        if len(line) + 4 * self.depth <= WIDE:
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

    def _alias(self, value: SSAValue, same: Tile) -> None:
        if value in self.carried:
            self._assign(value, same, "value")
        else:
            self.values[value] = same

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

    def _only_user(self, value: SSAValue) -> Operation | None:
        """The one user of a value, if it stands in the same block."""
        uses = list(value.uses)
        if len(uses) != 1:
            return None
        user = uses[0].operation
        return user if isinstance(value.owner, Operation) and user.parent is value.owner.parent else None

    def _selected(self, value: Tile, type_: Attribute, dim: int, identity: float) -> Tile:
        """The tile with the identity beyond a ragged edge of ``dim``, unless that stands there already."""
        if dim not in value.dims or not self.sizes.is_ragged(type_, dim) or value.pads.get(dim) == identity:
            return value
        mask = self._mask(type_, value.dims, [dim])
        text = f"tl.where({mask}, {value.text}, {literal(identity, value.element)})"
        if value.element in ("f16", "bf16", "i8", "i16"):
            text += f".to({TRITON_TYPES[value.element]})"
        return Tile(text, value.dims, value.element)

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


def stores_at(function: kernel.FuncOp) -> list[kernel.StoreOp]:
    """The stores of a kernel in which an axis of the grid indexes the leading dimension."""
    return [op for op in function.body.walk() if isinstance(op, kernel.StoreOp) and op.axis_name is not None]


def joint(tiles: Sequence[Tile]) -> tuple[int, ...]:
    return tuple(sorted({d for t in tiles for d in t.dims}))


def unreplicated(value: SSAValue) -> SSAValue:
    """The value under ``tile.replicate``."""
    while isinstance(value.owner, tile.ReplicateOp):
        value = value.owner.operand
    return value


def readers(value: SSAValue) -> list[Operation]:
    """The ops that read a value, those behind ``tile.replicate`` included; an op that reads it twice stands twice."""
    result: list[Operation] = []
    for use in value.uses:
        op = use.operation
        result.extend(readers(op.result) if isinstance(op, tile.ReplicateOp) else [op])
    return result


def inlinable(value: SSAValue) -> bool:
    """True for a result without a name of its own that one op of the same block reads: its text may stand in that
    op's."""
    if value.name_hint is not None or not isinstance(
        value.owner, forge.UnaryOp | forge.BinaryOp | tile.ReduceOp | forge.SelectOp
    ):
        return False
    users = readers(value)
    if len(users) != 1:
        return False
    user = users[0]
    if isinstance(user, kernel.GatherOp) and user.checked:
        # The position stands in the address and in the mask.
        return False
    # A product reads its operands' texts twice where they are also masked, and a yield is no op of its own.
    return user.parent is value.owner.parent and not isinstance(
        user, kernel.YieldOp | tile.MatmulOp | tile.ReduceOp | kernel.ForOp
    )
