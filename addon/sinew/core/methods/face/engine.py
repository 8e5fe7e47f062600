"""The engine of a bake of a face: that of flesh, on a cage for a mouth, with expressions that have no inertia."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ...bake.course import Around
from ...bake.results import world
from ...bake.shot import Shot
from ...bake.store import Store
from ...flesh.engine import FleshEngine, load_classes, stored_cage
from ...flesh.outer import Outer
from ...paint.face import RigidMotion, motion_between
from .layout import FRAMES
from .painted import FacePaint, face_of, paint_of_face, solid_carried
from .report import told


def make_engine(shot: Shot, store: Store | None, monitor: Any) -> FaceEngine:
    """With the cage of a bake, if there is one."""
    from .cage import make_face_cage  # they need the native module

    paint = paint_of_face(shot)
    if store is None:
        cage = make_face_cage(shot.rest, shot.triangles, paint, shot.settings, monitor)
    else:
        cage = stored_cage(store, load_classes().cage)
    enricher = make_enricher(
        shot.rest, shot.triangles, paint, shot.settings, shot.sample_rate, cage, gravity=shot.gravity, monitor=monitor
    )
    return FaceEngine(shot, enricher, paint)


def make_enricher(
    rest: Any, triangles: Any, paint: FacePaint, settings: Any, frame_rate: float, cage: Any, **values: Any
) -> Any:
    """What fits and simulates a face on its cage."""
    from .cage import follow_inside

    return layered(
        rest, triangles, paint.follow, settings, frame_rate, cage, follow_inside(rest, triangles, paint, cage),
        safe=paint.safe, parts=paint.parts, regions=paint.regions, after=paint.masks.after, **values,
    )  # fmt: skip


def layered(
    rest: Any, triangles: Any, follow: Any, settings: Any, frame_rate: float, cage: Any, inside: Any, **values: Any
) -> Any:
    """A layer of one material over bone, nothing of it folded. `inside` (n,): 1 for cage vertices in bone."""
    return load_classes().enricher(
        rest, triangles, follow, settings, frame_rate, cage=cage, inside=inside,
        hollow=True, one_material=True, unfold=True, **values,
    )  # fmt: skip


class FaceEngine(FleshEngine):
    def __init__(self, shot: Shot, enricher: Any, paint: FacePaint) -> None:
        from .expression import Expression, Frames
        from .materials import Materials, parse

        super().__init__(shot, enricher)
        settings = shot.settings
        self._frames = Frames(shot.rest, enricher.shown.areas, face_of(paint), settings.jaw_weight > 0.0)
        self._expression = Expression(shot.rest, shot.triangles, paint, enricher.cage, settings)
        self._is_light = settings.expression_inertia < 1.0 or paint.inertia is not None
        self._posed: dict[int, Any] = {}
        self._first: Any = None  # in the first sample, where bones or objects say how it goes on
        self._materials: Materials | None = None
        if paint.materials is not None:
            rows, areas = parse(settings.key_stiffness), enricher.shown.areas
            self._materials = Materials(enricher.cage, areas, rows, paint.materials)

    def summary(self, store: Store) -> dict[str, Any]:
        paint = paint_of_face(self._shot)
        return {**super().summary(store), "face": told(self._shot.triangles, paint)}

    def counts(self) -> dict[str, int]:
        paint = paint_of_face(self._shot)
        told = {name: int(name in paint.frames) for name in FRAMES}
        return {**super().counts(), "keys": 0 if paint.materials is None else len(paint.materials), **told}

    def _outer(self, store: Store, around: Around) -> Outer:
        outer = super()._outer(store, around)
        if self._materials is not None:
            factors = [self._materials.at(store.read("keys", index)[:, 0]) for index in around[1:3]]
            outer = dataclasses.replace(outer, firmness=np.ascontiguousarray(factors))
        if not self._is_light or around[1] == around[2]:  # a way that is none, where it is led to its beginning
            return outer
        posed = tuple(None if index is None else self._pose_of(store, index) for index in around)
        return dataclasses.replace(outer, light=lambda window: self._expression.light(window, posed))

    def _carried_along(self) -> Any:
        """Teeth, gums, eyes: what skull and jaw carry and is no mere film, as lashes and tear lines are."""
        return solid_carried(self._shot.triangles, face_of(paint_of_face(self._shot)))

    def _pose_of(self, store: Store, index: int) -> Any:
        """Where skull and jaw are in a sample: a Posed."""
        if index not in self._posed:
            self._posed = {i: one for i, one in self._posed.items() if abs(i - index) < 8}
            self._posed[index] = self._led(store, index)
        return self._posed[index]

    def _led(self, store: Store, index: int) -> Any:
        """As skin tells it, or as a bone or an object does, from the first sample on."""
        head_frame, jaw_frame = FRAMES
        told = self._frames.at(world(store, index))
        if not {head_frame, jaw_frame} & set(store.own_inputs):
            return told
        if self._first is None:
            self._first = self._frames.at(world(store, 0))

        def way(name: str) -> RigidMotion:
            return motion_between(store.read(name, 0), store.read(name, index))

        head, jaw = self._first.head, self._first.jaw or RigidMotion(np.eye(3), np.zeros(3))
        led = way(head_frame).times(head) if head_frame in store.own_inputs else told.head
        if jaw_frame in store.own_inputs:
            return type(told)(led, led.inverse().times(way(jaw_frame).times(head.times(jaw))))
        return type(told)(led, None if told.jaw is None else led.inverse().times(told.head.times(told.jaw)))
