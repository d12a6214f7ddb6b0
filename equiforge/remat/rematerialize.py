"""Lower peaks: another order, and values computed again next to their later uses.

    1. the order with the lowest peak of a few                                    (``reorder``)
    2. at the highest step, the best set of values to keep across it              (``solve``, an integer program),
       or every second, third … of them
    3. one value after the other, that whose second run lowers the most for the least work
    4. runs that turned out not to be needed go again

Step 3 tries a value with the ops that it is computed from, as far back as values that are held anyway, and alone, so
that its operands live longer. Only ops without effects run again: no draw of random numbers and no opaque call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from equiforge.analysis.memory import Figures, profile
from equiforge.remat.model import Cut
from equiforge.remat.reorder import reorder
from equiforge.remat.schedule import Schedule, Step, Value
from equiforge.remat.solve import Choice, solve

_TRIES = 1_000_000
"""Steps swept in all by the third part, so that its time is bounded for large functions."""
_CUT = 3_000
"""Steps before the highest one up to which the integer program is made: it has two columns and more for each."""
_STAGES = (0.9, 0.97, 0.995)
"""Targets of the third part, as parts of the peak at hand: where the first leads no further, the next is taken."""
_CANDIDATES = 16
"""Values tried at one highest step, those of the most bytes."""
_SMALL = 300
"""Steps up to which all ways of beginning are tried where the first one is good enough already."""
_CHAIN = 48
"""Ops run again at most for one value."""


@dataclass(frozen=True)
class RematReport:
    """Costs before and after, and what runs again by name."""

    budget: int
    before: Figures
    after: Figures
    again: Counter[str]

    @property
    def gap(self) -> int:
        """Bytes by which the budget is missed."""
        return max(0, self.after.peak - self.budget)


def rematerialize(function: FuncOp, budget: int, donated: Collection[int] = ()) -> RematReport:
    """Bring the peak of a function under ``budget`` bytes, or as low as is found, in place.

    A function that fits stays as it is. Raises EquiforgeError for control flow.
    """
    before = Figures.of(profile(function, donated))
    if before.peak <= budget:
        return RematReport(budget, before, before, Counter())
    schedule = Schedule(function, donated)
    reorder(schedule)
    if schedule.peak() > budget:
        start = schedule.steps
        tried: list[list[Step]] = []
        for begin in (_cut, _spread, None):
            tried.append(_lowered(schedule, start, budget, begin))
            if schedule.peak() <= budget and len(start) > _SMALL:
                break
        schedule.steps = min(tried, key=lambda steps: (max(budget, schedule.peak(steps)), schedule.weight(steps)))
    again = Counter(step.op.name for step in schedule.again())
    schedule.write()
    return RematReport(budget, before, Figures.of(profile(function, donated)), again)


def _lowered(
    schedule: Schedule, start: list[Step], budget: int, begin: Callable[[Schedule, int], None] | None
) -> list[Step]:
    """Steps from ``start`` on with a lower peak, beginning with several values at once or not."""
    schedule.steps = start
    if begin is not None:
        begin(schedule, budget)
    _one_by_one(schedule, budget)
    if schedule.peak() > budget:
        reorder(schedule)
    _drop(schedule, max(budget, schedule.peak()))
    return schedule.steps


# Several values at once


def _cut(schedule: Schedule, budget: int) -> None:
    """Cut at the highest step and keep fewer bytes across it, at the least work; several bounds are tried."""
    steps = schedule.steps
    held = schedule.held(steps)
    place = held.index(max(held))
    if place > _CUT:
        return
    cut = _cut_at(schedule, place)
    lives = schedule.lives(steps)
    kept = set(schedule.arguments) - schedule.given_back
    across = sum(root.bytes for root, (first, last) in lives.items() if first < place <= last and root not in kept)
    bounds = (across - (max(held) - budget), across // 2, across // 4, 0)
    choices = (solve(cut, max_saved=bound) for bound in bounds if 0 <= bound < across)
    _take_lowest(schedule, place, (choice for choice in choices if choice is not None), budget)


def _spread(schedule: Schedule, budget: int) -> None:
    """Keep every second, third … storage across the highest step: in long chains it matters that what is computed again
    begins close by, which the integer program does not see."""
    steps = schedule.steps
    held = schedule.held(steps)
    place = held.index(max(held))
    lives = schedule.lives(steps)
    across = [root for root, (first, last) in lives.items() if first < place <= last and root.step is not None]
    early = frozenset(step.op for step in steps[:place])
    fixed = [root for root in across if root.step is not None and root.step.op not in schedule.pure]

    def every(stride: int) -> Choice:
        saved = {root.ssa for root in (*fixed, *across[::stride])}
        storages = tuple(s for ssa in saved for s in schedule.storages.of(ssa))
        return Choice(storages, early, early & schedule.pure, 0, 0)

    _take_lowest(schedule, place, map(every, (2, 3, 4, 6, 8, 12, 16, 32)), budget)


def _take_lowest(schedule: Schedule, place: int, choices: Iterable[Choice], budget: int) -> None:
    """Take the choice for the step at ``place`` that lowers the peak most, none if none does; the first that fits the
    budget ends the search."""
    steps = schedule.steps
    best, reached = steps, max(schedule.held(steps))
    for choice in choices:
        tried = _with_choice(schedule, steps, place, choice)
        peak = schedule.peak(tried)
        if peak < reached:
            best, reached = tried, peak
        if reached <= budget:
            break
    schedule.steps = best


def _cut_at(schedule: Schedule, place: int) -> Cut:
    early = [step.op for step in schedule.steps[:place]]
    inside = set(early)
    needed = {
        value.ssa: None
        for step in schedule.steps[place:] for value in step.operands
        if value.step is None or value.step.op in inside
    }  # fmt: skip
    held = frozenset(n for n, argument in enumerate(schedule.arguments) if argument not in schedule.given_back)
    return Cut(early, inside, schedule.pure & inside, list(needed), schedule.storages, held)


def _with_choice(schedule: Schedule, steps: list[Step], place: int, choice: Choice) -> list[Step]:
    """The steps with what the choice computes again standing before its first late use."""
    saved = {storage.root for storage in choice.saved}
    order = {value: number for number, step in enumerate(steps[:place]) for value in step.results}
    made: dict[Value, Value] = {}
    result = steps[:place]

    def compute(values: list[Value]) -> None:
        wanted: set[int] = set()
        stack = list(values)
        while stack:
            value = stack.pop()
            number = order.get(value)
            if number is None or number in wanted or value in made or value.ssa in saved:
                continue
            if steps[number].op in choice.backward:
                wanted.add(number)
                stack += steps[number].operands
        for number in sorted(wanted):
            step = steps[number]
            operands = [made.get(operand, operand) for operand in step.operands]
            if operands == step.operands and not any(value in value.roots for value in step.results):
                made.update((value, value) for value in step.results)  # a view of what is still there
            else:
                result.append(_run_again(schedule, step, operands, made))

    for step in steps[place:]:
        compute(step.operands)
        _rebind(schedule, step, made, result)
    return result


def _run_again(schedule: Schedule, step: Step, operands: list[Value], made: dict[Value, Value]) -> Step:
    copy = schedule.run(step.op, operands)
    made.update(zip(step.results, copy.results, strict=True))
    return copy


def _rebind(schedule: Schedule, step: Step, made: dict[Value, Value], result: list[Step]) -> None:
    """Add a step with the versions of its operands that were made; its results are new then, since views follow."""
    operands = [made.get(operand, operand) for operand in step.operands]
    result.append(step if operands == step.operands else _run_again(schedule, step, operands, made))


# One value after the other


def _one_by_one(schedule: Schedule, budget: int) -> None:
    """In stages: a budget far below the peak says little about which value to begin with."""
    sweeps = _TRIES // len(schedule.steps)
    stages = list(_STAGES)
    while stages and schedule.peak() > budget:
        peak = schedule.peak()
        sweeps = _lower(schedule, max(budget, int(stages[0] * peak)), sweeps)
        if schedule.peak() >= peak:
            stages.pop(0)
        if sweeps <= 0:
            return


def _lower(schedule: Schedule, target: int, sweeps: int) -> int:
    """Runs values again until the peak is at the target or nothing helps; returns the sweeps that are left."""
    while sweeps > 0:
        lives = schedule.lives(schedule.steps)
        held = schedule.held(schedule.steps, lives)
        peak = max(held)
        if peak <= target:
            break
        place = held.index(peak)
        over = _excess(held, target)
        weight = schedule.weight(schedule.steps)
        best: tuple[float, list[Step]] | None = None
        for root in _candidates(schedule, lives, place):
            for chain in (True, False):
                steps = _rerun(schedule, lives, root, place, chain)
                sweeps -= 1
                if steps is None:
                    continue
                found = schedule.held(steps)
                gained = over - _excess(found, target)
                if max(found) > peak or gained <= 0:
                    continue
                score = gained / max(1, schedule.weight(steps) - weight)
                if best is None or score > best[0]:
                    best = (score, steps)
        if best is None:
            break
        schedule.steps = best[1]
    return sweeps


def _excess(held: list[int], budget: int) -> int:
    """Bytes over the budget, summed over all steps: it falls although another step still has the same peak."""
    return sum(max(0, at - budget) for at in held)


def _candidates(schedule: Schedule, lives: dict[Value, tuple[int, int]], place: int) -> list[Value]:
    """What is held at a step without being used there, made before and used after it, by ops without effects."""
    step = schedule.steps[place]
    here = {root for value in (*step.operands, *step.results) for root in value.roots}
    found = [
        root for root, (first, last) in lives.items()
        if first < place < last and root.step is not None and root.step.op in schedule.pure and root not in here
        and root.bytes
    ]  # fmt: skip
    return sorted(found, key=lambda root: -root.bytes)[:_CANDIDATES]


def _rerun(
    schedule: Schedule, lives: dict[Value, tuple[int, int]], root: Value, place: int, chain: bool
) -> list[Step] | None:
    """The steps with a root computed again before its first use after ``place``; None where that can't be done.

    With ``chain``, so is whatever it is computed from and would not be held until then.
    """
    steps = schedule.steps
    early = {value for step in steps[:place] for value in step.results}
    first = next((n for n in range(place, len(steps)) if any(root in v.roots for v in steps[n].operands)), None)
    if first is None:
        return None
    made: dict[Value, Value] = {}
    added: list[Step] = []

    def again(value: Value, depth: int) -> bool:
        """Puts another version of the value in ``made`` if it needs one; False where there can be none."""
        needed = root in value.roots
        if value in made or (value not in early and not needed):
            return True
        if not needed and (not chain or all(lives[other][1] >= first for other in value.roots)):
            return True
        step = value.step
        if step is None or value not in early or step.op not in schedule.pure or depth > _CHAIN:
            return not needed
        if not all(again(operand, depth + 1) for operand in step.operands):
            return False
        if value not in made:
            operands = [made.get(operand, operand) for operand in step.operands]
            added.append(_run_again(schedule, step, operands, made))
        return True

    result = steps[:first]
    for step in steps[first:]:
        if not all(again(operand, 0) for operand in step.operands if root in operand.roots and operand in early):
            return None
        result += added
        added.clear()
        _rebind(schedule, step, made, result)
    return result


# What was not needed


def _drop(schedule: Schedule, budget: int) -> None:
    """Use the first version again wherever the peak stays within the budget, the most work first."""
    sweeps = _TRIES // len(schedule.steps)
    schedule.steps = _needed(schedule, schedule.steps)
    for number, op in sorted(
        ((number, step.op) for number, step in _numbered(schedule)), key=lambda item: -schedule.weights[item[1]]
    )[:sweeps]:
        steps = _without(schedule, op, number)
        if steps is not None and schedule.peak(steps) <= budget:
            schedule.steps = steps


def _numbered(schedule: Schedule) -> list[tuple[int, Step]]:
    """Second and later runs, with the number of the run."""
    runs: Counter[Operation] = Counter()
    found: list[tuple[int, Step]] = []
    for step in schedule.steps:
        runs[step.op] += 1
        if runs[step.op] > 1:
            found.append((runs[step.op], step))
    return found


def _without(schedule: Schedule, op: Operation, number: int) -> list[Step] | None:
    """The steps without the last runs of an op, from a number on; what they gave comes from the run before."""
    earlier: Step | None = None
    runs = 0
    made: dict[Value, Value] = {}
    result: list[Step] = []
    for step in schedule.steps:
        runs += step.op is op
        if step.op is op and runs >= number and earlier is not None:
            made.update(zip(step.results, earlier.results, strict=True))
            continue
        _rebind(schedule, step, made, result)
        if step.op is op:
            earlier = result[-1]
    return _needed(schedule, result) if runs >= number else None


def _needed(schedule: Schedule, steps: list[Step]) -> list[Step]:
    """Without steps that nobody needs."""
    used: set[Value] = set()
    kept: list[Step] = []
    for step in reversed(steps):
        if step.op not in schedule.pure or any(value in used for value in step.results):
            used.update(step.operands)
            kept.append(step)
    return kept[::-1]
