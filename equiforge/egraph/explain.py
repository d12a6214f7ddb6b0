"""Explanations: the chain of rules that makes two terms equal, as text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from equiforge.egraph.catalogue import catalogue
from equiforge.egraph.proof_graph import Attrs, Step
from equiforge.egraph.term_text import Reader, operator_text
from equiforge.egraph.trace import REPAIR, Trace
from equiforge.errors import EquiforgeError

FAMILY_ORDER = ("program", "algebra", "indexing", "refinement", "propagation", "structure", "storage", REPAIR)
"""Families in the order in which a story tells them."""
_DEPTH = 4
"""Operators inside one another that a step shows; values of the program are names."""


@dataclass(frozen=True)
class ExplainedStep:
    """One step as text: ``before`` becomes ``after`` by ``rule``, read from right to left if not ``forward``."""

    rule: str
    family: str
    statement: str
    forward: bool
    before: str
    after: str


class Explainer:
    """Answers questions about one trace."""

    def __init__(self, trace: Trace):
        self.trace = trace
        self.names: dict[int, str] = {}
        """Nodes that are values of the program."""
        for class_id, node in trace.program.items():
            name = trace.initial.names.get(class_id)
            if name is not None:
                self.names.setdefault(node, f"%{name}")

    # Terms

    def resolve(self, text: str) -> int:
        """The node that an SSA name, a source location or a term stands for. Raises EquiforgeError if there is none."""
        initial = self.trace.initial
        bare = text.strip().removeprefix("%")
        for class_id, name in initial.names.items():
            if name == bare and class_id in self.trace.program:
                return self.trace.program[class_id]
        located = [c for c, location in initial.locations.items() if location == text or location.endswith(f"/{text}")]
        if located:
            return self.trace.program[max(located)]
        if re.fullmatch(r"[^\s(\[]+", text.strip()):
            known = ", ".join(f"%{name}" for name in initial.names.values())
            raise EquiforgeError(f"the program has no value {text}", hint=f"its values: {known}; or write a term")
        return Reader(initial, self._value, self._node).read(text)

    def _value(self, text: str) -> int:
        if text.startswith("%"):
            return self.resolve(text)
        for class_id, nodes in self.trace.initial:
            for node in nodes:
                if node.op == "const" and self.trace.initial.constants[str(node.attrs[0])][2] == (float(text),):
                    return self.trace.program[class_id]
        raise EquiforgeError(f"the program has no constant {text}")

    def _node(self, op: str, attrs: Attrs, children: tuple[int, ...]) -> int:
        if self.trace.proofs.lookup(op, attrs, children) is None:
            raise EquiforgeError(
                f"the e-graph has no {op} with attributes {list(attrs)} over these operands",
                hint="saturate{rules=…} may have left out what makes it, or a limit stopped the run",
            )
        return self.trace.proofs.add(op, attrs, children)

    def text(self, node: int, depth: int = _DEPTH, open_root: bool = False) -> str:
        """A term as text; ``open_root`` writes its operator even if it has a name."""
        if node in self.names and not open_root:
            return self.names[node]
        term = self.trace.proofs.nodes[node]
        operator = operator_text(term, self.trace.graph)
        if not term.children:
            return operator
        if depth == 0:
            return "…"
        return f"{operator}({', '.join(self.text(c, depth - 1) for c in term.children)})"

    def full_text(self, node: int) -> str:
        """A term as text down to the arguments and constants, to be read back."""
        term = self.trace.proofs.nodes[node]
        operator = operator_text(term, self.trace.graph)
        return f"{operator}({', '.join(map(self.full_text, term.children))})" if term.children else operator

    # Chains

    def chain(self, left: int, right: int) -> list[Step]:
        """The steps from one term to another. Raises EquiforgeError if the rules do not make them equal."""
        steps = self.trace.proofs.chain(left, right)
        if steps is None:
            hint = "" if self.trace.stop == "saturated" else f"the run stopped early: {self.trace.stop}"
            raise EquiforgeError(
                f"no chain of rules makes {self.text(left)} and {self.text(right)} equal",
                hint=hint or None,
            )
        return steps

    def explained(self, steps: list[Step]) -> list[ExplainedStep]:
        """Steps as text; what happens in the same way at a second place is left out."""
        seen: set[tuple[str, int, int]] = set()
        found: list[ExplainedStep] = []
        for step in steps:
            key = (step.rule, step.before, step.after)
            if key not in seen:
                seen.add(key)
                found.append(self._explained(step))
        return found

    def _explained(self, step: Step) -> ExplainedStep:
        family, statement = describe(step.rule)
        if step.rule == REPAIR:
            statement += self._certificate(step)
        before, after = (self.text(n, open_root=True) for n in (step.before, step.after))
        return ExplainedStep(step.rule, family, statement, step.forward, before, after)

    def _certificate(self, step: Step) -> str:
        """What repair synthesis has shown of the reducer that a step brings in."""
        nodes, seen = self.trace.proofs.nodes, set[int]()
        stack = [step.before, step.after]
        while stack:
            node = nodes[number := stack.pop()]
            reducer = self.trace.graph.reducers.get(str(node.attrs[0])) if node.op == "rolling" else None
            if reducer is not None:
                return f": {reducer.certificate}"
            seen.add(number)
            stack += [c for c in node.children if c not in seen and node.op != "preduce"]
        return ""


def describe(rule: str) -> tuple[str, str]:
    """Family and statement of a rule; repair fusion is a family of its own."""
    if rule == REPAIR:
        return REPAIR, "dependent reductions over one axis are one reduction, which repairs what it holds"
    if rule == "given":
        return "program", "given with the e-graph"
    entry = catalogue().rule(rule)
    return entry.family, entry.statement


def step_text(number: int, step: ExplainedStep) -> str:
    """One step: what stood there, the rule, and what stands there now."""
    direction = "" if step.forward else ", from right to left"
    return (
        f"{number:4}. {step.rule} ({step.family}{direction}): {step.statement}\n"
        f"        {step.before}\n      = {step.after}\n"
    )
