"""Loads the native module once and hands it our exceptions; everything else imports it from here."""

from __future__ import annotations

from . import errors

try:
    from .. import _native as module
except ImportError as error:
    raise errors.BadInput(
        f"The native module of Sinew cannot be loaded ({error}): run `make build`, or install the package made for this system."
    ) from error

module.use_errors(errors.BadInput, errors.OutOfMemory, errors.Cancelled, errors.NumericFailure)

Monitor = module.Monitor
