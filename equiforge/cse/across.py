"""Equal subgraphs of several functions become one function that all of them call.

    func.func @a(%x, %w) {                        func.func private @shared_0(%x, %w) {
      %h = forge.matmul %x, %w                      %h = forge.matmul %x, %w
      %t = forge.tanh %h                            %t = forge.tanh %h
      %y = forge.exp %t                             func.return %t
      func.return %y                              }
    }                                       ->    func.func @a(%x, %w) {
    func.func @b(%x, %w) {                          %t = func.call @shared_0(%x, %w)
      %h = forge.matmul %x, %w                      %y = forge.exp %t
      %t = forge.tanh %h                            func.return %y
      %y = forge.sin %t                           }
      func.return %y                              func.func @b(%x, %w) { … %t = func.call @shared_0(%x, %w) … }
    }

Arguments correspond by name (``forge.name``, else the name of the value) and type, or by place where they have no
name; that decides only what is found, since each function passes its own arguments. Values are numbered over all
functions, so that a number stands for a computation, and each computation is known by the set of functions that have
it. What is computed from it is in no more functions than it is; so the ops with one set fall into connected subgraphs
that can be called as a whole, and these are as large as they can be. A trunk that twenty candidates share becomes one
function, what five of them do next becomes another.

Numbers and indices (ops without operands) are copied into the functions that use them, and connect nothing.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import rustworkx as rx
from xdsl.dialects.builtin import DictionaryAttr, FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from equiforge.cse.effects import Effects, EffectTable, collector_paused, erase
from equiforge.cse.locations import Locations
from equiforge.cse.numbering import Key, Numbering


@dataclass(frozen=True)
class Shared:
    """A function that was outlined, who calls it, and how many ops it holds, those without operands not counted."""

    name: str
    callers: tuple[str, ...]
    ops: int


@dataclass
class _Body:
    """One of the functions, and what its ops compute."""

    function: FuncOp
    ops: dict[Key, Operation] = field(default_factory=dict[Key, Operation])
    values: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """The value of each number, the only one in this function."""

    @property
    def block(self) -> Block:
        return self.function.body.block

    @property
    def name(self) -> str:
        return self.function.sym_name.data


@dataclass
class _Subgraph:
    """A connected subgraph that several functions have, by the keys of its ops."""

    callers: tuple[_Body, ...]
    keys: list[Key]
    """In the order of the first caller."""
    inputs: list[int] = field(default_factory=list[int])
    """Numbers of the values that come from outside."""
    outputs: list[tuple[Key, int]] = field(default_factory=list[tuple[Key, int]])
    """Results that some caller uses outside."""
    symbol: str = ""


def outline_equal(module: ModuleOp, least: int = 2) -> list[Shared]:
    """Outline equal subgraphs of at least ``least`` ops, in place. Equal ops in one function should be merged before.

    Only functions of one block take part. The names are ``shared_0``, ``shared_1``, … in the order of the module.
    """
    with collector_paused():
        return _Outliner(module, least).run()


class _Outliner:
    def __init__(self, module: ModuleOp, least: int):
        self.module = module
        self.least = least
        self.numbering = Numbering()
        self.effects = EffectTable()
        functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
        self.symbols = {function.sym_name.data for function in functions}
        self.bodies = [
            _Body(f) for f in functions if len(f.body.blocks) == 1 and isinstance(f.body.block.last_op, ReturnOp)
        ]
        self.owners: dict[Key, list[int]] = {}
        """The functions that have an op with the key."""

    def run(self) -> list[Shared]:
        for place in range(len(self.bodies)):
            self._number(place)
        subgraphs = self._subgraphs()
        for subgraph in subgraphs:
            self._outline(subgraph)
        for body in self.bodies:
            called = [subgraph for subgraph in subgraphs if body in subgraph.callers]
            if called:
                _Rewriter(body, self.effects).call(called)
        return [Shared(s.symbol, tuple(body.name for body in s.callers), len(s.keys)) for s in subgraphs]

    # Which ops are equal

    def _number(self, place: int) -> None:
        body, numbering = self.bodies[place], self.numbering
        seen: Counter[tuple[str, str]] = Counter()
        for number, argument in enumerate(body.block.args):
            name = _argument_name(body.function, number), str(argument.type)
            # Two arguments of one name are two arguments.
            numbering.label(argument, (*name, seen[name]))
            seen[name] += 1
            body.values[numbering.of(argument)] = argument
        for op in body.block.ops:
            if self._can_move(op):
                key = numbering.key(op)
                if key not in body.ops:
                    body.ops[key] = op
                    owners = self.owners.setdefault(key, [])
                    if owners:
                        numbering.equate(op, self.bodies[owners[0]].ops[key])
                    owners.append(place)
            for result in op.results:
                body.values[numbering.of(result)] = result

    def _can_move(self, op: Operation) -> bool:
        return self.effects.of(op) is Effects.NONE and not op.regions and not self.effects.anchored(op)

    # Which of them are one subgraph

    def _subgraphs(self) -> list[_Subgraph]:
        keys = [key for key, owners in self.owners.items() if len(owners) > 1 and self._first(key).operands]
        place = {key: number for number, key in enumerate(keys)}
        by_op = {self._first(key): key for key in keys}
        graph: rx.PyGraph[None, None] = rx.PyGraph(multigraph=False)
        graph.add_nodes_from([None] * len(keys))
        for key in keys:
            for operand in self._first(key).operands:
                above = by_op.get(operand.owner) if isinstance(operand.owner, Operation) else None
                if above is not None and self.owners[above] == self.owners[key]:
                    graph.add_edge(place[above], place[key], None)
        # Keys stand in the order of the functions, and of the ops in them.
        components = sorted(sorted(component) for component in rx.connected_components(graph))
        return [
            _Subgraph(
                tuple(self.bodies[owner] for owner in self.owners[keys[component[0]]]), [keys[n] for n in component]
            )
            for component in components
            if len(component) >= self.least
        ]

    def _subgraph(self, keys: list[Key]) -> _Subgraph:
        return _Subgraph(tuple(self.bodies[owner] for owner in self.owners[keys[0]]), keys)

    def _first(self, key: Key) -> Operation:
        """The op with the key in the first function that has one."""
        return self.bodies[self.owners[key][0]].ops[key]

    # The function

    def _outline(self, subgraph: _Subgraph) -> None:
        ops = [self._first(key) for key in subgraph.keys]
        inside = set(ops)
        inputs: dict[SSAValue, None] = {}
        sources: dict[Operation, None] = {}
        for op in ops:
            for operand in op.operands:
                if not isinstance(operand.owner, Operation):
                    inputs[operand] = None
                elif _is_source(operand.owner) and self._can_move(operand.owner):
                    sources[operand.owner] = None
                elif operand.owner not in inside:
                    inputs[operand] = None
        subgraph.inputs = [self.numbering.of(value) for value in inputs]
        used = [_used_outside(body, subgraph.keys) for body in subgraph.callers]
        subgraph.outputs = [
            (key, index)
            for key, op in zip(subgraph.keys, ops, strict=True)
            for index in range(len(op.results))
            if any((key, index) in found for found in used)
        ]
        self._add_function(subgraph, list(inputs), [*sources, *ops])

    def _add_function(self, subgraph: _Subgraph, inputs: Sequence[SSAValue], ops: Sequence[Operation]) -> None:
        results = [self._first(key).results[index] for key, index in subgraph.outputs]
        subgraph.symbol = free_symbol(self.symbols, "shared")
        function, clones = outlined(subgraph.symbol, inputs, ops, results)
        locations = Locations()
        for key in subgraph.keys:
            for body in subgraph.callers[1:]:
                locations.merge(clones[self._first(key)], body.ops[key], ())
        locations.write()
        self.module.body.block.insert_op_before(function, self.bodies[0].function)


def free_symbol(symbols: set[str], stem: str) -> str:
    """``stem_0`` or the first number after it that no symbol has; it is taken from now on."""
    number = 0
    while f"{stem}_{number}" in symbols:
        number += 1
    symbols.add(f"{stem}_{number}")
    return f"{stem}_{number}"


def outlined(
    name: str, inputs: Sequence[SSAValue], ops: Sequence[Operation], results: Sequence[SSAValue]
) -> tuple[FuncOp, dict[Operation, Operation]]:
    """A private function that computes ``results`` from ``inputs`` by copies of ``ops``, and the copies."""
    block = Block(arg_types=[value.type for value in inputs])
    mapped: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for value, argument in zip(inputs, block.args, strict=True):
        argument.name_hint = value.name_hint
    clones: dict[Operation, Operation] = {}
    for op in ops:
        clones[op] = op.clone(mapped)
        block.add_op(clones[op])
    block.add_op(ReturnOp(*[mapped[value] for value in results]))
    types = FunctionType.from_lists([value.type for value in inputs], [value.type for value in results])
    return FuncOp(name, types, Region(block), visibility="private"), clones


class _Rewriter:
    """Puts calls in the place of subgraphs in one function."""

    def __init__(self, body: _Body, effects: EffectTable):
        self.body = body
        self.effects = effects
        self.instead: dict[SSAValue, SSAValue] = {}
        self.replaced: dict[Operation, Operation] = {}
        """Ops of subgraphs, and the calls that stand for them."""
        self.calls: set[Operation] = set()

    def call(self, subgraphs: Sequence[_Subgraph]) -> None:
        body, block = self.body, self.body.block
        for subgraph in subgraphs:
            results = [body.ops[key].results[index] for key, index in subgraph.outputs]
            operands = [body.values[number] for number in subgraph.inputs]
            call = CallOp(SymbolRefAttr(subgraph.symbol), operands, [result.type for result in results])
            self.calls.add(call)
            for made, result in zip(call.results, results, strict=True):
                made.name_hint = result.name_hint
                self.instead[result] = made
            self.replaced.update((body.ops[key], call) for key in subgraph.keys)
        # A call stands where the first of its ops did, before its operands are in order.
        steps = list(dict.fromkeys(self.replaced.get(op, op) for op in block.ops))
        for step in steps:
            step.operands = [self.instead.get(operand, operand) for operand in step.operands]
        for op in self.replaced:
            op.operands = []
        for op in list(block.ops):
            if op in self.replaced:
                erase(op)
            else:
                op.detach()
        block.add_ops(self._ordered(steps))

    def _ordered(self, steps: Sequence[Operation]) -> list[Operation]:
        """The steps with definitions before uses, otherwise as they stand; what has effects keeps its order, and the
        terminator its place."""
        place = {step: number for number, step in enumerate(steps)}
        users: list[list[int]] = [[] for _ in steps]
        waiting = [0] * len(steps)
        effect: int | None = None
        for number, step in enumerate(steps[:-1]):
            needed = {place[o.owner] for o in step.operands if isinstance(o.owner, Operation) and o.owner in place}
            if self.effects.of(step) is not Effects.NONE and step not in self.calls:
                needed |= {effect} if effect is not None else set()
                effect = number
            waiting[number] = len(needed)
            for other in needed:
                users[other].append(number)
        ready = [number for number, count in enumerate(waiting[:-1]) if count == 0]
        order: list[Operation] = []
        while ready:
            number = heapq.heappop(ready)
            order.append(steps[number])
            for user in users[number]:
                waiting[user] -= 1
                if waiting[user] == 0:
                    heapq.heappush(ready, user)
        return [*order, steps[-1]]


def _is_source(op: Operation) -> bool:
    """A number or an index: made again rather than handed over."""
    return not op.operands


def _used_outside(body: _Body, keys: Sequence[Key]) -> set[tuple[Key, int]]:
    """The results of a subgraph's ops that other ops of the function use."""
    inside = {body.ops[key] for key in keys}
    return {
        (key, result.index)
        for key in keys
        for result in body.ops[key].results
        if any(use.operation not in inside for use in result.uses)
    }


def _argument_name(function: FuncOp, number: int) -> str:
    """The name of an argument: that of the program, else of the value, else its place."""
    given = function.arg_attrs.data[number] if function.arg_attrs is not None else None
    name = given.data.get("forge.name") if isinstance(given, DictionaryAttr) else None
    if isinstance(name, StringAttr):
        return name.data
    return function.body.block.args[number].name_hint or f"#{number}"
