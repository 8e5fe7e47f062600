"""Dependencies point one way: reads include and import lines, and fails on an upward one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ["base", "math", "mesh", "energy", "contact", "dynamics", "method", "python"]

# What hides behind one file of ours: pattern, then the only stems that may name it.
HIDDEN = [
    (re.compile(r"cholmod", re.IGNORECASE), "CHOLMOD", {"math/linear_solver"}),
    (re.compile(r"\bds[ae]upd|arpack", re.IGNORECASE), "ARPACK", {"math/eigensolver"}),
    (re.compile(r"\bomp_\w+|#\s*pragma\s+omp|<omp\.h>"), "OpenMP", {"base/parallel"}),
    (re.compile(r"<gmsh|gmshc\.h|\bgmsh\w+\s*\("), "Gmsh", {"mesh/tetrahedralize"}),
]
BLENDER_MODULES = {"bpy", "bmesh", "mathutils", "gpu", "bpy_extras", "blf", "addon_utils"}
FORBIDDEN_PARTS = {"core": {"scene", "ui"}, "scene": {"core", "ui", "_native"}, "ui": {"_native"}, "": {"_native"}}


def _method(path: str) -> str:
    """A method is a folder: method/enrich/flesh.c is of enrich."""
    return path.split("/")[1]


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)


def include_violations(native: Path) -> Iterator[str]:
    for file in sorted([*native.glob("**/*.c"), *native.glob("**/*.h")]):
        name = file.relative_to(native).as_posix()
        layer = file.relative_to(native).parts[0]
        if layer not in LAYERS:
            yield f"{name}: {layer} is not a layer"
            continue
        if layer == "method" and name.count("/") != 2:
            yield f"{name}: a file of a method lies in the method's folder"
            continue
        text = without_comments(file.read_text())
        for included in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
            other = included.split("/")[0]
            if "/" not in included or other not in LAYERS:
                yield f'{name}: "{included}" is not written from native/'
            elif LAYERS.index(other) > LAYERS.index(layer):
                yield f"{name}: includes {included}, which lies above it"
            elif layer == other == "method" and _method(included) != _method(name):
                yield f"{name}: includes another method, {included}"
        if layer != "python" and "Python.h" in text:
            yield f"{name}: includes Python.h outside native/python"
        for pattern, what, owners in HIDDEN:
            stem = name.rsplit(".", 1)[0]
            if pattern.search(text) and stem not in owners:
                yield f"{name}: names {what}, which only {', '.join(sorted(owners))} may"


def imports(tree: ast.Module) -> Iterator[tuple[ast.stmt, str, int, bool]]:
    """Statement, dotted name, relative level, whether it runs when the module is imported."""

    def walk(node: ast.AST, lazy: bool) -> Iterator[tuple[ast.stmt, str, int, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield child, alias.name, 0, not lazy
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                for alias in child.names:
                    yield child, f"{base}.{alias.name}".lstrip("."), child.level, not lazy
            else:
                inner = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                yield from walk(child, lazy or inner or is_type_checking(child))

    yield from walk(tree, False)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def import_violations(package: Path) -> Iterator[str]:
    for file in sorted(package.glob("**/*.py")):
        parts = file.relative_to(package).parts
        name, part = "/".join(parts), parts[0] if len(parts) > 1 else ""
        tree = ast.parse(file.read_text(), name)
        for statement, dotted, level, eager in imports(tree):
            where = f"{name}:{statement.lineno}"
            top = dotted.split(".")[0]
            if level == 0:
                if top == "sinew":
                    yield f"{where}: imports sinew by its absolute name"
                if top in BLENDER_MODULES and part not in ("scene", "ui") and (part or eager):
                    yield f"{where}: imports {top} outside scene and ui"
                continue
            # The folder that the dots lead to, then the first name below the package.
            target = [*parts[: len(parts) - level], *dotted.split(".")] if level <= len(parts) else ["", "beyond"]
            if level > len(parts):
                yield f"{where}: imports from above the package"
            elif target[0] != part and target[0] in FORBIDDEN_PARTS[part if part in FORBIDDEN_PARTS else ""]:
                yield f"{where}: {part or 'the package'} imports {target[0]}"
        if name != "scene/compat.py":
            for line in version_lines(tree):
                yield f"{name}:{line}: asks for Blender's version outside scene/compat.py"


def version_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.search(r"\bapp\.version\w*$", ast.unparse(node)):
            yield node.lineno


def violations(root: Path) -> list[str]:
    return [*include_violations(root / "native"), *import_violations(root / "addon" / "sinew")]


def test_no_include_or_import_points_upward():
    assert violations(ROOT) == []


def test_the_reader_sees_the_real_tree():
    assert len(list((ROOT / "native").glob("**/*.c"))) >= 10
    assert len(list((ROOT / "addon" / "sinew").glob("**/*.py"))) >= 5


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("native/mesh/a.c", '#include "energy/b.h"\n'),
        ("native/base/a.h", '#  include "math/b.h"\n'),
        ("native/mesh/a.c", '#include "a.h"\n'),
        ("native/mesh/a.c", '#include "../base/a.h"\n'),
        ("native/other/a.c", "int a;\n"),
        ("native/method/a/b.c", '#include "method/c/d.h"\n'),
        ("native/method/a/b.c", '#include "method/d.h"\n'),
        ("native/method/a.c", "int a;\n"),
        ("native/method/a/b.c", "#include <Python.h>\n"),
        ("native/math/a.c", "#include <suitesparse/cholmod.h>\n"),
        ("native/dynamics/a.c", "void f(void) { cholmod_start(0); }\n"),
        ("native/math/a.c", "extern void dsaupd_(int *);\n"),
        ("native/math/a.c", "#pragma omp parallel for\n"),
        ("native/math/a.c", "int f(void) { return omp_get_max_threads(); }\n"),
        ("addon/sinew/core/a.py", "import bpy\n"),
        ("addon/sinew/core/a.py", "def f():\n    import bpy\n"),
        ("addon/sinew/core/a.py", "from bpy.types import Object\n"),
        ("addon/sinew/core/a.py", "from ..scene import b\n"),
        ("addon/sinew/core/a.py", "from ..scene.b import c\n"),
        ("addon/sinew/core/a.py", "def f():\n    from .. import scene\n"),
        ("addon/sinew/scene/a.py", "from ..core.b import c\n"),
        ("addon/sinew/scene/a.py", "from .. import _native\n"),
        ("addon/sinew/scene/a.py", "from ..ui import b\n"),
        ("addon/sinew/core/a.py", "import sinew.core.b\n"),
        ("addon/sinew/core/a.py", "from sinew.core import b\n"),
        ("addon/sinew/core/a.py", "from ... import b\n"),
        ("addon/sinew/__init__.py", "import bpy\n"),
        ("addon/sinew/scene/a.py", "import bpy\nnew = bpy.app.version >= (4, 0, 0)\n"),
        ("addon/sinew/ui/a.py", "from bpy import app\nnew = app.version[0] > 3\n"),
    ],
)
def test_an_upward_line_is_caught(tmp_path: Path, path: str, text: str):
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert len(violations(tmp_path)) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("native/energy/a.c", '#include "base/b.h"\n#include "energy/a.h"\n#include <math.h>\n'),
        ("native/method/a/b.c", '#include "method/a/b.h"\n#include "method/a/c.h"\n'),
        ("native/math/linear_solver.c", "#include <cholmod.h>\n/* not dsaupd */\n"),
        ("native/math/a.c", "/* CHOLMOD refactors here */\n"),
        ("native/python/a.c", '#include <Python.h>\n#include "method/a/b.h"\n#include "python/b.h"\n'),
        ("addon/sinew/core/a.py", "from . import b\nfrom .. import _native\nfrom .scene_like import c\n"),
        ("addon/sinew/scene/compat.py", "import bpy\nnew = bpy.app.version >= (4, 0, 0)\n"),
        ("addon/sinew/ui/a.py", "import bpy\nfrom ..core import b\nfrom ..scene import c\n"),
        ("addon/sinew/__init__.py", "def register():\n    import bpy\n    from . import ui\n"),
    ],
)
def test_a_downward_line_is_accepted(tmp_path: Path, path: str, text: str):
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert violations(tmp_path) == []
