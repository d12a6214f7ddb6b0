"""Saturation in a child process: egglog can't be interrupted inside an iteration, and running out of memory ends its
process.

The child reads one pickled request from its standard input and writes pickled answers, each preceded by its length:
snapshots
while a long run goes on, then the result. Both ends are this program; nothing else is ever unpickled.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from dataclasses import replace
from typing import BinaryIO

from equiforge.egraph.engine import Engine, SaturationOptions, SaturationStats
from equiforge.egraph.graph import EGraph
from equiforge.egraph.repair import RepairReport
from equiforge.egraph.two_level import fuse_reductions

Answer = tuple[EGraph, SaturationStats, RepairReport]
_MEMORY_BYTES = 12 << 30
_RETREATS = ((), ("commute", "associate"), ("algebra",))
"""Rules that are left out, step by step, when an e-graph does not fit its node limit."""


def run_in_process(graph: EGraph, options: SaturationOptions, snapshots: BinaryIO | None = None) -> Answer:
    """Saturate and fuse dependent reductions in this process; every few seconds a snapshot goes to ``snapshots``.

    A run whose tiles don't fit the node limit has seldom a complete program in it. It is done again with less algebra;
    ``stop`` says so.
    """
    found, engine, limit = graph, None, ""
    for without in _RETREATS:
        engine = Engine(graph, replace(options, disabled=(*options.disabled, *without)))
        if snapshots is not None:
            engine.on_snapshot = lambda found, stats=engine.stats: _send(
                snapshots, finish(found, replace(stats), options)
            )
        found = engine.saturate()
        if limit:
            engine.stats.stop = f"{limit}; run again without {' and '.join(without)}"
        if not engine.tiles_limited:
            break
        limit = limit or engine.stats.stop
    assert engine is not None, "the first attempt leaves nothing out"
    return finish(found, engine.stats, options)


def finish(found: EGraph, stats: SaturationStats, options: SaturationOptions) -> Answer:
    """What follows the rules: fusion of dependent reductions; the counts in ``stats`` are brought up to date."""
    repairs = RepairReport()
    if found.numerics == "real" and options.runs("repair"):
        began = time.perf_counter()
        repairs = fuse_reductions(found)
        stats.ruleset_seconds["repair"] = time.perf_counter() - began
        stats.seconds += stats.ruleset_seconds["repair"]
    stats.nodes, stats.classes = found.num_nodes, len(found.nodes)
    return found, stats, repairs


def _send(stream: BinaryIO, answer: Answer) -> None:
    data = pickle.dumps(answer)
    stream.write(len(data).to_bytes(8, "little") + data)
    stream.flush()


def _last_answer(data: bytes) -> Answer | None:
    position, last = 0, None
    while position + 8 <= len(data):
        size = int.from_bytes(data[position : position + 8], "little")
        chunk = data[position + 8 : position + 8 + size]
        if len(chunk) == size:
            last = chunk
        position += 8 + size
    return None if last is None else pickle.loads(last)


class SaturationProcess:
    """A child that has its libraries loaded by the time a request comes; start it early, it imports while the caller
    does other things."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "equiforge.egraph.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def run(self, graph: EGraph, options: SaturationOptions) -> Answer:
        """Saturate in the child. When the child hangs or dies the last snapshot is the answer and ``stop`` says why.

        Raises RuntimeError if the child ended before there was any snapshot.
        """
        request = pickle.dumps((graph, options))
        reason = "the saturation process ended early (out of memory?)"
        try:
            output, _ = self._process.communicate(request, timeout=2 * options.max_seconds + 30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            output, _ = self._process.communicate()
            reason = "watchdog: an iteration did not return"
        answer = _last_answer(output)
        if answer is None:
            raise RuntimeError(reason)
        if self._process.returncode != 0:
            answer[1].stop = reason
        return answer

    def close(self) -> None:
        """End a child that got no request."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


def main() -> None:
    """Entry point of the child."""
    import resource

    import egglog.bindings  # noqa: F401  # pyright: ignore[reportUnusedImport]  # load while the parent is still busy
    import sympy  # noqa: F401  # pyright: ignore[reportUnusedImport, reportMissingTypeStubs]

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    data = sys.stdin.buffer.read()
    if data:
        graph, options = pickle.loads(data)
        _send(sys.stdout.buffer, run_in_process(graph, options, sys.stdout.buffer))


if __name__ == "__main__":
    main()
