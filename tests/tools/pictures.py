"""Makes the pictures of the artist's pages: the window test once more, in today's Blender, with a camera.

    python3 tests/tools/pictures.py      (what `make pictures` runs; as root, see current.py)
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import current
import extension
from environment import ROOT, install_packages

WORK = ROOT / "build" / "pictures"
# Name in docs/ -> picture of the story, and the part of the screen that is shown.
SHOWN = {
    "artist-install": ("install-menu", "1600x330+0+0"),
    "artist-add": ("add", "1600x1000+0+0"),
    "artist-baking": ("baking", "1600x1000+0+0"),
    "artist-baked": ("result", "1600x1000+0+0"),
    "artist-paint": ("painting", "1600x1000+0+0"),
    "artist-stale": ("painting", "284x460+1316+460"),
    "artist-presets": ("presets", "560x890+1040+110"),
}
BUILD = """
import sys
sys.path.append({examples!r})
import bpy, scenes
scenes.reset_scene()
scenes.build_character()
scene = bpy.context.scene
scene.frame_start, scene.frame_end, scene.frame_current = 84, 97, 84
bpy.ops.wm.save_as_mainfile(filepath={blend!r})
"""


def main() -> None:
    install_packages(["imagemagick"])
    WORK.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sinew-pictures-") as name:
        folder = Path(name)
        package, blend = folder / "sinew.zip", folder / "calf.blend"
        extension.pack(package)
        (folder / "build.py").write_text(BUILD.format(examples=str(ROOT / "examples"), blend=str(blend)))
        os.environ.update(TMPDIR=name, SINEW_PICTURES=str(WORK), SINEW_FAILURE=str(WORK / "failure.png"))
        for kind in ("RESOURCES", "CONFIG", "SCRIPTS", "DATAFILES", "EXTENSIONS"):
            path = folder / kind.lower()
            path.mkdir()
            os.environ[f"BLENDER_USER_{kind}"] = str(path)
        start = ["xvfb-run", "-a", "-s", current.SCREEN, "blender"]
        options = ["--enable-event-simulate", "--window-geometry", "0", "0", "1600", "1000"]
        story = ["--python", str(ROOT / "tests/blender/window_story.py"), "--", str(package), str(blend)]
        for line in (["blender", "-b", "--python", str(folder / "build.py")], [*start, *options, *story]):
            if current.run(current.command_line(line)) != 0:
                sys.exit(f"The story did not come to its end: see {WORK / 'failure.png'}.")
    for name, (source, part) in SHOWN.items():
        target = ROOT / "docs" / f"{name}.png"
        shrink = ["-crop", part, "+repage", "-resize", "1000x>", "-colors", "160", "-strip"]
        subprocess.run(["convert", str(WORK / f"{source}.png"), *shrink, str(target)], check=True)
        print(target.relative_to(ROOT))


if __name__ == "__main__":
    main()
