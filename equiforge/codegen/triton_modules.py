"""Triton's modules, imported when they are needed. They have no types, so what comes from them is ``Any``."""

from __future__ import annotations

import importlib
from typing import Any


def triton_module(name: str = "triton") -> Any:
    return importlib.import_module(name)
