"""An edited performance before it is baked again: while the switch is on, the current frame shows what flesh did in the
last bake carried over to what the face does now. It is written into a small file of its own, as a result that is looked
at otherwise (ui/setup/live.py), and leaves as that does before saving and rendering."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...core.bake.look import slot_of
from ...core.bake.store import Store
from ...core.base.errors import Error
from ...core.geometry.place import inverse, placed
from ...core.methods.face.edited import Laid
from ...scene import compat, setup, stack
from ...scene.subject import Subject
from ...setups.target import sentences
from .. import handlers, job_operator
from ..setup import live, properties, state

_props: Any = bpy.props  # the stubs say that its functions return nothing
_TICK = 0.1  # seconds between two looks at whether something has changed


@dataclass
class _Shown:
    """A finished bake that is laid on its edited animation."""

    setup_id: str
    store: Store
    laid: Laid
    is_new: bool = True  # something has changed since it was shown
    input: Any = None  # that it was shown on: sample, local positions and the matrix
    made: int = 0  # how often it was


class _Session:
    shown: _Shown | None = None
    is_busy = False  # what changes meanwhile is our own doing


session = _Session()


def is_on(item: Any) -> bool:
    return session.shown is not None and session.shown.setup_id == properties.key_of(item)


def begin(item: Any) -> None:
    end()
    live.end()
    baked = state.bake_of(item)
    entry = setup.find_of(item.object, item.id_data)
    if baked is None or entry is None or not baked[1].complete or baked[1].is_preview:
        job_operator.tell_failure(item.object.name, "There is no finished bake to lay on the animation: bake first.")
        return
    try:
        store = Store.open(baked[0], baked[1].id)
    except Error as error:
        job_operator.tell_failure(item.object.name, str(error))
        return
    session.shown = _Shown(entry.id, store, Laid(store))
    show()
    if not bpy.app.background and not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=_TICK)


def end() -> None:
    """The bake plays again as it is."""
    shown, session.shown = session.shown, None
    if shown is not None:
        shown.store.close()
        live.restore()


def show() -> None:
    """Lays the bake on the current frame."""
    shown = session.shown
    found = setup.find_by_id(shown.setup_id) if shown is not None else None
    if shown is None or found is None or found[0].bake != shown.store.manifest.id:
        end()
        return
    entry, ob, scene = found
    session.is_busy = True
    try:
        with sentences():
            local, matrix = _input(ob)
        index = slot_of(shown.store.manifest, scene.frame_current + scene.frame_subframe)
        if len(local) != len(shown.store.constant("rest")):
            end()
            return
        shown.is_new, known = False, shown.input
        shown.input = (index, local, matrix)
        if known is not None and all(np.array_equal(a, b) for a, b in zip(known, shown.input, strict=True)):
            return  # to look at it has tagged the object
        surface = shown.laid.surface(index, placed(matrix, local.astype(np.float64)))
        live.play_frame(scene, entry, {"result": placed(inverse(matrix), surface).astype(np.float32)})
        shown.made += 1
    finally:
        session.is_busy = False


def _input(ob: Any) -> tuple[Any, Any]:
    """Local positions below our place, and the matrix to world metres."""
    subject = Subject(ob)
    subject.place = stack.find_place(ob, ())
    with stack.hidden_from(ob, subject.place):
        bpy.context.view_layer.update()
        return subject.now(f"frame {bpy.context.scene.frame_current}")


def _tick() -> float | None:
    if session.shown is None:
        return None
    if job_operator.is_running() or compat.is_rendering() or live.session.live is not None:
        end()
        return None
    if session.shown.is_new:
        with contextlib.suppress(Error):
            show()
    return _TICK


def _changed(*_: object) -> None:
    if session.shown is not None and not session.is_busy:
        session.shown.is_new = True


def _end(*_: object) -> None:
    end()


def make_properties() -> dict[str, Any]:
    def turn(item: Any, value: bool) -> None:
        if value:
            begin(item)
        elif is_on(item):
            end()

    return {
        "show_edited": _props.BoolProperty(
            name="On Edited Animation",
            description="After a change of the animation, show on the current frame what the last bake added, laid on "
            "what the face does now. A twentieth of the jiggle is off, until it is baked again",
            options=set(),
            get=is_on,
            set=turn,
        )
    }


_HANDLERS = {
    **dict.fromkeys(("depsgraph_update_post", "frame_change_post"), _changed),
    **dict.fromkeys(("save_pre", "render_init", "load_pre", "undo_post", "redo_post"), _end),
}


def register() -> None:
    """Before the properties of a setup are made."""
    properties.further.append(make_properties)
    handlers.add(_HANDLERS)


def unregister() -> None:
    end()
    handlers.remove(_HANDLERS)
    properties.further.remove(make_properties)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
