"""Materials that change with expressions: a tensed lip is stiffer than a slack one (methods, section 4).

    stiffness = P0 (1 + sum over keys of w_k (m_k - 1)),    w_k the value of a key, m_k its factor, tet by tet
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...base.errors import BadInput

if TYPE_CHECKING:
    from ...cage.cage import Cage  # it needs the native module, which not everybody who imports us has

Floats = npt.NDArray[np.float64]

_ROW = re.compile(r"^(?P<key>[^=\[\]]+)=\s*(?P<factor>[0-9.eE+-]+)\s*(\[(?P<group>[^\]]*)\])?$")
FACTORS = (0.1, 20.0)
TIGHT = 0.3  # strain from which Tighten acts fully


@dataclass(frozen=True)
class KeyMaterial:
    """Flesh is `factor` times as stiff where a key is 1, in a vertex group; "": where the key moves the skin."""

    key: str
    factor: float
    group: str = ""

    def __str__(self) -> str:
        return f"{self.key}={self.factor:g}" + (f" [{self.group}]" if self.group else "")


def parse(text: str) -> tuple[KeyMaterial, ...]:
    """From rows such as "mouthPucker=3; jawOpen=0.5 [Cheeks]"."""
    found = []
    for row in filter(None, (part.strip() for part in text.split(";"))):
        match = _ROW.match(row)
        factor = _number(match["factor"]) if match else None
        if match is None or factor is None or not FACTORS[0] <= factor <= FACTORS[1]:
            raise BadInput(
                f'"{row[:60]}" says no stiffness of a key: write its name, = and a factor from {FACTORS[0]:g} to '
                f"{FACTORS[1]:g}, such as mouthPucker=3, with a vertex group in [ ] where it acts."
            )
        found.append(KeyMaterial(match["key"].strip(), factor, (match["group"] or "").strip()))
    return tuple(found)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def stiffness_of_skin(
    rows: Sequence[KeyMaterial], where: Floats, values: Floats, tighten: float = 0.0, strain: Floats | None = None
) -> Floats:
    """(t,) how many times as stiff flesh is under the skin, as far as the skin tells it: by the `values` (k,) of keys
    that act `where` (k, t), and by how much the skin is strained (t,)."""
    factors = np.array([row.factor - 1.0 for row in rows])
    stiffness = np.clip(1.0 + (values * factors) @ where, *FACTORS) if len(rows) else np.ones(where.shape[1])
    if strain is not None:
        stiffness = stiffness * (1.0 + tighten * np.minimum(strain / TIGHT, 1.0))
    found: Floats = np.clip(stiffness, *FACTORS)
    return found


def strain_of_skin(rest: Floats, triangles: npt.NDArray[np.int32], posed: Floats) -> Floats:
    """(t,) |S - I|, S the stretch of the triangles around a vertex, on average."""
    old, new = (np.stack([p[triangles[:, k]] - p[triangles[:, 0]] for k in (1, 2)], axis=2) for p in (rest, posed))
    metric = np.linalg.pinv(old.transpose(0, 2, 1) @ old, hermitian=True)
    turned = metric @ (new.transpose(0, 2, 1) @ new)  # its eigenvalues are the squares of those of S
    trace, root = np.trace(turned, axis1=1, axis2=2), np.sqrt(np.maximum(np.linalg.det(turned), 0.0))
    strain = np.sqrt(np.maximum(trace - 2.0 * np.sqrt(np.maximum(trace + 2.0 * root, 0.0)) + 2.0, 0.0))
    counts = np.maximum(np.bincount(triangles.ravel(), minlength=len(rest)), 1)
    mean: Floats = np.bincount(triangles.ravel(), np.repeat(strain, 3), len(rest)) / counts
    return mean


class Materials:
    """Stiffness of the tets of a cage. `where` (k, t): how much each key's factor counts at the skin, 0..1."""

    def __init__(self, cage: Cage, areas: Floats, rows: Sequence[KeyMaterial], where: Floats) -> None:
        from ...paint.weights import spread_over_cage

        self._more = np.zeros((len(rows), len(cage.tets)))
        for number, (row, weights) in enumerate(zip(rows, where, strict=True)):
            inside = spread_over_cage(cage, areas, np.ascontiguousarray(weights, np.float64))
            self._more[number] = (row.factor - 1.0) * inside[cage.tets].mean(axis=1)

    def at(self, values: Floats) -> Floats:
        """(tets,) factors, given the values (k,) of the keys."""
        factors: Floats = np.clip(1.0 + values @ self._more, *FACTORS)
        return factors
