"""What collisions cost flesh, whose exported surface collides (contact on plain surfaces is in engine.c):
`PYTHONPATH=addon:tests/core build/env/45/bin/python tests/benchmark/contact.py`, one row a line: name, ours, yardstick
(0: none), unit.

A rough horseshoe of 20,000 tets and 16,000 triangles whose input closes it: its ends press on each other. The same with
nothing near, over the same with Collide off. A soft ball that is thrown at a large swinging body, both flesh. Growth:
the horseshoe with 1,000 to 100,000 triangles around the same cage, closed. With OMP_NUM_THREADS=1 seconds are those of
the processor, whose ratios hold on a busy machine too."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
from bodies import rod, sphere
from sinew.core.bake.contact import Body, Collided
from sinew.core.bake.move import World
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.outer import NOTHING, Met, Outer
from sinew.core.flesh.settings import Settings

RATE, FRAMES = 24.0, 16
CLOCK = time.process_time if os.environ.get("OMP_NUM_THREADS") == "1" else time.perf_counter
# What is asked of it: s/frame of the horseshoe and of the ball, ratio, rounds and detections a stage.
SELF, BALL, NEAR, ROUNDS, CCDS = 0.12, 0.2, 1.2, 12.0, 2.0


def horseshoe(around: int, along: int) -> Any:
    """A rod, to be bent; its middle lies at 0."""
    rest, triangles = rod(0.12, 3.0, around, along)
    rough = np.random.default_rng(3).normal(0.0, 1e-3, rest.shape)  # what is exactly flat is no animal
    return rest - (rest.min(axis=0) + rest.max(axis=0)) / 2.0 + rough, triangles


def bent(rest: Any, turn: float) -> Any:
    """Along a circle on which all of its length has that many turns."""
    angle = 2.0 * np.pi * turn / 3.0
    radius = 1.0 / angle
    x, y, z = rest.T
    return np.stack([(radius - y) * np.sin(angle * x), radius - (radius - y) * np.cos(angle * x), z], 1)


class Actor:
    """A body with its frames, fitted."""

    def __init__(self, rest: Any, triangles: Any, follow: Any, frames: list[Any], **values: Any) -> None:
        settings = Settings().replace(values)
        self.enricher = Enricher(rest, triangles, follow, settings, RATE)
        if settings.collide:
            read = Collided()
            size = self.enricher.size
            self.enricher.body = Body(settings, np.asarray(rest), triangles, size, read, (None, None))
        self.frames, self.fitted = frames, list[Any]()
        for frame in frames:
            guess = self.fitted[-1] if self.fitted else None
            self.fitted.append(self.enricher.fit(frame, guess).positions)
        self.state = self.enricher.begin(self.fitted[0], self.fitted[1])

    def plan(self, k: int) -> Any:
        def around(row: list[Any]) -> tuple[Any, Any, Any, Any]:
            return (row[k - 2] if k > 1 else None, row[k - 1], row[k], row[k + 1] if k + 1 < len(row) else None)

        none = (None, None)
        outer = NOTHING if self.enricher.body is None else Outer(met=Met(around(self.frames), (none, none)))
        return self.enricher.plan(self.state, around(self.fitted), outer)


def play(*actors: Actor) -> dict[str, list[float]]:
    """All frames of the actors together: seconds of each, and what the contact says."""
    world = World()
    told: dict[str, list[float]] = {name: [] for name in ("seconds", "planes", "rounds", "stages", "ccds")}
    for k in range(1, len(actors[0].frames)):
        plans = [actor.plan(k) for actor in actors]
        begin = CLOCK()
        moved = world.advance([plan.move for plan in plans])
        told["seconds"].append(CLOCK() - begin)
        for actor, plan, one in zip(actors, plans, moved, strict=True):
            actor.state, step = actor.enricher.finish(plan, one)
        if step.touched is not None:
            for name in ("planes", "rounds", "stages", "ccds"):
                told[name].append(float(step.touched.report[name]))
    return told


def closing(around: int, along: int, closed: float, **values: Any) -> Actor:
    """A horseshoe that is bent from a half circle on, held in its middle."""
    rest, triangles = horseshoe(around, along)
    turns = 0.6 + (closed - 0.6) * np.minimum(np.arange(FRAMES) / (0.6 * FRAMES), 1.0)
    follow = (np.abs(rest[:, 0]) < 0.4).astype(float)
    frames = [bent(rest, turn) for turn in turns]
    chosen = {"resolution": 38, "jiggle": 4.0, **values}
    return Actor(frames[0], triangles, follow, frames, **chosen)


def thrown() -> tuple[Actor, Actor]:
    rest, triangles = sphere(64, 96, (1.2, 0.7, 0.8))
    swings = 0.1 * np.sin(0.5 * np.arange(FRAMES))
    frames = [rest + (0.0, swing, 0.0) for swing in swings]
    large = Actor(rest, triangles, (rest[:, 2] < -0.4).astype(float), frames, collide=True, resolution=30)
    ball, own = sphere(20, 30, (0.25, 0.25, 0.25))
    ball = ball + (0.0, -1.3, 0.3)
    thrown = {"free_body": True, "initial_velocity": (0.0, 6.0, 0.0), "jiggle": 6.0, "collide": True, "resolution": 12}
    return large, Actor(ball, own, np.zeros(len(ball)), [ball] * FRAMES, **thrown)


def row(name: str, ours: float, yardstick: float, unit: str) -> None:
    print(f"{name},{ours:.6g},{yardstick:g},{unit}", flush=True)


def main() -> None:
    shape = (32, 250)
    told = play(closing(*shape, 1.12, collide=True))
    touching = [k for k, planes in enumerate(told["planes"]) if planes > 0]
    row("flesh_contact_self_20k", float(np.mean([told["seconds"][k] for k in touching] or [0.0])), SELF, "s/frame")
    row("flesh_contact_planes", max(told["planes"]), 0, "")
    stages = [max(told["stages"][k], 1.0) for k in touching]
    per_stage = [told["rounds"][k] / n for k, n in zip(touching, stages, strict=True)]
    row("flesh_contact_rounds", float(np.median(per_stage or [0.0])), ROUNDS, "a stage")
    detections = [(told["ccds"][k] - told["stages"][k]) / n for k, n in zip(touching, stages, strict=True)]
    row("flesh_contact_ccds", float(np.median(detections or [0.0])), CCDS, "a stage")
    far = [float(np.median(play(closing(*shape, 0.7, collide=collides))["seconds"])) for collides in (True, False)]
    row("flesh_contact_nothing_near", far[0] / far[1], NEAR, "times off")
    both = play(*thrown())
    row("contact_ball_elephant", float(np.mean(both["seconds"])), BALL, "s/frame")
    row("contact_ball_elephant_planes", max(both["planes"]), 0, "")
    took = []
    counts = (1_000, 10_000, 100_000)
    for triangles in counts:
        around = max(8, int(np.sqrt(triangles / 16.0)))
        grown = closing(around, triangles // (2 * around), 1.12, collide=True, resolution=24)
        took.append(float(np.mean(play(grown)["seconds"])))
        row(f"contact_growth_{triangles // 1000}k", took[-1], 0, "s/frame")
    row("contact_growth_exponent", float(np.polyfit(np.log(counts), np.log(took), 1)[0]), 1.0, "")


if __name__ == "__main__":
    main()
