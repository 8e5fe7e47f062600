"""The settings of FACE: those of flesh, and what a face adds."""

from __future__ import annotations

from dataclasses import dataclass

from ...base.settings import CHANGED, DATA, SHAPE_KEY, setting, vertex_group
from ...flesh.settings import Settings as FleshSettings


@dataclass(frozen=True)
class Settings(FleshSettings):
    """Settings of one bake of a face."""

    bone_group: str = vertex_group(
        "Vertex group that says where skin sits on bone: 1 follows the animation exactly, 0 has flesh under it. Empty "
        "is by itself: where expressions hardly move the skin there is bone",
        "Bone",
    )
    skull_object: str = setting(
        "",
        "Mesh object that is the skull, the jaw with it. Flesh is then as deep as the skull lies under the skin. Empty "
        "is by itself: as deep as expressions move the skin",
        counts=DATA,
        label="Skull",
    )
    jaw_key: str = setting(
        "",
        "Shape key that opens the jaw. Empty finds it; a minus sign says that there is none",
        counts=DATA,
        names=SHAPE_KEY,
        label="Jaw Key",
    )
    jaw_bone: str = setting(
        "",
        "Bone or object that carries the jaw: it says how the jaw moves. Empty tells that from lower teeth or chin",
        counts=DATA,
        label="Jaw Bone",
    )
    head_bone: str = setting(
        "",
        "Bone or object that carries the head: it says how the head moves. Empty tells that from skin that no "
        "expression moves",
        counts=DATA,
        label="Head Bone",
    )
    tighten: float = setting(
        0.0,
        "How much stiffer flesh gets where an expression stretches or squeezes it: tense lips and cheeks swing less",
        low=0.0,
        high=10.0,
        counts=CHANGED,
        soft=(0.0, 4.0),
        look=True,
    )
    key_stiffness: str = setting(
        "",
        "How many times as stiff flesh is where a shape key is 1, such as mouthPucker=3; jawOpen=0.5 [Cheeks]: a name, "
        "a factor, and a vertex group where it acts; without one it acts where the key moves the skin",
        high=10000,
        counts=CHANGED,
        label="Stiffness by Key",
    )
    expression_inertia: float = setting(
        0.0,
        "How much of the expressions' own motion flesh feels: 0 keeps lips and brows exactly in time, and only the "
        "head's motion shakes the face; 1 lets fast expressions overshoot too",
        low=0.0,
        high=1.0,
        counts=CHANGED,
        look=True,
    )
    expression_inertia_group: str = vertex_group(
        "Vertex group that says where Expression Inertia acts: 1 fully, 0 not at all. Empty is everywhere",
        "Inertia Group",
    )
    jaw_weight: float = setting(
        0.0,
        "How much flesh feels of the jaw's motion: with more of it chewing and talking shake cheeks and chin, while "
        "the lips stay in time",
        low=0.0,
        high=1.0,
        counts=CHANGED,
        look=True,
    )
    expression: str = setting(
        "variable",
        "How expressions are kept from being felt. Change of Variable: flesh swings about where the expression takes "
        "it, one solution a step. Rebalancing: as in the paper, a step of implicit Euler with the expression before, "
        "and a second solution that carries its force over to the next",
        choices={"variable": "Change of Variable", "rebalanced": "Rebalancing"},
        counts=CHANGED,
        panel="Solver",
        label="Expressions",
    )

    @property
    def rebalances(self) -> bool:
        return self.expression == "rebalanced"
