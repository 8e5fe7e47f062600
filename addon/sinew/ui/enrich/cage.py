"""Build Cage: a look at the cage before the bake. Cages stay for the session; the scene is not changed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ... import bake_object
from ...core import cage_view
from ...core.cage_view import CageView
from ...core.errors import Error
from ...core.settings import Settings
from ...core.store import Manifest
from ...core.task import Task
from ...scene import fingerprint, setup
from .. import handlers, job_operator
from ..job_operator import JobOperator
from . import operators, properties, state, view

CAGE = "CAGE"  # a state beside those of state.py: there is a cage and no bake
_SHAPING = ("resolution", "separate_parts", "mesher", "rest_frame")  # settings that a cage depends on
_KEPT = 1.0  # seconds for which a mesh is not looked at again


@dataclass(frozen=True)
class Built:
    """A cage of this session, and what it was built from."""

    view: CageView
    min_dihedral: float  # degrees
    shape: str  # fingerprint of the mesh
    settings: dict[str, Any]
    note: str  # a sentence, where the chosen mesher could not be used


_built: dict[str, Built] = {}  # by the id of the setup
_shapes: dict[str, tuple[float, str]] = {}


def find(item: Any) -> Built | None:
    """The cage that was built in this session."""
    return _built.get(view.key_of(item))


def shape_of(item: Any) -> str:
    """A fingerprint of the mesh, not taken more often than is cheap."""
    key = view.key_of(item)
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
    for name in _SHAPING:
        if getattr(settings, name) != built.settings[name]:
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
    shown = built.view
    return [
        f"{len(shown.tets):,} tets, {len(shown.vertices):,} vertices",
        f"Smallest angle {built.min_dihedral:.0f}°",
        f"{100 * shown.followed:.0f} % follows the animation exactly",
        *([built.note] if built.note else []),
    ]


def bake_of(item: Any) -> tuple[Path, Manifest] | None:
    """The folder of all bakes and the manifest of the one that is played, which may still be under way."""
    entry = setup.find_of(item.object, item.id_data)
    if entry is None or not entry.bake:
        return None
    root = bake_object.bake_root(item.object, entry, state.target())
    try:
        return root, state.manifest_of(root, entry.bake)
    except Error:
        return None


def forget() -> None:
    """Another file is open."""
    _built.clear()
    _shapes.clear()


class BuildWork:
    """The cage of one object, as the base of long work wants it."""

    title = ""  # nothing to undo
    stopped = "Building the cage was stopped."

    def __init__(self, item: Any) -> None:
        self.sampled, self.total = 0, 1
        self._name = item.object.name
        self._key = view.key_of(item)
        self._settings = properties.settings_of(item)
        self._shape = fingerprint.take_shape(item.object, item.id_data)
        self._looking = bake_object.look_in_steps(self._name, properties.values_of(item))
        self.job: Any = None

    @property
    def object_name(self) -> str:
        """What it is called now."""
        found = setup.find_by_id(self._key)
        return found[1].name if found is not None else self._name

    def step(self) -> bool:
        """A part of the look at the rest shape, which is all that the scene is needed for."""
        try:
            next(self._looking)
        except StopIteration as end:
            body = end.value
            self.job = Task("Building the cage", lambda monitor: _build(body, self._settings, monitor))
            return False
        return True

    def abandon(self) -> None:
        self._looking.close()

    def arrive(self) -> None:
        pass

    def discard(self) -> None:
        pass

    def is_welcome(self) -> str:
        found = setup.find_by_id(self._key)
        return "" if found is not None else f'"{self._name}" or its setup was deleted, so its cage was not built.'

    def finish(self, outcome: Any) -> str:
        settings = {name: getattr(self._settings, name) for name in _SHAPING}
        shown, min_dihedral, note = outcome
        built = Built(shown, min_dihedral, self._shape, settings, note)
        _built[self._key] = built
        found = setup.find_by_id(self._key)
        item = properties.find(found[2], found[1]) if found is not None else None
        if item is not None:
            view.change(item, cage=True, shape=view.REST)
        return note or f"The cage is built, {100 * shown.followed:.0f} % of it follows exactly"


def _build(body: bake_object.Body, settings: Settings, monitor: Any) -> tuple[CageView, float, str]:
    from ...core.cage import build_cage

    follow = body.follow(monitor)
    cage = build_cage(
        body.rest.positions,
        body.rest.triangles,
        settings.resolution,
        separate_parts=settings.separate_parts,
        mesher=settings.mesher,
        monitor=monitor,
    )
    shown = cage_view.make_view(cage.vertices, cage.tets, cage.binding, follow, body.rest.matrix)
    return shown, cage.min_dihedral, cage.note


class SINEW_OT_build_cage(JobOperator, bpy.types.Operator):
    bl_idname = "sinew.build_cage"
    bl_label = "Build Cage"
    bl_description = (
        "Build the cage of tets that will carry the mesh and show it in the viewport. "
        "Bake builds its own, so this is only for a look"
    )
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return operators.can_look(cls, context)

    def prepare(self: Any, context: Any) -> job_operator.Work:
        properties.refresh()
        self._work = BuildWork(operators.active_item(context))
        return self._work

    def modal(self: Any, context: Any, event: Any) -> Any:
        """The artist goes on while the thread works, and Esc still stops it."""
        if job_operator.running.sampling:
            answer = super().modal(context, event)
            if answer != {"FINISHED"}:
                return answer
        if job_operator.running.work is not self._work:
            return {"FINISHED"}
        if event.type == "ESC" and event.value == "PRESS":
            job_operator.request_stop()
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}


def _before_load(*_: object) -> None:
    forget()


_HANDLERS = {"load_pre": _before_load}


def register() -> None:
    bpy.utils.register_class(SINEW_OT_build_cage)
    handlers.add(_HANDLERS)


def unregister() -> None:
    forget()
    handlers.remove(_HANDLERS)
    bpy.utils.unregister_class(SINEW_OT_build_cage)
