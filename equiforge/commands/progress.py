"""Shows on stderr which stage runs and how far it is."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn


class StageProgress:
    """A progress callback ``(stage, fraction)`` for the pipeline, used as a context manager.

    On a terminal it draws a bar for each stage and clears them at the end; elsewhere it prints one line when a
    stage ends. ``fraction`` is between 0 and 1.
    """

    def __init__(self, console: Console):
        self._console = console
        self._live = (
            Progress(
                SpinnerColumn(finished_text="[green]✓"),
                TextColumn("{task.description:<12}"),
                BarColumn(bar_width=30),
                TimeElapsedColumn(),
                console=console,
                transient=True,
            )
            if console.is_terminal
            else None
        )
        self._tasks: dict[str, TaskID] = {}
        self._current: str | None = None
        self._began = time.perf_counter()

    def __enter__(self) -> StageProgress:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self._end_stage()
        if self._live is not None:
            self._live.stop()

    def __call__(self, stage: str, fraction: float) -> None:
        """Called by the pipeline: ``stage`` is ``fraction`` done."""
        if stage != self._current:
            self._end_stage()
            self._current = stage
            self._began = time.perf_counter()
            if self._live is not None and stage not in self._tasks:
                self._tasks[stage] = self._live.add_task(stage, total=1.0)
        if self._live is not None:
            self._live.update(self._tasks[stage], completed=min(max(fraction, 0.0), 1.0))

    def _end_stage(self) -> None:
        if self._current is None:
            return
        if self._live is not None:
            self._live.update(self._tasks[self._current], completed=1.0)
        else:
            seconds = time.perf_counter() - self._began
            self._console.print(f"{self._current:<12} {seconds:6.2f} s", highlight=False)
        self._current = None
