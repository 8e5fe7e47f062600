"""Loads the native module once and hands it our exceptions; everything else imports it from here."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

from . import errors, installed

# The instruction set to use in place of the fastest that the processor has, for tests and benchmarks.
_CHOICE = "SINEW_INSTRUCTIONS"
# Threads of our OpenMP sleep while they wait: spinning would starve Blender and everything else on the machine. The
# variable is read when the library is loaded, and given back right after.
_WAIT = "OMP_WAIT_POLICY"


def available() -> list[str]:
    """Instruction sets that the processor has and a module was built for, the fastest first."""
    from ... import _processor

    return [name for name in _processor.instructions() if _file(name).exists()]


def _instructions() -> str:
    names = available()
    choice = os.environ.get(_CHOICE, "").strip().lower()
    if choice and choice not in names:
        usable = ", ".join(names) or "none, because none was built"
        raise errors.BadInput(f"{_CHOICE} is {choice}: choose from what this processor can use, {usable}.")
    return choice or (names[0] if names else "baseline")


def _file(instructions: str) -> Path:
    # the stable suffix: `.abi3.so`, or `.pyd` where there is no such thing
    suffix = next((s for s in importlib.machinery.EXTENSION_SUFFIXES if s.startswith(".abi3")), ".pyd")
    return installed.PACKAGE / f"_native_{instructions}{suffix}"


def _load(instructions: str) -> None:
    """Makes the file for one instruction set the module `_native` of the package."""
    name = f"{__package__.rsplit('.', 2)[0]}._native"
    spec = importlib.util.spec_from_file_location(name, _file(instructions))
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    sys.modules[name] = loaded


if installed.was_updated():
    raise errors.BadInput(installed.RESTART)

_given = os.environ.get(_WAIT)
os.environ.setdefault(_WAIT, "PASSIVE")
try:
    _load(_instructions())
    from ... import _native as module
except ImportError as error:
    raise errors.BadInput(
        f"The native module of Sinew cannot be loaded ({error}): install the package that was made for this system "
        "(Linux on 64-bit Intel or AMD), or build one with `make build`."
    ) from error
finally:
    if _given is None:
        del os.environ[_WAIT]

# A solver that is not the one we carry may have other structures: better no bake than a crash.
_solver = Path(module.info()["solver_file"] or installed.PACKAGE / "lib" / "unknown")
if _solver.resolve().parent != installed.PACKAGE / "lib":
    raise errors.BadInput(f"Sinew's solver was taken from {_solver} instead of its own folder: restart Blender.")
installed.mark_loaded()

module.use_errors(errors.BadInput, errors.OutOfMemory, errors.Cancelled, errors.NumericFailure)

Monitor = module.Monitor
