"""What a bake of cloth reads from the scene beside the frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.geometry.sheet import is_sheet, is_solid
from ...core.methods.tracks.material import warp_of
from ...core.methods.tracks.painted import ClothPaint
from ...core.methods.tracks.settings import Settings, group_names, is_woven, painted_groups
from ...core.paint.sharpen import sharpened
from ...scene import attributes, fingerprint, passengers, setup, uv
from ...scene.errors import SceneError
from ...scene.fingerprint import Painting
from ...scene.groups import refuse_group, rounded, write_group
from ...scene.sampler import Rest, Sampler, rest_now
from ...scene.steps import Steps
from .. import collisions
from ..background import in_thread
from ..fields import Fields
from ..reading import MadeGroup, Read, Reading
from ..target import sentences
from . import undeformed
from .guide import Guide, guide_of
from .undeformed import UNDEFORMED, Undeformed

PIN_GROUP = "Sinew Pin"  # that a bake makes where the artist has none
_POSES = 12  # that tell how patches are cut


def pin_group(ob: Any, settings: Settings) -> str:
    """The vertex group that pins; "" when a bake makes one."""
    return settings.pin_group or (PIN_GROUP if PIN_GROUP in ob.vertex_groups else "")


def _check(ob: Any, settings: Settings) -> None:
    named = [settings.pin_group, *group_names(settings.region_groups), *painted_groups(settings).values()]
    for group in filter(None, named):
        if not attributes.has_weights(ob, group):
            refuse_group(ob, group)
    if is_woven(settings):
        uv.check(ob, settings.warp_map)
    collisions.check(ob, settings)
    guide_of(ob, settings)
    undeformed.check(settings)


def _follow_in_steps(sampler: Sampler, rest: Rest, settings: Settings, make: bool) -> Steps[tuple[Any, str]]:
    from ...core.paint.garment import garment_follow  # it needs the native module

    ob, made = sampler.ob, ""
    group = pin_group(ob, settings)
    if not group:
        wearer = collisions.wearer_of(ob, settings, setup.current_scene())
        body = None
        if wearer is not None:
            try:
                worn, _ = yield from rest_now(wearer)
                body = (worn.positions, worn.triangles)
            except SceneError as error:
                sampler.body.warnings.append(f"{wearer.name} does not tell where the cloth hugs it. {error}")
        up = _up(sampler, settings)
        pinned = yield from in_thread(lambda m: garment_follow(rest.positions, rest.edges, up, body, m))
        follow = rounded(pinned)
        if make and rest.base_first and write_group(ob, PIN_GROUP, follow):
            group, made = PIN_GROUP, fingerprint.of_weights(follow[: len(ob.data.vertices)])
    if group:
        follow = yield from sampler.group_in_steps(group)
    return sharpened(follow), made


def _up(sampler: Sampler, settings: Settings) -> Any:
    """Against gravity."""
    up = -np.array(sampler.gravity if settings.gravity is None else settings.gravity, np.float64)
    length = np.linalg.norm(up)
    return up / length if length > 0.0 else np.array([0.0, 0.0, 1.0])


def _read(sampler: Sampler, rest: Rest, settings: Settings, make: bool) -> Steps[Read]:
    from ...core.methods.tracks.guide import find_regions

    if looks_solid(sampler.ob) and passengers.wearer(sampler.ob, setup.current_scene()) is None:
        sampler.body.warnings.append(
            f'"{sampler.ob.name}" is closed all around: as cloth it is an empty bag. If it has an inside, add Flesh '
            "instead."
        )
    follow, made = yield from _follow_in_steps(sampler, rest, settings, make)
    shape = Undeformed(sampler, rest, settings)
    still = None if shape.varies else shape.now("rest")
    groups, material = {}, {}
    found, guide = guide_of(sampler.ob, settings), None
    if found is not None:
        guide = Guide(sampler, found)
        yield from guide.look(sampler, rest, group_names(settings.region_groups))
    for name in group_names(settings.region_groups):
        groups[name] = np.asarray((yield from sampler.group_in_steps(name)), np.float64)
    for what, name in painted_groups(settings).items():
        material[what] = np.asarray((yield from sampler.group_in_steps(name)), np.float64)
    mapped = sampler.corners(settings.warp_map) if is_woven(settings) else None
    warp = warp_of(settings, rest.positions, rest.triangles, mapped, _up(sampler, settings))
    regions = None
    if settings.regions > 0:
        poses = []
        for pose in sampler.some_poses(_POSES):
            poses.append(pose)
            yield
        sides = np.ascontiguousarray(rest.triangles, np.int32)
        regions = yield from in_thread(lambda m: find_regions(poses, sides, settings.regions, settings.flat, m))
    collided, meeting = yield from collisions.read_in_steps(sampler, settings)
    outer = _Outer(sampler, Fields(sampler, settings.wind, "cloth"), meeting, shape, guide)
    region = None
    if edit_group(settings):
        region = np.asarray((yield from sampler.group_in_steps(edit_group(settings))), np.float64)
    hats = guide.carries if guide is not None and settings.guide_vertices else None
    paint = ClothPaint(
        follow, regions, groups, material, warp, undeformed=still, reshaped=shape.varies, hats=hats,
        paired=guide is not None and guide.is_paired, fields=outer.fields.count, collided=collided, region=region,
    )  # fmt: skip
    return Read(paint, outer, made)


def edit_group(settings: Settings) -> str:
    """The vertex group that says where a finished bake is edited; "" for everywhere, or where it is not."""
    return settings.edit_group if settings.edits else ""


def _shown(ob: Any, settings: Settings) -> Steps[Any]:
    """The region of edits as it is now."""
    group = edit_group(settings)
    if not group:
        yield
        return None
    with sentences():
        weights = (yield from rest_now(ob, group))[1]
    return np.asarray(weights, np.float64)


@dataclass(frozen=True)
class _Outer:
    sampler: Sampler
    fields: Fields
    meeting: collisions.Meeting
    shape: Undeformed
    guide: Guide | None

    @property
    def _is_paired(self) -> bool:
        return self.guide is not None and self.guide.is_paired

    @property
    def is_there(self) -> bool:
        return self.fields.is_there or self.meeting.is_there or self.shape.varies or self._is_paired

    def read(self) -> dict[str, Any]:
        when = f"frame {self.sampler.frame_now}"
        read: dict[str, Any] = {**self.fields.read(), **self.meeting.read()}
        if self.shape.varies:
            read["undeformed"] = np.asarray(self.shape.now(when), np.float32)
        if self.guide is not None and self._is_paired:
            read["paired"] = self.guide.paired(when)
        return read


def _surface(ob: Any) -> tuple[Any, Any]:
    """(t, 3) and (m, 3) of the mesh as it is at rest."""
    mesh = ob.data
    mesh.calc_loop_triangles()
    triangles, vertices = np.empty(3 * len(mesh.loop_triangles), np.int32), np.empty(3 * len(mesh.vertices), np.float32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    mesh.vertices.foreach_get("co", vertices)
    return vertices.reshape(-1, 3), triangles.reshape(-1, 3)


def _looks_like_sheet(ob: Any) -> bool:
    """What encloses nothing is edited by its own faces."""
    return is_sheet(*_surface(ob))


def looks_solid(ob: Any) -> bool:
    """Whether it is closed and has room inside, so that it may rather be Flesh."""
    return is_solid(*_surface(ob))


def _marks(ob: Any, settings: Settings) -> Mapping[str, Painting]:
    return {
        "pins": Painting((pin_group(ob, settings),)),
        "averages": Painting(tuple(group_names(settings.region_groups))),
        "material": Painting(tuple(painted_groups(settings).values())),
        "region": Painting((edit_group(settings),)),
        "guide": Painting(objects=tuple(filter(None, [settings.guide_object]))),
        "undeformed": _undeformed_mark(settings),
    }


def _undeformed_mark(settings: Settings) -> Painting:
    if not undeformed.has_shape(settings):
        return Painting()
    return Painting(factor=UNDEFORMED, objects=tuple(filter(None, [settings.undeformed_object])))


_MADE = MadeGroup(PIN_GROUP)

READING = Reading(
    read=_read,
    check=_check,
    shown=_shown,
    whole=lambda settings: settings.replace({"edits": settings.edits or "{}"}),
    marks=_marks,
    reasons={
        "pins": "The pins have changed",
        "averages": "A group that follows on average has changed",
        "material": "A group that changes the material has changed",
        "region": "The region of Edit Motion has changed",
        "guide": "The guide has moved or changed",
        "undeformed": "The undeformed shape, or how much there is of it, has changed",
    },
    of_result=("region",),
    makes=lambda ob, settings: not pin_group(ob, settings),
    make_again=_MADE.again,
    unmake=_MADE.unmake,
    suits_edits=_looks_like_sheet,
    groups=(PIN_GROUP,),
)
