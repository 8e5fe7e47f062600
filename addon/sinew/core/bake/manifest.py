"""What a bake is: counts, range, hashes, settings, in `manifest.json`."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.errors import BadInput, StoreError
from .method import find

SCHEMA = 6
MANIFEST_LIMIT = 8_000_000
_ID = re.compile(r"[0-9a-f]{16}\Z")
_MAX_COUNT = 2**31 - 1
_MAX_SAMPLES = 4_000_000
_MAX_PASSENGERS = 10_000
_MAX_COUNTS = 32
_MAX_COMPANY = 10_000
_OLDEST = 3  # schema that is read
_UNKNOWN_BUILD = "of schema 3"  # no build of today computes as that did, which kept a hash of a file

_JSON_TYPES: dict[str, Any] = {
    "str": str, "int": int, "bool": bool, "float": (int, float), "dict": dict, "tuple": list,
}  # fmt: skip


@dataclass(frozen=True)
class PassengerEntry:
    """A mesh that is carried along."""

    object_name: str = field(compare=False)  # when it was baked
    vertices: int
    rigid: bool
    triangles: int = 0  # of one that collides with the body


@dataclass(frozen=True)
class Manifest:
    """What a bake is. Frozen: a changed one is written as a whole."""

    id: str
    method: str
    owner_file: str  # name of the .blend that plays it
    owner_setup: str  # id of the setup in it
    owner_object: str  # name of its object when it was baked
    vertices: int
    triangles: int
    counts: dict[str, int]  # what its method says of its files
    samples: int  # slots in every file, preroll included
    samples_per_frame: int
    first_frame: int  # frame of slot 0
    frame_start: int  # range that plays
    frame_end: int
    frame_rate: float  # samples a second
    identity: str  # hash of all that the simulation depends on but the input frames
    topology: str  # hash of the triangles
    native: str  # version of the native module
    build: str  # id of the sources that it was built from; "" where it is not known
    settings: dict[str, Any] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)
    passengers: tuple[PassengerEntry, ...] = ()
    is_preview: bool = False
    company: tuple[str, ...] = ()  # identities of those that it was simulated with
    together: str = ""  # a token that its bake and theirs share, and no others; "": it was simulated alone
    complete: bool = False
    units: str = "m"
    schema: int = SCHEMA

    @staticmethod
    def from_json(data: Any, path: Path) -> Manifest:
        """Checks every value: a manifest may come from anywhere."""
        damaged = f"{path} is damaged ({{}}): delete its folder and bake again."
        if not isinstance(data, dict):
            raise StoreError(damaged.format("it is no table"))
        try:
            data = _migrated(data)
        except BadInput as error:
            raise StoreError(str(error)) from error
        if data.get("schema") != SCHEMA:
            raise StoreError(
                f"{path} was written by another version of Sinew (schema {str(data.get('schema'))[:20]}): bake again."
            )
        names = {f.name: str(f.type) for f in dataclasses.fields(Manifest)}
        if set(data) != set(names):
            raise StoreError(damaged.format("wrong keys"))
        for name, kind in names.items():
            value = data[name]
            expected = _JSON_TYPES[kind.partition("[")[0]]
            if not isinstance(value, expected) or (isinstance(value, bool) and kind != "bool"):
                raise StoreError(damaged.format(name))
        for name in ("vertices", "samples"):
            if not 1 <= data[name] <= _MAX_COUNT:
                raise StoreError(damaged.format(name))
        counts = data["counts"].values()
        if len(counts) > _MAX_COUNTS or not all(type(n) is int and 0 <= n <= _MAX_COUNT for n in counts):
            raise StoreError(damaged.format("counts"))
        if data["samples"] > _MAX_SAMPLES:
            raise StoreError(damaged.format("samples"))
        if not 0 <= data["triangles"] <= _MAX_COUNT or data["samples_per_frame"] not in (1, 2, 4):
            raise StoreError(damaged.format("triangles or samples_per_frame"))
        if not 1e-6 <= data["frame_rate"] <= 1e6 or not _ID.match(data["id"]):
            raise StoreError(damaged.format("frame_rate or id"))
        for name in ("first_frame", "frame_start", "frame_end"):
            if abs(data[name]) > 2**24:
                raise StoreError(damaged.format(name))
        company = data["company"]
        if len(company) > _MAX_COMPANY or not all(isinstance(one, str) for one in company):
            raise StoreError(damaged.format("company"))
        passengers = _passengers_from_json(data["passengers"], damaged)
        return Manifest(**{**data, "passengers": passengers, "company": tuple(company)})

    @property
    def owner(self) -> tuple[str, str]:
        return (self.owner_file, self.owner_setup)

    def is_by(self, build: str) -> bool:
        """Whether that build would compute the same; one that is not known counts as the same."""
        return not self.build or not build or self.build == build


def _migrated(data: dict[str, Any]) -> dict[str, Any]:
    """A manifest as this schema has it, from one of an older one that can be read."""
    schema = data.get("schema")
    if type(schema) is not int or not _OLDEST <= schema < SCHEMA:
        return data
    method = find(str(data.get("method", "")))  # schema 3 knew one alone
    former: dict[str, Any] = {"company": [], "together": "", **data}  # those before 5 kept no company
    if schema == 3:
        former |= {"method": method.name, "counts": {}, "build": _UNKNOWN_BUILD}
        if isinstance(data.get("report"), dict):
            former["report"] = {"method": method.name, **data["report"]}
    if isinstance(former.get("counts"), dict):
        former["counts"] = {**former["counts"], **method.older_counts(data)}
    names = {field.name for field in dataclasses.fields(Manifest)}
    return {**{name: value for name, value in former.items() if name in names}, "schema": SCHEMA}


def _passengers_from_json(data: list[Any], damaged: str) -> tuple[PassengerEntry, ...]:
    found: list[PassengerEntry] = []
    for entry in data[: _MAX_PASSENGERS + 1]:
        names = {field.name for field in dataclasses.fields(PassengerEntry)}
        if not isinstance(entry, dict) or set(entry) | {"triangles"} != names or len(found) == _MAX_PASSENGERS:
            raise StoreError(damaged.format("passengers"))  # a bake of before they could collide has no triangles
        good = isinstance(entry["object_name"], str) and isinstance(entry["rigid"], bool)
        if not good or type(entry["vertices"]) is not int or not 1 <= entry["vertices"] <= _MAX_COUNT:
            raise StoreError(damaged.format("passengers"))
        triangles = entry.get("triangles", 0)
        if type(triangles) is not int or not 0 <= triangles <= _MAX_COUNT:
            raise StoreError(damaged.format("passengers"))
        found.append(PassengerEntry(**entry))
    return tuple(found)


def is_id(text: object) -> bool:
    return isinstance(text, str) and _ID.match(text) is not None
