"""Settings of a method: each is declared once, as a field of a dataclass, with all that anyone wants to know about it.

    jiggle: float = setting(3.0, "How fast free parts swing", low=0.05, high=100.0, unit="Hz", look=True)

From that declaration come its check, the line of --help, the property and its row in the panel, what a preset holds,
what makes a bake stale, and the hashes of a bake. The native module takes those that its table of options names.

To add one: declare it in the method's settings.py with counts=CHANGED, so that bakes from before stay valid; use it
where it acts (for C: a member of the settings struct and a row of the options in the binding); list it in
docs/reference.md.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

from .errors import BadInput

# What a setting belongs to: what has to be made anew when it changes.
BODY = "body"  # what is made of the body at rest, such as a cage, and all that follows
SIMULATION = "simulation"  # the simulation, of the same body
RESULT = "result"  # only what is shown of it
RANGE = "range"  # nothing by itself: it says what to bake, and the frames and passengers that are there speak for it
# How it counts in the hashes of a bake.
ALWAYS = "always"
CHANGED = "changed"  # where it is not the default: what a setting counts as that older bakes do not know
DATA = "data"  # not by its value: what was read or made by it is hashed (the weights of a group, not its name)
# What of an object a text names.
VERTEX_GROUP, SHAPE_KEY, UV_MAP = "vertex group", "shape key", "UV map"
NONE = "-"  # in place of a name: none is meant, where none chosen would be found


@dataclass(frozen=True)
class Setting:
    """All that is known about one setting."""

    name: str
    kind: str  # bool, int, float, str, or vector: three floats
    is_optional: bool  # may be None: as the scene has it
    default: Any
    description: str  # its tooltip
    belongs: str
    counts: str
    label: str
    low: float | None
    high: float | None  # of a text: its length
    soft: tuple[float, float] | None  # range of its slider, where that is narrower
    precision: int  # digits in the panel
    zero: str  # what the panel calls 0 where that is no number like the others ("Auto"); "": it shows 0
    begin: float  # what it becomes there when it is to be a number
    unit: str
    choices: Mapping[Any, str]  # with their labels; empty: any value in range
    own: str  # the tooltip of the box that gives it a value of its own, if it is optional
    look: bool  # presets hold it
    panel: str  # where it is shown as a plain row; "": a panel places it
    names: str  # what of the object it names, if it is a text; "": nothing

    def checked(self, value: Any) -> Any:
        """The value as it is kept, or a sentence."""
        if value is None and self.is_optional:
            return None
        if self.kind == "bool":
            if not isinstance(value, bool):
                raise self._wrong(value)
        elif self.kind == "str":
            if not isinstance(value, str) or len(value) > (self.high or 1024):
                raise self._wrong(value)
        elif self.kind == "vector":
            if not isinstance(value, (tuple, list)) or len(value) != 3:
                raise self._wrong(value)
            value = tuple(self._number(item) for item in value)
        else:
            value = self._number(value)
        if self.choices and value not in self.choices:
            raise self._wrong(value)
        return value

    def parsed(self, text: str) -> Any:
        """The value that a text means; its range is not yet checked."""
        if self.kind == "str":
            return text
        if self.is_optional and text.lower() in ("", "none"):
            return None
        if self.kind == "bool":
            if text.lower() in ("true", "yes", "on", "1"):
                return True
            if text.lower() in ("false", "no", "off", "0"):
                return False
            raise self._wrong(text)
        try:
            if self.kind == "int":
                return int(text)
            if self.kind == "float":
                return float(text)
            return tuple(float(part) for part in text.strip("()[]").split(","))
        except ValueError:
            raise self._wrong(text) from None

    @property
    def line(self) -> str:
        """Name, default, description and range, for --help."""
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.name}={_text(self.default)}{unit}  {self.description} ({self._range()})."

    @property
    def title(self) -> str:
        """Its label with its unit."""
        unit = self.unit.replace("m3", "m³").replace("s2", "s²")
        return f"{self.label} ({unit})" if unit else self.label

    @property
    def step(self) -> float:
        """By which an arrow changes it: a twentieth of its slider, as 1, 2 or 5 times a power of ten."""
        low, high = self.soft or (self.low or 0.0, self.high or 1.0)
        most = (high - low) / 20.0 * 1.0001
        power = 10.0 ** math.floor(math.log10(most))
        return power * max(part for part in (1.0, 2.0, 5.0) if part * power <= most)

    def _number(self, value: Any) -> float | int:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(value)
        if self.kind == "int":
            if not isinstance(value, int):
                raise self._wrong(value)
        elif isinstance(value, int) and abs(value) > 1e300 or not math.isfinite(value):
            raise self._wrong(value)
        else:
            value = float(value)
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            raise self._wrong(value)
        return value

    def _wrong(self, value: Any) -> BadInput:
        shown = repr(value) if len(repr(value)) < 60 else repr(value)[:57] + "..."
        return BadInput(f"{self.name} cannot be {shown}: give {self._range()}.")

    def _range(self) -> str:
        if self.choices:
            return "one of " + ", ".join(map(str, self.choices))
        if self.kind == "bool":
            return "true or false"
        if self.kind == "str":
            return "a name"
        what = {"int": "a whole number", "float": "a number", "vector": "three numbers x,y,z each"}[self.kind]
        none = ", or none" if self.is_optional else ""
        if self.low is None or self.high is None or abs(self.low) >= 1e6:
            return f"{what}{none}"
        return f"{what} from {self.low:g} to {self.high:g}{none}"


def setting(
    default: Any,
    description: str,
    *,
    belongs: str = SIMULATION,
    counts: str = ALWAYS,
    label: str = "",
    low: float | None = None,
    high: float | None = None,
    soft: tuple[float, float] | None = None,
    precision: int = 2,
    zero: str = "",
    begin: float = 1.0,
    unit: str = "",
    choices: Mapping[Any, str] | None = None,
    own: str = "",
    look: bool = False,
    panel: str = "",
    names: str = "",
) -> Any:
    """A field of a class of settings: see `Setting`. Without a label it is called by its name."""
    declared = {
        "description": description, "belongs": belongs, "counts": counts, "label": label, "low": low, "high": high,
        "soft": soft, "precision": precision, "zero": zero, "begin": begin, "unit": unit,
        "choices": choices or {}, "own": own, "look": look, "panel": panel, "names": names,
    }  # fmt: skip
    return dataclasses.field(default=default, metadata=declared)


def vertex_group(description: str, label: str = "", belongs: str = SIMULATION) -> Any:
    """A setting that names a vertex group. Its weights are what counts."""
    return setting("", description, belongs=belongs, counts=DATA, label=label, names=VERTEX_GROUP)


def again(owner: type[Any], name: str, counts: str = "") -> Any:
    """A setting of `owner`, for a class that names it among its own, and so says where it stands. `counts`: how it does
    in the hashes of a bake, if otherwise: a method may have had it from the beginning."""
    field = owner.__dataclass_fields__[name]
    metadata = {**field.metadata, "counts": counts or field.metadata["counts"]}
    return dataclasses.field(default=field.default, metadata=metadata)


@dataclass(frozen=True)
class BaseSettings:
    """What the settings of every method can do. Make changed ones with `replace`, which checks them."""

    def __post_init__(self) -> None:
        for one in self.all().values():
            # Frozen: the checked value, with an int made a float where one is meant, goes in once, here. Most are
            # defaults, and a slider that moves makes settings all the time.
            value = getattr(self, one.name)
            if value is not one.default:
                object.__setattr__(self, one.name, one.checked(value))

    @classmethod
    def all(cls) -> Mapping[str, Setting]:
        """Every setting by its name: those that the class itself declares, in that order, then those it inherits."""
        return _declared(cast(Any, cls))  # mypy: a dataclass is not hashable, but a class is

    @classmethod
    def find(cls, name: str) -> Setting:
        """The setting of that name; a wrong one is answered with the closest."""
        known = cls.all()
        if name in known:
            return known[name]
        close = difflib.get_close_matches(name, known, n=1)
        hint = f': did you mean "{close[0]}"?' if close else "."
        raise BadInput(f'There is no setting "{name}"{hint} See --help for all of them.')

    @classmethod
    def parse(cls, pairs: Iterable[str]) -> dict[str, Any]:
        """Values from `key=value` texts as the command line gives them; they are not yet checked for range."""
        values: dict[str, Any] = {}
        for pair in pairs:
            key, equals, text = pair.partition("=")
            if not equals:
                raise BadInput(f'"{pair}" is no setting: write it as key=value, for example jiggle=3.')
            found = cls.find(key.strip())
            values[found.name] = found.parsed(text.strip())
        return values

    def replace(self, values: Mapping[str, Any]) -> Self:
        """These settings with some values changed; a wrong key or value is answered with a sentence."""
        for name in values:
            self.find(name)
        return dataclasses.replace(self, **dict(values))

    def as_dict(self) -> dict[str, Any]:
        """All values, ready for JSON."""
        return {name: _plain(getattr(self, name)) for name in self.all()}

    def changed(self) -> dict[str, Any]:
        """Only the values that differ from the defaults, ready for JSON."""
        known = self.all()
        return {name: value for name, value in self.as_dict().items() if getattr(self, name) != known[name].default}

    def part(self, belongs: str) -> dict[str, Any]:
        """The values that belong to something, as they are."""
        return {name: getattr(self, name) for name, one in self.all().items() if one.belongs == belongs}

    def look(self) -> dict[str, Any]:
        """The values that a preset holds."""
        return {name: getattr(self, name) for name, one in self.all().items() if one.look}

    def hashed(self, *belongs: str) -> dict[str, Any]:
        """The values by which what belongs to something is known again, ready for JSON."""
        known, changed = self.all(), self.changed()
        return {
            name: value
            for name, value in self.as_dict().items()
            if known[name].belongs in belongs
            and (known[name].counts == ALWAYS or known[name].counts == CHANGED and name in changed)
        }

    def differing(self, stored: Mapping[str, Any]) -> list[Setting]:
        """Those that are not as they are in a bake's manifest, where one that the bake does not know is the default."""
        return [
            one
            for name, one in self.all().items()
            if stored.get(name, _plain(one.default)) != _plain(getattr(self, name))
        ]


@functools.cache
def _declared(cls: type[Any]) -> Mapping[str, Setting]:
    found = {}
    fields = {field.name: field for field in dataclasses.fields(cls)}
    own = (name for name in cls.__dict__.get("__annotations__", ()) if name in fields)
    for field in (fields[name] for name in dict.fromkeys((*own, *fields))):
        kind, _, optional = (part.strip() for part in str(field.type).partition("|"))
        told = dict(field.metadata)
        told["label"] = told["label"] or field.name.replace("_", " ").title()
        kind = "vector" if kind.startswith("tuple") else kind
        found[field.name] = Setting(field.name, kind, optional == "None", field.default, **told)
    return found


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
