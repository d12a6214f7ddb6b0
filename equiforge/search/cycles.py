"""Kernels that need each other."""

from __future__ import annotations

from equiforge.search.kernel_choice import KernelChoice


def find_cycle(kernels: dict[int, KernelChoice]) -> tuple[int, ...] | None:
    """What some kernels store, each reading the next one, the last one the first; None if there is no such round."""
    finished: set[int] = set()
    for start in kernels:
        path: list[int] = []
        stack: list[tuple[int, bool]] = [(start, False)]
        while stack:
            root, done = stack.pop()
            if done:
                finished.add(path.pop())
            elif root in path:
                return tuple(path[path.index(root) :])
            elif root in kernels and root not in finished:
                path.append(root)
                stack.append((root, True))
                stack.extend((need, False) for need in sorted(kernels[root].needs))
    return None
