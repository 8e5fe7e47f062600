"""Loads the native module once and hands it our exceptions; everything else imports it from here."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from . import errors, installed

if installed.was_updated():
    raise errors.BadInput(installed.RESTART)

# Threads of our OpenMP sleep while they wait: spinning would starve Blender and everything else on the machine. The
# variable is read when the library is loaded, and given back right after.
_WAIT = "OMP_WAIT_POLICY"
_given = os.environ.get(_WAIT)
os.environ.setdefault(_WAIT, "PASSIVE")
try:
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


def build() -> str:
    """A short hash of the native module's file: two builds of one version may compute other bits."""
    with open(module.__file__, "rb") as file:
        return hashlib.blake2b(file.read(), digest_size=8).hexdigest()
