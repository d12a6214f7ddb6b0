"""Reads a ``.pt2`` export without unpickling anything.

The archive is a zip file: ``<name>/models/model.json`` holds the graph, ``<name>/data/weights`` and
``<name>/data/constants`` hold raw tensor bytes, described in a JSON file beside them. The example inputs are stored
as a pickle; they are left alone, and random inputs of the same types stand in for them. ``torch.export.load`` would
execute that pickle, so it is never called.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, cast

from equiforge.errors import DynamicShapeError, EquiforgeError, ProgramError, UnsupportedOpError
from equiforge.frontend.exported import Exported, InputKind, InputRecord

Json = dict[str, Any]

# Numbers of torch's export schema for the dtypes that can be stored raw.
_DTYPES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64",
    9: "complex32", 10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16", 29: "float8_e4m3fn",
    30: "float8_e5m2", 34: "uint32", 35: "uint64",
}  # fmt: skip

_AGAIN = "export it again with torch.export.save of this torch version"


def read_pt2(path: Path) -> Exported:
    """The program in the file. Raises ProgramError for a file that is no such archive or needs a pickle."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _Reader(path, archive).read()
    except EquiforgeError:
        raise
    except (zipfile.BadZipFile, OSError) as error:
        raise ProgramError(f"{path}: not a .pt2 archive ({error})", hint="write it with torch.export.save") from error
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError, RuntimeError) as error:
        text = str(error).splitlines()[0] if str(error) else ""
        raise ProgramError(f"{path}: malformed .pt2 archive ({type(error).__name__}: {text})", hint=_AGAIN) from error


class _Reader:
    def __init__(self, path: Path, archive: zipfile.ZipFile):
        self.path = path
        self.archive = archive
        names = archive.namelist()
        models = [name for name in names if name.endswith("models/model.json")]
        if not models:
            old = any(name.endswith("serialized_exported_program.json") for name in names)
            what = "holds an older format whose tensors are pickled" if old else "holds no models/model.json"
            raise ProgramError(f"{path}: the archive {what}", hint=_AGAIN)
        self.prefix = models[0].removesuffix("models/model.json")
        self.files = set(names)

    def _json(self, name: str) -> Json:
        return cast("Json", json.loads(self.archive.read(self.prefix + name)))

    def read(self) -> Exported:
        order = self.prefix + "byteorder"
        if order in self.files and self.archive.read(order).strip() != b"little":
            raise ProgramError(f"{self.path}: the archive's byte order is not little-endian", hint=_AGAIN)
        model = self._json("models/model.json")
        module = model["graph_module"]
        owner, graph, nodes = _graph(module["graph"])
        records = [_input_record(spec) for spec in module["signature"]["input_specs"]]
        inputs = [InputRecord(nodes[r.node].name, r.kind, r.path, r.value) for r in records]
        tensors: dict[str, Any] = {}
        needed = {record.path for record in inputs if record.path}
        for kind in ("weights", "constants"):
            tensors.update(self._tensors(kind, needed))
        missing = sorted(needed - set(tensors))
        if missing:
            raise ProgramError(f"{self.path}: the archive lacks the tensor {missing[0]!r}", hint=_AGAIN)
        in_spec, out_spec = _trees(module["module_call_graph"])
        return Exported(graph, inputs, tensors, in_spec, out_spec, owner)

    def _tensors(self, kind: str, needed: set[str]) -> dict[str, Any]:
        import torch

        config = f"data/{kind}/model_{kind}_config.json"
        if self.prefix + config not in self.files:
            return {}
        result: dict[str, Any] = {}
        for name, entry in self._json(config)["config"].items():
            if name not in needed:
                continue
            if entry.get("use_pickle"):
                raise ProgramError(
                    f"{self.path}: the tensor {name!r} is stored as a pickle, which could run code when read",
                    hint="export plain dense tensors",
                )
            meta = entry["tensor_meta"]
            raw = bytearray(self.archive.read(f"{self.prefix}data/{kind}/{entry['path_name']}"))
            dtype = _dtype(meta["dtype"])
            flat = torch.frombuffer(raw, dtype=dtype) if raw else torch.empty(0, dtype=dtype)
            sizes, strides = _ints(meta["sizes"], name), _ints(meta["strides"], name)
            result[name] = flat.as_strided(sizes, strides, _ints([meta["storage_offset"]], name)[0])
        return result


def _dtype(number: int) -> Any:
    import torch

    if number not in _DTYPES:
        raise ProgramError(f"the archive uses an unknown dtype number {number}", hint=_AGAIN)
    return getattr(torch, _DTYPES[number])


def _ints(sizes: list[Json], what: str) -> list[int]:
    if any("as_int" not in size for size in sizes):
        raise DynamicShapeError(
            f"{what!r} has a dynamic shape", None, "shapes are static here: export without dynamic_shapes"
        )
    return [size["as_int"] for size in sizes]


def _input_record(spec: Json) -> InputRecord:
    (kind, body), *_ = spec.items()
    if kind == "user_input":
        argument = body["arg"]
        if "as_tensor" not in argument:
            raise UnsupportedOpError(f"the program has an input that is no tensor ({next(iter(argument))})", None,
                                     "pass tensors, and bake other values in")  # fmt: skip
        return InputRecord(argument["as_tensor"]["name"], "user")
    if kind == "constant_input":
        return InputRecord(body["name"], "constant", value=_plain(body["value"]))
    names: dict[str, tuple[InputKind, str]] = {
        "parameter": ("parameter", "parameter_name"),
        "buffer": ("buffer", "buffer_name"),
        "tensor_constant": ("tensor", "tensor_constant_name"),
    }
    if kind not in names:
        raise UnsupportedOpError(f"the program holds a custom object ({kind})", None, "pass tensors only")
    record, key = names[kind]
    return InputRecord(body["arg"]["name"], record, path=body[key])


def _plain(value: Json) -> Any:
    (kind, body), *_ = value.items()
    return None if kind == "as_none" else body


def _trees(calls: list[Json]) -> tuple[Any, Any]:
    """The nesting of inputs and outputs; trees of unknown classes are flattened into a tuple."""
    from torch.utils import _pytree as pytree

    signature = next((call["signature"] for call in calls if call["fqn"] == ""), None)
    if signature is None:
        return None, None

    def load(text: str) -> Any:
        kinds = {item.get("type") for item in _tree_nodes(json.loads(text)[1])}
        if all(kind is None or str(kind).startswith(("builtins.", "collections.")) for kind in kinds):
            return pytree.treespec_loads(text)
        return None

    return load(signature["in_spec"]), load(signature["out_spec"])


def _tree_nodes(tree: Json) -> list[Json]:
    return [tree, *(node for child in tree.get("children_spec", []) for node in _tree_nodes(child))]


def _resolve_target(name: str) -> Any:
    """The operator of a name; only ATen's are looked up, so that a file can't call anything else."""
    import torch

    if name == "torch.ops.higher_order.wrap_with_set_grad_enabled":
        return torch.ops.higher_order.wrap_with_set_grad_enabled
    parts = name.split(".")
    if parts[:3] != ["torch", "ops", "aten"] or len(parts) != 5:
        if name.startswith(("_operator.", "math.", "torch.sym_")):
            raise DynamicShapeError(f"the program computes with symbolic sizes ({name})", None, "export one shape")
        raise UnsupportedOpError(f"unsupported operator {name}", None, "only ATen operators can be lowered")
    packet = getattr(torch.ops.aten, parts[3], None)
    overload = getattr(packet, parts[4], None)
    if overload is None:
        raise UnsupportedOpError(f"unknown operator {name}", None, "export it again with this torch version")
    return overload


def _graph(body: Json) -> tuple[Any, Any, dict[str, Any]]:
    """Build an ``torch.fx`` graph; ``meta['val']`` of a node is a tensor without data of its shape and strides."""
    import operator

    import torch
    from torch import fx

    root = torch.nn.Module()
    graph = fx.Graph()
    nodes: dict[str, Any] = {}
    examples = {name: _example(meta, name) for name, meta in body["tensor_values"].items()}

    def create(op: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Any:
        return graph.create_node(op, target, args, kwargs, name=name)

    for position, item in enumerate(body["inputs"]):
        (kind, value), *_ = item.items()
        name = value["name"] if kind == "as_tensor" else f"constant_{position}"
        node = create("placeholder", name, (), {}, name)
        if kind == "as_tensor":
            node.meta["val"] = examples[name]
        nodes[name] = node
    for entry in body["nodes"]:
        target = _resolve_target(entry["target"])
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for item in entry["inputs"]:
            value = _argument(item["arg"], nodes, root, graph)
            if item.get("kind") == 2:
                kwargs[item["name"]] = value
            else:
                args.append(value)
        _place_defaults(target, entry["inputs"], args)
        node = create("call_function", target, tuple(args), kwargs, entry.get("name") or "node")
        node.meta["stack_trace"] = entry["metadata"].get("stack_trace")
        _results(entry, node, nodes, examples, create, operator.getitem)
    outputs = tuple(_argument(item, nodes, root, graph) for item in body["outputs"])
    graph.output(outputs)
    # The module is the graph's owner: the importer finds the graphs of inlined regions through it.
    owner = fx.GraphModule(root, graph)
    owned = {node.name: node for node in owner.graph.nodes}
    return owner, owner.graph, {name: owned[node.name] for name, node in nodes.items()}


def _place_defaults(target: Any, inputs: list[Json], args: list[Any]) -> None:
    """Positional arguments are stored by name and may skip defaults in between: put those back."""
    schema = getattr(target, "_schema", None)
    if schema is None:
        return
    given = {item["name"]: value for item, value in zip([i for i in inputs if i.get("kind") != 2], args, strict=True)}
    full: list[Any] = []
    for argument in schema.arguments:
        if not given:
            break
        if argument.kwarg_only:
            continue
        full.append(given.pop(argument.name) if argument.name in given else argument.default_value)
    args[:] = full


def _results(entry: Json, node: Any, nodes: dict[str, Any], examples: Json, create: Any, getitem: Any) -> None:
    outputs = entry["outputs"]
    names: list[str | None] = []
    for output in outputs:
        (kind, value), *_ = output.items()
        if kind == "as_tensor":
            names.append(value["name"])
        elif kind == "as_tensors":
            names += [item["name"] for item in value]
        else:
            names.append(None)
    region = "higher_order" in entry["target"]
    if len(outputs) == 1 and "as_tensor" in outputs[0] and not region:
        nodes[names[0] or ""] = node
        node.meta["val"] = examples[names[0] or ""]
        return
    node.meta["val"] = [examples[name] if name else None for name in names]
    for number, name in enumerate(names):
        if name:
            item = create("call_function", getitem, (node, number), {}, name)
            item.meta["val"] = examples[name]
            item.meta["stack_trace"] = node.meta["stack_trace"]
            nodes[name] = item


def _example(meta: Json, name: str) -> Any:
    import torch

    sizes, strides = _ints(meta["sizes"], name), _ints(meta["strides"], name)
    return torch.empty_strided(sizes, strides, dtype=_dtype(meta["dtype"]), device="meta")


_VALUES = {
    "as_int", "as_ints", "as_float", "as_floats", "as_string", "as_strings", "as_bool", "as_bools", "as_int_lists",
    "as_float_lists",
}  # fmt: skip


def _argument(argument: Json, nodes: dict[str, Any], root: Any, graph: Any) -> Any:
    """A node's argument as fx has it."""
    import torch

    (kind, value), *_ = argument.items()
    if kind == "as_none":
        return None
    if kind == "as_tensor":
        return nodes[value["name"]]
    if kind == "as_tensors":
        return [nodes[item["name"]] for item in value]
    if kind in ("as_optional_tensors", "as_optional_tensor"):
        items = cast("list[Json]", value if isinstance(value, list) else [value])
        found = [_argument(item, nodes, root, graph) for item in items]
        return found if isinstance(value, list) else found[0]
    if kind in _VALUES:
        return value
    if kind == "as_scalar_type":
        return _dtype(value)
    if kind == "as_device":
        return torch.device("cpu")
    if kind == "as_layout":
        return torch.strided
    if kind == "as_memory_format":
        return torch.contiguous_format
    if kind == "as_graph":
        setattr(root, value["name"], _graph(value["graph"])[0])
        return graph.create_node("get_attr", value["name"], (), {}, name=value["name"])
    if kind.startswith("as_sym"):
        raise DynamicShapeError("the program computes with symbolic sizes", None, "export one shape")
    raise UnsupportedOpError(f"an operator has an argument of kind {kind}", None, "pass tensors and plain numbers")
