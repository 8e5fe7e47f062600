"""Work that looks at a body at rest and at what a bake would follow."""

from __future__ import annotations

from typing import Any

from ...scene.steps import Steps
from ...setups.flesh.body import Body, look_in_steps
from ..setup import look


class LookWork(look.LookWork):
    def look(self, values: dict[str, Any]) -> Steps[Body]:
        return look_in_steps(self._name, values)
