"""A whole frame of a finished bake of 20,000 tets and 10,000 vertices as the sliders of After the Bake show it: read,
balanced, with its detail, written for the modifier. Prints rows of the benchmark: name, milliseconds, yardstick, unit.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python tests/benchmark/live_frame.py
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "addon"), str(ROOT / "tests" / "core")]

import numpy as np  # noqa: E402
import shots  # noqa: E402
from bodies import rod  # noqa: E402
from sinew.core.bake import pc2, remake, run  # noqa: E402
from sinew.core.bake.shot import Sample  # noqa: E402
from sinew.core.bake.store import Store  # noqa: E402
from sinew.core.flesh.settings import Settings  # noqa: E402

FRAMES, RUNS = 6, 40


def samples(rest: np.ndarray) -> Iterator[Sample]:
    for index in range(FRAMES):
        yield Sample(index, (rest + [0.0, 0.0, 0.1 * np.sin(index)]).astype(np.float32), np.eye(4))


def main() -> int:
    rest, triangles = rod(0.2, 1.0, 100, 100)
    settings = Settings().replace({"resolution": 21})
    shot = shots.make_shot(rest, triangles, (rest[:, 0] < 0.1).astype(float), FRAMES, settings=settings)
    with tempfile.TemporaryDirectory() as folder:
        outcome = run.bake(shot, samples(rest), Path(folder))
        with Store.open(Path(folder), outcome.id) as store:
            results = remake.results_of(store, remake.stored_shot(store, settings, None))

            def show(index: int, strength: float) -> None:
                results.show(results.shot.settings.replace({"follow_after": strength}))
                positions = results.made(index)[0]
                with open(Path(folder) / "live.pc2", "w+b") as target:
                    header = pc2.Header(len(positions), 1)
                    pc2.write_header(target, header)
                    pc2.write_slot(target, header, 0, positions)

            def best(first: float, last: float, moving: bool) -> float:
                """Processor time of the quickest run, in milliseconds."""
                found = []
                for run, strength in enumerate(np.linspace(first, last, RUNS)):
                    start = time.process_time()
                    show(1 + run % (FRAMES - 1) if moving else 1, float(strength))
                    found.append(time.process_time() - start)
                return 1e3 * min(found[1:])

            print(f"live_tets,{outcome.report['tets']},0,")
            print(f"live_frame_20k_cpu,{best(0.1, 0.5, False):.3f},5,ms")
            print(f"live_frame_20k_playing_cpu,{best(0.5, 0.5, True):.3f},5,ms")
            # weights above 0.6 hold places too, which asks for a factorization at every move of the slider
            print(f"live_frame_20k_held_cpu,{best(0.65, 0.95, False):.3f},5,ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
