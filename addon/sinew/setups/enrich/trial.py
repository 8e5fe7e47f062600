"""What a trial fit needs of the scene: the body at rest, and the most different of some frames. Nothing is baked."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ...core.cage.welds import Labels
from ...core.flesh import trial
from ...core.flesh.settings import Settings
from ...core.geometry.poses import candidates, most_different
from ...core.paint.parts import Parts
from ...scene import setup
from ...scene.objects import find_object
from ...scene.steps import Steps, finished
from ..flesh.body import Body, follow_group, parts_in_steps, spread_from_inside, unpainted
from ..reading import sampler_of
from ..target import sentences


@dataclasses.dataclass(frozen=True)
class TrialInput:
    body: Body
    parts: Parts | None
    labels: Labels | None
    frames: list[tuple[int, Any]]  # each with the vertices (t, 3), world metres


def trial_in_steps(name: str, values: dict[str, Any]) -> Steps[TrialInput]:
    """One frame a step; afterwards, and when it is closed, the scene is as it was."""
    with sentences():
        ob = find_object(name)
        settings = Settings().replace(values)
        group = follow_group(ob, settings)
        with sampler_of(ob, settings) as sampler:
            rest = yield from sampler.rest_in_steps()
            weights = (yield from sampler.group_in_steps(group, unpainted(settings))) if group else None
            inside = spread_from_inside(rest, settings)
            painted = yield from parts_in_steps(sampler, rest, settings)
            parts: Parts | None = painted.get("parts")
            frames = []
            for frame in candidates(sampler.frame_start, sampler.frame_end, sampler.missing):
                frames.append((frame, sampler.placed_at(frame)))
                yield
    seen = np.ones(len(rest.positions), bool) if parts is None else parts.tracked
    different = most_different(rest.positions[seen], [positions[seen] for _, positions in frames])
    body = Body(rest, weights, settings, inside, painted["safe"])
    return TrialInput(body, parts, painted["labels"], [frames[index] for index in different])


def try_object(name: str, values: dict[str, Any], progress: Any = None) -> trial.Trial:
    """All of it at once; `values` go over the settings of the object's setup, if it has one."""
    with sentences():
        existing = setup.find_of(find_object(name), setup.current_scene())
    given = finished(trial_in_steps(name, {**(existing.settings if existing else {}), **values}))
    rest = given.body.rest

    def tell(stage: str, done: int, total: int) -> None:
        if progress is not None:
            progress(stage, done, total, -1.0)

    return trial.fit_frames(
        rest.positions,
        rest.triangles,
        given.frames,
        given.body.settings,
        follow=given.body.follow(),
        parts=given.parts,
        labels=given.labels,
        safe=given.body.safe,
        progress=tell,
    )


def rehearse(name: str, values: dict[str, Any], progress: Any) -> list[str]:
    found = try_object(name, values, progress)
    lines = [
        f"frame {fit.frame}: {100 * fit.rms:.3f} % rms, {100 * fit.max:.2f} % max, {fit.inverted} inverted tets"
        for fit in found.fits
    ]
    return [
        *lines,
        f"{found.tets} tets, fit error {100 * found.rms:.3f} % rms, {100 * found.worst.max:.2f} % max of size",
    ]
