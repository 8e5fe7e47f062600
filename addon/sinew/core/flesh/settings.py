"""The settings of ENRICH, each declared once: core/base/settings.py says what a declaration is used for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..bake.collisions import CollisionSettings
from ..bake.settings import BakeSettings
from ..bake.solver import SolverSettings
from ..base.settings import ALWAYS, BODY, CHANGED, DATA, RANGE, RESULT, SHAPE_KEY, again, setting, vertex_group
from ..edit.settings import EditSettings


@dataclass(frozen=True)
class Settings(CollisionSettings):
    """Settings of one bake. Those of every bake are named where they stand in the hashes of older ones."""

    passengers_collide: ClassVar[bool] = True

    resolution: int = setting(
        0,
        "Cells of the cage along the longest side of the body. More follow finer parts, such as fingers, and take "
        "longer; 0 chooses: 24, fewer for thick bodies and for meshes of few triangles",
        low=0,
        high=256,
        belongs=BODY,
        soft=(0, 64),
        zero="Auto",
        begin=24,
    )
    separate_parts: bool = setting(
        True,
        "Fingers, lips or legs that lie close together or touch move apart freely. Off: they stick together where they "
        "are nearer than the cage's cells",
        belongs=BODY,
    )
    mesher: str = setting(
        "lattice",
        "What fills the cage: Lattice is quick, its tets are even. Gmsh makes a smoother boundary and fewer tets, "
        "larger inside, and takes a few seconds",
        choices={"lattice": "Lattice", "gmsh": "Gmsh"},
        belongs=BODY,
    )
    jiggle: float = setting(
        3.0,
        "How fast free parts swing: low looks heavy and slow, high firm and quick",
        low=0.05,
        high=100.0,
        unit="Hz",
        soft=(0.5, 12.0),
        look=True,
    )
    settle: float = setting(
        0.7,
        "How long free parts go on swinging, until 5 % are left of a swing",
        low=0.01,
        high=60.0,
        unit="s",
        soft=(0.1, 3.0),
        look=True,
    )
    amount: float = again(BakeSettings, "amount")
    maximum_offset: float = setting(
        0.0,
        "How far free parts get from the animation at most, as a fraction of the body's size; 0 is no limit. Does not "
        "see what flesh touches",
        low=0.0,
        high=10.0,
        belongs=RESULT,
        label="Max Offset",
        soft=(0.0, 0.5),
        precision=3,
        zero="No Limit",
        begin=0.1,
        look=True,
    )
    keep_pose: float = setting(
        1.0,
        "1: flesh comes to rest in the animated pose. 0: it sags under gravity and relaxes",
        low=0.0,
        high=1.0,
        look=True,
    )
    balance: float = setting(
        1.0,
        "How loose parts are that are painted between 0 and 1: above 1 they swing more, below 1 they follow more "
        "closely. What is painted 0 or 1 stays as it is",
        low=0.05,
        high=20.0,
        label="Looseness",
        soft=(0.25, 4.0),
    )
    transition: float = setting(
        0.08,
        "How softly free flesh joins what follows exactly: it is firmer beside it, over this fraction of the body's "
        "size, so that it does not fold there. 0 is as painted",
        low=0.0,
        high=1.0,
        label="Soft Border",
        soft=(0.0, 0.3),
        precision=3,
    )
    follow_group: str = vertex_group(
        "Vertex group that says what moves: 1 follows the animation exactly, 0 swings freely. Empty is automatic, by "
        "the bones and the thickness of the mesh",
    )
    follow_animated: bool = setting(
        False,
        "The follow weights are read on every frame, as modifiers and nodes make them there, and multiplied by the "
        "object property sinew_follow, which can be keyed: flesh may let go and be caught again",
        label="Animated Weights",
    )
    free_body: bool = setting(
        False,
        "Nothing is followed: from the first frame on the body falls, flies and rolls by itself, in its shape at rest",
        counts=CHANGED,
    )
    initial_velocity: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.0),
        "How fast a free body is thrown on the first frame, beside the speed of its animation there",
        low=-1000.0,
        high=1000.0,
        unit="m/s",
        counts=CHANGED,
        label="Velocity",
    )
    initial_spin: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.0),
        "How fast a free body turns on the first frame: turns a second around the axes of the world",
        low=-1000.0,
        high=1000.0,
        unit="1/s",
        counts=CHANGED,
        label="Spin",
    )
    fields: float = setting(
        1.0,
        "How strongly the scene's force fields push the free parts; 0 is not at all",
        low=0.0,
        high=100.0,
        label="Force Fields",
        soft=(0.0, 2.0),
        panel="Forces",
    )
    travel: float = setting(
        1.0,
        "How much the flesh feels of the way that the whole body goes: 1 is all, 0 swings as if it moved on the spot, "
        "for one who runs, rides or falls and is shaken too much by it",
        low=0.0,
        high=2.0,
        soft=(0.0, 1.0),
        counts=CHANGED,
        panel="Forces",
    )
    average_regions: int = setting(
        0,
        "Cuts the free flesh into about so many regions, each of which stays with the animation on average and moves "
        "freely otherwise: even a body that nothing holds jiggles without drifting away. 0 is off",
        low=0,
        high=128,
        label="Regions Kept from Drifting",
        soft=(0, 32),
        zero="Off",
        begin=8,
    )
    average_group: str = vertex_group(
        "Vertex group of what stays with the animation on average, each piece by itself. Empty is all free flesh",
        "Group Kept from Drifting",
    )
    track_group: str = vertex_group(
        "Vertex group of what the animation is right about; the rest is completed by the flesh around it: inner lips, "
        "the inside of a mouth. Empty is everything",
        "Tracked",
    )
    rigid_group: str = vertex_group(
        "Vertex group of parts that keep their shape, each piece by itself: teeth, eyes, buttons, claws", "Rigid"
    )
    rigid_shells: bool = setting(
        True,
        "Small loose parts of the mesh that the animation moves as a whole keep their shape, as if they were in the "
        "rigid group: teeth, eyes, buttons, buckles. Hair, cloth and what is worn around the body stay soft",
        counts=DATA,
        label="Loose Parts Rigid",
    )
    bone_core: float = setting(
        0.5,
        "Flesh follows exactly deep inside the body, around its bones, so that what is free swings on a firm core. How "
        "thick it is, as a fraction of the body's thickness there; 0 is none",
        low=0.0,
        high=0.9,
    )
    cage_object: str = setting(
        "",
        "Object with the cage's vertices, inner ones too, whose group Sinew Follow says what follows inside the body. "
        "Make Cage Object makes one; it need not have the cage's resolution",
        counts=DATA,
    )
    stiffness_group: str = vertex_group("Vertex group of flesh that is firmer or softer than the rest", "Stiffness")
    stiffness_painted: float = setting(
        4.0,
        "How many times as stiff flesh is where the stiffness group is 1: 4 swings twice as fast, 0.25 half as fast",
        low=0.001,
        high=1000.0,
        label="Stiffness ×",
        soft=(0.1, 10.0),
    )
    damping_group: str = vertex_group(
        "Vertex group of flesh that comes to rest sooner or later than the rest", "Damping"
    )
    damping_painted: float = setting(
        4.0,
        "How many times as much flesh is calmed where the damping group is 1",
        low=0.001,
        high=1000.0,
        label="Damping ×",
        soft=(0.1, 10.0),
    )
    density_group: str = vertex_group("Vertex group of flesh that is heavier or lighter than the rest", "Density")
    density_painted: float = setting(
        4.0,
        "How many times as heavy flesh is where the density group is 1",
        low=0.01,
        high=100.0,
        label="Density ×",
        soft=(0.1, 10.0),
    )
    keep_pose_group: str = vertex_group(
        "Vertex group of flesh that holds its pose less than the rest: limp ears", "Keep Pose"
    )
    keep_pose_painted: float = setting(
        0.0,
        "What is left of Keep Pose where its group is 1: 0 hangs limp, 1 changes nothing",
        low=0.0,
        high=1.0,
        label="Keep Pose ×",
    )
    simulate: bool = again(EditSettings, "simulate", counts=ALWAYS)
    spread: bool = setting(
        False,
        "Vertices that are not in the follow group take their weight from the painted ones around them, so that a few "
        "strokes are enough",
        counts=DATA,
    )
    follow_after: float = setting(
        0.0,
        "Draws the finished bake back to the animation: 0 is the simulated motion, 1 the animation as it was, and "
        "between them flesh bends and stretches less. Needs no new simulation, and does not see what flesh touches",
        low=0.0,
        high=1.0,
        belongs=RESULT,
        counts=DATA,
        label="Back to Animation",
    )
    follow_after_group: str = vertex_group(
        "Vertex group that says where Back to Animation acts: 1 fully, 0 not at all. Empty is everywhere",
        "Back to Animation Group",
        RESULT,
    )
    edits: str = again(EditSettings, "edits")
    edit_group: str = again(EditSettings, "edit_group")
    passengers: bool = again(BakeSettings, "passengers")
    preview_resolution: int = setting(
        14,
        "Cells of a preview's cage along the longest side of the body, at least: fewer are quicker. Slender bodies, "
        "whose cages are quick anyway, get more",
        low=2,
        high=64,
        belongs=RANGE,
    )
    preview_frames: int = again(BakeSettings, "preview_frames")
    rest_frame: int | None = again(BakeSettings, "rest_frame")
    safe_frame: int | None = setting(
        None,
        "Frame on which parts that touch at rest are well apart: the cage is built there and brought to the rest "
        "shape, so that they never stick together, with Gmsh too. None builds it at rest",
        low=-1048574,
        high=1048574,
        belongs=BODY,
        counts=DATA,
        own="Build the cage on a frame on which parts that touch at rest are apart",
    )
    safe_shape_key: str = setting(
        "",
        "Shape key in which parts that touch at rest are well apart, in place of Safe Frame. Empty is none",
        belongs=BODY,
        counts=DATA,
        names=SHAPE_KEY,
    )
    frame_start: int | None = again(BakeSettings, "frame_start")
    frame_end: int | None = again(BakeSettings, "frame_end")
    samples: int = again(BakeSettings, "samples")
    preroll: int = again(BakeSettings, "preroll")
    start: str = again(BakeSettings, "start")
    loop: bool = again(BakeSettings, "loop")
    missing_frames: str = again(BakeSettings, "missing_frames")
    detail: bool = setting(
        True,
        "Keep wrinkles and edges that are finer than the cage. Off smooths noisy scans, and nothing follows exactly",
        belongs=RESULT,
    )
    interpolation: str = setting(
        "phong",
        "How the mesh is carried between the corners of the cage: Phong bends it smoothly, so that a coarse cage does "
        "not show; Linear bends it only where tets meet. Needs no new simulation",
        choices={"phong": "Phong", "linear": "Linear"},
        belongs=RESULT,
    )
    smoothing: float = setting(
        0.002,
        "How calmly the cage follows the mesh: higher evens out a noisy or crumpled animation, as a fraction of size",
        low=1e-6,
        high=1.0,
        soft=(0.0005, 0.02),
        precision=4,
    )
    energy: str = setting(
        "neo_hookean",
        "How flesh answers to being squeezed: Neo-Hookean holds its volume, StVK is that of the paper",
        choices={"neo_hookean": "Neo-Hookean", "stvk": "St. Venant-Kirchhoff"},
        panel="Solver",
    )
    scheme: str = again(SolverSettings, "scheme", counts=ALWAYS)
    substeps: int = setting(
        0,
        "Time steps from one sample to the next: more are more exact and slower; 0 chooses",
        low=0,
        high=64,
        zero="Auto",
        begin=2,
        panel="Solver",
    )
    newton_rounds: int = again(SolverSettings, "newton_rounds", counts=ALWAYS)
    young: float = setting(
        0.0,
        "Young's modulus of a real material, in place of jiggle and settle; 0 takes it from these",
        low=0.0,
        high=1e12,
        unit="Pa",
        label="Stiffness",
        soft=(0.0, 1e5),
        precision=0,
        zero="By Jiggle",
        begin=5000.0,
        look=True,
        panel="Material",
    )
    poisson: float = setting(
        0.4,
        "Poisson's ratio, how much flesh bulges when squeezed: 0.49 keeps its volume, 0 none",
        low=0.0,
        high=0.49,
        soft=(0.0, 0.49),
        look=True,
        panel="Material",
    )
    density: float = setting(
        1000.0,
        "How heavy the flesh is; together with a real stiffness it decides how fast it swings",
        low=1e-3,
        high=1e6,
        unit="kg/m3",
        soft=(0.0, 5000.0),
        precision=0,
        look=True,
        panel="Material",
    )
    damping_mass: float = setting(
        0.0,
        "Slows large, slow swings of a real material",
        low=0.0,
        high=1e4,
        unit="1/s",
        label="Mass Damping",
        soft=(0.0, 10.0),
        precision=3,
        look=True,
    )
    damping_stiffness: float = setting(
        0.0,
        "Stills small, quick ripples of a real material",
        low=0.0,
        high=1e3,
        unit="s",
        label="Stiffness Damping",
        soft=(0.0, 0.1),
        precision=4,
        look=True,
    )
    gravity: tuple[float, float, float] | None = again(BakeSettings, "gravity")

    @property
    def is_material(self) -> bool:
        return self.young > 0.0
