"""ipctk as a judge of contact. It lives in an environment of its own (`tests/tools/environment.py referee`): questions
and answers go through files.

    build/env/referee/bin/python tests/core/referee.py QUESTION.npz ANSWER.npz
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

PYTHON = Path(__file__).resolve().parents[2] / "build" / "env" / "referee" / "bin" / "python"
AVAILABLE = PYTHON.exists()
TOLERANCE = 1e-7  # of tight inclusion, metres


def ask(name: str, **question: Any) -> dict[str, Any]:
    """What the function of that name below answers."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "question.npz", Path(folder) / "answer.npz"]
        np.savez(files[0], name=name, **question)
        subprocess.run([PYTHON, __file__, *files], check=True)
        with np.load(files[1]) as answer:
            return dict(answer)


def crossings(points: Any, edges: Any, triangles: Any) -> dict[str, Any]:
    """(k, 2): edges and triangles, every one looked at; and whether the whole mesh has any."""
    import ipctk

    found = [
        (e, t)
        for e, edge in enumerate(edges)
        for t, triangle in enumerate(triangles)
        if not set(edge) & set(triangle) and ipctk.is_edge_intersecting_triangle(*points[edge], *points[triangle])
    ]
    mesh = ipctk.CollisionMesh(points, edges, triangles)
    return {"found": np.array(found).reshape(-1, 2), "any": ipctk.has_intersections(mesh, points)}


def frames(rest: Any, edges: Any, triangles: Any, positions: Any) -> dict[str, Any]:
    """Which frames (f, t, 3) have intersections."""
    import ipctk

    mesh = ipctk.CollisionMesh(rest, edges, triangles)
    return {"any": np.array([ipctk.has_intersections(mesh, np.asfortranarray(frame)) for frame in positions])}


def pairs(begin: Any, end: Any, edges: Any, least: Any) -> dict[str, Any]:
    """Distances of pairs (k, 12) at the begin, and when they come nearer than `least` (m, k), 2: never."""
    import ipctk

    judge = ipctk.TightInclusionCCD(TOLERANCE, 10_000_000, 1.0 - 1e-9)
    measure = ipctk.edge_edge_distance if edges else ipctk.point_triangle_distance
    meet = judge.edge_edge_ccd if edges else judge.point_triangle_ccd
    distances, times = np.empty(len(begin)), np.full(least.shape, 2.0)
    for i, (x, y) in enumerate(zip(begin.reshape(-1, 4, 3), end.reshape(-1, 4, 3), strict=True)):
        distances[i] = np.sqrt(measure(*x))
        for m in range(len(least)):
            hit, time = meet(*x, *y, min_distance=float(least[m, i]))
            times[m, i] = time if hit else 2.0
    return {"distances": distances, "times": times}


def candidates(edges: Any, triangles: Any, begin: Any, end: Any, radius: Any) -> dict[str, Any]:
    """Pairs (k, 4) of points that may come nearer than twice the radius on the way: point and triangle, two edges."""
    import ipctk

    mesh = ipctk.CollisionMesh(begin, edges, triangles)
    found = ipctk.Candidates()
    found.build(mesh, np.asfortranarray(begin), np.asfortranarray(end), float(radius))
    faces = [(c.vertex_id, *triangles[c.face_id]) for c in found.fv_candidates]
    both = [(*edges[c.edge0_id], *edges[c.edge1_id]) for c in found.ee_candidates]
    return {"faces": np.array(faces).reshape(-1, 4), "edges": np.array(both).reshape(-1, 4)}


if __name__ == "__main__":
    with np.load(sys.argv[1]) as given:
        asked = dict(given)
    np.savez(sys.argv[2], **globals()[str(asked.pop("name"))](**asked))
