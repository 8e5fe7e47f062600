"""A body at rest, and which of its parts follow the animation."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.base.errors import BadInput
from ...core.cage.welds import Labels, make_labels
from ...core.flesh.settings import Settings
from ...core.paint.follow import Segment, automatic_follow
from ...core.paint.parts import followed_pieces, hard_shells, make_parts
from ...core.paint.regions import GROUPS, Regions, make_core
from ...core.paint.sharpen import sharpened
from ...scene import fingerprint
from ...scene.groups import painted_points, rounded, why_no_group, write_group
from ...scene.objects import find_object, sharers
from ...scene.sampler import Rest, Sampler, rest_now, safe_now
from ...scene.steps import Steps, finished
from ..background import in_thread
from ..reading import sampler_of
from ..target import sentences
from .masks import masks_in_steps

FOLLOW_GROUP = "Sinew Follow"  # that a bake makes where the artist has none
SPREAD_GROUP = "Sinew Spread"
AFTER_GROUP = "Sinew After"
_POSES = 8  # that tell what the animation moves as a whole


@dataclasses.dataclass(frozen=True)
class Body:
    """An object at rest and what a bake would follow now. Made from the scene; what it computes needs none."""

    rest: Rest
    weights: Any | None  # (t,) of the follow group; None where there is none
    settings: Settings = dataclasses.field(default_factory=Settings)
    inside: Any | None = None  # (k, 4) painted points of the cage object, where weights are spread from them too
    safe: Any | None = None  # (t, 3) world metres, the body in the safe pose, if there is one

    @property
    def labels(self) -> Labels | None:
        """What its parts are called, by its bones."""
        return _bone_labels(self.rest)

    def automatic(self, monitor: Any = None) -> Any:
        """The weights (t,) without any group."""
        return _automatic(self.rest)

    def follow(self, monitor: Any = None) -> Any:
        """The weights (t,), those of the group, spread if that is wanted, or automatic ones."""
        if self.weights is None:
            return sharpened(self.automatic(monitor))
        return sharpened(_spread(self.rest, self.weights, self.settings, self.inside, monitor))


def look_at(name: str, values: dict[str, Any], *, weights_alone: bool = False) -> Body:
    """Looks at an object where it is now, without setting a frame unless its rest shape is that of one.
    `weights_alone`: for what it follows, no skin is read where there is a group."""
    return finished(look_in_steps(name, values, weights_alone=weights_alone))


def look_in_steps(
    name: str, values: dict[str, Any], *, weights_alone: bool = False, moving: bool = False
) -> Steps[Body]:
    """`moving`: a body without bones is looked at on some frames too, as a bake does."""
    with sentences():
        ob = find_object(name)
        settings = Settings().replace(values)
        group = follow_group(ob, settings)
        if settings.rest_frame is None and (settings.safe_frame is None or settings.safe_shape_key):
            skinned = not (weights_alone and group)
            rest, weights = yield from rest_now(ob, group, unpainted(settings), skinned=skinned)
            safe = safe_now(ob, settings.safe_shape_key)
            if moving and not rest.bones:
                with sampler_of(ob, settings) as sampler:
                    rest = yield from moving_in_steps(sampler, rest)
            return Body(rest, weights, settings, spread_from_inside(rest, settings), safe)
        with sampler_of(ob, settings) as sampler:
            rest = yield from sampler.rest_in_steps()
            rest = (yield from moving_in_steps(sampler, rest)) if moving else rest
            weights = (yield from sampler.group_in_steps(group, unpainted(settings))) if group else None
            safe = sampler.safe_at(settings.safe_frame, settings.safe_shape_key)
            return Body(rest, weights, settings, spread_from_inside(rest, settings), safe)


def write_automatic(name: str, body: Body, weights: Any) -> str:
    """Writes automatic follow weights into a vertex group that the artist can paint on, and never over one that was
    painted: a group with other weights stays, and a new one is made beside it. Its name."""
    with sentences():
        ob = find_object(name)
        if not body.rest.base_first:
            raise BadInput(f'A modifier of "{name}" makes new vertices first: paint a follow group by hand.')
        known = fingerprint.of_weights(weights[: len(ob.data.vertices)])
        for group in ob.vertex_groups:
            if group.name.startswith(FOLLOW_GROUP) and fingerprint.exact_weights(ob, group.name) == known:
                return str(group.name)
        return _write(ob, _free_name(ob), weights)


def _free_name(ob: Any) -> str:
    """"Sinew Follow", or as Blender would call another one."""
    numbered = (f"{FOLLOW_GROUP}.{number:03d}" for number in itertools.count(1))
    return next(name for name in itertools.chain([FOLLOW_GROUP], numbered) if name not in ob.vertex_groups)


def write_spread(name: str, follow: Any, group: str) -> str:
    """Writes weights into the vertex group that shows how the follow group is spread. Its name. The group that is being
    painted stays the active one; `group`, where that is the one written into."""
    with sentences():
        ob = find_object(name)
        active = ob.vertex_groups.active
        painted = group if active is None or active.name == SPREAD_GROUP else active.name
        _write(ob, SPREAD_GROUP, rounded(follow))
        if painted in ob.vertex_groups:
            ob.vertex_groups.active_index = ob.vertex_groups[painted].index
        return SPREAD_GROUP


def make_after_group(name: str) -> str:
    """Makes the vertex group that says where a finished bake is drawn back, 1 everywhere, if there is none. Its
    name."""
    with sentences():
        ob = find_object(name)
        if AFTER_GROUP not in ob.vertex_groups:
            _write(ob, AFTER_GROUP, np.ones(len(ob.data.vertices)))
    return AFTER_GROUP


def _write(ob: Any, group: str, weights: Any) -> str:
    reason = why_no_group(ob)
    if reason:
        raise BadInput(reason)
    write_group(ob, group, weights)
    return group


def follow_group(ob: Any, settings: Settings) -> str:
    """The vertex group that a bake follows; "" when it makes one."""
    return settings.follow_group or (FOLLOW_GROUP if FOLLOW_GROUP in ob.vertex_groups else "")


def moving_in_steps(sampler: Sampler, rest: Rest) -> Steps[Rest]:
    """The body with some poses, if it has no bones that tell what moves."""
    if rest.bones:
        return rest
    poses = []
    for pose in sampler.some_poses(_POSES):
        poses.append(pose)
        yield
    return dataclasses.replace(rest, poses=tuple(poses))


def follow_in_steps(
    sampler: Sampler, rest: Rest, settings: Settings, *, make_group: bool
) -> Steps[tuple[Any, str]]:
    """The follow weights. `make_group`: automatic ones become a vertex group that the artist can paint on. The hash of
    its weights, "" if none was made."""
    ob, made = sampler.ob, ""
    group = follow_group(ob, settings)
    if not group:
        watched = yield from moving_in_steps(sampler, rest)
        follow = yield from in_thread(lambda m: _automatic(watched, m))
        if make_group and rest.base_first and write_group(ob, FOLLOW_GROUP, follow):
            group, made = FOLLOW_GROUP, fingerprint.of_weights(follow[: len(ob.data.vertices)])
        elif make_group and sharers(ob):
            sampler.body.warnings.append(f"No follow group was made. {why_no_group(ob)}")
        yield
    others = sharers(ob)
    if group and others:
        sampler.body.warnings.append(
            f'The follow group "{group}" belongs to the mesh "{ob.data.name}", which "{others[0]}" has too: painting '
            "it changes both."
        )
    if group:
        # Read back from the evaluated mesh, also what was just written: the next bake starts from the same bits.
        painted = yield from sampler.group_in_steps(group, unpainted(settings))
        inside = spread_from_inside(rest, settings)
        follow = yield from in_thread(lambda monitor: _spread(rest, painted, settings, inside, monitor))
    return sharpened(follow), made


def unpainted(settings: Settings) -> float:
    """What a vertex that is not in the follow group counts as: free, or unknown where weights are spread."""
    return float("nan") if settings.spread else 0.0


def spread_from_inside(rest: Rest, settings: Settings) -> Any | None:
    """(k, 4) the painted points of the cage object, where weights are spread from them too."""
    return _inside(rest, settings) if settings.spread and settings.cage_object else None


def _inside(rest: Rest, settings: Settings) -> Any:
    return painted_points(settings.cage_object, FOLLOW_GROUP, rest.matrix)


def _spread(rest: Rest, weights: Any, settings: Settings, inside: Any | None, monitor: Any = None) -> Any:
    if not settings.spread:
        return weights
    from ...core.paint.spread import spread_weights  # it needs the native module

    return spread_weights(rest.positions, rest.triangles, weights, settings, monitor, inside)


def painted_groups(settings: Settings) -> list[str]:
    """The vertex groups of tracked and rigid vertices and of regions, those that are chosen."""
    names = ["track_group", "rigid_group", *GROUPS.values()]
    names += ["average_group"] if settings.average_regions > 0 else []
    return [group for name in names if (group := getattr(settings, name))]


def parts_in_steps(sampler: Sampler, rest: Rest, settings: Settings, follow: Any = None) -> Steps[dict[str, Any]]:
    """What the painted groups beside the follow group say, as values of a FleshPaint. `follow` (t,): loose pieces that
    follow exactly stay as the animation has them, though it bends them a little."""
    values: dict[str, Any] = {}
    values["masks"] = yield from masks_in_steps(sampler, settings)
    painted = {}
    for region, setting in GROUPS.items():
        if getattr(settings, setting):
            painted[region] = yield from sampler.group_in_steps(getattr(settings, setting))
    if settings.average_group and settings.average_regions > 0:
        painted["average"] = yield from sampler.group_in_steps(settings.average_group)
    if settings.bone_core > 0.0 and not settings.free_body:
        painted["bones"] = yield from in_thread(lambda _: _core(rest, settings.bone_core))
    if settings.cage_object and not settings.free_body:
        painted["inside"] = _inside(rest, settings)
    values["regions"] = Regions(**painted)
    values["safe"] = sampler.safe_at(settings.safe_frame, settings.safe_shape_key)
    values["labels"] = yield from _labels_in_steps(sampler, rest, settings)
    shells = (yield from _shells_in_steps(sampler, rest)) if settings.rigid_shells else None
    if shells is not None and follow is not None and not settings.follow_animated:
        shells &= followed_pieces(follow, rest.edges) < 1.0
    if not settings.track_group and not settings.rigid_group and (shells is None or not shells.any()):
        return values
    tracked = (yield from sampler.group_in_steps(settings.track_group)) if settings.track_group else None
    rigid = (yield from sampler.group_in_steps(settings.rigid_group)) if settings.rigid_group else None
    if shells is not None and shells.any():
        rigid = np.where(shells, 1.0, 0.0 if rigid is None else rigid)
    parts = make_parts(tracked, rigid, len(rest.positions), rest.edges)
    return values | {"parts": parts}


def _shells_in_steps(sampler: Sampler, rest: Rest) -> Steps[Any]:
    """Which vertices are of small loose pieces that stay rigid. Poses are sampled only where these must be asked."""
    wanted: list[bool] = []

    def found(poses: Callable[[], Any]) -> Any:
        return hard_shells(rest.positions, rest.triangles, rest.edges, rest.skin, poses)

    def none() -> tuple[()]:
        wanted.append(True)
        return ()

    shells = yield from in_thread(lambda _: found(none))
    if wanted:
        poses = []
        for pose in sampler.some_poses(_POSES):
            poses.append(pose)
            yield
        shells = yield from in_thread(lambda _: found(lambda: poses))
    return shells


def _labels_in_steps(sampler: Sampler, rest: Rest, settings: Settings) -> Steps[Labels | None]:
    """What the parts of the body are called: by its bones, or else by vertex groups that are not for a bake."""
    if rest.skin is not None:
        return _bone_labels(rest)
    own = {FOLLOW_GROUP, SPREAD_GROUP, AFTER_GROUP, settings.follow_group, *painted_groups(settings)}
    names = [group.name for group in sampler.ob.vertex_groups if group.name not in own]
    weights = yield from sampler.groups_in_steps(names)
    return make_labels(names, weights) if names and len(weights) == len(rest.positions) else None


def _automatic(rest: Rest, monitor: Any = None) -> Any:
    told = (rest.edges, _segments(rest), rest.skin, monitor, rest.poses)
    return rounded(automatic_follow(rest.positions, rest.triangles, *told))


def _core(rest: Rest, share: float) -> Any:
    return make_core(rest.positions, rest.triangles, _segments(rest), rest.skin, share)


def _bone_labels(rest: Rest) -> Labels | None:
    return None if rest.skin is None else make_labels([bone.name for bone in rest.bones], rest.skin)


def _segments(rest: Rest) -> list[Segment]:
    return [Segment(bone.name, bone.head, bone.tail, bone.parent, bone.is_leaf) for bone in rest.bones]
