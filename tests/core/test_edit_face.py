"""Edit Motion inside the bake of a face: a cheek is pulled while the head shakes and speaks, and what skull and jaw
carry stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sinew.core.bake import remake, run
from sinew.core.bake.store import Store
from sinew.core.edit.handles import Edits, Handle
from sinew.core.paint.parts import AS_INPUT
from test_face_bake import COUNT, FACE, PAINT, REST, SHAKEN, baked, frames, settings, speech

pytestmark = pytest.mark.once

AT = 9  # frame 10
BY = (0.006, -0.004, 0.003)


def shown(outcome: run.Outcome) -> Any:
    with Store.open(outcome.folder.parent, outcome.id) as store:
        return np.array([store.read_result(index, "result") for index in range(COUNT)], float)


def test_a_cheek_is_pulled_and_what_skull_and_jaw_carry_stays(tmp_path: Path) -> None:
    plain, _, _ = baked(tmp_path, frames(speech(), SHAKEN), resolution=16)
    before, size = shown(plain), float(np.ptp(REST, axis=0).max())
    flesh = np.flatnonzero(FACE.is_free & (PAINT.parts.rigid != AS_INPUT))  # type: ignore[union-attr]
    cheek = int(flesh[np.argmin(np.linalg.norm(REST[flesh] - [0.046, -0.096, -0.029], axis=1))])
    rooted = int(flesh[np.argmin(np.linalg.norm(REST[flesh] - [0.068, -0.061, -0.041], axis=1))])

    def edited(*handles: Handle) -> Any:
        values = {"resolution": 16, "edits": Edits(handles=handles).to_text()}
        return remake.remake(plain.folder.parent, plain.id, settings(**values))

    outcome = edited(Handle((cheek,), AT + 1.0, BY))
    moved = shown(outcome) - before
    assert outcome.report["edits"]["missed_relative"] < 1e-4 and outcome.report["computed"] == 0
    assert np.abs(moved[AT, cheek] - BY).max() < 1e-4 * size
    assert np.linalg.norm(moved[AT + 1, cheek]) > 0.1 * np.linalg.norm(BY), "it swings after"
    carried = PAINT.parts.rigid == AS_INPUT  # type: ignore[union-attr]
    assert carried.any() and not moved[:, carried].any()
    told = edited(Handle((rooted,), AT + 1.0, BY))
    assert "hangs nearly all on what follows the animation" in told.report["edits"]["left_out"][0]
    assert np.array_equal(shown(told), before), "flesh that has hardly a way is not thrown about"
    for nothing in ((), (Handle((cheek,), AT + 1.0, BY, mute=True),)):
        assert np.array_equal(shown(edited(*nothing)), before)
