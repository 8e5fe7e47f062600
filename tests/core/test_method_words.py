"""What serves every method names none: the words of one stand in its own folders, and in those of what methods share
(cages and flesh, weights and their painting).

Read are the names in the code (of variables, attributes, arguments, imports, and strings that are a name, such as that
of a property) and the sentences that an artist reads. Comments and docstrings may say what helps to understand.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
SERVES_ALL = (
    *("core/base/*.py", "core/geometry/*.py", "core/bake/**/*.py", "core/edit/*.py", "core/methods/*.py", "scene/*.py"),
    *("setups/*.py", "setups/edit/*.py", "ui/*.py", "ui/setup/**/*.py", "ui/edit/*.py", "command.py"),
)

# What is of one method alone, as part of a name; and in sentences, where "follow" and "fit" are everybody's, and cloth
# and faces what an artist has.
IN_NAMES = re.compile(
    r"(follow(s|ed)?|tets?|cages?|fit(s|ted)?|enrich(ed|er)?|flesh|tracks|cloths?|guides?|hinges?|creases?|jaws?|face)"
)
IN_SENTENCES = re.compile(r"\b(tets?|cages?|enrich(ed|es)?|flesh|hinges?|creases?|jaws?)\b", re.IGNORECASE)

_METHODS = ("enrich", "face", "tracks")
ALLOWED = {
    **dict.fromkeys(
        [(f"{folder}/__init__.py", word) for folder in ("core/methods", "setups", "ui") for word in _METHODS],
        "the one place of a layer that gathers the methods",
    ),
    **dict.fromkeys([("ui/__init__.py", word) for word in ("cage", "cloth", "flesh", "follow")], "the same"),
    ("scene/setup.py", "enrich"): "what a file means that is older than the names of methods",
    ("scene/setup.py", "bone_core"): "the same: what its default was",
    ("scene/setup.py", "rigid_shells"): "the same",
    ("command.py", "fit"): "the name of a command, also in scripts of others",
    ("core/base/disk.py", "follow"): "a link of the file system is followed",
    ("core/base/settings.py", "precision"): "digits of a number in the panel",
    ("core/edit/motion.py", "follow"): "what of a sheet of any origin stays as it is",
    ("setups/reading.py", "follow"): "the weights of a made group, whatever they hold to the animation",
    ("scene/animation.py", "tracks"): "of Blender's animation data",
    ("scene/exact.py", "tracks"): "the same",
    ("scene/animation.py", "interpolation"): "of a key of Blender's",
    ("scene/colliders.py", "cloth"): "a modifier of Blender's",
    ("scene/fingerprint.py", "cloth"): "the same",
    ("scene/fingerprint.py", "fields"): "of a struct of Blender's",
    ("ui/manual.py", "cage"): "headings of the manual by the names of buttons",
    ("core/bake/results.py", "detail"): "the name of a stage in the clock of every report, also of older bakes",
    ("core/bake/remake.py", "detail"): "the same",
    ("setups/fields.py", "fields"): "the file of every method that fields act on; a setting of flesh is called so too",
    ("core/bake/contact.py", "interpolation"): "an option of the native surface, by its name there",
}


def words(name: str) -> list[str]:
    """Of a name: follow_group, FollowGroup and FOLLOW_GROUP are follow and group."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def docstrings(tree: ast.Module) -> set[int]:
    """And other strings that stand alone, by identity."""
    alone = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return {id(value) for value in alone if isinstance(value, ast.Constant)}


def names_in(node: ast.AST) -> Iterator[str]:
    """Those that a node itself brings, dotted ones as they are written."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.arg | ast.keyword):
        yield node.arg or ""
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield getattr(node, "module", None) or ""
        for alias in node.names:
            yield from (alias.name, alias.asname or "")


def own_settings(package: Path) -> set[str]:
    """The names of settings that methods have beside those of every bake."""

    def fields(pattern: str) -> set[str]:
        trees = [ast.parse(file.read_text()) for file in package.glob(pattern)]
        nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)]
        return {node.target.id for node in nodes if isinstance(node.target, ast.Name)}

    everybodys = fields("core/bake/*.py") | fields("core/edit/*.py")
    return (fields("core/methods/*/settings.py") | fields("core/flesh/settings.py")) - everybodys


def violations(package: Path) -> Iterator[str]:
    own = own_settings(package)
    for file in sorted({file for pattern in SERVES_ALL for file in package.glob(pattern)}):
        name = file.relative_to(package).as_posix()
        tree = ast.parse(file.read_text(), name)
        spoken_of = docstrings(tree)
        for node in ast.walk(tree):
            found: set[str] = set()
            written = list(names_in(node))
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in spoken_of:
                is_name = re.fullmatch(r"\w+", node.value)
                written += [node.value] if is_name else []
                found |= {node.value} & own
                found |= {word[0].lower() for word in IN_SENTENCES.finditer(node.value)} if not is_name else set()
            found |= {word for one in written for word in words(one) if IN_NAMES.fullmatch(word)}
            found |= {one for one in written if isinstance(node, ast.Attribute) and one in own and "_" in one}
            for word in sorted(found):
                if (name, word) not in ALLOWED:
                    yield f"{name}:{getattr(node, 'lineno', 0)}: {word}"


def test_what_serves_every_method_names_none() -> None:
    assert list(violations(ROOT / "addon" / "sinew")) == []


def test_every_exception_is_needed() -> None:
    package = ROOT / "addon" / "sinew"
    for name, word in ALLOWED:
        assert word in (package / name).read_text(), (name, word)


def test_the_reader_sees_the_real_tree() -> None:
    package = ROOT / "addon" / "sinew"
    assert all(list(package.glob(pattern)) for pattern in SERVES_ALL)
    own = own_settings(package)
    assert {"follow_group", "preview_resolution", "jiggle"} <= own
    assert not {"frame_start", "amount", "passengers"} & own


def write(root: Path, path: str, text: str) -> None:
    declared = {"core/bake/settings.py": "class A:\n    amount: float = 1.0\n"}
    of_hair = "class B:\n    amount: float\n    strand_count: int = 9\n    wave: float\n"
    declared["core/methods/hair/settings.py"] = of_hair
    for name, content in {**declared, path: text}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)


@pytest.mark.parametrize("path", ["core/bake/a.py", "scene/a.py", "setups/a.py", "ui/setup/a.py", "ui/edit/a.py"])
@pytest.mark.parametrize(
    "line",
    [
        "from ..methods.enrich import b",
        "from ..cage.b import c as d",
        "from ..b import make_cage",
        "from ..b import c as fit",
        "import sinew.flesh",
        "cage = 1",
        "CAGE = 1",
        "a = b.cage_object",
        "a = b.FleshPaint()",
        "a = b.tets",
        "a(fitted=1)",
        "def follow_weights(): pass",
        "def a(follow): pass",
        "class Enricher: pass",
        'a = {"follow_group": 1}',
        'a = "enrich"',
        'a = "The flesh swings"',
        'a = f"{b} tets"',
        "from ..methods.face import b",
        "a = cloth_guide",
        "def jaw_of(a): pass",
        'a = "tracks"',
        'a = "The jaw opens"',
        'a = ["wave"]',
        "a = b.strand_count",
    ],
)
def test_a_word_of_a_method_is_caught(tmp_path: Path, path: str, line: str) -> None:
    write(tmp_path, path, line + "\n")
    assert len(list(violations(tmp_path))) >= 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("core/bake/a.py", '"""Flesh follows the cage."""\n# tets are fitted\ndef a():\n    """Of a cage."""\n'),
        ("core/bake/a.py", 'following = tetra = outfit = benefit = 1\na = "Lines that fit, and what follows"\n'),
        ("core/bake/a.py", 'a = b.amount\nc = ["amount"]\nwave = 2\nb.wave = 3\n'),
        ("core/methods/hair/a.py", "cage = 1\n"),
        ("core/cage/a.py", "cage = 1\n"),
        ("setups/enrich/a.py", "from .cage import fit\n"),
        ("ui/enrich/a.py", 'a = "The flesh"\n'),
        ("setups/__init__.py", "from .enrich import b\n"),
    ],
)
def test_what_is_at_home_or_everybodys_is_accepted(tmp_path: Path, path: str, text: str) -> None:
    write(tmp_path, path, text)
    assert list(violations(tmp_path)) == []
