"""Candidates that come as tile IR: they are carried on from there, to kernels, Triton and their checks.

    equiforge optimize lora:b=8 --stop-after extract --top 3 --print-ir > candidates.mlir
    equiforge optimize candidates.mlir

The original program is not in the file, so a candidate is compared with its own meaning: that of its tile IR.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

from equiforge.errors import EquiforgeError
from equiforge.pipeline import CandidateRow, Result, Run

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from equiforge.tune.validate import Verdict


class GivenRun(Run):
    """The stages from tile IR on, for each candidate. What they move and cost is not known without the e-graph."""

    def run(self) -> Result:
        if self.options.stop_after in ("egraph", "saturate"):
            raise EquiforgeError(
                f"{self.program.name} holds candidates in tile IR: there is no e-graph to stop at",
                hint="--stop-after import, extract, kernel or triton",
            )
        if self.options.stop_after in ("import", "extract"):
            self.result.ir = "\n// -----\n".join(map(str, self.program.candidates))
            return self.result
        for number, tiles in enumerate(self.program.candidates):
            row = CandidateRow(number, 0, 0, -1, -1, nan, nan)
            with self._attempt(row):
                self._emit(row, tiles)
            self.progress("triton", (number + 1) / len(self.program.candidates))
        self._choose_best()
        return self.result

    def _validate(self, row: CandidateRow, tiles: ModuleOp) -> Verdict:
        from equiforge.tune.validate import validate_candidate

        return validate_candidate(tiles.clone(), tiles, self.options.seed)
