"""Presets: named looks as data files, one TOML file each. Those that come with Sinew, and the user's own."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..bake.method import find
from ..base import disk
from ..base.errors import BadInput, StoreError

# In an installed package they lie inside it; in the repository at its top.
_FOLDERS = (Path(__file__).parents[2] / "presets", Path(__file__).parents[4] / "presets")
_SIZE_LIMIT = 65_536


@dataclass(frozen=True)
class Preset:
    name: str  # of its file
    label: str
    description: str
    values: Mapping[str, Any]  # all of the look, and nothing that belongs to one body or shot: group, range, resolution
    method: str
    is_material: bool  # a real one, whose motion depends on the size of the body


def load_all() -> dict[str, Preset]:
    """The presets that come with Sinew, by name: artist's units first, then materials."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), None)
    found = [_read(path) for path in sorted(folder.glob("*.toml"))] if folder else []
    return {preset.name: preset for preset in sorted(found, key=lambda preset: preset.is_material)}


def load_own(folder: Path) -> dict[str, Preset]:
    """The user's presets in a folder, by name; damaged files are passed over."""
    found = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            found[path.stem] = _read(path)
        except BadInput:
            continue
    return found


def load(name: str) -> Preset:
    """The preset of that name among those of Sinew; otherwise a sentence with the closest one."""
    known = load_all()
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        there_are = f"there are {', '.join(sorted(known))}." if known else "no presets are installed."
        hint = f'did you mean "{close[0]}"?' if close else there_are
        raise BadInput(f'There is no preset "{name}": {hint}')
    return known[name]


def save_own(folder: Path, label: str, settings: Any, method: str = "") -> Preset:
    """Keeps the look of some settings as a preset of the user; one of the same name is replaced."""
    label = " ".join("".join(c if c.isprintable() else " " for c in label).split())
    name = re.sub(r"[^\w-]+", "_", label.lower()).strip("_")[:64]
    if not name:
        raise BadInput("The preset needs a name: type one.")
    lines = [f"label = {json.dumps(label, ensure_ascii=False)}", 'description = "A preset of your own"']
    lines += [f"method = {json.dumps(find(method).name)}", "[settings]"]
    lines += [f"{key} = {value!r}" for key, value in settings.look().items()]
    path = folder / f"{name}.toml"
    with disk.sentences(folder):
        folder.mkdir(parents=True, exist_ok=True)
    disk.write_atomically(path, ("\n".join(lines) + "\n").encode())
    return _read(path)


def remove_own(folder: Path, name: str) -> None:
    if not re.fullmatch(r"[\w-]+", name):
        raise BadInput(f'There is no preset "{name}".')
    with disk.sentences(folder):
        (folder / f"{name}.toml").unlink(missing_ok=True)


def _read(path: Path) -> Preset:
    try:
        with disk.open_regular(path, "rb") as file:
            data = tomllib.loads(file.read(_SIZE_LIMIT).decode("utf-8"))
        values = data["settings"]
        method = find(str(data.get("method", "")))
        settings = method.settings().replace(values)
        foreign = [key for key in values if key not in settings.look()]
        if foreign:
            raise BadInput(f"a preset cannot set {foreign[0]}")
        label = str(data.get("label", path.stem.replace("_", " ").title()))
        return Preset(
            path.stem, label, str(data["description"]), settings.look(), method.name, settings.is_material
        )
    except (OSError, ValueError, KeyError, TypeError, StoreError, BadInput) as error:
        raise BadInput(f"The preset {path} is damaged ({error}): repair or delete it.") from error
