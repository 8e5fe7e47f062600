"""The helper process: fills a closed surface with tets by Gmsh. A script of its own, for any Python 3.8 and later.

    python child.py LIBRARY FOLDER SECONDS

reads FOLDER/surface, and writes FOLDER/tets and exits 0, or writes FOLDER/error, one line, and exits with a code below.
Gmsh can hang, crash or end its process: nothing else runs here, and it sees no window and no settings of the user.
"""

from __future__ import annotations

import array
import ctypes
import os
import sys
from pathlib import Path

STARTED = "started"  # a file that says that a Python runs this
CANNOT_LOAD = 3
CANNOT_FILL = 4

_MEMORY = 8 << 30  # bytes of address space
_TRIANGLE, _TET = 2, 4  # Gmsh's numbers of element types
_DELAUNAY = 1  # the 3D algorithm that is deterministic and does not end the process
_OPTIONS = {
    "General.Terminal": 0,
    "General.NumThreads": 1,
    "Mesh.Algorithm3D": _DELAUNAY,
    "Mesh.Optimize": 1,
    "Mesh.MeshSizeExtendFromBoundary": 0,  # the field below does it, and lets tets grow inwards
    "Mesh.MeshSizeFromPoints": 0,
}
_GROWN = 2.0  # edge of the tets deep inside, cells
_DEEP = 4.0  # where that is, cells below the surface


def write_mesh(path: Path, positions: array.array[float], corners: array.array[int], cell: float) -> None:
    """Positions x y z ... and corners, from 0; cell: edge of a cell of the lattice."""
    with open(path, "wb") as file:
        array.array("d", [cell, len(positions), len(corners)]).tofile(file)
        positions.tofile(file)
        corners.tofile(file)


def read_mesh(path: Path) -> tuple[array.array[float], array.array[int], float]:
    """What `write_mesh` wrote; ValueError or EOFError for anything else."""
    head, positions, corners = array.array("d"), array.array("d"), array.array("i")
    with open(path, "rb") as file:
        head.fromfile(file, 3)
        counts = [int(count) for count in head[1:]]
        if min(counts) < 0 or path.stat().st_size != 24 + 8 * counts[0] + 4 * counts[1]:
            raise ValueError("the size is wrong")
        positions.fromfile(file, counts[0])
        corners.fromfile(file, counts[1])
    return positions, corners, head[0]


class GmshError(Exception):
    pass


class Gmsh:
    """The few functions of the C interface that are needed, each followed by a look at its error."""

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)
        self.call("Initialize", 0, None, 0, 0)

    def call(self, name: str, *arguments: object) -> int:
        failed = ctypes.c_int(0)
        function = getattr(self._library, f"gmsh{name}")
        result = function(*(_converted(one) for one in arguments), ctypes.byref(failed))
        if failed.value:
            raise GmshError(self._last_error() or name)
        return int(result)

    def option(self, name: str, value: float) -> None:
        self.call("OptionSetNumber", name, float(value))

    def _last_error(self) -> str:
        text, failed = ctypes.c_char_p(), ctypes.c_int(0)
        self._library.gmshLoggerGetLastError(ctypes.byref(text), ctypes.byref(failed))
        return (text.value or b"").decode(errors="replace").strip()


def _converted(value: object) -> object:
    if isinstance(value, str):
        return value.encode()
    return ctypes.c_double(value) if isinstance(value, float) else value


def _sizes(values: list[int] | range) -> ctypes.Array[ctypes.c_size_t]:
    return (ctypes.c_size_t * len(values))(*values)


def fill(
    gmsh: Gmsh, positions: array.array[float], corners: array.array[int], cell: float
) -> tuple[array.array[float], array.array[int]]:
    """Positions, those of the surface first, and tets. The surface stays as it is; tets grow towards the inside."""
    for name, value in _OPTIONS.items():
        gmsh.option(name, value)
    gmsh.call("ModelAdd", "cage")
    surface = gmsh.call("ModelAddDiscreteEntity", 2, -1, None, ctypes.c_size_t(0))
    count = len(positions) // 3
    tags, nodes = _sizes(range(1, count + 1)), _sizes([corner + 1 for corner in corners])
    places = (ctypes.c_double * len(positions)).from_buffer(positions)
    nothing = ctypes.c_size_t(0)
    gmsh.call(
        "ModelMeshAddNodes", 2, surface, tags, ctypes.c_size_t(count), places, ctypes.c_size_t(3 * count), None, nothing
    )
    gmsh.call(
        "ModelMeshAddElementsByType", surface, _TRIANGLE, None, nothing, nodes, ctypes.c_size_t(len(corners))
    )
    shell = gmsh.call("ModelGeoAddSurfaceLoop", (ctypes.c_int * 1)(surface), ctypes.c_size_t(1), -1)
    gmsh.call("ModelGeoAddVolume", (ctypes.c_int * 1)(shell), ctypes.c_size_t(1), -1)
    gmsh.call("ModelGeoSynchronize")
    field = gmsh.call("ModelMeshFieldAdd", "Extend", -1)
    surfaces = (ctypes.c_double * 1)(surface)
    gmsh.call("ModelMeshFieldSetNumbers", field, "SurfacesList", surfaces, ctypes.c_size_t(1))
    gmsh.call("ModelMeshFieldSetNumber", field, "DistMax", _DEEP * cell)
    gmsh.call("ModelMeshFieldSetNumber", field, "SizeMax", _GROWN * cell)
    gmsh.call("ModelMeshFieldSetAsBackgroundMesh", field)
    gmsh.call("ModelMeshGenerate", 3)
    return _result(gmsh)


def _result(gmsh: Gmsh) -> tuple[array.array[float], array.array[int]]:
    sizes, doubles = ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_double)
    tags, places, unused, count = sizes(), doubles(), doubles(), ctypes.c_size_t(0)
    other = ctypes.byref(ctypes.c_size_t(0))  # counts that follow from the first
    by = ctypes.byref
    gmsh.call("ModelMeshGetNodes", by(tags), by(count), by(places), other, by(unused), other, -1, -1, 0, 0)
    order = sorted(range(count.value), key=lambda index: tags[index])
    number = {tags[index]: new for new, index in enumerate(order)}
    positions = array.array("d", (places[3 * index + axis] for index in order for axis in range(3)))
    elements, nodes = sizes(), sizes()
    task, tasks = ctypes.c_size_t(0), ctypes.c_size_t(1)
    gmsh.call("ModelMeshGetElementsByType", _TET, by(elements), other, by(nodes), by(count), -1, task, tasks)
    return positions, array.array("i", (number[nodes[index]] for index in range(count.value)))


def _limit(seconds: int) -> None:
    """What the parent cannot do when it is killed itself: end a helper that hangs or eats the memory."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def main(library: str, folder: Path, seconds: int) -> int:
    (folder / STARTED).touch()
    _limit(seconds)
    try:
        gmsh = Gmsh(library)
    except (OSError, AttributeError, GmshError) as error:
        (folder / "error").write_text(str(error))
        return CANNOT_LOAD
    try:
        positions, corners, cell = read_mesh(folder / "surface")
        write_mesh(folder / "tets", *fill(gmsh, positions, corners, cell), cell)
    except (GmshError, MemoryError) as error:
        (folder / "error").write_text(str(error) or "out of memory")
        return CANNOT_FILL
    return 0


if __name__ == "__main__":
    # Blender, in the place of a Python, has options of its own before the dashes.
    _given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    # Without the farewells of Gmsh and Blender, which may crash when all is done.
    os._exit(main(_given[0], Path(_given[1]), int(_given[2])))
