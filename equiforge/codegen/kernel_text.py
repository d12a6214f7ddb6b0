"""One ``kernel.func`` as the text of a ``@triton.jit`` function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.ir import Block, Operation, SSAValue

from equiforge.codegen.errors import CodegenError
from equiforge.codegen.grid import Sizes
from equiforge.codegen.memory_text import MemoryText
from equiforge.codegen.pointwise_text import PointwiseText
from equiforge.codegen.printer import WIDE, element_name, inlinable
from equiforge.codegen.product_text import ProductText
from equiforge.codegen.tiles import Tile, typed
from equiforge.dialects import forge, kernel
from equiforge.dialects.tile_types import shape_of

#: Ops whose result may share its operand's text, so that uses of the one are uses of the other.
_ALIASES = (
    "tile.replicate",
    "tile.reduce",
    "tile.matmul",
    "forge.cast",
    "forge.transpose",
    "forge.expand",
    "forge.reshape",
)


class KernelText(MemoryText, PointwiseText, ProductText):
    """Prints one function: its coordinates, ops and loops."""

    def __init__(self, function: kernel.FuncOp, sizes: Sizes, helpers: set[str], strict: bool = False):
        super().__init__(function, sizes, helpers, strict)
        self._handlers: dict[str, Callable[[Any], None]] = {
            "kernel.view": _skip,
            "kernel.yield": _skip,
            "kernel.load": self._load,
            "kernel.gather": self._gather,
            "kernel.store": self._store,
            "kernel.fill": self._fill,
            "kernel.iota": self._iota,
            "kernel.for": self._for,
            "tile.replicate": self._replicate,
            "tile.reduce": self._reduce,
            "tile.matmul": self._matmul,
            "tile.accumulate": self._accumulate,
            "forge.compare": self._compare,
            "forge.select": self._select,
            "forge.cast": self._cast,
            "forge.transpose": self._transpose,
            "forge.expand": self._expand,
            "forge.reshape": self._reshape,
        }

    def text(self) -> str:
        self._grid()
        self._block(self.function.body.block)
        parameters = [*self.pointers, *(f"{b}: tl.constexpr" for b in self.blocks.values())]
        head = f"def {self.function.sym_name.data}({', '.join(parameters)}):"
        if len(head) > WIDE:
            head = f"def {self.function.sym_name.data}(\n    " + ",\n    ".join(parameters) + ",\n):"
        return "\n".join(["@triton.jit", head, *self._comments(), *self.head, *self.body]) + "\n"

    def _comments(self) -> list[str]:
        """Which axis cuts which dimension of what."""
        cuts: dict[str, dict[int, list[str]]] = {}
        for op in self.function.body.walk():
            if not isinstance(op, kernel.LoadOp | kernel.GatherOp | kernel.StoreOp):
                continue
            ref, value = (op.target, op.value) if isinstance(op, kernel.StoreOp) else (op.source, op.result)
            name = self._root(ref).name_hint or "?"
            collected = op.axis_name if isinstance(op, kernel.StoreOp) else None
            axes = [self.sizes.axis_on(value.type, dim) for dim in range(len(shape_of(value.type)))]
            for dim, axis in enumerate(axes if collected is None else [collected, *axes]):
                if axis is not None and name not in cuts.setdefault(axis, {}).setdefault(dim, []):
                    cuts[axis][dim].append(name)
        loops = [op for op in self.function.body.walk() if isinstance(op, kernel.ForOp)]
        slices = {op.axis_name: op.outer_name for op in loops if op.outer_name is not None}
        lines: list[str] = []
        for axis in sorted(cuts):
            places = "; ".join(f"dimension {d} of {', '.join(names)}" for d, names in sorted(cuts[axis].items()))
            role = "program" if axis in self.function.grid_axes else "loop"
            if axis in self.function.grid_axes and any(op.axis_name == axis for op in loops):
                role = "program and loop"
            if role == "loop" and axis in slices:
                role = f"loop in each slice of {slices[axis]}"
            lines.append(f"    # {axis} ({role}, {self.sizes.extents[axis]} elements): {places}")
        return lines

    def _block(self, block: Block) -> None:
        for op in block.ops:
            handler = self._handlers.get(op.name)
            if handler is not None:
                handler(op)
            elif isinstance(op, forge.UnaryOp | forge.BinaryOp):
                self._pointwise(op)
            else:
                raise CodegenError(f"{op.name} has no Triton form in a kernel")

    def _for(self, op: kernel.ForOp) -> None:
        axis = op.axis_name
        block = op.body.block
        last = cast(kernel.YieldOp, block.last_op)
        names: list[str] = []
        for number, (argument, init) in enumerate(zip(block.args, op.inits, strict=True)):
            name = self.names.fresh(op.res[number].name_hint or argument.name_hint or "acc")
            names.append(name)
            start = self._filled(self.values[init], argument.type)
            self._line(f"{name} = {typed(start) if start.number is not None else start.text}")
            self.values[argument] = Tile(name, self.sizes.dims(argument.type), element_name(argument.type))
        outer = dict(self.starts), dict(self.indices), dict(self.carried)
        self._in_place(block, last, names)
        size = self.sizes.tiles[axis]
        low, high = self._loop_bounds(op)
        for text, what in ((low, "first"), (high, "end")):
            if not text.isdigit() and not text.isidentifier():
                bound = self.names.fresh(f"{axis}_{what}")
                self._line(f"{bound} = {text}")
                low, high = (bound, high) if what == "first" else (low, bound)
        index = self.names.fresh(axis)
        start = index if size == 1 else self.names.fresh(f"{axis}_start")
        step = "" if size == 1 else f", {self.blocks[axis]}"
        self._line(f"for {start} in range({low}, {high}{step}):")
        self.depth += 1
        self.starts[axis], self.indices[axis] = start, index
        if size > 1:
            self._line(f"{index} = {start} + tl.arange(0, {self.blocks[axis]})")
        self._block(block)
        self._rest(block, last, names)
        self.depth -= 1
        self.starts, self.indices, self.carried = outer
        for name, result in zip(names, op.res, strict=True):
            self.values[result] = Tile(name, self.sizes.dims(result.type), element_name(result.type))

    def _in_place(self, block: Block, last: kernel.YieldOp, names: Sequence[str]) -> None:
        """Marks yielded values that may take the loop-carried name at once: nothing after them reads the old value."""
        order = {op: i for i, op in enumerate(block.ops)}
        yielded = list(last.operands)
        for name, argument, value in zip(names, block.args, yielded, strict=True):
            if value.owner not in order or yielded.count(value) > 1:
                continue
            if all(position <= order[cast(Operation, value.owner)] for position in _use_positions(argument, order)):
                self.carried[value] = name

    def _rest(self, block: Block, last: kernel.YieldOp, names: Sequence[str]) -> None:
        targets: list[str] = []
        texts: list[str] = []
        for name, argument, value in zip(names, block.args, last.operands, strict=True):
            if value in self.carried or value is argument:
                continue
            filled = self._filled(self.values[value], argument.type)
            targets.append(name)
            texts.append(typed(filled) if filled.number is not None else filled.text)
        if targets:
            self._line(f"{', '.join(targets)} = {', '.join(texts)}")

    def _loop_bounds(self, op: kernel.ForOp) -> tuple[str, str]:
        """Texts of the first and past-the-end element; the union of several ranges is visited from its first to its
        last element."""
        first, ends = self._slice_bounds(op)
        lows: list[str | None] = []
        highs: list[str | None] = []
        for r in op.ranges or ():
            lows.append(self._extreme([self._low(b) for b in r.lower], "maximum"))
            highs.append(self._extreme([self._high(b) for b in r.upper], "minimum"))
        # A range without a bound reaches to the end of what there is, and so does a bound beyond it.
        low = self._extreme([text for text in lows if text is not None], "minimum") if None not in lows else None
        high = self._extreme([text for text in highs if text is not None], "maximum") if None not in highs else None
        if low is not None and _is_number(low) and int(low) <= 0:
            low = None
        if high is not None and _is_number(high) and int(high) >= self.sizes.extents[op.axis_name]:
            high = None
        end = cast(str, self._extreme([*([high] if high is not None else []), *ends], "minimum"))
        if low is None:
            return first, end
        text = cast(str, self._extreme([low, first], "maximum"))
        size = self.sizes.tiles[op.axis_name]
        if text.isdigit():
            return str(int(text) // size * size), end
        return (f"{text} // {self.blocks[op.axis_name]} * {self.blocks[op.axis_name]}" if size > 1 else text), end

    def _slice_bounds(self, op: kernel.ForOp) -> tuple[str, list[str]]:
        """Texts of the first element that a loop may visit, and of what its end is the least of."""
        extent, outer = self.sizes.extents[op.axis_name], op.outer_name
        if outer is None or self.sizes.count(outer) == 1:
            return "0", [str(extent)]
        size = self.sizes.tiles[outer]
        start = self.starts[outer]
        end = f"{start} + {self.blocks[outer]}" if size > 1 else f"{start} + 1"
        return start, [end, *([str(extent)] if extent % size else [])]

    def _low(self, bound: kernel.BoundAttr) -> str:
        return _plus(self.starts[bound.axis_name], bound.shift.data) if bound.axis_name else str(bound.shift.data)

    def _high(self, bound: kernel.BoundAttr) -> str:
        """One past the last element that an upper bound allows."""
        if bound.axis_name is None:
            return str(bound.shift.data + 1)
        size = self.sizes.tiles[bound.axis_name]
        start = self.starts[bound.axis_name]
        shift = bound.shift.data
        if size == 1:
            return _plus(start, shift + 1)
        return _plus(
            f"{start} + {self.blocks[bound.axis_name]}" if start != "0" else self.blocks[bound.axis_name], shift
        )

    def _extreme(self, texts: list[str], function: str) -> str | None:
        if not texts:
            return None
        numbers = [int(t) for t in texts if _is_number(t)]
        rest = list(dict.fromkeys(t for t in texts if not _is_number(t)))
        if numbers:
            rest.append(str(max(numbers) if function == "maximum" else min(numbers)))
        text = rest[0]
        for other in rest[1:]:
            text = f"tl.{function}({text}, {other})"
        return text


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit()


def _plus(text: str, shift: int) -> str:
    if shift == 0:
        return text
    if text == "0":
        return str(shift)
    return f"{text} + {shift}" if shift > 0 else f"{text} - {-shift}"


def _use_positions(value: SSAValue, order: dict[Operation, int]) -> list[int]:
    """Where in a block a value, or what may share its text, is read."""
    positions: list[int] = []
    for use in value.uses:
        op: Operation | None = use.operation
        while op is not None and op not in order:
            op = op.parent_op()
        if op is None:
            continue
        positions.append(order[op] if not isinstance(use.operation, kernel.YieldOp) else len(order))
        if use.operation.name in _ALIASES or any(inlinable(r) for r in use.operation.results):
            for result in use.operation.results:
                positions.extend(_use_positions(result, order))
    return positions


def _skip(_op: Operation) -> None:
    """Ops that the text of others speaks for."""
