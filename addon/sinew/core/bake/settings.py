"""The settings of every method: what is baked, from where to where, and how it begins. Core, setups and panels read
them of any setup, so they are declared here, once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..base.errors import BadInput
from ..base.settings import BODY, DATA, RANGE, RESULT, BaseSettings, setting
from .missing import parse_frames


@dataclass(frozen=True)
class BakeSettings(BaseSettings):
    """A method's own settings are fields of a subclass."""

    finds_passengers: ClassVar[bool] = True  # whether meshes on the same armature come along unasked

    amount: float = setting(
        1.0,
        "How much of the motion is seen: 0 is the animation as it was, 2 is double. Multiplies the object property "
        "sinew_amount, and needs no new simulation. Other than 1 it does not see what is touched",
        low=0.0,
        high=2.0,
        belongs=RESULT,
        look=True,
    )
    passengers: bool = setting(
        True,
        "Clothes, eyes, teeth and hair that hang on the same armature move with the body",
        belongs=RANGE,
        label="Attached Meshes",
    )
    preview_frames: int = setting(
        48,
        "Frames of a preview, from the current one on; the timeline's preview range goes before",
        low=2,
        high=100000,
        belongs=RANGE,
    )
    rest_frame: int | None = setting(
        None,
        "Frame on which the body is relaxed; none takes the undeformed mesh",
        low=-1048574,
        high=1048574,
        belongs=BODY,
        counts=DATA,
        own="Take the rest shape from a frame instead of the undeformed mesh",
    )
    frame_start: int | None = setting(
        None,
        "First frame of the bake; none is the scene's",
        low=-1048574,
        high=1048574,
        belongs=RANGE,
        own="Begin at a frame of its own instead of the scene's first",
    )
    frame_end: int | None = setting(
        None,
        "Last frame of the bake; none is the scene's",
        low=-1048574,
        high=1048574,
        belongs=RANGE,
        own="End at a frame of its own instead of the scene's last",
    )
    samples: int = setting(
        1,
        "Samples in each frame: more make motion blur right and fast motion smooth, and take longer",
        choices={1: "1", 2: "2", 4: "4"},
    )
    preroll: int = setting(
        0,
        "Frames simulated before the first, so that the body hangs and swings already when the shot begins. With a "
        "start at rest, those on the way to the first pose (0 is one second)",
        low=0,
        high=1000,
        soft=(0, 100),
    )
    start: str = setting(
        "moving",
        "How the body begins: moving with the animation, settled in the first pose (it hangs already where it sags), "
        "or at rest in the undeformed shape, from where it is led to the first pose before the first frame",
        choices={"moving": "Moving", "settled": "Settled", "rest": "Rest"},
    )
    loop: bool = setting(
        False,
        "The frames are one cycle of a loop, on the spot: the motion ends as it began and repeats without a jump",
    )
    missing_frames: str = setting(
        "",
        "Broken or missing frames of the animation, such as 12, 15-18: they are bridged from those around them",
        counts=DATA,
    )
    gravity: tuple[float, float, float] | None = setting(
        None,
        "Gravity as x,y,z; none is the scene's",
        low=-1e4,
        high=1e4,
        unit="m/s2",
        counts=DATA,
        own="Use a gravity of its own instead of the scene's",
    )

    @property
    def is_material(self) -> bool:
        """Whether they are those of a real material, whose motion depends on the size of the body."""
        return False

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_frames(self.missing_frames)
        if self.frame_start is not None and self.frame_end is not None and self.frame_end < self.frame_start:
            raise BadInput(
                f"The frame range {self.frame_start} to {self.frame_end} is empty: set Frame End to "
                f"{self.frame_start} or later."
            )
