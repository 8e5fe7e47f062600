"""The line below Resolution: about how many tets and how many seconds a bake will take."""

from __future__ import annotations

from typing import Any

from ... import setups
from ...core.bake.report import duration_text, frames_text
from ...core.flesh import estimate
from ...scene import shape
from ..background import results
from ..setup import properties, state
from . import cage

_WHAT = "Estimating"
_last = [estimate.Speed()]  # of the last bake that was looked at


def growth_of(item: Any) -> estimate.Growth | None:
    """How the cage of a setup grows with its resolution; None while that is being found out."""
    settings = properties.settings_of(item)
    filled = (settings.separate_parts, settings.mesher)

    def prepare() -> Any:
        seen = shape.undeformed(item.object)
        return lambda monitor: estimate.measure(*seen.build(), *filled, monitor)

    found: estimate.Growth | None = results.get(_WHAT, properties.key_of(item), (cage.shape_of(item), *filled), prepare)
    return found


def tets_of(item: Any, growth: estimate.Growth) -> tuple[int, bool]:
    """Tets of the cage, and whether they are counted."""
    settings = properties.settings_of(item)
    key = (cage.shape_of(item), settings.separate_parts, settings.resolution)
    if not growth.can_count(settings.resolution):
        return growth.tets(settings.resolution), False

    def prepare() -> Any:
        return lambda monitor: growth.count(settings.resolution, monitor)

    counted = results.get("Counting", properties.key_of(item), key, prepare)
    return (growth.tets(settings.resolution), False) if counted is None else (counted, True)


def lines_of(item: Any) -> list[str]:
    """For the panel: "16,703 tets", or "Up to 16,703 tets" where fewer may do, "About 1 min 40 s for 144 frames"."""
    growth = growth_of(item)
    if growth is None:
        return ["No estimate" if results.error(_WHAT, properties.key_of(item)) else "Estimating...", ""]
    settings, scene = properties.settings_of(item), item.id_data
    start, end = setups.frame_range(scene, settings)
    frames = max(1, end - start + 1)
    samples = (frames - 1 + settings.preroll) * settings.samples + 1
    tets, is_counted = tets_of(item, growth)
    shown = f"{tets:,} tets" if is_counted else f"About {estimate.round_to_two_digits(tets):,} tets"
    shown = f"Up to {tets:,} tets" if growth.is_most(settings.resolution) else shown
    rate = scene.render.fps / scene.render.fps_base * settings.samples
    seconds = _speed_of(item).seconds(tets, growth.vertices, samples, settings, rate)
    return [shown, f"About {duration_text(seconds)} for {frames_text(frames)}"]


def _speed_of(item: Any) -> estimate.Speed:
    """By the setup's own bake if it has one, else by the last one of any."""
    baked = state.bake_of(item)
    is_real = baked is not None and baked[1].complete and not baked[1].is_preview
    measured = estimate.measured_speed(baked[1].report) if baked is not None and is_real else None
    if measured is not None:
        _last[0] = measured
    return _last[0]
