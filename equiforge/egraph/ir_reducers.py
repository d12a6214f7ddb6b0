"""Derived reducers in the textual e-graph: one typed ``tile.reducer`` a use, with the untyped definition as an
attribute."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute

from equiforge.dialects import tile
from equiforge.egraph.graph import Consumer, Reducer
from equiforge.egraph.reducer_ops import ReducerBuilder
from equiforge.errors import EquiforgeError


def reducer_op(reducer: Reducer, use: str, axis: str, inputs: Sequence[Attribute]) -> tile.ReducerOp:
    """The op for one use: ``use`` is its symbol, ``inputs`` are the types of the loop's inputs."""
    op = ReducerBuilder(reducer, axis, inputs, tile.element_type_of(inputs[0]), "ieee").build(use)
    op.attributes["definition"] = StringAttr(_to_json(reducer))
    return op


def reducer_of(op: tile.ReducerOp) -> Reducer:
    """The definition that :func:`reducer_op` left on an op; raises EquiforgeError if there is none."""
    text = op.attributes.get("definition")
    if not isinstance(text, StringAttr):
        raise EquiforgeError(f"tile.reducer @{op.sym_name.data} has no definition attribute", hint="saturate writes it")
    return _from_json(text.data)


def _to_json(reducer: Reducer) -> str:
    consumers = [list(vars(c).values()) for c in reducer.consumers]
    return json.dumps([reducer.name, reducer.producer, reducer.dim, consumers, reducer.certificate])


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in cast("list[Any]", value)) if isinstance(value, list) else value


def _from_json(text: str) -> Reducer:
    name, producer, dim, consumers, certificate = json.loads(text)
    return Reducer(name, producer, dim, tuple(Consumer(*(_tuples(v) for v in c)) for c in consumers), certificate)
