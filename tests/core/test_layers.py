"""Dependencies point one way: reads include and import lines, and fails on an upward one."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ["base", "math", "mesh", "energy", "contact", "dynamics", "method", "python"]

# What hides behind one file of ours: pattern, then the only stems that may name it.
HIDDEN: list[tuple[re.Pattern[str], str, set[str]]] = [
    (re.compile(r"cholmod", re.IGNORECASE), "CHOLMOD", {"math/linear_solver"}),
    (re.compile(r"\bds[ae]upd|arpack", re.IGNORECASE), "ARPACK", {"math/eigensolver"}),
    (re.compile(r"\bomp_\w+|#\s*pragma\s+omp|<omp\.h>"), "OpenMP", {"base/parallel"}),
    (re.compile(r"<gmsh|gmshc\.h|\bgmsh\w+\s*\("), "Gmsh", set()),  # it is Python's: core/cage/gmsh
]
BLENDER_MODULES = {"bpy", "bmesh", "mathutils", "gpu", "bpy_extras", "blf", "addon_utils"}

# The folders of the package, from the lowest up; * is one of a method. What gathers the methods lies above them.
FOLDERS = [
    *("core/base", "core/geometry", "core/cage", "core/paint", "core/edit", "core/bake", "core/flesh"),
    *("core/methods/*", "core/methods", "core/__init__", "scene"),
    *("setups", "setups/flesh", "setups/edit", "setups/*", "setups/__init__"),
    *("ui", "ui/setup", "ui/edit", "ui/flesh", "ui/*", "ui/__init__", "the package"),
]

SUBFOLDERS = {"core/cage/gmsh"}  # which are part of theirs
GATHERS = (["core", "methods"], ["setups"], ["ui"])  # their `__init__`s; nobody else knows a method that is not its own


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
        for bracket, included in re.findall(r'^\s*#\s*include\s*(["<])([^">]+)[">]', text, re.MULTILINE):
            other = included.split("/")[0]
            if bracket == "<" and other not in LAYERS:
                continue  # of the system
            if "/" not in included or other not in LAYERS or ".." in included.split("/"):
                yield f'{name}: "{included}" is not written from native/'
            elif LAYERS.index(other) > LAYERS.index(layer):
                yield f"{name}: includes {included}, which lies above it"
            elif layer == other == "method" and _method(included) != _method(name):
                yield f"{name}: includes another method, {included}"
        for line in re.findall(r'^\s*#\s*include\s*([^"<\s].*)', text, re.MULTILINE):
            yield f"{name}: includes {line}, and nobody can tell what that is"
        if layer != "python" and "Python.h" in text:
            yield f"{name}: includes Python.h outside native/python"
        for pattern, what, owners in HIDDEN:
            stem = name.rsplit(".", 1)[0]
            if pattern.search(text) and stem not in owners:
                yield f"{name}: names {what}, which only {', '.join(sorted(owners)) or 'Python'} may"


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


def methods_of(package: Path) -> set[str]:
    """A method is a folder of core/methods; it may have one of its name in setups and ui."""
    return {folder.name for folder in (package / "core" / "methods").glob("[!_]*/")}


def folder_of(names: Sequence[str], methods: Collection[str]) -> tuple[str, str]:
    """Where a module lies, as FOLDERS has it ("" where that is none of them), and the method that it is of, if any.
    `names` lead to it from the top of the package, and may go on to something in it."""
    top, below = names[0], names[1] if len(names) > 1 else ""
    if top == "core":
        if below == "methods" and len(names) > 2 and names[2] in methods:
            return "core/methods/*", names[2]
        folder = f"core/{below or '__init__'}"
        return (folder if folder in FOLDERS else ""), ""
    if top in ("setups", "ui"):
        if below in methods:
            return f"{top}/*", below
        return (f"{top}/{below}" if f"{top}/{below}" in FOLDERS else top if below else f"{top}/__init__"), ""
    return ("scene" if top == "scene" else "the package"), ""


def is_misplaced(parts: Sequence[str], methods: Collection[str]) -> bool:
    """Whether a file lies in a folder that nobody knows."""
    folder, _ = folder_of([*parts[:-1], parts[-1].removesuffix(".py")], methods)
    depth = {"core/methods": 3, "core/methods/*": 4, "scene": 2, "setups": 2, "ui": 2, "the package": 1}
    return not folder or len(parts) > depth.get(folder, 3) + ("/".join(parts[:-1]) in SUBFOLDERS)


def upward(importer: Sequence[str], imported: Sequence[str], methods: Collection[str]) -> str:
    """What is wrong with an import of one module by another, or ""."""
    folder, method = folder_of(importer, methods)
    other, other_method = folder_of(imported, methods)
    if imported[0] in ("_native", "_processor"):
        at_home = list(importer) == ["core", "base", "native"]
        return "" if at_home else f"imports {imported[0]} outside core/base/native.py"
    if not other:
        return f"imports {'.'.join(imported)}, which is in no known folder"
    if FOLDERS.index(other) > FOLDERS.index(folder) or (folder == "scene" and other != "scene"):
        return f"{folder} imports {other}"
    if other_method and method != other_method and list(importer) not in GATHERS:
        return f"{method or folder} knows a method, {other_method}"
    return ""


def import_violations(package: Path) -> Iterator[str]:
    methods = methods_of(package)
    for file in sorted(package.glob("**/*.py")):
        parts = file.relative_to(package).parts
        name = "/".join(parts)
        module = [*parts[:-1], *([] if file.stem == "__init__" else [file.stem])] or ["__init__"]
        placed = parts if file.stem != "__init__" or len(parts) == 1 else [*parts[:-1], "__init__.py"]
        if is_misplaced(placed, methods):
            yield f"{name}: lies in no known folder"
            continue
        tree = ast.parse(file.read_text(), name)
        for statement, dotted, level, eager in imports(tree):
            where = f"{name}:{statement.lineno}"
            top = dotted.split(".")[0]
            if level == 0:
                if top == "sinew":
                    yield f"{where}: imports sinew by its absolute name"
                if top in BLENDER_MODULES and parts[0] not in ("scene", "setups", "ui") and (len(parts) > 1 or eager):
                    yield f"{where}: imports {top} outside scene, setups and ui"
                continue
            if level > len(parts):
                yield f"{where}: imports from above the package"
                continue
            reason = upward(module, [*parts[: len(parts) - level], *dotted.split(".")], methods)
            if reason:
                yield f"{where}: {reason}"
        if name != "scene/compat.py":
            for line in version_lines(tree):
                yield f"{name}:{line}: asks for Blender's version outside scene/compat.py"
        if name != "__init__.py":  # what the package offers is loaded when it is asked for
            for line in hidden_imports(tree):
                yield f"{name}:{line}: imports what cannot be told from the line"


def version_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.search(r"\bapp\.version\w*$", ast.unparse(node)):
            yield node.lineno


def hidden_imports(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and re.search(r"(^|\.)(__import__|import_module)$", ast.unparse(node.func)):
            yield node.lineno


def violations(root: Path) -> list[str]:
    return [*include_violations(root / "native"), *import_violations(root / "addon" / "sinew")]


def test_no_include_or_import_points_upward():
    assert violations(ROOT) == []


def write_among_methods(root: Path, path: str, text: str) -> None:
    """A file in a tree that has two methods."""
    for method in ("enrich", "tracks"):
        (root / "addon/sinew/core/methods" / method).mkdir(parents=True)
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_the_reader_sees_the_real_tree():
    assert "enrich" in methods_of(ROOT / "addon" / "sinew")
    assert len(list((ROOT / "native").glob("**/*.c"))) >= 10
    assert len(list((ROOT / "addon" / "sinew").glob("**/*.py"))) >= 5
    for _, _, owners in HIDDEN:
        assert all((ROOT / "native" / f"{owner}.c").is_file() for owner in owners)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("native/mesh/a.c", '#include "energy/b.h"\n'),
        ("native/base/a.h", '#  include "math/b.h"\n'),
        ("native/mesh/a.c", "#include <energy/term.h>\n"),
        ("native/method/a/b.c", "#include <method/c/d.h>\n"),
        ("native/mesh/a.c", '#include "a.h"\n'),
        ("native/mesh/a.c", '#include "../base/a.h"\n'),
        ("native/mesh/a.c", '#include "mesh/../dynamics/b.h"\n'),
        ("native/mesh/a.c", "#include <mesh/../dynamics/b.h>\n"),
        ("native/mesh/a.c", "#include MACRO\n"),
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
        ("native/mesh/a.c", "#include <gmshc.h>\n"),
        ("addon/sinew/core/bake/a.py", "import bpy\n"),
        ("addon/sinew/core/bake/a.py", "def f():\n    import bpy\n"),
        ("addon/sinew/core/bake/a.py", "from bpy.types import Object\n"),
        ("addon/sinew/core/bake/a.py", "from ...scene import b\n"),
        ("addon/sinew/core/bake/a.py", "from ...scene.b import c\n"),
        ("addon/sinew/core/bake/a.py", "from ...setups.b import c\n"),
        ("addon/sinew/core/bake/a.py", "from ... import setups\n"),
        ("addon/sinew/core/bake/a.py", "from ...ui import b\n"),
        ("addon/sinew/core/bake/a.py", "def f():\n    from ... import scene\n"),
        ("addon/sinew/core/bake/a.py", "if TYPE_CHECKING:\n    from ..methods.enrich import b\n"),
        ("addon/sinew/core/bake/a.py", "from .. import methods\n"),
        ("addon/sinew/core/bake/a.py", "from ... import _native\n"),
        ("addon/sinew/core/bake/a.py", "from ..unknown import b\n"),
        ("addon/sinew/core/bake/a.py", "from ... import command\n"),
        ("addon/sinew/core/base/a.py", "from ..geometry.b import c\n"),
        ("addon/sinew/core/geometry/a.py", "from ..cage import b\n"),
        ("addon/sinew/core/cage/gmsh/a.py", "from ...paint import b\n"),
        ("addon/sinew/core/paint/a.py", "from .. import bake\n"),
        ("addon/sinew/core/methods/enrich/a.py", "from ..tracks import b\n"),
        ("addon/sinew/core/methods/enrich/a.py", "from ..presets import b\n"),
        ("addon/sinew/core/flesh/a.py", "from ..methods.enrich import b\n"),
        ("addon/sinew/core/bake/a.py", "from ..flesh import b\n"),
        ("addon/sinew/core/methods/enrich/a.py", "from .. import METHODS\n"),
        ("addon/sinew/core/a.py", "a = 1\n"),
        ("addon/sinew/core/other/a.py", "a = 1\n"),
        ("addon/sinew/scene/other/a.py", "a = 1\n"),
        ("addon/sinew/setups/other/a.py", "a = 1\n"),
        ("addon/sinew/ui/other/a.py", "a = 1\n"),
        ("addon/sinew/other/a.py", "a = 1\n"),
        ("addon/sinew/scene/a.py", "from ..core.base.b import c\n"),
        ("addon/sinew/scene/a.py", "from ..setups import b\n"),
        ("addon/sinew/scene/a.py", "from .. import _native\n"),
        ("addon/sinew/scene/a.py", "from ..ui import b\n"),
        ("addon/sinew/setups/a.py", "from ..ui import b\n"),
        ("addon/sinew/setups/a.py", "from .enrich import b\n"),
        ("addon/sinew/setups/a.py", "from .enrich.b import c\n"),
        ("addon/sinew/setups/enrich/a.py", "from ..tracks.b import c\n"),
        ("addon/sinew/setups/flesh/a.py", "from ..enrich.b import c\n"),
        ("addon/sinew/setups/a.py", "from ..core.methods.enrich import b\n"),
        ("addon/sinew/ui/setup/a.py", "from ...core.methods.enrich.b import c\n"),
        ("addon/sinew/ui/enrich/a.py", "from ...core.methods.tracks.b import c\n"),
        ("addon/sinew/setups/enrich/a.py", "from ... import setups\n"),
        ("addon/sinew/ui/a.py", "from .setup import b\n"),
        ("addon/sinew/ui/a.py", "from .enrich import b\n"),
        ("addon/sinew/ui/setup/a.py", "from ..enrich import b\n"),
        ("addon/sinew/ui/enrich/a.py", "from ..tracks import b\n"),
        ("addon/sinew/ui/enrich/a.py", "from ... import _native\n"),
        ("addon/sinew/core/bake/a.py", "import sinew.core.bake.b\n"),
        ("addon/sinew/core/bake/a.py", "from sinew.core.bake import b\n"),
        ("addon/sinew/core/bake/a.py", "from .... import b\n"),
        ("addon/sinew/core/bake/sub/a.py", "a = 1\n"),
        ("addon/sinew/core/methods/enrich/sub/a.py", "a = 1\n"),
        ("addon/sinew/setups/flesh/sub/a.py", "a = 1\n"),
        ("addon/sinew/core/methods/a.py", "from .enrich import b\n"),
        ("addon/sinew/setups/flesh/a.py", "from ...core.methods.enrich.b import c\n"),
        ("addon/sinew/setups/edit/a.py", "from ...core.methods.enrich.b import c\n"),
        ("addon/sinew/ui/flesh/a.py", "from ...core.methods.enrich.b import c\n"),
        ("addon/sinew/ui/edit/a.py", "from ...core.methods.enrich.b import c\n"),
        ("addon/sinew/ui/setup/a.py", "from ...setups.tracks.b import c\n"),
        ("addon/sinew/ui/a.py", "from ..setups.tracks import b\n"),
        ("addon/sinew/command.py", "from .core.methods.enrich.b import c\n"),
        ("addon/sinew/command.py", "def f():\n    from .setups.tracks import b\n"),
        ("addon/sinew/core/bake/a.py", "import importlib\nb = importlib.import_module('bpy')\n"),
        ("addon/sinew/core/bake/a.py", "from importlib import import_module\nb = import_module('bpy')\n"),
        ("addon/sinew/core/bake/a.py", "def f():\n    return __import__('bpy')\n"),
        ("addon/sinew/__init__.py", "import bpy\n"),
        ("addon/sinew/scene/a.py", "import bpy\nnew = bpy.app.version >= (4, 0, 0)\n"),
        ("addon/sinew/ui/a.py", "from bpy import app\nnew = app.version[0] > 3\n"),
    ],
)
def test_an_upward_line_is_caught(tmp_path: Path, path: str, text: str):
    write_among_methods(tmp_path, path, text)
    assert len(violations(tmp_path)) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("native/energy/a.c", '#include "base/b.h"\n#include "energy/a.h"\n#include <math.h>\n'),
        ("native/method/a/b.c", '#include "method/a/b.h"\n#include "method/a/c.h"\n'),
        ("native/math/linear_solver.c", "#include <cholmod.h>\n/* not dsaupd */\n"),
        ("native/math/a.c", "/* CHOLMOD refactors here */\n"),
        ("native/python/a.c", '#include <Python.h>\n#include "method/a/b.h"\n#include "python/b.h"\n'),
        ("addon/sinew/core/base/native.py", "from ... import _native, _processor\n"),
        ("addon/sinew/core/cage/gmsh/a.py", "from . import b\nfrom ..cage import c\nfrom ...geometry.d import e\n"),
        ("addon/sinew/core/bake/a.py", "from . import b\nfrom ..paint.scene import c\nfrom ..base import d\n"),
        ("addon/sinew/core/methods/enrich/a.py", "from . import b\nfrom .c import d\nfrom ...bake.e import f\n"),
        ("addon/sinew/core/methods/__init__.py", "from .enrich import a\nfrom . import tracks\nfrom ..bake import b"),
        ("addon/sinew/scene/compat.py", "import bpy\nnew = bpy.app.version >= (4, 0, 0)\n"),
        ("addon/sinew/setups/a.py", "import bpy\nfrom ..core.methods import b\nfrom ..scene import c\n"),
        ("addon/sinew/setups/enrich/a.py", "from ..target import b\nfrom ...core.methods.enrich.c import d\n"),
        ("addon/sinew/setups/__init__.py", "from .enrich.a import b\nfrom .c import d\n"),
        ("addon/sinew/core/methods/tracks/a.py", "from . import b\nfrom ...bake.e import f\n"),
        ("addon/sinew/setups/tracks/a.py", "from ...core.methods.tracks.c import d\n"),
        ("addon/sinew/ui/a.py", "import bpy\nfrom .. import setups\nfrom ..scene import c\n"),
        ("addon/sinew/ui/enrich/a.py", "from ..setup import b\nfrom .. import c\nfrom ... import setups\n"),
        ("addon/sinew/ui/__init__.py", "from .enrich import a\nfrom .setup import b\nfrom ..scene import c\n"),
        ("addon/sinew/command.py", "from . import setups\nfrom .core.bake import b\n"),
        ("addon/sinew/__init__.py", "def register():\n    import bpy\n    from . import command, ui\n"),
    ],
)
def test_a_downward_line_is_accepted(tmp_path: Path, path: str, text: str):
    write_among_methods(tmp_path, path, text)
    assert violations(tmp_path) == []
