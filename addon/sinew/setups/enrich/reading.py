"""What a bake of flesh reads from the scene beside the frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.flesh.painted import FleshPaint
from ...scene import attributes
from ...scene.fingerprint import Painting
from ...scene.groups import refuse_group
from ...scene.sampler import Rest, Sampler
from ...scene.steps import Steps
from .. import collisions
from ..flesh import masks
from ..flesh.body import (
    FOLLOW_GROUP,
    follow_group,
    follow_in_steps,
    painted_groups,
    parts_in_steps,
    unpainted,
)
from ..flesh.outer import OuterReader
from ..reading import MadeGroup, Read, Reading


def _check(ob: Any, settings: Any) -> None:
    if settings.follow_group and not attributes.has_weights(ob, settings.follow_group):
        refuse_group(ob, settings.follow_group)
    collisions.check(ob, settings)


def _read(sampler: Sampler, rest: Rest, settings: Any, make_group: bool) -> Steps[Read]:
    if settings.free_body:
        follow, made = np.zeros(len(rest.positions)), ""
    else:
        follow, made = yield from follow_in_steps(sampler, rest, settings, make_group=make_group)
    values = yield from parts_in_steps(sampler, rest, settings, follow)
    collided, meeting = yield from collisions.read_in_steps(sampler, settings)
    outer = OuterReader(sampler, settings, follow, meeting)
    return Read(FleshPaint(follow, fields=outer.count, collided=collided, **values), outer, made)


def _marks(ob: Any, settings: Any) -> Mapping[str, Painting]:
    return {
        "weights": Painting((follow_group(ob, settings),), unpainted(settings)),
        "painted": Painting(tuple(painted_groups(settings)), inside=(settings.cage_object, FOLLOW_GROUP)),
        **masks.marks(settings),
    }


def _rehearse(name: str, values: dict[str, Any], progress: Any) -> Sequence[str]:
    from .trial import rehearse  # the engine is loaded only where it is asked for

    return rehearse(name, values, progress)


_MADE = MadeGroup(FOLLOW_GROUP)

READING = Reading(
    read=_read,
    check=_check,
    marks=_marks,
    reasons={
        "weights": "The follow weights have changed",
        "painted": "A painted region has changed",
        **masks.REASONS,
    },
    **masks.SHOWN,
    makes=lambda ob, settings: not settings.free_body and not follow_group(ob, settings),
    make_again=_MADE.again,
    unmake=_MADE.unmake,
    groups=(FOLLOW_GROUP,),
    rehearse=_rehearse,
)
