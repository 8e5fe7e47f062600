"""What is tried on a few frames before hours are spent on a bake, where a method has something to try."""

from __future__ import annotations

from ..core.bake.method import known
from ..core.base.errors import BadInput
from .reading import Rehearse, reading_of
from .sampling import method_for


def rehearsal_of(name: str) -> Rehearse:
    """Of the setup of an object; a sentence where its method has none."""
    method = method_for(name)
    found = reading_of(method.name).rehearse
    if found is None:
        others = " or ".join(other.label for other in known() if other.rehearsal)
        raise BadInput(f'"{name}" is baked by {method.label}, which has nothing to try: choose its setup of {others}.')
    return found
