"""Orders of a function's steps that hold fewer bytes: list scheduling from the front and from the back.

    forward    of the steps that are ready, the one after which the fewest bytes are held
    backward   the same in reverse, from the results: a step stands as near before its first use as it can

Steps with effects keep their order among each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from equiforge.remat.schedule import Schedule, Step, Value

LIMIT = 20_000
"""Steps above which the order stays: choosing among all ready steps is quadratic."""


def reorder(schedule: Schedule) -> bool:
    """Take the order with the lowest peak, where one is lower than that of the order at hand."""
    if len(schedule.steps) > LIMIT:
        return False
    best, peak = None, schedule.peak()
    for make in (_forward, _backward):
        steps = make(schedule)
        found = schedule.peak(steps)
        if found < peak:
            best, peak = steps, found
    if best is not None:
        schedule.steps = best
    return best is not None


def _before(schedule: Schedule) -> list[set[int]]:
    """The steps that each step has to follow, by number."""
    place = {step: number for number, step in enumerate(schedule.steps)}
    before: list[set[int]] = []
    effect: int | None = None
    for number, step in enumerate(schedule.steps):
        needs = {place[value.step] for value in step.operands if value.step is not None}
        if step.op not in schedule.pure:
            if effect is not None:
                needs.add(effect)
            effect = number
        before.append(needs)
    return before


def _roots(values: Sequence[Value]) -> set[Value]:
    return {root for value in values for root in value.roots}


def _list(count: int, before: Sequence[set[int]], cost: Callable[[int], int], place: Callable[[int], None]) -> None:
    """Place each of ``count`` items after those it needs, of the ready ones always one of least cost, the first of
    them by number."""
    waiting = [len(needs) for needs in before]
    after: list[list[int]] = [[] for _ in range(count)]
    for number, needs in enumerate(before):
        for need in needs:
            after[need].append(number)
    ready = [number for number in range(count) if not waiting[number]]
    while ready:
        chosen = min(ready, key=lambda number: (cost(number), number))
        ready.remove(chosen)
        place(chosen)
        for number in after[chosen]:
            waiting[number] -= 1
            if not waiting[number]:
                ready.append(number)


def _forward(schedule: Schedule) -> list[Step]:
    steps = schedule.steps
    reads = [_roots(step.operands) for step in steps]
    left: dict[Value, int] = {}
    for roots in reads:
        for root in roots:
            left[root] = left.get(root, 0) + 1
    kept = set(schedule.arguments) | reads[-1]
    order: list[Step] = []

    def cost(number: int) -> int:
        made = sum(value.bytes for value in steps[number].results)
        return made - sum(root.bytes for root in reads[number] if left[root] == 1 and root not in kept)

    def place(number: int) -> None:
        order.append(steps[number])
        for root in reads[number]:
            left[root] -= 1

    before = _before(schedule)
    before[-1] = set(range(len(steps) - 1))
    _list(len(steps), before, cost, place)
    return order


def _backward(schedule: Schedule) -> list[Step]:
    """In reverse a step ends the lives of what it makes and begins those of what it reads."""
    steps = schedule.steps
    last = len(steps) - 1
    reads = [_roots(step.operands) for step in steps]
    held = set(schedule.arguments) | reads[last]
    order: list[Step] = []

    def cost(number: int) -> int:
        number = last - number
        made = sum(value.bytes for value in steps[number].results if value in held)
        return sum(root.bytes for root in reads[number] if root not in held) - made

    def place(number: int) -> None:
        number = last - number
        order.append(steps[number])
        held.update(reads[number])
        held.difference_update(steps[number].results)

    after: list[set[int]] = [set() for _ in steps]
    before = _before(schedule)
    before[-1] = set(range(last))
    for number, needs in enumerate(before):
        for need in needs:
            after[last - need].add(last - number)
    _list(len(steps), after, cost, place)
    return order[::-1]
