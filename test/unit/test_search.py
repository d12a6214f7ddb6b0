"""The normal form, compaction and the cost model, on e-graphs built by hand."""

from __future__ import annotations

import itertools
import random

import pytest

from equiforge.egraph.graph import Axis, ClassType, EGraph, ENode
from equiforge.errors import EquiforgeError, TargetError
from equiforge.search.cost import CostModel, limit_us
from equiforge.search.derive import derive
from equiforge.search.extract import Extraction, ExtractOptions, Strategy, extract
from equiforge.search.normal_form import ANY, Load, Space
from equiforge.tune.targets import load_target, target_names


class Graph:
    """A hand-built e-graph: values with a dimension group a dimension, views in the order of the axes."""

    def __init__(self, axes: dict[str, tuple[int, int]]):
        """``axes``: name -> (extent, dimension group)."""
        named = [Axis(name, *axes[name]) for name in sorted(axes)]
        self.graph = EGraph(nodes={}, types={}, roots=[], axes=named, inputs=[])
        self.number = {axis.name: n for n, axis in enumerate(named)}
        self.views: dict[tuple[int, int, int], int] = {}

    def add(self, shape: tuple[int, ...], groups: tuple[int, ...], nodes: list[ENode], **more: object) -> int:
        class_id = len(self.graph.nodes)
        self.graph.nodes[class_id] = nodes
        state = tuple(sorted(dict(more.pop("state", ())).items()))  # pyright: ignore
        self.graph.types[class_id] = ClassType(shape, state, groups, "f32", **more)  # pyright: ignore
        return class_id

    def input(self, name: str, shape: tuple[int, ...], groups: tuple[int, ...], storage: str = "f16") -> int:
        index = len(self.graph.inputs)
        self.graph.inputs.append((name, shape, storage))
        return self.add(shape, groups, [ENode("input", (index,), ())])

    def view(self, class_id: int, axis: str, dim: int) -> int:
        """The view of a class; made once, with the axes of a class in rising order."""
        number = self.number[axis]
        key = (class_id, number, dim)
        if key not in self.views:
            kind = self.graph.types[class_id]
            assert all(a < number for a, _ in kind.state)
            node = ENode("view", (dim, number), (class_id,))
            state = (*kind.state, (number, dim))
            self.views[key] = self.add(kind.shape, kind.groups, [node], state=state, wide=kind.wide, narrow=kind.narrow)
        return self.views[key]

    def root(self, class_id: int, element: str = "f16") -> EGraph:
        self.graph.roots.append(class_id)
        self.graph.root_elements.append(element)
        return self.graph


def product_graph(m: int = 64, n: int = 96, k: int = 80) -> EGraph:
    """y = x @ W with axes a (rows), b (columns) and c (contraction), refined in all ways."""
    g = Graph({"a": (m, 0), "b": (n, 1), "c": (k, 2)})
    x, w = g.input("x", (m, k), (0, 2)), g.input("W", (k, n), (2, 1))
    y = g.add((m, n), (0, 1), [ENode("matmul", (), (x, w))], wide="f16", narrow="f16")
    tiles = {(): (y, x, w)}
    for axes in (("a",), ("b",), ("a", "b")):
        x_tile, w_tile = tiles[axes[:-1]][1:]
        x_tile = g.view(x_tile, axes[-1], {"a": 0, "b": -1}[axes[-1]])
        w_tile = g.view(w_tile, axes[-1], {"a": -1, "b": 1}[axes[-1]])
        state = tuple((g.number[a], {"a": 0, "b": 1}[a]) for a in axes)
        tile = g.add((m, n), (0, 1), [], state=state, wide="f16", narrow="f16")
        tiles[axes] = (tile, x_tile, w_tile)
    for axes, (tile, x_tile, w_tile) in tiles.items():
        nodes = g.graph.nodes[tile]
        nodes.append(ENode("tilematmul", (), (x_tile, w_tile)))
        operands = (g.view(x_tile, "c", 1), g.view(w_tile, "c", 0))
        state = (*g.graph.types[tile].state, (g.number["c"], -2))
        partial = g.add((m, n), (0, 1), [ENode("tilematmul", (), operands)], state=state)
        nodes.append(ENode("preduce", ("sum", g.number["c"]), (partial,)))
        for extra in ("a", "b"):
            if not axes or axes[-1] < extra:
                larger = tiles[(*axes, extra)][0]
                nodes.append(ENode("combine", ({"a": 0, "b": 1}[extra], g.number[extra]), (larger,)))
    return g.root(y)


def random_graph(seed: int) -> EGraph:
    """A small e-graph without axes: classes with several e-nodes, cycles, and some that may be stored."""
    rng = random.Random(seed)
    g = Graph({})
    classes = [g.input(f"x{i}", (4, 4), (0, 1)) for i in range(2)]
    inner = [g.add((4, 4), (0, 1), [], **({"wide": "f16"} if rng.random() < 0.4 else {})) for _ in range(6)]
    classes += inner
    for position, class_id in enumerate(inner, start=2):
        nodes: set[ENode] = set()
        for number in range(rng.randint(1, 3)):
            # The first e-node has earlier operands, so that every class has a finite term; others may close cycles.
            pool = classes[:position] if number == 0 else classes
            a, b = rng.choice(pool), rng.choice(pool)
            form = rng.randrange(4)
            if form == 0:
                nodes.add(ENode("unary", ("exp",), (a,)))
            elif form == 1:
                nodes.add(ENode("binary", ("add",), (a, b)))
            elif form == 2:
                nodes.add(ENode("reduce", ("sum", 1), (a,)))
            else:
                nodes.add(ENode("tilematmul", (), (a, b)))
        g.graph.nodes[class_id] = sorted(nodes)
    return g.root(inner[-1])


STRATEGIES: tuple[Strategy, ...] = ("none", "after", "early")


def keys(graph: EGraph, strategy: Strategy) -> set[tuple[object, ...]]:
    """The canonical programs of an e-graph: for each kernel its root, grid and heavy choices."""
    options = ExtractOptions(
        strategy=strategy,
        max_candidates=None,
        max_kernel_states=100_000,
        max_states=100_000,
        max_seconds=60,
        diverse=False,
    )
    extraction = Extraction(graph, options)
    result = extraction.run()
    assert result.stats.complete
    space = extraction.space
    found: set[tuple[object, ...]] = set()
    for candidate in result.candidates:
        parts = [(k.root, k.grid.axes, frozenset(space.options[o].key for o in k.options)) for k in candidate.choices]
        found.add(tuple(sorted(parts, key=lambda p: (p[0], p[1]))))
    return found


def test_every_form_of_a_product_is_found():
    result = extract(product_graph(), ExtractOptions(max_candidates=None))
    assert result.stats.complete
    # The rows and columns are cut in every kernel (nothing sums over them); the contraction is whole or a loop.
    assert sorted(c.signature for c in result.candidates) == ["[a,b]()1p0r", "[a,b](c)1p0r"]
    for candidate in result.candidates:
        (kernel,) = candidate.kernels
        assert [node.attrs for _, node in kernel.chain] == [(0, 0), (1, 1)]
        assert {load.base for load in kernel.loads} == {0, 1}
        assert candidate.launches == 1
        assert candidate.bytes == 2 * (64 * 80 + 80 * 96 + 64 * 96)
        assert candidate.flops == 2 * 64 * 80 * 96


def test_operands_come_before_their_users():
    for candidate in extract(product_graph()).candidates:
        seen: set[int] = set()
        for class_id, choice in candidate.kernels[0].choices.items():
            if isinstance(choice, ENode):
                assert set(choice.children) <= seen
            seen.add(class_id)


def test_tensor_level_products_are_never_chosen():
    for candidate in extract(product_graph()).candidates:
        choices = [c for k in candidate.kernels for c in k.choices.values()]
        assert all(isinstance(c, Load) or c.op != "matmul" for c in choices)


def test_a_commuted_operand_is_no_other_candidate():
    g = Graph({"a": (64, 0)})
    x, y = g.input("x", (64, 8), (0, 1)), g.input("y", (64, 8), (0, 1))
    x_a, y_a = g.view(x, "a", 0), g.view(y, "a", 0)
    nodes = [ENode("binary", ("add",), (x_a, y_a)), ENode("binary", ("add",), (y_a, x_a))]
    tile = g.add((64, 8), (0, 1), nodes, state=((0, 0),))
    out = g.add((64, 8), (0, 1), [ENode("combine", (0, 0), (tile,))], wide="f16", narrow="f16")
    graph = g.root(out)
    assert len(extract(graph).candidates) == 1
    assert len(extract(graph, ExtractOptions(strategy="after")).candidates) == 1
    assert len(extract(graph, ExtractOptions(strategy="none")).candidates) == 2


def test_the_pointwise_form_with_the_least_work_is_kept():
    g = Graph({"a": (64, 0)})
    x = g.view(g.input("x", (64, 8), (0, 1)), "a", 0)
    s = g.view(g.input("s", (1, 1), (-1, -1)), "a", -1)
    slow = g.add((64, 8), (0, 1), [ENode("unary", ("log",), (x,))], state=((0, 0),))
    slower = g.add((64, 8), (0, 1), [ENode("unary", ("exp",), (slow,))], state=((0, 0),))
    nodes = [ENode("binary", ("mul",), (slower, s)), ENode("binary", ("mul",), (x, s))]
    tile = g.add((64, 8), (0, 1), nodes, state=((0, 0),))
    out = g.add((64, 8), (0, 1), [ENode("combine", (0, 0), (tile,))], wide="f16", narrow="f16")
    (candidate,) = extract(g.root(out)).candidates
    assert candidate.kernels[0].choices[tile] == nodes[1]


def test_a_view_of_a_transposed_argument_is_the_same_load():
    g = Graph({"a": (64, 0)})
    x = g.input("x", (64, 8), (0, 1))
    turned = g.add((8, 64), (1, 0), [ENode("transpose", (1, 0), (x,))])
    back = g.add((64, 8), (0, 1), [ENode("transpose", (1, 0), (turned,))])
    views = [g.view(x, "a", 0), g.view(back, "a", 0), g.view(turned, "a", 1)]
    space = Space(g.graph)
    (straight,), (through,), (crossed,) = (space.loads(view) for view in views)
    assert straight.key == through.key == crossed.key
    assert [node.op for _, node in crossed.path] == ["view", "transpose"]


def two_pass_graph() -> tuple[EGraph, int]:
    """y = x - sum(x) over rows of 512 elements cut by a; the sum is over axis b, in a loop, and replicated over b
    again."""
    g = Graph({"a": (64, 0), "b": (512, 1)})
    x = g.input("x", (64, 512), (0, 1))
    x_a = g.view(x, "a", 0)
    x_ab = g.view(x_a, "b", 1)
    g.add((64, 1), (0, -1), [ENode("reduce", ("sum", 1), (x,))])  # what the program says
    partial = g.add((64, 1), (0, -1), [ENode("reduce", ("sum", 1), (x_ab,))], state=((0, 0), (1, -2)))
    total = g.add(
        (64, 1),
        (0, -1),
        [ENode("preduce", ("sum", 1), (partial,)), ENode("reduce", ("sum", 1), (x_a,))],
        state=((0, 0),),
    )
    total_b = g.view(total, "b", -1)
    y_ab = g.add((64, 512), (0, 1), [ENode("binary", ("sub",), (x_ab, total_b))], state=((0, 0), (1, 1)))
    y_a = g.add(
        (64, 512), (0, 1), [ENode("binary", ("sub",), (x_a, total)), ENode("combine", (1, 1), (y_ab,))], state=((0, 0),)
    )
    y = g.add((64, 512), (0, 1), [ENode("combine", (0, 0), (y_a,))], wide="f16", narrow="f16")
    return g.root(y), total_b


def test_a_finished_reduction_is_used_again_over_its_axis():
    graph, replicated = two_pass_graph()
    candidates = extract(graph, ExtractOptions(max_candidates=None)).candidates
    # With the grid over both axes each block sums its row in a loop. Whole rows are only worthwhile where they are
    # summed as a whole.
    forms = {c.signature: c for c in candidates}
    assert set(forms) == {"[a]()0p0r", "[a,b](b)0p0r"}
    kernel = forms["[a,b](b)0p0r"].kernels[0]
    choice = kernel.choices[replicated]
    assert isinstance(choice, ENode) and choice.op == "view"
    summed = kernel.choices[choice.children[0]]
    assert isinstance(summed, ENode) and summed.op == "preduce"


def test_a_replicated_value_needs_the_loop_over_that_axis():
    graph, replicated = two_pass_graph()
    space = Space(graph)
    ((_, demands),) = space.light_nodes(replicated)
    (option,) = space.chosen_by(demands[0])
    # The reduction of whole rows, which the same class has, is not made by a loop over b: a tile of b can't wait for
    # it.
    assert option.kind == "preduce"
    assert {o.kind for o in space.chosen_by((demands[0][0], ANY))} == {"preduce", "reduce"}


def test_what_the_program_does_not_name_is_not_stored():
    g = Graph({"a": (64, 0)})
    x = g.input("x", (64, 8), (0, 1))
    hidden_a = g.add((64, 8), (0, 1), [ENode("unary", ("exp",), (g.view(x, "a", 0),))], state=((0, 0),))
    hidden = g.add((64, 8), (0, 1), [ENode("combine", (0, 0), (hidden_a,))])
    out_a = g.add((64, 8), (0, 1), [ENode("unary", ("neg",), (hidden_a,))], state=((0, 0),))
    out = g.add((64, 8), (0, 1), [ENode("combine", (0, 0), (out_a,))], wide="f16", narrow="f16")
    assert Space(g.root(out)).storable == {out}
    g.graph.types[hidden] = ClassType((64, 8), (), (0, 1), "f32", "f16", "f16")
    assert Space(g.graph).storable == {hidden, out}


def test_results_that_are_arguments_need_no_kernel():
    g = Graph({})
    x = g.input("x", (4, 8), (0, 1))
    turned = g.add((8, 4), (1, 0), [ENode("transpose", (1, 0), (x,))], wide="f16", narrow="f16")
    g.root(x)
    result = extract(g.root(turned))
    assert [c.launches for c in result.candidates] == [0]
    assert [o.base for o in result.candidates[0].outputs] == [x, x]


def test_no_program_is_an_error_that_says_so():
    g = Graph({})
    x = g.input("x", (4, 8), (0, 1))
    y = g.add((4, 8), (0, 1), [ENode("matmul", (), (x, x))], wide="f16", narrow="f16")
    with pytest.raises(EquiforgeError, match="no kernel can compute a result"):
        extract(g.root(y))


@pytest.mark.parametrize("seed", range(60))
def test_early_and_late_compaction_find_the_same_programs(seed: int):
    graph = random_graph(seed)
    assert keys(graph, "early") == keys(graph, "after")


@pytest.mark.parametrize("seed", range(60))
def test_the_size_of_an_enumeration_is_known_without_it(seed: int):
    extraction = Extraction(random_graph(seed), ExtractOptions(strategy="none", max_candidates=None))
    states, programs = extraction.size()
    stats = extraction.run().stats
    assert stats.complete
    assert (stats.states, stats.candidates) == (states, programs)


def test_views_in_another_order_are_another_program_and_the_same_candidate():
    g = Graph({"a": (64, 0), "b": (8, 1)})
    x = g.input("x", (64, 8), (0, 1))
    first, second = g.view(x, "a", 0), g.view(x, "b", 1)
    state = ((0, 0), (1, 1))
    both = g.add((64, 8), (0, 1), [ENode("view", (1, 1), (first,)), ENode("view", (0, 0), (second,))], state=state)
    tile = g.add((64, 8), (0, 1), [ENode("unary", ("exp",), (both,))], state=state)
    rows = g.add((64, 8), (0, 1), [ENode("combine", (1, 1), (tile,))], state=((0, 0),))
    graph = g.root(g.add((64, 8), (0, 1), [ENode("combine", (0, 0), (rows,))], wide="f16", narrow="f16"))
    none, after, early = (extract(graph, ExtractOptions(strategy=how)).stats for how in STRATEGIES)
    # The holes of the result, its tile and the operand, and two more below each of the two views of that.
    assert (none.candidates, none.states) == (2, 7)
    assert (after.candidates, after.states) == (1, 7)
    assert (early.candidates, early.states) == (1, 1)
    assert Extraction(graph, ExtractOptions()).size() == (7, 2)
    assert Extraction(graph, ExtractOptions()).size(views=False) == (3, 1)


def test_compaction_agrees_on_a_refined_product():
    graph = product_graph()
    assert keys(graph, "early") == keys(graph, "after")


def sum_graph(terms: int) -> EGraph:
    """The sum of some arguments in every grouping and order."""
    g = Graph({})
    classes = {frozenset({i}): g.input(f"x{i}", (4, 8), (0, 1)) for i in range(terms)}
    for size in range(2, terms + 1):
        for chosen in map(frozenset, itertools.combinations(range(terms), size)):
            parts = [frozenset(p) for n in range(1, size) for p in itertools.combinations(sorted(chosen), n)]
            nodes = [ENode("binary", ("add",), (classes[part], classes[chosen - part])) for part in parts]
            classes[chosen] = g.add((4, 8), (0, 1), nodes)
    out = classes[frozenset(range(terms))]
    g.graph.types[out] = ClassType((4, 8), (), (0, 1), "f32", "f16", "f16")
    return g.root(out)


def test_early_compaction_expands_fewer_partial_programs():
    graph = sum_graph(4)
    none, after, early = (extract(graph, ExtractOptions(strategy=how, max_candidates=None)).stats for how in STRATEGIES)
    assert none.candidates == 120, "4! orders of 5 groupings"
    assert after.candidates == early.candidates == 1
    # Sums of the terms are one frontier however they are made: the four loads are all that is chosen.
    assert early.states < 10
    assert none.states > 50 * early.states and after.states > 50 * early.states


def test_the_best_programs_come_first_and_are_proven():
    for seed in range(30):
        graph = random_graph(seed)
        everything = extract(graph, ExtractOptions(max_candidates=None))
        few = extract(graph, ExtractOptions(max_candidates=3, diverse=False))
        assert few.stats.complete
        costs = [c.estimate_us for c in everything.candidates]
        assert costs == sorted(costs)
        assert [c.estimate_us for c in few.candidates] == pytest.approx(costs[:3])


def test_limits_are_reported():
    with pytest.raises(EquiforgeError, match=r"no executable program within the limits \(limit of 1 partial kernels"):
        extract(product_graph(), ExtractOptions(max_kernel_states=1))
    result = extract(product_graph(), ExtractOptions(max_kernel_states=2))
    assert not result.stats.complete
    assert "limit of 2 partial kernels" in result.stats.stop


def test_where_the_exact_search_stops_programs_are_still_found():
    for seed in range(30):
        graph = random_graph(seed)
        best = extract(graph).candidates[0]
        limited = extract(graph, ExtractOptions(max_states=1, diverse=False))
        assert not limited.stats.complete
        assert "limit of 1 partial programs" in limited.stats.stop
        found = limited.candidates[0]
        assert found.estimate_us >= best.estimate_us - 1e-9
        made = {kernel.root for kernel in found.kernels}
        assert all(kernel.needs <= made for kernel in found.kernels)
        assert {load.base for load in found.outputs} <= made | {0, 1}


def test_extraction_is_deterministic():
    first, second = (extract(random_graph(7)) for _ in range(2))
    assert [(c.signature, c.estimate_us, [k.choices for k in c.kernels]) for c in first.candidates] == [
        (c.signature, c.estimate_us, [k.choices for k in c.kernels]) for c in second.candidates
    ]


def test_every_kernel_that_is_listed_can_be_evaluated():
    for seed in range(30):
        extraction = Extraction(random_graph(seed), ExtractOptions())
        for root in extraction.space.storable:
            for choice in extraction.search.variants(root).kernels:
                kernel = derive(extraction.space, choice)
                assert kernel is not None
                loads = {load.key for load in kernel.loads}
                chosen = {extraction.space.options[o].key for o in choice.options}
                assert loads <= chosen


def test_estimates_are_not_below_their_bounds():
    for seed, target in itertools.product(range(10), target_names()):
        for candidate in extract(random_graph(seed), ExtractOptions(target=target)).candidates:
            assert candidate.estimate_us >= candidate.lower_bound_us > 0


def test_the_limit_of_a_product():
    h200 = load_target("h200")
    graph = product_graph(16, 6144, 4096)
    moved = 2 * (16 * 4096 + 4096 * 6144 + 16 * 6144)
    assert limit_us(graph, h200) == pytest.approx(moved / 4.8e6)
    assert limit_us(graph, h200, flops=10**12) == pytest.approx(10**12 / 989e6)


def test_batch_dimensions_have_tiles_of_one_element():
    g = Graph({"h": (8, 0), "m": (64, 1)})
    a, b = g.input("a", (8, 64, 16), (0, 1, 2)), g.input("b", (8, 16, 16), (0, 2, 3))
    out = g.add((8, 64, 16), (0, 1, 3), [ENode("matmul", (), (a, b))])
    model = CostModel(Space(g.root(out)), load_target("a100"))
    assert model.batch_axes == {g.number["h"]}


def test_targets():
    assert set(target_names()) >= {"a100", "h100", "h200", "rtx5090", "l4"}
    assert load_target("a100").compute_capability == 80
    with pytest.raises(TargetError, match="did you mean rtx5090"):
        load_target("rtx509")
