"""A cage built in a safe pose: parts that touch at rest have tets of their own, whatever the mesher."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import near_meshes
import numpy as np
import pytest
from bodies import rotation
from shots import make_shot
from sinew.core.bake.run import bake
from sinew.core.bake.shot import Sample, Shot
from sinew.core.bake.store import Store
from sinew.core.base.errors import BadInput, Cancelled
from sinew.core.cage import safe as safes
from sinew.core.cage.cage import Cage
from sinew.core.cage.gmsh import tets as measures
from sinew.core.cage.safe import make_cage, measure_filling
from sinew.core.cage.welds import find_welds
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings

pytestmark = pytest.mark.once

Body = tuple[near_meshes.Posed, np.ndarray]


def fingers(count: int) -> Body:
    """Opened, they are a fan; the safe pose has them side by side, with wide gaps."""
    return near_meshes.hand(0.0, count), near_meshes.hand(8.0, count)[0]


def mouth() -> Body:
    return near_meshes.mouth(), near_meshes.mouth(8.0)[0]


def legs() -> Body:
    body = near_meshes.crossed_legs()
    return body, body[2]


BODIES: dict[str, tuple[Callable[[], Body], int]] = {
    "two fingers": (lambda: fingers(2), 16),
    "five fingers": (lambda: fingers(5), 16),
    "closed mouth": (mouth, 12),
    "crossed legs": (legs, 24),
}
CASES = [(name, mesher) for name in BODIES for mesher in ("lattice", "gmsh")]


def fit_error(body: near_meshes.Posed, settings: Settings, cage: Cage | None = None) -> float:
    """Of the opened pose with the detail off: largest distance, as a fraction of size."""
    rest, triangles, opened = body
    enricher = Enricher(rest, triangles, None, settings.replace({"simulate": False}), cage=cage)
    guess = None
    for step in np.linspace(0.0, 1.0, 6):
        fit = enricher.fit(rest + step * (opened - rest), guess)
        guess = fit.positions
    return fit.max / enricher.size


@pytest.mark.parametrize(("name", "mesher"), CASES)
def test_near_parts_move_apart_as_freely_as_separate_ones(name: str, mesher: str) -> None:
    make, resolution = BODIES[name]
    body, safe = make()
    rest, triangles, opened = body
    settings = Settings(resolution=resolution, separate_parts=False, mesher=mesher)
    moved = safe @ rotation((1, 2, 3), 1.0).T + (5.0, -2.0, 1.0)  # where the body happens to be on that frame
    cage = make_cage(rest, triangles, settings, moved)
    assert cage.note == "" and cage.safe_vertices is not None
    # Sound, and at rest it carries the mesh exactly.
    assert measures.volumes(cage.vertices, cage.tets).min() > 0.0
    assert cage.min_dihedral > 8.0
    assert np.abs(cage.interpolate(cage.vertices) - rest).max() < 1e-9
    separate = fit_error(body, settings.replace({"separate_parts": True, "mesher": "lattice"}))
    welded = fit_error(body, settings.replace({"mesher": "lattice"}))
    free = fit_error(body, settings, cage)
    assert free < 1.6 * separate and free < 0.2 * welded, (free, separate, welded)
    assert find_welds(cage, rest, triangles, [opened]) == []


def test_weights_of_one_return_the_input_and_flesh_swings() -> None:
    (rest, triangles, opened), safe = legs()
    frames = [rest + step * (opened - rest) for step in (0.0, 0.1, 0.6, 0.2, 1.0)]
    settings = Settings(resolution=12, separate_parts=False)
    for weight in (1.0, 0.0):
        follow = np.where(rest[:, 2] > 0.9, 1.0, weight)
        enricher = Enricher(rest, triangles, follow, settings, safe=safe)
        fits = [enricher.fit(frame).positions for frame in frames]
        state = enricher.begin(fits[0], fits[1])
        window = [None, *fits, None]
        for index in range(1, 5):
            state, _ = enricher.advance(state, tuple(window[index - 1 : index + 3]))
        shown = enricher.surface(fits[-1], state.positions, frames[-1])
        off = np.abs(shown - opened).max()
        assert off < 1e-9 if weight == 1.0 else 0.01 < off < 1.0, off


def test_a_tet_is_filled_as_in_the_safe_pose() -> None:
    """Two legs through each other at rest: what each fills of its own tets is what it fills when they hang."""
    (rest, triangles, opened), safe = legs()
    settings = Settings(resolution=16, separate_parts=False)
    cage = make_cage(rest, triangles, settings, safe)
    hanging = make_cage(opened, triangles, settings.replace({"separate_parts": True}))
    fill, thickness = measure_filling(cage, rest, triangles, safe)
    filled = float((fill * measures.volumes(cage.vertices, cage.tets)).sum())
    expected = float(
        (hanging.filling(opened, triangles)[0] * measures.volumes(hanging.vertices, hanging.tets)).sum()
    )
    assert filled == pytest.approx(expected, rel=0.1)
    assert np.median(thickness) == pytest.approx(0.18, rel=0.35)


def test_a_hopeless_safe_pose_is_said_and_the_cage_is_built_at_rest() -> None:
    (rest, triangles, _), _ = legs()
    crumpled = np.random.default_rng(1).permutation(rest)
    settings = Settings(resolution=6, separate_parts=False)
    cage = make_cage(rest, triangles, settings, crumpled)
    assert "safe pose" in cage.note and cage.safe_vertices is None
    assert np.array_equal(cage.vertices, make_cage(rest, triangles, settings).vertices)
    with pytest.raises(BadInput, match="safe pose"):
        make_cage(rest, triangles, settings, crumpled[1:])


def test_flat_tets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (rest, triangles, _), safe = fingers(2)
    monkeypatch.setattr(safes, "LEAST_ANGLE", 89.0)
    assert "safe pose" in make_cage(rest, triangles, Settings(resolution=8), safe).note


def shot_of(frames: int) -> tuple[Shot, Callable[[int], list[Sample]]]:
    (rest, triangles, opened), safe = legs()
    follow = (rest[:, 2] > 0.9).astype(float)
    settings = Settings(resolution=8, separate_parts=False)
    shot = make_shot(rest, triangles, follow, frames, settings=settings, safe=safe)

    def samples(count: int) -> list[Sample]:
        poses = [rest + step * (opened - rest) for step in np.linspace(0.0, 1.0, frames)]
        return [Sample(i, pose.astype(np.float32), np.eye(4)) for i, pose in enumerate(poses[:count])]

    return shot, samples


def test_a_resumed_bake_has_the_same_bits(tmp_path: Path) -> None:
    shot, samples = shot_of(6)
    through = bake(shot, samples(6), tmp_path / "through")

    def broken_off() -> list[Sample]:
        yield from samples(4)
        raise KeyboardInterrupt

    with pytest.raises((Cancelled, KeyboardInterrupt)):
        bake(shot, broken_off(), tmp_path / "broken")
    resumed = bake(shot, samples(6), tmp_path / "broken")
    for name in ("result.pc2", "simulated.f64", "fitted.f64", "cage_safe.f64"):
        assert (through.folder / name).read_bytes() == (resumed.folder / name).read_bytes()
    with Store.open(tmp_path / "broken", resumed.id) as store:
        assert store.manifest.counts["safe"] == 1


def test_another_safe_pose_is_another_bake() -> None:
    shot, _ = shot_of(3)
    assert shot.painted.safe is not None
    (rest, *_), _ = legs()
    follow, safe = shot.painted.follow, 1.01 * shot.painted.safe
    other = make_shot(rest, shot.triangles, follow, 3, settings=shot.settings, safe=safe)
    none = make_shot(rest, shot.triangles, follow, 3, settings=shot.settings)
    assert len({shot.identity(), other.identity(), none.identity()}) == 3
