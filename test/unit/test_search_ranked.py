"""Completions of outlines by rising estimate, against the enumeration of all of them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from equiforge.search.ranked import Branch, Completions


@dataclass(frozen=True)
class Cost:
    estimate_us: float


@dataclass(frozen=True)
class Kernel:
    cost: Cost


Choice = tuple[tuple[Kernel, ...], int]
"""Kernels by rising estimate, and the problem that is left after any of them."""


def problems(seed: int, count: int) -> list[list[Choice]]:
    """Problems with some choices each, that lead to later problems; the last one is solved. Some come to a dead end."""
    draw = random.Random(seed)
    made: list[list[Choice]] = []
    for number in range(count):
        choices: list[Choice] = []
        for _ in range(draw.randint(0 if number else 1, 3)):
            costs = sorted(draw.choice((1.0, 1.5, 2.25, 4.0)) for _ in range(draw.randint(1, 3)))
            choices.append((tuple(Kernel(Cost(c)) for c in costs), draw.randint(number + 1, count)))
        made.append(choices)
    return [*made, []]


def every(made: list[list[Choice]], at: int = 0) -> list[float]:
    if at == len(made) - 1:
        return [0.0]
    return sorted(k.cost.estimate_us + rest for kernels, to in made[at] for k in kernels for rest in every(made, to))


def ranked(made: list[list[Choice]], outlook: Callable[[int], float], expanded: list[int]) -> Completions:
    known: dict[int, Completions] = {}

    def completions(at: int) -> Completions:
        if at not in known:
            solved = at == len(made) - 1
            known[at] = Completions() if solved else Completions(lambda: outlook(at), lambda: branches(at))
        return known[at]

    def branches(at: int) -> list[Branch]:
        expanded.append(at)
        rests = [(kernels, completions(to)) for kernels, to in made[at]]
        return [Branch(k[0].cost.estimate_us + r.least(), n, k, r) for n, (k, r) in enumerate(rests)]  # pyright: ignore[reportArgumentType]

    return completions(0)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_all_completions_come_in_order_once(seed: int, share: float) -> None:
    made = problems(seed, 7)

    def outlook(at: int) -> float:
        return share * min(every(made, at), default=1e9)

    expanded: list[int] = []
    top = ranked(made, outlook, expanded)
    found: list[float] = []
    for place in itertools.count():
        cost = top.reach(place, float("inf"))
        if place >= len(top.found):
            assert cost == float("inf")
            break
        found.append(cost)
        assert sum(k.cost.estimate_us for k in top.kernels(place)) == cost
    assert found == every(made)
    assert len(expanded) == len(set(expanded)), "each problem is expanded once, whatever leads to it"


def test_a_limit_is_not_passed() -> None:
    made = problems(3, 7)
    top = ranked(made, lambda _: 0.0, [])
    best = every(made)[0]
    assert top.reach(0, best - 0.5) > best - 0.5
    assert not top.found
    assert top.reach(0, best) == best


def test_the_best_needs_the_branches_that_may_be_better_and_no_others() -> None:
    dear, cheap = Kernel(Cost(9.0)), Kernel(Cost(1.0))
    made: list[list[Choice]] = [[((cheap,), 2), ((dear,), 1)], [((cheap,), 3)], [((cheap,), 3)], []]
    expanded: list[int] = []
    assert ranked(made, lambda _: 0.0, expanded).reach(0, float("inf")) == 2.0
    assert expanded == [0, 2]
