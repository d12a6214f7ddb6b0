"""EquiForge: a tensor-program superoptimizer from PyTorch to Triton.

``equiforge.optimize(model, example_inputs)`` returns a callable that runs the best kernels found;
see ``equiforge.api``. Importing the package loads neither torch nor triton.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from equiforge._version import __version__

if TYPE_CHECKING:
    from equiforge.api import OptimizedModule, optimize
    from equiforge.together import optimize_together

__all__ = ["OptimizedModule", "__version__", "optimize", "optimize_together"]


def _require_linked_packages() -> None:
    """Refuse a checkout whose symlinks were replaced by text files or left out.

    ``equiforge/dialects`` and its two siblings are symlinks into the top-level folders. Git writes them as
    small text files where symlinks are off (``core.symlinks=false``, some archives and network drives).
    """
    here = Path(__file__).parent
    lost = [name for name in ("dialects", "passes", "tools") if not (here / name / "__init__.py").is_file()]
    if lost:
        links = ", ".join(f"equiforge/{name}" for name in lost)
        raise ImportError(
            f"this checkout lost the symbolic links {links}: run `git config core.symlinks true` and "
            "`git checkout -- equiforge`, or install the package with pip"
        )


_require_linked_packages()


def __getattr__(name: str) -> object:
    """Load the Python API (and with it torch) only when it is used."""
    if name in ("optimize", "OptimizedModule"):
        return getattr(importlib.import_module("equiforge.api"), name)
    if name == "optimize_together":
        return getattr(importlib.import_module("equiforge.together"), name)
    raise AttributeError(f"module 'equiforge' has no attribute {name!r}")
