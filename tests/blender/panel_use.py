"""What the tests of the panel share: setups, and the steps of a bake as a window takes them. Scenes: conftest.py."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import bpy
from sinew.ui import job_operator
from sinew.ui.setup import bake, properties, state

FRAMES = 10


def add_setup(name: str) -> Any:
    ob = activate(name)
    assert bpy.ops.sinew.add() == {"FINISHED"}
    item().resolution, item().substeps = 5, 1
    return ob


def activate(name: str) -> Any:
    bpy.context.view_layer.objects.active = bpy.data.objects[name]
    return bpy.data.objects[name]


def item() -> Any:
    return properties.find(bpy.context.scene, bpy.context.object)


def state_now() -> state.State:
    state.forget()
    return state.of(item())


def sampled_work(*, is_preview: bool = False) -> bake.BakeWork:
    """A bake as the modal operator drives it, at the moment when sampling is over."""
    work = bake.BakeWork(bpy.context.object.name, state.target(), is_preview=is_preview)
    job_operator.running.work = work
    while work.step():
        pass
    return work


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Looks after the bake as the window's timer does, until something holds."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        job_operator.watch()
        time.sleep(0.02)
    assert condition()
