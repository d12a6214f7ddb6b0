"""Default schedules: a legal tile size for every axis of a kernel, and warps and stages to go with it.

An axis is what its dimensions are to the kernel's products and reductions: a side of a product gets a tile that
tensor cores like, an axis that only indexes independent problems gets 1, and an elementwise kernel gets as many
contiguous elements as keep its threads busy. Tiles shrink until the estimates of shared memory and registers fit the
target. Tuning starts from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from equiforge.codegen.errors import CodegenError
from equiforge.codegen.grid import DOT_SIDE, Sizes, axes_used, extents_of, outer_axes, power_of_two
from equiforge.codegen.kernel_builder import is_parallel
from equiforge.codegen.targets import Target, target_of
from equiforge.dialects import kernel, tile
from equiforge.dialects.tile_axes import collected_tile
from equiforge.dialects.tile_types import element_type_of, shape_of

#: Registers a block may keep in values that live through a loop, in bytes: half of a multiprocessor's.
_REGISTER_BYTES = 128 * 1024
#: An axis of at most so many elements may be one tile, so that nothing is computed twice.
_SHORT = 256
#: Programs that keep the multiprocessors of a large device busy.
_ENOUGH_PROGRAMS = 256
#: Accumulators that tiles are enlarged for: 128 x 128 in float32 and some rows.
_LARGE_ACCUMULATORS = 72 * 1024
#: Triton refuses tiles of more elements.
_MOST_ELEMENTS = 1 << 20
#: The largest tile that is ever made whole in registers, in elements.
_LARGE_TILE = 1 << 16


@dataclass
class _Roles:
    """What the axes of a kernel are used for; ``contiguous`` has the size of the largest array in which an axis cuts
    the dimension whose elements are neighbours."""

    rows: set[str] = field(default_factory=lambda: set())
    columns: set[str] = field(default_factory=lambda: set())
    inner: set[str] = field(default_factory=lambda: set())
    reduced: set[str] = field(default_factory=lambda: set())
    contiguous: dict[str, int] = field(default_factory=lambda: {})
    products: int = 0

    def is_side(self, axis: str) -> bool:
        return axis in self.rows or axis in self.columns or axis in self.inner


def default_schedule(
    function: kernel.FuncOp,
    target: str | int | Target,
    extents: Mapping[str, int] | None = None,
    override: Mapping[str, object] | None = None,
) -> kernel.ScheduleAttr:
    """A legal schedule for a kernel on a target.

    ``extents`` gives the elements of each axis (default: from the kernel's module). ``override`` may fix ``tiles`` (a
    mapping from axis to size), ``warps``, ``stages`` and ``matmul``; what it fixes is not changed. The tile of a
    collected axis is what the stored array's shape says. Raises CodegenError where no tile sizes fit.
    """
    device = target_of(target)
    if extents is None:
        extents = extents_of(_module_of(function))
    override = override or {}
    fixed = {**cast(Mapping[str, int], override.get("tiles", {}))}
    for axis, size in _collected(function, extents).items():
        if fixed.setdefault(axis, size) != size:
            raise CodegenError(
                f"@{function.sym_name.data} collects axis {axis} into an array whose shape takes tiles of {size}, "
                f"not {fixed[axis]}"
            )
    matmul = str(override.get("matmul", "dot"))
    roles = _roles(function)
    axes = sorted(axes_used(function))
    tiles = {axis: min(_wanted(axis, roles, device, extents[axis]), _cover(axis, roles, extents)) for axis in axes}
    tiles |= {axis: size for axis, size in fixed.items() if axis in tiles}
    nested = outer_axes(function)
    _nest(function, tiles, fixed, nested)
    few_rows = roles.products > 0 and all(tiles[a] <= DOT_SIDE for a in roles.rows if a in tiles)
    if roles.products and device.capability:
        _cover_repeated(function, tiles, roles, extents, fixed)
        if few_rows:
            _narrow_columns(function, tiles, roles, extents, fixed)
        else:
            _enlarge_sides(function, tiles, roles, extents, fixed)
    if roles.products == 0:
        _widen_elementwise(function, tiles, roles, extents, fixed, device)
    _nest(function, tiles, fixed, nested)
    # With few rows a product waits for memory: more loads in flight.
    stages = int(cast(int, override.get("stages", (4 if few_rows else 3) if roles.products else 2)))
    while True:
        warps = int(cast(int, override.get("warps", _warps(function, extents, tiles, matmul))))
        attribute = kernel.ScheduleAttr.of(tiles, warps, stages, matmul)
        sizes = Sizes(function, extents, attribute)
        reason = _misfit(function, sizes, device)
        if reason is None:
            return attribute
        if stages > 2 and "stages" not in override and "shared" in reason:
            stages -= 1
            continue
        shrinkable = [a for a in axes if a not in fixed and tiles[a] > (DOT_SIDE if roles.is_side(a) else 1)]
        held = {outer for inner, outer in nested.items() if tiles[inner] == tiles.get(outer)}
        shrinkable = [a for a in shrinkable if a not in held]
        if not shrinkable:
            raise CodegenError(f"@{function.sym_name.data} has no legal schedule for {device.name}: {reason}")
        largest = max(shrinkable, key=lambda a: (tiles[a], a in roles.inner, a))
        tiles[largest] //= 2


def _nest(function: kernel.FuncOp, tiles: dict[str, int], fixed: Mapping[str, int], nested: Mapping[str, str]) -> None:
    """The tile of an inner axis divides that of its outer axis: powers of two, so that it is no larger."""
    for inner, outer in nested.items():
        if outer not in tiles:
            continue
        if outer not in fixed:
            tiles[outer] = max(tiles[outer], tiles[inner])
        elif inner not in fixed:
            tiles[inner] = min(tiles[inner], tiles[outer])
        elif tiles[inner] > tiles[outer]:
            raise CodegenError(
                f"@{function.sym_name.data} loops over tiles of {tiles[inner]} of axis {inner} in tiles of "
                f"{tiles[outer]} of axis {outer}: they do not fit"
            )


def apply_schedules(
    module: ModuleOp, target: str | int | Target, overrides: Mapping[str, Mapping[str, object]] | None = None
) -> None:
    """Gives every kernel of a module its schedule; ``overrides`` maps a kernel's name, or ``*`` for all, to what is
    fixed in it."""
    extents = extents_of(module)
    overrides = overrides or {}
    for function in kernel.functions_of(module):
        given = overrides.get(function.sym_name.data, overrides.get("*"))
        function.properties["schedule"] = default_schedule(function, target, extents, given)


def _collected(function: kernel.FuncOp, extents: Mapping[str, int]) -> dict[str, int]:
    """Tile sizes that the shapes of stored arrays decide: axes that index the leading dimension of one."""
    sizes: dict[str, int] = {}
    for op in function.body.walk():
        if not isinstance(op, kernel.StoreOp) or op.axis_name is None:
            continue
        axis = op.axis_name
        size = collected_tile(extents[axis], op.slices)
        if -(-extents[axis] // size) != op.slices or sizes.setdefault(axis, size) != size:
            raise CodegenError(
                f"@{function.sym_name.data}: no tile size cuts the {extents[axis]} elements of axis {axis} into the "
                f"{op.slices} slices that are stored"
            )
    return sizes


def shared_memory(function: kernel.FuncOp, sizes: Sizes, capability: int = 80) -> int:
    """Estimated shared memory in bytes: dot operands that are loaded in a loop, once a stage, and those that are
    computed, once."""
    most = 0
    # Hopper's asynchronous products keep one stage more in flight.
    buffers = max(sizes.schedule.stages - (0 if capability in (90, 100, 103) else 1), 1)
    for loop in [op for op in function.body.walk() if isinstance(op, kernel.ForOp)]:
        total = 0
        for op in loop.body.block.ops:
            if isinstance(op, tile.MatmulOp):
                for operand in map(_unreplicated, op.operands):
                    owner = operand.owner
                    size = sizes.elements(operand.type) * _bytes(operand)
                    inside = isinstance(owner, kernel.LoadOp | kernel.GatherOp) and owner.parent is loop.body.block
                    total += size * buffers if inside else size
        most = max(most, total)
    for op in function.body.block.ops:
        if isinstance(op, tile.MatmulOp):
            most = max(most, sum(sizes.elements(o.type) * _bytes(o) for o in op.operands))
    return most


def _unreplicated(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, tile.ReplicateOp):
        value = value.owner.operand
    return value


def register_bytes(function: kernel.FuncOp, sizes: Sizes) -> int:
    """Bytes of the values that live through the loop with most of them, in registers of the whole block."""
    loops = [op for op in function.body.walk() if isinstance(op, kernel.ForOp)]
    return max((sum(sizes.elements(v.type) * 4 for v in loop.inits) for loop in loops), default=0)


def _misfit(function: kernel.FuncOp, sizes: Sizes, device: Target) -> str | None:
    largest = 0
    for op in function.body.walk():
        for result in op.results:
            if kernel.is_tile(result.type):
                largest = max(largest, sizes.elements(result.type))
        if isinstance(op, tile.MatmulOp):
            largest = max(largest, _product_elements(op, sizes))
    if largest > (_LARGE_TILE if device.capability else _MOST_ELEMENTS):
        return f"a tile of {largest} elements"
    shared = shared_memory(function, sizes, device.capability)
    if shared > device.shared:
        return f"{shared} bytes of shared memory, of {device.shared}"
    registers = register_bytes(function, sizes)
    if device.capability and registers > _REGISTER_BYTES:
        return f"{registers} bytes of loop-carried values in registers, of {_REGISTER_BYTES}"
    return None


def _product_elements(op: tile.MatmulOp, sizes: Sizes) -> int:
    """Elements of the broadcast product, where the product is not a dot."""
    a, b = op.operands[0].type, op.operands[1].type
    rank = len(shape_of(a))
    sides = (sizes.size(a, rank - 2), sizes.size(a, rank - 1), sizes.size(b, rank - 1))
    batch = prod(max(sizes.size(a, d), sizes.size(b, d)) for d in range(rank - 2))
    if min(sides) >= DOT_SIDE and batch == 1 and sizes.schedule.matmul == "dot":
        return 0
    return prod(sides) * batch


def _roles(function: kernel.FuncOp) -> _Roles:
    roles = _Roles()
    probe = _Probe(outer_axes(function))
    for op in function.body.walk():
        if isinstance(op, tile.MatmulOp):
            a, b = op.operands[0].type, op.operands[1].type
            rank = len(shape_of(a))
            roles.products += 1
            for found, type_, dim in (
                (roles.rows, a, rank - 2),
                (roles.inner, a, rank - 1),
                (roles.columns, b, rank - 1),
            ):
                axis = probe.axis_on(type_, dim)
                if axis is not None and shape_of(type_)[dim] > 1:
                    found.add(axis)
        elif isinstance(op, tile.ReduceOp) and not is_parallel(op):
            axis = probe.axis_on(op.operands[0].type, cast(int, op.dim))
            if axis is not None:
                roles.reduced.add(axis)
        elif isinstance(op, kernel.LoadOp | kernel.GatherOp | kernel.StoreOp):
            ref, value = (op.target, op.value) if isinstance(op, kernel.StoreOp) else (op.source, op.result)
            before = isinstance(op, kernel.StoreOp) and op.axis_name is not None
            layout = cast(kernel.RefType, ref.type).layout
            for dim, digits in enumerate(layout.dims, start=-before):
                axis = probe.axis_on(value.type, dim)
                if axis is not None and digits and digits[-1][1] == 1:
                    roles.contiguous[axis] = max(roles.contiguous.get(axis, 0), prod(layout.shape))
    return roles


class _Probe:
    """Axis look-up before there are sizes."""

    def __init__(self, outer: Mapping[str, str]):
        self.outer = outer

    axis_on = Sizes.axis_on


def _wanted(axis: str, roles: _Roles, device: Target, extent: int) -> int:
    if device.capability == 0:
        # A first tile, those between and a last one: what more of them would show takes the interpreter long.
        few = max(16, power_of_two(extent) // 4)
        return few if roles.is_side(axis) or axis in roles.reduced or axis in roles.contiguous else 1
    if roles.is_side(axis):
        return 64
    if axis in roles.reduced:
        return 1024
    return 1


def _cover(axis: str, roles: _Roles, extents: Mapping[str, int]) -> int:
    """The size beyond which a tile only grows in padding."""
    cover = power_of_two(extents[axis])
    return max(cover, DOT_SIDE) if roles.is_side(axis) and extents[axis] > 1 else cover


def _cover_repeated(
    function: kernel.FuncOp, tiles: dict[str, int], roles: _Roles, extents: Mapping[str, int], fixed: Mapping[str, int]
) -> None:
    """An axis along which programs would repeat a product that does not depend on it is covered by one tile where it
    is short."""
    for op in function.body.walk():
        if isinstance(op, tile.MatmulOp):
            needed = {axis for operand in op.operands for axis in kernel.needed_axes(operand.type)}
            for axis in function.grid_axes:
                cover = power_of_two(extents[axis])
                if axis not in needed and axis not in fixed and roles.is_side(axis) and cover <= _SHORT:
                    tiles[axis] = max(cover, DOT_SIDE)


def _narrow_columns(
    function: kernel.FuncOp, tiles: dict[str, int], roles: _Roles, extents: Mapping[str, int], fixed: Mapping[str, int]
) -> None:
    """Few rows: the weights are read once and time is memory's, so more programs and longer reads."""
    for axis in sorted(roles.columns):
        sizes = Sizes(function, extents, kernel.ScheduleAttr.of(tiles, 4, 1))
        programs = prod(sizes.count(a) for a in function.grid_axes)
        if axis in function.grid_axes and axis not in fixed and tiles[axis] == 64 and programs < _ENOUGH_PROGRAMS:
            tiles[axis] = 32
    for axis in sorted(roles.inner - roles.columns - roles.rows):
        if axis not in fixed and tiles[axis] == 64 and extents[axis] >= 512:
            tiles[axis] = 128


def _enlarge_sides(
    function: kernel.FuncOp, tiles: dict[str, int], roles: _Roles, extents: Mapping[str, int], fixed: Mapping[str, int]
) -> None:
    """Rows, then columns, of 128 where enough programs remain and the accumulators leave registers."""
    for axis in function.grid_axes:
        if (
            axis in fixed
            or axis in roles.inner
            or not (axis in roles.rows or axis in roles.columns)
            or tiles[axis] != 64
        ):
            continue
        tiles[axis] = 128
        sizes = Sizes(function, extents, kernel.ScheduleAttr.of(tiles, 8, 1))
        programs = prod(sizes.count(a) for a in function.grid_axes)
        if programs < _ENOUGH_PROGRAMS or register_bytes(function, sizes) > _LARGE_ACCUMULATORS:
            tiles[axis] = 64


def _widen_elementwise(
    function: kernel.FuncOp,
    tiles: dict[str, int],
    roles: _Roles,
    extents: Mapping[str, int],
    fixed: Mapping[str, int],
    device: Target,
) -> None:
    """A kernel without products: contiguous elements together, those of large arrays first, then more rows while a
    block has few elements."""
    goal = 1024 if device.capability else 512
    grid = [a for a in reversed(function.grid_axes) if a not in fixed]
    for axis in sorted(grid, key=lambda a: -roles.contiguous.get(a, 0)):
        stored = [op for op in function.body.block.ops if isinstance(op, kernel.StoreOp)]
        sizes = Sizes(function, extents, kernel.ScheduleAttr.of(tiles, 4, 1))
        loops = [
            v for op in function.body.walk() if isinstance(op, kernel.LoadOp | kernel.GatherOp) for v in op.results
        ]
        have = max((sizes.elements(v.type) for v in [*loops, *(s.value for s in stored)]), default=1)
        while have < goal and tiles[axis] < power_of_two(extents[axis]):
            tiles[axis] *= 2
            have *= 2


def _warps(function: kernel.FuncOp, extents: Mapping[str, int], tiles: dict[str, int], matmul: str) -> int:
    sizes = Sizes(function, extents, kernel.ScheduleAttr.of(tiles, 4, 1, matmul))
    largest = max(
        (sizes.elements(r.type) for op in function.body.walk() for r in op.results if kernel.is_tile(r.type)), default=1
    )
    return 16 if largest >= 65536 else 8 if largest >= 16384 else 4 if largest >= 1024 else 2 if largest >= 512 else 1


def _bytes(value: SSAValue) -> int:
    name = str(element_type_of(value.type))
    return {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i16": 2}.get(name, 1)


def _module_of(function: kernel.FuncOp) -> ModuleOp:
    parent = function.parent_op()
    if not isinstance(parent, ModuleOp):
        raise CodegenError(f"@{function.sym_name.data} stands in no module, so that its axes are unknown")
    return parent
