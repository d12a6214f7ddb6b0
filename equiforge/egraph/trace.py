"""Saturation that records which rule made what.

egglog 13.2 can prove nothing from Python, so the rules are rewritten: a rule that unites classes becomes one that
records its match in a relation of its own, and one that does what it did for recorded matches. Between the two the
matches are read, and the two sides of each are entered as terms into a :class:`ProofGraph`. It costs time: only
explanations use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from equiforge.egraph.catalogue import RuleEntry, catalogue
from equiforge.egraph.engine import Engine, SaturationOptions, rule_text
from equiforge.egraph.graph import EGraph, ENode
from equiforge.egraph.proof_graph import Attrs, ProofGraph
from equiforge.egraph.readout import CONSTRUCTORS, Values
from equiforge.egraph.rule_syntax import Expression, Form, read_forms, write
from equiforge.egraph.worker import finish

REPAIR = "repair"
"""What stands for a rule where repair fusion added a rolling reduction."""


@dataclass(frozen=True)
class _Term:
    """One side of a union over the columns of a record: a class in a column, or a constructor over attributes in
    columns and terms."""

    column: int = -1
    op: str = ""
    kinds: str = ""
    parts: tuple[_Term | int, ...] = ()


@dataclass(frozen=True)
class _Record:
    """How the matches of a rule are read: columns with their sorts, and the pairs of terms that it unites."""

    rule: str
    columns: dict[str, str]
    pairs: list[tuple[_Term, _Term]]

    @property
    def relation(self) -> str:
        return f"trace-{self.rule}"


class _Recorder:
    """Builds the record of one rule."""

    def __init__(self, rule: RuleEntry, sorts: dict[str, tuple[str, ...]]):
        self.sorts = sorts
        self.columns: dict[str, str] = {}
        self.terms: dict[str, Expression] = {}
        for fact in rule.facts:
            if isinstance(fact, list) and fact[0] == "=":
                names: list[str] = [side for side in fact[1:] if isinstance(side, str)]
                terms = [side for side in fact[1:] if isinstance(side, list) and side[0] in sorts]
                if names and terms:
                    self.terms.setdefault(names[0], terms[0])
        made = {str(action[1]): action[2] for action in rule.actions if action[0] == "let"}
        self.terms |= made
        pairs: list[tuple[_Term, _Term]] = []
        for union in (action for action in rule.actions if action[0] == "union"):
            # What the rule makes is the right side, so that a step reads as the rule does.
            left, right = union[2:0:-1] if str(union[1]) in made else union[1:]
            pairs.append((self.term(left), self.term(right)))
        self.record = _Record(rule.name, self.columns, pairs)

    def column(self, expression: Expression, sort: str) -> int:
        self.columns.setdefault(write(expression), sort)
        return list(self.columns).index(write(expression))

    def term(self, expression: Expression) -> _Term:
        if isinstance(expression, str) and expression in self.terms:
            return self.term(self.terms[expression])
        if isinstance(expression, str):
            return _Term(self.column(expression, "Tensor"))
        name = str(expression[0])
        parts = [
            self.term(part) if sort == "Tensor" else self.column(part, sort)
            for part, sort in zip(expression[1:], self.sorts[name], strict=True)
        ]
        op, kinds = CONSTRUCTORS[name]
        return _Term(op=op, kinds=kinds, parts=tuple(parts))


def _constructor_sorts() -> dict[str, tuple[str, ...]]:
    (datatype,) = [form for form in read_forms(rule_text("language")) if form[:2] == ["datatype", "Tensor"]]
    return {str(v[0]): tuple(map(str, v[1:])) for v in datatype[2:] if isinstance(v, list) and v[0] in CONSTRUCTORS}


class TracingEngine(Engine):
    """An engine whose ``proofs`` say why classes are equal. ``names`` are the nodes of the values of the program."""

    def __init__(self, graph: EGraph, options: SaturationOptions):
        sorts = _constructor_sorts()
        self._records: dict[str, list[_Record]] = {}
        self._by_name: dict[str, _Record] = {}
        for rule in catalogue().rules:
            if any(isinstance(a, list) and a[0] == "union" for a in rule.actions):
                record = _Recorder(rule, sorts).record
                self._records.setdefault(rule.ruleset, []).append(record)
                self._by_name[rule.name] = record
        super().__init__(graph, options)
        self.proofs = ProofGraph()
        self.values = Values(self.raw)
        self._nodes: dict[Any, int] = {}
        self._seen: set[tuple[Any, ...]] = set()
        self.names: dict[int, int] = {}
        self._enter_program()

    def rule_text(self, name: str) -> str:
        """The rules that unite classes are split in two."""
        parts: list[str] = []
        for form in read_forms(rule_text(name)):
            if form[0] == "ruleset":
                parts += [write(form), f"(ruleset {form[1]}-apply)"]
            elif form[0] == "rule":
                parts += self._split(form)
            else:
                parts.append(write(form))
        return "\n".join(parts)

    def _split(self, form: Form) -> list[str]:
        name, ruleset = (str(form[form.index(key) + 1]) for key in (":name", ":ruleset"))
        record = self._by_name.get(name.strip('"'))
        if ruleset == "analysis":
            return [write(form)]
        if record is None:
            return [write(form).replace(f":ruleset {ruleset}", f":ruleset {ruleset}-apply")]
        facts, actions = form[1], form[2]
        assert isinstance(facts, list)
        assert isinstance(actions, list)
        match = f"({record.relation} {' '.join(record.columns)})"
        attributes = [a for a in actions if isinstance(a, list) and a[0] == "let" and self._is_attribute(a[2])]
        lets = " ".join(map(write, attributes))
        query = " ".join(map(write, facts))
        # What the record names is there when the second rule runs.
        rest = Form(form.line)
        rest.extend(a for a in actions if a not in attributes or str(a[1]) not in record.columns)
        return [
            f"(relation {record.relation} ({' '.join(record.columns.values())}))",
            f"(rule ({query}) ({lets} {match}) :ruleset {ruleset} :name {name})",
            f'(rule ({query} {match}) {write(rest)} :ruleset {ruleset}-apply :name "{name.strip(chr(34))} apply")',
        ]

    def _is_attribute(self, expression: Expression) -> bool:
        return not isinstance(expression, list) or expression[0] not in CONSTRUCTORS

    # Recording

    def _enter_program(self) -> None:
        """The terms of the program; a class that has several e-nodes already is given."""
        pending = {c: list(nodes) for c, nodes in self.graph.nodes.items()}
        while pending:
            ready = [c for c, nodes in pending.items() if any(set(n.children) <= self.names.keys() for n in nodes)]
            if not ready:
                break
            for class_id in ready:
                for node in list(pending[class_id]):
                    if set(node.children) <= self.names.keys():
                        made = self._add(node, self.names)
                        first = self.names.setdefault(class_id, made)
                        self.proofs.unite(first, made, "given")
                        pending[class_id].remove(node)
                if not pending[class_id]:
                    del pending[class_id]

    def _add(self, node: ENode, nodes: dict[int, int]) -> int:
        return self.proofs.add(node.op, node.attrs, tuple(nodes[c] for c in node.children))

    def _step(self, ruleset: str, times: str = "run") -> bool:
        if ruleset == "analysis":
            return super()._step(ruleset, times)
        super()._step(ruleset)
        functions = self.frozen().functions
        self._learn(functions)
        for record in self._records.get(ruleset, ()):
            if self.options.runs_rule(record.rule, ruleset):
                self._read(record, functions[record.relation].rows)
        return super()._step(f"{ruleset}-apply")

    def _learn(self, functions: Any) -> None:
        """A node for every class that egglog has made since."""
        rows = [
            (op, kinds, row)
            for name, (op, kinds) in CONSTRUCTORS.items()
            for row in functions[name].rows
            if row.output not in self._nodes
        ]
        while rows:
            left: list[tuple[str, str, Any]] = []
            for op, kinds, row in rows:
                if row.output in self._nodes:
                    continue
                children = [v for kind, v in zip(kinds, row.inputs, strict=True) if kind == "c"]
                if any(c not in self._nodes for c in children):
                    left.append((op, kinds, row))
                    continue
                attrs = self._attrs([(k, v) for k, v in zip(kinds, row.inputs, strict=True) if k != "c"])
                nodes = tuple(self._nodes[c] for c in children)
                found = self.proofs.lookup(op, attrs, nodes)
                self._nodes[row.output] = self.proofs.add(op, attrs, nodes) if found is None else found
            if len(left) == len(rows):
                break
            rows = left

    def _attrs(self, values: list[tuple[str, Any]]) -> Attrs:
        attrs: list[str | int] = []
        for kind, value in values:
            if kind == "i":
                attrs.append(self.values.integer(value))
            elif kind == "s":
                attrs.append(self.values.string(value))
            else:
                attrs.extend(self.values.vector(value))
        return tuple(attrs)

    def _read(self, record: _Record, rows: list[Any]) -> None:
        for row in rows:
            key = (record.rule, *row.inputs)
            if key in self._seen:
                continue
            self._seen.add(key)
            for left, right in record.pairs:
                self.proofs.unite(self._term(left, row.inputs), self._term(right, row.inputs), record.rule)

    def _term(self, term: _Term, row: Any) -> int:
        """The node of one side of a match; a class is represented by its oldest term."""
        if term.column >= 0:
            return self.proofs.find(self._nodes[row[term.column]])
        attrs: list[tuple[str, Any]] = []
        children: list[int] = []
        for kind, part in zip(term.kinds, term.parts, strict=True):
            if isinstance(part, _Term):
                children.append(self._term(part, row))
            else:
                attrs.append((kind, row[part]))
        return self.proofs.add(term.op, self._attrs(attrs), tuple(children))


@dataclass
class Trace:
    """A saturated e-graph with the reasons: ``nodes`` has a term for each of its classes, ``program`` for each of the
    classes it started from."""

    initial: EGraph
    graph: EGraph
    proofs: ProofGraph
    nodes: dict[int, int]
    program: dict[int, int]
    stop: str


def trace(graph: EGraph, options: SaturationOptions) -> Trace:
    """Saturate, fuse dependent reductions, and keep the reasons."""
    engine = TracingEngine(graph, options)
    found = engine.saturate()
    nodes: dict[int, int] = {}
    _name_classes(engine.proofs, found, nodes)
    before = {c: set(owned) for c, owned in found}
    found, stats, _ = finish(found, engine.stats, options)
    _enter_repairs(engine.proofs, found, before, nodes)
    return Trace(graph, found, engine.proofs, nodes, engine.names, stats.stop)


def _name_classes(proofs: ProofGraph, graph: EGraph, nodes: dict[int, int], make: bool = False) -> None:
    """A term for each class of a graph, from the terms of its e-nodes."""
    changed = True
    while changed:
        changed = False
        for class_id, owned in graph:
            for node in owned if class_id not in nodes else ():
                if all(c in nodes for c in node.children):
                    children = tuple(nodes[c] for c in node.children)
                    found = proofs.lookup(node.op, node.attrs, children)
                    if found is None and make:
                        found = proofs.add(node.op, node.attrs, children)
                    if found is not None:
                        nodes[class_id], changed = found, True
                        break


def _enter_repairs(proofs: ProofGraph, graph: EGraph, before: dict[int, set[ENode]], nodes: dict[int, int]) -> None:
    """What repair fusion added is equal to the reduction that it replaces, and all that it says of a class that it made
    is equal."""
    _name_classes(proofs, graph, nodes, make=True)
    for class_id, owned in graph:
        old = before.get(class_id, set())
        for node in owned if class_id in nodes else ():
            if node in old or any(c not in nodes for c in node.children):
                continue
            replaced = next((n for n in sorted(old) if n.op == "preduce"), None)
            anchor = nodes[class_id]
            if replaced is not None:
                anchor = proofs.add(replaced.op, replaced.attrs, tuple(nodes[c] for c in replaced.children))
            proofs.unite(anchor, proofs.add(node.op, node.attrs, tuple(nodes[c] for c in node.children)), REPAIR)
