"""Bake All: the timeline is played once for all setups, then one is simulated after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
import panel_use
import pytest
from inside import baked_samples, shown_at
from sinew import setups
from sinew.scene import relations, setup, stack
from sinew.ui import job_operator
from sinew.ui.setup import bake_together, sidebar, state, timeline

FRAMES = panel_use.FRAMES


@pytest.fixture
def gone_to() -> Iterator[list[float]]:
    """The frames that the scene went to."""
    frames: list[float] = []

    def note(scene: Any, *_: Any) -> None:
        frames.append(scene.frame_current + scene.frame_subframe)

    bpy.app.handlers.frame_change_pre.append(note)
    yield frames
    bpy.app.handlers.frame_change_pre.remove(note)


def another(arm: Any, name: str) -> Any:
    """A second arm with a setup, on a rig of its own that bends the other way."""
    rig = arm.parent.copy()
    rig.animation_data.action = rig.animation_data.action.copy()
    copy = arm.copy()
    copy.data, copy.name = arm.data.copy(), name
    for ob in (rig, copy):
        bpy.context.scene.collection.objects.link(ob)
    copy.parent = copy.modifiers["Armature"].object = rig
    rig.scale.z = -1.0
    panel_use.add_setup(name)
    return copy


def entry(ob: Any) -> setup.Setup:
    found = setup.find_of(ob, bpy.context.scene)
    assert found is not None
    return found


def bake(*obs: Any) -> None:
    """Bakes the setups of objects one by one."""
    for ob in obs:
        with bpy.context.temp_override(object=ob, active_object=ob):
            assert bpy.ops.sinew.bake() == {"FINISHED"}


def results(ob: Any) -> np.ndarray:
    return baked_samples(state.target().root / entry(ob).bake)


def is_good(ob: Any) -> bool:
    return setups.check_object(entry(ob), state.target()) is None


def test_every_frame_is_gone_to_once_for_all_and_the_bits_are_those_of_single_bakes(
    arm: Any, gone_to: list[float]
) -> None:
    other = another(arm, "Other")
    panel_use.item().frame_start, panel_use.item().frame_end = 4, FRAMES + 3
    gone_to.clear()
    bake(arm, other)
    alone = [results(arm), results(other)]
    apart = len(gone_to)
    for ob in (arm, other):
        with bpy.context.temp_override(object=ob, active_object=ob):
            bpy.ops.sinew.delete_bake()
    setups.finish(state.target())
    gone_to.clear()
    assert bpy.ops.sinew.bake_all() == {"FINISHED"}
    assert apart - len(gone_to) == FRAMES - 3, "those that both have"
    assert all(np.array_equal(results(ob), before) for ob, before in zip((arm, other), alone, strict=True))
    assert not np.array_equal(*alone) and is_good(arm) and is_good(other)


def test_samples_between_frames_find_their_place(arm: Any, gone_to: list[float]) -> None:
    other = another(arm, "Other")
    panel_use.item().samples = "2"
    works = [setups.Sampling(ob.name, {}, state.target()) for ob in (arm, other)]
    for work in works:
        work.__enter__()
        for _ in work.prepare():
            pass
    gone_to.clear()
    taken: list[Any] = [(number, getattr(sample, "index", sample)) for number, sample in setups.sample_together(works)]
    setups.leave_all(works, [])
    assert gone_to[: 2 * FRAMES - 1] == [1 + half / 2 for half in range(2 * FRAMES - 1)]
    assert sorted(taken) == [*((0, i) for i in range(FRAMES)), *((1, i) for i in range(2 * FRAMES - 1))]


def test_what_is_wrong_with_one_is_told_and_the_others_are_baked(arm: Any) -> None:
    flat, lost = another(arm, "Flat"), another(arm, "Lost")
    for frame, size in ((5, 1.0), (6, 0.0), (7, 1.0)):
        flat.scale = (size, size, size)
        flat.keyframe_insert("scale", frame=frame)
    panel_use.activate("Lost")
    panel_use.item().follow_group = "nothing"
    visible = [(m.name, m.show_viewport) for ob in (arm, flat, lost) for m in ob.modifiers]
    bpy.context.scene.frame_set(3)
    with pytest.raises(RuntimeError, match="not all.*(zero scale|nothing)"):
        bpy.ops.sinew.bake_all()
    assert bpy.context.scene.frame_current == 3
    now = [(m.name, m.show_viewport) for ob in (arm, flat, lost) for m in ob.modifiers]
    assert now == [visible[0], ("Sinew", True), *visible[1:]]
    state.forget()
    assert sidebar.waiting(bpy.context.scene) == ["Flat", "Lost"] and is_good(arm)
    assert not any(group.name == "Sinew Follow" for group in flat.vertex_groups)


def test_one_that_looks_at_another_is_sampled_when_that_one_plays(arm: Any) -> None:
    other = another(arm, "Other")
    wrap = other.modifiers.new("Wrap", "SHRINKWRAP")
    wrap.target = arm
    assert relations.referring_to([arm]) == {other} and relations.referring_to([other]) == set()
    assert setups.independent(["Arm", "Other"], bpy.context.scene) == ["Arm"]
    bake(arm, other)
    before = results(other)
    for ob in (arm, other):
        with bpy.context.temp_override(object=ob, active_object=ob):
            bpy.ops.sinew.delete_bake()
    assert bpy.ops.sinew.bake_all() == {"FINISHED"}
    assert np.array_equal(results(other), before) and is_good(other)


@pytest.mark.once
def test_those_that_look_at_each_other_are_baked_all_the_same(arm: Any) -> None:
    other = another(arm, "Other")
    for one, target in ((arm, other), (other, arm)):
        node = one.modifiers.new("Proximity", "VERTEX_WEIGHT_PROXIMITY")
        node.vertex_group, node.target = "upper", target
    assert setups.independent(["Arm", "Other"], bpy.context.scene) == ["Arm"]
    assert bpy.ops.sinew.bake_all() == {"FINISHED"}


def test_a_mesh_that_two_bodies_carry_comes_back_as_it_was(dressed: Any) -> None:
    second = dressed.copy()
    second.data, second.name = dressed.data.copy(), "Second"
    bpy.context.scene.collection.objects.link(second)
    panel_use.add_setup("Second")
    sleeve = bpy.data.objects["Sleeve"]
    sleeve.modifiers.new("Subdivision", "SUBSURF")
    assert [one.object for one in entry(second).passengers] == [one.object for one in entry(dressed).passengers]
    assert bpy.ops.sinew.bake_all() == {"FINISHED"}
    assert [m.show_viewport for m in sleeve.modifiers] == [True] * 3
    state.forget()
    assert sidebar.waiting(bpy.context.scene) == [], "what carries it has not changed since"


def begun(*obs: Any) -> bake_together.TogetherWork:
    """As the modal operator drives it, at the moment when sampling is over."""
    work = bake_together.TogetherWork([ob.name for ob in obs], state.target())
    job_operator.running.work = work
    while work.step():
        pass
    return work


def test_in_a_window_one_after_the_other_arrives_and_plays(arm: Any, unhurried: None) -> None:
    other = another(arm, "Other")
    work = begun(arm, other)
    assert job_operator.is_running("Arm") and job_operator.is_running("Other")
    panel_use.wait_for(lambda: work.job is not None and work.job.results[0] is not None)
    assert work.job is not None and work.job.results[1] is None, "it is simulated after the first"
    panel_use.wait_for(lambda: not job_operator.is_running("Arm"))
    assert job_operator.is_running("Other") and stack.own_modifier(arm) is not None and is_good(arm)
    # The second has its own preparations to tell of first.
    panel_use.wait_for(lambda: "Baking" in job_operator.progress()[1])
    assert job_operator.progress()[0] >= 0.5
    panel_use.wait_for(lambda: not job_operator.is_running())
    assert job_operator.running.message == "Baked 2 objects" and not job_operator.running.failed
    assert is_good(other) and np.array_equal(shown_at(other, 5), results(other)[4])


def is_baking(stage: str, done: int) -> bool:
    return stage == "Baking" and done >= FRAMES + 2


@pytest.mark.once
def test_cancel_keeps_what_is_finished_and_bake_all_continues(arm: Any, unhurried: None) -> None:
    other = another(arm, "Other")
    work = begun(arm, other)
    # How much of a cage is built is told in numbers too.
    panel_use.wait_for(lambda: work.job is not None and is_baking(*work.job.progress[:2]))
    bpy.ops.sinew.cancel()
    panel_use.wait_for(lambda: not job_operator.is_running())
    assert "kept" in job_operator.running.message and is_good(arm)
    state.forget()
    assert sidebar.waiting(bpy.context.scene) == ["Other"]
    assert bpy.ops.sinew.bake_all() == {"FINISHED"} and is_good(other)


def test_esc_while_sampling_puts_everything_back(arm: Any) -> None:
    other = another(arm, "Other")
    bpy.context.scene.frame_set(2)
    work = bake_together.TogetherWork(["Arm", "Other"], state.target())
    job_operator.running.work, job_operator.running.sampling = work, True
    while work.sampled < 5:
        assert work.step()
    job_operator.stop("Stopped.")
    assert bpy.context.scene.frame_current == 2
    for ob in (arm, other):
        assert stack.own_modifier(ob) is None and "Sinew Follow" not in ob.vertex_groups
        assert all(modifier.show_viewport for modifier in ob.modifiers)


def test_one_that_is_deleted_meanwhile_does_not_stop_the_other(arm: Any, unhurried: None) -> None:
    other = another(arm, "Other")
    begun(arm, other)
    bpy.data.objects.remove(other)
    panel_use.wait_for(lambda: not job_operator.is_running())
    assert is_good(arm) and job_operator.running.failed and "Other" in job_operator.running.message


def test_the_timeline_shows_of_each_what_is_done_of_it(arm: Any, unhurried: None) -> None:
    other = another(arm, "Other")
    work = begun(arm, other)
    panel_use.wait_for(lambda: work.job is not None and FRAMES + 2 <= work.job.progress[1] < 2 * FRAMES - 2)
    job_operator.watch()
    first, second = (timeline.span_of(ob, bpy.context.scene) for ob in (arm, other))
    assert first is not None and first.done - first.start == FRAMES
    assert second is not None and 0 < second.done - second.start < FRAMES
    panel_use.wait_for(lambda: not job_operator.is_running())


def test_bakes_that_are_being_written_stay_when_the_file_is_saved(arm: Any, unhurried: None) -> None:
    another(arm, "Other")
    work = begun(arm, bpy.data.objects["Other"])
    assert work.job is not None
    panel_use.wait_for(lambda: work.job is not None and None not in work.job.ready)
    bpy.ops.wm.save_mainfile()
    panel_use.wait_for(lambda: not job_operator.is_running())
    assert not job_operator.running.failed and is_good(arm) and is_good(bpy.data.objects["Other"])
