"""Errors that a user of EquiForge sees: one line each, with the source line and a way out."""

from __future__ import annotations


class EquiforgeError(Exception):
    """A problem with the user's input; the command line prints it on one line and exits with code 2.

    ``location`` is ``file:line`` of the user's program where known, ``hint`` says what to do about it.
    """

    def __init__(self, message: str, location: str | None = None, hint: str | None = None):
        super().__init__(message)
        self.message = message
        self.location = location
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.location}: {self.message}" if self.location else self.message
        return f"{text} ({self.hint})" if self.hint else text


class UnsupportedOpError(EquiforgeError):
    """The program uses an operator that the compiler does not model."""


class DynamicShapeError(EquiforgeError):
    """The program has dimensions that are not known when it is compiled."""


class ProgramError(EquiforgeError):
    """The program specification can't be read: no such workload, file or factory, or a malformed file."""


class TargetError(EquiforgeError):
    """The target device is not known."""
