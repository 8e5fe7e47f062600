"""What `make bench-completion` runs: how well elasticity completes what an input does not show.

A head of ../shared/assets has 57 expressions, sculpted with all that lies inside the mouth. Only the skin, as a face
scan would show it, is given as input; mouth socket and inner lips are completed, and compared with the sculpted ones.
Beside elasticity stand completions without physics: the displacement of the nearest visible vertex, and displacements
interpolated over the mesh as smoothly as a Laplacian (harmonic) or its square (biharmonic) can make them.

    python tests/benchmark/bench_completion.py [EXPRESSION ...]

Writes build/bench/completion.csv, completion.md and completion.png. Without the head it says so and succeeds.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "addon")]

import assets  # noqa: E402
import bpy  # noqa: E402
import drawing  # noqa: E402
import numpy as np  # noqa: E402
import numpy.typing as npt  # noqa: E402
import stage  # noqa: E402
from building import add_colors, add_mesh  # noqa: E402
from sinew.core.flesh.enricher import Enricher  # noqa: E402
from sinew.core.flesh.settings import Settings  # noqa: E402
from sinew.core.paint.parts import make_parts  # noqa: E402

Floats = npt.NDArray[np.float64]

FILE = assets.FOLDER / "ict_facekit" / "ict_face_57shapes.blend"
TABLES = ROOT / "build" / "bench"
METRES = 0.01  # the file is in centimetres
LIPS = 4  # edges from the mouth socket: that far the skin of the lips counts as inside the mouth
EXPRESSIONS = (
    *("jawOpen", "jawForward", "mouthSmile_L", "mouthPucker", "mouthFunnel", "mouthLeft", "mouthStretch_L"),
    *("mouthRollLower", "mouthUpperUp_L", "cheekPuff_L"),
)
PICTURED = ("jawOpen", "mouthSmile_L", "mouthPucker")
HOTTEST = 8.0  # millimetres
SETTINGS = {"resolution": 24, "smoothing": 0.02, "simulate": False}


@dataclass
class Head:
    rest: Floats  # (t, 3) metres
    triangles: npt.NDArray[np.int32]
    edges: npt.NDArray[np.int32]
    moves: dict[str, Floats]  # (t, 3) displacements of each expression
    groups: dict[str, npt.NDArray[np.bool_]]


def load() -> Head:
    bpy.ops.wm.open_mainfile(filepath=str(FILE), load_ui=False)
    ob: Any = next(ob for ob in bpy.data.objects if ob.type == "MESH")
    mesh = ob.data
    turn = METRES * np.array(ob.matrix_world)[:3, :3]
    shapes = {}
    for key in mesh.shape_keys.key_blocks:
        flat = np.empty(3 * len(key.data), np.float32)
        key.data.foreach_get("co", flat)
        shapes[key.name] = flat.reshape(-1, 3).astype(float) @ turn.T
    mesh.calc_loop_triangles()
    triangles = np.array([triangle.vertices for triangle in mesh.loop_triangles], np.int32)
    edges = np.array([edge.vertices for edge in mesh.edges], np.int32)
    groups = {group.name: np.zeros(len(mesh.vertices), bool) for group in ob.vertex_groups}
    names = {group.index: group.name for group in ob.vertex_groups}
    for vertex in mesh.vertices:
        for element in vertex.groups:
            groups[names[element.group]][vertex.index] = element.weight > 0.5
    rest = shapes.pop("Basis")
    return Head(rest, triangles, edges, {name: shape - rest for name, shape in shapes.items()}, groups)


def grown(inside: npt.NDArray[np.bool_], edges: npt.NDArray[np.int32], rings: int) -> npt.NDArray[np.bool_]:
    inside = inside.copy()
    for _ in range(rings):
        inside[edges[inside[edges].any(axis=1)]] = True
    return inside


class Smooth:
    """Displacements of the hidden vertices as smooth as those around them allow: the Laplacian of the mesh's edges, or
    its square, vanishes there."""

    def __init__(self, head: Head, hidden: npt.NDArray[np.bool_], power: int) -> None:
        self._hidden = hidden
        self._near = np.flatnonzero(grown(hidden, head.edges, 2))  # all that has a part in it
        number = np.full(len(head.rest), -1)
        number[self._near] = np.arange(len(self._near))
        edges = number[head.edges]
        edges = edges[(edges >= 0).all(axis=1)]
        laplacian = np.zeros((len(self._near), len(self._near)))
        for a, b in (edges.T, edges[:, ::-1].T):
            np.add.at(laplacian, (a, b), -1.0)
            np.add.at(laplacian, (a, a), 1.0)
        self._open = hidden[self._near]
        matrix = np.linalg.matrix_power(laplacian, power)
        self._known = -matrix[self._open][:, ~self._open]
        self._inverse = np.linalg.inv(matrix[self._open][:, self._open])

    def __call__(self, move: Floats) -> Floats:
        completed = move.copy()
        completed[self._hidden] = self._inverse @ (self._known @ move[self._near[~self._open]])
        return completed


def nearest(head: Head, hidden: npt.NDArray[np.bool_], seen: npt.NDArray[np.bool_]) -> Callable[[Floats], Floats]:
    given = np.flatnonzero(seen)
    closest = [given[((head.rest[given] - point) ** 2).sum(axis=1).argmin()] for point in head.rest[hidden]]

    def complete(move: Floats) -> Floats:
        completed = move.copy()
        completed[hidden] = move[closest]
        return completed

    return complete


class Elastic:
    """What a bake that only fits makes of one frame; teeth and eyes are rigid."""

    def __init__(self, head: Head, seen: npt.NDArray[np.bool_]) -> None:
        rigid = head.groups["Teeth"] | head.groups["Eyeballs"]
        self._rest, self._seen = head.rest, seen
        self.parts = make_parts(seen.astype(float), rigid.astype(float), len(head.rest), head.edges)
        settings, follow = Settings().replace(SETTINGS), np.ones(len(head.rest))
        self.enricher = Enricher(head.rest, head.triangles, follow, settings, parts=self.parts)
        self.bent = 0.0  # how much rigid parts have changed their shape, metres

    def __call__(self, move: Floats) -> Floats:
        given = np.where(self._seen[:, None], self._rest + move, 0.0)  # the rest is nonsense that nobody may look at
        cage = self.enricher.fit(given).positions
        completed = self.enricher.surface(cage, cage, given)
        self.bent = max(self.bent, self._bending(completed))
        return completed - self._rest

    def _bending(self, completed: Floats) -> float:
        worst = 0.0
        for part in range(self.parts.rigid.max() + 1):
            own = np.flatnonzero(self.parts.rigid == part)
            lengths = [np.linalg.norm(points[own] - points[own[0]], axis=1) for points in (self._rest, completed)]
            worst = max(worst, float(np.abs(lengths[0] - lengths[1]).max()))
        return worst


def errors(completed: Floats, true: Floats, judged: npt.NDArray[np.bool_]) -> tuple[float, float, float]:
    """Root mean square and largest distance from the sculpted shape in millimetres, and the first relative to how far
    the sculpted shape moves."""
    off = np.linalg.norm((completed - true)[judged], axis=1)
    rms, size = (float(np.sqrt((lengths**2).mean())) for lengths in (off, np.linalg.norm(true[judged], axis=1)))
    return 1000 * rms, 1000 * float(off.max()), rms / size


def draw_mouth(head: Head, judged: npt.NDArray[np.bool_], shape: Floats, off: Floats | None, place: Any) -> None:
    """The inside of the mouth, seen from the side and a little behind, in the colours of its errors."""
    faces = head.triangles[judged[head.triangles].all(axis=1)]
    used, corners = np.unique(faces, return_inverse=True)
    points = (head.rest + shape)[used]
    ob = add_mesh("mouth", 30.0 * (points - head.rest[judged].mean(axis=0)), corners.reshape(-1, 3).tolist())
    if off is None:
        add_colors(ob, "Color", np.full((len(used), 3), 0.45))
    else:
        add_colors(ob, "Color", stage.heat_colors(np.clip(1000 * off[used] / HOTTEST, 0.0, 1.0))[:, :3])
    ob.rotation_euler, ob.location = (np.radians(-75.0), np.radians(-20.0), np.radians(115.0)), place
    for polygon in ob.data.polygons:
        polygon.use_smooth = True


def draw_picture(
    head: Head, judged: npt.NDArray[np.bool_], completed: dict[str, dict[str, Floats]], path: Path
) -> None:
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    methods = list(next(iter(completed.values())))
    for column, title in enumerate(["as sculpted", *methods]):
        drawing.write(title, 3.6 * column, 2.1, size=0.42)
    for row, (name, found) in enumerate(completed.items()):
        low = -4.0 * row
        true = head.moves[name]
        drawing.write(name, -2.6, low, size=0.34)
        draw_mouth(head, judged, true, None, (0.0, low, 0.0))
        for column, method in enumerate(methods, start=1):
            off = np.linalg.norm(found[method] - true, axis=1)
            draw_mouth(head, judged, found[method], off, (3.6 * column, low, 0.0))
            drawing.write(f"{errors(found[method], true, judged)[0]:.1f} mm rms", 3.6 * column, low - 1.9, size=0.3)
    width = 3.6 * (len(methods) + 1) + 2.2
    height = 4.0 * len(completed) + 0.9
    drawing.picture(path, -4.0, 2.6 - height, width, (1400, int(1400 * height / width)), solid=True)


def write_tables(rows: list[dict[str, Any]]) -> None:
    TABLES.mkdir(parents=True, exist_ok=True)
    with open(TABLES / "completion.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    lines += ["| " + " | ".join(map(str, row.values())) + " |" for row in rows]
    (TABLES / "completion.md").write_text("\n".join(lines) + "\n")


def main(names: list[str]) -> int:
    if not FILE.is_file():
        print(f"skipped: {FILE} is not there")
        return 0
    head = load()
    judged = grown(head.groups["MouthSocket"], head.edges, LIPS)
    seen = ~(judged | head.groups["GumsTongue"] | head.groups["Teeth"])
    elastic = Elastic(head, seen)
    methods: dict[str, Callable[[Floats], Floats]] = {
        "elasticity": elastic,
        "nearest": nearest(head, judged, seen),
        "harmonic": Smooth(head, judged, 1),
        "biharmonic": Smooth(head, judged, 2),
    }
    tets = len(elastic.enricher.cage.tets)
    print(f"{judged.sum()} of {len(head.rest)} vertices are judged, the cage has {tets} tets")
    rows, pictured, relative = [], {}, {method: [] for method in methods}
    for name in names or EXPRESSIONS:
        true = head.moves[name]
        found = {method: complete(true) for method, complete in methods.items()}
        row: dict[str, Any] = {"expression": name}
        for method, completed in found.items():
            rms, most, share = errors(completed, true, judged)
            row[f"{method} rms mm"], row[f"{method} max mm"] = f"{rms:.2f}", f"{most:.1f}"
            row[f"{method} %"] = f"{100 * share:.0f}"
            relative[method].append(share)
        rows.append(row)
        print(f"{name:16}" + "".join(f"{value:>8}" for value in list(row.values())[1:]), flush=True)
        if name in PICTURED:
            pictured[name] = found
    write_tables(rows)
    shares = {method: float(np.sqrt(np.mean(np.square(values)))) for method, values in relative.items()}
    print("of the displacement, rms: " + ", ".join(f"{method} {100 * share:.0f} %" for method, share in shares.items()))
    print(f"rigid parts keep their lengths to {1e6 * elastic.bent:.2g} micrometres")
    if pictured:
        draw_picture(head, judged, pictured, TABLES / "completion.png")
    own = shares.pop("elasticity")
    return 0 if own < 0.8 * min(shares.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
