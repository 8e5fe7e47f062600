"""What a bake of flesh reads from the scene beside the frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...core.flesh.painted import FleshPaint
from ...scene import attributes, fingerprint
from ...scene.fingerprint import Painting
from ...scene.groups import refuse_group, remove_group, write_group
from ...scene.sampler import Rest, Sampler
from ...scene.steps import Steps
from .. import collisions
from ..flesh.body import (
    FOLLOW_GROUP,
    after_group,
    follow_group,
    follow_in_steps,
    masks_now,
    painted_groups,
    parts_in_steps,
    region_group,
    unpainted,
)
from ..flesh.outer import OuterReader
from ..reading import Read, Reading


def _check(ob: Any, settings: Any) -> None:
    if settings.follow_group and not attributes.has_weights(ob, settings.follow_group):
        refuse_group(ob, settings.follow_group)
    collisions.check(ob, settings)


def _read(sampler: Sampler, rest: Rest, settings: Any, make_group: bool) -> Steps[Read]:
    if settings.free_body:
        follow, made = np.zeros(len(rest.positions)), ""
    else:
        follow, made = yield from follow_in_steps(sampler, rest, settings, make_group=make_group)
    values = yield from parts_in_steps(sampler, rest, settings)
    collided, meeting = yield from collisions.read_in_steps(sampler, settings)
    outer = OuterReader(sampler, settings, follow, meeting)
    return Read(FleshPaint(follow, fields=outer.count, collided=collided, **values), outer, made)


def _marks(ob: Any, settings: Any) -> Mapping[str, Painting]:
    return {
        "weights": Painting((follow_group(ob, settings),), unpainted(settings)),
        "painted": Painting(tuple(painted_groups(settings)), inside=(settings.cage_object, FOLLOW_GROUP)),
        "after": Painting((after_group(settings),)),
        "region": Painting((region_group(settings),)),
    }


def _make_again(ob: Any, painted: FleshPaint) -> None:
    if FOLLOW_GROUP not in ob.vertex_groups:
        write_group(ob, FOLLOW_GROUP, painted.follow)


def _unmake(ob: Any, made: str) -> None:
    is_there = FOLLOW_GROUP in ob.vertex_groups
    if is_there and made in ("", fingerprint.exact_weights(ob, FOLLOW_GROUP)):
        remove_group(ob, FOLLOW_GROUP)


READING = Reading(
    read=_read,
    check=_check,
    shown=masks_now,
    whole=lambda settings: settings.replace({"follow_after": 1.0, "edits": settings.edits or "{}"}),
    marks=_marks,
    reasons={
        "weights": "The follow weights have changed",
        "painted": "A painted region has changed",
        "after": "The weights of After the Bake have changed",
        "region": "The region of Edit Motion has changed",
    },
    of_result=("after", "region"),
    makes=lambda ob, settings: not settings.free_body and not follow_group(ob, settings),
    make_again=_make_again,
    unmake=_unmake,
    groups=(FOLLOW_GROUP,),
)
