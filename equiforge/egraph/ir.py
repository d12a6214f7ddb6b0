"""The e-graph as IR and back, without loss.

A class is an ``equivalence.class`` whose operands are its e-nodes; e-nodes take class results, so cycles are
allowed. Classes carry what
their types can't say as attributes: the dimension groups, and the storage types that the program gives to the value.

    tile.axis @k1 extent 2048 {group = 3}
    func.func @main(%q : tensor<32x128x64xf16>, …) {
      %r = equivalence.graph -> tensor<…> {
        %0 = forge.exp %c4 : …
        %c5 = equivalence.class %0, %7 {groups = array<i64: 0, 1, 2>, narrow = "f16", wide = "f16"} : …
        equivalence.yield %c5 : …
      }
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    TupleType,
    UnitAttr,
    i64,
)
from xdsl.dialects.equivalence import ClassOp, GraphOp, YieldOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute

from equiforge.dialects import forge, tile
from equiforge.dialects.tile_types import element_type
from equiforge.egraph.builder import constant_key, index_node
from equiforge.egraph.encode import ATTRIBUTES, argument_names
from equiforge.egraph.graph import PARTIAL, REPLICATE, Axis, ClassType, EGraph, ENode
from equiforge.egraph.ir_reducers import reducer_of, reducer_op
from equiforge.egraph.ir_types import partial_reducers, type_of_class
from equiforge.errors import EquiforgeError


class _Writer:
    def __init__(self, graph: EGraph):
        self.graph = graph
        self.partial = partial_reducers(graph)
        self.types: dict[int, Attribute] = {}
        for class_id in graph.nodes:
            self._type(class_id)

    def _type(self, class_id: int) -> Attribute:
        if class_id not in self.types:
            node = self.graph.nodes[class_id][0]
            if node.op == "rolling":
                self.types[class_id] = self._tuple_type(class_id)
            elif node.op == "tuple":
                fields = [cast("TypeAttribute", self._type(c)) for c in node.children]
                self.types[class_id] = TupleType(ArrayAttr(fields))
            else:
                self.types[class_id] = type_of_class(self.graph, class_id, self.partial)
        return self.types[class_id]

    def _tuple_type(self, class_id: int) -> TupleType:
        """A tuple has the types of the classes that its fields are."""
        fields: dict[int, Attribute] = {}
        for owner, nodes in self.graph:
            for node in nodes:
                if node.op == "get" and node.children == (class_id,):
                    fields[int(node.attrs[0])] = self._type(owner)
        return TupleType(ArrayAttr(cast("TypeAttribute", fields[i]) for i in sorted(fields)))

    def module(self) -> ModuleOp:
        graph = self.graph
        top: list[Operation] = []
        for axis in graph.axes:
            outer = graph.axes[axis.within].name if axis.within >= 0 else None
            op = tile.AxisOp(axis.name, axis.extent, outer)
            op.attributes["group"] = IntegerAttr(axis.group, i64)
            top.append(op)
        for class_id, nodes in graph:
            top.extend(self._reducer(class_id, node) for node in nodes if node.op == "rolling")
        input_types = [TensorType(element_type(s), shape) for _, shape, s in graph.inputs]
        results = [
            TensorType(element_type(e), graph.types[r].shape)
            for r, e in zip(graph.roots, graph.root_elements, strict=True)
        ]
        function = FuncOp("main", (input_types, results))
        for argument, (name, _, _) in zip(function.body.block.args, graph.inputs, strict=True):
            argument.name_hint = name
        body = self._body(list(function.body.block.args))
        graph_op = GraphOp([self.types[r] for r in graph.roots], Region(body))
        function.body.block.add_op(graph_op)
        values: list[SSAValue] = []
        for value, result in zip(graph_op.results, results, strict=True):
            if value.type != result:
                cast_op = forge.CastOp(value, result.element_type)
                function.body.block.add_op(cast_op)
                value = cast_op.results[0]
            values.append(value)
        function.body.block.add_op(ReturnOp(*values))
        return ModuleOp([*top, function], {"forge.numerics": StringAttr(graph.numerics)})

    def _reducer(self, class_id: int, node: ENode) -> tile.ReducerOp:
        axis = self.graph.axes[int(node.attrs[1])]
        inputs = [self.types[c] for c in node.children]
        if axis.within >= 0:
            inputs = [tile.without_axis(type_, self.graph.axes[axis.within].name) for type_ in inputs]
        return reducer_op(self.graph.reducers[str(node.attrs[0])], _use(node, class_id), axis.name, inputs)

    def _body(self, arguments: list[SSAValue]) -> Block:
        graph = self.graph
        pending = Block(arg_types=[self.types[c] for c in graph.nodes])
        classes: dict[int, ClassOp] = {}
        for class_id, argument in zip(graph.nodes, pending.args, strict=True):
            op = ClassOp(argument)
            self._annotate(op, class_id)
            classes[class_id] = op
        body = Block()
        for class_id, nodes in graph:
            values: list[SSAValue] = []
            for node in nodes:
                made = self._node(class_id, node, [classes[c].result for c in node.children], arguments)
                if isinstance(made, Operation):
                    body.add_op(made)
                    made = made.results[0]
                if made.type != self.types[class_id]:
                    raise EquiforgeError(f"e-node {node} has type {made.type}, its class {self.types[class_id]}")
                values.append(made)
            classes[class_id].operands = values
            body.add_op(classes[class_id])
        body.add_op(YieldOp(*(classes[r].result for r in graph.roots)))
        return body

    def _annotate(self, op: ClassOp, class_id: int) -> None:
        kind = self.graph.types[class_id]
        op.attributes["groups"] = DenseArrayBase.from_list(i64, list(kind.groups))
        if kind.wide is not None and kind.narrow is not None:
            op.attributes["wide"], op.attributes["narrow"] = StringAttr(kind.wide), StringAttr(kind.narrow)
        if class_id in self.graph.locations:
            op.attributes["loc"] = StringAttr(self.graph.locations[class_id])
        if class_id in self.graph.inner:
            op.attributes["inner"] = UnitAttr()
        op.result.name_hint = self.graph.names.get(class_id)

    def _node(
        self, class_id: int, node: ENode, children: list[SSAValue], arguments: list[SSAValue]
    ) -> Operation | SSAValue:
        attrs: tuple[Any, ...] = node.attrs
        kind = self.graph.types[class_id]
        match node.op:
            case "input":
                argument = arguments[int(attrs[0])]
                return (
                    argument
                    if argument.type == self.types[class_id]
                    else forge.CastOp(argument, element_type(kind.element))
                )
            case "const":
                storage, shape, values = self.graph.constants[attrs[0]]
                made = forge.ConstantOp(
                    values[0] if len(values) == 1 else list(values), TensorType(element_type(kind.element), shape)
                )
                made.attributes["storage"] = StringAttr(storage)
                return made
            case "iota":
                made = forge.IotaOp(TensorType(element_type(kind.element), kind.shape), attrs[0])
                made.attributes["serial"] = IntegerAttr(attrs[1], i64)
                return made
            case "index":
                return forge.IndexOp(
                    TensorType(element_type(kind.element), kind.shape), attrs[-7], forge.Places(*attrs[-6:])
                )
            case "unary":
                return forge.UNARY_OPS[attrs[0]](children[0])
            case "binary" if attrs[0].startswith("cmp."):
                return forge.CompareOp(attrs[0].removeprefix("cmp."), *children)
            case "binary":
                return forge.BINARY_OPS[attrs[0].removeprefix("int.")](*children)
            case "cast":
                made = forge.CastOp(children[0], element_type(kind.element))
                made.attributes["through"] = StringAttr(attrs[0])
                return made
            case "rolling":
                return tile.ReduceOp.rolling(
                    _use(node, class_id),
                    children,
                    self._axis(node),
                    tuple(cast(TupleType, self.types[class_id]).types),
                )
            case "view":
                name = self._axis(node)
                return (
                    tile.ReplicateOp(children[0], name)
                    if attrs[0] == REPLICATE
                    else tile.PartitionOp(children[0], attrs[0], name)
                )
            case "combine":
                return tile.CombineOp(children[0], attrs[0], self._axis(node))
            case "collect":
                return tile.CollectOp(children[0], self.graph.axes[int(attrs[0])].name, kind.shape[0])
            case "preduce":
                return tile.ReduceOp.over_parallel(attrs[0], children[0], self._axis(node))
            case _:
                return self._structural(node, kind, children, self.types[class_id])

    def _axis(self, node: ENode) -> str:
        """Name of the axis of a view, combine, or reduction over an axis: their second attribute."""
        return self.graph.axes[int(node.attrs[1])].name

    def _structural(self, node: ENode, kind: ClassType, children: list[SSAValue], type_: Attribute) -> Operation:
        attrs: tuple[Any, ...] = node.attrs
        match node.op:
            case "select":
                return forge.SelectOp(*children)
            case "matmul":
                return forge.MatmulOp(*children, result_element_type=element_type(kind.element))
            case "tilematmul":
                return tile.MatmulOp(*children, result_element_type=element_type(kind.element))
            case "reduce" if kind.state:
                return tile.ReduceOp.over_axis(attrs[0], children[0], attrs[1])
            case "reduce":
                return forge.ReduceOp(attrs[0], children[0], attrs[1])
            case "get":
                return forge.GetOp(children[0], attrs[0])
            case "tuple":
                return forge.TupleOp(*children)
            case "transpose":
                return forge.TransposeOp(children[0], attrs)
            case "reshape":
                return forge.ReshapeOp(children[0], attrs)
            case "expand":
                return forge.ExpandOp(children[0], attrs, tile.states_of(type_))
            case "slice":
                return forge.SliceOp(children[0], *attrs)
            case "concat":
                return forge.ConcatOp(children, attrs[0])
            case "gather":
                return forge.GatherOp(children[0], children[1], attrs[0])
            case _:
                raise EquiforgeError(f"e-node {node.op} has no IR form")


def _use(node: ENode, class_id: int) -> str:
    """Symbol of the typed reducer of one rolling reduction."""
    return f"{node.attrs[0]}_{class_id}"


def to_module(graph: EGraph) -> ModuleOp:
    """The e-graph as a module with one ``equivalence.graph``; every e-node is a typed op, so verifying the module
    checks the e-graph."""
    return _Writer(graph).module()


class _Reader:
    def __init__(self, module: ModuleOp):
        functions = [op for op in module.body.ops if isinstance(op, FuncOp)]
        graphs = [op for f in functions for op in f.body.block.ops if isinstance(op, GraphOp)]
        if len(graphs) != 1:
            raise EquiforgeError(
                f"expected one equivalence.graph in the module, found {len(graphs)}",
                hint="run convert-forge-to-egraph first",
            )
        self.function, self.graph_op = functions[0], graphs[0]
        numerics = module.attributes.get("forge.numerics")
        self.graph = EGraph({}, {}, [], [], [], numerics=numerics.data if isinstance(numerics, StringAttr) else "real")
        self.axis_numbers: dict[str, int] = {}
        self.uses: dict[str, str] = {}
        for op in module.body.ops:
            if isinstance(op, tile.AxisOp):
                self.axis_numbers[op.axis_name] = len(self.axis_numbers)
                group = cast("IntegerAttr[Any]", op.attributes["group"]).value.data
                within = -1 if op.outer is None else self.axis_numbers[op.outer]
                self.graph.axes.append(Axis(op.axis_name, op.extent, group, within))
            elif isinstance(op, tile.ReducerOp):
                reducer = reducer_of(op)
                self.graph.reducers[reducer.name] = reducer
                self.uses[op.sym_name.data] = reducer.name

    def read(self) -> EGraph:
        for argument, name in zip(self.function.body.block.args, argument_names(self.function), strict=True):
            kind = cast("TensorType[Any]", argument.type)
            self.graph.inputs.append((name, tuple(kind.get_shape()), str(kind.element_type)))
        classes = [op for op in self.graph_op.body.block.ops if isinstance(op, ClassOp)]
        self.numbers: dict[SSAValue, int] = {op.result: i for i, op in enumerate(classes)}
        for number, op in enumerate(classes):
            self.graph.types[number] = self._class_type(op)
            kind = self.graph.types[number]
            self.graph.nodes[number] = [self._node(v, kind) for v in op.operands]
            if "inner" in op.attributes:
                self.graph.inner.add(number)
            if op.result.name_hint:
                self.graph.names[number] = op.result.name_hint
            location = op.attributes.get("loc")
            if isinstance(location, StringAttr):
                self.graph.locations[number] = location.data
        end = self.graph_op.body.block.last_op
        self.graph.roots = [self.numbers[v] for v in cast(YieldOp, end).operands]
        returned = cast(ReturnOp, self.function.body.block.last_op)
        self.graph.root_elements = [str(cast("TensorType[Any]", v.type).element_type) for v in returned.operands]
        return self.graph

    def _class_type(self, op: ClassOp) -> ClassType:
        groups = tuple(cast("DenseArrayBase[Any]", op.attributes["groups"]).get_values())
        if isinstance(op.result.type, TupleType):
            first = op.result.type.types.data[0]
            return ClassType(tile.shape_of(first), self._state(first), groups, "tuple")
        wide, narrow = op.attributes.get("wide"), op.attributes.get("narrow")
        return ClassType(
            tile.shape_of(op.result.type),
            self._state(op.result.type),
            groups,
            str(tile.element_type_of(op.result.type)),
            wide.data if isinstance(wide, StringAttr) else None,
            narrow.data if isinstance(narrow, StringAttr) else None,
        )

    def _state(self, type_: Attribute) -> tuple[tuple[int, int], ...]:
        found: list[tuple[int, int]] = []
        for state in tile.states_of(type_):
            dim = (
                state.dim
                if isinstance(state, tile.PartitionAttr)
                else REPLICATE
                if isinstance(state, tile.ReplicateAttr)
                else PARTIAL
            )
            found.append((self.axis_numbers[state.axis_name], dim))
        return tuple(sorted(found))

    def _node(self, value: SSAValue, kind: ClassType) -> ENode:
        arguments = list(self.function.body.block.args)
        if value in arguments:
            return ENode("input", (arguments.index(cast(Any, value)),), ())
        op = cast(Operation, value.owner)
        if isinstance(op, forge.IndexOp):
            return index_node(kind.shape, kind.groups, op.dim, op.places)
        if op.operands and op.operands[0] in arguments:
            return ENode("input", (arguments.index(cast(Any, op.operands[0])),), ())
        children = tuple(self.numbers[v] for v in op.operands)
        return ENode(*self._form(op), children)

    def _form(self, op: Operation) -> tuple[str, tuple[Any, ...]]:
        if isinstance(op, forge.ConstantOp):
            return "const", (self._constant(op),)
        if isinstance(op, forge.IotaOp):
            return "iota", (op.dim, cast("IntegerAttr[Any]", op.attributes["serial"]).value.data)
        if isinstance(op, forge.CastOp):
            return "cast", (cast(StringAttr, op.attributes["through"]).data,)
        if isinstance(op, tile.PartitionOp):
            return "view", (op.dim, self.axis_numbers[op.axis_name])
        if isinstance(op, tile.ReplicateOp):
            return "view", (REPLICATE, self.axis_numbers[op.axis_name])
        if isinstance(op, tile.CombineOp):
            return "combine", (op.dim, self.axis_numbers[op.axis_name])
        if isinstance(op, tile.CollectOp):
            return "collect", (self.axis_numbers[op.axis_name],)
        if isinstance(op, tile.ReduceOp):
            return self._reduction(op)
        return _plain_form(op)

    def _reduction(self, op: tile.ReduceOp) -> tuple[str, tuple[Any, ...]]:
        if op.is_rolling:
            return "rolling", (self.uses[op.reducer], self.axis_numbers[cast(str, op.axis_name)])
        if op.axis_name is not None:
            return "preduce", (op.reducer, self.axis_numbers[op.axis_name])
        return "reduce", (op.reducer, op.dim)

    def _constant(self, op: forge.ConstantOp) -> str:
        kind = cast("TensorType[Any]", op.result.type)
        splat = op.splat
        values = (splat,) if splat is not None else tuple(op.value.get_values())
        storage = cast(StringAttr, op.attributes["storage"]).data
        shape = tuple(kind.get_shape())
        key = constant_key(storage, shape, values)
        self.graph.constants[key] = (storage, shape, values)
        return key


def _plain_form(op: Operation) -> tuple[str, tuple[Any, ...]]:
    name = op.name.split(".", 1)[1]
    if name in forge.UNARY_OPS:
        return "unary", (name,)
    if name in forge.BINARY_OPS:
        integer = name == "div" and str(tile.element_type_of(op.operands[0].type)).startswith("i")
        return "binary", ("int.div" if integer else name,)
    if isinstance(op, forge.CompareOp):
        return "binary", (f"cmp.{op.predicate}",)
    if isinstance(op, tile.MatmulOp):
        return "tilematmul", ()
    if isinstance(op, forge.GetOp):
        return "get", (op.index,)
    if isinstance(op, forge.TupleOp):
        return "tuple", ()
    return name, ATTRIBUTES[name](op)


def from_module(module: ModuleOp) -> EGraph:
    """The e-graph of a module that :func:`to_module` wrote, or a person.

    Raises EquiforgeError if there is no ``equivalence.graph`` in it.
    """
    return _Reader(module).read()
