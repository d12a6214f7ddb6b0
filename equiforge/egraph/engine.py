"""Equality saturation: an e-graph goes into egglog, the rule files run under limits, the result comes out in bulk.

egglog has no limits of its own and can't be interrupted inside an iteration, so the engine runs one iteration at a
time and looks
at the sizes in between; the watchdog for an iteration that does not return is the caller's
(:mod:`equiforge.egraph.worker`).
"""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from equiforge.egraph.graph import EGraph
from equiforge.egraph.readout import read_out
from equiforge.egraph.text import program_text
from equiforge.errors import EquiforgeError

RULE_FILES = (
    "language",
    "analysis",
    "algebra",
    "joins",
    "functions",
    "indexing",
    "refinement",
    "propagation",
    "reshapes",
    "structure",
    "storage",
)
_SNAPSHOT_SECONDS = 5.0
_COMMANDS_AT_ONCE = 20
"""egglog 13.2 needs time and memory quadratic in the commands of one call: 2 GB for a thousand, against 1 MB in small
calls."""
_ALGEBRA_SHARE = 0.25
"""Part of the limits on nodes and seconds that the algebra phase may use up."""
FAMILIES = ("algebra", "indexing", "refinement", "propagation", "structure", "storage", "repair")
"""Rule families, and repair fusion."""


def family_of(ruleset: str) -> str:
    """The family of a ruleset: ``algebra-ac`` grows without end, ``indexing-first`` runs before tiles; both run apart
    from the others of their family."""
    return ruleset.partition("-")[0]


@dataclass(frozen=True)
class SaturationOptions:
    """Limits and rule selection of a saturation; part of every cache key."""

    max_nodes: int = 60_000
    """Stop when the e-graph holds this many e-nodes."""
    max_rounds: int = 60
    """Stop after this many iterations of each of the two phases."""
    max_seconds: float = 60.0
    """Stop after the iteration in which this much time has passed."""
    disabled: tuple[str, ...] = ()
    """Names of rules, of rulesets (``algebra-ac``) or of whole families (``algebra``, ``repair`` …) that don't run."""
    only: tuple[str, ...] = ()
    """If not empty, nothing but these rules, rulesets and families runs."""

    def __post_init__(self):
        """Raises EquiforgeError for a name that stands for nothing, and for an analysis to be left out."""
        check_rule_names((*self.disabled, *self.only))
        for name in self.disabled:
            if name in analyses():
                raise EquiforgeError(f"{name} is an analysis, which other rules rely on", hint="it always runs")

    def runs(self, *names: str) -> bool:
        """True if what goes by ``names`` runs."""
        chosen = not self.only or any(n in self.only for n in names)
        return chosen and not any(n in self.disabled for n in names)

    def runs_rule(self, rule: str, ruleset: str) -> bool:
        """True if a rule of a ruleset runs."""
        return self.runs(rule, ruleset, family_of(ruleset))


@dataclass
class SaturationStats:
    """What a saturation did; ``stop`` is ``saturated`` or names the limit that was reached."""

    nodes: int = 0
    classes: int = 0
    rounds: int = 0
    seconds: float = 0.0
    stop: str = "saturated"
    matches: dict[str, int] = field(default_factory=lambda: {})
    """Matches of each rule."""
    ruleset_seconds: dict[str, float] = field(default_factory=lambda: {})
    """Seconds of the steps of each ruleset: egglog's search, application and rebuilding, and the calls into it."""

    @property
    def saturated(self) -> bool:
        return self.stop == "saturated"


@cache
def rule_text(name: str) -> str:
    """Text of a rule file by its name without the ending."""
    return (resources.files("equiforge.egraph") / "rules" / f"{name}.egg").read_text()


@lru_cache(maxsize=2 * len(RULE_FILES))
def _parsed(name: str, text: str) -> tuple[Any, ...]:
    """The commands of a rule file; parsing takes as long as a small saturation."""
    import egglog.bindings as bindings

    return tuple(bindings.EGraph().parse_program(text, f"{name}.egg"))


@cache
def rule_names() -> tuple[str, ...]:
    """Names of all rules in the files."""
    texts = (rule_text(name) for name in RULE_FILES)
    return tuple(m for text in texts for m in re.findall(r':name "([^"]+)"', text))


@cache
def analyses() -> frozenset[str]:
    """Names of the rules that always run."""
    texts = (rule_text(name) for name in RULE_FILES)
    return frozenset(m for text in texts for m in re.findall(r':ruleset analysis :name "([^"]+)"', text))


@cache
def selectable() -> tuple[str, ...]:
    """All names that rules go by: of families, of rulesets and their own."""
    rulesets: list[str] = re.findall(r"^\(ruleset (\S+)\)", rule_text("language"), re.MULTILINE)
    rulesets.remove("analysis")
    return (*dict.fromkeys((*FAMILIES, *rulesets, *rule_names())),)


def check_rule_names(names: Iterable[str]) -> None:
    """Raises EquiforgeError, with the nearest name, for a name that is no rule, no ruleset and no family of rules."""
    for name in names:
        if name not in selectable():
            close = difflib.get_close_matches(name, selectable(), 1)
            raise EquiforgeError(
                f"no rule or family of rules is called {name}",
                hint=f"did you mean {close[0]}?" if close else f"families: {', '.join(FAMILIES)}",
            )


class _Backoff:
    """Exponential back-off for rules that can grow without bound: too many matches ban the ruleset for some rounds."""

    def __init__(self, limit: int = 4_000, ban: int = 2):
        self.limit = limit
        self.ban = ban
        self.banned_until = -1

    def allows(self, round_number: int) -> bool:
        return round_number >= self.banned_until

    def record(self, round_number: int, matches: int) -> None:
        if matches > self.limit:
            self.banned_until = round_number + 1 + self.ban
            self.limit *= 2
            self.ban *= 2


class Engine:
    """One saturation run over one e-graph."""

    def __init__(self, graph: EGraph, options: SaturationOptions, declarations: str | None = None):
        """``declarations`` replaces the egglog program that declares ``graph``: for checks of single rules."""
        import egglog.bindings as bindings

        self.graph = graph
        self.options = options
        self.stats = SaturationStats()
        self.tiles_limited = False
        """True if the node limit ended a phase in which ops are refined to tiles."""
        self.on_snapshot: Callable[[EGraph], None] | None = None
        """Called with what was found so far, every few seconds of a long run."""
        self._egraph: Any = bindings.EGraph()
        self._start = self._last_snapshot = time.perf_counter()
        for name in RULE_FILES:
            self._egraph.run_program(*self._enabled(_parsed(name, self.rule_text(name))))
        lines = (program_text(graph) if declarations is None else declarations).splitlines()
        for start in range(0, len(lines), _COMMANDS_AT_ONCE):
            self._run("\n".join(lines[start : start + _COMMANDS_AT_ONCE]))

    def rule_text(self, name: str) -> str:
        """Text of a rule file as this run takes it."""
        return rule_text(name)

    @property
    def raw(self) -> Any:
        """egglog's e-graph, which decodes the values of its rows."""
        return self._egraph

    def frozen(self) -> Any:
        """The rows of all functions and relations of the e-graph now."""
        return self._egraph.freeze()

    def _enabled(self, commands: Iterable[Any]) -> list[Any]:
        """Commands of a rule file without the rules that the options switch off."""
        kept: list[Any] = []
        for command in commands:
            rule = getattr(command, "rule", None)
            ruleset = getattr(rule, "ruleset", "")
            if rule is not None and ruleset != "analysis" and not self.options.runs_rule(rule.name, ruleset):
                continue
            kept.append(command)
        return kept

    def _run(self, text: str) -> list[Any]:
        return self._egraph.run_program(*self._egraph.parse_program(text))

    def _step(self, ruleset: str, times: str = "run") -> bool:
        """Run a ruleset once, or with ``times="saturate"`` to a fixpoint; True if it changed the e-graph.

        egglog's own timers count in milliseconds, which most rulesets never reach, so a step is timed here.
        """
        began = time.perf_counter()
        run = f"(run {ruleset})"
        report = self._run(f"(run-schedule {run if times == 'run' else f'(saturate {run})'})")[0].report
        for rule, count in report.num_matches_per_rule.items():
            self.stats.matches[rule] = self.stats.matches.get(rule, 0) + count
        spent = self.stats.ruleset_seconds.get(ruleset, 0.0)
        self.stats.ruleset_seconds[ruleset] = spent + time.perf_counter() - began
        return bool(report.updated)

    def _node_count(self) -> int:
        from equiforge.egraph.readout import CONSTRUCTORS

        sizes = self._run("(print-size)")[0].sizes
        return sum(count for name, count in sizes if name in CONSTRUCTORS)

    def _limit_reached(self, round_number: int, share: float) -> str | None:
        """Which limit is reached, counting ``share`` of the nodes and seconds of the whole run."""
        of = "" if share == 1 else f"{share:.0%} of the "
        if self._node_count() > share * self.options.max_nodes:
            return f"{of}node limit of {self.options.max_nodes} reached"
        if time.perf_counter() - self._start > share * self.options.max_seconds:
            return f"{of}time limit of {self.options.max_seconds:g} s reached"
        if round_number >= self.options.max_rounds:
            return f"round limit of {self.options.max_rounds} reached"
        return None

    def _phase(self, rulesets: tuple[str, ...], unbounded: str | None = None, share: float = 1.0) -> None:
        """Iterate rulesets in turn to a fixpoint or a limit; ``unbounded`` is one that runs under back-off."""
        backoff = _Backoff()
        for round_number in range(self.options.max_rounds + 1):
            reason = self._limit_reached(round_number, share)
            if reason is not None:
                self.stats.stop = reason
                self.tiles_limited |= share == 1 and "node limit" in reason
                return
            self.stats.rounds += 1
            changed = self._step("analysis", "saturate")
            for ruleset in rulesets:
                changed |= self._step(ruleset)
            if unbounded is not None:
                if backoff.allows(round_number):
                    before = sum(self.stats.matches.values())
                    changed |= self._step(unbounded)
                    backoff.record(round_number, sum(self.stats.matches.values()) - before)
                else:
                    changed = True
            if not changed:
                return
            self._snapshot()

    def _snapshot(self) -> None:
        if self.on_snapshot is not None and time.perf_counter() - self._last_snapshot > _SNAPSHOT_SECONDS:
            self.on_snapshot(read_out(self._egraph, self.graph))
            self._last_snapshot = time.perf_counter()

    def saturate(self) -> EGraph:
        """Run all phases and read the result out: algebra at tensor level first, then tiles (tiling never enables
        algebra).

        Algebra that grows without end leaves room for the tiles: without them there is no program to extract.
        """
        layouts = ("indexing", "indexing-first", "structure")
        if self.graph.numerics == "real":
            self._phase(("algebra", *layouts), "algebra-ac", _ALGEBRA_SHARE)
        else:
            self._phase(layouts, None, _ALGEBRA_SHARE)
        tiles = ("indexing", "refinement", "propagation", "structure")
        self._phase(tiles)
        self._phase(("storage", *tiles))
        result = read_out(self._egraph, self.graph)
        self.stats.nodes = result.num_nodes
        self.stats.classes = len(result.nodes)
        self.stats.seconds = time.perf_counter() - self._start
        return result
