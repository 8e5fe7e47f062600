"""Every panel in every state, drawn into a layout that takes notes; tooltips, and what is done to all setups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import panel_use
import pytest
from fake_layout import Layout, draw
from panel_use import FRAMES
from sinew.core.methods.enrich.settings import Settings
from sinew.scene import stack
from sinew.ui import job_operator
from sinew.ui.background import results
from sinew.ui.enrich import cage
from sinew.ui.enrich import panel as flesh
from sinew.ui.setup import bake, panel, passengers, presets, properties, sidebar, state, view


@pytest.fixture
def bare(arm: Any) -> Any:
    """The arm without a setup."""
    bpy.ops.sinew.remove()
    return arm


@pytest.fixture
def item(arm: Any) -> Any:
    return panel_use.item()


def drawn_all() -> Layout:
    """All panels of the physics tab together."""
    state.forget()
    cage._shapes.clear()
    whole = Layout()
    for cls in (*panel.CLASSES, *flesh.CLASSES, passengers.SINEW_PT_passengers, sidebar.SINEW_PT_sidebar):
        part = draw(cls)
        if part is not None:
            whole.labels += part.labels
            whole.operators += part.operators
            whole.properties += part.properties
    return whole


def test_without_a_setup_there_is_one_button(bare: Any) -> None:
    assert set(drawn_all().operators) == {"sinew.add"}
    draw(panel.SINEW_PT_setup, "draw_header_preset")


def test_every_setting_is_in_the_panel_once(item: Any) -> None:
    shown = drawn_all().properties
    for name in Settings().as_dict():
        assert shown.count(name) == 1, name
    item.object.shape_key_add(name="Basis")
    assert drawn_all().properties.count("safe_shape_key") == 1
    layout = draw(panel.SINEW_PT_setup)
    assert layout is not None
    assert layout.properties == ["jiggle", "settle", "amount", "keep_pose", "resolution"]


def test_words_are_an_artists_and_no_two_buttons_have_one_name(item: Any) -> None:
    for name in Settings().as_dict():
        label = properties.label(name)
        assert label and "_" not in label, name
    follow = draw(flesh.SINEW_PT_follow)
    assert follow is not None and follow.properties[:2] == ["follow_group", "balance"]
    assert bpy.ops.sinew.preview.get_rna_type().name != bpy.ops.sinew.preview_spread.get_rna_type().name


def test_gmsh_is_said_not_to_separate_parts(item: Any) -> None:
    assert "Not with Gmsh" not in drawn_all().labels
    item.mesher = "gmsh"
    assert "Not with Gmsh" in drawn_all().labels
    item.separate_parts = False
    assert "Not with Gmsh" not in drawn_all().labels


@pytest.mark.parametrize("name", ["bake", "build_cage", "trial_fit", "preview"])
def test_a_follow_group_that_is_not_there_is_refused(item: Any, name: str) -> None:
    item.follow_group = "Nothing of the kind"
    with pytest.raises(RuntimeError, match='no vertex group or float attribute of points "Nothing of the kind"'):
        getattr(bpy.ops.sinew, name)()


def test_an_attribute_is_offered_and_cannot_be_painted(item: Any, arm: Any) -> None:
    arm.data.attributes.new("Stored", "FLOAT", "POINT")
    item.follow_group = "Stored"
    with pytest.raises(RuntimeError, match="is an attribute"):
        bpy.ops.sinew.paint_follow_group()
    assert bpy.ops.sinew.bake() == {"FINISHED"}


def test_all_states_are_told(item: Any, arm: Any) -> None:
    assert "Not baked yet" in drawn_all().labels
    bpy.ops.sinew.build_cage()
    assert any(line.startswith("Cage: ") for line in drawn_all().labels)
    bpy.ops.sinew.bake()
    assert f"Baked, frames 1 to {FRAMES}" in drawn_all().labels
    report = draw(panel.SINEW_PT_report)
    assert report is not None and report.labels[0].startswith(f"{FRAMES} frames")
    assert any(line.startswith("Motion added") for line in report.labels)
    item.jiggle = 6.0
    assert "Jiggle has changed: bake again" in drawn_all().labels
    Path(bpy.path.abspath(arm.modifiers["Sinew"].filepath)).unlink()
    assert any("missing" in line for line in drawn_all().labels)


def test_while_it_bakes_there_is_progress_and_cancel(item: Any) -> None:
    work = bake.BakeWork("Arm", state.target())
    job_operator.running.work, job_operator.running.sampling = work, True
    work.step()
    layout = draw(panel.SINEW_PT_setup)
    assert layout is not None and "Preparing" in layout.labels
    while work.sampled < 1:
        work.step()
    layout = draw(panel.SINEW_PT_setup)
    assert layout is not None and "sinew.cancel" in layout.operators and "sinew.bake" not in layout.operators
    assert any(line.startswith(f"Sampling 1 / {FRAMES}") for line in layout.labels)
    job_operator.stop("Stopped.")
    assert any(line.startswith("Stopped") for line in drawn_all().labels)


def test_sentences_fit_a_narrow_editor(item: Any) -> None:
    item.follow_group = "No such group, whatever its very long name may be good for"
    with pytest.raises(RuntimeError):
        bpy.ops.sinew.bake()
    layout = draw(panel.SINEW_PT_setup, width=300)
    assert layout is not None and max(len(line) for line in layout.labels) <= 40


def test_presets_are_drawn(item: Any) -> None:
    layout = draw(presets.SINEW_PT_presets)
    assert layout is not None
    assert layout.operators.count("sinew.apply_preset") >= 10 and layout.operators[-1] == "sinew.add_preset"


def test_everything_has_a_tooltip(arm: Any) -> None:
    names = [name for name in dir(bpy.ops.sinew) if not name.startswith("_")]
    kinds = [getattr(bpy.ops.sinew, name).get_rna_type() for name in names]
    assert len(kinds) >= 15
    for kind in kinds:
        told = hasattr(getattr(bpy.types, kind.identifier), "description") or len(kind.description) > 15
        assert told, kind.identifier
    for kind in [*kinds, *(group.bl_rna for group in properties._registered)]:
        for prop in kind.properties:
            if prop.identifier not in ("rna_type", "name"):
                assert len(prop.description) > 10, (kind.identifier, prop.identifier)
            if prop.type == "ENUM":
                assert all(choice.description for choice in prop.enum_items), prop.identifier


BUTTONS = ["bake", "build_cage", "delete_bake", "show", "make_follow_group", "paint_follow_group"]


@pytest.mark.parametrize("name", BUTTONS)
def test_a_grey_button_says_why(bare: Any, name: str) -> None:
    with pytest.raises(RuntimeError, match="poll.*(setup|no bake)"):
        getattr(bpy.ops.sinew, name)()


def second_arm(arm: Any) -> Any:
    copy = arm.copy()
    copy.data = arm.data.copy()
    copy.name = "Other"
    bpy.context.scene.collection.objects.link(copy)
    return panel_use.add_setup(copy.name)


def test_all_setups_are_baked_and_switched_together(item: Any, arm: Any) -> None:
    other = second_arm(arm)
    assert not bpy.ops.sinew.show_all.poll()
    assert sidebar.waiting(bpy.context.scene) == ["Arm", "Other"]
    assert bpy.ops.sinew.bake_all() == {"FINISHED"}
    state.forget()
    assert sidebar.waiting(bpy.context.scene) == [] and not bpy.ops.sinew.bake_all.poll()
    modifiers: list[Any] = [stack.own_modifier(ob) for ob in (arm, other)]
    for result in (False, True):
        assert bpy.ops.sinew.show_all(result=result) == {"FINISHED"}
        assert [m.show_viewport for m in modifiers] == [m.show_render for m in modifiers] == [result, result]
    assert bpy.ops.sinew.show_all(name="Other", result=False) == {"FINISHED"}
    assert [m.show_viewport for m in modifiers] == [m.show_render for m in modifiers] == [True, False]


def test_a_click_in_the_list_selects(item: Any, arm: Any) -> None:
    other = second_arm(arm)
    layout = draw(sidebar.SINEW_PT_sidebar)
    assert layout is not None and layout.operators.count("sinew.select") == 2
    assert bpy.ops.sinew.select(name="Arm") == {"FINISHED"}
    assert bpy.context.object == arm and arm.select_get() and not other.select_get()
    with pytest.raises(RuntimeError, match="view layer"):
        bpy.ops.sinew.select(name="Nobody")


def test_the_overlay_is_switched_in_the_panel(item: Any) -> None:
    shown = drawn_all().properties
    assert {"show_cage", "show_inside", "cage_shape", "show_weights"} <= set(shown)
    item.show_cage, item.cage_shape = True, view.FITTED
    assert any("need a bake" in line for line in drawn_all().labels)
    results.wait()


def test_frames_that_are_no_frames_are_told_until_they_are_right(item: Any) -> None:
    item.missing_frames = "3, 5-x"
    assert item.missing_frames == "" and '"5-x" names no frames' in " ".join(drawn_all().labels)
    item.missing_frames = "3, 5-6"
    assert item.missing_frames == "3, 5-6" and "names no frames" not in " ".join(drawn_all().labels)
