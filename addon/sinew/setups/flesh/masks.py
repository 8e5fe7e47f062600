"""Where a finished bake is drawn back and where it is edited: what results of flesh depend on beside its simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.flesh.painted import Masks
from ...core.flesh.settings import Settings
from ...core.paint.sharpen import sharpened
from ...scene.fingerprint import Painting
from ...scene.sampler import Sampler, rest_now
from ...scene.steps import Steps
from ..target import sentences

REASONS = {
    "after": "The weights of After the Bake have changed",
    "region": "The region of Edit Motion has changed",
}


def _groups(settings: Settings) -> tuple[str, str]:
    """The vertex groups; "" for everywhere, or where it is not done at all."""
    return (
        settings.follow_after_group if settings.follow_after > 0.0 else "",
        settings.edit_group if settings.edits else "",
    )


def marks(settings: Settings) -> Mapping[str, Painting]:
    return {name: Painting((group,)) for name, group in zip(REASONS, _groups(settings), strict=True)}


def masks_now(ob: Any, settings: Settings) -> Steps[Masks]:
    """As they are now, without a bake."""
    found = []
    for group in _groups(settings):
        weights = None
        if group:
            with sentences():
                weights = sharpened((yield from rest_now(ob, group, skinned=False))[1])
        found.append(weights)
    return Masks(*found)


def masks_in_steps(sampler: Sampler, settings: Settings) -> Steps[Masks]:
    """For a bake."""
    masks = []
    for group in _groups(settings):
        masks.append(sharpened((yield from sampler.group_in_steps(group))) if group else None)
    return Masks(*masks)


# What a Reading says of them.
SHOWN: Mapping[str, Any] = {
    "shown": masks_now,
    "whole": lambda settings: settings.replace({"follow_after": 1.0, "edits": settings.edits or "{}"}),
    "of_result": tuple(REASONS),
}
