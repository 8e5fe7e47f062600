"""From an object of the open file to a bake that plays on it: the one place where scene and core meet."""

from ..core import methods  # noqa: F401 (registers them)
from .bake import Wanted, bake_object, bake_objects
from .check import check_object, setups
from .copies import adopt_copies, copy_settings
from .enrich.body import (
    Body,
    after_group,
    after_weights,
    follow_group,
    look_at,
    look_in_steps,
    make_after_group,
    unpainted,
    write_automatic,
    write_spread,
)
from .enrich.reading import READING as _ENRICH
from .enrich.trial import check_trial, trial_in_steps, try_object
from .marks import frame_range, marks_of
from .passengers import carried_by, carried_now, find_passengers, new_setup
from .play import (
    Play,
    clean_up,
    clear,
    delete_bake,
    finish,
    forget_deleted,
    objects_of,
    played,
    playing_modifiers,
    repeat_of,
)
from .reading import FOLLOW_GROUP, Reading, reading_of, register
from .remake import ObjectRemake, is_remake_enough, why_not_remake
from .sampling import Sampling, method_for
from .target import Target, bake_root
from .together import independent, leave_all, sample_together

register("enrich", _ENRICH)

__all__ = [
    "FOLLOW_GROUP",
    "Body",
    "ObjectRemake",
    "Play",
    "Reading",
    "Sampling",
    "Target",
    "Wanted",
    "adopt_copies",
    "after_group",
    "after_weights",
    "bake_object",
    "bake_objects",
    "bake_root",
    "carried_by",
    "carried_now",
    "check_object",
    "check_trial",
    "clean_up",
    "clear",
    "copy_settings",
    "delete_bake",
    "find_passengers",
    "finish",
    "follow_group",
    "independent",
    "is_remake_enough",
    "forget_deleted",
    "frame_range",
    "leave_all",
    "look_at",
    "look_in_steps",
    "make_after_group",
    "marks_of",
    "method_for",
    "new_setup",
    "objects_of",
    "played",
    "playing_modifiers",
    "reading_of",
    "sample_together",
    "register",
    "repeat_of",
    "setups",
    "trial_in_steps",
    "try_object",
    "unpainted",
    "why_not_remake",
    "write_automatic",
    "write_spread",
]
