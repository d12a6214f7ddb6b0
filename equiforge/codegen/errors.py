"""Why a candidate has no kernels."""

from __future__ import annotations

from equiforge.errors import EquiforgeError


class CodegenError(EquiforgeError):
    """A tile program that can't be written as kernels; the search rejects the candidate with this reason."""
