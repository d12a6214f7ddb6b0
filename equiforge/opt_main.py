"""``equiforge-opt``: reads IR, runs passes with a check before and after each, prints IR or a target's text.

    equiforge-opt program.mlir -p convert-forge-to-egraph,saturate,extract
    equiforge-opt program.mlir -p 'saturate{max-seconds=10}' --print-op-generic

It is ``xdsl-opt`` with EquiForge's universe, whether or not the package is installed. What is wrong with the input,
or with the command line, is one line on stderr and exit code 2.
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import inspect
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import IO, ClassVar, NoReturn, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.arg_spec import ArgSpec, ArgSpecConvertible, parse_pipeline, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError, VerifyException
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import xDSLOptMain

from equiforge._version import __version__
from equiforge.errors import EquiforgeError

USER_ERROR = 2


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint with the nearest known names, or ``None`` if none is near."""
    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else None


class EquiforgeOptMain(xDSLOptMain):
    """``xdsl-opt`` with the dialects, passes and targets of EquiForge, and errors for people."""

    version_format: ClassVar[str] = f"equiforge-opt {__version__}, xdsl {{xdsl_version}}"

    def __init__(self, args: Sequence[str] | None = None):
        super().__init__(
            "EquiForge's optimizer driver: runs passes on IR in the forge, tile and kernel dialects.", args
        )

    # An installed EquiForge is registered by xDSL through its entry point; a checkout is not.

    def register_all_dialects(self) -> None:
        from equiforge.universe import EQUIFORGE_UNIVERSE

        super().register_all_dialects()
        for name, thunk in EQUIFORGE_UNIVERSE.all_dialects.items():
            if name not in self.ctx.registered_dialect_names:
                self.ctx.register_dialect(name, thunk)

    def register_all_passes(self) -> None:
        from equiforge.universe import EQUIFORGE_UNIVERSE, replaced_passes

        super().register_all_passes()
        for name, thunk in EQUIFORGE_UNIVERSE.all_passes.items():
            self.available_passes.setdefault(name, thunk)
        self.available_passes.update(replaced_passes())

    def register_all_targets(self) -> None:
        from equiforge.universe import EQUIFORGE_UNIVERSE

        super().register_all_targets()
        for name, thunk in EQUIFORGE_UNIVERSE.all_targets.items():
            self.available_targets.setdefault(name, thunk)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.prog = "equiforge-opt"
        options = [name for action in arg_parser._actions for name in action.option_strings]  # pyright: ignore[reportPrivateUsage]

        def error(message: str) -> NoReturn:
            unknown = [word for word in message.split() if word.startswith("-")] if "unrecognized" in message else []
            hint = did_you_mean(unknown[0].split("=")[0], options) if unknown else None
            raise EquiforgeError(message, hint=hint or "see equiforge-opt --help")

        def target(text: str) -> str:
            _known("target", _spec(text).name, self.available_targets)
            return text

        # argparse would print its usage too, which is a screen long, and exit.
        arg_parser.error = error
        for action in arg_parser._actions:  # pyright: ignore[reportPrivateUsage]
            if action.dest == "target":
                action.type = target

    def setup_pipeline(self) -> None:
        try:
            specs = tuple(parse_pipeline(self.args.passes))
        except ArgSpecParseError as error:
            raise EquiforgeError(f"can't read the list of passes {self.args.passes!r}: {_last_line(error)}") from error
        for spec in specs:
            _known("pass", spec.name, self.available_passes)
            _check_options("pass", spec, self.available_passes[spec.name]())
        target = self.available_targets[_spec(self.args.target).name]
        if not inspect.signature(target).parameters:
            _check_options("target", _spec(self.args.target), cast("Callable[[], type[Target]]", target)())
        super().setup_pipeline()
        checked = self.pipeline.callback

        def named(previous: ModulePass | None, module: ModuleOp, following: ModulePass | None) -> None:
            try:
                if checked is not None:
                    checked(previous, module, following)
            except VerifyException as error:
                if previous is None:
                    raise
                blamed = VerifyException(f"after {previous.name}: {error}")
                for note in getattr(error, "__notes__", ()):
                    blamed.add_note(note)
                raise blamed from error

        self.pipeline = PassPipeline(self.pipeline.passes, named)

    def parse_chunk(self, chunk: IO[bytes], file_extension: str, start_offset: int = 0) -> ModuleOp | None:
        try:
            return super().parse_chunk(chunk, file_extension, start_offset)
        except ParseError as error:
            unknown = re.search(r"Operation (\S+) is not registered", error.msg)
            names = [op.name for op in self.ctx.loaded_ops]
            if unknown and (hint := did_you_mean(unknown[1], names)):
                error.msg = f"{error.msg} ({hint})"
            raise

    def prepare_input(self) -> tuple[list[tuple[IO[bytes], int]], str]:
        try:
            return super().prepare_input()
        except ValueError as error:
            raise EquiforgeError(str(error), self.args.input_file, "name the form of the input with -f mlir") from error


def _spec(text: str) -> ArgSpec:
    try:
        return parse_spec(text)
    except ArgSpecParseError as error:
        raise EquiforgeError(f"can't read {text!r}: {_last_line(error)}") from error


def _known(kind: str, name: str, names: Iterable[str]) -> None:
    if name not in names:
        raise EquiforgeError(
            f"unknown {kind} {name}", hint=did_you_mean(name, names) or "equiforge-opt --help lists what there is"
        )


def _check_options(kind: str, spec: ArgSpec, made: type[ArgSpecConvertible]) -> None:
    """Names first, for the hint; then the values, by making the pass or target."""
    names = [field.name for field in dataclasses.fields(made) if field.init and field.name != "name"]
    known = [name.replace("_", "-") for name in names]
    for option in spec.parameters:
        if option.replace("_", "-") not in known:
            options = f"it has {', '.join(known)}" if known else "it has no options"
            hint = did_you_mean(option.replace("_", "-"), known) or options
            raise EquiforgeError(f"{kind} {spec.name} has no option {option}", hint=hint)
    try:
        made.from_spec(spec)
    except ValueError as error:
        raise EquiforgeError(f"{kind} {spec.name}: {str(error).removeprefix(spec.name).strip()}") from error


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _place_of(error: DiagnosticException) -> str | None:
    """The ``loc`` of the op that a verifier marked in its note: where that op comes from in the user's program."""
    for note in getattr(error, "__notes__", ()):
        lines = note.splitlines()
        for line, below in itertools.pairwise(lines):
            if below.strip().startswith("^^^") and (found := re.search(r'\bloc = "([^"]+)"', line)):
                return found[1]
    return None


def _explain(error: BaseException) -> EquiforgeError | None:
    """The error as one line for the user, or ``None`` for a fault of ours."""
    match error:
        case EquiforgeError():
            return error
        case ParseError():
            place = error.span.get_location()
            return EquiforgeError(" ".join(error.msg.split()), str(place))
        case DiagnosticException():
            return EquiforgeError(" ".join(str(error).split()), _place_of(error))
        case RecursionError():
            return EquiforgeError(
                "the IR is nested too deeply to be read or printed", hint="split the program into functions"
            )
        case UnicodeDecodeError():
            return EquiforgeError("the input is no UTF-8 text")
        case OSError():
            return EquiforgeError(f"{error.strerror or error}", error.filename)
        case _:
            return None


def main(args: Sequence[str] | None = None) -> int:
    """Runs the tool; returns its exit code."""
    try:
        EquiforgeOptMain(args).run()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough, as in ``equiforge-opt … | head``; Python would complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        explained = _explain(error)
        if explained is None:
            raise
        print(f"equiforge-opt: {explained}", file=sys.stderr)
        return USER_ERROR
    return 0


if __name__ == "__main__":
    sys.exit(main())
