"""What a bake of a face reads from the scene beside the frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.geometry.connected import closed_shells
from ...core.methods.face.layout import FRAMES
from ...core.methods.face.materials import KeyMaterial, parse
from ...core.paint.sharpen import sharpened
from ...scene.carriers import Carrier, find_carrier
from ...scene.fingerprint import Painting
from ...scene.sampler import Rest, Sampler
from ...scene.steps import Steps
from .. import collisions
from ..background import in_thread
from ..flesh import masks
from ..flesh.body import painted_groups, parts_in_steps
from ..flesh.outer import OuterReader
from ..reading import Read, Reading
from . import finding


def _check(ob: Any, settings: Any) -> None:
    finding.check(ob, settings)
    collisions.check(ob, settings)


def _read(sampler: Sampler, rest: Rest, settings: Any, make_group: bool) -> Steps[Read]:
    from ...core.methods.face.painted import make_paint

    ob = sampler.ob
    found = yield from finding.find_in_steps(sampler, rest, settings)
    values = yield from parts_in_steps(sampler, rest, settings)
    values.pop("parts", None)  # those of a face are its own
    if values["safe"] is None and found.face.jaw is not None:
        values["safe"] = rest.positions + found.face.opened
    group = finding.bone_group(ob, settings)
    bone = sharpened((yield from sampler.group_in_steps(group))) if group else None
    rows = parse(settings.key_stiffness)
    if rows:
        where = []
        for row in rows:
            where.append((yield from _acts(sampler, row, found)))
        values["materials"] = np.array(where, np.float64)
    if settings.expression_inertia_group:
        values["inertia"] = np.asarray((yield from sampler.group_in_steps(settings.expression_inertia_group)))
    collided, meeting = yield from collisions.read_in_steps(sampler, settings)
    named = {name: getattr(settings, f"{name.removesuffix('_frame')}_bone") for name in FRAMES}
    frames = {name: find_carrier(ob, carrier) for name, carrier in named.items() if carrier}
    outer = _Outer(OuterReader(sampler, settings, np.zeros(len(rest.positions)), meeting), sampler, rows, frames)
    skull = yield from finding.skull_in_steps(sampler, rest, found.face, settings)
    triangles = np.ascontiguousarray(rest.triangles, np.int32)
    paint = yield from in_thread(
        lambda _: make_paint(
            rest.positions, triangles, found.face, bone, skull, frames=tuple(frames),
            fields=outer.flesh.count, collided=collided, jaw_key=found.jaw_key, told_by=len(found.keys), **values,
        )  # fmt: skip
    )
    return Read(paint, outer)


def _acts(sampler: Sampler, row: KeyMaterial, found: finding.Found) -> Steps[Any]:
    """(t,) where the material of a key acts: in its group, or where the key moves the skin."""
    if row.group:
        return np.asarray((yield from sampler.group_in_steps(row.group)), np.float64)
    length = np.linalg.norm(found.moves[found.keys.index(row.key)], axis=1)
    return np.clip(2.0 * length / length.max(), 0.0, 1.0)


@dataclass(frozen=True)
class _Outer:
    """What acts on all flesh, the values of keys that change the material, and what carries head and jaw."""

    flesh: OuterReader
    sampler: Sampler
    rows: tuple[KeyMaterial, ...]
    frames: Mapping[str, Carrier]

    @property
    def is_there(self) -> bool:
        return self.flesh.is_there or bool(self.rows) or bool(self.frames)

    def read(self) -> dict[str, Any]:
        when = f"frame {self.sampler.frame_now}"
        read = {**self.flesh.read(), **{name: carrier.now(when) for name, carrier in self.frames.items()}}
        if self.rows:
            blocks = self.sampler.ob.data.shape_keys.key_blocks
            read["keys"] = np.array([[blocks[row.key].value] for row in self.rows], np.float64)
        return read


def _marks(ob: Any, settings: Any) -> Mapping[str, Painting]:
    groups = [finding.bone_group(ob, settings), settings.expression_inertia_group, *painted_groups(settings)]
    groups += [row.group for row in parse(settings.key_stiffness)]
    return {"painted": Painting(tuple(group for group in groups if group)), **masks.marks(settings)}


READING = Reading(
    read=_read,
    check=_check,
    marks=_marks,
    reasons={"painted": "A painted region has changed", **masks.REASONS},
    **masks.SHOWN,
    leaves=lambda rest: closed_shells(len(rest.positions), rest.triangles),  # teeth and eyes, no brows
    suits=finding.looks_like_face,
    groups=(finding.BONE_GROUP,),
)
