"""Arguments that show where two forms of a program part: infinities, NaN, zeros of both signs, and numbers far apart.

Rules are certified over the extended real numbers, with the arithmetic of IEEE 754 on infinities, zeros and NaN but
neither overflow nor underflow. Finite numbers here are therefore few bits wide and of moderate magnitude: float64 holds
sums of products of three of them exactly, and whatever becomes infinite is so by an operand.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from equiforge.verify.random_programs import random_arguments

_INF, _NAN = np.inf, np.nan
_PALETTES: tuple[tuple[float, ...], ...] = (
    (_INF,),
    (-_INF,),
    (_NAN,),
    (_INF, -_INF),
    (_INF, 0.0),
    (-_INF, 0.0, -0.0),
    (4096.0, -4096.0, 2.0**-6, 0.0),
    (_INF, -_INF, _NAN, 0.0, -0.0, 4096.0, 2.0**-6),
)
DRAWS = 4 * len(_PALETTES)
"""Seeds after which every kind of draw was made: in one argument and in all, with few specials and with many."""


def hostile_arguments(module: ModuleOp, seed: int) -> list[np.ndarray]:
    """Random arguments of a program, with special numbers among the floats of one argument or of all of them."""
    arguments = random_arguments(module, seed)
    generator = np.random.default_rng([seed, 1])
    palette, kind = seed % len(_PALETTES), seed // len(_PALETTES)
    floats = [place for place, array in enumerate(arguments) if array.dtype.kind == "f" and array.size]
    if floats and kind % 2 == 0:
        floats = [int(generator.choice(floats))]
    for place in floats:
        array = arguments[place]
        marked = generator.random(array.shape) < (0.15, 0.4)[kind // 2 % 2]
        marked.flat[generator.integers(array.size)] = True
        arguments[place] = np.where(marked, generator.choice(_PALETTES[palette], array.shape), array)
        palette = int(generator.integers(len(_PALETTES)))
    return arguments
