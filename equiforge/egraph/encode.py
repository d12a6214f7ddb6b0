"""forge functions as initial e-graphs: one class an op, axes from dimension groups.

In real arithmetic, casts between float types are transparent: the class of ``forge.cast`` is its operand's, and the
class remembers the
widest and narrowest storage type that the program gives to the value. In strict arithmetic a cast is a rounding step
and stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from equiforge.analysis.dim_groups import DimGroups
from equiforge.dialects import forge
from equiforge.dialects.op_table import HALVES
from equiforge.dialects.tile_types import element_name
from equiforge.egraph.builder import GraphBuilder, index_node
from equiforge.egraph.graph import ClassType, EGraph, ENode
from equiforge.errors import EquiforgeError, UnsupportedOpError

WHOLE_EXTENT = 256
"""A dimension that is reduced somewhere gets an axis above this extent; up to it a tile holds it whole."""

SPLIT_EXTENT = 2048
"""A dimension that is reduced gets a second, outer axis from this extent on: partial results of its slices can go to
memory, so that more blocks work on it (split-K, flash-decoding). Shorter ones have no use for two levels."""

_MOST_WHOLE = 1 << 15
"""Elements of an operand of a product that a block holds at most, where its dimensions are not cut: 64 KiB of f16."""
_POINTWISE = ("unary", "binary", "select", "cast", "concat", "gather")
_STRUCTURAL = ("transpose", "reshape", "expand", "slice")
_WIDTH = {"bf16": 2, "f16": 3, "f32": 4, "f64": 5}


class _Encoder:
    def __init__(self, module: ModuleOp, whole_extent: int, split_extent: int):
        functions = [op for op in module.body.ops if isinstance(op, FuncOp)]
        if len(functions) != 1:
            raise EquiforgeError(f"expected one function in the module, found {len(functions)}")
        self.function = functions[0]
        numerics = module.attributes.get("forge.numerics")
        self.builder = GraphBuilder()
        self.graph = self.builder.graph
        self.graph.numerics = numerics.data if isinstance(numerics, StringAttr) else "real"
        self.groups = DimGroups(self.function)
        self.whole_extent = whole_extent
        self.split_extent = split_extent
        self.classes: dict[SSAValue, int] = {}
        self.leafy: set[int] = set()
        self.serial = 0
        self.extra_groups = 0
        elements = {element_name(self._tensor(v).element_type) for v in self._values()}
        self.float_element = "f64" if "f64" in elements else "f32"

    def _values(self) -> list[SSAValue]:
        block = self.function.body.block
        return [
            v for v in (*block.args, *(r for op in block.ops for r in op.results)) if isinstance(v.type, TensorType)
        ]

    @staticmethod
    def _tensor(value: SSAValue) -> TensorType[Any]:
        return cast("TensorType[Any]", value.type)

    def _computed_element(self, storage: str) -> str:
        return self.float_element if storage[0] in "fb" else storage

    def _type(self, value: SSAValue) -> ClassType:
        kind = self._tensor(value)
        storage = element_name(kind.element_type)
        return ClassType(
            tuple(kind.get_shape()), (), self.groups.dims(value), self._computed_element(storage), storage, storage
        )

    def encode(self) -> EGraph:
        block = self.function.body.block
        self._declare_axes()
        for argument, name in zip(block.args, argument_names(self.function), strict=True):
            kind = self._type(argument)
            class_id = self.builder.input(name, kind.shape, kind.groups, cast(str, kind.wide), kind.element)
            self.classes[argument] = class_id
            self.leafy.add(class_id)
        for op in block.ops:
            if isinstance(op, ReturnOp):
                self.graph.roots = [self.classes[v] for v in op.operands]
                self.graph.root_elements = [element_name(self._tensor(v).element_type) for v in op.operands]
            else:
                self._op(op)
        self.graph.inner = self._inner()
        return self.graph

    def _inner(self) -> set[int]:
        """Values that only one pointwise op uses, for a result that is not smaller."""
        users: dict[int, set[int]] = {}
        for class_id, nodes in self.graph:
            for node in nodes:
                for child in node.children:
                    users.setdefault(child, set()).add(class_id)
        found: set[int] = set()
        for class_id, using in users.items():
            kind = self.graph.types[class_id]
            user = next(iter(using))
            pointwise = all(n.op in _POINTWISE for n in (*self.graph.nodes[user], *self.graph.nodes[class_id]))
            larger = math.prod(kind.shape) <= math.prod(self.graph.types[user].shape)
            if len(using) == 1 and pointwise and larger and kind.wide is not None and class_id not in self.graph.roots:
                found.add(class_id)
        return found

    def _op(self, op: Operation) -> None:
        name = op.name.removeprefix("forge.")
        result = op.results[0]
        operands = [self.classes[v] for v in op.operands]
        if name == "cast" and self._transparent(op):
            class_id = operands[0]
            self._note_cast(class_id, op)
        elif isinstance(op, forge.PadOp):
            class_id = self._pad(op, operands[0])
        elif isinstance(op, forge.ConcatOp):
            class_id = self._concat(op, operands)
        else:
            class_id = self._add(op, name, operands)
        self.classes[result] = class_id
        location = op.attributes.get("loc")
        if isinstance(location, StringAttr):
            self.graph.locations.setdefault(class_id, location.data)
        if result.name_hint:
            self.graph.names.setdefault(class_id, result.name_hint)

    def _transparent(self, op: Operation) -> bool:
        source = element_name(self._tensor(op.operands[0]).element_type)
        target = element_name(self._tensor(op.results[0]).element_type)
        return source == target or (self.graph.numerics == "real" and source in _WIDTH and target in _WIDTH)

    def _note_cast(self, class_id: int, op: Operation) -> None:
        """A widening cast is exact and changes nothing. A narrowing one is where the program rounds: the wide value
        is one of the
        program's own only if something else uses it too."""
        source, target = (element_name(self._tensor(v).element_type) for v in (op.operands[0], op.results[0]))
        if _WIDTH.get(target, 0) >= _WIDTH.get(source, 0):
            return
        self._note_storage(class_id, target)
        kind = self.graph.types[class_id]
        users = [use.operation for use in op.operands[0].uses]
        if kind.wide == source and all(
            u.name == "forge.cast" and u.results[0].type == op.results[0].type for u in users
        ):
            self.graph.types[class_id] = ClassType(
                kind.shape, kind.state, kind.groups, kind.element, kind.narrow, kind.narrow
            )

    def _note_storage(self, class_id: int, storage: str) -> None:
        """The program also holds the value of a computed class in another float type."""
        kind = self.graph.types[class_id]
        if class_id in self.leafy or kind.wide is None or kind.narrow is None or storage not in _WIDTH:
            return
        wide = max(kind.wide, storage, key=lambda e: _WIDTH.get(e, 0))
        narrow = min(kind.narrow, storage, key=lambda e: _WIDTH.get(e, 9))
        self.graph.types[class_id] = ClassType(kind.shape, kind.state, kind.groups, kind.element, wide, narrow)

    def _add(self, op: Operation, name: str, operands: list[int]) -> int:
        kind = self._type(op.results[0])
        if name == "constant":
            return self._constant(cast(forge.ConstantOp, op), kind)
        node = self._node(op, name, operands)
        if node is None:
            location = op.attributes.get("loc")
            raise UnsupportedOpError(
                f"{op.name} is not explored by the search",
                location.data if isinstance(location, StringAttr) else None,
                "keep this part of the program outside the optimized function",
            )
        leafy = name in ("iota", "index") or (name in _STRUCTURAL and operands[0] in self.leafy)
        if leafy:
            kind = ClassType(kind.shape, kind.state, kind.groups, kind.element)
        known = len(self.graph.nodes)
        class_id = self.builder.add(node, kind)
        if leafy:
            self.leafy.add(class_id)
        elif class_id < known:
            self._note_storage(class_id, cast(str, kind.wide))
        if self.graph.numerics == "strict" and not leafy and name not in (*_STRUCTURAL, "cast", "select"):
            return self._rounded(class_id, kind)
        return class_id

    def _rounded(self, class_id: int, kind: ClassType) -> int:
        """As written, an op on a half type rounds its result: arithmetic inside kernels is wider, so the step is
        explicit."""
        if kind.wide not in HALVES:
            return class_id
        return self.builder.add(ENode("cast", (kind.wide,), (class_id,)), kind)

    def _constant(self, op: forge.ConstantOp, kind: ClassType) -> int:
        splat = op.splat
        values = (splat,) if splat is not None else tuple(op.value.get_values())
        class_id = self.builder.constant(values, kind.shape, cast(str, kind.wide), kind.element)
        if any(g >= 0 for g in kind.groups):
            self.graph.types[class_id] = ClassType(kind.shape, (), kind.groups, kind.element)
        self.leafy.add(class_id)
        return class_id

    def _node(self, op: Operation, name: str, operands: list[int]) -> ENode | None:
        children = tuple(operands)
        if name in forge.UNARY_OPS:
            return ENode("unary", (name,), children)
        if name in forge.BINARY_OPS:
            integer = name == "div" and self.graph.types[operands[0]].element[0] == "i"
            return ENode("binary", ("int.div" if integer else name,), children)
        attrs = ATTRIBUTES.get(name)
        if attrs is None:
            return None
        if name == "iota":
            self.serial += 1
            return ENode("iota", (*attrs(op), self.serial), ())
        if isinstance(op, forge.IndexOp):
            kind = self._type(op.result)
            return index_node(kind.shape, kind.groups, op.dim, op.places)
        if name == "compare":
            return ENode("binary", attrs(op), children)
        return ENode(name, attrs(op), children)

    # Joined and padded dimensions

    def _concat(self, op: forge.ConcatOp, operands: list[int]) -> int:
        """Joins two at a time. What is joined on the way is no value of the program, and its dimension no group."""
        kind = self._type(op.result)
        class_id = operands[0]
        for number, other in enumerate(operands[1:], start=2):
            if number < len(operands):
                part, extent = self.graph.types[class_id], self.graph.types[other].shape[op.dim]
                shape = _replaced(part.shape, op.dim, part.shape[op.dim] + extent)
                joined = ClassType(shape, (), _replaced(kind.groups, op.dim, self._new_group()), kind.element)
            else:
                joined = kind
            class_id = self.builder.add(ENode("concat", (op.dim,), (class_id, other)), joined)
        return class_id

    def _new_group(self) -> int:
        self.extra_groups += 1
        return len(self.groups) + self.extra_groups - 1

    def _pad(self, op: forge.PadOp, operand: int) -> int:
        """Element i is element i - low of the operand where there is one, else the value."""
        kind = self._type(op.result)
        extent, dim = self.graph.types[operand].shape[op.dim], op.dim

        def places(start: int, step: int, low: int, high: int) -> int:
            return self.builder.index(kind.shape, kind.groups, dim, forge.Places(start, step, 1, 0, low, high))

        here = places(0, 1, 0, kind.shape[dim] - 1)
        mask_type = self.graph.types[here]
        mask_type = ClassType(mask_type.shape, (), mask_type.groups, "i1")
        bounds = [("cmp.ge", op.low)] if op.low else []
        bounds += [("cmp.lt", op.low + extent)] if op.high else []
        masks = [
            self.builder.add(ENode("binary", (name,), (here, places(n, 0, n, n))), mask_type) for name, n in bounds
        ]
        if not masks:
            return operand
        mask = masks[0]
        if len(masks) == 2:
            mask = self.builder.add(ENode("binary", ("and",), (masks[0], masks[1])), mask_type)
        inside = operand
        if extent != 1:
            index = places(-op.low, 1, 0, extent - 1)
            unnamed = ClassType(kind.shape, (), kind.groups, kind.element)
            inside = self.builder.add(ENode("gather", (dim,), (operand, index)), unnamed)
        value: float | int = op.value if kind.element[0] in "fb" else int(op.value)
        unit = (1,) * len(kind.shape)
        outside = self.builder.constant((value,), unit, cast(str, kind.wide), kind.element)
        return self.builder.add(ENode("select", (), (mask, inside, outside)), kind)

    # Axes

    def _declare_axes(self) -> None:
        """One axis for each dimension group that a kernel may cut; two where a tensor holds the group twice, or where a
        reduction over it may be split in slices and these in tiles."""
        names = self._group_names()
        uncut = self._pieces() | self._whole() | self._of_heads()
        declared: list[tuple[str, int, int]] = []
        for group in range(len(self.groups)):
            extent = self.groups.extent(group)
            if extent <= 1 or group in uncut:
                continue
            for copy in range(min(2, self.groups.multiplicity(group))):
                declared.append((names[group] + "_" * copy, extent, group))
        for name, extent, group in sorted(declared):
            within = self.builder.axis(f"{name}_split", extent, group) if self._is_split(group) else -1
            self.builder.axis(name, extent, group, within)

    def _whole(self) -> set[int]:
        """Reduced groups that blocks take as a whole: short ones, as long as the operands of products fit a block."""
        groups = range(len(self.groups))
        whole = {g for g in groups if self.groups.reduced(g) and self.groups.extent(g) <= self.whole_extent}
        for op in self.function.body.block.ops:
            for operand in op.operands if isinstance(op, forge.MatmulOp) else ():
                left = sorted((g for g in self.groups.dims(operand)[-2:] if g in whole), key=self.groups.extent)
                while left and math.prod(map(self.groups.extent, left)) > _MOST_WHOLE:
                    whole.discard(left.pop())
        return whole

    def _of_heads(self) -> set[int]:
        """The short last parts of what the columns of products are split in, as the elements of a head: blocks have the
        other parts, rows and heads, to cut, and a cut would make all that leads to these columns again."""
        roles, arguments = self.groups.roles, self._groups_of(self.function.body.block.args)
        split = [r for r in self.groups.relations if r.kind == "product" and len(r.parts) > 1]
        last = {r.parts[-1] for r in split if "n" in roles(r.whole)}
        return {g for g in last - arguments if self.groups.extent(g) <= self.whole_extent and roles(g) <= {"n"}}

    def _groups_of(self, values: Iterable[SSAValue]) -> set[int]:
        return {g for v in values for g in self.groups.dims(v)}

    def _is_split(self, group: int) -> bool:
        long = self.groups.extent(group) >= max(2, self.split_extent)
        return long and self.groups.reduced(group) and self.groups.multiplicity(group) == 1

    def _pieces(self) -> set[int]:
        """Groups of which a program has only pieces that it joins again or cuts out, as the halves of a rotation: no
        result and no product or reduction has them, so that kernels need not cut them."""
        pieces = {p for r in self.groups.relations if r.kind in ("sum", "slice") for p in r.parts}
        last = self.function.body.block.last_op
        kept = self._groups_of((*self.function.body.block.args, *(last.operands if last is not None else ())))
        return {g for g in pieces - kept if not self.groups.roles(g)}

    def _group_names(self) -> dict[int, str]:
        """A group is called after the first argument dimension in it, else after the first value of the program."""
        names: dict[int, str] = {}
        block = self.function.body.block
        for argument, name in zip(block.args, argument_names(self.function), strict=True):
            for dim, group in enumerate(self.groups.dims(argument)):
                names.setdefault(group, f"{name}{dim}")
        for value in self._values():
            for dim, group in enumerate(self.groups.dims(value)):
                names.setdefault(group, f"{value.name_hint or 'x'}{dim}_{group}")
        return names


def _replaced(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])


def argument_names(function: FuncOp) -> list[str]:
    """Names of the arguments: the SSA name hints, else ``arg<i>``; made unique."""
    names: list[str] = []
    for index, argument in enumerate(function.body.block.args):
        name = argument.name_hint or f"arg{index}"
        names.append(name if name not in names else f"{name}_{index}")
    return names


ATTRIBUTES: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    # Attributes of the e-node for a forge op that is neither unary nor binary.
    "compare": lambda op: (f"cmp.{op.predicate}",),
    "select": lambda op: (),
    "cast": lambda op: (element_name(op.results[0].type.element_type),),
    "matmul": lambda op: (),
    "reduce": lambda op: (op.reducer, op.dim),
    "transpose": lambda op: tuple(op.perm),
    "reshape": lambda op: tuple(op.results[0].type.get_shape()),
    "expand": lambda op: tuple(op.results[0].type.get_shape()),
    "concat": lambda op: (op.dim,),
    "slice": lambda op: (op.dim, op.start, op.stop, op.step),
    "gather": lambda op: (op.dim,),
    "iota": lambda op: (op.dim,),
    "index": lambda op: (),
}


def encode(module: ModuleOp, whole_extent: int = WHOLE_EXTENT, split_extent: int = SPLIT_EXTENT) -> EGraph:
    """The initial e-graph of the one function of a forge module.

    Reduced dimensions of at most ``whole_extent`` elements get no axis, those of at least ``split_extent`` two. Raises
    UnsupportedOpError, with the user's source line, for ops that the rules have no form for.
    """
    return _Encoder(module, whole_extent, split_extent).encode()
