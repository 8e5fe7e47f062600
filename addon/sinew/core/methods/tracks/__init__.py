"""TRACKS, the cloth: a thin shell whose averages stay where the animation has them, and whose folds are its own."""

from __future__ import annotations

from typing import Any

from ...bake.method import Method
from ...base.installed import engine_build
from . import engine, layout, painted
from .settings import Settings


def _version() -> str:
    from ...base.native import module

    return str(getattr(module, "__version__", ""))


def _monitor() -> Any:
    from ...base.native import Monitor

    return Monitor()


METHOD = Method(
    name="tracks",
    label="Cloth",
    terms=2,  # stretch and bend
    description="Thin shells fold and swing like their material; on average the animation stays",
    settings=Settings,
    layout=layout.layout,
    engine=engine.make_engine,
    show=engine.make_show,
    version=_version,
    build=engine_build,
    painted=painted.stored_paint,
    monitor=_monitor,
    fresh={"collide": True},
    numbers=engine.ClothNumbers,
    tell=engine.tell,
    ahead=lambda settings: 2 * settings.samples,  # for cuts
    late=lambda settings: {"edits": ""} if settings.edits else {},
    shares=lambda settings: {"scheme": settings.scheme, "newton_rounds": settings.newton_rounds},
    making="cloth",
    saving="fewer vertices",
)
