"""What a bake of flesh reads from the scene beside the frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...scene import attributes
from ...scene.groups import refuse_group
from ...scene.sampler import Rest, Sampler
from ...scene.steps import Steps
from ..reading import FOLLOW_GROUP, Read, Reading
from .body import after_group, after_weights, follow_group, follow_in_steps, painted_groups, parts_in_steps, unpainted
from .outer import OuterReader


def _check(ob: Any, settings: Any) -> None:
    if settings.follow_group and not attributes.has_weights(ob, settings.follow_group):
        refuse_group(ob, settings.follow_group)


def _read(sampler: Sampler, rest: Rest, settings: Any, make_group: bool) -> Steps[Read]:
    follow, made = yield from follow_in_steps(sampler, rest, settings, make_group=make_group)
    parts = yield from parts_in_steps(sampler, rest, settings)
    return Read(follow, OuterReader(sampler, settings, follow), parts, made)


def _marks(ob: Any, settings: Any) -> Mapping[str, Any]:
    return {
        "follow": follow_group(ob, settings),
        "unpainted": unpainted(settings),
        "after": after_group(settings),
        "painted": painted_groups(settings),
        "inside": (settings.cage_object, FOLLOW_GROUP),
    }


READING = Reading(
    read=_read,
    check=_check,
    makes_group=lambda ob, settings: not follow_group(ob, settings),
    marks=_marks,
    after=after_weights,
)
