"""The zip, installed into an empty profile the way an artist does it: bakes, is removed, and the file still plays."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import bpy
import numpy as np

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
native = importlib.import_module(name + ".core.native").module
assert Path(native.__file__).is_relative_to(folder / "profile"), native.__file__

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


def run_script(text: str, folder: Path) -> None:
    """Runs a script in another process of the same Blender, with a profile of its own."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    for kind in ("RESOURCES", "CONFIG", "SCRIPTS", "DATAFILES", "EXTENSIONS"):
        path = folder / "profile" / kind.lower()
        path.mkdir(parents=True, exist_ok=True)
        environment[f"BLENDER_USER_{kind}"] = str(path)
    script = folder / "script.py"
    script.write_text(text)
    command = [sys.executable, str(script)]
    if bpy.app.binary_path:
        options = ["--background", "--factory-startup", "--python-exit-code", "9", "--python"]
        command = [bpy.app.binary_path, *options, str(script)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_zip_installs_bakes_and_leaves_a_file_that_plays(tmp_path: Path) -> None:
    sys.path.append(str(ROOT / "tests" / "tools"))
    import extension

    package = tmp_path / "sinew.zip"
    extension.pack(package)
    names = zipfile.ZipFile(package).namelist()
    assert "sinew/_native.abi3.so" in names and not any("__pycache__" in name for name in names)
    folder = str(tmp_path)
    run_script(STORY.format(folder=folder, package=str(package), examples=str(ROOT / "examples")), tmp_path)
    run_script(PLAYING.format(folder=folder, blend=str(tmp_path / "arm.blend")), tmp_path)
    baked, result, given = (np.load(tmp_path / f"{name}.npy") for name in ("baked", "playing-True", "playing-False"))
    assert np.array_equal(baked, result)
    assert np.abs(baked - given).max() > 1e-3
