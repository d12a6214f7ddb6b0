"""Tables of the rules that move reshapes to operands: which shape an operand takes, and the types that result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from equiforge.analysis.dim_rules import drops_units, reshape_blocks
from equiforge.dialects.inference import surviving_dims
from equiforge.egraph.graph import EGraph
from equiforge.egraph.moved_reshapes import (
    MovedReduction,
    MovedReshape,
    Repetition,
    SplitContraction,
    TransposedMerge,
    moved_reduction,
    moved_reshape,
    repetition,
    split_contraction,
    transposed_merge,
)

Dims = tuple[int, ...]
_MOST_PAIRS = 2000


class Reshaped(NamedTuple):
    """A reshape by its types: of the operand, the target shape, and of the result."""

    operand: Dims
    target: Dims
    result: Dims


class ReshapeTables:
    """The reshapes of a program, and those that they become on operands that are broadcast or gathered.

    ``known`` are types that operands may have; a type is a shape, then a group for each dimension.
    """

    def __init__(self, graph: EGraph, known: Iterable[Dims]):
        self.known = set(known)
        self.pairs: dict[tuple[Dims, Dims], Reshaped] = {}
        self.own_types: set[Dims] = set()
        """Types that reshapes of the program result in, also where they move to operands of pointwise ops."""
        self.operands: dict[tuple[Dims, Dims, Dims], Reshaped] = {}
        self.products: dict[tuple[Dims, Dims, Dims, Dims], MovedReshape] = {}
        self.reductions: dict[tuple[Dims, Dims, int], MovedReduction] = {}
        self.contractions: dict[tuple[Dims, Dims], SplitContraction] = {}
        self.repetitions: dict[tuple[Dims, Dims, Dims], Repetition] = {}
        self.transposed: dict[tuple[Dims, Dims, Dims], TransposedMerge] = {}
        self._factors: dict[Dims, set[tuple[Dims, Dims]]] = {}
        self._reduced: dict[Dims, set[tuple[Dims, int]]] = {}
        self._expanded: dict[Dims, set[Dims]] = {}
        self._transposes: dict[Dims, set[Dims]] = {}
        self._reshapes: dict[Dims, set[Reshaped]] = {}
        own, moved = self._of_program(graph), list[Reshaped]()
        while (own or moved) and len(self.pairs) < _MOST_PAIRS:
            is_own = bool(own)
            pair = (own or moved).pop(0)
            if pair[:2] in self.pairs:
                continue
            self.pairs[pair.operand, pair.target] = pair
            (own if is_own else moved).extend(self._on_operands(pair))
            if is_own:
                self.own_types.add(pair.result)
            for derived in (*self._on_products(pair), *self._on_contractions(pair), *self._on_others(pair)):
                if _only_units(derived):
                    # Views go through it, so that what it looks at need not move.
                    self.pairs.setdefault(derived[:2], derived)
                else:
                    moved.append(derived)

    def _of_program(self, graph: EGraph) -> list[Reshaped]:
        """The reshapes of a program; notes its products, reductions and expansions by the types of their results."""
        found: list[Reshaped] = []
        types = {class_id: (*kind.shape, *kind.groups) for class_id, kind in graph.types.items()}
        for class_id, nodes in graph:
            made = types[class_id]
            for node in nodes:
                operands = tuple(types[c] for c in node.children)
                if node.op == "reshape":
                    found.append(Reshaped(operands[0], graph.types[class_id].shape, made))
                    self._reshapes.setdefault(operands[0], set()).add(found[-1])
                elif node.op == "transpose":
                    self._transposes.setdefault(operands[0], set()).add(tuple(int(d) for d in node.attrs))
                elif node.op == "matmul":
                    self._factors.setdefault(made, set()).add((operands[0], operands[1]))
                elif node.op == "reduce":
                    self._reduced.setdefault(made, set()).add((operands[0], int(node.attrs[1])))
                elif node.op == "expand":
                    self._expanded.setdefault(made, set()).add(operands[0])
        return found

    @property
    def types(self) -> set[Dims]:
        """Types that reshapes result in and look at, wherever they move."""
        return {t for p in (*self.pairs.values(), *self.operands.values()) for t in (p.operand, p.result)}

    def _on_operands(self, pair: Reshaped) -> list[Reshaped]:
        rank = len(pair.operand) // 2
        place = {old: new for new, old in surviving_dims(pair.operand[:rank], pair.target).items()}
        found: list[Reshaped] = []
        for other in sorted(self.known):
            if len(other) != len(pair.operand):
                continue
            broadcast = _broadcast(pair, other)
            if broadcast is not None:
                self.operands[pair.operand, pair.target, other] = broadcast
                if any(n != 1 for n in broadcast.target):
                    found.append(broadcast)
            differing = [d for d in range(rank) if other[d] != pair.operand[d]]
            if len(differing) == 1 and differing[0] in place and other[differing[0]] != 1:
                found.append(_replaced(pair, other, differing[0], place[differing[0]]))
        return found

    def _on_products(self, pair: Reshaped) -> list[Reshaped]:
        found: list[Reshaped] = []
        for a, b in sorted(self._factors.get(pair.operand, ())):
            moved = moved_reshape(pair.operand, pair.result, a, b)
            if moved is not None:
                self.products[pair.operand, pair.target, a, b] = moved
                self._factors.setdefault(moved.product_type, set()).add((moved.left_type, moved.permuted_type))
                found += [Reshaped(a, moved.left, moved.left_type), Reshaped(b, moved.right, moved.right_type)]
        return found

    def _on_contractions(self, pair: Reshaped) -> list[Reshaped]:
        """A contraction over a dimension that the reshape merges of two."""
        found: list[Reshaped] = []
        rank, wide = len(pair.operand) // 2, len(pair.target)
        merged = {news[0]: olds for olds, news in reshape_blocks(pair.operand[:rank], pair.target) if len(news) == 1}
        factors = sorted({f for known in self._factors.values() for f in known if pair.result in f})
        for a, b in factors:
            for operand, dim in ((a, wide - 1), (b, wide - 2)):
                olds = merged.get(dim, [])
                if operand == pair.result and len(olds) == 2:
                    outer, inner = ((pair.operand[d], pair.operand[rank + d]) for d in olds)
                    split = self.contractions[a, b] = split_contraction(a, b, outer, inner)
                    total = _with_unit(split.product_type, split.dim)
                    result = (
                        *total[: split.dim],
                        *total[split.dim + 1 : wide + 1 + split.dim],
                        *total[wide + 2 + split.dim :],
                    )
                    found += [
                        Reshaped(a, split.left, split.left_type),
                        Reshaped(b, split.right, split.right_type),
                        Reshaped(total, result[:wide], result),
                    ]
        return found

    def _on_others(self, pair: Reshaped) -> list[Reshaped]:
        """A reduction, or what is repeated, under a reshape; and other operands of what follows it."""
        found: list[Reshaped] = []
        if _only_units(pair):
            return found
        for operand, dim in sorted(self._reduced.get(pair.operand, ())):
            moved = moved_reduction(operand, dim, pair.result)
            if moved is not None:
                self.reductions[operand, pair.target, dim] = moved
                found.append(Reshaped(operand, moved.shape, moved.type))
        for operand in sorted(self._expanded.get(pair.operand, ())):
            rank = len(operand) // 2
            repeated = repetition(operand, pair.operand[:rank], pair.result)
            if repeated is not None:
                self.repetitions[operand, pair.operand[:rank], pair.target] = repeated
                found.append(Reshaped(operand, repeated.shape, repeated.type))
        if self.merges(pair):
            rank = len(pair.operand) // 2
            found.append(Reshaped(pair.result, pair.operand[:rank], pair.operand))
            found += self._on_transposes(pair)
        return found

    def _on_transposes(self, pair: Reshaped) -> list[Reshaped]:
        """Transpositions of what a reshape merges, and the reshapes that follow these."""
        found: list[Reshaped] = []
        wide = len(pair.target)
        for perm in sorted(self._transposes.get(pair.result, ())):
            moved = transposed_merge(pair.operand, pair.target, perm)
            if moved is not None:
                self.transposed[pair.operand, pair.target, perm] = moved
                result = (*moved.target, *(pair.result[wide + d] for d in perm))
                found.append(Reshaped(moved.permuted_type, moved.target, result))
                following = sorted(self._reshapes.get(result, ()))
                found += [Reshaped(moved.permuted_type, after.target, after.result) for after in following]
        return found

    @staticmethod
    def merges(pair: Reshaped) -> bool:
        """Whether a reshape merges dimensions."""
        return any(len(olds) > 1 for olds, _ in reshape_blocks(pair.operand[: len(pair.operand) // 2], pair.target))

    @property
    def perms(self) -> set[Dims]:
        """Permutations where a reshape moves through a product or a transposition."""
        moved = {p for moved in self.products.values() for p in (moved.perm, moved.order)}
        return moved | {moved.perm for moved in (*self.contractions.values(), *self.transposed.values())}

    def lines(self) -> list[str]:
        """The tables as egglog text."""
        lines: list[str] = []
        for (operand, target), pair in sorted(self.pairs.items()):
            rank = len(operand) // 2
            for new, old in surviving_dims(operand[:rank], target).items():
                lines.append(f"(set (survives {_vec(operand)} {_vec(target)} {new}) {old})")
            merged = _merged(operand[:rank], target)
            if merged is not None:
                lines.append(f"(set (merged {_vec(operand)} {_vec(target)}) {merged})")
            if self.merges(pair):
                lines.append(f"(merges {_vec(operand)} {_vec(target)})")
        for key, broadcast in sorted(self.operands.items()):
            if key[:2] in self.pairs:
                lines.append(f"(set (reshaped {_row(key)}) {_vec(broadcast.target)})")
                lines.append(f"(set (reshaped-type {_row(key)}) {_vec(broadcast.result)})")
        rows: list[tuple[str, Mapping[tuple[Any, ...], tuple[Any, ...]]]] = [
            ("product-reshaped", self.products),
            ("reduction-reshaped", self.reductions),
            ("contraction-split", self.contractions),
            ("repetition-reshaped", self.repetitions),
            ("merge-transposed", self.transposed),
        ]
        for relation, table in rows:
            lines += [f"({relation} {_row((*key, *moved))})" for key, moved in sorted(table.items())]
        return lines


def _row(values: Iterable[Dims | int]) -> str:
    return " ".join(str(v) if isinstance(v, int) else _vec(v) for v in values)


def _with_unit(type_: Dims, dim: int) -> Dims:
    """A type with one element along a dimension."""
    changed = list(type_)
    changed[dim], changed[len(type_) // 2 + dim] = 1, -1
    return tuple(changed)


def _vec(values: Dims) -> str:
    return f"(vec-of {' '.join(map(str, values))})" if values else "(vec-empty)"


def _broadcast(pair: Reshaped, other: Dims) -> Reshaped | None:
    """The reshape of an operand that is broadcast to the pair's; None if a run that is split or merged is whole in
    some of its dimensions only."""
    rank, wide = len(other) // 2, len(pair.target)
    for dim in range(rank):
        same = (other[dim], other[rank + dim]) == (pair.operand[dim], pair.operand[rank + dim])
        if not same and other[dim] != 1:
            return None
    shape, groups = [1] * wide, [-1] * wide
    for olds, news in reshape_blocks(pair.operand[:rank], pair.target):
        whole = [other[d] != 1 for d in olds]
        if any(whole) and not all(whole):
            return None
        if all(whole):
            for new in news:
                shape[new], groups[new] = pair.target[new], pair.result[wide + new]
    return Reshaped(other, tuple(shape), (*shape, *groups))


def _replaced(pair: Reshaped, other: Dims, old: int, new: int) -> Reshaped:
    """The reshape where a dimension that survives has another extent and group."""
    rank, wide = len(other) // 2, len(pair.target)
    result = list(pair.result)
    result[new], result[wide + new] = other[old], other[rank + old]
    return Reshaped(other, tuple(result[:wide]), tuple(result))


def _only_units(pair: Reshaped) -> bool:
    """Whether a reshape only adds or drops dimensions of size 1."""
    return drops_units(pair.operand[: len(pair.operand) // 2], pair.target)


def _merged(shape: Dims, target: Dims) -> int | None:
    """The dimension of two elements that a reshape merges with the one before it, if it does nothing else."""
    for dim in range(1, len(shape)):
        if shape[dim] == 2 and target == (*shape[: dim - 1], 2 * shape[dim - 1], *shape[dim + 1 :]):
            return dim
    return None
