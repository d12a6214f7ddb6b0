"""forge functions as e-graphs: storage types, axes, groups, errors; and the e-graph as IR and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, f16, f32, f64, i1, i32

from equiforge.dialects import forge
from equiforge.egraph.encode import encode
from equiforge.egraph.engine import SaturationOptions
from equiforge.egraph.graph import EGraph, ENode
from equiforge.egraph.ir import from_module, to_module
from equiforge.egraph.worker import run_in_process
from equiforge.errors import EquiforgeError, UnsupportedOpError
from equiforge.search.extract import extract
from equiforge.verify.programs import program
from equiforge.verify.random_programs import random_program

F = forge


def t(*shape: int, element: Any = f32) -> TensorType[Any]:
    return TensorType(element, shape)


def strict(module: ModuleOp) -> ModuleOp:
    module.attributes["forge.numerics"] = StringAttr("strict")
    return module


def softmax() -> ModuleOp:
    def body(x: Any, v: Any) -> Any:
        e = F.ExpOp(F.SubOp(x, F.ReduceOp("max", x, 1)))
        return F.MatmulOp(F.DivOp(e, F.ReduceOp("sum", e, 1)), v)

    return program([t(6, 10), t(10, 4)], body)


def node_names(graph: EGraph) -> list[str]:
    return [f"{n.op} {n.attrs[0]}" if n.attrs else n.op for nodes in graph.nodes.values() for n in nodes]


# Storage and casts


def rounded_exp(x: Any) -> Any:
    return F.CastOp(F.ExpOp(F.CastOp(x, f32)), f16)


def test_real_arithmetic_has_no_casts_between_floats() -> None:
    graph = encode(program([t(8, 4, element=f16)], rounded_exp))
    assert node_names(graph) == ["input 0", "unary exp"]
    kind = graph.types[graph.roots[0]]
    assert (kind.element, kind.wide, kind.narrow) == ("f32", "f16", "f16")
    assert graph.root_elements == ["f16"]
    assert graph.inputs[0][2] == "f16"


def test_a_value_used_wide_and_narrow_has_both_storage_types() -> None:
    def body(x: Any) -> Any:
        e = F.ExpOp(F.CastOp(x, f32))
        return [F.CastOp(e, f16), F.SqrtOp(e)]

    graph = encode(program([t(8, 4, element=f16)], body))
    kind = graph.types[graph.roots[0]]
    assert (kind.wide, kind.narrow) == ("f32", "f16")


def test_strict_arithmetic_keeps_each_rounding() -> None:
    graph = encode(strict(program([t(8, 4, element=f16)], rounded_exp)))
    assert node_names(graph) == ["input 0", "cast f32", "unary exp", "cast f16"]


def test_strict_arithmetic_on_a_half_type_rounds_each_result() -> None:
    graph = encode(strict(program([t(8, 4, element=f16)], lambda x: F.ExpOp(F.AddOp(x, x)))))
    assert node_names(graph) == ["input 0", "binary add", "cast f16", "unary exp", "cast f16"]


def test_casts_that_change_the_value_are_e_nodes() -> None:
    graph = encode(program([t(8, 4, element=i1)], lambda x: F.CastOp(F.CastOp(x, i32), f32)))
    assert node_names(graph) == ["input 0", "cast i32", "cast f32"]


def test_a_program_with_f64_is_computed_in_f64() -> None:
    graph = encode(program([t(4, element=f64), t(4)], lambda x, y: F.AddOp(x, F.CastOp(y, f64))))
    assert {kind.element for kind in graph.types.values()} == {"f64"}


def test_integer_division_is_an_operator_of_its_own() -> None:
    graph = encode(program([t(4, element=i32), t(4, element=i32)], lambda x, y: F.DivOp(x, y)))
    assert "binary int.div" in node_names(graph)


# Axes


def axes(module: ModuleOp, whole_extent: int = 256) -> list[tuple[str, int]]:
    return [(axis.name, axis.extent) for axis in encode(module, whole_extent).axes]


def test_one_axis_for_each_group_that_a_kernel_may_cut() -> None:
    module = program([t(8, 300), t(300, 1)], lambda x, w: F.MatmulOp(x, w))
    graph = encode(module)
    assert axes(module) == [("arg00", 8), ("arg01", 300)]
    assert graph.types[0].groups[1] == graph.types[1].groups[0]
    assert axes(module, whole_extent=300) == [("arg00", 8)]


def test_a_group_that_a_tensor_holds_twice_has_two_axes() -> None:
    module = program([t(8, 4)], lambda x: F.MatmulOp(x, F.TransposeOp(x, [1, 0])))
    assert [extent for _, extent in axes(module)] == [8, 8]
    assert len({axis.group for axis in encode(module).axes}) == 1


def test_axes_are_sorted_by_name() -> None:
    names = [name for name, _ in axes(random_program(2), whole_extent=1)]
    assert names == sorted(names)


# Errors


def test_an_unsupported_op_names_its_source_line() -> None:
    module = program([t(8, 4)], lambda x: F.AddOp(x, F.RandomOp(t(8, 4))))
    next(op for op in module.walk() if op.name == "forge.random").attributes["loc"] = StringAttr("model.py:12")
    with pytest.raises(UnsupportedOpError, match=r"forge\.random is not explored by the search") as caught:
        encode(module)
    assert "model.py:12" in str(caught.value)


def test_a_module_has_one_function() -> None:
    with pytest.raises(EquiforgeError, match="expected one function in the module, found 0"):
        encode(ModuleOp([]))


# The e-graph as IR


def padded(node: ENode) -> tuple[str, tuple[Any, ...], tuple[int, ...]]:
    return node.op, (*node.attrs, None), node.children


def content(graph: EGraph) -> tuple[Any, ...]:
    """What has to survive the way through IR; class numbers do, NaN is compared by its text."""
    return (
        graph.nodes,
        graph.types,
        graph.roots,
        graph.axes,
        graph.inputs,
        {
            key: graph.constants[key]
            for nodes in graph.nodes.values()
            for op, (key, *_), _ in map(padded, nodes)
            if op == "const"
        },
        repr(sorted(graph.reducers.items())),
        graph.root_elements,
        graph.numerics,
        graph.locations,
    )


CASES: dict[str, Callable[[], ModuleOp]] = {
    "softmax": softmax,
    "half": lambda: program([t(8, 4, element=f16)], rounded_exp),
    "strict": lambda: strict(program([t(8, 4, element=f16)], rounded_exp)),
    **{f"random {seed}": (lambda seed=seed: random_program(seed)) for seed in (1, 4, 9, 13)},
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("saturated", [False, True])
def test_the_way_through_ir_loses_nothing(name: str, saturated: bool) -> None:
    graph = encode(CASES[name](), whole_extent=1)
    if saturated:
        graph = run_in_process(graph, SaturationOptions(max_nodes=400, max_rounds=6))[0]
    module = to_module(graph)
    module.verify()
    again = from_module(module)
    assert content(again) == content(graph)
    assert str(to_module(again)) == str(module)


def test_without_an_e_graph_the_reader_says_what_to_run() -> None:
    with pytest.raises(EquiforgeError, match="run convert-forge-to-egraph first"):
        from_module(softmax())


@pytest.mark.parametrize("extent", [64, 256])
def test_a_short_dimension_is_cut_where_the_operands_of_a_product_do_not_fit_a_block(extent: int) -> None:
    def body(x: Any, v: Any, w: Any) -> Any:
        y = F.MatmulOp(F.MatmulOp(x, v), w)
        return F.DivOp(y, F.ReduceOp("sum", y, 1))

    square = t(extent, extent, element=f16)
    graph = encode(program([t(16, extent, element=f16), square, square], body))
    assert [axis.extent for axis in graph.axes] == [16, *[extent] * (extent == 256)]
    found, _, _ = run_in_process(graph, SaturationOptions())
    assert extract(found).candidates
