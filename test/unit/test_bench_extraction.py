"""Rows of tools/bench-extraction that end at a limit say so, with the seconds that they took."""

from __future__ import annotations

import pickle
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from equiforge.egraph.graph import EGraph
from equiforge.search.extract import Extraction
from equiforge.tools import bench_extraction
from equiforge.tools.bench_extraction import COUNT_SHARE, COUNTS, TIME_LIMIT, cpu_limit, in_process, measure

SECONDS = 0.05
TICK = 0.02
"""The timer counts in ticks of the kernel."""


@pytest.fixture(scope="module")
def graph() -> EGraph:
    return bench_extraction.saturated("lora:b=16")


def forever(*_: object) -> None:
    while True:
        pass


def test_a_limit_of_cpu_seconds_ends_what_computes_and_goes_with_its_block() -> None:
    former = signal.getsignal(signal.SIGPROF)
    with pytest.raises(TimeoutError), cpu_limit(SECONDS):
        forever()
    with cpu_limit(3600.0):
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 0.0
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0.0
    assert signal.getsignal(signal.SIGPROF) == former


@pytest.mark.parametrize("how", COUNTS)
def test_a_finished_count_has_its_own_seconds(graph: EGraph, how: str) -> None:
    row = measure(graph, how, 0, 60.0)
    assert row["complete"] and row["stop"] == "" and row["states"] > row["programs"] > 0
    assert 0.0 < row["seconds"] < 60.0


@pytest.mark.parametrize("how", COUNTS)
def test_a_count_that_reaches_its_limit_has_the_seconds_that_it_took(
    graph: EGraph, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Extraction, "size", forever)
    row = measure(graph, how, 0, SECONDS)
    assert (row["complete"], row["stop"], row["states"], row["programs"]) == (False, TIME_LIMIT, 0, 0)
    assert COUNT_SHARE * SECONDS - TICK <= row["seconds"] < 60.0


@pytest.mark.parametrize("strategy", bench_extraction.STRATEGIES)
def test_an_enumeration_without_time_for_a_program_is_a_row(graph: EGraph, strategy: str) -> None:
    row = measure(graph, strategy, 0, 0.0)
    assert not row["complete"] and TIME_LIMIT in row["stop"]


def test_a_process_that_fails_is_a_row_with_its_own_cpu_seconds(tmp_path: Path) -> None:
    stored = tmp_path / "graph.pickle"
    stored.write_bytes(pickle.dumps(None))
    row = in_process(stored, "counted", 0, 3600.0)
    assert not row["complete"] and row["stop"] != TIME_LIMIT
    assert 0.0 < row["seconds"] < 60.0


def test_a_process_ended_from_outside_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(command: list[str], timeout: float, **_: Any) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", ended)
    row = in_process(tmp_path / "graph.pickle", "counted", 0, 3600.0)
    assert (row["complete"], row["stop"], row["seconds"]) == (False, TIME_LIMIT, 0.0)
