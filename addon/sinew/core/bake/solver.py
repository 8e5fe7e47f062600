"""What an artist may choose of how steps are taken and solved."""

from __future__ import annotations

from dataclasses import dataclass

from ..base.settings import CHANGED, setting


@dataclass(frozen=True)
class SolverSettings:
    """A method names them among its own settings (`again`), and so says where they stand."""

    scheme: str = setting(
        "tr_bdf2",
        "How time is cut: TR-BDF2 keeps the swing lively, implicit Euler damps it",
        choices={"tr_bdf2": "TR-BDF2", "implicit_euler": "Implicit Euler"},
        panel="Solver",
        counts=CHANGED,
    )
    newton_rounds: int = setting(
        0,
        "Rounds of solving in each time step: few are faster and less exact; 0 goes on until it is right",
        low=0,
        high=50,
        zero="Auto",
        begin=4,
        label="Rounds",
        panel="Solver",
        counts=CHANGED,
    )
