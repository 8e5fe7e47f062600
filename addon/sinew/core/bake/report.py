"""What a bake tells about itself: times of its stages and a table of numbers, ready for JSON."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from .clock import Clock
from .method import Engine, Show, find
from .numbers import Numbers
from .shot import Shot
from .store import Store


def peak_memory() -> int | None:
    """Largest memory of this process so far, bytes; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def build_report(shot: Shot, store: Store, engine: Engine, clock: Clock) -> dict[str, Any]:
    """Numbers of a finished bake. Lengths called relative are fractions of size."""
    marks = numbers_of(store)
    size = float(engine.size) or 1.0
    report: dict[str, Any] = {
        "object": shot.owner_object,
        "method": shot.method.name,
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
        "together": list(shot.companions),
        "size": size,
        **shown_numbers(shot, store, size, engine),
        "restarts": _restarts(shot, marks),
        "spliced": [frame_of(shot, index) for index, numbers in enumerate(marks) if numbers.spliced],
        "loop": _loop(marks, shot.repeats) if shot.settings.loop else None,
        "input_mark": shot.input_mark,
        "from_stored": shot.is_from_stored,
        "peak_memory": peak_memory(),
        "settings": shot.settings.as_dict(),
    }
    own = plain(engine.summary(store))
    warnings = [*shot.warnings, *own.pop("warnings", []), *_warnings(report)]
    seconds = {**{name: round(value, 4) for name, value in clock.seconds.items()}, "total": round(clock.total, 4)}
    return {**report, **own, "seconds": seconds, "warnings": warnings}


def numbers_of(store: Store) -> Sequence[Any]:
    """Those of all finished samples; of the class that the method has for them."""
    return [mark.numbers for mark in store.marks if mark is not None]


def frame_of(shot: Shot, index: int) -> float:
    return shot.first_frame + index / shot.settings.samples


def frames_text(count: int) -> str:
    return f"{count} frame" if count == 1 else f"{count} frames"


def duration_text(amount: float) -> str:
    """Seconds as a person says them."""
    if amount < 60:
        return f"{max(1, round(amount))} s"
    if amount < 600:
        minutes, rest = divmod(round(amount / 5) * 5, 60)
        return f"{minutes} min {rest:02d} s" if rest else f"{minutes} min"
    if amount < 3570:
        return f"{round(amount / 60)} min"
    hours, rest = divmod(round(amount / 60), 60)
    return f"{hours} h {rest:02d} min"


def shown_numbers(shot: Shot, store: Store, size: float, shown: Show) -> dict[str, Any]:
    """What of a report depends on what is shown of the simulation, and not on the simulation alone."""
    played = played_numbers(shot, store)
    added_rms = root_mean([numbers.added_square for numbers in played])
    added_max = max((numbers.added_max for numbers in played), default=0.0)
    motion = {
        "rms": added_rms,
        "max": added_max,
        "rms_relative": added_rms / size,
        "max_relative": added_max / size,
    }
    own = dict(plain(shown.about(store, size)))
    return {**own, "added_motion": {**motion, **own.get("added_motion", {})}}


def played_numbers(shot: Shot, store: Store) -> Sequence[Any]:
    """Those of the samples that play, without a preroll."""
    return numbers_of(store)[(shot.frame_start - shot.first_frame) * shot.settings.samples :]


def root_mean(squares: list[float]) -> float:
    return math.sqrt(_mean(squares))


def lines(report: Mapping[str, Any]) -> list[str]:
    """The report in a few lines for a person."""
    own = find(report["method"]).tell(report)
    seconds, added = report["seconds"], report["added_motion"]
    stages = ", ".join(f"{name} {value:.1f}" for name, value in seconds.items() if name != "total")
    size = f", {own.size}" if own.size else ""
    return [
        f"{report['object']}: {frames_text(report['frames'])}, {report['vertices']} vertices{size}",
        *own.lines,
        f"added motion {100 * added['rms_relative']:.2f} % rms, {100 * added['max_relative']:.2f} % max of size",
        f"{seconds['total']:.1f} s ({stages})",
        *([f"carries {_carried(report)}"] if report["passengers"] else []),
        *([f"simulated together with {_joined(report)}"] if report.get("together") else []),
        *(["from the frames of the last bake: nothing that moves has changed"] if report.get("from_stored") else []),
        *(f"note: {warning}" for warning in report["warnings"]),
    ]


def _carried(report: Mapping[str, Any]) -> str:
    parts = report["passengers"]
    return ", ".join(f"{one['object']} ({'rigid' if one['rigid'] else 'soft'})" for one in parts)


def _joined(report: Mapping[str, Any]) -> str:
    names = report["together"]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def told(report: Mapping[str, Any]) -> list[str]:
    """The same for an artist, in lines that fit a panel."""
    own = find(report["method"]).tell(report)
    seconds = dict(report["seconds"])
    total = seconds.pop("total")
    slowest = sorted(seconds.items(), key=lambda stage: -stage[1])[:3]
    size = f", {own.size}" if own.size else ""
    found = [
        f"{frames_text(report['frames'])}, {report['vertices']:,} vertices{size}",
        f"Motion added: {percent(report['added_motion'])}",
        *own.panel,
        f"Took {total:.0f} s: " + ", ".join(f"{name} {value:.0f}" for name, value in slowest),
    ]
    if report["passengers"]:
        found.insert(1, f"Carries {_carried(report)}")
    if report.get("together"):
        found.insert(1, f"Together with {_joined(report)}")
    memory = report["peak_memory"]
    return [*found, f"Memory {memory / 1e6:,.0f} MB at most"] if memory else found


def percent(numbers: Mapping[str, float]) -> str:
    return f"{100 * numbers['rms_relative']:.1f} % of size, {100 * numbers['max_relative']:.1f} % at most"


def _warnings(report: Mapping[str, Any]) -> list[str]:
    found = []
    first = [frame for frame in report["restarts"] if frame <= report["frame_start"] + 1]
    if first:
        found.append(
            f"The pose of frame {first[-1] - 1} is far from that of frame {first[-1]}, as a T-pose before a take is: "
            f"it shows the input, and the simulation starts at frame {first[-1]}."
        )
    later = report["restarts"][len(first) :]
    if later:
        shown = ", ".join(map(str, later[:10])) + (f" and {len(later) - 10} more" if len(later) > 10 else "")
        found.append(f"The animation jumps at frame {shown}: the simulation started anew there.")
    if report["loop"] and report["loop"]["blended"]:
        found.append(
            f"The loop did not close within {report['loop']['cycles']} cycles and was blended "
            f"({report['loop']['seam_relative']:.2%} of size were left): let it settle sooner, or choose a longer "
            "cycle."
        )
    if report["loop"] and report["loop"]["kink"]:
        found.append(
            "The animation changes its speed abruptly where the loop begins anew, as half a cycle does: choose the "
            "frames of a whole one, unless it should."
        )
    return found


def _loop(marks: Sequence[Numbers], repeats: tuple[bool, bool]) -> dict[str, Any]:
    """How a loop was closed, and whether it goes on outside of the range."""
    first = marks[0] if marks else Numbers()
    return {
        "cycles": int(first.cycles),
        "seam_relative": first.seam,
        "blended": first.gap > 0.0,
        "period": int(first.period),  # samples
        "kink": first.kink > 0.0,
        "repeats": list(repeats),
    }


def _restarts(shot: Shot, marks: Sequence[Numbers]) -> list[int]:
    """The frames that the input jumps to. With several samples a frame those on the way there count as jumps too."""
    whole = range(0, len(marks), shot.settings.samples)
    return [shot.first_frame + index // shot.settings.samples for index in whole if marks[index].restarted]


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def rms(values: list[float]) -> float:
    return math.sqrt(_mean([value * value for value in values]))


def plain(value: Any) -> Any:
    """Numpy scalars, arrays and tuples as JSON knows them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
