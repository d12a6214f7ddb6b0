"""Layout ops on tiles mean what they mean on the whole tensor, at ragged tile sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f32

from equiforge.dialects import forge, tile
from equiforge.dialects.inference import surviving_dims
from equiforge.verify.interpreter import evaluate
from equiforge.verify.programs import program

F = forge

LAYOUTS: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], np.ndarray], int]] = {
    # op, its NumPy meaning, and the dimension of the result that axis q0 (dimension 1 of the operand) cuts
    "transpose": (lambda x: F.TransposeOp(x, [2, 0, 1]), lambda x: x.transpose(2, 0, 1), 2),
    "reshape splits": (lambda x: F.ReshapeOp(x, [3, 7, 2, 2]), lambda x: x.reshape(3, 7, 2, 2), 1),
    "reshape moves ones": (lambda x: F.ReshapeOp(x, [1, 3, 7, 1, 4]), lambda x: x.reshape(1, 3, 7, 1, 4), 2),
    "slice": (lambda x: F.SliceOp(x, 2, 1, 4, 2), lambda x: x[:, :, 1:4:2], 1),
    "concat": (lambda x: F.ConcatOp([x, x], 0), lambda x: np.concatenate([x, x], 0), 1),
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_tiles_of_the_layout_are_the_layout_of_tiles(name: str, size: int) -> None:
    op, meaning, dim = LAYOUTS[name]
    type_ = TensorType(f32, [3, 7, 4])

    def body(x: Any) -> Any:
        return tile.CombineOp(op(tile.PartitionOp(x, 1, "q0")), dim, "q0")

    x = np.arange(84.0).reshape(3, 7, 4)
    [found] = evaluate(program([type_], body, [tile.AxisOp("q0", 7)]), [x], {"q0": size})
    np.testing.assert_array_equal(found, meaning(x))


@pytest.mark.parametrize("size", [2, 3, 5])
def test_an_expanded_dimension_may_be_cut(size: int) -> None:
    def body(x: Any) -> Any:
        repeated = F.ExpandOp(tile.ReplicateOp(x, "v0"), [4, 5], [tile.PartitionAttr("v0", 1)])
        return tile.CombineOp(repeated, 1, "v0")

    x = np.arange(4.0).reshape(4, 1)
    [found] = evaluate(program([TensorType(f32, [4, 1])], body, [tile.AxisOp("v0", 5)]), [x], {"v0": size})
    np.testing.assert_array_equal(found, np.broadcast_to(x, (4, 5)))


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ((2, 32, 64), (2, 1, 4, 8, 64), {0: 0, 4: 2}),
        ((6, 4), (4, 6), {}),
        ((1, 4), (4,), {0: 1}),
        ((4,), (1, 4, 1), {1: 0}),
        ((2, 3, 4), (6, 4), {1: 2}),
        ((2, 2, 2), (2, 4), {0: 0}),
        ((5,), (5,), {0: 0}),
        ((), (1, 1), {}),
    ],
)
def test_dimensions_that_survive_a_reshape(
    source: tuple[int, ...], target: tuple[int, ...], expected: dict[int, int]
) -> None:
    assert surviving_dims(source, target) == expected
