"""What a bake tells about itself: times of its stages and a table of numbers, ready for JSON."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from ..cage.welds import find_welds, name_parts, sentence
from ..geometry.poses import candidates, most_different
from .clock import Clock

if TYPE_CHECKING:
    from .shot import Shot
    from .store import Store


_FEW_REPAIRS = 5  # tets drawn back in one sample that nobody sees
UNSEPARATED = "Gmsh does not separate parts: where fingers, lips or legs stick together, choose Lattice as Mesher."


def peak_memory() -> int | None:
    """Largest memory of this process so far, bytes; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def build_report(shot: Shot, store: Store, enricher: Any, clock: Clock) -> dict[str, Any]:
    """Numbers of a finished bake. Lengths called relative are fractions of size."""
    marks = [mark.numbers for mark in store.marks if mark is not None]
    size = float(enricher.size) or 1.0

    def column(name: str) -> list[float]:
        return [numbers.get(name, 0.0) for numbers in marks]

    fit_rms, fit_max = column("fit_rms"), column("fit_max")
    summary = dict(enricher.summary())
    report: dict[str, Any] = {
        "object": shot.owner_object,
        "bake": store.manifest.id,
        "frames": shot.frame_end - shot.frame_start + 1,
        "frame_start": shot.frame_start,
        "frame_end": shot.frame_end,
        "samples": len(marks),
        "computed": clock.calls.get("simulation", 0),  # the others were kept from an earlier bake
        "frame_rate": shot.frame_rate,
        "vertices": len(shot.rest),
        "triangles": len(shot.triangles),
        "passengers": [
            {"object": one.object_name, "vertices": len(one.rest), "rigid": one.rigid} for one in shot.passengers
        ],
        "size": size,
        "tets": len(enricher.cage.tets),
        "cage_vertices": len(enricher.cage.vertices),
        "fit_error": {
            "rms": _rms(fit_rms),
            "max": max(fit_max, default=0.0),
            "rms_relative": _rms(fit_rms) / size,
            "max_relative": max(fit_max, default=0.0) / size,
            "rms_per_sample": fit_rms,
            "max_per_sample": fit_max,
        },
        **shown_numbers(shot, store, size),
        "inverted_tets": {
            "fitted": int(sum(column("fit_inverted"))),
            "simulated": int(sum(column("inverted"))),
            "samples_fitted": sum(value > 0 for value in column("fit_inverted")),
            "samples_simulated": sum(value > 0 for value in column("inverted")),
            # tets that are inside out where the fit has them right
            "simulated_only": int(sum(column("inverted_only"))),
            "samples_simulated_only": sum(value > 0 for value in column("inverted_only")),
        },
        "repaired_tets": {"total": int(sum(column("repaired"))), "max": int(max(column("repaired"), default=0))},
        "newton_rounds": {"total": int(sum(column("rounds"))), "max": int(max(column("rounds"), default=0))},
        "fit_rounds": {"total": int(sum(column("fit_rounds"))), "max": int(max(column("fit_rounds"), default=0))},
        "substeps": {"total": int(sum(column("substeps"))), "max": int(max(column("substeps"), default=0))},
        "fallbacks": int(sum(column("fallbacks"))),
        "restarts": [_frame(shot, index) for index, value in enumerate(column("restarted")) if value],
        "loop": _loop(marks, shot.repeats) if shot.settings.loop else None,
        "seconds": {**{name: round(value, 4) for name, value in clock.seconds.items()}, "total": round(clock.total, 4)},
        "peak_memory": peak_memory(),
        "settings": shot.settings.as_dict(),
        "summary": {name: _plain(value) for name, value in summary.items()},
    }
    report["cage_note"] = enricher.cage.note
    notes = [report["cage_note"]] if report["cage_note"] else []
    welds = _welds(shot, store, enricher.cage, fit_max)
    report["welded"] = name_parts(welds, shot.labels)
    notes += [sentence(welds, shot.labels, shot.settings, enricher.cage)] if welds else []
    report["warnings"] = [*shot.warnings, *notes, *_warnings(shot, report, column("repaired"))]
    return report


def frames_text(count: int) -> str:
    return f"{count} frame" if count == 1 else f"{count} frames"


def _welds(shot: Shot, store: Store, cage: Any, fit_max: list[float]) -> list[Any]:
    """What the cage holds together, told by the most different of some samples and the one that it fits worst."""

    def world(index: int) -> Any:
        matrix = store.read("matrix", index)
        return store.read("input", index).astype(matrix.dtype) @ matrix[:3, :3].T + matrix[:3, 3]

    seen = None if shot.parts is None else shot.parts.tracked
    looked_at = candidates(0, len(fit_max) - 1) if fit_max else []
    poses = [world(index) for index in looked_at]
    given = slice(None) if seen is None else seen
    chosen = [poses[index] for index in most_different(shot.rest[given], [pose[given] for pose in poses])]
    if fit_max:
        chosen.append(world(max(range(len(fit_max)), key=fit_max.__getitem__)))
    return find_welds(cage, shot.rest, shot.triangles, chosen, seen)


def shown_numbers(shot: Shot, store: Store, size: float) -> dict[str, Any]:
    """What of a report depends on what is shown of the simulation, and not on the simulation alone."""
    marks = [mark.numbers for mark in store.marks if mark is not None]
    played = marks[(shot.frame_start - shot.first_frame) * shot.settings.samples :]
    followed = max((numbers.get("follow_max", 0.0) for numbers in marks), default=0.0)
    added_rms = math.sqrt(_mean([numbers.get("added_square", 0.0) for numbers in played]))
    added_max = max((numbers.get("added_max", 0.0) for numbers in played), default=0.0)
    return {
        "follow_error": {"max": followed, "max_relative": followed / size},
        "added_motion": {
            "rms": added_rms,
            "max": added_max,
            "rms_relative": added_rms / size,
            "max_relative": added_max / size,
            "free_vertices": int((shot.follow < 0.5).sum()),
        },
    }


def lines(report: dict[str, Any]) -> list[str]:
    """The report in a few lines for a person."""
    seconds = report["seconds"]
    stages = ", ".join(f"{name} {value:.1f}" for name, value in seconds.items() if name != "total")
    return [
        f"{report['object']}: {frames_text(report['frames'])}, {report['vertices']} vertices, {report['tets']} tets",
        f"fit error {100 * report['fit_error']['rms_relative']:.3f} % rms, "
        f"{100 * report['fit_error']['max_relative']:.2f} % max of size",
        f"added motion {100 * report['added_motion']['rms_relative']:.2f} % rms, "
        f"{100 * report['added_motion']['max_relative']:.2f} % max of size; "
        f"followed vertices within {100 * report['follow_error']['max_relative']:.5f} %",
        f"{seconds['total']:.1f} s ({stages})",
        *([f"carries {_carried(report)}"] if report["passengers"] else []),
        *(f"note: {warning}" for warning in report["warnings"]),
    ]


def _carried(report: dict[str, Any]) -> str:
    parts = report["passengers"]
    return ", ".join(f"{one['object']} ({'rigid' if one['rigid'] else 'soft'})" for one in parts)


def told(report: dict[str, Any]) -> list[str]:
    """The same for an artist, in lines that fit a panel."""

    def percent(part: str) -> str:
        numbers = report[part]
        return f"{100 * numbers['rms_relative']:.1f} % of size, {100 * numbers['max_relative']:.1f} % at most"

    seconds = dict(report["seconds"])
    total = seconds.pop("total")
    slowest = sorted(seconds.items(), key=lambda stage: -stage[1])[:3]
    found = [
        f"{frames_text(report['frames'])}, {report['vertices']:,} vertices, {report['tets']:,} tets",
        f"Motion added: {percent('added_motion')}",
        f"Cage off the animation: {percent('fit_error')}",
        f"Took {total:.0f} s: " + ", ".join(f"{name} {value:.0f}" for name, value in slowest),
    ]
    if report["passengers"]:
        found.insert(1, f"Carries {_carried(report)}")
    memory = report["peak_memory"]
    return [*found, f"Memory {memory / 1e6:,.0f} MB at most"] if memory else found


def _warnings(shot: Shot, report: dict[str, Any], repaired: list[float]) -> list[str]:
    found = []
    animated, inside = shot.settings.follow_animated, shot.regions.bones is not None or shot.regions.inside is not None
    held = inside or shot.settings.average_regions > 0
    if not (shot.follow >= 1.0).any() and not animated and not held:
        found.append("Nothing is followed exactly, so the whole body may drift: paint some weights of 1.")
    if not (shot.follow < 0.5).any() and not animated:
        found.append("Everything follows the input closely, so there is little to see: paint some weights below 0.5.")
    if report["restarts"]:
        shown = ", ".join(f"{frame:g}" for frame in report["restarts"][:10])
        found.append(f"The animation jumps at frame {shown}: the simulation started anew there.")
    if report["loop"] and report["loop"]["blended"]:
        found.append(
            f"The loop did not close within {report['loop']['cycles']} cycles and was blended "
            f"({report['loop']['seam_relative']:.2%} of size were left): shorten Settle, or choose a longer cycle."
        )
    if report["loop"] and report["loop"]["kink"]:
        found.append(
            "The animation changes its speed abruptly where the loop begins anew, as half a cycle does: choose the "
            "frames of a whole one, unless it should."
        )
    only = report["inverted_tets"]["samples_simulated_only"]
    if only:
        found.append(f"Some flesh turns inside out in {only} samples: raise Jiggle, or set a Max Offset.")
    if report["repaired_tets"]["max"] > _FEW_REPAIRS:
        most = _frame(shot, max(range(len(repaired)), key=repaired.__getitem__))
        found.append(
            f"{report['repaired_tets']['max']} tets turned inside out by frame {most:g} and were drawn back to the "
            "input: raise Jiggle, or paint higher weights, where the flesh looks crumpled."
        )
    if report["fit_error"]["rms_relative"] > 0.02:
        found.append("The cage follows the mesh poorly: raise Resolution, or set Rest Frame to a typical pose.")
    if shot.settings.mesher == "gmsh" and shot.settings.separate_parts and not report["cage_note"]:
        found.append(UNSEPARATED)
    return found


def _loop(marks: list[dict[str, float]], repeats: tuple[bool, bool]) -> dict[str, Any]:
    """How a loop was closed, and whether it goes on outside of the range."""
    first = marks[0] if marks else {}
    return {
        "cycles": int(first.get("cycles", 0)),
        "seam_relative": first.get("seam", 0.0),
        "blended": first.get("gap", 0.0) > 0.0,
        "period": int(first.get("period", 0)),  # samples
        "kink": first.get("kink", 0.0) > 0.0,
        "repeats": list(repeats),
    }


def _frame(shot: Shot, index: int) -> float:
    return shot.first_frame + index / shot.settings.samples


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _rms(values: list[float]) -> float:
    return math.sqrt(_mean([value * value for value in values]))


def _plain(value: Any) -> Any:
    """Numpy scalars, arrays and tuples as JSON knows them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
