"""The table of ATen overloads: each maps to one lowering function, or to a reason why it is refused.

A lowering function takes the builder and the arguments of the overload's schema in order (keyword-only ones and
defaults included); tensors are SSA values, everything else is plain Python. It returns an SSA value, or a list of
them for an overload with several results.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

LoweringFunction = Callable[..., Any]

LOWERINGS: dict[str, LoweringFunction] = {}


def lowers(*overloads: str) -> Callable[[LoweringFunction], LoweringFunction]:
    """Enter a function into the table for the overloads, written ``add.Tensor`` without the ``aten.``"""

    def enter(function: LoweringFunction) -> LoweringFunction:
        for overload in overloads:
            LOWERINGS[f"aten.{overload}"] = function
        return function

    return enter


_ORDER = "an order of elements is computed by no kernel here; keep it outside the compiled function"
_RANDOM = "random numbers must be drawn outside and passed as an input, so that every draw stays what eager gives"
_DATA = "shapes and control flow may not depend on values; compute it outside and pass the result in"
_TRAINING = "call model.eval() before compiling"

# Reasons by operator name without its overload: what a user can do about it.
REFUSALS: dict[str, str] = {
    **dict.fromkeys(
        ("sort", "argsort", "topk", "kthvalue", "median", "mode", "searchsorted", "bucketize"),
        _ORDER,
    ),
    **dict.fromkeys(
        (
            "rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm", "bernoulli",
            "bernoulli_", "normal", "normal_", "uniform", "uniform_", "multinomial", "native_dropout", "exponential_",
        ),
        _RANDOM,
    ),
    **dict.fromkeys(
        ("nonzero", "masked_select", "item", "_local_scalar_dense", "unique", "unique_consecutive", "_unique2", "equal",
         "sym_size", "sym_numel", "is_nonzero"),
        _DATA,
    ),
    **dict.fromkeys(("as_strided", "as_strided_copy", "as_strided_", "set_", "resize_"),
                    "memory layout is the compiler's; write it with slice, reshape or permute"),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "convolution", "conv_transpose2d", "_convolution"),
                    "convolutions have no lowering; a 1x1 convolution can be written as a matrix product"),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"),
                    "scans have no lowering; keep them outside"),
    **dict.fromkeys(("scatter", "scatter_", "scatter_add", "scatter_add_", "index_add", "index_add_", "index_put",
                     "index_put_", "index_copy", "index_copy_", "scatter_reduce"),
                    "writes to computed places have no lowering; build the result with torch.where"),
    "complex": "complex numbers have no lowering; carry the real and imaginary parts as two tensors",
    "dropout": _TRAINING,
    "feature_dropout": _TRAINING,
}  # fmt: skip


_KEPT_OUT = (_DATA, _TRAINING, "memory layout is the compiler's; write it with slice, reshape or permute")


def may_be_called(target: str) -> bool:
    """Whether an operator without a lowering may stay as a call of itself between kernels: its result must depend on
    the values of its arguments alone, not on how they lie in memory, and its shape must be known."""
    name = target.removeprefix("aten.").split(".")[0]
    return target.startswith("aten.") and name != "complex" and REFUSALS.get(name) not in _KEPT_OUT


def refusal_hint(target: str) -> str:
    """What to do about an operator that has no lowering: its reason, or the nearest operators that have one."""
    name = target.removeprefix("aten.").split(".")[0]
    if name in REFUSALS:
        return REFUSALS[name]
    known = sorted({key.removeprefix("aten.").split(".")[0] for key in LOWERINGS})
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.8)
    near = [other for other in near if other != name]
    if near:
        return f"nearest supported: {', '.join(near)}; write it with supported operators or keep it outside"
    return "write it with supported operators, or keep it outside the compiled function"


def load_table() -> dict[str, LoweringFunction]:
    """The full table; the first call imports the files that fill it."""
    from equiforge.frontend import lower

    lower.load()
    return LOWERINGS
