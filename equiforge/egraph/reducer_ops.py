"""Derived reducers as ``tile.reducer`` ops: the loop body of a rolling reduction, for the types of one use.

The body reduces the tile of the producer, then, one consumer after the other, repairs what it holds to the new states
and adds the contributions of this tile:

    s' = ρ(s, tile)      safe = select(s' == identity, 0, s')      c' = ρC(repair(c; s, safe), contribution(tile; safe))

``safe`` keeps -inf - -inf out where a consumer asks for it: a row that has seen only identities contributes its
consumers' identity, and a row that stays so gets what the unfused program computes for it, in the ``final`` region.
``merge`` repairs the states of two parts to those of both together and joins them; ``final`` also leaves out the hidden
states.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from equiforge.dialects import forge, tile
from equiforge.dialects.inference import infer_parallel_reduce, infer_reduce
from equiforge.dialects.op_table import COMBINERS, HALVES
from equiforge.dialects.tile_types import PartitionAttr, element_type, states_of
from equiforge.egraph.contributions import IDENTITY, LEAVES, Tree, leaves_of, state_of
from equiforge.egraph.graph import Consumer, Reducer
from equiforge.egraph.simulate import harmless, is_kept


def pointwise(op: str, attrs: tuple[Any, ...], operands: Sequence[SSAValue], element: Attribute) -> Operation:
    """The forge op of a pointwise e-node; ``element`` is the type that a cast yields."""
    name = str(attrs[0]) if attrs else ""
    match op:
        case "unary":
            return forge.UNARY_OPS[name](operands[0])
        case "binary" if name.startswith("cmp."):
            return forge.CompareOp(name.removeprefix("cmp."), operands[0], operands[1])
        case "binary":
            return forge.BINARY_OPS[name.removeprefix("int.")](operands[0], operands[1])
        case "select":
            return forge.SelectOp(operands[0], operands[1], operands[2])
        case "cast":
            return forge.CastOp(operands[0], element)
        case _:
            raise ValueError(f"{op} is no pointwise e-node")


def is_bounded(tree: Tree, producer: str) -> bool:
    """True for a contribution that no half type can overflow on: exp of an element less the running maximum of these
    elements, perhaps scaled by a positive constant."""
    if tree[0] == "select":
        return all(is_bounded(branch, producer) for branch in tree[3:])
    if tree[:2] == ("unary", ("exp",)):
        return producer == "max" and _is_below_maximum(tree[2])
    return tree[0] == "const" and abs(tree[1]) <= 1


def _is_below_maximum(tree: Tree) -> bool:
    """True for an element less the maximum so far, and that times or over a positive constant: it is not positive."""
    if tree == ("binary", ("sub",), ("input", 0), ("state",)):
        return True
    if tree[:2] not in (("binary", ("mul",)), ("binary", ("div",))):
        return False
    scaled, scale = tree[2], tree[3]
    if tree[1] == ("mul",) and scaled[0] == "const":
        scaled, scale = scale, scaled
    return scale[0] == "const" and scale[1] > 0 and _is_below_maximum(scaled)


class _Body:
    """A block under construction."""

    def __init__(self, block: Block, element: Attribute):
        self.block = block
        self.element = element

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: float, like: Attribute, element: Attribute | None = None) -> SSAValue:
        """A scalar with the rank and the axes of a type, the same at every coordinate."""
        element = element or self.element
        if str(element).startswith("i"):
            value = int(value)
        elif math.isnan(value):
            value = math.nan
        result = self.add(forge.ConstantOp(value, TensorType(element, [1] * len(tile.shape_of(like)))))
        for axis in tile.axes_of(like):
            result = self.add(tile.ReplicateOp(result, axis))
        return result

    def tree(
        self, tree: Tree, leaves: dict[Tree, SSAValue], like: Attribute, element: Attribute | None = None
    ) -> SSAValue:
        """The value of an elementwise expression tree; equal subtrees are computed once. A constant has the element
        type of the operand beside it, or the one given."""
        if tree[0] == "const":
            key = (*tree, str(element))
            if key not in leaves:
                leaves[key] = self.constant(tree[1], like, element)
            return leaves[key]
        if tree not in leaves:
            assert tree[0] not in LEAVES, f"{tree} has no value here"
            parts = list(tree[2:])
            made: list[SSAValue | None] = [
                None if part[0] == "const" else self.tree(part, leaves, like, element) for part in parts
            ]
            beside = [v for v in (made[1:] if tree[0] == "select" else made) if v is not None]
            wanted = tile.element_type_of(beside[0].type) if beside else element
            operands = [v or self.tree(part, leaves, like, wanted) for v, part in zip(made, parts, strict=True)]
            kind = self.element
            if tree[0] == "cast" and str(tree[1][0]).startswith("i"):
                kind = element_type(str(tree[1][0]))
            leaves[tree] = self.add(pointwise(tree[0], tree[1], operands, kind))
        return leaves[tree]


class _States:
    """The states of a reducer at one point, and how its consumers read them."""

    def __init__(self, body: _Body, reducer: Reducer, values: list[SSAValue]):
        self.body = body
        self.reducer = reducer
        self.values = values
        self._unseen: dict[int, SSAValue] = {}
        self._safe: dict[int, SSAValue] = {}

    def unseen(self, state: int) -> SSAValue:
        """Whether a state is at its identity."""
        if state not in self._unseen:
            value = self.values[state]
            identity = self.body.constant(IDENTITY[self.reducer.reducer_of_state(state)], value.type)
            self._unseen[state] = self.body.add(forge.CompareOp("eq", value, identity))
        return self._unseen[state]

    def safe(self, state: int) -> SSAValue:
        """The state, or a harmless number while it is at its identity."""
        if state not in self._safe:
            value = self.values[state]
            number = self.body.constant(harmless(self.reducer.reducer_of_state(state)), value.type)
            safe = self.body.add(forge.SelectOp(self.unseen(state), number, value))
            safe.name_hint = "safe"
            self._safe[state] = safe
        return self._safe[state]

    def seen_by(self, consumer: Consumer, state: int) -> SSAValue:
        return self.safe(state) if state in consumer.guarded else self.values[state]


class ReducerBuilder:
    """Builds the op for one use: ``axis`` is the loop, ``inputs`` the types of the loop inputs, ``element`` the float
    type of states.

    ``precision`` is that of products whose operands can't both be narrowed to a half type."""

    def __init__(self, reducer: Reducer, axis: str, inputs: Sequence[Attribute], element: Attribute, precision: str):
        self.reducer = reducer
        self.axis = axis
        self.inputs = inputs
        self.element = element
        self.precision = precision

    def build(self, name: str) -> tile.ReducerOp:
        reducer = self.reducer
        block = self._loop()
        types = list(block.arg_types)[: 1 + len(reducer.consumers)]
        identities = [IDENTITY[reducer.producer], *(IDENTITY[c.reducer] for c in reducer.consumers)]
        return tile.ReducerOp(
            name,
            identities,
            Region(block),
            reducer.certificate,
            merge=self._merge(types),
            final=self._final(types),
        )

    def _loop(self) -> Block:
        reducer, axis = self.reducer, self.axis
        partial = infer_reduce("tile.reduce", reducer.producer, self.inputs[0], reducer.dim)
        state_type = infer_parallel_reduce("tile.reduce", reducer.producer, partial, axis)
        block = Block(arg_types=[state_type, *self.inputs])
        body = _Body(block, self.element)
        inputs = list(block.args[1:])
        block.args[0].name_hint = "state"
        part = body.add(tile.ReduceOp.over_axis(reducer.producer, inputs[0], reducer.dim))
        old = _States(body, reducer, [block.args[0]])
        new = _States(body, reducer, [body.add(tile.AccumulateOp(reducer.producer, block.args[0], part, axis))])
        read: dict[tuple[int, ...], dict[Tree, SSAValue]] = {}
        looked_at: dict[SSAValue, SSAValue] = {}

        def look(value: SSAValue) -> SSAValue:
            """A state as it is seen at every coordinate of the loop."""
            if value not in looked_at:
                looked_at[value] = body.add(tile.ReplicateOp(value, axis))
            return looked_at[value]

        for number, consumer in enumerate(reducer.consumers, 1):
            leaves = read.setdefault(consumer.guarded, {("input", i): value for i, value in enumerate(inputs)})
            for part in _leaves(consumer.contribution, "state"):
                leaves[part] = look(new.seen_by(consumer, int(state_of(part))))
            like = look(new.seen_by(consumer, 0)).type
            contribution = body.tree(consumer.contribution, leaves, like)
            part = self._part(body, consumer, contribution, inputs)
            type_ = infer_parallel_reduce("tile.reduce", consumer.reducer, part.type, axis)
            held = block.insert_arg(type_, number)
            repaired = self._repaired(body, consumer, held, old, new)
            old.values.append(held)
            new.values.append(body.add(tile.AccumulateOp(consumer.reducer, repaired, part, axis)))
        block.add_op(tile.YieldOp(*new.values))
        return block

    def _repaired(self, body: _Body, consumer: Consumer, held: SSAValue, old: _States, new: _States) -> SSAValue:
        """What a consumer holds for the old states, brought to the new ones."""
        if consumer.repair == ("held",):
            return held
        leaves: dict[Tree, SSAValue] = {("held",): held}
        for leaf in _leaves(consumer.repair, "old", "new"):
            state = int(state_of(leaf))
            if leaf[0] == "new":
                leaves[leaf] = new.seen_by(consumer, state)
            elif state not in consumer.guarded or is_kept(consumer, self.reducer.reducer_of_state(state)):
                leaves[leaf] = old.values[state]
            else:
                leaves[leaf] = body.add(forge.SelectOp(old.unseen(state), new.safe(state), old.values[state]))
        repair = body.tree(consumer.repair, leaves, old.values[0].type, tile.element_type_of(held.type))
        if consumer.mode == "map":
            return repair
        return body.add((forge.MulOp if consumer.mode == "mul" else forge.AddOp)(held, repair))

    def _part(self, body: _Body, consumer: Consumer, contribution: SSAValue, inputs: Sequence[SSAValue]) -> SSAValue:
        """What one tile adds to a consumer."""
        contribution = self._varying(body, contribution, consumer)
        if consumer.kind == "reduce":
            return body.add(tile.ReduceOp.over_axis(consumer.reducer, contribution, consumer.dim))
        other = inputs[consumer.other]
        narrow = tile.element_type_of(other.type)
        precision = "ieee"
        if str(narrow) in HALVES and is_bounded(consumer.contribution, self.reducer.producer):
            contribution = body.add(forge.CastOp(contribution, narrow))
        elif narrow != self.element:
            other = body.add(forge.CastOp(other, self.element))
            precision = self.precision
        elif str(self.element) == "f32":
            precision = self.precision
        pair = (contribution, other) if consumer.operand == 0 else (other, contribution)
        return body.add(tile.MatmulOp(pair[0], pair[1], precision=precision))

    def _varying(self, body: _Body, contribution: SSAValue, consumer: Consumer) -> SSAValue:
        """A contribution that is the same for all elements of a tile, or for all rows of a state that has them, once
        for each of them."""
        source = self.inputs[0]
        states = {s.axis_name: s for s in states_of(contribution.type)}
        shape = list(tile.shape_of(contribution.type))
        if consumer.spread:
            states |= {s.axis_name: s for s in states_of(source) if isinstance(s, PartitionAttr)}
            shape = list(tile.shape_of(source))
        if not isinstance(states[self.axis], PartitionAttr):
            shape[consumer.dim] = tile.shape_of(source)[self.reducer.dim]
            states[self.axis] = PartitionAttr(self.axis, consumer.dim)
        if shape == list(tile.shape_of(contribution.type)):
            return contribution
        return body.add(forge.ExpandOp(contribution, shape, list(states.values())))

    def _merge(self, types: list[Attribute]) -> Region:
        """The states of two parts as those of both together."""
        reducer, count = self.reducer, len(types)
        block = Block(arg_types=[*types, *types])
        body = _Body(block, self.element)
        parts = [_States(body, reducer, list(block.args[:count])), _States(body, reducer, list(block.args[count:]))]
        new = _States(body, reducer, [self._joined(body, reducer.producer, *(p.values[0] for p in parts))])
        for number, consumer in enumerate(reducer.consumers, 1):
            repaired = [self._repaired(body, consumer, part.values[number], part, new) for part in parts]
            new.values.append(self._joined(body, consumer.reducer, *repaired))
        block.add_op(tile.YieldOp(*new.values))
        return Region(block)

    @staticmethod
    def _joined(body: _Body, reducer: str, a: SSAValue, b: SSAValue) -> SSAValue:
        return body.add(forge.BINARY_OPS[COMBINERS[reducer]](a, b))

    def _final(self, types: list[Attribute]) -> Region | None:
        """Rows in which a guarded state stayed at its identity take the value that the unfused program gives; hidden
        states end here."""
        consumers = self.reducer.consumers
        changed = {k: c for k, c in enumerate(consumers, 1) if c.guarded and not c.hidden and not _stays(c)}
        if not changed and len(self.reducer.visible) == len(types):
            return None
        block = Block(arg_types=types)
        body = _Body(block, self.element)
        states = _States(body, self.reducer, list(block.args))
        constants: dict[str, SSAValue] = {}
        results: list[SSAValue] = []
        for k in self.reducer.visible:
            value = states.values[k]
            if k in changed:
                key = repr(changed[k].at_identity)
                if key not in constants:
                    constants[key] = body.constant(changed[k].at_identity, states.values[0].type)
                for state in changed[k].guarded:
                    value = body.add(forge.SelectOp(states.unseen(state), constants[key], value))
            results.append(value)
        block.add_op(tile.YieldOp(*results))
        return Region(block)


def _stays(consumer: Consumer) -> bool:
    """True if a row that saw nothing holds what the program computes for it."""
    return consumer.at_identity == IDENTITY[consumer.reducer]


def _leaves(tree: Any, *names: str) -> list[Tree]:
    """The leaves of some names, each once."""
    return list(dict.fromkeys(leaf for leaf in leaves_of(tree) if leaf[0] in names))
