"""What the panel of a method has beside what the panel of every method has. A method that registers nothing here shows
all of its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.bake import method as known_methods
from ...core.bake.collisions import NAMES as COLLISION_SETTINGS
from ...scene import setup
from . import parts, properties, state

ICONS = {
    state.NOTHING: "RADIOBUT_OFF",
    state.BAKED: "CHECKMARK",
    state.STALE: "FILE_REFRESH",
    state.UNFINISHED: "TIME",
    state.PREVIEW: "HIDE_OFF",
    state.LOST: "ERROR",
}
# What panels of every method draw.
_ELSEWHERE = {
    *("frame_start", "frame_end", "loop", "preroll", "start", "samples", "missing_frames", "preview_frames"),
    "passengers",
    *COLLISION_SETTINGS,
}


def draw_all(layout: Any, item: Any, ob: Any) -> None:
    for name, one in properties.settings_of(item).all().items():
        if name in _ELSEWHERE or name in of(item).preview:
            continue
        if one.is_optional:
            parts.draw_optional(layout, item, name)
        elif one.names:
            parts.draw_named(layout, item, name, ob)
        else:
            parts.draw_setting(layout, item, name)


@dataclass(frozen=True)
class Shown:
    draw: Callable[[Any, Any, Any], None] = draw_all  # the first settings: a layout, a setup and its object
    state: Callable[[Any], state.State] = state.of  # of a setup that is not being baked
    icons: Mapping[str, str] = field(default_factory=dict)  # of kinds of state that only it has
    # Its settings that stand beside the frames of a preview, with what they are called there.
    preview: Mapping[str, str] = field(default_factory=dict)
    look: Callable[[Mapping[str, Any]], Sequence[str]] = tuple  # which values of a preset its tooltip tells


_shown: dict[str, Shown] = {}


def register(method: str, shown: Shown) -> None:
    _shown[method] = shown


def unregister(method: str) -> None:
    del _shown[method]


def of(item: Any) -> Shown:
    entry = setup.find_of(item.object, item.id_data)
    return by_name(entry.method if entry is not None else "")


def by_name(method: str) -> Shown:
    return _shown.get(method, Shown())


def state_of(item: Any) -> state.State:
    return of(item).state(item)


def icon_of(item: Any, kind: str) -> str:
    return {**ICONS, **of(item).icons}[kind]


def label(name: str) -> str:
    """Of a method that may not be known here."""
    return next((method.label for method in known_methods.known() if method.name == name), name)
