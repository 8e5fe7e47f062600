"""What of a method's settings a cage is built by."""

from __future__ import annotations

from typing import Protocol


class CageSettings(Protocol):
    @property
    def resolution(self) -> int:
        """Cells along the longest side; 0 is automatic."""

    @property
    def separate_parts(self) -> bool:
        """Whether near parts get tets of their own."""

    @property
    def mesher(self) -> str:
        """lattice or gmsh."""
