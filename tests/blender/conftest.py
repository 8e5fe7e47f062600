"""Scenes with a setup, for the tests of the panel."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import scenes
import sinew
from inside import save
from panel_use import FRAMES, add_setup
from sinew.core.bake.company import Company


@pytest.fixture
def registered() -> Iterator[None]:
    sinew.register()
    yield
    sinew.unregister()


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip that artists install."""
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
    import extension

    path = tmp_path_factory.mktemp("package") / "sinew.zip"
    extension.pack(path)
    return path


@pytest.fixture
def arm(registered: None, tmp_path: Path) -> Any:
    """An animated arm in a saved file, active, with a quick setup."""
    return _with_setup(scenes.build_two_bone_arm, tmp_path)


@pytest.fixture
def dressed(registered: None, tmp_path: Path) -> Any:
    """The same with a sleeve and two beads."""
    return _with_setup(scenes.build_dressed_arm, tmp_path)


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bakes take their time, on the quickest machine too: what happens in the middle of one can be looked at."""
    step = Company.step

    def slower(company: Company) -> None:
        time.sleep(0.02)
        step(company)

    monkeypatch.setattr(Company, "step", slower)


def _with_setup(build: Callable[..., Any], folder: Path) -> Any:
    scenes.reset_scene()
    build(frames=FRAMES)
    save(folder / "arm.blend")
    return add_setup("Arm")
