"""Where bakes lie: the folder is chosen, measured and cleaned up, and a lost one is named. Preferences and manual."""

from __future__ import annotations

import fnmatch
import html
import re
import shutil
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from fake_layout import draw
from inside import load, save, shown_at
from panel_use import item, state_now
from sinew import setups
from sinew.core.base.native import module
from sinew.scene import file, playback, setup
from sinew.ui import manual, preferences
from sinew.ui.background import results
from sinew.ui.setup import cache, saving, state

ROOT = Path(__file__).resolve().parents[2]


def bake_folder() -> Path:
    entry = setup.find_of(bpy.context.object, bpy.context.scene)
    assert entry is not None
    path = playback.cache_path(bpy.context.object)
    assert path is not None and path.parent.name == entry.bake
    return path.parent


def bake_ids(root: Path) -> set[str]:
    return {path.name for path in root.iterdir() if path.is_dir()} if root.is_dir() else set()


@pytest.mark.parametrize("chosen", ["//cache/flesh", "absolute"])
def test_bakes_lie_where_the_scene_says(arm: Any, tmp_path: Path, chosen: str) -> None:
    is_absolute = chosen == "absolute"
    bpy.context.scene.sinew.folder = str(tmp_path / "far" / "away") if is_absolute else chosen
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    root = bake_folder().parent
    if is_absolute:
        assert root.parent == tmp_path / "far" / "away" and root.name.startswith("arm-"), "each file has its own"
        assert arm.modifiers["Sinew"].filepath.startswith(str(tmp_path))
    else:
        assert root == tmp_path / "cache" / "flesh" and arm.modifiers["Sinew"].filepath.startswith("//cache")
    assert not (tmp_path / "sinew").exists() and state_now().kind == state.BAKED
    baked = shown_at(arm, 7)
    save(tmp_path / "arm.blend")
    load(tmp_path / "arm.blend")
    arm = bpy.data.objects["Arm"]
    bpy.context.view_layer.objects.active = arm
    assert np.array_equal(shown_at(arm, 7), baked) and state_now().kind == state.BAKED
    assert setups.check_object(next(setups.setups()), state.target()) is None  # the command finds it too
    bpy.context.scene.sinew.folder = ""
    assert state_now().kind == state.BAKED, "what is there plays where it is"
    item().jiggle = 5.0
    bpy.ops.sinew.bake()
    assert bake_folder().parent == tmp_path / "sinew"


def test_a_bake_that_another_version_of_the_file_plays_is_not_deleted(arm: Any, tmp_path: Path) -> None:
    bpy.context.scene.sinew.folder = "//cache"
    bpy.ops.sinew.bake()
    first = bake_folder()
    save(tmp_path / "arm.blend")
    save(tmp_path / "arm_v2.blend")
    load(tmp_path / "arm.blend")
    bpy.context.view_layer.objects.active = bpy.data.objects["Arm"]
    item().jiggle = 5.0
    bpy.ops.sinew.bake()
    saving.recent.clear()
    save(tmp_path / "arm.blend")
    assert first.is_dir() and bake_folder().is_dir() and bake_folder() != first


def test_the_panel_measures_and_cleans_up(arm: Any) -> None:
    for jiggle in (3.0, 4.0, 5.0):
        item().jiggle = jiggle
        bpy.ops.sinew.bake()
    played = bake_folder()
    (played.parent / "notes.txt").write_text("mine")
    root, idle = played.parent, bake_ids(played.parent) - {played.name}
    assert len(idle) >= 1

    def told() -> str:
        draw(cache.SINEW_PT_cache)
        results.wait()
        layout = draw(cache.SINEW_PT_cache)
        assert layout is not None and {"sinew.open_folder", "sinew.clean_up"} <= set(layout.operators)
        return " ".join(layout.labels)

    assert f"{len(idle) + 1} bakes, " in told() and f"{len(idle)} bake" in told() and "not played" in told()
    files = [path for one in bake_ids(root) for path in (root / one).iterdir()]
    sizes = {path.stat().st_ino: 512 * path.stat().st_blocks for path in files}
    assert sum(cache.folders.disk_use(root).values()) == sum(sizes.values()), "what two share is counted once"
    assert bpy.ops.sinew.clean_up() == {"FINISHED"}
    assert bake_ids(root) == {played.name} and (root / "notes.txt").is_file()
    assert "1 bake, " in told() and "not played" not in told()
    assert bpy.ops.sinew.clean_up() == {"FINISHED"} and state_now().kind == state.BAKED


def test_a_lost_bake_is_named_where_it_is_looked_for(arm: Any, tmp_path: Path) -> None:
    bpy.ops.sinew.bake()
    folder = bake_folder()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    save(tmp_path / "arm.blend")
    save(elsewhere / "arm.blend")  # the bake stays where it is
    shutil.move(folder, tmp_path / "gone")
    told = state_now()
    assert told.kind == state.LOST and "The bake folder is missing" in told.text and str(folder) in told.text, told
    assert str(elsewhere) not in told.text


def test_preferences_are_used(arm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = type("Chosen", (), {"threads": 3, "folder": str(tmp_path / "all")})
    counts: list[int] = []

    class Addons:
        def get(self, name: str) -> Any:
            assert name == preferences.PACKAGE == "sinew"
            return type("Addon", (), {"preferences": chosen})

    class Native:
        set_threads = staticmethod(counts.append)

    monkeypatch.setattr(preferences.native, "module", Native)
    fake = type("Context", (), {"preferences": type("Preferences", (), {"addons": Addons()})})
    monkeypatch.setattr(preferences.bpy, "context", fake)
    preferences.use()
    monkeypatch.undo()
    assert counts == [3] and file.default_folder == str(tmp_path / "all")
    assert bpy.ops.sinew.bake() == {"FINISHED"} and bake_folder().parent.parent == tmp_path / "all"
    bpy.context.scene.sinew.folder = "//mine"
    assert state.target().root == tmp_path / "mine", "a scene's own goes before"
    preferences.use()
    assert file.default_folder == ""
    shown = preferences.SINEW_AddonPreferences.bl_rna.properties
    assert all(len(shown[name].description) > 20 for name in ("threads", "folder"))
    assert module.set_threads(0) is None


def test_f1_opens_a_section_that_is_there(registered: None) -> None:
    assert manual.manual_map in bpy.utils._manual_map  # type: ignore[attr-defined]
    prefix, sections = manual.manual_map()
    pages = {path.name: path.read_text() for path in manual.FOLDER.glob("*.html")}
    assert prefix.startswith("file://") and manual.PAGE in pages
    assert "<table>" in pages["faq.html"] and "<img src=" in pages["painting.html"]
    assert not any("**" in page or "](" in page for page in pages.values())
    for _, address in sections:
        name, _, section = address.partition("#")
        assert f'id="{section}"' in pages[name], address
    wanted = {
        "bpy.ops.sinew.bake": "first-bake.html#the-first-bake",
        "bpy.ops.sinew.paint_follow_group": "painting.html#the-follow-group",
        "bpy.types.sinew_pg_setup.jiggle": "reference.html#reference-every-setting",
        "bpy.ops.sinew.edit_motion": "edit.html#in-the-window",
        "bpy.ops.sinew.find_face": "face.html#what-it-finds-by-itself",
    }
    for thing, address in wanted.items():
        assert next(end for pattern, end in sections if fnmatch.fnmatch(thing, pattern)) == address
    # Every page for artists is among them, whole: code is code, also where a line of it is empty.
    row = next(line for line in (ROOT / "docs/tuning.md").read_text().splitlines() if line.startswith("[First bake]"))
    assert {f"{name}.html" for name in re.findall(r"\(([a-z-]+)\.md\)", row)} - {"gallery.html"} <= set(pages)
    code = html.unescape(pages["edit.html"].partition("<pre>import dataclasses")[2].partition("</pre>")[0])
    assert "import EditedFrames\n\nedited = " in code and not any("```" in page for page in pages.values())
    for page in pages.values():
        for picture in set(re.findall(r'src="([^"]+)"', page)):
            assert (manual.FOLDER / picture).is_file()
        for link in set(re.findall(r'href="([^"#]+)', page)):
            assert "://" in link or link in pages
    assert bpy.ops.sinew.open_manual() == {"FINISHED"}
