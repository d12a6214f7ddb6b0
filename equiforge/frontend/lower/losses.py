"""Losses: the target's score is picked by a gather, ignored targets are selected away."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from equiforge.dialects import forge
from equiforge.frontend.builder import Builder, Value, element_of, rank_of, shape_of
from equiforge.frontend.dtypes import compute_type, is_float
from equiforge.frontend.lower.softmax import log_softmax_of
from equiforge.frontend.table import lowers

NONE, MEAN, SUM = 0, 1, 2


def _reduce_all(b: Builder, x: Value, mean_over: float | Value | None) -> Value:
    total = b.reduce("sum", x, range(rank_of(x)))
    if isinstance(mean_over, SSAValue):
        total = b.div(total, b.align(mean_over, rank_of(x)))
    elif mean_over is not None:
        total = b.div(total, mean_over)
    return b.reshape(total, ())


def _pointwise_loss(b: Builder, loss: Value, reduction: int) -> Value:
    if reduction == NONE:
        return b.down(loss)
    count = 1.0
    for size in shape_of(loss):
        count *= size
    return b.down(_reduce_all(b, loss, count if reduction == MEAN else None))


@lowers("mse_loss.default")
def mse_loss(b: Builder, x: Value, y: Value, reduction: int = MEAN) -> Value:
    difference = b.sub(b.up(b.down(x)), b.up(b.down(y)))
    return _pointwise_loss(b, b.mul(difference, difference), reduction)


@lowers("l1_loss.default")
def l1_loss(b: Builder, x: Value, y: Value, reduction: int = MEAN) -> Value:
    return _pointwise_loss(b, b.abs(b.sub(b.up(b.down(x)), b.up(b.down(y)))), reduction)


@lowers("binary_cross_entropy_with_logits.default")
def bce_with_logits(
    b: Builder, x: Value, y: Value, weight: Value | None = None, pos_weight: Value | None = None, reduction: int = MEAN
) -> Value:
    """(1 - y) x + w · (log(1 + exp(-|x|)) + max(-x, 0)) with w = 1 + (pos_weight - 1) y."""
    logits, target = b.up(x), b.up(y)
    tail = b.add(b.log(b.add(b.exp(b.neg(b.abs(logits))), 1.0)), b.maximum(b.neg(logits), 0.0))
    if pos_weight is not None:
        tail = b.mul(tail, b.add(b.mul(b.sub(b.up(pos_weight), 1.0), target), 1.0))
    loss = b.add(b.mul(b.sub(1.0, target), logits), tail)
    return _pointwise_loss(b, loss if weight is None else b.mul(loss, b.up(weight)), reduction)


def picked_scores(
    b: Builder, scores: Value, target: Value, weight: Value | None, ignore: int
) -> tuple[Value, Value, Value, Value]:
    """-score of the target class and its weight, both 0 where ignored, with the class dimension kept at size 1."""
    dim = 1 if rank_of(scores) > 1 else 0
    place = b.reshape(target, [1 if n == dim else size for n, size in enumerate(shape_of(scores))])
    keep = b.compare("ne", place, ignore)
    safe = b.select(keep, place, 0)
    picked = b.neg(b.emit(forge.GatherOp(scores, safe, dim)))
    if weight is None:
        share = b.cast(keep, element_of(scores))
    else:
        line = b.reshape(weight, [size if n == dim else 1 for n, size in enumerate(shape_of(scores))])
        share = b.select(keep, b.emit(forge.GatherOp(b.cast(line, element_of(scores)), safe, dim)), 0.0)
        picked = b.mul(picked, share)
    return b.select(keep, picked, 0.0), share, keep, safe


def reduced_loss(b: Builder, loss: Value, share: Value, reduction: int) -> Value:
    """A loss with its weights reduced as asked; the mean is over the weights."""
    if reduction == NONE:
        return b.down(b.reshape(loss, b.out.shape))
    if reduction == SUM:
        return b.down(_reduce_all(b, loss, None))
    return b.down(_reduce_all(b, loss, b.reduce("sum", share, range(rank_of(share)))))


@lowers("nll_loss_nd.default", "nll_loss.default", "nll_loss2d.default")
def nll_loss(
    b: Builder, x: Value, target: Value, weight: Value | None = None, reduction: int = MEAN, ignore: int = -100
) -> Value:
    loss, share, _keep, _safe = picked_scores(b, b.up(x), target, weight, ignore)
    return reduced_loss(b, loss, share, reduction)


@lowers("cross_entropy_loss.default")
def cross_entropy(
    b: Builder,
    x: Value,
    target: Value,
    weight: Value | None = None,
    reduction: int = MEAN,
    ignore: int = -100,
    smoothing: float = 0.0,
) -> Value:
    """-log softmax at the target class; the mean is over kept targets only, NaN if none is kept."""
    dim = 1 if rank_of(x) > 1 else 0
    classes = shape_of(x)[dim]
    logits = b.cast(x, compute_type(element_of(x)))
    scores = log_softmax_of(b, logits, dim)
    line = None
    if weight is not None:
        line = b.reshape(b.cast(weight, element_of(scores)), [classes if n == dim else 1 for n in range(rank_of(x))])
    if is_float(element_of(target)):
        return _soft_targets(b, scores, target, line, dim, reduction, smoothing)
    assert isinstance(element_of(target), IntegerType)
    loss, share, keep, _safe = picked_scores(b, scores, target, weight, ignore)
    if smoothing:
        weighted = scores if line is None else b.mul(scores, line)
        smooth = b.select(keep, b.neg(b.reduce("sum", weighted, [dim])), 0.0)
        loss = b.add(b.mul(loss, 1.0 - smoothing), b.mul(smooth, smoothing / classes))
    return reduced_loss(b, loss, share, reduction)


def _soft_targets(
    b: Builder, scores: Value, target: Value, line: Value | None, dim: int, reduction: int, smoothing: float
) -> Value:
    """Targets given as probabilities: the mean is over the batch."""
    shares = b.cast(target, element_of(scores))
    classes = shape_of(scores)[dim]
    if smoothing:
        shares = b.add(b.mul(shares, 1.0 - smoothing), smoothing / classes)
    weighted = b.mul(scores, shares)
    if line is not None:
        weighted = b.mul(weighted, line)
    loss = b.neg(b.reduce("sum", weighted, [dim]))
    if reduction == NONE:
        return b.down(b.reshape(loss, b.out.shape))
    count = 1.0
    for size in shape_of(loss):
        count *= size
    return b.down(_reduce_all(b, loss, count if reduction == MEAN else None))
