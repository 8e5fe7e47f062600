"""More bodies whose parts are known by name, made as those of anatomy.py are.

Their scores have been looked at since: who wants to judge weights that change makes others first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from anatomy import Blob, Labelled, _leg, _leg_bones, both_sides, build

STRANGERS: dict[str, Callable[[], Labelled]] = {}


def _body(make: Callable[[], Labelled]) -> Callable[[], Labelled]:
    STRANGERS[make.__name__] = functools.lru_cache(make)
    return STRANGERS[make.__name__]


@_body
def rabbit() -> Labelled:
    """It crouches; ears longer than its head, on bones, and a bob for a tail."""
    ear = [(0.06, -0.36, 0.72), (0.09, -0.3, 0.92), (0.11, -0.22, 1.1)]
    blobs = [
        Blob("hips", (0, 0.22, 0.3), (0, 0.1, 0.3), 0.25, 0.24),
        Blob("spine", (0, 0.05, 0.24), (0, -0.08, 0.24), 0.2, part="free belly"),
        Blob("chest", (0, 0.0, 0.32), (0, -0.2, 0.36), 0.2, 0.16),
        Blob("head", (0, -0.34, 0.58), (0, -0.42, 0.57), 0.14, 0.125, "held skull"),
        Blob("head", (0, -0.44, 0.55), (0, -0.53, 0.52), 0.1, 0.07, "held skull"),
        Blob("hips", (0, 0.5, 0.33), (0, 0.52, 0.35), 0.075, part="free tail", melt=0.2),
        *both_sides([
            Blob("ear.1.~", ear[0], ear[1], 0.05, 0.06, "free ears", 0.4, (0, 1, 0), 0.2),
            Blob("ear.2.~", ear[1], ear[2], 0.06, 0.035, "free ears", 0.4, (0, 1, 0), 0.2),
        ]),
        *_leg("front", 0.1, -0.22, 0.28, 0.18, 0.04, 0.08),
        *_leg("hind", 0.19, 0.16, 0.24, 0.18, 0.055, 0.2),
    ]
    bones = {
        "hips": ((0, 0.1, 0.42), (0, 0.38, 0.36), ""),
        "spine": ((0, 0.1, 0.42), (0, -0.1, 0.43), ""),
        "chest": ((0, -0.1, 0.43), (0, -0.26, 0.46), "spine"),
        "head": ((0, -0.26, 0.48), (0, -0.52, 0.54), "chest"),
        "ear.1.~": (ear[0], ear[1], "head"),
        "ear.2.~": (ear[1], ear[2], "ear.1.~"),
        **_leg_bones("front", 0.1, -0.22, 0.28, 0.18, 0.08, "chest"),
        **_leg_bones("hind", 0.19, 0.16, 0.24, 0.18, 0.2, "hips"),
    }
    return build(blobs, bones)


@_body
def cat() -> Labelled:
    """Slender, with a pouch under its belly, short ears without bones and a tail held high."""
    tail = [(0, 0.52, 0.5), (0, 0.68, 0.52), (0, 0.82, 0.62), (0, 0.88, 0.78), (0, 0.86, 0.95)]
    blobs = [
        Blob("hips", (0, 0.4, 0.46), (0, 0.2, 0.46), 0.13, 0.13),
        Blob("spine", (0, 0.2, 0.46), (0, -0.1, 0.46), 0.13, 0.13),
        Blob("spine", (0, 0.18, 0.35), (0, 0.02, 0.34), 0.1, part="free belly"),
        Blob("chest", (0, -0.1, 0.46), (0, -0.26, 0.47), 0.13, 0.12),
        Blob("neck", (0, -0.3, 0.52), (0, -0.4, 0.6), 0.09, 0.08),
        Blob("head", (0, -0.45, 0.66), (0, -0.49, 0.66), 0.105, part="held skull"),
        Blob("head", (0, -0.54, 0.63), (0, -0.6, 0.62), 0.05, 0.045, "held skull"),
        *both_sides([
            Blob("head", (0.065, -0.43, 0.76), (0.08, -0.42, 0.85), 0.045, 0.02, "free ears", 0.4, (0, 1, 0), 0.2),
        ]),
        *[Blob(f"tail.{i}", tail[i], tail[i + 1], 0.035, 0.033, "free tail", melt=0.3) for i in range(4)],
        *_leg("front", 0.08, -0.22, 0.4, 0.26, 0.035, 0.06),
        *_leg("hind", 0.09, 0.38, 0.4, 0.26, 0.04, 0.06),
    ]
    bones = {
        "hips": ((0, 0.2, 0.52), (0, 0.5, 0.51), ""),
        "spine": ((0, 0.2, 0.52), (0, -0.05, 0.53), ""),
        "chest": ((0, -0.05, 0.53), (0, -0.28, 0.51), "spine"),
        "neck": ((0, -0.28, 0.51), (0, -0.42, 0.62), "chest"),
        "head": ((0, -0.42, 0.62), (0, -0.6, 0.62), "neck"),
        **{f"tail.{i}": (tail[i], tail[i + 1], f"tail.{i - 1}" if i else "hips") for i in range(4)},
        **_leg_bones("front", 0.08, -0.22, 0.4, 0.26, 0.06, "chest"),
        **_leg_bones("hind", 0.09, 0.38, 0.4, 0.26, 0.06, "hips"),
    }
    return build(blobs, bones)


@_body
def giant() -> Labelled:
    """Stout, with a beard to his chest, a belly over his belt and buttocks."""
    blobs = [
        Blob("hips", (-0.12, 0, 0.95), (0.12, 0, 0.95), 0.2),
        Blob("spine", (0, 0, 1.0), (0, 0, 1.3), 0.22, 0.22),
        Blob("chest", (-0.14, 0, 1.42), (0.14, 0, 1.42), 0.2),
        Blob("spine", (0, -0.18, 1.06), (0, -0.2, 1.14), 0.22, part="free belly"),
        Blob("neck", (0, 0, 1.6), (0, -0.02, 1.7), 0.1),
        Blob("head", (0, -0.02, 1.8), (0, -0.03, 1.88), 0.135, 0.13, "held skull"),
        Blob("head", (0, -0.18, 1.68), (0, -0.25, 1.48), 0.075, 0.04, "free beard", 0.6, (0, 1, 0), 0.2),
        *both_sides([
            Blob("hips", (0.12, 0.17, 0.9), (0.12, 0.2, 0.89), 0.13, part="free buttocks", melt=0.3),
            Blob("shoulder.~", (0.24, 0, 1.5), (0.34, 0, 1.48), 0.11),
            Blob("arm.~", (0.36, 0, 1.46), (0.52, 0.02, 1.18), 0.095, 0.08),
            Blob("forearm.~", (0.52, 0.02, 1.18), (0.66, -0.03, 0.95), 0.075, 0.055),
            Blob("hand.~", (0.69, -0.05, 0.89), (0.73, -0.07, 0.79), 0.06, 0.05, "held hands", melt=0.2),
            Blob("thigh.~", (0.15, 0, 0.85), (0.17, -0.01, 0.48), 0.15, 0.1),
            Blob("shin.~", (0.17, -0.01, 0.48), (0.17, 0.02, 0.12), 0.095, 0.07),
            Blob("foot.~", (0.17, 0, 0.07), (0.19, -0.2, 0.05), 0.07, 0.055, "held feet", melt=0.2),
        ]),
    ]
    bones = {
        "hips": ((0, 0.04, 0.93), (0, 0.04, 1.06), ""),
        "spine": ((0, 0.04, 1.06), (0, 0.04, 1.3), "hips"),
        "chest": ((0, 0.04, 1.3), (0, 0.02, 1.58), "spine"),
        "neck": ((0, 0.02, 1.58), (0, 0, 1.7), "chest"),
        "head": ((0, 0, 1.7), (0, -0.02, 1.98), "neck"),
        "shoulder.~": ((0.08, 0.02, 1.5), (0.34, 0, 1.48), "chest"),
        "arm.~": ((0.34, 0, 1.48), (0.52, 0.02, 1.18), "shoulder.~"),
        "forearm.~": ((0.52, 0.02, 1.18), (0.67, -0.04, 0.93), "arm.~"),
        "hand.~": ((0.67, -0.04, 0.93), (0.74, -0.07, 0.78), "forearm.~"),
        "thigh.~": ((0.14, 0, 0.9), (0.17, -0.01, 0.48), "hips"),
        "shin.~": ((0.17, -0.01, 0.48), (0.17, 0.02, 0.12), "thigh.~"),
        "foot.~": ((0.17, 0.02, 0.12), (0.19, -0.2, 0.05), "shin.~"),
    }
    return build(blobs, bones)


@_body
def rooster() -> Labelled:
    """Two wattles under its beak, a comb on its head, folded wings and a tail of feathers on a bone."""
    blobs = [
        Blob("spine", (0, 0.16, 0.52), (0, -0.16, 0.54), 0.2, 0.19),
        Blob("neck", (0, -0.26, 0.68), (0, -0.34, 0.92), 0.1, 0.065),
        Blob("head", (0, -0.36, 1.0), (0, -0.4, 1.01), 0.085, part="held skull"),
        Blob("head", (0, -0.46, 0.99), (0, -0.56, 0.97), 0.035, 0.02, "held skull"),
        Blob("head", (0, -0.3, 1.12), (0, -0.42, 1.13), 0.05, 0.045, "free comb", 0.4, melt=0.15),
        Blob("tail", (0, 0.4, 0.66), (0, 0.56, 0.86), 0.07, 0.1, "free tail", 0.35, melt=0.2),
        Blob("tail", (0, 0.56, 0.86), (0, 0.74, 0.84), 0.1, 0.06, "free tail", 0.35, melt=0.2),
        *both_sides([
            Blob("head", (0.035, -0.46, 0.9), (0.04, -0.47, 0.83), 0.025, 0.035, "free wattles", 0.7, melt=0.15),
            Blob("wing.~", (0.2, -0.1, 0.58), (0.2, 0.22, 0.54), 0.1, 0.07, flat=0.4),
        ]),
        *_leg("leg", 0.1, 0.02, 0.36, 0.26, 0.035, 0.12),
    ]
    bones = {
        "spine": ((0, 0.28, 0.58), (0, -0.2, 0.6), ""),
        "neck": ((0, -0.2, 0.6), (0, -0.35, 0.95), "spine"),
        "head": ((0, -0.35, 0.95), (0, -0.55, 0.98), "neck"),
        "tail": ((0, 0.32, 0.62), (0, 0.7, 0.86), "spine"),
        "wing.~": ((0.18, -0.14, 0.6), (0.2, 0.24, 0.54), "spine"),
        **_leg_bones("leg", 0.1, 0.02, 0.36, 0.26, 0.12, "spine"),
    }
    return build(blobs, bones)


@_body
def carp() -> Labelled:
    """A fish on a chain of bones, with fins that have none."""
    spine = [(0, -0.35, 0), (0, -0.1, 0.01), (0, 0.15, 0.01), (0, 0.4, 0), (0, 0.6, 0)]
    blobs = [
        Blob("head", (0, -0.6, -0.01), (0, -0.44, 0.0), 0.1, 0.15, "held skull", 0.75),
        Blob("spine.0", (0, -0.36, 0), (0, -0.1, 0), 0.17, 0.19, flat=0.65),
        Blob("spine.1", (0, -0.1, 0), (0, 0.15, 0), 0.19, 0.16, flat=0.65),
        Blob("spine.2", (0, 0.15, 0), (0, 0.4, 0), 0.16, 0.09, flat=0.65),
        Blob("spine.3", (0, 0.4, 0), (0, 0.58, 0), 0.09, 0.06, flat=0.65),
        Blob("spine.1", (0, -0.05, 0.25), (0, 0.12, 0.23), 0.09, 0.07, "free fins", 0.22, melt=0.2),
        Blob("fluke", (0, 0.66, 0.03), (0, 0.84, 0.16), 0.06, 0.06, "free tail", 0.35, melt=0.3),
        Blob("fluke", (0, 0.66, -0.03), (0, 0.84, -0.16), 0.06, 0.06, "free tail", 0.35, melt=0.3),
        *both_sides([
            Blob("spine.0", (0.13, -0.3, -0.1), (0.27, -0.2, -0.17), 0.05, 0.06, "free fins", 0.35, (0, 0, 1), 0.2),
        ]),
    ]
    bones = {
        "head": (spine[0], (0, -0.66, -0.01), ""),
        **{f"spine.{i}": (spine[i], spine[i + 1], f"spine.{i - 1}" if i else "head") for i in range(4)},
        "fluke": (spine[4], (0, 0.85, 0), "spine.3"),
    }
    return build(blobs, bones)


@_body
def sitter() -> Labelled:
    """A bust to the waist with a fat face: cheeks, breasts, hair in a bun."""
    blobs = [
        Blob("waist", (-0.07, 0.02, 0.0), (0.07, 0.02, 0.0), 0.15),
        Blob("chest", (-0.12, 0.02, 0.24), (0.12, 0.02, 0.24), 0.14),
        Blob("neck", (0, 0.02, 0.4), (0, 0.01, 0.5), 0.07),
        Blob("head", (0, 0.0, 0.63), (0, -0.01, 0.7), 0.13, 0.13, "held skull"),
        Blob("head", (0, 0.13, 0.84), (0, 0.15, 0.87), 0.075, part="free hair", melt=0.15),
        *both_sides([
            Blob("head", (0.09, -0.09, 0.57), (0.095, -0.1, 0.56), 0.06, part="free cheeks", melt=0.3),
            Blob("chest", (0.1, -0.12, 0.18), (0.105, -0.15, 0.16), 0.085, part="free breasts", melt=0.3),
        ]),
    ]
    bones = {
        "waist": ((0, 0.04, -0.1), (0, 0.04, 0.12), ""),
        "chest": ((0, 0.04, 0.12), (0, 0.03, 0.38), "waist"),
        "neck": ((0, 0.03, 0.38), (0, 0.01, 0.52), "chest"),
        "head": ((0, 0.01, 0.52), (0, 0, 0.8), "neck"),
    }
    return build(blobs, bones)


@_body
def pineapple() -> Labelled:
    """A round body on small feet, with leaves for hair."""
    blobs = [
        Blob("body", (0, 0, 0.35), (0, 0, 0.36), 0.27, part="free belly"),
        Blob("body", (0, 0, 0.55), (0, 0, 0.56), 0.25),
        Blob("crown", (0, 0, 0.84), (0, 0, 1.16), 0.06, 0.03, "free leaves", melt=0.2),
        Blob("crown", (0, 0.05, 0.84), (0, 0.2, 1.05), 0.05, 0.025, "free leaves", 0.6, (0, 1, 0), 0.2),
        Blob("crown", (0, -0.05, 0.84), (0, -0.2, 1.05), 0.05, 0.025, "free leaves", 0.6, (0, 1, 0), 0.2),
        *both_sides([
            Blob("crown", (0.05, 0, 0.84), (0.2, 0, 1.05), 0.05, 0.025, "free leaves", 0.6, melt=0.2),
            Blob("leg.~", (0.12, 0, 0.12), (0.13, 0, 0.06), 0.06, 0.05),
            Blob("foot.~", (0.13, -0.02, 0.04), (0.14, -0.12, 0.035), 0.05, 0.045, "held feet", melt=0.2),
            Blob("arm.~", (0.27, 0, 0.45), (0.4, -0.04, 0.38), 0.045, 0.04),
            Blob("hand.~", (0.43, -0.06, 0.36), (0.47, -0.08, 0.34), 0.045, part="held hands", melt=0.2),
        ]),
    ]
    bones = {
        "body": ((0, 0, 0.15), (0, 0, 0.75), ""),
        "crown": ((0, 0, 0.8), (0, 0, 1.1), "body"),
        "leg.~": ((0.12, 0, 0.16), (0.13, 0, 0.06), "body"),
        "foot.~": ((0.13, 0, 0.06), (0.14, -0.14, 0.03), "leg.~"),
        "arm.~": ((0.24, 0, 0.46), (0.41, -0.05, 0.37), "body"),
        "hand.~": ((0.41, -0.05, 0.37), (0.48, -0.08, 0.34), "arm.~"),
    }
    return build(blobs, bones)
