"""ENRICH, the flesh: a cage of tets around any mesh, which follows where it is painted so and swings elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...bake.method import Method
from ...bake.shot import Shot
from ...base.installed import engine_build
from ...flesh import engine, layout, painted, report
from ...flesh.settings import Settings


def _coarse(shot: Shot, monitor: Any) -> Mapping[str, Any]:
    from ...cage.resolution import needed_resolution, preview_resolution  # they need the native module

    settings, body = shot.settings, (shot.rest, shot.triangles)
    follow = None if settings.follow_animated else painted.paint_of(shot).follow
    fine = settings.resolution or needed_resolution(*body, follow, settings.separate_parts, monitor)
    return {"resolution": preview_resolution(*body, settings.preview_resolution, fine, monitor)}


def _shares(settings: Settings) -> Mapping[str, Any]:
    return {name: getattr(settings, name) for name in ("scheme", "newton_rounds") if settings.simulate}


METHOD = Method(
    name="enrich",
    label="Flesh",
    description="Soft parts move with weight; the animation stays",
    settings=Settings,
    layout=layout.layout,
    engine=engine.make_engine,
    show=engine.make_show,
    version=engine.version,
    build=engine_build,
    painted=painted.stored_paint,
    older_counts=layout.older_counts,
    monitor=lambda: engine.load_classes().monitor(),
    numbers=engine.FleshNumbers,
    tell=report.tell,
    ahead=lambda settings: 2 * settings.samples,  # for cuts
    rehearsal="how far the cage is off on five that differ much",
    making="cage",
    saving="lower the resolution",
    coarse=_coarse,
    late=lambda settings: {"edits": ""} if settings.edits else {},
    shares=_shares,
    roams=lambda settings: settings.free_body and settings.simulate,
)
