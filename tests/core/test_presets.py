from __future__ import annotations

import pytest
from sinew.core import presets
from sinew.core.errors import BadInput
from sinew.core.settings import Settings


def test_materials_and_artist_presets_are_there_and_valid() -> None:
    known = presets.load_all()
    physical = {"flesh", "fat", "muscle", "rubber", "jelly"}
    artist = {"subtle", "natural", "heavy", "cartoon", "bouncy"}
    assert physical | artist <= set(known)
    for name, preset in known.items():
        settings = Settings().replace(preset.values)
        assert preset.description
        assert (settings.young > 0) == (name in physical)


def test_physical_presets_name_their_units() -> None:
    folder = next(folder for folder in presets._FOLDERS if folder.is_dir())
    for name in ("flesh", "fat", "muscle", "rubber", "jelly"):
        text = (folder / f"{name}.toml").read_text()
        assert all(unit in text for unit in ("# Pa", "# kg/m3", "# 1/s", "# s"))


def test_a_wrong_name_is_answered_with_the_closest() -> None:
    with pytest.raises(BadInput, match='did you mean "jelly"'):
        presets.load("jely")


@pytest.mark.parametrize("text", ["x = [", 'description = "a"', 'description = "a"\n[settings]\nyung = 1.0'])
def test_a_damaged_preset_is_named(tmp_path, monkeypatch, text: str) -> None:
    (tmp_path / "odd.toml").write_text(text)
    monkeypatch.setattr(presets, "_FOLDERS", (tmp_path,))
    with pytest.raises(BadInput):
        presets.load("odd")
