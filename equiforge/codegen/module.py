"""Loading the text of an emitted module: Triton reads kernels from their source file, so the text is given one."""

from __future__ import annotations

import hashlib
import linecache
import types


def load_source(source: str, name: str = "equiforge_emitted") -> types.ModuleType:
    """A module object for ``source``; its lines are kept where ``inspect`` finds them, and no file is written."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    filename = f"<{name}-{digest}.py>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    module = types.ModuleType(f"{name}_{digest}")
    module.__file__ = filename
    exec(compile(source, filename, "exec"), module.__dict__)
    return module
