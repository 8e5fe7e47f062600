"""What the timeline shows of a bake; that it is drawn is seen in the window (window_story.py)."""

from __future__ import annotations

from typing import Any

import bpy
import panel_use
import pytest
from fake_layout import Context
from panel_use import FRAMES, item
from sinew.scene.stack import own_modifier
from sinew.ui import job_operator
from sinew.ui.setup import state, timeline
from sinew.ui.setup.timeline import Span


def shown() -> list[Span]:
    state.forget()
    return timeline.spans(Context())


def test_the_baked_range_of_the_active_object_is_shown(dressed: Any) -> None:
    assert shown() == []
    item().preroll = 3
    bpy.ops.sinew.bake()
    whole = Span(1, FRAMES + 1, FRAMES, True)
    assert shown() == [whole]
    for name in ("Sleeve", dressed.modifiers[0].object.name):  # what it carries, and its rig
        panel_use.activate(name)
        assert shown() == [whole]
    panel_use.activate("Arm")
    item().jiggle = 6.0
    assert shown() == [Span(1, FRAMES + 1, FRAMES, False)]
    bpy.ops.sinew.delete_bake()
    assert shown() == []


@pytest.mark.parametrize("samples", [1, 2])
def test_frames_that_are_still_to_come_are_apart(arm: Any, unhurried: None, samples: int) -> None:
    bpy.context.scene.frame_end = 40
    item().samples = str(samples)
    work = panel_use.sampled_work()
    panel_use.wait_for(lambda: own_modifier(arm) is not None and work.job.progress[1] > 3 * samples)
    (arriving,) = shown()
    assert (arriving.start, arriving.end, arriving.is_fresh) == (1, 40, True) and 1 < arriving.done < 40
    bpy.ops.sinew.cancel()
    assert job_operator.wait_until_over(60)
    (kept,) = shown()
    assert arriving.done <= kept.done < 41 and f"{kept.done - 1} of 40 frames" in panel_use.state_now().text


def test_nothing_is_looked_at_during_playback(arm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bpy.ops.sinew.bake()
    before = shown()

    class Playing(Context):
        screen = type("Screen", (), {"is_animation_playing": True})

    monkeypatch.setattr(timeline, "span_of", lambda *_: pytest.fail("it was looked at"))
    assert timeline.spans(Playing()) == before
