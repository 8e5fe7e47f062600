"""The add-on's tree is whole: its libraries lie inside it, and nothing that a Blender loaded can take their place."""

from __future__ import annotations

import filecmp
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "addon" / "sinew"
MODULES = [PACKAGE / f"_native_{name}.abi3.so" for name in ("baseline", "v2", "v3", "v4")]
MODULE = MODULES[0]
SYSTEM = re.compile(r"^(libc|libm|libgcc_s|libpthread|libdl|librt)\.so|^ld-linux|^libpython|^python")


def libraries() -> list[Path]:
    return [*MODULES, *sorted((PACKAGE / "lib").glob("*.so*"))]


def dynamic_entries(library: Path, kind: str) -> list[str]:
    text = subprocess.run(["objdump", "-p", str(library)], capture_output=True, text=True, check=True).stdout
    return [line.split(None, 1)[1] for line in text.splitlines() if line.split()[:1] == [kind]]


def bindings(preload: list[str]) -> Iterator[tuple[Path, Path, str]]:
    """From which file to which file each symbol went when a Python imported the module, with others loaded first."""
    environment = os.environ | {"LD_DEBUG": "bindings", "LD_BIND_NOW": "1", "LD_PRELOAD": " ".join(preload)}
    load = f"import ctypes, os; ctypes.PyDLL({str(MODULE)!r}, os.RTLD_NOW)"
    result = subprocess.run([sys.executable, "-c", load], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
    pattern = re.compile(r"binding file (\S+) \[\d+\] to (\S+) \[\d+\]: normal symbol `([^']+)'")
    for match in pattern.finditer(result.stderr):
        yield Path(match[1]).resolve(), Path(match[2]), match[3]


@pytest.fixture(autouse=True)
def built():
    if not all(module.exists() for module in MODULES) or len(libraries()) < 12:
        pytest.fail("the native module is not built: run `make build`", pytrace=False)


def test_every_needed_library_lies_beside_the_module():
    inside = {path.name for path in libraries()}
    for library in libraries():
        foreign = [name for name in dynamic_entries(library, "NEEDED") if name not in inside and not SYSTEM.match(name)]
        assert foreign == [], library.name


def test_libraries_are_looked_for_inside_the_package_only():
    for library in libraries():
        expected = "$ORIGIN/lib" if library in MODULES else "$ORIGIN"
        assert dynamic_entries(library, "RPATH") == []
        assert dynamic_entries(library, "RUNPATH") == [expected], library.name


def test_carried_libraries_export_no_ordinary_names():
    for library in sorted((PACKAGE / "lib").glob("*.so*")):
        command = ["nm", "-D", "--defined-only", "--format=posix", str(library)]
        names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        # Version tags are absolute symbols, not functions.
        ordinary = [line for line in names if line.split()[1] != "A" and not line.startswith(("sinew_", "scipy_"))]
        exempt = {"_init", "_fini", "_edata", "_end", "__bss_start"}
        assert [line for line in ordinary if line.split()[0].split("@")[0] not in exempt] == [], library.name


def test_no_library_loaded_before_us_can_lend_us_its_functions():
    system = Path("/usr/lib/x86_64-linux-gnu")
    others = [system / name for name in ("libcholmod.so.3", "libarpack.so.2", "libopenblas.so.0", "libgomp.so.1")]
    if not all(path.exists() for path in others):
        pytest.skip("this machine has no other CHOLMOD, ARPACK, OpenBLAS and OpenMP to load first")
    ours = {path.resolve() for path in libraries()}
    seen = list(bindings([str(path) for path in others]))
    from_us = [(source, target, symbol) for source, target, symbol in seen if source in ours]
    stolen = [entry for entry in from_us if entry[1].resolve() not in ours and not SYSTEM.match(entry[1].name)]
    assert stolen == []
    # The intruders really were there, and the module really uses the solver.
    assert any(target.name == "libcholmod.so.3" for _, target, _ in seen)
    assert any(symbol == "sinew_cholmod_start" and target.parent.name == "lib" for _, target, symbol in from_us)
    assert any(symbol == "scipy_dgemm_" for _, _, symbol in from_us)


def test_every_carried_library_comes_with_its_licence():
    texts = {path.name for path in (PACKAGE / "lib" / "licences").iterdir() if path.stat().st_size > 100}
    for part in ("cholmod", "metis", "arpack", "gomp", "openblas"):
        assert any(part in name for name in texts), part


def test_gmsh_lies_apart_with_its_licence():
    """Beside the other libraries it would be loaded by nobody, but looked at by all that looks after these."""
    folder = PACKAGE / "lib" / "gmsh"
    assert (folder / "libgmsh.so").stat().st_size > 1e6
    assert "GNU GENERAL PUBLIC LICENSE" in (folder / "LICENSE.txt").read_text().upper()
    assert "libgmsh.so" not in {name for library in libraries() for name in dynamic_entries(library, "NEEDED")}


def test_the_fastest_module_that_the_processor_can_run_is_loaded_unless_another_is_chosen() -> None:
    def loaded(choice: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "SINEW_INSTRUCTIONS": choice}
        ask = "from sinew.core.base.native import module; print(module.info()['instructions'])"
        result = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True)
        return result.stdout.strip() or result.stderr.strip().splitlines()[-1]

    from sinew.core.base.native import available

    assert loaded("") == available()[0] and available()[-1] == "baseline"
    assert [loaded(name) for name in available()] == available()
    assert "SINEW_INSTRUCTIONS is v9: choose from what this processor can use, v" in loaded("v9")
    assert loaded(" Baseline ") == "baseline"


def test_the_build_has_the_id_of_its_sources_whatever_their_comments_say(tmp_path, monkeypatch) -> None:
    pytest.importorskip("setuptools")
    spec = importlib.util.spec_from_file_location("sinew_setup", ROOT / "setup.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    from sinew.core.base.installed import engine_build

    first = made.build_id()
    assert re.fullmatch(r"[0-9a-f]{16}", first) and engine_build() == first
    monkeypatch.setattr(made, "NATIVE", tmp_path / "native")
    shutil.copytree(ROOT / "native", tmp_path / "native")
    assert made.build_id() == first
    source = tmp_path / "native" / "dynamics" / "newton.c"
    source.write_text("/* Another\n   word. */\n\n" + source.read_text() + "\n// the end\n")
    assert made.build_id() == first
    source.write_text(source.read_text() + "static int another;\n")
    assert made.build_id() != first


def test_presets_are_copied_into_the_package():
    if not (ROOT / "presets").is_dir():
        pytest.skip("there are no presets")
    comparison = filecmp.dircmp(ROOT / "presets", PACKAGE / "presets")
    assert (comparison.left_only, comparison.right_only, comparison.diff_files) == ([], [], [])


def test_every_place_names_the_version_of_the_manifest():
    with open(PACKAGE / "blender_manifest.toml", "rb") as file:
        version = tomllib.load(file)["version"]
    from sinew import bl_info
    from sinew.core.base.native import module

    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert module.__version__ == version
    assert ".".join(str(part) for part in bl_info["version"]) == version


def test_blender_accepts_the_manifest():
    spec = importlib.util.find_spec("bpy")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("this Python has no bpy")
    tools = list(Path(spec.submodule_search_locations[0]).glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))
    assert tools
    result = subprocess.run([sys.executable, str(tools[0]), "validate", str(PACKAGE)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
