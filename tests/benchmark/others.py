"""Bodies of other people's making, out of packages of Debian 12, with the places of their named parts.

    apt-get download cube2-data megaglest-data assimp-testmodels
    for package in *.deb; do dpkg -x $package FOLDER; done
    SINEW_OTHERS=FOLDER ... tests/benchmark/weights.py

None of them is part of Sinew. Three have bones (IQM), the others are rows of meshes (G3D). Parts are told by bones, or
by boxes as fractions of the body's own box; they were chosen before weights were looked at.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from anatomy import Labelled, edges_of
from sinew.core.paint.follow import Segment

Floats = npt.NDArray[np.float64]
Box = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]  # from left to right, front to back, upwards

FOLDER = Path(os.environ.get("SINEW_OTHERS", "/nowhere"))
_ALL = (0.0, 1.0)


@dataclass(frozen=True)
class Other:
    file: str
    bones: dict[str, tuple[str, ...]] = field(default_factory=dict)  # part: beginnings of names of its bones
    boxes: dict[str, tuple[Box, ...]] = field(default_factory=dict)


_CUBE, _GLEST = "usr/share/games/cube2/packages/models/", "usr/share/games/megaglest/techs/megapack/factions/"
_RIG = {
    "held skull": ("Head",),
    "free ears": ("Ear.",),
    "held hands": ("Hand", "Finger"),
    "held feet": ("UpperFoot", "LowerFoot"),
}

OTHERS = {
    "frankie": Other(
        _CUBE + "frankie/Frankie.iqm",
        {
            "held skull": ("CTRL_Head", "CTRL_Eye", "Eye", "SKCTRL"),
            "free ears": ("CTRL_Ear",),
            "held hands": ("CTRL_FK_Hand", "CTRL_FK_Fingers"),
            "held feet": ("CTRL_FK_Foot", "CTRL_FK_Toe"),
            "free tail": tuple(f"Tail_{number}" for number in range(2, 9)),
        },
        {"free belly": (((0.4, 0.6), (0.15, 0.21), (0.2, 0.42)),)},
    ),
    "snout": Other(_CUBE + "snoutx10k/snoutx10k.iqm", {part: _RIG[part] for part in _RIG if part != "free ears"}),
    "fixit": Other("usr/share/assimp/models/IQM/mrfixit.iqm", _RIG),
    "glest_cow": Other(
        _GLEST + "norsemen/units/cow/models/cow_walking.g3d",
        boxes={
            "held skull": (((0.3, 0.7), (0.0, 0.14), (0.65, 1.0)),),
            "free ears": (((0.0, 0.3), (0.0, 0.25), (0.85, 1.0)), ((0.7, 1.0), (0.0, 0.25), (0.85, 1.0))),
            "held feet": ((_ALL, _ALL, (0.0, 0.12)),),
        },
    ),
    "dragon": Other(
        _GLEST + "magic/units/dragon/models/dragon_walking.g3d",
        boxes={
            "held skull": (((0.4, 0.6), (0.0, 0.18), (0.15, 0.4)),),
            "free tail": (((0.44, 0.56), (0.72, 1.0), (0.18, 1.0)),),
        },
    ),
    "behemoth": Other(
        _GLEST + "magic/units/behemoth/models/behemoth_walking.g3d",
        boxes={
            "held skull": (((0.4, 0.6), (0.4, 0.6), (0.75, 0.87)),),
            "held feet": ((_ALL, _ALL, (0.0, 0.07)),),
            "held hands": ((_ALL, (0.0, 0.15), (0.4, 0.6)),),
        },
    ),
    "anubis": Other(
        _GLEST + "egypt/units/anubis_warrior/models/anubis_walking.g3d",
        boxes={
            "free ears": ((_ALL, _ALL, (0.86, 1.0)),),
            "held skull": ((_ALL, (0.18, 0.5), (0.68, 0.82)),),
            "held feet": ((_ALL, (0.0, 0.28), (0.0, 0.2)), (_ALL, (0.72, 1.0), (0.0, 0.15))),
        },
    ),
    "thor": Other(
        _GLEST + "norsemen/units/thor/models/thor_walking.g3d",
        boxes={
            "held skull": (((0.4, 0.75), (0.45, 0.75), (0.52, 0.6)),),
            "held feet": ((_ALL, _ALL, (0.0, 0.08)),),
            "free cape": ((_ALL, (0.72, 1.0), (0.25, 0.5)),),
        },
    ),
    "golem": Other(
        _GLEST + "magic/units/golem/models/golem_walking.g3d",
        boxes={
            "held hands": (((0.0, 0.1), _ALL, (0.0, 0.25)), ((0.9, 1.0), _ALL, (0.0, 0.25))),
            "held feet": (((0.2, 0.8), _ALL, (0.0, 0.2)),),
        },
    ),
    "chicken": Other(
        _GLEST + "egypt/units/chicken/models/chicken_walking.g3d",
        boxes={
            "held skull": ((_ALL, (0.0, 0.22), (0.7, 0.93)),),
            "free tail": ((_ALL, (0.85, 1.0), (0.5, 1.0)),),
            "held feet": ((_ALL, _ALL, (0.0, 0.12)),),
        },
    ),
}


def is_there(key: str) -> bool:
    return (FOLDER / OTHERS[key].file).is_file()


def load(key: str) -> tuple[Labelled, Floats]:
    """The body, and frames (T, t, 3) of its animation; none of one with bones."""
    other = OTHERS[key]
    read = _read_iqm if other.file.endswith(".iqm") else _read_g3d
    positions, triangles, bones, skin, frames = read((FOLDER / other.file).read_bytes())
    first, triangles = _welded(
        positions if not len(frames) else np.concatenate([frames[0], frames[-1]], axis=1), triangles
    )
    positions, skin, frames = positions[first], skin[first], frames[:, first]
    places = (positions - positions.min(axis=0)) / np.ptp(positions, axis=0)
    parts = {
        part: np.flatnonzero(skin[:, [bone.name.startswith(names) for bone in bones]].sum(axis=1) > 0.7)
        for part, names in other.bones.items()
    }
    for part, boxes in other.boxes.items():
        inside = np.zeros(len(positions), bool)
        for box in boxes:
            low, high = np.array(box).T
            inside |= ((places >= low) & (places <= high)).all(axis=1)
        parts[part] = np.flatnonzero(inside)
    return Labelled(positions, triangles, edges_of(triangles), bones, skin, parts), frames


def _welded(places: Floats, triangles: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """One vertex for all that lie in one place, always; and the triangles that are left."""
    rounded = np.round(places / (1e-5 * np.ptp(places[:, :3], axis=0).max()))
    _, first, inverse = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    triangles = inverse.reshape(-1)[triangles]
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    used = np.unique(triangles)
    return first[used], np.searchsorted(used, triangles).astype(np.int32)


Body = tuple[Floats, npt.NDArray[np.int32], list[Segment], npt.NDArray[np.float32], Floats]


def _read_iqm(data: bytes) -> Body:
    """Inter-Quake Model: a mesh with joints in their places at rest."""
    if data[:16] != b"INTERQUAKEMODEL\0":
        raise ValueError("no Inter-Quake Model")
    header = struct.unpack_from("<27I", data, 16)
    text, (array_count, count, arrays), (faces, face_place) = header[4], header[7:10], header[10:12]
    joint_count, joint_place = header[13:15]
    columns: dict[int, npt.NDArray[np.float64]] = {}
    for number in range(array_count):
        kind, _, form, width, place = struct.unpack_from("<5I", data, arrays + 20 * number)
        if kind in (0, 4, 5):  # positions, bones and their weights
            dtype = np.float32 if form == 7 else np.uint8
            columns[kind] = np.frombuffer(data, dtype, count * width, place).reshape(-1, width).astype(np.float64)
    triangles = np.frombuffer(data, np.uint32, 3 * faces, face_place).reshape(-1, 3).astype(np.int32)
    names, parents, matrices = [], [], []
    for number in range(joint_count):
        name, parent, *numbers = struct.unpack_from("<Ii10f", data, joint_place + 48 * number)
        names.append(data[text + name : data.index(b"\0", text + name)].decode())
        parents.append(parent)
        own = _matrix(np.array(numbers[:3]), np.array(numbers[3:7]), np.array(numbers[7:]))
        matrices.append(own if parent < 0 else matrices[parent] @ own)
    heads = [matrix[:3, 3] for matrix in matrices]
    bones = []
    for number, name in enumerate(names):
        children = [heads[i] for i in range(joint_count) if parents[i] == number]
        tail = np.mean(children, axis=0) if children else heads[number] + (0.0, 0.0, 1e-3)
        bones.append(Segment(name, tuple(heads[number]), tuple(tail), parents[number], not children))
    skin = np.zeros((count, joint_count), np.float32)
    for corner in range(4):
        np.add.at(skin, (np.arange(count), columns[4][:, corner].astype(int)), columns[5][:, corner] / 255.0)
    return columns[0], triangles, bones, skin, np.zeros((0, count, 3))


def _matrix(place: Floats, quaternion: Floats, scale: Floats) -> Floats:
    x, y, z, w = quaternion / np.linalg.norm(quaternion)
    turn = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = turn * scale, place
    return matrix


def _read_g3d(data: bytes) -> Body:
    """Glest's models: meshes of which every frame is written out, Y up."""
    if data[:4] != b"G3D\x04":
        raise ValueError("no model of Glest, version 4")
    (count,) = struct.unpack_from("<H", data, 4)
    place, base = 7, 0
    rows: list[Floats] = []
    triangles: list[npt.NDArray[np.int64]] = []
    for _ in range(count):
        frames, vertices, corners = struct.unpack_from("<3I", data, place + 64)
        (textures,) = struct.unpack_from("<I", data, place + 112)
        place += 116 + 64 * textures.bit_count()
        row = np.frombuffer(data, np.float32, 3 * frames * vertices, place).reshape(frames, vertices, 3)
        place += 24 * frames * vertices + (8 * vertices if textures else 0)
        triangles.append(np.frombuffer(data, np.uint32, corners, place).reshape(-1, 3).astype(np.int64) + base)
        place, base = place + 4 * corners, base + vertices
        rows.append(row.astype(np.float64)[:, :, [0, 2, 1]] * (1.0, -1.0, 1.0))
    longest = max(len(row) for row in rows)
    frames = np.concatenate([row[np.linspace(0, len(row) - 1, longest).astype(int)] for row in rows], axis=1)
    skin = np.zeros((base, 0), np.float32)
    return frames[0], np.concatenate(triangles).astype(np.int32), [], skin, frames


MAKERS: dict[str, Callable[[], Labelled]] = {key: (lambda key=key: load(key)[0]) for key in OTHERS}
