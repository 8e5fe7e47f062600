"""The errors whose text is written for the user: one sentence that says what to do."""

from __future__ import annotations


class Error(Exception):
    """Base of all errors that Sinew raises on purpose."""


class BadInput(Error):
    """Something that was given cannot be used."""


class OutOfMemory(Error):
    """The computer has too little memory for this resolution or mesh."""


class Cancelled(Error):
    """The user stopped the work; what was finished stays."""


class NumericFailure(Error):
    """No finite answer could be found."""


class StoreError(Error):
    """A bake folder or a file in it cannot be read or written."""
