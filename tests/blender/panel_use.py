"""What the tests of the panel share: an arm with a setup, and the steps of a bake as a window takes them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest
import scenes
import sinew
from inside import save
from sinew.ui import job_operator
from sinew.ui.enrich import bake, properties, state

FRAMES = 10


@pytest.fixture
def registered() -> Iterator[None]:
    sinew.register()
    yield
    sinew.unregister()


@pytest.fixture
def arm(registered: None, tmp_path: Path) -> Any:
    """An animated arm in a saved file, active, with a quick setup."""
    return _with_setup(scenes.build_two_bone_arm, tmp_path)


@pytest.fixture
def dressed(registered: None, tmp_path: Path) -> Any:
    """The same with a sleeve and two beads."""
    return _with_setup(scenes.build_dressed_arm, tmp_path)


def _with_setup(build: Callable[..., Any], folder: Path) -> Any:
    scenes.reset_scene()
    build(frames=FRAMES)
    save(folder / "arm.blend")
    return add_setup("Arm")


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
