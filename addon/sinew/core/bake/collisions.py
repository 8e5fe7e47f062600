"""What an artist chooses about collisions: the same for every method whose bodies collide, so it is declared here. The
settings of such a method are a subclass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..base.errors import BadInput
from ..base.settings import CHANGED, DATA, setting, vertex_group
from .settings import BakeSettings

OFF = "collide"  # while this is off the others have no say


@dataclass(frozen=True)
class CollisionSettings(BakeSettings):
    """Lengths are fractions of the body's size."""

    meets_wearer: ClassVar[bool] = False  # whether it collides with the body that wears it, unasked
    passengers_collide: ClassVar[bool] = False  # whether what it carries along can collide with it

    collide: bool = setting(
        False,
        "The body meets itself, other objects and the ground, and does not pass through them",
        counts=CHANGED,
    )
    self_collision: bool = setting(True, "Parts of the body do not pass through each other", counts=CHANGED)
    object_collision: bool = setting(
        True,
        "The body does not pass through other objects: those with Blender's Collision physics, or those of the "
        "collection, as they are animated; and not through other bodies of Sinew",
        counts=CHANGED,
    )
    body_collision: bool = setting(
        True,
        "Other bodies of Sinew that collide and that it touches are simulated together with it, by one bake: they push "
        "each other. Off: they do not meet",
        counts=CHANGED,
        label="Other Bodies",
    )
    collision_collection: str = setting(
        "",
        "Only objects of this collection are collided with. Empty is every object with Collision physics",
        counts=DATA,
        label="Collection",
    )
    collision_distance: float = setting(
        0.001,
        "Gap that is kept between two surfaces, as a fraction of the body's size",
        low=1e-4,
        high=0.1,
        soft=(0.0005, 0.01),
        precision=4,
        label="Distance",
        counts=CHANGED,
    )
    friction: float = setting(
        0.4,
        "How much surfaces hold each other: 0 slides like ice, 1 like rubber. Of two that touch it is the root of the "
        "product; Blender's Friction of 5 of a collision object is 0.4",
        low=0.0,
        high=10.0,
        soft=(0.0, 1.0),
        counts=CHANGED,
    )
    friction_group: str = vertex_group("Vertex group that multiplies Friction: 0 slides freely", "Friction Group")
    thickness: float = setting(
        0.0,
        "Distance that is kept around this body beside the gap, as a fraction of its size",
        low=0.0,
        high=0.1,
        soft=(0.0, 0.02),
        precision=4,
        counts=CHANGED,
    )
    thickness_group: str = vertex_group("Vertex group that multiplies Thickness", "Thickness Group")
    ground: bool = setting(False, "The body does not pass through a level ground", counts=CHANGED)
    ground_height: float = setting(
        0.0,
        "Where the ground is, in the scene's units above its floor",
        low=-1e6,
        high=1e6,
        soft=(-10.0, 10.0),
        precision=3,
        label="Height",
        counts=CHANGED,
    )
    keep_input: bool = setting(
        False,
        "Parts that lie closer together in the animation than the distance, or in each other, may stay so: for faces, "
        "and where overlaps are meant",
        counts=CHANGED,
    )
    strict: bool = setting(
        False,
        "Where a body is pinched, what follows the animation exactly gives way as with Soft Collider, and only "
        "what that cannot free is let go. Every frame is tested",
        counts=CHANGED,
    )
    soft_collider: bool = setting(
        False,
        "Where a body is pinched, what follows the animation exactly gives way, in place of letting it pass",
        counts=CHANGED,
    )
    ignored_pairs: str = setting(
        "",
        "Vertex groups that do not collide with each other, such as Arm:Body, Hand:Thigh, or with themselves: Ear:Ear",
        counts=CHANGED,
        label="Ignore",
    )

    @property
    def led_by(self) -> str:
        """The name of an object in whose place the body is, and which it does not meet; "": there is none."""
        return ""

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs_of(self.ignored_pairs)

    def hashed(self, *belongs: str) -> dict[str, Any]:
        """Without those that have no say."""
        values = super().hashed(*belongs)
        if self.collide:
            return values
        return {name: value for name, value in values.items() if name not in NAMES}


NAMES = frozenset(CollisionSettings.__annotations__)


def pairs_of(text: str) -> list[tuple[str, str]]:
    """The pairs of vertex groups that a text names: "Arm:Body, Hand:Thigh"."""
    pairs = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        names = [name.strip() for name in part.split(":")]
        if len(names) != 2 or not all(names):
            raise BadInput(f'"{part}" is no pair of vertex groups: write Arm:Body, and a comma between two pairs.')
        pairs.append((names[0], names[1]))
    return pairs


def groups_of(settings: Any) -> Mapping[str, str]:
    """The painted groups that have a say in collisions, each by the name of what is read from it."""
    if not getattr(settings, OFF, False):
        return {}
    chosen = {"friction": settings.friction_group, "thickness": settings.thickness_group}
    named = dict.fromkeys(name for pair in pairs_of(settings.ignored_pairs) for name in pair)
    return {name: group for name, group in chosen.items() if group} | {f"ignored {name}": name for name in named}
