"""Bodies whose parts are known by name, made when the weights of all others had been seen: what a change of automatic
weights is judged by. Half of them are looked at while weights are tuned, the others (UNMET) afterwards."""

from __future__ import annotations

import functools
from collections.abc import Callable

from anatomy import Blob, Labelled, _leg, _leg_bones, both_sides, build

NEWCOMERS: dict[str, Callable[[], Labelled]] = {}
UNMET = {"kangaroo", "wrestler", "puppy"}


def _body(make: Callable[[], Labelled]) -> Callable[[], Labelled]:
    NEWCOMERS[make.__name__] = functools.lru_cache(make)
    return NEWCOMERS[make.__name__]


@_body
def camel() -> Labelled:
    """Two humps of fat, a neck in a bow, a thin tail with a tuft."""
    neck = [(0, -0.62, 1.2), (0, -0.85, 1.15), (0, -1.05, 1.35), (0, -1.12, 1.62)]
    blobs = [
        Blob("hips", (0, 0.55, 1.2), (0, 0.3, 1.22), 0.25, 0.26),
        Blob("spine", (0, 0.3, 1.22), (0, -0.2, 1.22), 0.28, 0.27),
        Blob("chest", (0, -0.2, 1.22), (0, -0.5, 1.2), 0.27, 0.24),
        Blob("hips", (0, 0.32, 1.5), (0, 0.34, 1.66), 0.15, 0.08, "free humps", melt=0.3),
        Blob("chest", (0, -0.22, 1.5), (0, -0.2, 1.66), 0.15, 0.08, "free humps", melt=0.3),
        *[Blob(f"neck.{i}", neck[i], neck[i + 1], 0.14 - 0.025 * i, 0.115 - 0.025 * i) for i in range(3)],
        Blob("head", (0, -1.15, 1.74), (0, -1.3, 1.7), 0.1, 0.09, "held skull"),
        Blob("head", (0, -1.3, 1.7), (0, -1.46, 1.62), 0.085, 0.065, "held skull"),
        Blob("tail", (0, 0.8, 1.25), (0, 0.9, 0.85), 0.04, 0.03, "free tail", melt=0.3),
        Blob("tail", (0, 0.9, 0.85), (0, 0.92, 0.72), 0.05, 0.04, "free tail", melt=0.3),
        *both_sides([Blob("head", (0.08, -1.08, 1.8), (0.13, -1.05, 1.88), 0.035, 0.03, part="free ears", melt=0.2)]),
        *_leg("front", 0.16, -0.42, 1.0, 0.56, 0.075, 0.09),
        *_leg("hind", 0.17, 0.52, 1.0, 0.56, 0.08, 0.09),
    ]
    bones = {
        "hips": ((0, 0.3, 1.34), (0, 0.7, 1.3), ""),
        "spine": ((0, 0.3, 1.34), (0, -0.1, 1.34), ""),
        "chest": ((0, -0.1, 1.34), (0, -0.56, 1.24), "spine"),
        **{f"neck.{i}": (neck[i], neck[i + 1], f"neck.{i - 1}" if i else "chest") for i in range(3)},
        "head": (neck[3], (0, -1.46, 1.62), "neck.2"),
        "tail": ((0, 0.76, 1.3), (0, 0.92, 0.72), "hips"),
        **_leg_bones("front", 0.16, -0.42, 1.0, 0.56, 0.09, "chest"),
        **_leg_bones("hind", 0.17, 0.52, 1.0, 0.56, 0.09, "hips"),
    }
    return build(blobs, bones)


@_body
def bulldog() -> Labelled:
    """A heavy skull with jowls that hang beside the mouth, folded ears, a wide chest."""
    blobs = [
        Blob("hips", (0, 0.34, 0.42), (0, 0.2, 0.42), 0.14, 0.15),
        Blob("spine", (0, 0.2, 0.42), (0, -0.1, 0.42), 0.16, 0.19),
        Blob("chest", (0, -0.1, 0.42), (0, -0.26, 0.42), 0.21, 0.2),
        Blob("neck", (0, -0.3, 0.52), (0, -0.4, 0.58), 0.15, 0.15),
        Blob("head", (0, -0.46, 0.63), (0, -0.52, 0.63), 0.16, 0.15, "held skull"),
        Blob("head", (0, -0.6, 0.59), (0, -0.68, 0.58), 0.11, 0.1, "held skull"),
        *both_sides([
            Blob("head", (0.1, -0.6, 0.5), (0.11, -0.6, 0.42), 0.05, 0.055, "free jowls", 0.7, melt=0.25),
            Blob("head", (0.14, -0.44, 0.73), (0.2, -0.46, 0.68), 0.045, 0.04, "free ears", 0.6, (0, 1, 0), 0.2),
        ]),
        Blob("hips", (0, 0.48, 0.5), (0, 0.56, 0.52), 0.045, 0.03, "free tail", melt=0.2),
        *_leg("front", 0.16, -0.24, 0.34, 0.2, 0.06, 0.07),
        *_leg("hind", 0.13, 0.32, 0.34, 0.2, 0.055, 0.07),
    ]
    bones = {
        "hips": ((0, 0.16, 0.48), (0, 0.46, 0.48), ""),
        "spine": ((0, 0.16, 0.48), (0, -0.06, 0.5), ""),
        "chest": ((0, -0.06, 0.5), (0, -0.3, 0.5), "spine"),
        "neck": ((0, -0.3, 0.5), (0, -0.42, 0.6), "chest"),
        "head": ((0, -0.42, 0.6), (0, -0.7, 0.6), "neck"),
        **_leg_bones("front", 0.16, -0.24, 0.34, 0.2, 0.07, "chest"),
        **_leg_bones("hind", 0.13, 0.32, 0.34, 0.2, 0.07, "hips"),
    }
    return build(blobs, bones)


@_body
def dancer() -> Labelled:
    """Slender, with a ponytail, small breasts, buttocks and a short skirt that stands out from her hips."""
    blobs = [
        Blob("hips", (-0.06, 0, 0.95), (0.06, 0, 0.95), 0.105),
        Blob("spine", (0, 0, 1.0), (0, 0.01, 1.2), 0.1, 0.1),
        Blob("chest", (-0.07, 0.0, 1.32), (0.07, 0.0, 1.32), 0.1),
        Blob("neck", (0, 0.01, 1.43), (0, 0, 1.5), 0.05, 0.048),
        Blob("head", (0, 0.0, 1.58), (0, -0.01, 1.65), 0.095, 0.1, "held skull"),
        Blob("head", (0, 0.12, 1.68), (0, 0.17, 1.6), 0.035, 0.045, "free hair", melt=0.2),
        Blob("head", (0, 0.17, 1.6), (0, 0.18, 1.36), 0.045, 0.025, "free hair", melt=0.2),
        *both_sides([
            Blob("chest", (0.065, -0.085, 1.27), (0.07, -0.11, 1.255), 0.052, part="free breasts", melt=0.3),
            Blob("hips", (0.065, 0.085, 0.9), (0.07, 0.105, 0.895), 0.075, part="free buttocks", melt=0.3),
            Blob("shoulder.~", (0.1, 0, 1.38), (0.16, 0, 1.37), 0.05),
            Blob("arm.~", (0.18, 0, 1.36), (0.38, 0, 1.24), 0.045, 0.038),
            Blob("forearm.~", (0.38, 0, 1.24), (0.58, -0.02, 1.12), 0.036, 0.028),
            Blob("hand.~", (0.62, -0.03, 1.1), (0.7, -0.04, 1.05), 0.035, 0.028, "held hands", melt=0.2),
            Blob("thigh.~", (0.08, 0, 0.85), (0.09, 0, 0.5), 0.078, 0.055),
            Blob("shin.~", (0.09, 0, 0.5), (0.09, 0.02, 0.12), 0.052, 0.036),
            Blob("foot.~", (0.09, 0.0, 0.06), (0.1, -0.13, 0.035), 0.04, 0.03, "held feet", melt=0.2),
        ]),
    ]
    bones = {
        "hips": ((0, 0.02, 0.92), (0, 0.02, 1.04), ""),
        "spine": ((0, 0.02, 1.04), (0, 0.02, 1.22), "hips"),
        "chest": ((0, 0.02, 1.22), (0, 0.01, 1.42), "spine"),
        "neck": ((0, 0.01, 1.42), (0, 0, 1.52), "chest"),
        "head": ((0, 0, 1.52), (0, -0.01, 1.74), "neck"),
        "shoulder.~": ((0.03, 0.01, 1.38), (0.17, 0, 1.37), "chest"),
        "arm.~": ((0.17, 0, 1.37), (0.38, 0, 1.24), "shoulder.~"),
        "forearm.~": ((0.38, 0, 1.24), (0.6, -0.03, 1.11), "arm.~"),
        "hand.~": ((0.6, -0.03, 1.11), (0.71, -0.04, 1.04), "forearm.~"),
        "thigh.~": ((0.08, 0, 0.9), (0.09, 0, 0.5), "hips"),
        "shin.~": ((0.09, 0, 0.5), (0.09, 0.02, 0.1), "thigh.~"),
        "foot.~": ((0.09, 0.02, 0.1), (0.1, -0.15, 0.035), "shin.~"),
    }
    return build(blobs, bones)


@_body
def seal() -> Labelled:
    """A bag of fat with flippers, a small head on a thick neck and no legs."""
    blobs = [
        Blob("spine", (0, 0.3, 0.24), (0, -0.1, 0.28), 0.22, 0.27),
        Blob("spine", (0, 0.15, 0.13), (0, -0.1, 0.13), 0.2, part="free belly"),
        Blob("hips", (0, 0.3, 0.24), (0, 0.75, 0.14), 0.2, 0.09),
        Blob("chest", (0, -0.15, 0.3), (0, -0.32, 0.44), 0.24, 0.17),
        Blob("neck", (0, -0.34, 0.48), (0, -0.42, 0.62), 0.15, 0.12),
        Blob("head", (0, -0.46, 0.72), (0, -0.5, 0.73), 0.12, part="held skull"),
        Blob("head", (0, -0.58, 0.7), (0, -0.62, 0.69), 0.065, 0.06, "held skull"),
        *both_sides([
            Blob("flipper.~", (0.22, -0.18, 0.18), (0.42, -0.05, 0.05), 0.09, 0.06, flat=0.4, across=(0, 0, 1)),
            Blob("fluke.~", (0.06, 0.84, 0.1), (0.14, 1.02, 0.08), 0.06, 0.075, "free flukes", 0.4, (0, 0, 1), 0.25),
        ]),
    ]
    bones = {
        "spine": ((0, 0.25, 0.3), (0, -0.1, 0.34), ""),
        "hips": ((0, 0.25, 0.3), (0, 0.78, 0.14), ""),
        "chest": ((0, -0.1, 0.34), (0, -0.34, 0.48), "spine"),
        "neck": ((0, -0.34, 0.48), (0, -0.44, 0.66), "chest"),
        "head": ((0, -0.44, 0.66), (0, -0.64, 0.7), "neck"),
        "flipper.~": ((0.16, -0.2, 0.24), (0.44, -0.04, 0.04), "chest"),
        "fluke.~": ((0.02, 0.78, 0.13), (0.15, 1.06, 0.08), "hips"),
    }
    return build(blobs, bones)


@_body
def toddler() -> Labelled:
    """A big head with full cheeks, a round belly, short limbs."""
    blobs = [
        Blob("hips", (-0.05, 0, 0.34), (0.05, 0, 0.34), 0.13),
        Blob("spine", (0, -0.06, 0.42), (0, -0.06, 0.46), 0.15, part="free belly"),
        Blob("chest", (-0.05, 0, 0.58), (0.05, 0, 0.58), 0.12),
        Blob("neck", (0, 0, 0.68), (0, 0, 0.72), 0.07),
        Blob("head", (0, 0.0, 0.84), (0, 0.01, 0.9), 0.165, 0.17, "held skull"),
        *both_sides([
            Blob("head", (0.095, -0.12, 0.77), (0.1, -0.125, 0.76), 0.065, part="free cheeks", melt=0.25),
            Blob("arm.~", (0.16, 0, 0.6), (0.27, 0, 0.5), 0.06, 0.05),
            Blob("forearm.~", (0.27, 0, 0.5), (0.36, -0.03, 0.4), 0.052, 0.04),
            Blob("hand.~", (0.39, -0.04, 0.36), (0.42, -0.05, 0.32), 0.045, 0.04, "held hands", melt=0.2),
            Blob("thigh.~", (0.08, 0, 0.28), (0.1, -0.02, 0.17), 0.085, 0.07),
            Blob("shin.~", (0.1, -0.02, 0.17), (0.1, 0, 0.08), 0.065, 0.05),
            Blob("foot.~", (0.1, -0.01, 0.045), (0.11, -0.11, 0.04), 0.048, 0.042, "held feet", melt=0.2),
        ]),
    ]
    bones = {
        "hips": ((0, 0.02, 0.3), (0, 0.02, 0.4), ""),
        "spine": ((0, 0.02, 0.4), (0, 0.02, 0.54), "hips"),
        "chest": ((0, 0.02, 0.54), (0, 0.01, 0.68), "spine"),
        "neck": ((0, 0.01, 0.68), (0, 0, 0.74), "chest"),
        "head": ((0, 0, 0.74), (0, 0, 1.06), "neck"),
        "arm.~": ((0.14, 0, 0.61), (0.27, 0, 0.5), "chest"),
        "forearm.~": ((0.27, 0, 0.5), (0.37, -0.03, 0.39), "arm.~"),
        "hand.~": ((0.37, -0.03, 0.39), (0.43, -0.05, 0.31), "forearm.~"),
        "thigh.~": ((0.08, 0, 0.3), (0.1, -0.02, 0.17), "hips"),
        "shin.~": ((0.1, -0.02, 0.17), (0.1, 0, 0.07), "thigh.~"),
        "foot.~": ((0.1, 0, 0.07), (0.11, -0.13, 0.04), "shin.~"),
    }
    return build(blobs, bones)


@_body
def dragonet() -> Labelled:
    """A young dragon: horns, wings of skin on bones, a long tail, a soft throat."""
    tail = [(0, 0.42, 0.46), (0, 0.62, 0.38), (0, 0.84, 0.32), (0, 1.06, 0.32)]
    blobs = [
        Blob("hips", (0, 0.34, 0.48), (0, 0.15, 0.48), 0.15, 0.16),
        Blob("spine", (0, 0.15, 0.46), (0, -0.08, 0.48), 0.175, 0.17),
        Blob("chest", (0, -0.08, 0.5), (0, -0.24, 0.55), 0.16, 0.13),
        Blob("neck", (0, -0.28, 0.62), (0, -0.4, 0.8), 0.09, 0.08),
        Blob("head", (0, -0.44, 0.88), (0, -0.48, 0.88), 0.105, part="held skull"),
        Blob("head", (0, -0.56, 0.85), (0, -0.68, 0.82), 0.07, 0.055, "held skull"),
        *[Blob(f"tail.{i}", tail[i], tail[i + 1], 0.1 - 0.025 * i, 0.08 - 0.025 * i, "free tail") for i in range(3)],
        *both_sides([
            Blob("wing.1.~", (0.14, -0.06, 0.62), (0.4, 0.0, 0.84), 0.05, 0.04, flat=0.5, across=(0, 1, 0)),
            Blob("wing.2.~", (0.4, 0.0, 0.84), (0.72, 0.06, 0.72), 0.14, 0.08, flat=0.16, across=(0.4, 0.3, 1)),
        ]),
        *_leg("front", 0.12, -0.16, 0.38, 0.24, 0.045, 0.07),
        *_leg("hind", 0.13, 0.26, 0.38, 0.24, 0.06, 0.08),
    ]
    bones = {
        "hips": ((0, 0.15, 0.52), (0, 0.42, 0.5), ""),
        "spine": ((0, 0.15, 0.52), (0, -0.06, 0.54), ""),
        "chest": ((0, -0.06, 0.54), (0, -0.26, 0.58), "spine"),
        "neck": ((0, -0.26, 0.58), (0, -0.42, 0.84), "chest"),
        "head": ((0, -0.42, 0.84), (0, -0.7, 0.82), "neck"),
        **{f"tail.{i}": (tail[i], tail[i + 1], f"tail.{i - 1}" if i else "hips") for i in range(3)},
        "wing.1.~": ((0.1, -0.08, 0.6), (0.4, 0.0, 0.84), "chest"),
        "wing.2.~": ((0.4, 0.0, 0.84), (0.76, 0.07, 0.7), "wing.1.~"),
        **_leg_bones("front", 0.12, -0.16, 0.38, 0.24, 0.07, "chest"),
        **_leg_bones("hind", 0.13, 0.26, 0.38, 0.24, 0.08, "hips"),
    }
    return build(blobs, bones)


@_body
def kangaroo() -> Labelled:
    """Upright on long feet, with a pouch, tall ears and a thick tail."""
    tail = [(0, 0.3, 0.42), (0, 0.52, 0.24), (0, 0.76, 0.12), (0, 1.0, 0.08)]
    blobs = [
        Blob("hips", (0, 0.14, 0.46), (0, 0.06, 0.6), 0.18, 0.16),
        Blob("hips", (0, -0.1, 0.5), (0, -0.08, 0.62), 0.15, 0.13, "free pouch"),
        Blob("chest", (0, 0.0, 0.74), (0, -0.05, 0.92), 0.125, 0.1),
        Blob("neck", (0, -0.06, 1.0), (0, -0.1, 1.14), 0.075, 0.06),
        Blob("head", (0, -0.13, 1.24), (0, -0.17, 1.24), 0.085, part="held skull"),
        Blob("head", (0, -0.22, 1.21), (0, -0.34, 1.16), 0.06, 0.042, "held skull"),
        *[Blob(f"tail.{i}", tail[i], tail[i + 1], 0.1 - 0.025 * i, 0.075 - 0.02 * i, "free tail", melt=0.3)
          for i in range(3)],
        *both_sides([
            Blob("head", (0.05, -0.1, 1.34), (0.09, -0.08, 1.48), 0.036, 0.022, "free ears", 0.5, (0, 1, 0), 0.2),
            Blob("arm.~", (0.1, -0.06, 0.86), (0.15, -0.2, 0.74), 0.04, 0.034),
            Blob("hand.~", (0.15, -0.22, 0.7), (0.14, -0.28, 0.64), 0.035, 0.028, "held hands", melt=0.2),
            Blob("thigh.~", (0.13, 0.1, 0.46), (0.19, -0.1, 0.34), 0.12, 0.075),
            Blob("shin.~", (0.19, -0.1, 0.34), (0.18, 0.14, 0.12), 0.055, 0.036),
            Blob("foot.~", (0.18, 0.1, 0.05), (0.19, -0.22, 0.035), 0.036, 0.03, "held feet", melt=0.2),
        ]),
    ]  # fmt: skip
    bones = {
        "hips": ((0, 0.18, 0.5), (0, 0.1, 0.68), ""),
        "chest": ((0, 0.1, 0.68), (0, -0.01, 0.96), "hips"),
        "neck": ((0, -0.01, 0.96), (0, -0.1, 1.18), "chest"),
        "head": ((0, -0.1, 1.18), (0, -0.36, 1.16), "neck"),
        **{f"tail.{i}": (tail[i], tail[i + 1], f"tail.{i - 1}" if i else "hips") for i in range(3)},
        "arm.~": ((0.08, -0.03, 0.9), (0.15, -0.2, 0.74), "chest"),
        "hand.~": ((0.15, -0.2, 0.74), (0.14, -0.3, 0.62), "arm.~"),
        "thigh.~": ((0.11, 0.12, 0.48), (0.19, -0.12, 0.34), "hips"),
        "shin.~": ((0.19, -0.12, 0.34), (0.18, 0.15, 0.1), "thigh.~"),
        "foot.~": ((0.18, 0.15, 0.08), (0.19, -0.25, 0.035), "shin.~"),
    }
    return build(blobs, bones)


@_body
def wrestler() -> Labelled:
    """A mountain of a man: belly, breasts and buttocks of fat, a topknot, stout limbs."""
    blobs = [
        Blob("hips", (-0.1, 0, 0.78), (0.1, 0, 0.78), 0.21),
        Blob("spine", (0, -0.1, 0.92), (0, -0.12, 1.0), 0.28, 0.27, "free belly"),
        Blob("spine", (0, 0.02, 0.95), (0, 0.02, 1.15), 0.22, 0.22),
        Blob("chest", (-0.12, 0.02, 1.3), (0.12, 0.02, 1.3), 0.2),
        Blob("neck", (0, 0.01, 1.47), (0, 0, 1.54), 0.1),
        Blob("head", (0, 0, 1.66), (0, -0.01, 1.74), 0.125, 0.12, "held skull"),
        Blob("head", (0, 0.05, 1.88), (0, 0.06, 1.95), 0.04, 0.05, "free hair", melt=0.2),
        *both_sides([
            Blob("chest", (0.13, -0.15, 1.24), (0.14, -0.18, 1.22), 0.11, part="free breasts", melt=0.3),
            Blob("hips", (0.12, 0.16, 0.76), (0.13, 0.19, 0.75), 0.14, part="free buttocks", melt=0.3),
            Blob("arm.~", (0.32, 0.02, 1.34), (0.52, 0.02, 1.14), 0.1, 0.085),
            Blob("forearm.~", (0.52, 0.02, 1.14), (0.68, -0.04, 0.96), 0.08, 0.06),
            Blob("hand.~", (0.73, -0.06, 0.91), (0.79, -0.08, 0.83), 0.06, 0.05, "held hands", melt=0.2),
            Blob("thigh.~", (0.16, 0, 0.66), (0.2, -0.02, 0.42), 0.15, 0.11),
            Blob("shin.~", (0.2, -0.02, 0.42), (0.2, 0.02, 0.12), 0.095, 0.065),
            Blob("foot.~", (0.2, 0.0, 0.06), (0.22, -0.16, 0.045), 0.06, 0.05, "held feet", melt=0.2),
        ]),
    ]
    bones = {
        "hips": ((0, 0.04, 0.74), (0, 0.06, 0.92), ""),
        "spine": ((0, 0.06, 0.92), (0, 0.06, 1.2), "hips"),
        "chest": ((0, 0.06, 1.2), (0, 0.03, 1.46), "spine"),
        "neck": ((0, 0.03, 1.46), (0, 0, 1.57), "chest"),
        "head": ((0, 0, 1.57), (0, 0, 1.86), "neck"),
        "arm.~": ((0.24, 0.03, 1.38), (0.52, 0.02, 1.14), "chest"),
        "forearm.~": ((0.52, 0.02, 1.14), (0.7, -0.05, 0.94), "arm.~"),
        "hand.~": ((0.7, -0.05, 0.94), (0.81, -0.09, 0.8), "forearm.~"),
        "thigh.~": ((0.14, 0.02, 0.74), (0.2, -0.02, 0.42), "hips"),
        "shin.~": ((0.2, -0.02, 0.42), (0.2, 0.02, 0.1), "thigh.~"),
        "foot.~": ((0.2, 0.03, 0.1), (0.22, -0.2, 0.04), "shin.~"),
    }
    return build(blobs, bones)


@_body
def puppy() -> Labelled:
    """Large paws, a round belly, ears that hang beside its head, a short tail."""
    blobs = [
        Blob("hips", (0, 0.26, 0.3), (0, 0.14, 0.3), 0.13, 0.135),
        Blob("spine", (0, 0.12, 0.24), (0, 0.0, 0.24), 0.13, part="free belly"),
        Blob("chest", (0, 0.02, 0.31), (0, -0.12, 0.32), 0.13, 0.12),
        Blob("neck", (0, -0.17, 0.38), (0, -0.22, 0.43), 0.085, 0.08),
        Blob("head", (0, -0.28, 0.5), (0, -0.31, 0.5), 0.115, part="held skull"),
        Blob("head", (0, -0.39, 0.46), (0, -0.45, 0.45), 0.065, 0.055, "held skull"),
        *both_sides([
            Blob("ear.~", (0.12, -0.25, 0.53), (0.18, -0.25, 0.4), 0.045, 0.05, "free ears", 0.4, melt=0.2),
        ]),
        Blob("tail", (0, 0.4, 0.37), (0, 0.52, 0.46), 0.035, 0.025, "free tail", melt=0.3),
        *_leg("front", 0.085, -0.1, 0.24, 0.17, 0.042, 0.08),
        *_leg("hind", 0.09, 0.24, 0.24, 0.17, 0.046, 0.08),
    ]
    bones = {
        "hips": ((0, 0.12, 0.38), (0, 0.36, 0.35), ""),
        "spine": ((0, 0.12, 0.38), (0, -0.02, 0.39), ""),
        "chest": ((0, -0.02, 0.39), (0, -0.16, 0.38), "spine"),
        "neck": ((0, -0.16, 0.38), (0, -0.24, 0.45), "chest"),
        "head": ((0, -0.24, 0.45), (0, -0.48, 0.45), "neck"),
        "ear.~": ((0.1, -0.25, 0.56), (0.19, -0.25, 0.37), "head"),
        "tail": ((0, 0.36, 0.35), (0, 0.54, 0.48), "hips"),
        **_leg_bones("front", 0.085, -0.1, 0.24, 0.17, 0.08, "chest"),
        **_leg_bones("hind", 0.09, 0.24, 0.24, 0.17, 0.08, "hips"),
    }
    return build(blobs, bones)
