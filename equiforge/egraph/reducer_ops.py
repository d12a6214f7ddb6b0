"""Derived reducers as ``tile.reducer`` ops: the loop body of a rolling reduction, for the types of one use.

The body reduces the tile of the producer, then repairs what each consumer holds to the new state, then adds the
contributions of this tile:

    s' = ρ(s, tile)      safe = select(s' == identity, 0, s')      c' = ρC(repair(c; s, safe), contribution(tile; safe))

``safe`` keeps -inf - -inf out: a row that has seen only identities contributes its consumers' identity, and a row
that stays so gets what the unfused program computes for it, in the ``final`` region.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from equiforge.dialects import forge, tile
from equiforge.dialects.inference import infer_parallel_reduce, infer_reduce
from equiforge.dialects.op_table import HALVES
from equiforge.egraph.contributions import IDENTITY, Tree
from equiforge.egraph.graph import Consumer, Reducer


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
    elements."""
    own = ("unary", ("exp",), ("binary", ("sub",), ("input", 0), ("state",)))
    if tree[0] == "select":
        return all(is_bounded(branch, producer) for branch in tree[3:])
    return (producer == "max" and tree == own) or (tree[0] == "const" and abs(tree[1]) <= 1)


class _Body:
    """A block under construction."""

    def __init__(self, block: Block, element: Attribute):
        self.block = block
        self.element = element

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: float, like: Attribute) -> SSAValue:
        """A scalar with the rank and the axes of a type, the same at every coordinate."""
        value = math.nan if math.isnan(value) else value
        rank = len(tile.shape_of(like))
        result = self.add(forge.ConstantOp(value, TensorType(self.element, [1] * rank)))
        for axis in tile.axes_of(like):
            result = self.add(tile.ReplicateOp(result, axis))
        return result

    def tree(self, tree: Tree, leaves: dict[Tree, SSAValue], like: Attribute) -> SSAValue:
        """The value of an elementwise expression tree; equal subtrees are computed once."""
        if tree not in leaves:
            if tree[0] == "const":
                leaves[tree] = self.constant(tree[1], like)
            else:
                operands = [self.tree(part, leaves, like) for part in tree[2:]]
                leaves[tree] = self.add(pointwise(tree[0], tree[1], operands, self.element))
        return leaves[tree]


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
        reducer, axis = self.reducer, self.axis
        partial = infer_reduce("tile.reduce", reducer.producer, self.inputs[0], reducer.dim)
        state_type = infer_parallel_reduce("tile.reduce", reducer.producer, partial, axis)
        block = Block(arg_types=[state_type, *self.inputs])
        body = _Body(block, self.element)
        state, inputs = block.args[0], block.args[1:]
        state.name_hint = "state"
        part = body.add(tile.ReduceOp.over_axis(reducer.producer, inputs[0], reducer.dim))
        new = body.add(tile.AccumulateOp(reducer.producer, state, part, axis))
        identity = IDENTITY[reducer.producer]
        # A finite identity that divides (a sum of 0) is as harmful as an infinite one that is subtracted.
        harmless = body.constant(0.0 if math.isinf(identity) else 1.0, state_type)
        unseen = body.constant(identity, state_type)
        safe = body.add(forge.SelectOp(body.add(forge.CompareOp("eq", new, unseen)), harmless, new))
        safe.name_hint = "safe"
        looked_at = body.add(tile.ReplicateOp(safe, axis))
        leaves: dict[Tree, SSAValue] = {("input", i): value for i, value in enumerate(inputs)}
        leaves["state",] = looked_at
        results = [new]
        # exp(-inf - x) is a factor of 0, but a summand or a quotient would not be finite.
        guarded: SSAValue | None = None
        if not math.isinf(identity) or any(c.mode == "add" for c in reducer.consumers):
            first = body.add(forge.CompareOp("eq", state, unseen))
            guarded = body.add(forge.SelectOp(first, safe, state))
        repairs: dict[bool, dict[Tree, SSAValue]] = {
            False: {("old",): state, ("new",): safe},
            True: {("old",): guarded or state, ("new",): safe},
        }
        for number, consumer in enumerate(reducer.consumers):
            contribution = body.tree(consumer.contribution, leaves, looked_at.type)
            part = self._part(body, consumer, contribution, inputs)
            held = block.insert_arg(infer_parallel_reduce("tile.reduce", consumer.reducer, part.type, axis), 1 + number)
            repair = body.tree(consumer.repair, repairs[consumer.mode == "add" or not math.isinf(identity)], state_type)
            repaired = body.add((forge.MulOp if consumer.mode == "mul" else forge.AddOp)(held, repair))
            results.append(body.add(tile.AccumulateOp(consumer.reducer, repaired, part, axis)))
        block.add_op(tile.YieldOp(*results))
        identities = [identity, *(IDENTITY[c.reducer] for c in reducer.consumers)]
        types = list(block.arg_types)[: len(results)]
        return tile.ReducerOp(name, identities, Region(block), reducer.certificate, final=self._final(types))

    def _part(self, body: _Body, consumer: Consumer, contribution: SSAValue, inputs: Sequence[SSAValue]) -> SSAValue:
        """What one tile adds to a consumer."""
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

    def _final(self, types: list[Attribute]) -> Region | None:
        """Rows whose producer stayed at its identity take the value that the unfused program gives."""
        consumers = self.reducer.consumers
        if all(c.at_identity == IDENTITY[c.reducer] for c in consumers):
            return None
        block = Block(arg_types=types)
        body = _Body(block, self.element)
        state = block.args[0]
        unseen = body.constant(IDENTITY[self.reducer.producer], state.type)
        dead = body.add(forge.CompareOp("eq", state, unseen))
        results: list[SSAValue] = [state]
        constants: dict[str, SSAValue] = {}
        for consumer, held in zip(consumers, block.args[1:], strict=True):
            if consumer.at_identity != IDENTITY[consumer.reducer]:
                key = repr(consumer.at_identity)
                if key not in constants:
                    constants[key] = body.constant(consumer.at_identity, state.type)
                results.append(body.add(forge.SelectOp(dead, constants[key], held)))
            else:
                results.append(held)
        block.add_op(tile.YieldOp(*results))
        return Region(block)
