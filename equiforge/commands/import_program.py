"""``equiforge import``: prints a program in the forge dialect."""

from __future__ import annotations

import sys

from equiforge.commands.choices import NUMERICS, check_choice


def run_import(spec: str, numerics: str) -> None:
    """Prints the forge module of the program that ``spec`` names."""
    check_choice("numerics", numerics, NUMERICS)
    from equiforge.frontend.program import load_program

    program = load_program(spec, numerics=numerics)
    sys.stdout.write(str(program.module).rstrip("\n") + "\n")
