"""What a report says of a face, beside what it says of all flesh."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...bake.method import Told
from ...flesh import report as flesh
from ...geometry.connected import connected_pieces
from ...paint.face import JAW, SKULL, Face
from .painted import FacePaint, Ints, face_of


def told(triangles: Ints, paint: FacePaint) -> dict[str, Any]:
    """What was found."""
    face = face_of(paint)
    skull, jaw = carried_parts(triangles, face)
    return {
        "keys": paint.told_by,
        "jaw_key": paint.jaw_key,
        "jaw_degrees": 0.0 if face.jaw is None else float(np.degrees(face.jaw.angle)),
        "skull_parts": skull,
        "jaw_parts": jaw,
        "free_vertices": int(face.is_free.sum()),
        "face_size": face.size,
        "depth": [float(x) / face.size for x in np.quantile(face.depth[face.is_free], (0.05, 0.5, 0.95))],
    }


def carried_parts(triangles: Ints, face: Face) -> tuple[int, int]:
    """How many loose parts skull and jaw carry."""
    edges = np.concatenate([triangles[:, :2], triangles[:, 1:]])
    pieces = connected_pieces(len(face.carrier), edges)
    used = np.isin(np.arange(len(face.carrier)), triangles)
    return tuple(len(np.unique(pieces[used & (face.carrier == who)])) for who in (SKULL, JAW))  # type: ignore[return-value]


def lines(found: Mapping[str, Any]) -> tuple[str, ...]:
    """For a panel."""
    by = f"{found['keys']} shape keys" if found["keys"] else "the animation"
    jaw = f"{found['jaw_key'] or 'found'}, {found['jaw_degrees']:.0f}°" if found["jaw_degrees"] else "none"
    low, _, high = (100.0 * share for share in found["depth"])
    return (
        f"Told by {by}",
        f"Jaw: {jaw}",
        f"Rigid: {found['skull_parts']} on the skull, {found['jaw_parts']} on the jaw",
        f"Flesh: {found['free_vertices']:,} vertices, {low:.0f} to {high:.0f} % of the face deep",
    )


def tell(report: Mapping[str, Any]) -> Told:
    of_flesh = flesh.tell(report)
    found = lines(report["face"]) if report.get("face") else ()
    if report.get("spliced"):
        frames = report["spliced"]
        found += (f"{len(frames)} frames from {frames[0]:g} on as baked before; Bake Whole for all",)
    return dataclasses.replace(of_flesh, lines=(*of_flesh.lines, *found), panel=(*found, *of_flesh.panel))
