"""Whether a bake is still what its file asks for, by sampling the animation anew."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.bake import folders
from ..core.bake.before import check_inputs
from ..core.bake.contact import Collided
from ..core.bake.method import find
from ..core.bake.report import frame_of
from ..core.bake.shot import Shot
from ..core.bake.store import Store
from ..core.bake.told_contact import new_crossings
from ..core.base.errors import Error
from ..core.base.settings import RESULT
from ..scene import playback, setup, stack
from ..scene.errors import SceneError
from ..scene.objects import find_object
from ..scene.steps import finished
from .collisions import meets, pushes
from .passengers import add_passengers, choices_of
from .reading import reading_of, sampler_of
from .sampling import all_samples, make_shot
from .target import Target, bake_root
from .worlds import worlds_in_steps

_MOST_VERTICES = 4


def _crossed(store: Store, shot: Shot, collided: Collided, others: Sequence[Store]) -> str | None:
    """That what plays runs through something that the animation does not run through: the first frame, and how many."""
    frames: dict[float, list[int]] = {}
    for index in range((shot.frame_start - shot.first_frame) * shot.settings.samples, shot.samples):
        found = new_crossings(store, shot, collided, index, others)
        if found:
            own = [point for edge in found if edge[0] == 0 for point in edge[1:3]]
            frames[frame_of(shot, index)] = list(dict.fromkeys(own))[:_MOST_VERTICES]
    if not frames:
        return None
    first = next(iter(frames))
    near = f" near vertices {', '.join(map(str, frames[first]))}" if frames[first] else ""
    settings = shot.settings
    blind = [settings.find(name).label for name in settings.changed() if settings.find(name).belongs == RESULT]
    if blind:  # they act after contact
        why = f"{' and '.join(blind)} do not see what is touched" if len(blind) > 1 else f"{blind[0]} does not see it"
    elif settings.strict:
        why = "bake again, or tell us"
    else:
        why = "it was let through there, as the report says; Strict lets nothing through"
    count = f"{len(frames)} frames" if len(frames) > 1 else "1 frame"
    return (
        f'"{shot.owner_object}" runs through something in {count} in which the animation does not, first at frame '
        f"{first:g}{near}: {why}."
    )


def _opened(
    names: Sequence[str], own: str, together: str, target: Target, opened: contextlib.ExitStack
) -> list[Store]:
    """The bakes of those that an object was simulated with, where they are still those."""
    stores = []
    for name in names:
        ob = find_object(name)
        entry = setup.find_of(ob, setup.current_scene()) if name != own else None
        if entry is not None and entry.bake:
            store = opened.enter_context(Store.open(bake_root(ob, entry, target), entry.bake))
            if store.manifest.together == together and store.done == store.manifest.samples:
                stores.append(store)
    return stores


def _with_settings(names: Sequence[str]) -> list[tuple[Any, Any]]:
    found = []
    for name in names:
        ob = find_object(name)
        entry = setup.find_of(ob, setup.current_scene())
        if entry is not None:
            found.append((ob, find(entry.method).settings().replace(entry.settings)))
    return found


def setups() -> Iterator[setup.Setup]:
    """The setups of the open file's scene."""
    yield from setup.load()


def check_object(entry: setup.Setup, target: Target) -> str | None:
    """What is wrong with a setup's bake, as a sentence, or None. Samples the animation anew."""
    if not entry.object_name:
        return "The object of a setup was deleted: remove the setup."
    try:
        ob = find_object(entry.object_name)
        if not entry.bake:
            return f'"{ob.name}" has no bake yet: bake it.'
        with Store.open(bake_root(ob, entry, target), entry.bake) as store:
            return _check_store(ob, entry, target, store)
    except (SceneError, Error) as error:
        return str(error)


def about_spliced(entry: setup.Setup, target: Target) -> str:
    """That frames of a sound bake are those of the one before it; "" where none are."""
    ob = find_object(entry.object_name)
    with Store.open(bake_root(ob, entry, target), entry.bake) as store:
        frames = store.manifest.report.get("spliced") or []
    more = f"{len(frames)} frames from {frames[0]:g} on were taken over" if frames else ""
    return more and f"{more} from the bake before, which it had met: --resample bakes whole"


def _check_store(ob: Any, entry: setup.Setup, target: Target, store: Store) -> str | None:
    manifest = store.manifest
    if manifest.is_preview:
        return f'"{ob.name}" plays a preview: bake it.'
    if not manifest.complete or store.done != manifest.samples:
        return f'The bake of "{ob.name}" is not complete: bake again.'
    if stack.own_modifier(ob) is None:
        return f'"{ob.name}" has no modifier "{stack.MODIFIER_NAME}": bake again.'
    path = playback.cache_path(ob)
    if path is None or path.resolve() != (store.folder / "result.pc2").resolve():
        return f'The modifier "{stack.MODIFIER_NAME}" of "{ob.name}" plays another file ({path}): bake again.'
    method = find(entry.method)
    if not manifest.is_by(method.build()):
        return f'"{ob.name}" was baked by another engine of Sinew: bake again.'
    settings = method.settings().replace(entry.settings)
    company = finished(worlds_in_steps({ob.name: (method, settings)}, setup.current_scene()))[0]
    if pushes(settings) and len(company) != 1 + len(manifest.company):
        return f'"{ob.name}" touches other bodies than it was simulated with: bake again.'
    with sampler_of(ob, settings) as sampler:
        if len(company) > 1:
            sampler.meets = meets(_with_settings(company), setup.current_scene())
        rest = sampler.rest()
        reading = reading_of(method.name)
        read = finished(reading.read(sampler, rest, settings, False))
        choices = choices_of(ob, setup.current_scene(), settings, entry.id)
        carried = finished(add_passengers(sampler, choices, reading.leaves, settings))
        passengers = [passenger for _, passenger in carried]
        shot = make_shot(method, sampler, rest, read, settings, target, entry.id, passengers)
        if len(shot.rest) != manifest.vertices:
            return f'"{ob.name}" has {len(shot.rest)} vertices and its bake {manifest.vertices}: bake again.'
        if shot.samples != manifest.samples or shot.first_frame != manifest.first_frame:
            return f'The frame range of "{ob.name}" is not the baked one: bake again.'
        # With those that it was simulated with then: what of them has changed is told where they are checked.
        if dataclasses.replace(shot, company=manifest.company).identity() != manifest.identity:
            return f'The mesh, what is painted on it or the settings of "{ob.name}" have changed: bake again.'
        if folders.entries(shot) != manifest.passengers:
            return f'The attached meshes of "{ob.name}" have changed: bake again.'
        changed = check_inputs(store, shot, all_samples(sampler, read.outer, shot))
        collided = getattr(shot.painted, "collided", None)
        crossed = None
        if changed is None and collided is not None:
            with contextlib.ExitStack() as opened:
                crossed = _crossed(store, shot, collided, _opened(company, ob.name, manifest.together, target, opened))
    if crossed is not None:
        return crossed
    if changed is None:
        return None
    frame = shot.first_frame + changed[0] / settings.samples
    if changed[1] == "data":
        return f'The bake of "{ob.name}" is damaged at frame {frame:g}: bake again.'
    shown = "Amount, Max Offset, Back to Animation, Detail or an attached mesh"
    what = "The animation" if changed[1] == "animation" else shown
    return f'{what} of "{ob.name}" changed at frame {frame:g}: bake again.'
