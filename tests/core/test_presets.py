from __future__ import annotations

import pytest
from sinew.core.bake.method import find
from sinew.core.base.errors import BadInput
from sinew.core.flesh.settings import Settings
from sinew.core.methods import presets


def test_materials_and_artist_presets_are_there_and_valid() -> None:
    known = presets.load_all()
    physical = {"flesh", "fat", "muscle", "rubber", "jelly"}
    artist = {"subtle", "natural", "heavy", "cartoon", "bouncy"}
    assert physical | artist <= set(known)
    for name, preset in known.items():
        settings = find(preset.method).settings().replace(preset.values)
        assert preset.description
        assert settings.is_material == preset.is_material
        assert preset.is_material == (name in physical or preset.method == "tracks")


def test_physical_presets_name_their_units() -> None:
    folder = next(folder for folder in presets._FOLDERS if folder.is_dir())
    for name in ("flesh", "fat", "muscle", "rubber", "jelly"):
        text = (folder / f"{name}.toml").read_text()
        assert all(unit in text for unit in ("# Pa", "# kg/m3", "# 1/s", "# s"))


def test_a_wrong_name_is_answered_with_the_closest() -> None:
    with pytest.raises(BadInput, match='did you mean "jelly"'):
        presets.load("jely")


def test_a_preset_says_everything_about_the_look_and_nothing_else() -> None:
    for preset in presets.load_all().values():
        look = find(preset.method).settings().look()
        assert set(preset.values) == set(look)
        assert not {"resolution", "follow_group", "frame_start", "frame_end", "samples", "rest_frame"} & set(look)


def test_own_presets_come_back_as_they_were_kept(tmp_path) -> None:
    settings = Settings(jiggle=1.0 / 3.0, young=12345.678, maximum_offset=0.1)
    kept = presets.save_own(tmp_path / "new", "Wörks 100 %", settings)
    assert presets.load_own(tmp_path / "new") == {kept.name: kept}
    assert Settings().replace(kept.values) == settings and kept.label == "Wörks 100 %"
    (tmp_path / "new" / "broken.toml").write_text("x = [")
    assert list(presets.load_own(tmp_path / "new")) == [kept.name]
    presets.remove_own(tmp_path / "new", kept.name)
    assert presets.load_own(tmp_path / "new") == {}


def test_only_presets_can_be_removed(tmp_path) -> None:
    (tmp_path / "precious.toml").write_text("")
    (tmp_path / "presets").mkdir()
    with pytest.raises(BadInput):
        presets.remove_own(tmp_path / "presets", "../precious")
    assert (tmp_path / "precious.toml").exists()


@pytest.mark.parametrize("text", ["x = [", 'description = "a"', 'description = "a"\n[settings]\nyung = 1.0',
    'description = "a"\n[settings]\nresolution = 12'])
def test_a_damaged_preset_is_named(tmp_path, monkeypatch, text: str) -> None:
    (tmp_path / "odd.toml").write_text(text)
    monkeypatch.setattr(presets, "_FOLDERS", (tmp_path,))
    with pytest.raises(BadInput):
        presets.load("odd")
