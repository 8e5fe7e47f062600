"""A layout that records what a panel draws, for Blenders without a window."""

from __future__ import annotations

from typing import Any

import bpy


class Operator:
    """Stands for the properties of an operator's button."""


class Layout:
    """Takes every call of a layout; parts of it are layouts that write into the same records."""

    def __init__(self, parent: Layout | None = None) -> None:
        self.labels: list[str] = parent.labels if parent else []
        self.operators: list[str] = parent.operators if parent else []
        self.properties: list[str] = parent.properties if parent else []
        self.alarming: list[str] = parent.alarming if parent else []  # labels in the colour of what is wrong
        self.drawn: list[str] = parent.drawn if parent else []  # all of them in their order, empty labels too
        self.enabled = self.active = True
        self.alert = False

    def _part(self, *_: Any, **__: Any) -> Layout:
        return Layout(self)

    box = row = column = split = _part

    def label(self, *, text: str = "", icon: str = "NONE") -> None:
        check_icon(icon)
        self.drawn.append(text)
        if text:
            self.labels.append(text)
            self.alarming += [text] if self.alert else []

    def operator(self, name: str, *, icon: str = "NONE", **_: Any) -> Operator:
        check_icon(icon)
        module, function = name.split(".")
        getattr(getattr(bpy.ops, module), function).get_rna_type()  # raises where there is no such operator
        self.operators.append(name)
        self.drawn.append(name)
        return Operator()

    def prop(self, data: Any, name: str, **_: Any) -> None:
        if not name.startswith("["):
            assert name in data.bl_rna.properties, name
            getattr(data, name)
        self.properties.append(name)
        self.drawn.append(name)

    def prop_search(self, data: Any, name: str, *_: Any, **__: Any) -> None:
        self.prop(data, name)

    def progress(self, *, factor: float, text: str) -> None:
        assert 0.0 <= factor <= 1.0
        self.labels.append(text)
        self.drawn.append(text)

    def popover(self, *, panel: str, icon: str = "NONE", text: str = "") -> None:
        check_icon(icon)
        assert hasattr(bpy.types, panel)

    def template_list(self, kind: str, *_: Any, **__: Any) -> None:
        assert hasattr(bpy.types, kind)

    def separator(self, **_: Any) -> None:
        pass


class Region:
    def __init__(self, width: int) -> None:
        self.width = width


class Context:
    """The context of a panel that is drawn for the active object."""

    def __init__(self, width: int = 300) -> None:
        self.region = Region(width)

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)


def check_icon(icon: str) -> None:
    known = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
    assert icon in known, f"there is no icon {icon}"


class _Drawn:
    def __init__(self, cls: Any, layout: Layout) -> None:
        self._cls, self.layout = cls, layout

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cls, name).__get__(self)


def draw(cls: Any, method: str = "draw", width: int = 300) -> Layout | None:
    """What a panel draws now; None where its poll says no."""
    context = Context(width)
    if hasattr(cls, "poll") and not cls.poll(context):
        return None
    layout = Layout()
    getattr(cls, method)(_Drawn(cls, layout), context)
    return layout
