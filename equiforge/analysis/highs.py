"""HiGHS, as the integer programs here use it: silent, on one thread, and the same in every run."""

from __future__ import annotations

import highspy


class _Silent(highspy.Highs):
    """HiGHS without its banner, which goes to standard output when callbacks are enabled, where IR is printed."""

    def enableCallbacks(self) -> None:  # noqa: N802 - HiGHS's name
        self.silent()
        super().enableCallbacks()


def new_solver(absolute_gap: float = 0.0) -> highspy.Highs:
    """A solver that stops at an optimum, or at a solution that is at most ``absolute_gap`` worse."""
    solver = _Silent()
    options = {"mip_rel_gap": 0.0, "mip_abs_gap": absolute_gap, "random_seed": 0, "threads": 1}
    for option, value in options.items():
        solver.setOptionValue(option, value)
    return solver
