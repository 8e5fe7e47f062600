"""The passengers of a setup: which meshes its body carries along, and how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.bake.method import find
from ..core.bake.shot import Passenger
from ..core.geometry.connected import connected_pieces
from ..scene import passengers, playback, setup, stack
from ..scene.errors import SceneError
from ..scene.sampler import PassengerRest, Sampler
from ..scene.steps import Steps


def new_setup(ob: Any, scene: Any, method: str = "") -> setup.Setup:
    """A setup with its passengers found. That of a copy has the settings of its original."""
    chosen = find(method)
    brought = [one.settings for one in setup.copied(ob) if one.method == chosen.name]
    settings = brought[0] if brought else dict(chosen.fresh)
    entry = setup.Setup(ob.name, id=setup.new_id(), method=chosen.name, settings=settings)
    entry.passengers = choices_of(ob, scene, chosen.settings(), entry.id)
    return entry


def find_passengers(ob: Any, scene: Any) -> int:
    """Lists meshes that hang on the same armature and are not listed yet. How many there were."""
    entry = setup.find_of(ob, scene)
    if entry is None:
        return 0
    listed = len(entry.passengers)
    entry.passengers = choices_of(ob, scene, find(entry.method).settings(), entry.id)
    setup.save_of(ob, entry, scene)
    return len(entry.passengers) - listed


def carried_by(ob: Any, scene: Any) -> Any | None:
    """The body whose bake an object plays a part of, or None."""
    bake = playback.bake_id(ob) if playback.is_passenger(ob) else ""
    for body in setup.objects(scene) if bake else ():
        entry = setup.find_of(body, scene)
        if entry is not None and entry.bake == bake:
            return body
    return None


def carried_now(ob: Any, scene: Any, settings: Any) -> list[tuple[Any, str]]:
    """What a bake would carry along now, and how."""
    return [(choice.object, choice.mode) for choice in choices_of(ob, scene, settings) if choice.use]


def choices_of(ob: Any, scene: Any, settings: Any, setup_id: str = "") -> list[setup.PassengerChoice]:
    """The passengers of a setup ("": the chosen one of the object): those in its list, then those found."""
    entries = [one for one in setup.all_of(ob, scene) if one.id == setup_id] if setup_id else []
    entry = entries[0] if entries else None if setup_id else setup.find_of(ob, scene)
    own = setup.objects(scene)  # what has a setup of its own goes its own way
    listed = [
        choice
        for choice in (entry.passengers if entry else [])
        if choice.object.name in scene.objects and choice.object not in own
    ]
    if not (settings.passengers and settings.finds_passengers):
        return listed
    known = [choice.object for choice in listed]
    found = passengers.find(ob, scene, own)
    return [*listed, *(setup.PassengerChoice(other) for other in found if other not in known)]


def add_passengers(
    sampler: Sampler, choices: list[setup.PassengerChoice], leaves: Callable[[PassengerRest], Any], settings: Any
) -> Steps[list[tuple[setup.PassengerChoice, Passenger]]]:
    """Those that can be carried, from now on sampled with the body. `leaves`: see Reading."""
    bones = {bone.name for rig in stack.armatures(sampler.ob) for bone in rig.data.bones if bone.use_deform}
    carried = []
    for choice in choices:
        if choice.use:
            passenger = _add_passenger(sampler, choice, bones, leaves, settings)
            if passenger is not None:
                carried.append((choice, passenger))
            yield
    return carried


def _add_passenger(
    sampler: Sampler,
    choice: setup.PassengerChoice,
    bones: set[str],
    leaves: Callable[[PassengerRest], Any],
    settings: Any,
) -> Passenger | None:
    """One that cannot be carried is left out, and the report says so: the body is what counts."""
    ob = choice.object
    try:
        rest = sampler.add_passenger(ob)
    except SceneError as error:
        sampler.body.warnings.append(f"{ob.name} is not carried along. {error}")
        return None
    rigid = passengers.is_rigid(ob, bones) if choice.mode == setup.AUTOMATIC else choice.mode == setup.RIGID
    pieces = connected_pieces(len(rest.positions), rest.edges).astype(np.int32)
    if choice.mode == setup.AUTOMATIC:
        pieces[leaves(rest)] = -1
    collides = choice.mode == setup.COLLIDES and getattr(settings, "passengers_collide", False) and settings.collide
    triangles = rest.triangles if collides and len(rest.triangles) else None
    return Passenger(ob.name, rest.positions, rest.first, pieces, rigid, triangles)
