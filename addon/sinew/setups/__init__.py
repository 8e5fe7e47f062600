"""From an object of the open file to a bake that plays on it: the one place where scene and core meet."""

from ..core import methods  # noqa: F401 (registers them)
from .bake import Wanted, bake_object, bake_objects
from .check import about_spliced, check_object, setups
from .collisions import meets
from .copies import adopt_copies, copy_settings
from .enrich.reading import READING as _ENRICH
from .export import export_pc2, make_shape_keys, why_no_export
from .face.reading import READING as _FACE
from .marks import changed, frame_range, is_of_result, marks_of, marks_of_result
from .passengers import carried_by, carried_now, find_passengers, new_setup
from .play import (
    Play,
    clean_up,
    clear,
    delete_bake,
    finish,
    forget_deleted,
    objects_of,
    play_chosen,
    played,
    playing_modifiers,
    repeat_of,
)
from .reading import Reading, method_that_suits, method_to_edit, reading_of, register
from .rehearsal import rehearsal_of
from .remake import ObjectRemake, is_remake_enough, why_not_remake
from .sampling import Sampling, method_for
from .target import Target, bake_root
from .together import independent, join_touching, leave_all, sample_together, share_worlds
from .tracks.reading import READING as _TRACKS
from .worlds import may_share

register("enrich", _ENRICH)
register("tracks", _TRACKS)
register("face", _FACE)

__all__ = [
    "ObjectRemake",
    "Play",
    "Reading",
    "Sampling",
    "Target",
    "Wanted",
    "adopt_copies",
    "bake_object",
    "bake_objects",
    "bake_root",
    "carried_by",
    "carried_now",
    "changed",
    "about_spliced",
    "check_object",
    "clean_up",
    "clear",
    "copy_settings",
    "delete_bake",
    "export_pc2",
    "find_passengers",
    "finish",
    "independent",
    "make_shape_keys",
    "is_of_result",
    "is_remake_enough",
    "join_touching",
    "forget_deleted",
    "frame_range",
    "leave_all",
    "marks_of",
    "marks_of_result",
    "may_share",
    "meets",
    "method_for",
    "method_that_suits",
    "method_to_edit",
    "new_setup",
    "objects_of",
    "play_chosen",
    "played",
    "playing_modifiers",
    "reading_of",
    "rehearsal_of",
    "sample_together",
    "why_no_export",
    "share_worlds",
    "register",
    "repeat_of",
    "setups",
    "why_not_remake",
]
