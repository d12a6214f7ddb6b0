"""Lowering functions by family; importing a file enters its functions into the table."""

from __future__ import annotations

import importlib

FAMILIES = (
    "arithmetic",
    "activations",
    "comparisons",
    "creation",
    "structure",
    "indexing",
    "reductions",
    "softmax",
    "products",
    "einsum",
    "normalization",
    "attention",
    "losses",
    "backward",
)


def load() -> None:
    """Import every family once."""
    for family in FAMILIES:
        importlib.import_module(f"equiforge.frontend.lower.{family}")
