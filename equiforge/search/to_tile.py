"""Candidates as tile IR: one function whose ``tile.store`` ops are the kernels, in data-dependence order.

Precision becomes explicit here. A value from memory has its storage type and is widened to the type that the class is
computed in, unless it goes straight into a product. A computed operand of a product is narrowed to the half type that
the program gives to this value; a value that the program does not have stays wide (it might overflow), and so does
then the product, in tf32 where the program is a half-precision one.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from equiforge.dialects import forge, tile
from equiforge.dialects.op_table import HALVES
from equiforge.dialects.tile_reducer import raw_states
from equiforge.dialects.tile_types import element_type
from equiforge.egraph.graph import EGraph, ENode
from equiforge.egraph.reducer_ops import ReducerBuilder, pointwise
from equiforge.search.cost import leaf_inputs, storage_element
from equiforge.search.derive import Kernel
from equiforge.search.extract import Candidate
from equiforge.search.normal_form import STRUCTURAL, Chain, Load


def to_tile(graph: EGraph, candidate: Candidate) -> ModuleOp:
    """The tile IR of a candidate: axes and reducers that it uses, then ``func.func @main``."""
    return _Program(graph, candidate).build()


class _Program:
    """The function under construction: values in memory, and the symbols that the kernels use."""

    def __init__(self, graph: EGraph, candidate: Candidate):
        self.graph = graph
        self.candidate = candidate
        self.block = Block(arg_types=[TensorType(element_type(e), shape) for _, shape, e in graph.inputs])
        for argument, (name, _, _) in zip(self.block.args, graph.inputs, strict=True):
            argument.name_hint = name
        self.stored: dict[int, SSAValue] = {}
        self.axes: set[int] = set()
        self.reducers: list[tile.ReducerOp] = []
        self.results: dict[tuple[int, str | None], SSAValue] = {}
        self._layouts: dict[tuple[int, SSAValue], SSAValue] = {}
        storages = {e for _, _, e in graph.inputs}
        is_half = bool(storages & set(HALVES)) and graph.numerics == "real"
        self.precision = "tf32" if is_half else "ieee"

    def build(self) -> ModuleOp:
        for kernel in self.candidate.kernels:
            KernelEmitter(self, kernel).emit()
        results: list[SSAValue] = []
        for index, load in enumerate(self.candidate.outputs):
            element = self.graph.root_elements[index] if self.graph.root_elements else None
            value = self.memory(load, element)
            if element is not None and tile.element_type_of(value.type) != element_type(element):
                value = self.add(tile.StoreOp(value, element_type(element)))
            results.append(value)
        self.block.add_op(ReturnOp(*results))
        kind = FunctionType.from_lists([a.type for a in self.block.args], [r.type for r in results])
        names = ArrayAttr([DictionaryAttr({"forge.name": StringAttr(name)}) for name, _, _ in self.graph.inputs])
        function = FuncOp("main", kind, Region(self.block), arg_attrs=names)
        module = ModuleOp([*map(self._axis_op, sorted(self.axes)), *self.reducers, function])
        if self.graph.numerics != "real":
            module.attributes["forge.numerics"] = StringAttr(self.graph.numerics)
        return module

    def _axis_op(self, number: int) -> tile.AxisOp:
        axis = self.graph.axes[number]
        outer = self.graph.axes[axis.within].name if axis.within in self.axes else None
        return tile.AxisOp(axis.name, axis.extent, outer)

    def add(self, op: Operation, class_id: int | None = None) -> SSAValue:
        """Append an op; a class gives its value the user's name and the op the user's source line."""
        self.block.add_op(op)
        if class_id is not None:
            name = self.graph.names.get(class_id)
            if name is not None:
                op.results[0].name_hint = name
            location = self.graph.locations.get(class_id)
            if location is not None:
                op.attributes["loc"] = StringAttr(location)
        return op.results[0]

    def axis(self, number: int) -> str:
        """The name of an axis, which is declared from now on."""
        self.axes.add(number)
        return self.graph.axes[number].name

    def memory(self, load: Load, element: str | None = None) -> SSAValue:
        """The tensor at the end of a path of layout changes (views before these are the caller's).

        ``element`` asks for one of the types in which a result is stored.
        """
        value = self.results.get((load.stored, element)) or self._base(load.stored)
        for class_id, node in reversed([step for step in load.path if step[1].op in STRUCTURAL]):
            key = (class_id, value)
            if key not in self._layouts:
                self._layouts[key] = self.add(_layout(node, value), class_id)
            value = self._layouts[key]
        return value

    def store(self, value: SSAValue, class_id: int) -> None:
        """Store the value of a class; a result that is returned in several types is stored in each."""
        storage = storage_element(self.graph, class_id)
        self.stored[class_id] = self.add(tile.StoreOp(value, element_type(storage)), class_id)
        for load, element in zip(self.candidate.outputs, self.graph.root_elements, strict=False):
            if load.base == class_id and element != storage and (class_id, element) not in self.results:
                self.results[class_id, element] = self.add(tile.StoreOp(value, element_type(element)), class_id)

    def _base(self, base: int) -> SSAValue:
        if base not in self.stored:
            self.stored[base] = self._leaf(base)
        return self.stored[base]

    def _leaf(self, base: int) -> SSAValue:
        kind = self.graph.types[base]
        for node in self.graph.nodes[base]:
            if node.op == "input":
                return self.block.args[int(node.attrs[0])]
            # Constants are written in the type they are computed in: the value is the same.
            computed = TensorType(element_type(kind.element), kind.shape)
            if node.op == "const":
                values = self.graph.constants[str(node.attrs[0])][2]
                literal: Any = values[0] if len(values) == 1 else list(values)
                return self.add(forge.ConstantOp(literal, computed), base)
            if node.op == "iota":
                return self.add(forge.IotaOp(computed, int(node.attrs[0])), base)
            if node.op == "index":
                dim, *places = (int(a) for a in node.attrs[-7:])
                return self.add(forge.IndexOp(computed, dim, forge.Places(*places)), base)
        raise ValueError(f"class {base} is read before a kernel stores it")


def _layout(node: ENode, value: SSAValue) -> Operation:
    attrs = [int(a) for a in node.attrs]
    match node.op:
        case "transpose":
            return forge.TransposeOp(value, attrs)
        case "reshape":
            return forge.ReshapeOp(value, attrs)
        case "expand":
            return forge.ExpandOp(value, attrs)
        case _:
            return forge.SliceOp(value, *attrs)


class KernelEmitter:
    """The ops of one kernel, up to its ``tile.store``."""

    def __init__(self, program: _Program, kernel: Kernel):
        self.program = program
        self.graph = program.graph
        self.kernel = kernel
        self.values: dict[int, SSAValue] = {}
        self._raw: dict[int, SSAValue] = {}
        self._views: dict[tuple[int, int], SSAValue] = {}
        self._narrowed: dict[tuple[int, str], SSAValue] = {}

    def emit(self) -> None:
        program = self.program
        for class_id, choice in self.kernel.choices.items():
            # What only feeds products is read in its storage type, so that it is widened on demand.
            if not isinstance(choice, Load):
                self.values[class_id] = self._node(class_id, choice)
        made = self.value(self.kernel.tile)
        for index, (array, chain) in enumerate(self.kernel.fields):
            self._store(program.add(forge.GetOp(made, index)), chain, array)
        if not self.kernel.fields:
            self._store(made, self.kernel.chain, self.kernel.root)

    def _store(self, value: SSAValue, chain: Chain, root: int) -> None:
        """Store a tile value by a chain of combines and collects."""
        program = self.program
        for class_id, node in reversed(chain):
            if node.op == "collect":
                count = self.graph.types[class_id].shape[0]
                value = program.add(tile.CollectOp(value, program.axis(int(node.attrs[0])), count))
            else:
                dim, axis = int(node.attrs[0]), program.axis(int(node.attrs[1]))
                value = program.add(tile.CombineOp(value, dim, axis))
        program.store(value, root)

    def value(self, class_id: int) -> SSAValue:
        """The value of a class in the type it is computed in."""
        if class_id not in self.values:
            raw = self._load(class_id)
            wide = element_type(self.graph.types[class_id].element)
            if tile.element_type_of(raw.type) != wide:
                raw = self.program.add(forge.CastOp(raw, wide))
            self.values[class_id] = raw
        return self.values[class_id]

    def _load(self, class_id: int) -> SSAValue:
        """The tile of a loaded class in its storage type."""
        if class_id not in self._raw:
            load = cast("Load", self.kernel.choices[class_id])
            value = self.program.memory(load)
            for owner, node in reversed([step for step in load.path if step[1].op == "view"]):
                key = (owner, load.base)
                if key not in self._views:
                    dim, axis = int(node.attrs[0]), self.program.axis(int(node.attrs[1]))
                    op = tile.ReplicateOp(value, axis) if dim < 0 else tile.PartitionOp(value, dim, axis)
                    self._views[key] = self.program.add(op)
                    self._views[key].name_hint = value.name_hint
                value = self._views[key]
            for owner, node in reversed([step for step in load.path if step[1].op == "gather"]):
                index = self.value(node.children[1])
                value = self.program.add(forge.GatherOp(value, index, int(node.attrs[0])), owner)
            self._raw[class_id] = value
        return self._raw[class_id]

    def _node(self, class_id: int, node: ENode) -> SSAValue:
        program = self.program
        match node.op:
            case "tilematmul":
                op: Operation = self._product(node)
            case "reduce":
                op = tile.ReduceOp.over_axis(str(node.attrs[0]), self.value(node.children[0]), int(node.attrs[1]))
            case "preduce":
                axis = program.axis(int(node.attrs[1]))
                op = tile.ReduceOp.over_parallel(str(node.attrs[0]), self.value(node.children[0]), axis)
            case "rolling":
                op = self._rolling(node)
            case "get":
                op = forge.GetOp(self.values[node.children[0]], int(node.attrs[0]))
            case "view":
                op = tile.ReplicateOp(self.value(node.children[0]), program.axis(int(node.attrs[1])))
            case "cast":
                return self._cast(class_id, node)
            case "reshape":
                op = _layout(node, self.value(node.children[0]))
            case _:
                operands = [self.value(c) for c in node.children]
                op = pointwise(node.op, node.attrs, operands, element_type(self.graph.types[class_id].element))
        return program.add(op, class_id)

    def _cast(self, class_id: int, node: ENode) -> SSAValue:
        """A change of type; to a narrow float it is a rounding step, and the value is computed with in its wide
        type."""
        value = self.value(node.children[0])
        for name in (str(node.attrs[0]), self.graph.types[class_id].element):
            if tile.element_type_of(value.type) != element_type(name):
                value = self.program.add(forge.CastOp(value, element_type(name)), class_id)
        return value

    def _half(self, class_id: int) -> str | None:
        """The half type in which a class may enter a product: its storage type, or that of this value in the
        program."""
        if isinstance(self.kernel.choices[class_id], Load):
            name = str(tile.element_type_of(self._load(class_id).type))
        else:
            name = self.graph.types[class_id].narrow or ""
        return name if name in HALVES else None

    def _narrow(self, class_id: int, name: str) -> SSAValue:
        if isinstance(self.kernel.choices[class_id], Load):
            return self._load(class_id)
        key = (class_id, name)
        if key not in self._narrowed:
            self._narrowed[key] = self.program.add(forge.CastOp(self.value(class_id), element_type(name)))
        return self._narrowed[key]

    def _product(self, node: ENode) -> Operation:
        a, b = node.children
        halves = (self._half(a), self._half(b))
        if halves[0] is not None and halves[0] == halves[1]:
            return tile.MatmulOp(self._narrow(a, halves[0]), self._narrow(b, halves[0]))
        left, right = self.value(a), self.value(b)
        precision = self.program.precision if str(tile.element_type_of(left.type)) == "f32" else "ieee"
        return tile.MatmulOp(left, right, precision=precision)

    def _rolling(self, node: ENode) -> Operation:
        program = self.program
        reducer = self.graph.reducers[str(node.attrs[0])]
        number = int(node.attrs[1])
        axis = program.axis(number)
        elementwise: set[int] = {0}
        for consumer in reducer.consumers:
            elementwise |= leaf_inputs(consumer.contribution)
        inputs: list[SSAValue] = []
        for index, class_id in enumerate(node.children):
            half = None if index in elementwise else self._half(class_id)
            inputs.append(self.value(class_id) if half is None else self._narrow(class_id, half))
        element = tile.element_type_of(inputs[0].type)
        # A reducer that runs in each slice of an outer axis does not speak of it; what it yields is raw.
        within = self.graph.axes[number].within
        outer = self.graph.axes[within].name if within >= 0 else ""
        sliced = any(tile.state_on(value.type, outer) for value in inputs)
        types = [tile.without_axis(value.type, outer) for value in inputs]
        builder = ReducerBuilder(reducer, axis, types, element, program.precision)
        name = reducer.name if not program.reducers else f"{reducer.name}_{len(program.reducers)}"
        op = builder.build(name)
        program.reducers.append(op)
        results = raw_states(op, outer) if sliced else op.result_types_of_use
        return tile.ReduceOp.rolling(name, inputs, axis, results)
