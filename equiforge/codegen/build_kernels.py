"""From a tile program to a kernel graph: which kernels there are, what they store, and the host side that launches
them.

Every ``tile.store`` is the root of a kernel; the axes of its combine chain are the grid, and so is the axis that it
collects, if any: each program then stores its own slice of the leading dimension. Kernels of equal grids that do not
depend on each other are one kernel with several stores, where that saves loads or a launch of little work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from equiforge.codegen.equal_kernels import KernelForms, share_kernels
from equiforge.codegen.errors import CodegenError
from equiforge.codegen.kernel_builder import KernelBuilder, is_parallel
from equiforge.codegen.layout import Layout
from equiforge.codegen.shared import with_shared_ops
from equiforge.codegen.sources import Memory, Sources, is_argument, under_layouts
from equiforge.cse.effects import collector_paused
from equiforge.dialects import forge, kernel, tile
from equiforge.dialects.tile_types import element_type_of, shape_of


@dataclass(eq=False)
class _Root:
    """A stored value: ``base`` is the tile value under its combines; ``collected`` is the axis that becomes the
    leading dimension, if any. Or a call of an original operator, whose operands are ``bases``."""

    store: tile.StoreOp | forge.OpaqueOp
    bases: tuple[SSAValue, ...]
    grid: tuple[str, ...]
    order: int
    collected: str | None = None
    needs: set[_Root] = field(default_factory=lambda: set())
    reads: set[tuple[SSAValue, str]] = field(default_factory=lambda: set())
    loops: bool = False

    @property
    def is_call(self) -> bool:
        return isinstance(self.store, forge.OpaqueOp)

    @property
    def base(self) -> SSAValue:
        return self.bases[0]

    @property
    def stored(self) -> tile.StoreOp:
        assert isinstance(self.store, tile.StoreOp)
        return self.store


@collector_paused()
def build_kernels(module: ModuleOp, input_strides: Mapping[int, Sequence[int]] | None = None) -> ModuleOp:
    """The kernel graph of a tile program, in a new module; ``input_strides`` are the strides of arguments that are
    not row-major.

    Raises CodegenError with the reason where the program can't be written as kernels.
    """
    module = with_shared_ops(module)
    function = _main(module)
    arguments = list(function.body.block.args)
    for number, argument in enumerate(arguments):
        argument.name_hint = argument_name(function, number)
    returned = _returned(function)
    for value in (*arguments, *(r for op in function.body.block.ops for r in op.results)):
        if 0 in (getattr(value.type, "get_shape", tuple)()):
            raise CodegenError(f"{value.type} has no elements: there is nothing to launch for it")
    layouts: dict[SSAValue, Layout] = {}
    for number, strides in (input_strides or {}).items():
        layouts[arguments[number]] = Layout.strided(shape_of(arguments[number].type), strides)
    stores = [op for op in function.body.block.ops if isinstance(op, tile.StoreOp)]
    for store in stores:
        layouts[store.result] = _stored_layout(store, returned)
    sources = Sources(layouts)
    _name_stored(stores, returned)
    written = [op for op in function.body.block.ops if isinstance(op, tile.StoreOp | forge.OpaqueOp)]
    roots = [_root(op, number) for number, op in enumerate(written)]
    by_value: dict[SSAValue, _Root] = {result: root for root in roots for result in root.store.results}
    before: _Root | None = None
    for root in roots:
        _trace(root, sources, by_value)
        if root.is_call:
            # Calls may have effects: they keep their order.
            root.needs |= set() if before is None else {before} | before.needs
            before = root

    body = Block()
    buffers: dict[SSAValue, SSAValue] = {}
    for number, argument in enumerate(arguments):
        ref = kernel.RefType.of(sources.root_layout(argument), element_type_of(argument.type))
        buffers[argument] = _buffer(body, "input", argument.name_hint or f"arg{number}", ref)
    functions: list[kernel.FuncOp] = []
    names: set[str] = set()
    forms = KernelForms(sources)
    # The name of the kernel of each form and grid, and the places of its arguments among its values.
    known: dict[Any, tuple[str, list[int]]] = {}
    outputs = {m.root for v in returned if isinstance(m := sources.of(v), Memory)}
    axes = [op for op in module.ops if isinstance(op, tile.AxisOp)]
    outer = {op.axis_name: op.outer for op in axes if op.outer is not None}
    for group in _groups(roots):
        if isinstance(call := group[0].store, forge.OpaqueOp):
            _call(call, sources, buffers, body)
            continue
        grid = _grid(group[0])
        for axis in grid:
            if outer.get(axis) in grid:
                raise CodegenError(f"a grid over @{outer[axis]} and @{axis} within it: one axis does")
        stored = [(r.stored, r.base, r.collected) for r in group]
        form, values = forms.of(stored)
        if (grid, form) not in known:
            builder = KernelBuilder(sources, grid, outer)
            name = _unique(names, _kernel_name(group))
            functions.append(builder.build(name, stored))
            known[grid, form] = name, [values.index(value) for value in builder.arguments]
        name, places = known[grid, form]
        taken = [values[place] for place in places]
        for value in taken:
            if value in buffers:
                continue
            if isinstance(value.owner, forge.ConstantOp):
                buffers[value] = _table(body, value, value.owner)
                continue
            ref = kernel.RefType.of(sources.root_layout(value), element_type_of(value.type))
            kind = "output" if value in outputs else "temporary"
            buffers[value] = _buffer(body, kind, value.name_hint or f"stored{len(buffers)}", ref)
        body.add_op(kernel.LaunchOp(name, [buffers[v] for v in taken]))
    body.add_op(kernel.ReturnOp([_result(v, sources, buffers, body) for v in returned]))

    graph = kernel.GraphOp(function.sym_name.data, Region(body))
    built = ModuleOp([*(op.clone() for op in axes), graph, *functions], dict(module.attributes))
    share_kernels(built)
    return built


def argument_name(function: func.FuncOp, number: int) -> str:
    """The name that the program gives an argument."""
    given = function.arg_attrs
    stated = given.data[number].data.get("forge.name") if given is not None else None
    name = stated.data if isinstance(stated, StringAttr) else function.body.block.args[number].name_hint
    return name or f"arg{number}"


def _main(module: ModuleOp) -> func.FuncOp:
    functions = [op for op in module.ops if isinstance(op, func.FuncOp)]
    if len(functions) != 1:
        raise CodegenError(f"a tile program has one function, this module has {len(functions)}")
    return functions[0]


def _returned(function: func.FuncOp) -> list[SSAValue]:
    last = function.body.block.last_op
    if not isinstance(last, func.ReturnOp):
        raise CodegenError("the function does not end with func.return")
    return list(last.operands)


def _name_stored(stores: Sequence[tile.StoreOp], returned: Sequence[SSAValue]) -> None:
    """Results without a name of their own are ``out``, other stored values ``stored``."""
    results = {under_layouts(v): number for number, v in enumerate(returned)}
    for number, store in enumerate(stores):
        if store.result.name_hint is None:
            place = results.get(store.result)
            if place is None:
                store.result.name_hint = f"stored{number}"
            else:
                store.result.name_hint = "out" if len(returned) == 1 else f"out{place}"


def _root(store: tile.StoreOp | forge.OpaqueOp, order: int) -> _Root:
    if isinstance(store, forge.OpaqueOp):
        return _Root(store, tuple(store.operands), (), order)
    value = store.operand
    grid: list[str] = []
    while isinstance(value.owner, tile.CombineOp):
        grid.append(value.owner.axis_name)
        value = value.owner.operand
    if not isinstance(value.owner, tile.CollectOp):
        return _Root(store, (value,), tuple(sorted(grid)), order)
    collect = value.owner
    value = collect.operand
    if isinstance(value.owner, tile.CollectOp | tile.CombineOp):
        raise CodegenError(f"tile.collect of a result of {value.owner.name}: a stored value collects one axis, first")
    return _Root(store, (value,), tuple(sorted([*grid, collect.axis_name])), order, collect.axis_name)


def _trace(root: _Root, sources: Sources, by_value: dict[SSAValue, _Root]) -> None:
    """What the kernel of a root reads."""
    seen: set[SSAValue] = set()
    stack = list(root.bases)
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        source = sources.of_view(value)
        if isinstance(source, Memory):
            root.reads.add((source.root, str(value.type)))
            if source.root in by_value:
                producer = by_value[source.root]
                root.needs |= {producer} | producer.needs
        elif source is None and isinstance(value.owner, Operation):
            root.loops |= isinstance(value.owner, tile.ReduceOp) and is_parallel(value.owner)
            stack.extend(value.owner.operands)


def _groups(roots: Sequence[_Root]) -> list[list[_Root]]:
    """Kernels in the order of their launches. A root joins the kernel that shares its grid and reads, if nothing
    between them waits."""
    groups: list[list[_Root]] = []
    for root in sorted(roots, key=lambda r: (len(r.needs), r.order)):
        for group in groups:
            joined = group[0]
            if joined.is_call or root.is_call:
                continue
            if joined.grid != root.grid or not _worth_joining(group, root) or not _same_slices(joined, root):
                continue
            # Nothing that the group feeds may be needed by the new member, nor the other way round.
            if any(member in root.needs or root in member.needs for member in group):
                continue
            if any(
                need_group is not group and groups.index(need_group) > groups.index(group)
                for need_group in _feeding(groups, root)
            ):
                continue
            group.append(root)
            break
        else:
            groups.append([root])
    return groups


def _same_slices(a: _Root, b: _Root) -> bool:
    """Collected axes have one tile size in a kernel, so stores agree in what they collect."""
    if a.collected is None or b.collected is None:
        return a.collected == b.collected
    return a.collected == b.collected and shape_of(a.stored.result.type)[0] == shape_of(b.stored.result.type)[0]


def _feeding(groups: list[list[_Root]], root: _Root) -> list[list[_Root]]:
    return [group for group in groups if any(member in root.needs for member in group)]


def _worth_joining(group: Sequence[_Root], root: _Root) -> bool:
    shared = any(member.reads & root.reads for member in group)
    return shared or not (root.loops or any(member.loops for member in group))


def _grid(root: _Root) -> tuple[str, ...]:
    """Grid axes, the one that varies fastest first: rows and columns before batches."""
    dims: dict[str, int] = {}
    value = root.stored.operand
    while isinstance(value.owner, tile.CombineOp):
        dims[value.owner.axis_name] = value.owner.dim
        value = value.owner.operand
    rank = len(shape_of(root.stored.result.type))
    if root.collected is not None:
        dims[root.collected] = 0
    # Rows (the last dimension but one) first: neighbouring blocks then read the same columns of a weight.
    return tuple(sorted(dims, key=lambda a: (dims[a] != rank - 2, -dims[a])))


def _kernel_name(group: Sequence[_Root]) -> str:
    name = "_".join(filter(None, (root.stored.result.name_hint for root in group))) or "kernel"
    return re.sub(r"\W", "_", name)[:48] + "_kernel"


def _unique(names: set[str], name: str) -> str:
    candidate, number = name, 1
    while candidate in names:
        number += 1
        candidate = f"{name}{number}"
    names.add(candidate)
    return candidate


def _table(body: Block, value: SSAValue, constant: forge.ConstantOp) -> SSAValue:
    """The buffer of a literal; the layout of a literal is row-major."""
    ref = kernel.RefType.of(Layout.dense(shape_of(value.type)), element_type_of(value.type))
    buffer = kernel.BufferOp("constant", value.name_hint or "table", ref, constant.value)
    body.add_op(buffer)
    return buffer.result


def _buffer(body: Block, kind: str, label: str, ref: kernel.RefType) -> SSAValue:
    buffer = kernel.BufferOp(kind, label, ref)
    body.add_op(buffer)
    buffer.result.name_hint = label
    return buffer.result


def _stored_layout(store: tile.StoreOp, returned: Sequence[SSAValue]) -> Layout:
    """Row-major, unless a result of the program is a reshape of a transpose, which then must be the memory's order."""
    shape = shape_of(store.result.type)
    for result in returned:
        perm = _outermost_transpose(result, store.result)
        if perm is None:
            continue
        plain = Sources({store.result: Layout.dense(shape)}).of(result)
        if isinstance(plain, Memory) and plain.layout.strides is None:
            return Layout.dense(shape, perm)
    return Layout.dense(shape)


def _outermost_transpose(value: SSAValue, stored: SSAValue) -> tuple[int, ...] | None:
    perm = None
    while value is not stored:
        if not isinstance(value.owner, forge.TransposeOp | forge.ReshapeOp | forge.ExpandOp | forge.SliceOp):
            return None
        if isinstance(value.owner, forge.TransposeOp):
            perm = value.owner.perm
        elif isinstance(value.owner, forge.ReshapeOp) and perm is not None:
            return None
        value = value.owner.operand
    return perm


def _call(call: forge.OpaqueOp, sources: Sources, buffers: dict[SSAValue, SSAValue], body: Block) -> None:
    operands = [_result(v, sources, buffers, body) for v in call.operands]
    types = [kernel.RefType.of(Layout.dense(shape_of(r.type)), element_type_of(r.type)) for r in call.results]
    op = kernel.HostCallOp(call.target, operands, types, call.arguments)
    body.add_op(op)
    name = call.target.removeprefix("aten.").split(".")[0]
    for old, new in zip(call.results, op.results, strict=True):
        new.name_hint = old.name_hint or name
        buffers[old] = new


def _result(value: SSAValue, sources: Sources, buffers: dict[SSAValue, SSAValue], body: Block) -> SSAValue:
    source = sources.of(value)
    if isinstance(owner := value.owner, forge.ConstantOp):
        if value not in buffers:
            buffers[value] = _table(body, value, owner)
        return buffers[value]
    if not isinstance(source, Memory) or (source.root not in buffers and not is_argument(source.root)):
        raise CodegenError(f"an array that leaves the kernels ({value.type}) is neither stored nor an argument")
    buffer = buffers[source.root]
    if source.layout.strides is None:
        raise CodegenError(
            f"an array that leaves the kernels is a reshape ({value.type}) that no strides describe: it needs a copy"
        )
    wanted = kernel.RefType.of(source.layout, element_type_of(value.type))
    if wanted == buffer.type:
        return buffer
    view = kernel.ViewOp(buffer, wanted)
    body.add_op(view)
    return view.result
