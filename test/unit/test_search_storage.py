"""Stored partial results: a reduction in two kernels, the first of which collects an axis (split-K)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from equiforge.dialects import forge, tile
from equiforge.dialects.tile_axes import collected_tile
from equiforge.egraph.graph import Axis, ClassType, EGraph, ENode
from equiforge.search.cost import CostModel
from equiforge.search.extract import Candidate, ExtractOptions, extract
from equiforge.search.normal_form import Load, Space
from equiforge.search.to_tile import to_tile
from equiforge.tune.targets import load_target
from equiforge.verify.interpreter import evaluate


class SplitProduct:
    """y = x @ W, rows cut by axis ``rows``, columns by ``columns``, contraction by ``sums``: as one kernel with a loop,
    and as partial products that a second kernel adds. The order of the axes is that of their names."""

    def __init__(self, m: int, n: int, k: int, count: int, rows: str, columns: str, sums: str, storage: str = "f16"):
        names = sorted([rows, columns, sums])
        extent = {rows: (m, 0), columns: (n, 1), sums: (k, 2)}
        axes = [Axis(name, *extent[name]) for name in names]
        inputs = [("x", (m, k), storage), ("W", (k, n), storage)]
        self.graph = EGraph(nodes={}, types={}, roots=[], axes=axes, inputs=inputs, root_elements=[storage])
        self.element = "f64" if storage == "f64" else "f32"
        self.row, self.column, self.sum = (names.index(name) for name in (rows, columns, sums))
        a, b, s = self.row, self.column, self.sum
        x = self.add((m, k), (0, 2), {}, ENode("input", (0,), ()))
        w = self.add((k, n), (2, 1), {}, ENode("input", (1,), ()))
        x_tile = self.views(x, {a: 0, b: -1, s: 1})
        w_tile = self.views(w, {a: -1, b: 1, s: 0})
        shape, groups = (m, n), (0, 1)
        partial = self.add(shape, groups, {a: 0, b: 1, s: -2}, ENode("tilematmul", (), (x_tile, w_tile)))
        self.partials = self.add((count, *shape), (-1, *groups), {})
        collected = self.combined(self.partials, {a: 1, b: 2})
        self.graph.nodes[collected].append(ENode("collect", (s,), (partial,)))
        viewed = self.views(self.partials, {a: 1, b: 2}, {(a, b): collected})
        total = self.add((1, *shape), (-1, *groups), {a: 1, b: 2}, ENode("reduce", ("sum", 0), (viewed,)))
        self.result = self.add(shape, groups, {}, wide=storage)
        y_tile = self.combined(self.result, {a: 0, b: 1})
        self.graph.nodes[y_tile] += [ENode("preduce", ("sum", s), (partial,)), ENode("reshape", shape, (total,))]
        self.graph.roots.append(self.result)

    def add(
        self,
        shape: tuple[int, ...],
        groups: tuple[int, ...],
        state: dict[int, int],
        *nodes: ENode,
        wide: str | None = None,
    ) -> int:
        class_id = len(self.graph.nodes)
        self.graph.nodes[class_id] = list(nodes)
        self.graph.types[class_id] = ClassType(shape, tuple(sorted(state.items())), groups, self.element, wide)
        return class_id

    def views(self, class_id: int, state: dict[int, int], last: dict[tuple[int, int], int] | None = None) -> int:
        """The views of a class in the order of the axes; the last one is a node of the class that ``last`` has."""
        kind = self.graph.types[class_id]
        whole = state
        state = {}
        for axis in sorted(whole):
            node = ENode("view", (whole[axis], axis), (class_id,))
            state[axis] = whole[axis]
            if last and state == whole:
                (class_id,) = last.values()
                self.graph.nodes[class_id].append(node)
            else:
                class_id = self.add(kind.shape, kind.groups, state, node)
        return class_id

    def combined(self, class_id: int, state: dict[int, int]) -> int:
        """The tiles that a class combines, by rising axes from the class inwards."""
        kind = self.graph.types[class_id]
        done: dict[int, int] = {}
        for axis in sorted(state):
            done[axis] = state[axis]
            inner = self.add(kind.shape, kind.groups, done)
            self.graph.nodes[class_id].append(ENode("combine", (state[axis], axis), (inner,)))
            class_id = inner
        return class_id


def everything(graph: EGraph, target: str = "h200") -> list[Candidate]:
    return extract(graph, ExtractOptions(max_candidates=None, target=target)).candidates


ORDERS = [("a", "b", "c"), ("a", "c", "b"), ("b", "c", "a")]
"""Axes of rows, columns and contraction: the collected one last, in the middle, first."""


@pytest.mark.parametrize(("rows", "columns", "sums"), ORDERS)
@pytest.mark.parametrize(("k", "count"), [(100, 4), (96, 3), (64, 1)])
def test_a_split_product_is_two_kernels(rows: str, columns: str, sums: str, k: int, count: int):
    graph = SplitProduct(20, 12, k, count, rows, columns, sums).graph
    one, two = sorted(everything(graph), key=lambda c: c.launches)
    assert (one.launches, two.launches) == (1, 2)
    x, w = (np.random.default_rng(0).standard_normal(shape).astype(np.float16) for _, shape, _ in graph.inputs)
    for candidate in (one, two):
        module = to_tile(graph, candidate)
        module.verify()
        for sizes in ({}, {rows: 8, sums: 7}):
            (found,) = evaluate(module, [x, w], sizes)
            np.testing.assert_allclose(found, x.astype(np.float64) @ w.astype(np.float64), rtol=1e-12, atol=1e-13)


def ops(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk() if op.name.startswith(("tile.", "forge.")) and op.name != "tile.axis"]


@pytest.mark.parametrize(("storage", "stored"), [("f16", "f32"), ("f32", "f32"), ("f64", "f64")])
def test_partial_results_are_stored_in_the_type_they_are_computed_in(storage: str, stored: str):
    split = SplitProduct(20, 12, 100, 4, "a", "b", "c", storage)
    (candidate,) = [c for c in everything(split.graph) if c.launches == 2]
    module = to_tile(split.graph, candidate)
    first, second = [op for op in module.walk() if isinstance(op, tile.StoreOp)]
    assert str(first.result.type) == f"tensor<4x20x12x{stored}>"
    assert str(second.result.type) == f"tensor<20x12x{storage}>"
    (collect,) = [op for op in module.walk() if isinstance(op, tile.CollectOp)]
    assert collect.count == 4
    # A view for each operand and axis, the product, its collection; then views, the sum, and the way back.
    kernel = ["tile.matmul", "tile.collect", "tile.combine", "tile.combine", "tile.store"]
    following = ["tile.partition", "tile.partition", "tile.reduce", "forge.reshape", "tile.combine", "tile.combine"]
    assert ops(module)[6:] == [*kernel, *following, "tile.store"]
    (reshape,) = [op for op in module.walk() if isinstance(op, forge.ReshapeOp)]
    assert tile.axes_of(reshape.results[0].type) == ("a", "b")


def test_partial_results_are_written_once_and_read_once():
    split = SplitProduct(20, 12, 100, 4, "a", "b", "c")
    one, two = sorted(everything(split.graph), key=lambda c: c.launches)
    inputs, result, partials = 2 * (20 * 100 + 100 * 12), 2 * 20 * 12, 4 * 4 * 20 * 12
    assert one.bytes == inputs + result
    assert two.bytes == inputs + result + 2 * partials
    assert one.flops == two.flops == 2 * 20 * 12 * 100
    first, second = two.kernels
    assert (first.root, first.grid) == (split.partials, (0, 1, 2))
    assert (second.root, second.grid) == (split.result, (0, 1))
    assert second.needs == {split.partials}
    assert two.signature == "[a,b,c]()1p0r [a,b]()0p1r"


def test_the_collected_axis_stands_anywhere_in_the_grid():
    for rows, columns, sums in ORDERS:
        split = SplitProduct(20, 12, 100, 4, rows, columns, sums)
        (grid,) = Space(split.graph).grids(split.partials)
        assert grid.axes == (0, 1, 2)
        assert [node.op for _, node in grid.chain] == ["combine", "combine", "collect"]
        assert grid.collected == (split.sum, 32)
        assert grid.covered == {1, 2, -1 - split.sum}


def test_a_split_pays_where_the_result_has_few_tiles():
    few = everything(SplitProduct(16, 64, 65536, 256, "a", "b", "c").graph)
    assert few[0].launches == 2
    many = everything(SplitProduct(4096, 4096, 4096, 16, "a", "b", "c").graph)
    assert many[0].launches == 1


def test_estimates_of_splits_are_not_below_their_bounds():
    for count, k in ((256, 65536), (4, 100)):
        graph = SplitProduct(16, 64, k, count, "a", "c", "b").graph
        for target in ("h200", "l4"):
            for candidate in everything(graph, target):
                assert candidate.estimate_us >= candidate.lower_bound_us > 0


def test_the_least_cost_of_a_load_knows_the_collected_tile():
    split = SplitProduct(16, 64, 65536, 64, "a", "b", "c")
    space = Space(split.graph)
    model = CostModel(space, load_target("h200"))
    (grid,) = space.grids(split.partials)
    assert collected_tile(65536, 64) == 1024
    (load,) = space.loads(space.graph.nodes[grid.tile][0].children[0])
    unsplit = replace(grid, axes=(0, 1), collected=None)
    (option,) = [o for o in space.chosen_by((load.tile, -1)) if o.load is not None]
    # The argument is cut by the collected axis: more blocks, but each part is read by as many as before.
    assert model.least_us(grid, option) == model.least_us(unsplit, option)


def test_reshapes_by_dimensions_of_size_one_are_done_in_registers():
    graph = EGraph(
        nodes={
            0: [ENode("input", (0,), ())],
            1: [ENode("view", (0, 0), (0,))],
            2: [ENode("unary", ("exp",), (1,))],
            3: [ENode("reduce", ("sum", 1), (2,))],
            4: [ENode("reshape", (64,), (3,))],
            5: [ENode("combine", (0, 0), (4,))],
        },
        types={
            0: ClassType((64, 8), (), (0, 1), "f32"),
            1: ClassType((64, 8), ((0, 0),), (0, 1), "f32"),
            2: ClassType((64, 8), ((0, 0),), (0, 1), "f32"),
            3: ClassType((64, 1), ((0, 0),), (0, -1), "f32"),
            4: ClassType((64,), ((0, 0),), (0,), "f32"),
            5: ClassType((64,), (), (0,), "f32", "f32", "f32"),
        },
        roots=[5],
        axes=[Axis("a", 64, 0)],
        inputs=[("x", (64, 8), "f32")],
        root_elements=["f32"],
    )
    (candidate,) = everything(graph)
    x = np.random.default_rng(0).standard_normal((64, 8))
    (found,) = evaluate(to_tile(graph, candidate), [x])
    np.testing.assert_allclose(found, np.exp(x).sum(1), rtol=1e-13)
    # One that splits a dimension is not.
    graph.nodes[4] = [ENode("reshape", (8, 8), (3,))]
    assert not Space(graph).is_pointwise(graph.nodes[4][0])


def test_a_view_through_a_dimension_of_size_one_is_the_same_load():
    split = SplitProduct(20, 12, 100, 4, "a", "b", "c")
    row = split.add((1, 20, 100), (-1, 0, 2), {}, ENode("reshape", (1, 20, 100), (0,)))
    through = split.views(row, {split.row: 1})
    straight = split.views(0, {split.row: 0})
    space = Space(split.graph)
    loads: list[Load] = [*space.loads(through), *space.loads(straight)]
    assert len(loads) == 2
    assert loads[0].key == loads[1].key


def test_partial_results_that_outweigh_the_arguments_are_not_stored():
    # 4 x 20 x 12 partial results; 20 x 100 and 100 x 12 elements of arguments, then 20 x 8 and 8 x 12.
    light, heavy = (SplitProduct(20, 12, k, 4, "a", "b", "c") for k in (100, 8))
    assert light.partials in Space(light.graph).storable
    assert Space(heavy.graph).storable == {heavy.result}
