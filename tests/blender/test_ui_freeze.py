"""No button holds a window up for a tenth of a second, on a mesh of 118,000 vertices: all of it goes in short steps.

Measured is the processor's time of the main thread, the shorter of two, beside the yardstick's: twice that is let pass,
because neighbours on the machine change while one looks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import bpy
import panel_use
import pytest
import scenes
import sinew
from fake_layout import draw
from inside import save
from sinew.ui import job_operator
from sinew.ui.background import results
from sinew.ui.enrich import cage, follow_group, spread, trial, weights
from sinew.ui.enrich import panel as flesh
from sinew.ui.setup import bake, panel, remake, sidebar, state
from sinew.ui.work import Work
from yardstick import tenth_of_a_second


def allowed() -> float:
    return 2 * tenth_of_a_second()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    sinew.register()
    scenes.reset_scene()
    scenes.build_two_bone_arm(rings=590, segments=200, frames=4)
    save(tmp_path_factory.mktemp("large") / "arm.blend")
    ob = panel_use.add_setup("Arm")
    assert len(ob.data.vertices) > 118_000
    yield ob
    sinew.unregister()


def longest(work: Callable[[], Work]) -> float:
    """The longest that the work holds the window up (when it begins, in a step, when it ends), of what is allowed."""
    return min(_longest(work) / allowed() for _ in range(2))


def _longest(work: Callable[[], Work]) -> float:
    times = []

    def timed(function: Callable[[], Any]) -> Any:
        start = time.thread_time()
        value = function()
        times.append(time.thread_time() - start)
        return value

    begun: Work = timed(work)
    job_operator.running.work = begun
    while timed(begun.step):
        pass
    assert begun.job is not None
    begun.job.wait()
    timed(job_operator.watch)
    assert not job_operator.running.failed, job_operator.running.message
    return max(times)


@pytest.mark.once
@pytest.mark.parametrize(
    "kind", [cage.BuildWork, trial.TrialWork, follow_group.GroupWork, spread.SpreadWork], ids=lambda kind: kind.name
)
def test_looks_are_short(large: Any, kind: Callable[[Any], Work]) -> None:
    assert longest(lambda: kind(panel_use.item())) < 1.0


def test_weights_are_shown_at_once(large: Any) -> None:
    if "Sinew Follow" not in large.vertex_groups:
        assert bpy.ops.sinew.make_follow_group() == {"FINISHED"}
    times = []
    for weight in (0.5, 0.6):
        large.vertex_groups["Sinew Follow"].add([0], weight, "REPLACE")  # as a stroke does
        start = time.thread_time()
        weights.refresh(panel_use.item())
        times.append((time.thread_time() - start) / allowed())
        results.wait()
        weights.refresh(panel_use.item())  # takes over what was found
    assert min(times) < 1.0, times
    surface = weights.surface_of(panel_use.item(), bpy.context.evaluated_depsgraph_get())
    assert surface is not None and len(surface.colors) == len(large.data.vertices)


@pytest.mark.once
def test_a_bake_and_its_new_look_are_short(large: Any) -> None:
    item = panel_use.item()

    def baked() -> Work:
        item.jiggle += 1.0
        return bake.BakeWork("Arm", state.target())

    def shown_otherwise() -> Work:
        item.amount -= 0.3
        return remake.RemakeWork("Arm", state.target())

    assert longest(baked) < 1.0
    large.vertex_groups.new(name="Where").add(list(range(0, len(large.data.vertices), 2)), 1.0, "REPLACE")
    item.follow_after, item.follow_after_group = 0.5, "Where"
    assert longest(shown_otherwise) < 1.0
    assert panel_use.state_now().kind == state.BAKED


def test_a_redraw_is_short(large: Any) -> None:
    times = []
    for _ in range(2):
        state.forget()
        start = time.thread_time()
        for cls in (*panel.CLASSES, *flesh.CLASSES, sidebar.SINEW_PT_sidebar):
            draw(cls)
        times.append((time.thread_time() - start) / allowed())
        results.wait()
    assert min(times) < 1.0, times
