"""The zip, installed into an empty profile the way an artist does it: bakes, is removed, and the file still plays."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
from inside import save

ROOT = Path(__file__).resolve().parents[2]

STORY = """
import importlib, sys
from pathlib import Path
folder = Path({folder!r})
import bpy
import numpy as np

name = "sinew"
if bpy.app.version >= (4, 2, 0):
    name = "bl_ext.user_default.sinew"
    bpy.ops.extensions.package_install_files(filepath={package!r}, repo="user_default", enable_on_install=True)
else:
    bpy.ops.preferences.addon_install(filepath={package!r}, overwrite=True)
    bpy.ops.preferences.addon_enable(module=name)
addon = importlib.import_module(name)
assert Path(addon.__file__).is_relative_to(folder / "profile"), addon.__file__
native = importlib.import_module(name + ".core.base.native").module
assert Path(native.__file__).is_relative_to(folder / "profile"), native.__file__
solver = Path(native.info()["solver_file"])
assert solver.is_relative_to(folder / "profile") and solver.name.startswith("libsinew_cholmod"), solver
with open("/proc/self/maps") as maps:
    others = {{line.split()[-1] for line in maps if "libcholmod" in line}}
print("CHOLMOD of others:", *others)

sys.path.append({examples!r})
import scenes
scenes.reset_scene()
scenes.build_two_bone_arm(frames=8)
bpy.ops.wm.save_as_mainfile(filepath=str(folder / "arm.blend"))
ob = bpy.data.objects["Arm"]
bpy.context.view_layer.objects.active = ob
assert bpy.ops.sinew.add() == {{"FINISHED"}}
bpy.context.scene.sinew.setups[0].resolution = 5
assert bpy.ops.sinew.bake() == {{"FINISHED"}}
bpy.ops.wm.save_mainfile()

def shown(frame):
    bpy.context.scene.frame_set(frame)
    mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    return np.array([tuple(vertex.co) for vertex in mesh.vertices])

np.save(folder / "baked.npy", shown(6))
if bpy.app.version >= (4, 2, 0):
    index = [repo.module for repo in bpy.context.preferences.extensions.repos].index("user_default")
    bpy.ops.extensions.package_uninstall(repo_index=index, pkg_id="sinew")
else:
    bpy.ops.preferences.addon_disable(module=name)
    try:
        bpy.ops.preferences.addon_remove(module=name)
    except RuntimeError as error:
        assert "tag_redraw" in str(error)  # it wants to redraw a window when all is done
assert not Path(addon.__file__).exists()
assert not hasattr(bpy.types.Scene, "sinew")
bpy.ops.wm.save_mainfile()
"""

INSTALL = """
import importlib, sys
import bpy

def install(package):
    if bpy.app.version >= (4, 2, 0):
        bpy.ops.extensions.package_install_files(filepath=package, repo="user_default", enable_on_install=True)
        return "bl_ext.user_default.sinew"
    bpy.ops.preferences.addon_install(filepath=package, overwrite=True)
    bpy.ops.preferences.addon_enable(module="sinew")
    bpy.ops.wm.save_userpref()
    return "sinew"

def problem(name):
    return importlib.import_module(name + ".scene.unavailable").problem
"""

UPDATE = (
    INSTALL
    + """
name = install({old!r})
assert not problem(name) and hasattr(bpy.types.Scene, "sinew")
install({new!r})
assert "restart Blender" in problem(name), problem(name)
assert hasattr(bpy.types, "SINEW_PT_unavailable") and not hasattr(bpy.types, "SINEW_PT_setup")
assert not hasattr(bpy.types.Scene, "sinew")
"""
)

RESTARTED = (
    INSTALL
    + """
import addon_utils
name = "bl_ext.user_default.sinew" if bpy.app.version >= (4, 2, 0) else "sinew"
addon_utils.enable(name)
addon = importlib.import_module(name)
with open(addon.__file__.replace("__init__.py", "blender_manifest.toml")) as manifest:
    assert 'version = "0.99.0"' in manifest.read()
assert not problem(name) and hasattr(bpy.types, "SINEW_PT_setup")
assert importlib.import_module(name + ".core.base.native").module.info()["solver_version"]
"""
)

FOREIGN = (
    INSTALL
    + """
name = install({package!r})
assert "made for this system" in problem(name), problem(name)
assert hasattr(bpy.types, "SINEW_PT_unavailable") and not hasattr(bpy.types.Scene, "sinew")
assert not hasattr(bpy.types, "SINEW_PT_setup")
importlib.import_module(name).unregister()
assert not hasattr(bpy.types, "SINEW_PT_unavailable")
"""
)

PLAYING = """
import sys
import bpy
import numpy as np
assert not any("sinew" in name for name in sys.modules)
bpy.ops.wm.open_mainfile(filepath={blend!r})
ob = bpy.data.objects["Arm"]
for shown in (True, False):
    ob.modifiers["Sinew"].show_viewport = shown
    bpy.context.scene.frame_set(6)
    mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    np.save({folder!r} + "/playing-%s.npy" % shown, np.array([tuple(vertex.co) for vertex in mesh.vertices]))
"""


def profile(folder: Path) -> dict[str, str]:
    """The environment of a Blender with a profile of its own."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    for kind in ("RESOURCES", "CONFIG", "SCRIPTS", "DATAFILES", "EXTENSIONS"):
        path = folder / "profile" / kind.lower()
        path.mkdir(parents=True, exist_ok=True)
        environment[f"BLENDER_USER_{kind}"] = str(path)
    return environment


def run_script(text: str, folder: Path) -> str:
    """Runs a script in another process of the same Blender, with a profile of its own."""
    script = folder / "script.py"
    script.write_text(text)
    command = [sys.executable, str(script)]
    if bpy.app.binary_path:
        options = ["--background", "--factory-startup", "--python-exit-code", "9", "--python"]
        command = [bpy.app.binary_path, *options, str(script)]
    result = subprocess.run(command, env=profile(folder), capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def variant(package: Path, target: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """A package with other files; those that change to None are left out."""
    with zipfile.ZipFile(package) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            content = change(entry.filename, old.read(entry))
            if content is not None:
                new.writestr(entry, content, zipfile.ZIP_STORED)  # else as that entry was
    return target


def of_version_99(name: str, content: bytes) -> bytes:
    if name == "sinew/blender_manifest.toml":
        return re.sub(rb'(?m)^version = ".*"', b'version = "0.99.0"', content)
    if name == "sinew/__init__.py":
        return re.sub(rb'"version": \(.*?\)', b'"version": (0, 99, 0)', content)
    return content


def test_an_update_while_blender_is_open_asks_for_a_restart(package: Path, tmp_path: Path) -> None:
    newer = variant(package, tmp_path / "newer.zip", of_version_99)
    run_script(UPDATE.format(old=str(package), new=str(newer)), tmp_path)
    run_script(RESTARTED, tmp_path)


def test_without_a_native_module_the_panel_says_so(package: Path, tmp_path: Path) -> None:
    foreign = variant(package, tmp_path / "foreign.zip", lambda name, text: None if "_native" in name else text)
    run_script(FOREIGN.format(package=str(foreign)), tmp_path)


def test_the_command_of_blender_bakes_and_checks(package: Path, tmp_path: Path) -> None:
    if bpy.app.version < (4, 2, 0) or not bpy.app.binary_path:
        pytest.skip("only the application, and only from 4.2 on, has commands")
    scenes.reset_scene()
    scenes.build_two_bone_arm(frames=8)
    blend = save(tmp_path / "arm.blend")
    run_script(INSTALL + f"install({str(package)!r})\nbpy.ops.wm.save_userpref()\n", tmp_path)

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        line = [bpy.app.binary_path, "-b", str(blend), "--command", "sinew", *arguments]
        return subprocess.run(line, env=profile(tmp_path), capture_output=True, text=True, check=False, timeout=300)

    assert command("--help").returncode == 0
    assert command("bake").returncode == 2
    assert command("check", "--object", "Arm").returncode == 1
    baked = command("bake", "--object", "Arm", "--set", "resolution=5")
    assert baked.returncode == 0 and f"saved {blend}" in baked.stdout, baked.stdout + baked.stderr
    checked = command("check")
    assert checked.returncode == 0 and "Arm: good" in checked.stdout, checked.stdout + checked.stderr


def test_the_zip_installs_bakes_and_leaves_a_file_that_plays(package: Path, tmp_path: Path) -> None:
    names = zipfile.ZipFile(package).namelist()
    assert "sinew/_native_baseline.abi3.so" in names and not any("__pycache__" in name for name in names)
    folder = str(tmp_path)
    said = run_script(STORY.format(folder=folder, package=str(package), examples=str(ROOT / "examples")), tmp_path)
    if bpy.app.binary_path and bpy.app.version >= (5, 0, 0):
        # Debian's brings a CHOLMOD of its own, of another version: ours ran all the same.
        assert "libcholmod.so.5" in said, said
    run_script(PLAYING.format(folder=folder, blend=str(tmp_path / "arm.blend")), tmp_path)
    baked, result, given = (np.load(tmp_path / f"{name}.npy") for name in ("baked", "playing-True", "playing-False"))
    assert np.array_equal(baked, result)
    assert np.abs(baked - given).max() > 1e-3
