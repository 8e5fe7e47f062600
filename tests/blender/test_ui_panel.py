"""Every panel in every state, drawn into a layout that takes notes; tooltips, and what is done to all setups."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import bpy
import panel_use
import pytest
import scenes
from fake_layout import Layout, draw
from panel_use import FRAMES
from sinew.core.bake.store import Store
from sinew.core.flesh.settings import Settings
from sinew.scene import setup, stack
from sinew.scene.passengers import bodies
from sinew.ui import job_operator
from sinew.ui.background import results
from sinew.ui.edit import panel as edit
from sinew.ui.enrich import cage, view
from sinew.ui.enrich import panel as flesh
from sinew.ui.setup import bake, collisions, menu, panel, passengers, presets, properties, sidebar, state


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
    further = (*collisions.PANELS, edit.SINEW_PT_edit, passengers.SINEW_PT_passengers, sidebar.SINEW_PT_sidebar)
    for cls in (*panel.CLASSES, *flesh.CLASSES, *further):
        parts = [draw(cls), *([draw(cls, "draw_header")] if hasattr(cls, "draw_header") else [])]
        for part in filter(None, parts):
            whole.labels += part.labels
            whole.alarming += part.alarming
            whole.operators += part.operators
            whole.properties += part.properties
    return whole


def test_without_a_setup_there_are_two_buttons(bare: Any) -> None:
    assert set(drawn_all().operators) == {"sinew.add", "sinew.edit_motion"}
    draw(panel.SINEW_PT_setup, "draw_header_preset")


def test_a_rig_offers_its_meshes(registered: None) -> None:
    scenes.reset_scene()
    scenes.build_dressed_arm(frames=FRAMES)
    rig = bpy.data.objects["Arm"].modifiers[0].object
    bpy.context.view_layer.objects.active = rig
    for cls in (panel.SINEW_PT_setup, sidebar.SINEW_PT_sidebar):
        layout = draw(cls)
        assert layout is not None and layout.operators.count("sinew.add") == len(bodies(rig, bpy.context.scene))
    assert bpy.ops.sinew.add() == {"FINISHED"}
    assert bpy.context.object.name == "Arm", "the body, not its sleeve"
    bpy.context.view_layer.objects.active = rig
    layout = draw(panel.SINEW_PT_setup)
    assert layout is not None and "sinew.select" in layout.operators
    assert bpy.ops.sinew.add(name="Sleeve") == {"FINISHED"} and bpy.context.object.name == "Sleeve"
    bpy.context.view_layer.objects.active = rig
    with pytest.raises(RuntimeError, match="already"):
        bpy.ops.sinew.add(name="Sleeve")


def test_there_is_a_menu_of_the_object(item: Any) -> None:
    assert menu._draw in bpy.types.VIEW3D_MT_object.draw._draw_funcs
    drawn = draw(menu.SINEW_MT_object)
    assert drawn is not None and {"sinew.add", "sinew.bake", "sinew.bake_all", "sinew.remove"} <= set(drawn.operators)


def test_every_setting_is_in_the_panel_once(item: Any) -> None:
    shown = drawn_all().properties
    for name in set(Settings().as_dict()) - {"edits"}:  # its handles are rows of a list
        is_worded = Settings.find(name).zero and getattr(item, name) == 0
        assert shown.count(f"zero_{name}" if is_worded else name) == 1, name
    item.object.shape_key_add(name="Basis")
    assert drawn_all().properties.count("safe_shape_key") == 1
    layout = draw(panel.SINEW_PT_setup)
    assert layout is not None
    assert layout.properties == ["jiggle", "settle", "amount", "keep_pose", "resolution", "zero_resolution"]
    item.resolution = 0
    layout = draw(panel.SINEW_PT_setup)
    assert layout is not None and layout.properties[-2:] == ["keep_pose", "zero_resolution"]


def test_words_are_an_artists_and_no_two_buttons_have_one_name(item: Any) -> None:
    for name in Settings().as_dict():
        label = properties.label(name)
        assert label and "_" not in label, name
    follow = draw(flesh.SINEW_PT_follow)
    assert follow is not None and follow.properties[:2] == ["follow_group", "balance"]
    assert bpy.ops.sinew.preview.get_rna_type().name != bpy.ops.sinew.preview_spread.get_rna_type().name


def test_numbers_have_units_steps_and_a_word_for_nought(item: Any) -> None:
    known = type(item).bl_rna.properties
    names = [known[name].name for name in ("jiggle", "settle", "density")]
    assert names == ["Jiggle (Hz)", "Settle (s)", "Density (kg/m³)"]
    for one in Settings.all().values():
        if one.kind != "float":
            continue
        step = known[one.name].step / 100.0
        low, high = known[one.name].soft_min, known[one.name].soft_max
        assert step == pytest.approx(one.step, rel=1e-5) and 10 < (high - low) / step < 60, (one.name, step, low, high)
        assert round(step, known[one.name].precision) > 0, f"a click on {one.name} would not show"
    for name, word in {"resolution": "Auto", "substeps": "Auto", "maximum_offset": "No Limit"}.items():
        setattr(item, f"zero_{name}", True)
        assert getattr(item, name) == 0 and known[f"zero_{name}"].name.endswith(word)
        setattr(item, f"zero_{name}", False)
        assert getattr(item, name) == pytest.approx(Settings.find(name).begin) and not getattr(item, f"zero_{name}")


def test_words_that_nobody_understood_are_gone(item: Any) -> None:
    item.follow_after = 0.5
    drawn = drawn_all()
    names = [properties.label(name) for name in Settings().as_dict()]
    names += [cls.bl_label for cls in (*panel.CLASSES, *flesh.CLASSES, *collisions.PANELS)]
    names += [getattr(bpy.ops.sinew, name).get_rna_type().name for name in dir(bpy.ops.sinew) if name[0] != "_"]
    for word in ("Follow After", "Make One", "Over Time", "Passenger", "on Average", "Balance", "Transition"):
        assert not any(word in name for name in [*names, *drawn.labels]), word


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
    assert any(line.startswith(f"Sampling: 1 of {FRAMES} frames") for line in layout.labels)
    job_operator.stop("Stopped.")
    assert any(line.startswith("Stopped") for line in drawn_all().labels)


def place_of(*buttons: str, width: int = 300) -> int:
    """How many lines are drawn above a button, which is one of these."""
    layout = draw(panel.SINEW_PT_setup, width=width)
    assert layout is not None
    lines = [name for name in layout.drawn if name != "sinew.tell"]  # it stands at the end of another line
    return next(number for number, name in enumerate(lines) if name in buttons)


@pytest.mark.parametrize("width", [220, 300, 500])
def test_the_buttons_stay_where_they_are_whatever_the_panel_says(item: Any, width: int) -> None:
    state.forget()
    places = [place_of("sinew.bake", width=width)]
    work = bake.BakeWork("Arm", state.target())
    job_operator.running.work, job_operator.running.sampling = work, True
    for _ in range(5):
        work.step()
    places += [place_of("sinew.cancel", width=width), place_of("sinew.preview", width=width)]
    job_operator.stop("Stopped.")
    told = "A message that is so long that it needs more lines than the box has, in the narrow panel of a small screen."
    job_operator.tell_failure("Arm", told)
    draws_more = draw(panel.SINEW_PT_setup, width=width)
    assert draws_more is not None and ("sinew.tell" in draws_more.operators) == (width < 500)
    bpy.ops.sinew.bake()
    places += [place_of("sinew.bake", width=width), place_of("sinew.preview", width=width)]
    item.jiggle = 6.0
    places.append(place_of("sinew.bake", width=width))
    job_operator.tell_failure("Arm", "Something is wrong with it.")
    places.append(place_of("sinew.bake", width=width))
    assert places == [places[0], places[0], places[0] + 1, places[0], places[0] + 1, places[0], places[0]]
    assert bpy.ops.sinew.tell(text="All of it.") == {"FINISHED"}


def test_what_is_wrong_is_said_in_an_alarming_colour(item: Any, arm: Any) -> None:
    bpy.ops.sinew.bake()
    assert drawn_all().alarming == []
    item.jiggle = 6.0
    assert drawn_all().alarming == ["Jiggle has changed: bake again"]
    job_operator.tell_failure("Arm", "Something is wrong with it.")
    assert "Something is wrong with it." in drawn_all().alarming
    Path(bpy.path.abspath(arm.modifiers["Sinew"].filepath)).unlink()
    assert any("missing" in line for line in drawn_all().alarming)


@pytest.mark.parametrize("samples", [1, 2])
def test_an_unfinished_bake_says_how_many_frames_it_has(item: Any, unhurried: None, samples: int) -> None:
    bpy.context.scene.frame_end = 40
    item.resolution, item.samples, item.preroll = 14, str(samples), 2
    work = panel_use.sampled_work()
    panel_use.wait_for(lambda: work.job.progress[0] == "Baking" and work.job.progress[1] > 3 * samples)
    assert re.fullmatch(r"Baking: \d+ of 40 frames(, .* left)?", job_operator.progress()[1]), job_operator.progress()
    panel_use.wait_for(lambda: stack.own_modifier(bpy.context.object) is not None)
    bpy.ops.sinew.cancel()
    assert job_operator.wait_until_over(60)
    done = re.match(r"(\d+) of 40 frames: Bake continues", panel_use.state_now().text)
    assert done is not None, panel_use.state_now()
    entry = setup.find_of(bpy.context.object, bpy.context.scene)
    with Store.open(state.target().root, entry.bake) as store:
        finished = sum(mark is not None for mark in store.marks[2 * samples :: samples])  # without the preroll
    assert int(done[1]) == finished and 0 < finished < 40


def test_sentences_fit_a_narrow_editor(item: Any) -> None:
    item.follow_group = "No such group, whatever its very long name may be good for"
    with pytest.raises(RuntimeError):
        bpy.ops.sinew.bake()
    layout = draw(panel.SINEW_PT_setup, width=300)
    assert layout is not None and max(len(line) for line in layout.labels) <= 40


def test_presets_are_drawn(item: Any) -> None:
    layout = draw(presets.SINEW_PT_presets)
    assert layout is not None
    assert [label for label in layout.labels if label in ("Looks", "Materials")] == ["Looks", "Materials"]
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
