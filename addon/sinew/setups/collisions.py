"""What is read of a body that collides: painted groups, the objects that it meets, the ground, and whether it collides
on a frame. The same for every method whose bodies do."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.bake import obstacles
from ..core.bake.collisions import OFF, groups_of
from ..core.bake.contact import KEYED, Collided
from ..scene import attributes, colliders, passengers, setup
from ..scene.errors import SceneError
from ..scene.fingerprint import Painting
from ..scene.groups import refuse_group
from ..scene.objects import unit_of
from ..scene.sampler import COLLIDE, Sampler, rest_now
from ..scene.steps import Steps
from .passengers import carried_now

REASONS = {"collided": "The weights of friction, thickness or ignored groups have changed"}


@dataclass(frozen=True)
class Meets:
    """What the bodies of a world collide with beside each other."""

    objects: tuple[Any, ...] = ()
    ground: float | None = None  # its height, in the scene's units; None: there is none


def does_collide(settings: Any) -> bool:
    return bool(getattr(settings, OFF, False))


def pushes(settings: Any) -> bool:
    """Whether a body pushes other bodies and is pushed by them."""
    return does_collide(settings) and settings.object_collision and settings.body_collision


def meets(bodies: Sequence[tuple[Any, Any]], scene: Any) -> Meets:
    """Of bodies that are simulated together, each given with its settings: all that one of them meets, all meet. What
    they carry along is a part of them."""
    colliding = [(ob, settings) for ob, settings in bodies if does_collide(settings)]
    leading = [scene.objects.get(settings.led_by) for _, settings in colliding if settings.led_by]
    own = [one for one in leading if one is not None]
    own += [part for ob, settings in bodies for part in (ob, *(one for one, _ in carried_now(ob, scene, settings)))]
    found: dict[str, Any] = {}
    for ob, settings in colliding:
        if settings.object_collision:
            found |= {other.name: other for other in colliders.find(ob, settings.collision_collection, own)}
        wearer = wearer_of(ob, settings, scene) if settings.object_collision and settings.meets_wearer else None
        if wearer is not None and wearer not in own:
            found[wearer.name] = wearer
    grounds = [settings.ground_height for _, settings in colliding if settings.ground]
    return Meets(tuple(found[name] for name in sorted(found)), max(grounds, default=None))


def wearer_of(ob: Any, settings: Any, scene: Any) -> Any | None:
    """The body that wears a garment, or who wears what it is led by."""
    found = passengers.wearer(ob, scene)
    leading = scene.objects.get(settings.led_by) if settings.led_by else None
    if found is None and leading is not None:
        found = passengers.wearer(leading, scene)
    return found if found not in (ob, leading) else None


def check(ob: Any, settings: Any) -> None:
    """Raises where a chosen group or collection is not there."""
    for group in groups_of(settings).values():
        if not attributes.has_weights(ob, group):
            refuse_group(ob, group)
    if does_collide(settings) and settings.object_collision:
        colliders.find(ob, settings.collision_collection)


def marks(settings: Any) -> Mapping[str, Painting]:
    """What is looked at to see that a bake is stale; nothing where it does not collide."""
    return {"collided": Painting(tuple(groups_of(settings).values()))} if does_collide(settings) else {}


class Meeting:
    """Reads what a body meets on the current frame: nothing where it does not collide."""

    def __init__(self, sampler: Sampler, looked: colliders.Colliders | None, is_keyed: bool) -> None:
        self._sampler, self._looked, self._is_keyed = sampler, looked, is_keyed
        self._order = obstacles.order(looked.obstacles) if looked is not None else []

    @property
    def is_there(self) -> bool:
        return bool(self._order) or self._is_keyed

    def read(self) -> dict[str, Any]:
        read: dict[str, Any] = {}
        if self._looked is not None and self._order:
            now = self._looked.now(f"frame {self._sampler.frame_now}")
            taken = [now[number] for number in self._order]
            read[obstacles.MATRICES] = np.concatenate([matrix for _, matrix in taken])
            deformed = [positions for positions, _ in taken if positions is not None]
            if deformed:
                read[obstacles.DEFORMED] = np.concatenate(deformed)
        if self._is_keyed:
            read[KEYED] = np.array([self._sampler.factor(COLLIDE)])
        return read


def read_in_steps(sampler: Sampler, settings: Any) -> Steps[tuple[Collided | None, Meeting]]:
    """Inside a sampler, which goes on to hold the obstacles: what is read once, and what reads the frames."""
    if not does_collide(settings):
        return None, Meeting(sampler, None, False)
    weights = {}
    for name, group in groups_of(settings).items():
        weights[name] = yield from sampler.group_in_steps(group)
    met = sampler.meets if sampler.meets is not None else meets([(sampler.ob, settings)], setup.current_scene())
    looked = sampler.hold(colliders.Colliders(met.objects))
    sampler.body.warnings += looked.warnings
    yield
    is_keyed = COLLIDE in sampler.ob
    unit = unit_of(setup.current_scene())
    ignored = {name.removeprefix("ignored "): one for name, one in weights.items() if name.startswith("ignored ")}
    rests = yield from _rest_of_wearer(sampler, settings, looked)
    read = Collided(
        friction=weights.get("friction"),
        thickness=weights.get("thickness"),
        ignored=ignored or None,
        obstacles=obstacles.gather(looked.obstacles, rests),
        ground=None if met.ground is None else met.ground * unit,
        is_keyed=is_keyed,
    )
    return read, Meeting(sampler, looked, is_keyed)


def _rest_of_wearer(sampler: Sampler, settings: Any, looked: colliders.Colliders) -> Steps[dict[str, Any]]:
    """The rest pose of the body that wears this one, where both are led from there; by its name."""
    wearer = wearer_of(sampler.ob, settings, setup.current_scene()) if settings.meets_wearer else None
    met = next((one for one in looked.obstacles if wearer is not None and one.name == wearer.name), None)
    if settings.start == "moving" or wearer is None or met is None:
        return {}
    rest = None
    with contextlib.suppress(SceneError):
        rest = (yield from rest_now(wearer))[0]
    if rest is None or len(rest.positions) != met.vertices:
        told = f'"{wearer.name}" has another number of vertices at rest and stays in its first pose at the start.'
        sampler.body.warnings.append(told)
        return {}
    return {wearer.name: rest.positions}
