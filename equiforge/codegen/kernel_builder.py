"""The body of one kernel: tile values become loads, ops and loops, each in the scope where its axes are bound.

    %s = tile.reduce sum over parallel(@k0) %p      becomes      %r = kernel.for @k0 iter_args(%acc = %zero) {
                                                                   …, what %p needs
                                                                   %next = tile.accumulate sum %acc, %p over @k0
                                                                   kernel.yield %next
                                                                 }

Independent reductions over one axis in one scope share a loop. A rolling reducer's body is written out in the loop,
its ``final`` region after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, cast

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import SymbolTable

from equiforge.codegen import indices
from equiforge.codegen.bounds import EVERYTHING, MaskReader, Range, union
from equiforge.codegen.errors import CodegenError
from equiforge.codegen.identity import unchanged_by_minus_infinity
from equiforge.codegen.scopes import Scope, dependent_type
from equiforge.codegen.sources import Fill, Index, Memory, Sources, needed_axes
from equiforge.dialects import forge, kernel, tile
from equiforge.dialects.tile_types import element_type_of, shape_of

IDENTITIES: dict[str, float] = {"sum": 0.0, "prod": 1.0, "max": -inf, "min": inf, "any": 0, "all": 1}


class KernelBuilder:
    """Builds one ``kernel.func`` whose grid is ``grid`` and which stores ``roots``."""

    def __init__(self, sources: Sources, grid: Sequence[str], outer: Mapping[str, str] | None = None):
        """``outer`` maps an inner axis of the program to the axis that it is within."""
        self.sources = sources
        self.grid = tuple(grid)
        self.outer = outer or {}
        self.root = Scope(frozenset(grid), None)
        self.arguments: dict[SSAValue, SSAValue] = {}
        self._views: dict[tuple[SSAValue, Attribute], SSAValue] = {}

    def build(self, name: str, roots: Sequence[tuple[tile.StoreOp, SSAValue, str | None]]) -> kernel.FuncOp:
        """The function that stores ``roots``: each a store, the value under its combines, and the axis that is
        collected, if any. ``self.arguments`` then maps memory roots, inputs first, to its arguments in order."""
        values = self.materialize([base for _, base, _ in roots], self.root)
        for (root, _, collected), value in zip(roots, values, strict=True):
            element = element_type_of(root.result.type)
            if element_type_of(value.type) != element:
                value = self.root.emit(forge.CastOp(value, element), value.name_hint)
            target = self.memory(Memory(root.result, self.sources.layouts[root.result]))
            self.root.block.add_op(kernel.StoreOp(value, target, collected))
        return kernel.FuncOp(name, self.grid, Region(self.root.block))

    # Values

    def materialize(self, targets: Sequence[SSAValue], scope: Scope) -> list[SSAValue]:
        """Computes values in a scope, its loops first."""
        pending = _Reductions(self, scope).collect(targets)
        while pending:
            group = _next_group(pending)
            self._loop(group, scope)
            for done in group:
                del pending[done]
        return [self.value(target, scope) for target in targets]

    def value(self, value: SSAValue, scope: Scope) -> SSAValue:
        """The kernel's value for a tile value; emits what is missing, in the scope where it belongs."""
        home = scope.home(value.type)
        if value not in home.memo:
            home.memo[value] = self._compute(value, home)
        return home.memo[value]

    def _compute(self, value: SSAValue, home: Scope) -> SSAValue:
        owner = value.owner
        source = self.sources.of_view(value)
        if source is not None:
            return self._loaded(value, source, home)
        match owner:
            case tile.ReplicateOp():
                return self.value(owner.operand, home)
            case tile.PartitionOp() | tile.CombineOp() | tile.CollectOp():
                raise CodegenError(
                    f"{owner.name} of a value that is computed in the kernel and not stored ({value.type})"
                )
            case forge.GetOp():
                return self._field(owner, home)
            case forge.GatherOp():
                return self._gathered(owner, home)
            case tile.ReduceOp() if is_parallel(owner):
                raise CodegenError(
                    f"the reduction over @{parallel_axis(owner)} is needed before its loop: the program is cyclic"
                )
            case Operation():
                if isinstance(owner, forge.MatmulOp | forge.OpaqueOp | forge.RandomOp | forge.ConcatOp | forge.PadOp):
                    raise CodegenError(f"{owner.name} can't be part of a kernel")
                operands = [self.value(v, home) for v in owner.operands]
                return home.rebuilt(owner, operands)
            case _:
                raise CodegenError(f"{value.type} is no value of the kernel's function")

    def _gathered(self, op: forge.GatherOp, home: Scope) -> SSAValue:
        """A read at computed positions; gathers along several dimensions are one read."""
        chosen: list[tuple[int, SSAValue]] = []
        value: SSAValue = op.result
        while isinstance(value.owner, forge.GatherOp) and self.sources.of_view(value) is None:
            chosen.insert(0, (value.owner.dim, value.owner.index))
            value = value.owner.operand
        source = self.sources.of_view(value)
        if source is None:
            raise CodegenError(f"{op.name} of a value that is computed in the kernel and not stored ({value.type})")
        type_ = dependent_type(op.result.type)
        if isinstance(source, Fill):
            return home.emit(indices.fill(source.value, type_), op.result.name_hint)
        if isinstance(source, Index):
            raise CodegenError(f"{op.name} of an index vector ({value.type})")
        extents = shape_of(value.type)
        places: list[SSAValue] = []
        checked: list[int] = []
        for dim, index in chosen:
            place = self.value(index, home)
            if not isinstance(self.sources.of_view(index), Index):
                place = indices.wrapped(home, place, extents[dim])
                checked.append(dim)
            places.append(place)
        gather = kernel.GatherOp(self.memory(source), places, [dim for dim, _ in chosen], checked, type_)
        return home.emit(gather, op.result.name_hint or source.root.name_hint)

    def _field(self, op: forge.GetOp, home: Scope) -> SSAValue:
        whole = op.operands[0]
        index = op.index
        if isinstance(whole.owner, forge.TupleOp):
            return self.value(whole.owner.operands[index], home)
        fields = home.home(whole.type).fields.get(whole)
        if fields is None:
            raise CodegenError(f"{op.name}: no reduction yields {whole.type}")
        return fields[index]

    def _loaded(self, value: SSAValue, source: Memory | Index | Fill, home: Scope) -> SSAValue:
        type_ = home.local(value.type)
        name = value.name_hint
        match source:
            case Fill():
                return home.emit(indices.fill(source.value, type_), name)
            case Memory():
                name = name or source.root.name_hint
                return home.emit(kernel.LoadOp(self.memory(source), type_), name)
            case Index():
                if source.dim is None:
                    return home.emit(indices.fill(source.offset, type_), name)
                return indices.positions(home, source, type_, name)

    def memory(self, source: Memory) -> SSAValue:
        """The function's argument for an array, or its view of it."""
        root = source.root
        if root not in self.arguments:
            type_ = kernel.RefType.of(self.sources.root_layout(root), element_type_of(root.type))
            argument = self.root.block.insert_arg(type_, len(self.root.block.args))
            argument.name_hint = root.name_hint
            self.arguments[root] = argument
        argument = self.arguments[root]
        wanted = kernel.RefType.of(source.layout, element_type_of(root.type))
        if wanted == argument.type:
            return argument
        key = (argument, wanted)
        if key not in self._views:
            view = kernel.ViewOp(argument, wanted)
            view.result.name_hint = root.name_hint
            first = self.root.block.first_op
            if first is None:
                self.root.block.add_op(view)
            else:
                self.root.block.insert_op_before(view, first)
            self._views[key] = view.result
        return self._views[key]

    # Loops

    def _loop(self, reductions: Sequence[tile.ReduceOp], scope: Scope) -> None:
        axis, slices = loop_of(reductions[0])
        # A reducer's text does not name the axis in whose slices it runs, so nothing in its loop does.
        sliced = slices if any(op.is_rolling for op in reductions) else None
        body = Scope(frozenset([axis]), scope, sliced=sliced)
        states: list[tuple[tile.ReduceOp, list[Attribute], list[float]]] = []
        for op in reductions:
            if op.is_rolling:
                reducer = self._reducer(op)
                states.append((op, [dependent_type(t) for t in reducer.state_types], list(reducer.identity)))
            else:
                states.append((op, [body.local(op.result.type)], [IDENTITIES[op.reducer]]))
        inits: list[SSAValue] = []
        names: list[str | None] = []
        for op, types, identities in states:
            for number, (type_, identity) in enumerate(zip(types, identities, strict=True)):
                name = op.results[0].name_hint if len(types) == 1 else self._state_name(op, number)
                names.append(name)
                start = indices.fill(identity, type_)
                scope.block.add_op(start)
                start.result.name_hint = name
                inits.append(start.result)
        for start in inits:
            body.block.insert_arg(start.type, len(body.block.args))
        for argument, name in zip(body.block.args, names, strict=True):
            argument.name_hint = name
        inputs = [v for op in reductions for v in op.operands]
        self.materialize(inputs, body)
        nexts: list[SSAValue] = []
        position = 0
        for op, types, _ in states:
            carried = list(body.block.args[position : position + len(types)])
            position += len(types)
            given = [self.value(v, body) for v in op.operands]
            if not op.is_rolling:
                step = tile.AccumulateOp(op.reducer, carried[0], given[0], axis)
                body.block.add_op(step)
                step.results[0].name_hint = names[len(nexts)]
                nexts.append(step.results[0])
            else:
                nexts.extend(self._inlined(self._reducer(op).body.block, [*carried, *given], body))
        body.block.add_op(kernel.YieldOp(nexts))
        ranges = self._ranges(reductions, axis)
        loop = kernel.ForOp(axis, inits, Region(body.block), ranges, slices)
        scope.block.add_op(loop)
        position = 0
        for op, types, _ in states:
            results = list(loop.res[position : position + len(types)])
            for offset, result in enumerate(results):
                result.name_hint = names[position + offset]
            position += len(types)
            if not op.is_rolling:
                scope.memo[op.result] = results[0]
                continue
            reducer = self._reducer(op)
            if reducer.has_final and slices is None:
                results = self._inlined(reducer.final.block, results, scope)
            scope.fields[op.results[0]] = results

    def _state_name(self, op: tile.ReduceOp, number: int) -> str | None:
        """The name in the reducer's body, or what the state is: a running maximum, a weighted sum of rows, a sum."""
        reducer = self._reducer(op)
        hint = reducer.body.block.args[number].name_hint
        if hint is not None and not hint.startswith("state"):
            return hint
        if reducer.identity[number] in (inf, -inf):
            return "running_max" if reducer.identity[number] < 0 else "running_min"
        last = cast(tile.YieldOp, reducer.body.block.last_op).operands[number].owner
        weighted = isinstance(last, tile.AccumulateOp) and isinstance(last.operand.owner, tile.MatmulOp)
        return "weighted_sum" if weighted else "running_sum"

    def _reducer(self, op: tile.ReduceOp) -> tile.ReducerOp:
        found = SymbolTable.lookup_symbol(op, op.reducer)
        if not isinstance(found, tile.ReducerOp):
            raise CodegenError(f"no tile.reducer @{op.reducer} is declared")
        return found

    def _inlined(self, block: Block, arguments: Sequence[SSAValue], scope: Scope) -> list[SSAValue]:
        """The ops of a reducer's region in ``scope``; the values that it yields."""
        known: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
        for op in block.ops:
            if isinstance(op, tile.YieldOp):
                return [known[v] if v in known else self._constant(v, scope) for v in op.operands]
            result = op.results[0]
            if isinstance(op, tile.ReplicateOp) and op.operand in known:
                known[result] = known[op.operand]
            elif self.sources.of_view(result) is not None:
                known[result] = self._constant(result, scope)
            elif isinstance(op, tile.ReduceOp) and is_parallel(op):
                raise CodegenError("a reducer's body reduces over a parallel axis")
            else:
                known[result] = scope.rebuilt(op, [known[v] for v in op.operands])
        raise CodegenError("a reducer's region ends without tile.yield")

    def _constant(self, value: SSAValue, scope: Scope) -> SSAValue:
        source = self.sources.of_view(value)
        if not isinstance(source, Fill):
            raise CodegenError("a reducer's region uses a value that is neither its argument nor a constant")
        return self._loaded(value, source, scope)

    def _ranges(self, reductions: Sequence[tile.ReduceOp], axis: str) -> list[Any] | None:
        """The elements that the loop must visit; None for all of them."""
        reader = MaskReader(axis, self.sources, self.outer)
        needed: list[Sequence[Range]] = []
        for op in reductions:
            first = op.operands[0]
            if op.is_rolling:
                skips = unchanged_by_minus_infinity(self._reducer(op), len(op.operands))
                needed.append(reader.live(first) if skips else EVERYTHING)
            elif op.reducer == "max" and isinstance(first.owner, tile.ReduceOp) and not is_parallel(first.owner):
                needed.append(reader.live(first.owner.operands[0]))
            else:
                needed.append(EVERYTHING)
        ranges = union(needed)
        # An empty union would be a loop that never runs; such a program is better run as written.
        if not ranges or any(r.is_everything for r in ranges):
            return None
        return [r.attribute() for r in ranges]


def is_parallel(op: tile.ReduceOp) -> bool:
    """True for a reduction over a parallel axis, False for one over a dimension."""
    return op.axis_name is not None


def parallel_axis(op: tile.ReduceOp) -> str:
    assert op.axis_name is not None
    return op.axis_name


def loop_of(op: tile.ReduceOp) -> tuple[str, str | None]:
    """The axis that a reduction loops over, and the one in whose slices it does."""
    return parallel_axis(op), op.slices


class _Reductions:
    """Finds the reductions that must loop in one scope, with the others of them that each one needs first."""

    def __init__(self, builder: KernelBuilder, scope: Scope):
        self.builder = builder
        self.scope = scope
        self.found: dict[tile.ReduceOp, frozenset[tile.ReduceOp]] = {}
        self._reached: dict[tuple[SSAValue, tuple[str, ...]], frozenset[tile.ReduceOp]] = {}

    def collect(self, targets: Sequence[SSAValue]) -> dict[tile.ReduceOp, frozenset[tile.ReduceOp]]:
        for target in targets:
            self._reach(target, ())
        return self.found

    def _reach(self, value: SSAValue, inside: tuple[str, ...]) -> frozenset[tile.ReduceOp]:
        """The reductions of this scope that ``value`` needs, seen from loops over ``inside`` within it."""
        needed = needed_axes(value.type)
        depth = max((i + 1 for i, axis in enumerate(inside) if axis in needed), default=0)
        inside = inside[:depth]
        key = (value, inside)
        if key in self._reached:
            return self._reached[key]
        if self.builder.sources.of_view(value) is not None or not isinstance(value.owner, Operation):
            return frozenset()
        op = value.owner
        result: frozenset[tile.ReduceOp] = frozenset()
        if isinstance(op, tile.ReduceOp) and is_parallel(op):
            here = depth == 0 and self.scope.home(value.type) is self.scope
            if depth == 0 and not here:
                # It belongs to an outer scope, which made it before it came to this loop.
                return frozenset()
            for operand in op.operands:
                result |= self._reach(operand, (*inside, parallel_axis(op)))
            if here:
                self.found[op] = result
                result |= {op}
        else:
            for operand in op.operands:
                result |= self._reach(operand, inside)
        self._reached[key] = result
        return result


def _next_group(pending: dict[tile.ReduceOp, frozenset[tile.ReduceOp]]) -> list[tile.ReduceOp]:
    """Reductions of one loop that can go together now; a loop for which none must wait is taken first."""
    ready = [op for op, needs in pending.items() if not any(n in pending for n in needs)]
    waiting = {loop_of(op) for op in pending if op not in ready}
    loops = list(dict.fromkeys(loop_of(op) for op in ready))
    if not loops:
        raise CodegenError("reductions need each other: the program is cyclic")
    best = next((loop for loop in loops if loop not in waiting), loops[0])
    return [op for op in ready if loop_of(op) == best]
