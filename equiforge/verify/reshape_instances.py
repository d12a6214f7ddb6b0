"""Targets of reshapes in instances of rules: what the rules that move reshapes ask for, or anything that has a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from equiforge.dialects import forge
from equiforge.verify.instance_program import shape_of

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from equiforge.verify.rule_instances import Instance

Shape = tuple[int, ...]
_MERGES = frozenset({"merges", "merge-transposed"})
MOVES = _MERGES | {"product-reshaped", "reduction-reshaped", "repetition-reshaped", "contraction-split"}
"""Tables that a rule about the reshape of a computed value reads."""


def reshape_target(instance: Instance, operand: SSAValue) -> Shape:
    """A shape for a reshape of a value, by the tables that the rule reads."""
    shape, chooser = shape_of(operand), instance.chooser
    asked = MOVES & instance.pattern.relations
    if not asked:
        return chooser.choice(_any(instance, shape))
    grown = _grown(operand)
    if asked & _MERGES:
        runs = [(i, j) for i in range(len(shape)) for j in range(i + 2, len(shape) + 1)]
    elif "contraction-split" in asked:
        # The columns of a left operand, or the rows of a right one.
        runs = [(i, i + 2) for i in (len(shape) - 2, len(shape) - 3) if i > 0 or (i == 0 and len(shape) > 2)]
    elif grown:
        runs = [(i, i + 2) for i in range(len(shape) - 1) if len({i, i + 1} & grown) == 1]
    else:
        return _changed(instance, _changed(instance, shape) if chooser.random() < 0.5 else shape)
    # Merging ones is no merge.
    runs = [(i, j) for i, j in runs if sum(n > 1 for n in shape[i:j]) > 1]
    return _merged(shape, *chooser.choice(runs)) if runs else chooser.choice(_any(instance, shape))


def _grown(operand: SSAValue) -> set[int]:
    """The dimensions that grow where a value is expanded."""
    if not isinstance(operand.owner, forge.ExpandOp):
        return set()
    before = shape_of(operand.owner.operands[0])
    return {d for d, (old, new) in enumerate(zip(before, shape_of(operand), strict=True)) if old != new}


def _merged(shape: Shape, start: int, stop: int) -> Shape:
    size = 1
    for extent in shape[start:stop]:
        size *= extent
    return (*shape[:start], size, *shape[stop:])


def _changed(instance: Instance, shape: Shape) -> Shape:
    """Two neighbours merged, a dimension split in two, columns as often as all others, or one of size 1 added or
    dropped."""
    splits = [(*shape[:d], k, n // k, *shape[d + 1 :]) for d, n in enumerate(shape) for k in range(2, n) if n % k == 0]
    columns = [split for split in splits if split[: len(shape) - 1] == shape[:-1]]
    merges = [_merged(shape, d, d + 2) for d in range(len(shape) - 1) if len(shape) > 2 and 1 not in shape[d : d + 2]]
    if (splits or merges) and instance.chooser.random() < 0.8:
        return instance.chooser.choice(columns if columns and instance.chooser.random() < 0.5 else [*splits, *merges])
    place = instance.chooser.randint(0, len(shape))
    dropped = [(*shape[:d], *shape[d + 1 :]) for d, n in enumerate(shape) if n == 1 and len(shape) > 2]
    return instance.chooser.choice([(*shape[:place], 1, *shape[place:]), *dropped])


def _any(instance: Instance, shape: Shape) -> list[Shape]:
    options = [shape, (*shape, 1), (1, *shape)]
    if len(shape) > 2:
        place = instance.chooser.randrange(len(shape) - 1)
        options += 2 * [_merged(shape, place, place + 2)]
    return options + [(*shape[:d], 2, 2, *shape[d + 1 :]) for d, n in enumerate(shape) if n == 4]
