"""What a report says of a bake of flesh, beside what it says of every bake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bake import told_contact, told_edits
from ..bake.method import Told
from ..bake.report import frame_of, numbers_of, percent, rms
from ..bake.results import world
from ..bake.shot import Shot
from ..bake.store import Store
from ..cage.welds import Labels, find_welds, name_parts, sentence, where
from ..geometry.poses import candidates, most_different
from .painted import paint_of

Flags = npt.NDArray[np.bool_]

_LITTLE = 0.01  # of size: what gets no farther from the animation is hardly seen
_FEW = 5  # tets drawn back, or inside out, in one sample that nobody sees
UNSEPARATED = "Gmsh does not separate parts: where fingers, lips or legs stick together, choose Lattice as Mesher."


def summary(shot: Shot, store: Store, enricher: Any) -> dict[str, Any]:
    """Numbers of a finished bake. Lengths called relative are fractions of size."""
    marks = numbers_of(store)
    size = float(enricher.size) or 1.0
    cage = enricher.cage

    def column(name: str) -> list[float]:
        return [getattr(numbers, name) for numbers in marks]

    def total_and_max(name: str) -> dict[str, int]:
        return {"total": int(sum(column(name))), "max": int(max(column(name), default=0))}

    fit_rms, fit_max = column("fit_rms"), column("fit_max")
    report: dict[str, Any] = {
        "tets": len(cage.tets),
        "cage_vertices": len(cage.vertices),
        "fit_error": {
            "rms": rms(fit_rms),
            "max": max(fit_max, default=0.0),
            "rms_relative": rms(fit_rms) / size,
            "max_relative": max(fit_max, default=0.0) / size,
            "rms_per_sample": fit_rms,
            "max_per_sample": fit_max,
        },
        "inverted_tets": {
            "fitted": int(sum(column("fit_inverted"))),
            "simulated": int(sum(column("inverted"))),
            "fitted_free": total_and_max("fit_inverted_free"),  # of those that flesh may move
            "samples_fitted": sum(value > 0 for value in column("fit_inverted")),
            "samples_simulated": sum(value > 0 for value in column("inverted")),
            # tets that are inside out where the fit has them right
            "simulated_only": int(sum(column("inverted_only"))),
            "samples_simulated_only": sum(value > 0 for value in column("inverted_only")),
            "samples_seen": sum(value > _FEW for value in column("inverted_only")),
        },
        "repaired_tets": total_and_max("repaired"),
        "newton_rounds": total_and_max("rounds"),
        "fit_rounds": total_and_max("fit_rounds"),
        "substeps": total_and_max("substeps"),
        "fallbacks": int(sum(column("fallbacks"))),
        "unsettled": any(column("unsettled")),
        "summary": dict(enricher.summary()),
        "cage_note": cage.note,
    }
    notes = [cage.note] if cage.note else []
    welds = _welds(shot, store, cage, fit_max)
    labels = paint_of(shot).labels
    report["welded"] = name_parts(welds, labels)
    notes += [sentence(welds, labels, shot.settings, cage)] if welds else []
    notes += _folded(shot, store, enricher, column("fit_inverted_free"))
    notes += _little(shot, max(column("added_max"), default=0.0) / size)
    report["contact"] = touched = told_contact.summary(shot, store)
    if touched is not None:
        notes += told_contact.notes(touched, shot.settings, _named(labels, touched["vertices"]))
    report["warnings"] = [*notes, *_warnings(shot, report, column("repaired"))]
    return report


def _named(labels: Labels | None, vertices: list[int]) -> str:
    """What the parts are called that some vertices are of."""
    numbers = [] if labels is None else [int(labels.numbers[vertex]) for vertex in vertices]
    names = [] if labels is None else [labels.names[number] for number in numbers if number >= 0]
    return ", ".join(dict.fromkeys(names))


def inside_out(positions: Any, tets: Any) -> Flags:
    """Which tets (m, 4) are."""
    found: Flags = _volumes(positions, tets) < 0.0
    return found


def sound(positions: Any, rest: Any, tets: Any) -> Flags:
    """Which tets have kept some of their volume at rest: a flatter one is as good as inside out."""
    from ..base.native import module

    found: Flags = _volumes(positions, tets) > module.SOUND_VOLUME * _volumes(rest, tets)
    return found


def _volumes(positions: Any, tets: Any) -> Any:
    """Six times, with their sign."""
    corners = positions[tets]
    edges = corners[:, 1:] - corners[:, :1]
    return np.einsum("ij,ij->i", np.cross(edges[:, 0], edges[:, 1]), edges[:, 2])


def free_tets(enricher: Any) -> Flags:
    """Which tets flesh may move: the shape of others is that of the input."""
    free: Flags = (enricher.cage_weights()[enricher.cage.tets] < 1.0).any(axis=1)
    return free


def _folded(shot: Shot, store: Store, enricher: Any, counts: list[float]) -> list[str]:
    """A sentence where the fitted cage turns inside out around free flesh: count, frame and place of the worst."""
    if max(counts, default=0) <= _FEW:
        return []
    worst = max(range(len(counts)), key=counts.__getitem__)
    folded = inside_out(store.read("fitted", worst), enricher.cage.tets) & free_tets(enricher)
    place = where(enricher.cage, folded, paint_of(shot).labels)
    return [
        f"The animation folds {int(counts[worst])} tets of soft flesh inside out at frame {frame_of(shot, worst):g}"
        f"{f' ({place})' if place else ''}. Where it looks creased, paint higher weights or raise Resolution."
    ]


def tell(report: Mapping[str, Any]) -> Told:
    fit, touched = report["fit_error"], told_contact.lines(report.get("contact"))
    followed = report["follow_error"]["max_relative"]
    edits = told_edits.lines(report.get("edits"))
    is_simulated = report["settings"].get("simulate", True)  # or it is only edited
    return Told(
        f"{report['tets']:,} tets",
        (
            f"fit error {100 * fit['rms_relative']:.3f} % rms, {100 * fit['max_relative']:.2f} % max of size"
            + (f"; followed vertices within {100 * followed:.5f} %" if is_simulated else ""),
            *touched,
            *edits,
        ),
        (f"Cage off the animation: {percent(fit)}", *touched, *edits),
    )


def _welds(shot: Shot, store: Store, cage: Any, fit_max: list[float]) -> list[Any]:
    """What the cage holds together, told by the most different of some samples and the one that it fits worst."""
    parts = paint_of(shot).parts
    seen = None if parts is None else parts.tracked
    looked_at = candidates(0, len(fit_max) - 1) if fit_max else []
    poses = [world(store, index) for index in looked_at]
    given = slice(None) if seen is None else seen
    chosen = [poses[index] for index in most_different(shot.rest[given], [pose[given] for pose in poses])]
    if fit_max:
        chosen.append(world(store, max(range(len(fit_max)), key=fit_max.__getitem__)))
    return find_welds(cage, shot.rest, shot.triangles, chosen, seen)


def _little(shot: Shot, seen: float) -> list[str]:
    """What helps where hardly anything is seen to move though some of it is free."""
    settings = shot.settings
    if seen >= _LITTLE or not settings.simulate or settings.amount == 0.0 or not (paint_of(shot).follow < 0.5).any():
        return []
    softer = "lower Stiffness"
    if settings.young == 0.0:
        softer = f"lower Jiggle ({settings.jiggle / 2**0.5:.2g} Hz shows twice as much)"
    return [f"Little moves, {seen:.1%} of the body's size at most. To see more, {softer} or raise Amount."]


def _warnings(shot: Shot, report: Mapping[str, Any], repaired: list[float]) -> list[str]:
    found = []
    settings, paint = shot.settings, paint_of(shot)
    regions, follow = paint.regions, paint.follow
    held = settings.free_body or regions.bones is not None or regions.inside is not None or settings.average_regions > 0
    if not (follow >= 1.0).any() and not settings.follow_animated and not held and settings.simulate:
        found.append("Nothing is followed exactly, so the whole body may drift: paint some weights of 1.")
    if not (follow < 0.5).any() and not settings.follow_animated and settings.simulate:
        found.append("Everything follows the input closely, so there is little to see: paint some weights below 0.5.")
    if report["unsettled"]:
        found.append("The flesh found no rest in the first pose: it goes on settling in the first frames.")
    seen = report["inverted_tets"]["samples_seen"]
    if seen:
        found.append(f"Some flesh turns inside out in {seen} samples: raise Jiggle, or set a Max Offset.")
    if report["repaired_tets"]["max"] > _FEW:
        most = frame_of(shot, max(range(len(repaired)), key=repaired.__getitem__))
        found.append(
            f"{report['repaired_tets']['max']} tets turned inside out by frame {most:g} and are drawn back over the "
            "next ones: raise Jiggle, or paint higher weights, where the flesh looks crumpled."
        )
    if report["fit_error"]["rms_relative"] > 0.02:
        found.append("The cage follows the mesh poorly: raise Resolution, or set Rest Frame to a typical pose.")
    if settings.mesher == "gmsh" and settings.separate_parts and not report["cage_note"]:
        found.append(UNSEPARATED)
    return found
