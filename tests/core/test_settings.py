from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from sinew.core.base.errors import BadInput
from sinew.core.methods.enrich.settings import Settings, describe, values_from_text


def test_defaults_are_valid_and_none_counts_as_changed() -> None:
    assert Settings().changed() == {}
    assert Settings().resolution == 0 and Settings().jiggle == 3.0 and Settings().settle == 0.7


def test_text_becomes_values_of_the_right_type() -> None:
    pairs = ["resolution=30", "jiggle=2", "detail=off", "gravity=0,0,-1.6", "rest_frame=none", "follow_group=a b"]
    settings = Settings().replace(values_from_text(pairs))
    assert settings.resolution == 30 and settings.jiggle == 2.0 and isinstance(settings.jiggle, float)
    assert settings.detail is False and settings.gravity == (0.0, 0.0, -1.6) and settings.follow_group == "a b"


def test_a_wrong_key_names_the_closest() -> None:
    with pytest.raises(BadInput, match='"jigle".*"jiggle"'):
        values_from_text(["jigle=3"])
    with pytest.raises(BadInput, match='did you mean "resolution"'):
        Settings().replace({"resolutions": 3})


@pytest.mark.parametrize(
    "pair",
    [
        "resolution=-1", "resolution=257", "resolution=2.5", "resolution=many", "jiggle=nan", "jiggle=inf", "jiggle=-1",
        "samples=3", "energy=rubber", "detail=maybe", "gravity=1,2", "gravity=1,2,inf", "keep_pose=1.1", "poisson=0.5",
        "rest_frame=1.5", "substeps=65", "jiggle=", "jiggle=1e400", "resolution=" + "9" * 400,
    ],
)  # fmt: skip
def test_a_wrong_value_is_answered_with_the_key_and_its_range(pair: str) -> None:
    with pytest.raises(BadInput, match=pair.split("=")[0]):
        Settings().replace(values_from_text([pair]))


def test_a_pair_without_equals_sign_says_how_to_write_it() -> None:
    with pytest.raises(BadInput, match="key=value"):
        values_from_text(["jiggle"])


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(BadInput, match="empty"):
        Settings(frame_start=10, frame_end=9)


def test_changed_values_survive_json_and_back() -> None:
    settings = Settings(gravity=(0.0, 1.0, 2.0), jiggle=5.0, detail=False, frame_start=3)
    assert Settings().replace(settings.changed()) == settings
    assert set(settings.changed()) == {"gravity", "jiggle", "detail", "frame_start"}


def test_every_setting_is_described() -> None:
    text = describe()
    for field, line in zip(dataclasses.fields(Settings), text, strict=True):
        assert line.startswith(field.name + "=")
        assert len(field.metadata["description"]) > 10


def test_every_setting_is_in_the_readme() -> None:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text()
    assert not [field.name for field in dataclasses.fields(Settings) if f"`{field.name}`" not in readme]
