"""On graphs that torch exports, as many equal ops are found as by torch's own pass and by xDSL's."""

from __future__ import annotations

import pytest
import torch

from equiforge.cse.eliminate import eliminate
from equiforge.tools.compare_cse import GRAPHS, compare, main, mirror


# The four layers of the transformer take longer; tools/compare-cse has them too.
@pytest.mark.parametrize("name", [name for name in GRAPHS if name != "transformer, joint"])
def test_no_tool_finds_more(name: str) -> None:
    found = compare(name)
    assert found.ours >= max(found.torch, found.xdsl)
    assert found.ours_forge >= found.xdsl_forge
    if "joint" not in name and name != "commuted operands":
        assert found.torch > 0, "the graph has nothing to find"


def test_more_is_found_where_operands_commute() -> None:
    found = compare("commuted operands")
    assert found.ours_forge > found.xdsl_forge


def test_draws_are_not_merged_in_the_written_down_graph() -> None:
    class Draws(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.rand_like(x) - torch.rand_like(x) + torch.exp(x) * torch.exp(x)

    graph = torch.export.export(Draws(), (torch.zeros(3),)).graph
    assert eliminate(mirror(graph)).total == 1


def test_an_unknown_graph_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no such graph"]) == 2
    assert capsys.readouterr().err.startswith("compare-cse: no graph 'no such graph'")
