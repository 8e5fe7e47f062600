"""Loads the native module once and hands it our exceptions; everything else imports it from here."""

from __future__ import annotations

import hashlib
import os

from . import errors

# Threads of our OpenMP sleep while they wait: spinning would starve Blender and everything else on the machine. The
# variable is read when the library is loaded, and given back right after.
_WAIT = "OMP_WAIT_POLICY"
_given = os.environ.get(_WAIT)
os.environ.setdefault(_WAIT, "PASSIVE")
try:
    from .. import _native as module
except ImportError as error:
    raise errors.BadInput(
        f"The native module of Sinew cannot be loaded ({error}): run `make build`, or install the package made for "
        "this system."
    ) from error
finally:
    if _given is None:
        del os.environ[_WAIT]

module.use_errors(errors.BadInput, errors.OutOfMemory, errors.Cancelled, errors.NumericFailure)

Monitor = module.Monitor


def build() -> str:
    """A short hash of the native module's file: two builds of one version may compute other bits."""
    with open(module.__file__, "rb") as file:
        return hashlib.blake2b(file.read(), digest_size=8).hexdigest()
