"""All settings of a bake: one frozen dataclass with defaults, ranges and descriptions in one place."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...base.errors import BadInput


def _setting(
    default: Any,
    description: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[Any, ...] = (),
    unit: str = "",
) -> Any:
    metadata = {"description": description, "low": low, "high": high, "choices": choices, "unit": unit}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Settings:
    """Settings of one bake. Make changed ones with `replace` or `from_text`, which check them."""

    resolution: int = _setting(
        0,
        "Cells of the cage along the longest side of the body. More follow finer parts, such as fingers, and take "
        "longer; 0 chooses: 24, fewer for compact bodies",
        low=0,
        high=256,
    )
    separate_parts: bool = _setting(
        True,
        "Fingers, lips or legs that lie close together or touch move apart freely. Off: they stick together where they "
        "are nearer than the cage's cells",
    )
    mesher: str = _setting(
        "lattice",
        "What fills the cage: Lattice is quick, its tets are even. Gmsh makes a smoother boundary and fewer tets, "
        "larger inside, and takes a few seconds",
        choices=("lattice", "gmsh"),
    )
    jiggle: float = _setting(
        3.0, "How fast free parts swing: low looks heavy and slow, high firm and quick", low=0.05, high=100.0, unit="Hz"
    )
    settle: float = _setting(
        0.7, "How long free parts go on swinging, until 5 % are left of a swing", low=0.01, high=60.0, unit="s"
    )
    amount: float = _setting(
        1.0,
        "How much of the motion is seen: 0 is the animation as it was, 2 is double. Multiplies the object property "
        "sinew_amount, and needs no new simulation",
        low=0.0,
        high=2.0,
    )
    maximum_offset: float = _setting(
        0.0,
        "How far free parts get from the animation at most, as a fraction of the body's size; 0 is no limit",
        low=0.0,
        high=10.0,
    )
    keep_pose: float = _setting(
        1.0, "1: flesh comes to rest in the animated pose. 0: it sags under gravity and relaxes", low=0.0, high=1.0
    )
    balance: float = _setting(
        1.0, "Above 1, parts painted between 0 and 1 swing more; below 1, they follow more closely", low=0.05, high=20.0
    )
    transition: float = _setting(
        0.08,
        "How softly free flesh joins what follows exactly: it is firmer beside it, over this fraction of the body's "
        "size, so that it does not fold there. 0 is as painted",
        low=0.0,
        high=1.0,
    )
    follow_group: str = _setting(
        "",
        "Vertex group that says what moves: 1 follows the animation exactly, 0 swings freely. Empty is automatic, by "
        "the bones and the thickness of the mesh",
    )
    follow_animated: bool = _setting(
        False,
        "The follow weights are read on every frame, as modifiers and nodes make them there, and multiplied by the "
        "object property sinew_follow, which can be keyed: flesh may let go and be caught again",
    )
    fields: float = _setting(
        1.0, "How strongly the scene's force fields push the free parts; 0 is not at all", low=0.0, high=100.0
    )
    average_regions: int = _setting(
        0,
        "Cuts the free flesh into about so many regions, each of which stays with the animation on average and moves "
        "freely otherwise: even a body that nothing holds jiggles without drifting away. 0 is off",
        low=0,
        high=128,
    )
    average_group: str = _setting(
        "", "Vertex group of what stays with the animation on average, each piece by itself. Empty is all free flesh"
    )
    track_group: str = _setting(
        "",
        "Vertex group of what the animation is right about; the rest is completed by the flesh around it: inner lips, "
        "the inside of a mouth. Empty is everything",
    )
    rigid_group: str = _setting(
        "", "Vertex group of parts that keep their shape, each piece by itself: teeth, eyes, buttons, claws"
    )
    rigid_shells: bool = _setting(
        False,
        "Small loose parts of the mesh keep their shape, as if they were in the rigid group: teeth, eyes, buttons. "
        "What is worn around the body, such as shoes and belts, stays soft",
    )
    bone_core: float = _setting(
        0.0,
        "Flesh follows exactly inside limbs, around their bones, so that what is painted free swings on a firm core. "
        "How thick it is, as a fraction of the limb; 0 is none",
        low=0.0,
        high=0.9,
    )
    cage_object: str = _setting(
        "",
        "Object with the cage's vertices, inner ones too, whose group Sinew Follow says what follows inside the body. "
        "Make Cage Object makes one; it need not have the cage's resolution",
    )
    stiffness_group: str = _setting("", "Vertex group of flesh that is firmer or softer than the rest")
    stiffness_painted: float = _setting(
        4.0,
        "How many times as stiff flesh is where the stiffness group is 1: 4 swings twice as fast, 0.25 half as fast",
        low=0.001,
        high=1000.0,
    )
    damping_group: str = _setting("", "Vertex group of flesh that comes to rest sooner or later than the rest")
    damping_painted: float = _setting(
        4.0, "How many times as much flesh is calmed where the damping group is 1", low=0.001, high=1000.0
    )
    density_group: str = _setting("", "Vertex group of flesh that is heavier or lighter than the rest")
    density_painted: float = _setting(
        4.0, "How many times as heavy flesh is where the density group is 1", low=0.01, high=100.0
    )
    keep_pose_group: str = _setting("", "Vertex group of flesh that holds its pose less than the rest: limp ears")
    keep_pose_painted: float = _setting(
        0.0, "What is left of Keep Pose where its group is 1: 0 hangs limp, 1 changes nothing", low=0.0, high=1.0
    )
    simulate: bool = _setting(
        True, "Off: nothing swings, the mesh is only fitted, completed and kept rigid where groups ask for it"
    )
    spread: bool = _setting(
        False,
        "Vertices that are not in the follow group take their weight from the painted ones around them, so that a few "
        "strokes are enough",
    )
    follow_after: float = _setting(
        0.0,
        "Draws the finished bake back to the animation: 0 is the simulated motion, 1 the animation as it was, and "
        "between them flesh bends and stretches less. Needs no new simulation, and does not see what flesh touches",
        low=0.0,
        high=1.0,
    )
    follow_after_group: str = _setting(
        "",
        "Vertex group that says where Follow After acts: 1 fully, 0 not at all. Empty is everywhere",
    )
    passengers: bool = _setting(
        True, "Clothes, eyes, teeth and hair that hang on the same armature move with the flesh of the body"
    )
    preview_resolution: int = _setting(
        10, "Cells of a preview's cage along the longest side of the body: fewer are quicker", low=2, high=64
    )
    preview_frames: int = _setting(
        48, "Frames of a preview, from the current one on; the timeline's preview range goes before", low=2, high=100000
    )
    rest_frame: int | None = _setting(
        None, "Frame on which the body is relaxed; none takes the undeformed mesh", low=-1048574, high=1048574
    )
    safe_frame: int | None = _setting(
        None,
        "Frame on which parts that touch at rest are well apart: the cage is built there and brought to the rest "
        "shape, so that they never stick together, with Gmsh too. None builds it at rest",
        low=-1048574,
        high=1048574,
    )
    safe_shape_key: str = _setting(
        "", "Shape key in which parts that touch at rest are well apart, in place of Safe Frame. Empty is none"
    )
    frame_start: int | None = _setting(None, "First frame of the bake; none is the scene's", low=-1048574, high=1048574)
    frame_end: int | None = _setting(None, "Last frame of the bake; none is the scene's", low=-1048574, high=1048574)
    samples: int = _setting(
        1,
        "Samples in each frame: more make motion blur right and fast motion smooth, and take longer",
        choices=(1, 2, 4),
    )
    preroll: int = _setting(
        0,
        "Frames simulated before the first, so that flesh hangs and swings already when the shot begins. With a start "
        "at rest, those on the way to the first pose (0 is one second)",
        low=0,
        high=1000,
    )
    start: str = _setting(
        "moving",
        "How flesh begins: moving with the animation, settled in the first pose (it hangs already where it sags), or "
        "at rest in the undeformed shape, from where it is led to the first pose before the first frame",
        choices=("moving", "settled", "rest"),
    )
    loop: bool = _setting(
        False,
        "The frames are one cycle of a loop, on the spot: the flesh ends as it began and repeats without a jump",
    )
    missing_frames: str = _setting(
        "",
        "Broken or missing frames of the animation, such as 12, 15-18: they are bridged from those around them",
    )
    detail: bool = _setting(
        True,
        "Keep wrinkles and edges that are finer than the cage. Off smooths noisy scans, and nothing follows exactly",
    )
    interpolation: str = _setting(
        "phong",
        "How the mesh is carried between the corners of the cage: Phong bends it smoothly, so that a coarse cage does "
        "not show; Linear bends it only where tets meet. Needs no new simulation",
        choices=("phong", "linear"),
    )
    smoothing: float = _setting(
        0.002,
        "How calmly the cage follows the mesh: higher evens out a noisy or crumpled animation, as a fraction of size",
        low=1e-6,
        high=1.0,
    )
    energy: str = _setting(
        "neo_hookean",
        "How flesh answers to being squeezed: Neo-Hookean holds its volume, StVK is that of the paper",
        choices=("neo_hookean", "stvk"),
    )
    scheme: str = _setting(
        "tr_bdf2",
        "How time is cut: TR-BDF2 keeps the swing lively, implicit Euler damps it",
        choices=("tr_bdf2", "implicit_euler"),
    )
    substeps: int = _setting(
        0, "Time steps from one sample to the next: more are more exact and slower; 0 chooses", low=0, high=64
    )
    newton_rounds: int = _setting(
        0,
        "Rounds of solving in each time step: few are faster and less exact; 0 goes on until it is right",
        low=0,
        high=50,
    )
    young: float = _setting(
        0.0,
        "Young's modulus of a real material, in place of jiggle and settle; 0 takes it from these",
        low=0.0,
        high=1e12,
        unit="Pa",
    )
    poisson: float = _setting(
        0.4, "Poisson's ratio, how much flesh bulges when squeezed: 0.49 keeps its volume, 0 none", low=0.0, high=0.49
    )
    density: float = _setting(
        1000.0,
        "How heavy the flesh is; together with a real stiffness it decides how fast it swings",
        low=1e-3,
        high=1e6,
        unit="kg/m3",
    )
    damping_mass: float = _setting(0.0, "Slows large, slow swings of a real material", low=0.0, high=1e4, unit="1/s")
    damping_stiffness: float = _setting(
        0.0, "Stills small, quick ripples of a real material", low=0.0, high=1e3, unit="s"
    )
    gravity: tuple[float, float, float] | None = _setting(
        None, "Gravity as x,y,z; none is the scene's", low=-1e4, high=1e4, unit="m/s2"
    )

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            # Frozen: the checked value, with an int made a float where one is meant, goes in once, here. Most are
            # defaults, and a slider that moves makes settings all the time.
            value = getattr(self, field.name)
            if value is not field.default:
                object.__setattr__(self, field.name, _checked(field, value))
        parse_frames(self.missing_frames)
        if self.frame_start is not None and self.frame_end is not None and self.frame_end < self.frame_start:
            raise BadInput(
                f"The frame range {self.frame_start} to {self.frame_end} is empty: set Frame End to "
                f"{self.frame_start} or later."
            )

    def replace(self, values: Mapping[str, Any]) -> Settings:
        """These settings with some values changed; a wrong key or value is answered with a sentence."""
        for key in values:
            field_of(key)
        return dataclasses.replace(self, **dict(values))

    def changed(self) -> dict[str, Any]:
        """Only the values that differ from the defaults, ready for JSON."""
        return {
            field.name: _plain(getattr(self, field.name))
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        }

    def as_dict(self) -> dict[str, Any]:
        """All values, ready for JSON."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}


def names() -> tuple[str, ...]:
    """Of all settings."""
    return tuple(field.name for field in dataclasses.fields(Settings))


def field_of(key: str) -> dataclasses.Field[Any]:
    """The field of that name; a wrong name is answered with the closest one."""
    fields = {field.name: field for field in dataclasses.fields(Settings)}
    if key in fields:
        return fields[key]
    close = difflib.get_close_matches(key, fields, n=1)
    hint = f': did you mean "{close[0]}"?' if close else "."
    raise BadInput(f'There is no setting "{key}"{hint} See --help for all of them.')


def parse_frames(text: str) -> frozenset[int]:
    """Frames written as 12, 15-18; a sentence where they are not."""
    found: set[int] = set()
    for part in text.replace(";", ",").split(","):
        first, dash, last = part.strip().lstrip("-").partition("-")
        sign = -1 if part.strip().startswith("-") else 1
        if not part.strip():
            continue
        try:
            begin = sign * int(first)
            end = int(last) if dash else begin
        except ValueError:
            raise BadInput(f'"{part.strip()}" names no frames: write missing frames as 12, 15-18.') from None
        if end < begin or end - begin > 100_000:
            raise BadInput(f'"{part.strip()}" is no range of frames: write missing frames as 12, 15-18.')
        found.update(range(begin, end + 1))
    return frozenset(found)


def values_from_text(pairs: Iterable[str]) -> dict[str, Any]:
    """Parses `key=value` texts as the command line gives them; the values are not yet checked for range."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise BadInput(f'"{pair}" is no setting: write it as key=value, for example jiggle=3.')
        field = field_of(key.strip())
        values[field.name] = _parsed(field, text.strip())
    return values


def describe() -> list[str]:
    """One line for each setting: name, default, range, description. Used by --help."""
    lines = []
    for field in dataclasses.fields(Settings):
        unit = f" {field.metadata['unit']}" if field.metadata["unit"] else ""
        default = _text(field.default)
        lines.append(f"{field.name}={default}{unit}  {field.metadata['description']} ({_range_text(field)}).")
    return lines


def _kind(field: dataclasses.Field[Any]) -> str:
    return str(field.type).split("|")[0].strip()


def _optional(field: dataclasses.Field[Any]) -> bool:
    return str(field.type).endswith("None")


def _wrong(field: dataclasses.Field[Any], value: Any) -> BadInput:
    shown = repr(value) if len(repr(value)) < 60 else repr(value)[:57] + "..."
    return BadInput(f"{field.name} cannot be {shown}: give {_range_text(field)}.")


def _range_text(field: dataclasses.Field[Any]) -> str:
    kind, low, high = _kind(field), field.metadata["low"], field.metadata["high"]
    none = ", or none" if _optional(field) else ""
    if field.metadata["choices"]:
        return "one of " + ", ".join(str(choice) for choice in field.metadata["choices"])
    if kind == "bool":
        return "true or false"
    if kind == "str":
        return "a name"
    what = {"int": "a whole number", "float": "a number"}.get(kind, "three numbers x,y,z each")
    return f"{what} from {low:g} to {high:g}{none}" if abs(low) < 1e6 else f"{what}{none}"


def _checked(field: dataclasses.Field[Any], value: Any) -> Any:
    kind, low, high = _kind(field), field.metadata["low"], field.metadata["high"]
    if value is None and _optional(field):
        return None
    if kind == "bool":
        if not isinstance(value, bool):
            raise _wrong(field, value)
        return value
    if kind == "str":
        if not isinstance(value, str) or len(value) > 1024:
            raise _wrong(field, value)
    elif kind.startswith("tuple"):
        if not isinstance(value, (tuple, list)) or len(value) != 3:
            raise _wrong(field, value)
        value = tuple(_checked_number(field, "float", item, low, high) for item in value)
    else:
        value = _checked_number(field, kind, value, low, high)
    if field.metadata["choices"] and value not in field.metadata["choices"]:
        raise _wrong(field, value)
    return value


def _checked_number(
    field: dataclasses.Field[Any], kind: str, value: Any, low: float | None, high: float | None
) -> float | int:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong(field, value)
    if kind == "int":
        if not isinstance(value, int):
            raise _wrong(field, value)
    elif isinstance(value, int) and abs(value) > 1e300 or not math.isfinite(value):
        raise _wrong(field, value)
    else:
        value = float(value)
    if (low is not None and value < low) or (high is not None and value > high):
        raise _wrong(field, value)
    return value


def _parsed(field: dataclasses.Field[Any], text: str) -> Any:
    kind = _kind(field)
    if kind == "str":
        return text
    if _optional(field) and text.lower() in ("", "none"):
        return None
    if kind == "bool":
        if text.lower() in ("true", "yes", "on", "1"):
            return True
        if text.lower() in ("false", "no", "off", "0"):
            return False
        raise _wrong(field, text)
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
        return tuple(float(part) for part in text.strip("()[]").split(","))
    except ValueError:
        raise _wrong(field, text) from None


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
