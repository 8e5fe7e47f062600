"""What of each setup the viewport shows: switches of the session, which no file keeps and no undo touches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy

from ..background import redraw
from ..setup import properties
from ..setup.properties import key_of

_props: Any = bpy.props  # the stubs say that its functions return nothing

REST, FITTED, SIMULATED = "REST", "FITTED", "SIMULATED"
_SHAPES = (
    (REST, "Rest", "The cage as it was built around the undeformed mesh"),
    (FITTED, "Fitted", "The cage as it follows the animation, on the current frame of the bake"),
    (SIMULATED, "Simulated", "The cage as the flesh moves, on the current frame of the bake"),
)


@dataclass
class View:
    cage: bool = False
    shape: str = SIMULATED
    inside: bool = False
    weights: bool = False


_views: dict[str, View] = {}


def of(item: Any) -> View:
    return _views.get(key_of(item), View())


def change(item: Any, **values: Any) -> None:
    view = _views.setdefault(key_of(item), View())
    for name, value in values.items():
        setattr(view, name, value)
    redraw()


def is_anything_shown() -> bool:
    return any(view.cage or view.weights for view in _views.values())


def hide_all() -> None:
    for view in _views.values():
        view.cage = view.weights = False


def forget() -> None:
    _views.clear()


def make_properties() -> dict[str, Any]:
    """The switches as properties of a setup."""
    names = [shape[0] for shape in _SHAPES]
    return {
        "show_cage": _switch(
            "cage", "Show Cage", "Draw the cage in the viewport. Red follows the animation, blue is free"
        ),
        "show_inside": _switch("inside", "Inner Edges", "Draw the edges inside the cage too, not only its outside"),
        "show_weights": _switch(
            "weights",
            "Show Weights",
            "Colour the mesh by what a bake would follow now, the chosen group or the automatic one: "
            "red follows the animation exactly, blue is free. Makes no vertex group",
        ),
        "cage_shape": _props.EnumProperty(
            name="Cage",
            description="Which shape of the cage is drawn",
            items=_SHAPES,
            options=set(),
            get=lambda item: names.index(of(item).shape),
            set=lambda item, value: change(item, shape=names[value]),
        ),
    }


def _switch(name: str, label: str, description: str) -> Any:
    return _props.BoolProperty(
        name=label,
        description=description,
        options=set(),
        get=lambda item: getattr(of(item), name),
        set=lambda item, value: change(item, **{name: value}),
    )


def register() -> None:
    """Before the properties of a setup are made."""
    properties.further.append(make_properties)


def unregister() -> None:
    properties.further.remove(make_properties)
