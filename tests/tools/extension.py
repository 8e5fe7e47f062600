"""Packs addon/sinew into build/sinew-VERSION.zip: the extension for Blender 4.2 and later, and the add-on for 3.4.

The one folder at the top of the zip is what 3.4 asks for, and what later ones accept. The same tree gives the same
bytes.
"""

from __future__ import annotations

import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "addon" / "sinew"
LEFT_OUT = {"__pycache__", "made-from"}
MODULES = [f"_native_{name}.abi3.so" for name in ("baseline", "v2", "v3", "v4")]
NEEDED = ("_processor.abi3.so", *MODULES, "lib", "presets", "manual", "build.toml", "blender_manifest.toml")


def files() -> list[Path]:
    return sorted(
        path
        for path in PACKAGE.rglob("*")
        if path.is_file()
        and not LEFT_OUT & set(path.relative_to(PACKAGE).parts)
        and path.suffix not in (".pyc", ".pyi")
        and not path.name.startswith(".")
    )


def version() -> str:
    with open(PACKAGE / "blender_manifest.toml", "rb") as file:
        return str(tomllib.load(file)["version"])


def pack(target: Path) -> None:
    missing = [name for name in NEEDED if not (PACKAGE / name).exists()]
    if missing:
        sys.exit(f"addon/sinew has no {missing[0]}: run `make extension`, which builds it first.")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files():
            entry = zipfile.ZipInfo(f"sinew/{path.relative_to(PACKAGE).as_posix()}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if ".so" in path.name else 0o100644) << 16
            archive.writestr(entry, path.read_bytes())


def main() -> None:
    target = ROOT / "build" / f"sinew-{version()}.zip"
    pack(target)
    print(f"{target.relative_to(ROOT)}  {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
