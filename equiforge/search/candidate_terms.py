"""Candidates as terms of a trace: what each result of a program has become."""

from __future__ import annotations

from collections.abc import Iterable

from equiforge.egraph.graph import ENode
from equiforge.egraph.trace import Trace
from equiforge.search.derive import Kernel
from equiforge.search.extract import Candidate
from equiforge.search.normal_form import Chain, Load


class _Terms:
    """The terms that the kernels of a candidate compute; kernels come after those that they read."""

    def __init__(self, trace: Trace, kernels: Iterable[Kernel]):
        self.trace = trace
        self.stored: dict[int, int] = {}
        for kernel in kernels:
            self.stored[kernel.root] = self._kernel(kernel)

    def _kernel(self, kernel: Kernel) -> int:
        made: dict[int, int] = {}
        for class_id, choice in kernel.choices.items():
            made[class_id] = self.loaded(choice) if isinstance(choice, Load) else self._over(choice, made)
        value, proofs = made[kernel.tile], self.trace.proofs
        if not kernel.fields:
            return self._chained(value, kernel.chain)
        fields = [
            self._chained(proofs.add("get", (index,), (value,)), chain)
            for index, (_, chain) in enumerate(kernel.fields)
        ]
        return proofs.add("tuple", (), tuple(fields))

    def _chained(self, value: int, chain: Chain) -> int:
        """What is stored of the tiles of a value."""
        for _, node in reversed(chain):
            value = self.trace.proofs.add(node.op, node.attrs, (value,))
        return value

    def _over(self, node: ENode, made: dict[int, int]) -> int:
        return self.trace.proofs.add(node.op, node.attrs, tuple(made[c] for c in node.children))

    def loaded(self, load: Load) -> int:
        """A value in memory through the views and layout changes of a load."""
        value = self.stored.get(load.base, self.trace.nodes[load.base])
        for _, node in reversed(load.path):
            value = self.trace.proofs.add(node.op, node.attrs, (value,))
        return value


def candidate_terms(trace: Trace, candidate: Candidate) -> list[tuple[int, int]]:
    """For each result of the program, its term as written and its term in a candidate of ``trace.graph``."""
    terms = _Terms(trace, candidate.kernels)
    written = [trace.program[root] for root in trace.initial.roots]
    return list(zip(written, [terms.loaded(load) for load in candidate.outputs], strict=True))
