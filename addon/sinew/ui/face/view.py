"""What of a face the viewport shows in colours: switches of the session, which no file keeps and no undo touches."""

from __future__ import annotations

from typing import Any

import bpy

from ..background import redraw
from ..setup import properties

_props: Any = bpy.props  # the stubs say that its functions return nothing

BONE, STIFFNESS = "bone", "stiffness"
shown: dict[str, str] = {}  # by the id of the setup
turned = [0]  # how often a switch was: what is shown is read anew then


def of(item: Any) -> str:
    return shown.get(properties.key_of(item), "")


def hide_all() -> None:
    shown.clear()


def _make_properties() -> dict[str, Any]:
    return {
        "show_bone": _switch(
            BONE, "Bone", "Colour the face by what is bone, red, and what is flesh, the bluer the deeper: as Find or "
            "the last bake found it"
        ),
        "show_stiffness": _switch(
            STIFFNESS, "Stiffness", "Colour the face by how stiff flesh is in the expression of the current frame, as "
            "Stiffness by Key and Tighten make it: green is as at rest, red is stiffer, blue softer"
        ),
    }  # fmt: skip


def _switch(what: str, label: str, description: str) -> Any:
    def turn(item: Any, value: bool) -> None:
        if value:
            shown[properties.key_of(item)] = what
            turned[0] += 1
        elif of(item) == what:
            del shown[properties.key_of(item)]
        redraw()

    return _props.BoolProperty(
        name=label,
        description=description,
        options=set(),
        get=lambda item: of(item) == what,
        set=turn,
    )


def register() -> None:
    """Before the properties of a setup are made."""
    properties.further.append(_make_properties)


def unregister() -> None:
    properties.further.remove(_make_properties)
