"""lit configuration: every .mlir and .test file outside test/unit and test/cases is a test by its RUN lines."""

import os
import sys
from pathlib import Path

import lit.formats

root = Path(__file__).parent.parent

config.name = "EquiForge"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "cases", "Inputs"]
config.test_source_root = str(Path(__file__).parent)

# The interpreter that runs lit runs the tools too, from this checkout, so nothing else need be on PATH.
config.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
config.environment["PYTHONPATH"] = str(root)
for name in ("HOME", "TRITON_CACHE_DIR", "XDG_CACHE_HOME", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Tool names as whole words only: a checkout's path may contain one.
alone = r"(?<![\w/.-]){}(?![\w/.-])"
config.substitutions.append((alone.format("equiforge-opt"), f"{sys.executable} -m equiforge.opt_main"))
config.substitutions.append((alone.format("equiforge"), f"{sys.executable} -m equiforge.cli"))
config.substitutions.append(("%python", sys.executable))
