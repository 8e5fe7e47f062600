"""Presets: named settings as data files, one TOML file each."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import BadInput
from .settings import Settings

# In an installed package they lie inside it; in the repository at its top.
_FOLDERS = (Path(__file__).parents[1] / "presets", Path(__file__).parents[3] / "presets")


@dataclass(frozen=True)
class Preset:
    name: str
    description: str
    values: Mapping[str, Any]


def load_all() -> dict[str, Preset]:
    """All presets by name, in order of name."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), None)
    files = sorted(folder.glob("*.toml")) if folder else []
    return {path.stem: _read(path) for path in files}


def load(name: str) -> Preset:
    """The preset of that name; otherwise a sentence with the closest one."""
    known = load_all()
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        hint = f'did you mean "{close[0]}"?' if close else "no presets are installed."
        raise BadInput(f'There is no preset "{name}": {hint}')
    return known[name]


def _read(path: Path) -> Preset:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        values = data["settings"]
        Settings().replace(values)
        return Preset(path.stem, str(data["description"]), values)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"The preset {path} is damaged ({error}): repair or delete it.") from error
