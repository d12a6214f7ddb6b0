"""The depth table: the e-graph of a stack grows with its layers, not faster."""

from __future__ import annotations

from equiforge.tools.depth_table import Row, measure, with_growth


def test_growth_is_for_twice_the_layers() -> None:
    rows = [Row(layers, 0, nodes, 0, 0, 0.0, "saturated") for layers, nodes in ((1, 100), (2, 210), (8, 840))]
    assert [row.growth for row in with_growth(rows)] == [None, 2.1, 2.0]


def test_each_further_layer_adds_as_many_e_nodes() -> None:
    """Tables that end before the types of a deep stack would leave rewrites out of its last layers."""
    two, three, four = (measure(layers, tokens=64, hidden=128) for layers in (2, 3, 4))
    assert two.stop == three.stop == four.stop == "saturated"
    assert four.nodes - three.nodes == three.nodes - two.nodes > 0
    assert four.classes - three.classes == three.classes - two.classes > 0
