"""Source lines of the user's program, read off the stack traces that ``torch.export`` keeps."""

from __future__ import annotations

import os
import re
from types import TracebackType
from typing import Any

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARIES = ("/torch/", "/torch\\", "/importlib/", "<frozen", "<string>", "<eval")


def _is_library(path: str) -> bool:
    if any(part in path for part in _LIBRARIES):
        return True
    absolute = os.path.abspath(path)
    # The named workloads live inside the package, yet they are programs: their lines are the user's.
    return absolute.startswith(_PACKAGE) and f"{os.sep}workloads{os.sep}" not in absolute


def location_of_node(node: Any) -> str | None:
    """``file.py:line`` of the innermost frame outside torch that made this node of an exported graph."""
    trace = node.meta.get("stack_trace")
    if not trace:
        return None
    frames = _FRAME.findall(trace)
    own = [frame for frame in frames if not _is_library(frame[0])]
    if not own:
        return None
    path, line = own[-1]
    return f"{os.path.basename(path)}:{line}"


def location_of_traceback(traceback: TracebackType | None) -> str | None:
    """``file.py:line`` of the innermost frame outside torch and outside the compiler in a traceback."""
    found: str | None = None
    while traceback is not None:
        path = traceback.tb_frame.f_code.co_filename
        if not _is_library(path):
            found = f"{os.path.basename(path)}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found
