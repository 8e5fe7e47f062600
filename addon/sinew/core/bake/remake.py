"""Results anew from a finished bake: what only says how a simulation is shown needs neither the scene nor another
simulation. All comes from the bake folder, whose files the new one shares; the old one stays as it is."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import Cancelled, StoreError
from ..base.settings import RESULT
from .before import Progress
from .clock import Clock
from .method import find
from .report import shown_numbers
from .results import Results
from .run import Outcome
from .shot import Passenger, Sample, Shot, stored_sample
from .store import Store


def remake(
    root: Path,
    bake_id: str,
    settings: Any,
    shown: Any = None,
    *,
    owner_file: str | None = None,
    amounts: Sequence[float] | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """A complete bake with other result settings. `shown`: what its method has read of the scene about them now.
    `owner_file`: the .blend that it is for; None: that of the bake. `amounts`: of each sample, as keyframed; None:
    those of the bake.

    KeyboardInterrupt (also from `progress`) ends in Cancelled, and nothing has changed.
    """
    clock = Clock()
    store: Store | None = None
    try:
        with Store.open(root, bake_id) as old:
            _check(old)
            shot = stored_shot(old, settings, shown)
            results = results_of(old, shot)
            if progress:
                results.shown.look = lambda stage, done, total: progress(stage, done, total, -1.0)
            if all(_is_made(old, shot, sample) for sample in _samples(old, amounts)):
                return Outcome(bake_id, old.folder, old.manifest.report, True)
            owner = old.manifest.owner_file if owner_file is None else owner_file
            store = Store.fork(root, old, settings=shot.settings.as_dict(), owner_file=owner)
        results = dataclasses.replace(results, store=store, clock=clock)
        is_late = bool(shot.method.late(shot.settings))  # what depends on all samples is made whole
        for sample in _samples(store, amounts):
            store.write("amount", sample.index, np.full((1, 1), sample.amount))
        for sample in _samples(store, amounts):
            index, mark = sample.index, store.marks[sample.index]
            if mark is None or mark.data != store.digest(index):
                raise StoreError(f"The bake is damaged at sample {index}: bake again.")
            if is_late or not _is_made(store, shot, sample):
                results.write(index, shot.result_key(sample), mark.numbers)
            if progress:
                progress("Showing", index + 1, shot.samples, -1.0)
        report = _report(store, results, clock)
        store.complete(report)
        return Outcome(store.manifest.id, store.folder, report, False)
    except BaseException as error:
        if store is not None:
            store.close()
            shutil.rmtree(store.folder, ignore_errors=True)
        if isinstance(error, KeyboardInterrupt):
            raise Cancelled("Stopped: the bake is as it was.") from None
        raise
    finally:
        if store is not None:
            store.close()


def stored_shot(store: Store, settings: Any, shown: Any = None) -> Shot:
    """The shot that a bake was made of, with other result settings. Gravity and the like went into the simulation."""
    manifest = store.manifest
    method = find(manifest.method)
    known = {name: value for name, value in manifest.settings.items() if name in method.settings.all()}
    passengers = tuple(
        Passenger(
            object_name=entry.object_name,
            rest=store.constant(f"passenger_{number}_rest"),
            first=store.constant(f"passenger_{number}_first"),
            shells=store.constant(f"passenger_{number}_shells"),
            rigid=entry.rigid,
            triangles=store.constant(f"passenger_{number}_triangles") if entry.triangles else None,
        )
        for number, entry in enumerate(manifest.passengers)
    )
    return Shot(
        rest=store.constant("rest"),
        triangles=store.constant("triangles"),
        settings=method.settings().replace(known | settings.part(RESULT)),
        method=method,
        samples=manifest.samples,
        first_frame=manifest.first_frame,
        frame_start=manifest.frame_start,
        frame_end=manifest.frame_end,
        frame_rate=manifest.frame_rate / manifest.samples_per_frame,
        gravity=(0.0, 0.0, 0.0),
        owner_file=manifest.owner_file,
        owner_object=manifest.owner_object,
        owner_setup=manifest.owner_setup,
        passengers=passengers,
        painted=method.painted(store, shown),
        reads=bool(store.own_inputs),
        native=manifest.native,
        build=manifest.build,
    )


def results_of(store: Store, shot: Shot) -> Results:
    """What makes the results of a finished bake."""
    return Results(store, shot, shot.method.show(shot, store), Clock())


def _check(store: Store) -> None:
    if not store.manifest.complete or store.done != store.manifest.samples:
        raise StoreError("This bake is not complete: bake again.")


def _samples(store: Store, amounts: Sequence[float] | None) -> Iterator[Sample]:
    """Those of a bake, with other amounts."""
    for index in range(store.manifest.samples):
        sample = stored_sample(store, index)
        yield sample if amounts is None else dataclasses.replace(sample, amount=amounts[index])


def _is_made(store: Store, shot: Shot, sample: Sample) -> bool:
    """Whether the result of a sample is there already."""
    mark = store.marks[sample.index]
    return mark is not None and mark.result == shot.result_key(sample)


def _report(store: Store, results: Results, clock: Clock) -> dict[str, Any]:
    shot = results.shot
    report = dict(store.manifest.report)
    size = float(report.get("size") or 1.0)
    seconds = {"detail": round(clock.seconds.get("detail", 0.0), 4), "total": round(clock.total, 4)}
    report |= {"bake": store.manifest.id, "computed": 0, "seconds": seconds, "settings": shot.settings.as_dict()}
    return report | shown_numbers(shot, store, size, results.shown)
