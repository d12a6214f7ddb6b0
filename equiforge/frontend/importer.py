"""From an exported graph to a ``forge`` module: walks the nodes, looks up the table, keeps the signature.

    %0 = forge.reduce ... {loc = "model.py:12"}

Arguments of ``@main`` are the user's tensors in order, then those parameters, buffers and constants that are used.
Every result is checked against the shape and element type that eager reports.
"""

from __future__ import annotations

import keyword
import operator
import re
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.traits import is_side_effect_free

from equiforge.errors import DynamicShapeError, EquiforgeError, UnsupportedOpError
from equiforge.frontend.aliasing import Aliases, aliases_operand, is_write
from equiforge.frontend.builder import Builder, ResultType, element_of, shape_of
from equiforge.frontend.dtypes import element_type_of_dtype
from equiforge.frontend.exported import Exported, InputRecord
from equiforge.frontend.locations import location_of_node
from equiforge.frontend.opaque import opaque_call
from equiforge.frontend.table import LoweringFunction, load_table, may_be_called, refusal_hint

TINY = 16  # elements up to which a constant tensor is written into the program

_RESERVED = {"run", "torch", "triton", "tl"}


@dataclass(frozen=True)
class Output:
    """One leaf of what the program returns.

    ``result`` is its number among the results of ``@main``. ``kind`` is what eager promises of its memory: ``fresh``
    (its own), ``argument`` (argument ``source`` itself), ``view`` (sees argument ``source``), ``duplicate`` (the same
    tensor as output ``source``), ``constant`` (no tensor: ``value``).
    """

    kind: Literal["fresh", "argument", "view", "duplicate", "constant"]
    result: int | None = None
    source: int | None = None
    value: Any = None


@dataclass
class Imported:
    """A forge module with what is needed to call it: argument names, where the arguments come from, its outputs."""

    module: ModuleOp
    arg_names: list[str] = field(default_factory=list[str])
    arg_records: list[InputRecord] = field(default_factory=list[InputRecord])
    outputs: list[Output] = field(default_factory=list[Output])


def sanitized(name: str, taken: set[str]) -> str:
    """A Python identifier that is not taken yet."""
    clean = re.sub(r"\W", "_", name) or "arg"
    if clean[0].isdigit() or keyword.iskeyword(clean) or clean in _RESERVED:
        clean = f"_{clean}" if clean[0].isdigit() else f"{clean}_"
    unique, number = clean, 1
    while unique in taken:
        number += 1
        unique = f"{clean}_{number}"
    taken.add(unique)
    return unique


def import_exported(
    exported: Exported, numerics: str = "real", opaque: list[tuple[str, str | None]] | None = None
) -> Imported:
    """Build the module. Raises UnsupportedOpError or DynamicShapeError with the user's source line.

    With a list ``opaque``, operators without a lowering become ``forge.opaque`` and are noted there with their lines.
    """
    return _Importer(exported, opaque).run(numerics)


class _Importer:
    def __init__(self, exported: Exported, opaque: list[tuple[str, str | None]] | None = None):
        self.exported = exported
        self.opaque = opaque
        self.table = load_table()
        self.block = Block()
        self.builder = Builder(self.block)
        self.aliases = Aliases()
        self.plain: dict[Any, Any] = {}  # nodes that are no tensors: numbers, lists of tensors
        self.records: list[InputRecord] = []
        self.names: list[str] = []

    # -- signature ----------------------------------------------------------------------------------------------

    def run(self, numerics: str) -> Imported:
        graph = self.exported.graph
        self.aliases.enter_graph(graph)
        placeholders = {node.name: node for node in graph.nodes if node.op == "placeholder"}
        # User inputs first: the graph has the parameters in front.
        order = sorted(self.exported.inputs, key=lambda record: record.kind not in ("user", "constant"))
        taken: set[str] = set()
        for record in order:
            self._placeholder(placeholders[record.node], record, taken)
        outputs = self._walk(graph)
        return self._finish(outputs, numerics)

    def _placeholder(self, node: Any, record: InputRecord, taken: set[str]) -> None:
        if record.kind == "constant":
            self.plain[node] = record.value
            return
        value = node.meta["val"]
        name = record.path or record.node
        _check_static(value, f"input {name!r}", None)
        element = element_type_of_dtype(value.dtype)
        if element is None:
            raise UnsupportedOpError(
                f"input {name!r} has dtype {str(value.dtype).removeprefix('torch.')}, which has no counterpart",
                None,
                "supported: float64, float32, float16, bfloat16, int64, int32, int16, int8, bool",
            )
        if record.kind == "tensor" and value.numel() <= TINY:
            constant = self._small_constant(self.exported.tensors[record.path], element)
            if constant is not None:
                self.aliases.fresh(node, constant)
                return
        argument = self.block.insert_arg(TensorType(element, list(value.shape)), len(self.block.args))
        unique = sanitized(name, taken)
        argument.name_hint = unique
        self.aliases.fresh(node, argument, len(self.records))
        self.records.append(record)
        self.names.append(unique)

    def _small_constant(self, tensor: Any, element: Any) -> SSAValue | None:
        import torch
        from torch._subclasses.fake_tensor import FakeTensor

        if isinstance(tensor, FakeTensor) or tensor.is_meta:
            return None  # exported without data: the constant stays an argument
        self.builder.location = None
        values = tensor.detach().cpu()
        flat = values.reshape(-1).tolist()
        if flat and all(item == flat[0] and str(item) == str(flat[0]) for item in flat):
            return self.builder.full(flat[0], tuple(values.shape), element)
        array = (values.float() if values.dtype == torch.bfloat16 else values).numpy()
        return self.builder.dense(array, element)

    def _finish(self, leaves: list[Any], numerics: str) -> Imported:
        results: list[SSAValue] = []
        outputs: list[Output] = []
        seen: dict[int, int] = {}
        for leaf in leaves:
            cell = self.aliases.cells.get(leaf) if _is_node(leaf) else None
            if cell is None:
                value = self.plain[leaf] if _is_node(leaf) else leaf
                outputs.append(Output("constant", value=value))
                continue
            number = len(outputs)
            results.append(cell.value)
            place = len(results) - 1
            if id(cell) in seen:
                outputs.append(Output("duplicate", place, seen[id(cell)]))
                continue
            seen[id(cell)] = number
            argument = cell.storage.argument
            if argument is None:
                outputs.append(Output("fresh", place))
            else:
                same = cell.value is self.block.args[argument]
                outputs.append(Output("argument" if same else "view", place, argument))
        if not results:
            raise UnsupportedOpError("the program returns no tensor", None, "return the tensors to be computed")
        self.block.add_op(ReturnOp(*results))
        return self._module(outputs, results, numerics)

    def _module(self, outputs: list[Output], results: list[SSAValue], numerics: str) -> Imported:
        _remove_dead(self.block)
        kept = [
            number for number, record in enumerate(self.records)
            if record.kind == "user" or self.block.args[number].uses.get_length()
        ]  # fmt: skip
        renumbered = {old: new for new, old in enumerate(kept)}
        for number in reversed(range(len(self.records))):
            if number not in renumbered:
                self.block.erase_arg(self.block.args[number])
        outputs = [
            Output(o.kind, o.result, renumbered[o.source]) if o.kind in ("argument", "view") and o.source is not None
            else o for o in outputs
        ]  # fmt: skip
        names = [self.names[number] for number in kept]
        type_ = FunctionType.from_lists([a.type for a in self.block.args], [r.type for r in results])
        attributes = ArrayAttr([DictionaryAttr({"forge.name": StringAttr(name)}) for name in names])
        function = FuncOp("main", type_, Region(self.block), arg_attrs=attributes)
        module = ModuleOp([function])
        if numerics != "real":
            module.attributes["forge.numerics"] = StringAttr(numerics)
        module.verify()
        return Imported(module, names, [self.records[number] for number in kept], outputs)

    # -- nodes --------------------------------------------------------------------------------------------------

    def _walk(self, graph: Any) -> list[Any]:
        """Lower the nodes of a graph in order; returns the leaves of its output."""
        live = _live_nodes(graph)
        for node in graph.nodes:
            if node.op == "output":
                return list(_leaves(node.args[0]))
            if node.op == "call_function" and (node in live or _has_effect(node)):
                self._call(node)
        return []

    def _call(self, node: Any) -> None:
        target = node.target
        self.builder.target = _target_name(target)
        self.builder.location = location_of_node(node) or self.builder.location
        if target is operator.getitem:
            self._getitem(node)
            return
        if "wrap_with_set_grad_enabled" in self.builder.target:
            self._inline(node)
            return
        values = node.meta.get("val")
        each = cast("list[Any]", values) if isinstance(values, list | tuple) else [values]
        bound = _bind(target, node)
        arguments = {name: self._resolve(item) for name, item in bound.items()}
        first = next(iter(bound.values()), None)
        try:
            function, writes = self._lookup(target)
            self.builder.results = [self._result_type(item) for item in each]
            if writes:
                self.aliases.check_write(node, first, self.names)
            result = function(self.builder, *arguments.values())
            if self.opaque is not None and isinstance(result, list):
                _require_results(node, cast("list[Any]", result))
        except UnsupportedOpError:
            if self.opaque is None or not hasattr(target, "_schema") or is_write(target):
                raise
            if not may_be_called(self.builder.target):
                raise
            self.builder.results = [self._result_type(item) for item in each]
            result, writes = opaque_call(self.builder, target._schema, arguments), False
            self.opaque.append((self.builder.target, self.builder.location))
        self._check(node, result)
        self._record(node, first, result, writes, bound)

    def _lookup(self, target: Any) -> tuple[LoweringFunction, bool]:
        """The lowering function, and whether the op is an in-place form of the one that it lowers."""
        name = self.builder.target
        if name in self.table:
            return self.table[name], False
        if hasattr(target, "_schema") and is_write(target):
            packet, _, overload = name.removeprefix("aten.").rpartition(".")
            plain = packet.replace("__i", "__", 1) if packet.startswith("__i") else packet.removesuffix("_")
            function = self.table.get(f"aten.{plain}.{overload}")
            if function is not None:
                return function, True
        raise UnsupportedOpError(f"unsupported operator {name}", self.builder.location, refusal_hint(name))

    def _resolve(self, item: Any) -> Any:
        if _is_node(item):
            if item in self.plain:
                return self.plain[item]
            return self.aliases.cells[item].value
        if isinstance(item, list | tuple):
            return [self._resolve(part) for part in cast("list[Any]", item)]
        if type(item).__name__ in ("SymInt", "SymFloat", "SymBool"):
            raise DynamicShapeError("a size of the program is symbolic", self.builder.location, "compile for one shape")
        return item

    def _getitem(self, node: Any) -> None:
        source, number = node.args
        value = self.plain[source][number]
        if _is_node(value):  # an inlined graph returned one of its nodes
            self.aliases.same(node, value)
            return
        if value is None:
            name = _target_name(source.target)
            raise UnsupportedOpError(
                f"result {number} of {name} (indices) is used", location_of_node(node), refusal_hint("aten.argmax")
            )
        operand = self.plain.get(("operand", source))
        if operand is not None:
            base = cast("list[Any]", operand)[number] if isinstance(operand, list | tuple) else operand
            self.aliases.view(node, base, value)
        else:
            self.aliases.fresh(node, value)

    def _inline(self, node: Any) -> None:
        """A region under ``torch.no_grad()``: its graph is part of the program."""
        owner = node.graph.owning_module
        _enabled, submodule, *arguments = node.args
        graph = getattr(owner, submodule.target).graph
        self.aliases.enter_graph(graph)
        for placeholder, argument in zip((n for n in graph.nodes if n.op == "placeholder"), arguments, strict=True):
            if argument in self.aliases.cells:
                self.aliases.same(placeholder, argument)
            else:
                self.plain[placeholder] = self.plain.get(argument, argument)
        self.plain[node] = self._walk(graph)

    def _record(self, node: Any, first: Any, result: Any, writes: bool, bound: dict[str, Any]) -> None:
        if writes:
            self.aliases.write(node, first, result, self.names)
            return
        if isinstance(result, list):
            self.plain[node] = result
            if aliases_operand(node.target, None, None, {}):
                self.plain[("operand", node)] = first
            return
        is_tensor = _is_node(first) and first in self.aliases.cells
        value = node.meta.get("val")
        if is_tensor and aliases_operand(node.target, first.meta["val"], value, bound):
            unchanged = result is self.aliases.cells[first].value
            if unchanged and first.meta["val"].stride() == value.stride():
                self.aliases.same(node, first)
            else:
                self.aliases.view(node, first, result)
            return
        self.aliases.fresh(node, result)

    def _result_type(self, value: Any) -> ResultType | None:
        if not hasattr(value, "dtype"):
            return None
        _check_static(value, f"the result of {self.builder.target}", self.builder.location)
        element = element_type_of_dtype(value.dtype)
        if element is None:
            kind = str(value.dtype).removeprefix("torch.")
            hint = refusal_hint("complex") if "complex" in kind else "convert to a supported dtype before"
            raise UnsupportedOpError(f"{self.builder.target} has a result of dtype {kind}", self.builder.location, hint)
        return ResultType(tuple(int(size) for size in value.shape), element)

    def _check(self, node: Any, result: Any) -> None:
        values = cast("list[Any]", result) if isinstance(result, list) else [result]
        for value, expected in zip(values, self.builder.results, strict=True):
            if value is None or expected is None:
                continue
            if (shape_of(value), element_of(value)) != (expected.shape, expected.element_type):
                raise EquiforgeError(
                    f"internal: the lowering of {self.builder.target} gives {value.type}, eager gives "
                    f"{expected.element_type} {list(expected.shape)}",
                    self.builder.location,
                    "please report this program",
                )


def _is_node(item: Any) -> bool:
    """Is it a node of the exported graph (and not a value of the IR)?"""
    return hasattr(item, "op") and hasattr(item, "graph")


def _check_static(value: Any, what: str, location: str | None) -> None:
    symbols = [str(size) for size in value.shape if not isinstance(size, int)]
    if any("u" in symbol for symbol in symbols):  # torch's names for sizes that only values decide
        raise UnsupportedOpError(f"{what} has a shape that depends on values", location, refusal_hint("aten.nonzero"))
    if symbols:
        raise DynamicShapeError(
            f"{what} has a dynamic shape {tuple(str(size) for size in value.shape)}",
            location,
            "shapes are static here: export without dynamic_shapes, once for each shape",
        )


def _target_name(target: Any) -> str:
    return str(target) if hasattr(target, "_schema") else getattr(target, "__name__", str(target))


def _bind(target: Any, node: Any) -> dict[str, Any]:
    """The arguments of a call in the order of the overload's schema, defaults filled in."""
    bound: dict[str, Any] = {}
    for number, argument in enumerate(target._schema.arguments):
        if number < len(node.args):
            bound[argument.name] = node.args[number]
        else:
            bound[argument.name] = node.kwargs.get(argument.name, argument.default_value)
    return bound


def _leaves(item: Any) -> Any:
    if isinstance(item, list | tuple):
        for part in item:  # pyright: ignore[reportUnknownVariableType]
            yield from _leaves(part)
    else:
        yield item


def _has_effect(node: Any) -> bool:
    """Writes and draws of random numbers count although nobody reads their result."""
    import torch

    target = node.target
    if not hasattr(target, "_schema"):
        return False
    return is_write(target) or torch.Tag.nondeterministic_seeded in target.tags


def _live_nodes(graph: Any) -> set[Any]:
    """Nodes that the output or an effect needs."""
    live: set[Any] = set()
    for node in reversed(list(graph.nodes)):
        if (
            node.op == "output"
            or (node.op == "call_function" and _has_effect(node))
            or any(u in live for u in node.users)
        ):
            live.add(node)
    return live


def _require_results(node: Any, values: list[Any]) -> None:
    """Raises where a lowering leaves out a result that is used."""
    for user in node.users:
        if user.target is operator.getitem and user.users and values[user.args[1]] is None:
            raise UnsupportedOpError(f"result {user.args[1]} of {_target_name(node.target)} has no lowering")


def _remove_dead(block: Block) -> None:
    for op in reversed(list(block.ops)):
        if is_side_effect_free(op) and not any(result.uses.get_length() for result in op.results):
            op.detach()
            op.erase()
