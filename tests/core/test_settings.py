from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from sinew.core.bake.collisions import CollisionSettings
from sinew.core.bake.method import known
from sinew.core.bake.remake import stored_shot
from sinew.core.bake.settings import BakeSettings
from sinew.core.bake.shot import stored_sample
from sinew.core.bake.solver import SolverSettings
from sinew.core.bake.store import Store
from sinew.core.base.errors import BadInput
from sinew.core.base.settings import (
    ALWAYS,
    BODY,
    CHANGED,
    DATA,
    RANGE,
    RESULT,
    SHAPE_KEY,
    SIMULATION,
    UV_MAP,
    VERTEX_GROUP,
    BaseSettings,
    _declared,
    setting,
)
from sinew.core.flesh.settings import Settings


def test_defaults_are_valid_and_none_counts_as_changed() -> None:
    assert Settings().changed() == {}
    assert Settings().resolution == 0 and Settings().jiggle == 3.0 and Settings().settle == 0.7


def test_text_becomes_values_of_the_right_type() -> None:
    pairs = ["resolution=30", "jiggle=2", "detail=off", "gravity=0,0,-1.6", "rest_frame=none", "follow_group=a b"]
    settings = Settings().replace(Settings.parse(pairs))
    assert settings.resolution == 30 and settings.jiggle == 2.0 and isinstance(settings.jiggle, float)
    assert settings.detail is False and settings.gravity == (0.0, 0.0, -1.6) and settings.follow_group == "a b"


def test_a_wrong_key_names_the_closest() -> None:
    with pytest.raises(BadInput, match='"jigle".*"jiggle"'):
        Settings.parse(["jigle=3"])
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
        Settings().replace(Settings.parse([pair]))


def test_a_pair_without_equals_sign_says_how_to_write_it() -> None:
    with pytest.raises(BadInput, match="key=value"):
        Settings.parse(["jiggle"])


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(BadInput, match="empty"):
        Settings(frame_start=10, frame_end=9)


@dataclasses.dataclass(frozen=True)
class OwnSettings(BakeSettings):
    lag: float = setting(0.5, "How far it trails", low=0.0, high=1.0)


def test_a_methods_settings_have_those_of_every_bake_and_their_checks() -> None:
    every = BakeSettings.all()
    assert list(OwnSettings.all()) == ["lag", *every]
    assert all(Settings.find(name) == one == OwnSettings.find(name) for name, one in every.items())
    with pytest.raises(BadInput, match="empty"):
        OwnSettings(frame_start=10, frame_end=9)
    with pytest.raises(BadInput, match="frames"):
        OwnSettings(missing_frames="x")


def test_what_names_something_of_the_object_says_what() -> None:
    found = {name: one.names for method in known() for name, one in method.settings.all().items()}
    by_suffix = {"_group": VERTEX_GROUP, "_key": SHAPE_KEY, "_map": UV_MAP}
    named = {name: kind for name in found for suffix, kind in by_suffix.items() if name.endswith(suffix)}
    assert {name: kind for name, kind in found.items() if kind} == named and len(named) >= 20
    assert all(one.kind == "str" for method in known() for one in method.settings.all().values() if one.names)


def test_a_setting_of_another_class_keeps_all_but_how_it_counts() -> None:
    for owner, name in ((BakeSettings, "amount"), (SolverSettings, "scheme")):
        mine, theirs = Settings.find(name), _declared(owner)[name]
        assert dataclasses.replace(mine, counts=theirs.counts) == theirs
    assert Settings.find("scheme").counts == ALWAYS and _declared(SolverSettings)["scheme"].counts == CHANGED


def test_changed_values_survive_json_and_back() -> None:
    settings = Settings(gravity=(0.0, 1.0, 2.0), jiggle=5.0, detail=False, frame_start=3)
    assert Settings().replace(settings.changed()) == settings
    assert set(settings.changed()) == {"gravity", "jiggle", "detail", "frame_start"}


def test_every_setting_is_described() -> None:
    declared = dict.fromkeys([*Settings.__annotations__, *CollisionSettings.__annotations__])
    assert list(Settings.all()) == [name for name in declared if name in Settings.all()]  # the order of hashes
    assert set(Settings.all()) == {field.name for field in dataclasses.fields(Settings)}
    for name, one in Settings.all().items():
        assert one.line.startswith(f"{name}=") and one.description in one.line
        assert len(one.description) > 10 and one.label and bool(one.own) == one.is_optional


def test_every_setting_is_in_the_reference() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference.md").read_text()
    for method in known():
        assert not [name for name in method.settings.all() if f"`{name}`" not in page], method.name


OLDER = Path(__file__).resolve().parents[1] / "data" / "schema_3" / "sinew"


def test_the_hashes_of_bakes_that_were_made_before_hold() -> None:
    """A setting that such bakes do not know must be declared with counts=CHANGED, and none may leave the hashes. The
    identity is that of the present way to hash: this bake's own is of a way before."""
    (bake,) = (folder.name for folder in OLDER.iterdir())
    with Store.open(OLDER, bake) as store:
        manifest = store.manifest
        shot = stored_shot(store, Settings().replace(manifest.settings), None)
        shot = dataclasses.replace(shot, gravity=(0.0, 0.0, float(np.float32(-9.81))))
        assert shot.identity() == "ca2898e22c8432f4c6a988753061c484" != manifest.identity
        for index, mark in enumerate(store.marks):
            assert mark is not None and shot.result_key(stored_sample(store, index)) == mark.result
        other = dataclasses.replace(shot, settings=shot.settings.replace({"jiggle": 4.0, "amount": 0.5}))
        assert other.identity() != shot.identity()
        assert other.result_key(stored_sample(store, 0)) != store.marks[0].result


@dataclasses.dataclass(frozen=True)
class _Some(BaseSettings):
    first: float = setting(1.0, "One that was always there", low=0.0, high=9.0, belongs=BODY, look=True)
    later: float = setting(0.5, "One that older bakes do not know", low=0.0, high=1.0, counts=CHANGED, label="After")
    group: str = setting("", "A vertex group", counts=DATA)
    shown: bool = setting(True, "Part of the result", belongs=RESULT)
    range: int | None = setting(None, "A frame", low=0, high=9, belongs=RANGE, own="A frame of its own")


def test_what_a_setting_belongs_to_decides_where_it_counts() -> None:
    some = _Some(group="here", range=3)
    assert some.hashed(BODY, SIMULATION) == {"first": 1.0} and some.hashed(RESULT) == {"shown": True}
    assert some.replace({"later": 0.6}).hashed(BODY, SIMULATION) == {"first": 1.0, "later": 0.6}
    assert some.part(RESULT) == {"shown": True} and some.part(RANGE) == {"range": 3} and some.look() == {"first": 1.0}
    assert [one.label for one in some.all().values()] == ["First", "After", "Group", "Shown", "Range"]


def test_what_an_older_bake_does_not_know_differs_only_from_its_default() -> None:
    stored = {"first": 1.0, "group": "here", "gone": 3}
    assert [one.name for one in _Some().differing(stored)] == ["group"]
    assert [one.name for one in _Some(later=0.6, group="here").differing(stored)] == ["later"]
