"""Build Cage: a look at the cage before the bake. Cages stay for the session; the scene is not changed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import bpy

from ...core.base.settings import BODY
from ...core.cage.view import CageView, make_view
from ...core.cage.welds import look_at_rest
from ...core.flesh.report import UNSEPARATED
from ...scene import fingerprint, setup
from ...setups.flesh.body import Body
from .. import handlers
from ..classes import asking, needs, registering
from ..setup import operators, properties, state
from ..setup.look import LookOperator
from ..work import Work
from . import cage_object, view
from .look import LookWork

CAGE = "CAGE"  # a state beside those of state.py: there is a cage and no bake
_KEPT = 1.0  # seconds for which a mesh is not looked at again


@dataclass(frozen=True)
class Built:
    """A cage of this session, and what it was built from."""

    view: CageView
    min_dihedral: float  # degrees
    shape: str  # fingerprint of the mesh
    settings: dict[str, Any]
    note: str  # where the chosen mesher could not be used, or near parts share tets


_built: dict[str, Built] = {}  # by the id of the setup
_shapes: dict[str, tuple[float, str]] = {}


def find(item: Any) -> Built | None:
    """The cage that was built in this session."""
    return _built.get(properties.key_of(item))


def shape_of(item: Any) -> str:
    """A fingerprint of the mesh, not taken more often than is cheap."""
    key = properties.key_of(item)
    now = time.monotonic()
    known = _shapes.get(key)
    if known is None or now > known[0]:
        shape = fingerprint.take_shape(item.object, item.id_data)
        known = (now + _KEPT + 50 * (time.monotonic() - now), shape)
        _shapes[key] = known
    return known[1]


def why_stale(item: Any, built: Built) -> str:
    """What has changed since the cage was built, or ""."""
    settings = properties.settings_of(item)
    for name, value in settings.part(BODY).items():
        if value != built.settings[name]:
            return f"{properties.label(name)} has changed"
    return "The mesh has changed" if shape_of(item) != built.shape else ""


def state_of(item: Any) -> state.State:
    """The state of a setup that is not being baked: that of its bake, or else of its cage."""
    now = state.of(item)
    built = find(item)
    if now.kind != state.NOTHING or built is None:
        return now
    reason = why_stale(item, built)
    if reason:
        return state.State(state.STALE, f"{reason}: build the cage again, or bake", now.report, now.notes)
    return state.State(CAGE, f"Cage: {len(built.view.tets):,} tets", now.report, now.notes)


def describe(built: Built) -> list[str]:
    """The report about a cage."""
    shown, settings = built.view, built.settings
    is_unseparated = settings["mesher"] == "gmsh" and settings["separate_parts"] and not built.note
    return [
        f"{len(shown.tets):,} tets, {len(shown.vertices):,} vertices",
        f"Smallest angle {built.min_dihedral:.0f}°",
        f"{100 * shown.followed:.0f} % follows the animation exactly",
        *([built.note] if built.note else []),
        *([UNSEPARATED] if is_unseparated else []),
    ]


def forget() -> None:
    """Another file is open."""
    _built.clear()
    _shapes.clear()


class BuildWork(LookWork):
    """The cage of one object."""

    name = "Building the cage"
    stopped = "Building the cage was stopped."

    def __init__(self, item: Any) -> None:
        super().__init__(item)
        self._settings = properties.settings_of(item)
        self._shape = fingerprint.take_shape(item.object, item.id_data)

    def make(self, body: Body, monitor: Any) -> Any:
        return self.build(body, monitor)[0]

    def build(self, body: Body, monitor: Any) -> tuple[Built, Any]:
        """The cage as it will be shown, and itself."""
        from ...core.cage.safe import make_cage  # it needs the native module
        from ...core.geometry.surface import areas_and_size
        from ...core.paint.weights import cage_weights

        settings = self._settings
        follow = body.follow(monitor)
        needs = None if settings.follow_animated else follow
        cage = make_cage(body.rest.positions, body.rest.triangles, settings, body.safe, monitor, follow=needs)
        areas, _ = areas_and_size(body.rest.positions, body.rest.triangles)
        shown = make_view(cage.vertices, cage.tets, cage_weights(cage, areas, follow), body.rest.matrix)
        near = look_at_rest(cage, body.rest.positions, body.rest.triangles, settings, body.labels, monitor)
        note = " ".join(filter(None, (cage.note, near)))
        return Built(shown, cage.min_dihedral, self._shape, settings.part(BODY), note), cage

    def show(self, shape: str) -> None:
        found = setup.find_by_id(self.setup_id)
        item = properties.find(found[2], found[1]) if found is not None else None
        if item is not None:
            view.change(item, cage=True, shape=shape)

    def finish(self, outcome: Any) -> str:
        _built[self.setup_id] = outcome
        self.show(view.REST)
        return outcome.note or f"The cage is built, {100 * outcome.view.followed:.0f} % of it follows exactly"


class SINEW_OT_build_cage(LookOperator, bpy.types.Operator):
    bl_idname = "sinew.build_cage"
    bl_label = "Build Cage"
    bl_description = (
        "Build the cage of tets that will carry the mesh and show it in the viewport. "
        "Bake builds its own, so this is only for a look"
    )
    bl_options = {"REGISTER"}

    poll = asking(operators.can_look)

    def prepare(self, context: Any) -> Work:
        properties.refresh()
        return BuildWork(operators.active_item(context))


class SINEW_OT_make_cage_object(bpy.types.Operator):
    bl_idname = "sinew.make_cage_object"
    bl_label = "Make Cage Object"
    bl_description = (
        "Make an object of the cage that was built, to paint or assign weights inside the body: vertices in its group "
        "Sinew Follow say what follows there, the others are found from those around them"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(
        operators.can_look, needs(lambda context: find(operators.active_item(context)), "Build the cage first")
    )

    def execute(self, context: Any) -> Any:
        item = operators.active_item(context)
        built = find(item)
        assert built is not None
        made = cage_object.make(item.object, built.view)
        properties.write(item, "cage_object", made.name)
        self.report({"INFO"}, f'Put vertices of "{made.name}" into its group, with the weights to follow by')
        return {"FINISHED"}


def _before_load(*_: object) -> None:
    forget()


_HANDLERS = {"load_pre": _before_load}
_register_classes, _unregister_classes = registering((SINEW_OT_build_cage, SINEW_OT_make_cage_object))


def register() -> None:
    _register_classes()
    handlers.add(_HANDLERS)


def unregister() -> None:
    forget()
    handlers.remove(_HANDLERS)
    _unregister_classes()
