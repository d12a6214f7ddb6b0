"""The depth table: the e-graph of a stack grows with its layers, not faster."""

from __future__ import annotations

from equiforge.tools.depth_table import Row, with_growth


def test_growth_is_for_twice_the_layers() -> None:
    rows = [Row(layers, 0, nodes, 0, 0, 0.0, "saturated") for layers, nodes in ((1, 100), (2, 210), (8, 840))]
    assert [row.growth for row in with_growth(rows)] == [None, 2.1, 2.0]
