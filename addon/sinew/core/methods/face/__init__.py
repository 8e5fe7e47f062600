"""FACE: a head of shape keys whose flesh answers to the head's motion, and stays exactly the artist's otherwise."""

from __future__ import annotations

from ...bake.method import Method
from ...base.installed import engine_build
from ...flesh import engine as flesh
from ...flesh.painted import stored_paint
from . import engine
from .layout import layout
from .report import tell
from .settings import Settings

METHOD = Method(
    name="face",
    label="Face",
    description="Cheeks, lips and jowls answer to the head's motion; expressions stay as they are",
    settings=Settings,
    layout=layout,
    engine=engine.make_engine,
    show=flesh.make_show,
    version=flesh.version,
    build=engine_build,
    painted=stored_paint,
    monitor=lambda: flesh.load_classes().monitor(),
    fresh={
        "jiggle": 8.0, "settle": 0.35, "transition": 0.0, "rigid_shells": False, "bone_core": 0.0, "keep_input": True,
    },  # fmt: skip
    numbers=flesh.FleshNumbers,
    tell=tell,
    ahead=lambda settings: 2 * settings.samples,  # for cuts
    splices=True,
    making="cage",
    saving="lower the resolution",
    late=lambda settings: {"edits": ""} if settings.edits else {},
    shares=lambda settings: {name: getattr(settings, name) for name in ("scheme", "newton_rounds")},
)
