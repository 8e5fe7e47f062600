"""What an artist chooses about cloth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...bake.collisions import CollisionSettings
from ...bake.solver import SolverSettings
from ...base.errors import BadInput
from ...base.settings import CHANGED, DATA, SHAPE_KEY, UV_MAP, again, setting, vertex_group
from ...edit.settings import EditSettings


@dataclass(frozen=True)
class Settings(CollisionSettings):
    """The material is in SI units, the defaults are cotton."""

    finds_passengers: ClassVar[bool] = False  # the body that wears it hangs on the same armature, ...
    meets_wearer: ClassVar[bool] = True  # ... and is what it collides with first of all

    stretch: float = setting(
        1500.0,
        "How much force it takes to stretch a strip one metre wide to double its length",
        low=1.0,
        high=1e8,
        soft=(100.0, 10000.0),
        precision=0,
        unit="N/m",
        look=True,
    )
    bend: float = setting(
        1.16e-5,
        "How stiff it is against bending: silk two millionths, cotton twelve, leather twenty, denim sixty",
        low=0.0,
        high=1e4,
        soft=(0.0, 1e-3),
        precision=6,
        unit="N m",
        look=True,
    )
    weight: float = setting(
        0.12,
        "Mass of a square metre: silk 0.09, cotton 0.12, denim 0.32, leather 0.55",
        low=1e-4,
        high=1e3,
        soft=(0.02, 2.0),
        precision=3,
        unit="kg/m2",
        look=True,
    )
    contraction: float = setting(
        0.3,
        "How much it narrows where it is stretched (Poisson's ratio)",
        low=0.0,
        high=0.49,
        look=True,
    )
    calm: float = setting(
        1.0,
        "Seconds until a swing has died away, against the animation: rest comes with the motion of the guide",
        low=0.01,
        high=100.0,
        soft=(0.1, 5.0),
        unit="s",
        label="Settle",
        look=True,
    )
    crease: float = setting(
        0.0,
        "Curvature beyond which a fold stays, as in paper and foil; None springs back always",
        low=0.0,
        high=1e5,
        soft=(0.0, 500.0),
        precision=1,
        unit="1/m",
        zero="None",
        begin=100.0,
        look=True,
    )
    hardening: float = setting(
        0.0,
        "How much stiffer a fold gets that stays: by that of a crease with a radius so long. None stays as stiff",
        low=0.0,
        high=1.0,
        soft=(0.0, 0.05),
        precision=4,
        unit="m",
        zero="None",
        begin=0.005,
        counts=CHANGED,
        look=True,
    )
    shear: float = setting(
        1.0,
        "How stiff it is where its threads would shear, against their own stiffness: a twentieth to a fifth in woven "
        "cloth, which drapes the softer for it, 1 in leather and paper, which have no threads",
        low=0.01,
        high=1.0,
        label="Shear",
        counts=CHANGED,
        look=True,
    )
    weft: float = setting(
        1.0,
        "How many times as stiff it is across the warp as along it",
        low=0.01,
        high=100.0,
        soft=(0.1, 2.0),
        counts=CHANGED,
        look=True,
    )
    weft_bend: float = setting(
        1.0,
        "How many times as stiff it bends across the warp as along it: corduroy, a hem, a curtain with rods",
        low=0.001,
        high=1000.0,
        soft=(0.1, 10.0),
        label="Weft Bend",
        counts=CHANGED,
        look=True,
    )
    warp_map: str = setting(
        "",
        "UV map along whose U the warp runs. Empty takes the active one, and where there is none threads hang straight "
        "down",
        counts=DATA,
        names=UV_MAP,
        label="Warp",
    )
    stretch_limit: float = setting(
        0.0,
        "Stretch beyond which the cloth hardly gives way any more, as a fraction of its length",
        low=0.0,
        high=2.0,
        soft=(0.0, 0.2),
        precision=3,
        zero="None",
        begin=0.05,
        label="Stretch Limit",
        counts=CHANGED,
        look=True,
    )
    air: float = setting(
        1.2,
        "Density of the air: light cloth floats down in it, billows as it is carried along, and is blown by Wind, "
        "Turbulence and Vortex fields, whose strength is the speed of the air in metres a second. With None these push "
        "like all others",
        low=0.0,
        high=100.0,
        soft=(0.0, 3.0),
        unit="kg/m3",
        zero="None",
        begin=1.2,
        counts=CHANGED,
    )
    stiff: float = setting(
        1.0,
        "How many times as stiff as the material is, against stretching and bending alike",
        low=0.01,
        high=100.0,
        soft=(0.1, 10.0),
        label="Stiff",
        counts=CHANGED,
    )
    heavy: float = setting(
        1.0,
        "How many times as heavy as the material is",
        low=0.01,
        high=100.0,
        soft=(0.1, 10.0),
        label="Heavy",
        counts=CHANGED,
    )
    crumple: float = setting(
        1.0,
        "How readily folds stay: 0 springs back always, 2 keeps folds half as sharp as the material would. Materials "
        "without a Crease have nothing to keep",
        low=0.0,
        high=10.0,
        soft=(0.0, 3.0),
        counts=CHANGED,
    )
    wrinkle_size: float = setting(
        1.0,
        "How many times as large its folds are: it bends as something so much larger would",
        low=0.1,
        high=10.0,
        soft=(0.25, 4.0),
        label="Wrinkle Size",
        counts=CHANGED,
    )
    stiff_group: str = vertex_group("Vertex group of cloth that is stiffer or softer than the rest", "Stiff")
    stiff_painted: float = setting(
        10.0,
        "How many times as stiff, against stretching and bending, it is where the group is 1: belts, collars, patches",
        low=0.001,
        high=1000.0,
        soft=(0.1, 20.0),
        label="Stiff ×",
        counts=CHANGED,
    )
    heavy_group: str = vertex_group("Vertex group of cloth that is heavier or lighter than the rest", "Heavy")
    heavy_painted: float = setting(
        3.0,
        "How many times as heavy it is where the group is 1: hems, pockets, sequins",
        low=0.01,
        high=100.0,
        soft=(0.1, 10.0),
        label="Heavy ×",
        counts=CHANGED,
    )
    calm_group: str = vertex_group("Vertex group of cloth that comes to rest sooner or later than the rest", "Calm")
    calm_painted: float = setting(
        4.0,
        "How many times as much it is calmed where the group is 1",
        low=0.01,
        high=100.0,
        soft=(0.1, 10.0),
        label="Calm ×",
        counts=CHANGED,
    )
    regions: int = setting(
        0,
        "So many patches keep their average place of the animation exactly; all that is finer is the cloth's own. More "
        "follow closer and leave smaller folds. None follows only where it is pinned",
        low=0,
        high=5000,
        soft=(0, 200),
        zero="None",
        begin=24,
    )
    flat: float = setting(
        0.5,
        "How patches are cut: 0 compact, 1 along what stays flat in the animation",
        low=0.0,
        high=1.0,
        counts=CHANGED,
    )
    region_groups: str = setting(
        "",
        "Vertex groups whose averages follow too, such as Left Cuff, Right Cuff: each is one patch, as it is painted",
        counts=CHANGED,
        label="Groups",
    )
    region_turns: bool = setting(
        False,
        "Patches keep the way that they lie too, not only their place: stiffer to the eye, for a gesture that must be "
        "read. Groups that another guide has too keep their place alone",
        counts=CHANGED,
        label="Keep Turn",
    )
    most_pull: float = setting(
        0.0,
        "The most that the average of a patch may pull with, in times the weight of the patch, for cloth two metres "
        "large: where the guide goes through things, or away faster, the patch lags, and comes in again. Twenty is "
        "more than a garment feels by itself. Any follows whatever it takes",
        low=0.0,
        high=1e4,
        soft=(0.0, 100.0),
        precision=1,
        zero="Any",
        begin=20.0,
        label="Most Pull",
        counts=CHANGED,
    )
    guide_object: str = setting(
        "",
        "Another mesh that the cloth follows: the coarse one that Flesh Out made it of, also while it plays a bake of "
        "its own, or one of any making that has the groups of Groups too. Empty follows its own animation",
        counts=DATA,
        label="Guide",
    )
    guide_vertices: bool = setting(
        True,
        "The cloth keeps its average around each vertex of a guide that it was subdivided from",
        counts=CHANGED,
        label="Around Its Vertices",
    )
    guide_points: bool = setting(
        False,
        "The cloth goes through each vertex of its guide, in place of keeping its average around it: it tugs there, so "
        "that the guide shows. For comparison",
        counts=CHANGED,
        label="Through Them",
    )
    pin_group: str = vertex_group(
        "Vertex group that says where the cloth follows the animation: 1 exactly, 0 not at all, between it is drawn "
        "there. Empty finds waist, collar and cuffs by itself",
        "Pin Group",
    )
    hold: float = setting(
        2.0,
        "How firmly partly pinned cloth is drawn to the animation: the frequency at a weight of a half",
        low=0.01,
        high=100.0,
        soft=(0.2, 10.0),
        unit="Hz",
        counts=CHANGED,
    )
    wind: float = setting(
        1.0,
        "How much of the scene's force fields acts on the cloth",
        low=0.0,
        high=10.0,
        soft=(0.0, 2.0),
        label="Force Fields",
        counts=CHANGED,
    )
    undeformed_key: str = setting(
        "",
        "Shape key that is the undeformed shape: folds of an accordion, ridges, a crinkle. Empty is the mesh at rest",
        counts=DATA,
        names=SHAPE_KEY,
        label="Undeformed",
    )
    undeformed_object: str = setting(
        "",
        "Another mesh that is the undeformed shape on every frame, such as a duplicate that was crumpled: its vertices "
        "where this one has its own, and animated if it is",
        counts=DATA,
        label="Undeformed Mesh",
    )
    undeformed_amount: float = setting(
        1.0,
        "How much of the undeformed shape there is: 0 is the mesh at rest. It can be animated",
        low=0.0,
        high=2.0,
        counts=DATA,
        label="Undeformed Amount",
    )
    real_size: float = setting(
        0.0,
        "How large the garment really is, the longest side of its box: materials act as on one of this size. As "
        "Modelled takes the scene's",
        low=0.0,
        high=1e4,
        soft=(0.0, 5.0),
        unit="m",
        zero="As Modelled",
        begin=1.0,
        label="Real Size",
        counts=CHANGED,
    )
    steps: int = setting(
        0,
        "Steps of the simulation in each sample; Auto takes 240 a second",
        low=0,
        high=256,
        soft=(0, 40),
        zero="Auto",
        begin=10,
        counts=CHANGED,
    )
    precision: float = setting(
        1e-5,
        "How far from its solution a step may stop, as a fraction of size",
        low=1e-9,
        high=1e-3,
        precision=7,
        counts=CHANGED,
    )
    scheme: str = again(SolverSettings, "scheme")
    newton_rounds: int = again(SolverSettings, "newton_rounds")

    simulate: bool = again(EditSettings, "simulate")
    edits: str = again(EditSettings, "edits")
    edit_group: str = again(EditSettings, "edit_group")

    @property
    def led_by(self) -> str:
        return self.guide_object

    @property
    def is_material(self) -> bool:
        return True

    def __post_init__(self) -> None:
        super().__post_init__()
        names = group_names(self.region_groups)
        twice = next((name for name in names if names.count(name) > 1), "")
        if twice:
            raise BadInput(f'The group "{twice}" is named twice among those that follow on average: name it once.')


MATERIAL_GROUPS = ("stiff", "heavy", "calm")  # <name>_group is a vertex group, <name>_painted what a weight of 1 does


def painted_groups(settings: Settings) -> dict[str, str]:
    """The vertex groups that change the material, by what they change."""
    chosen = {name: getattr(settings, f"{name}_group") for name in MATERIAL_GROUPS}
    return {name: group for name, group in chosen.items() if group}


def is_woven(settings: Settings) -> bool:
    """Whether it is not the same in all directions."""
    return not (settings.shear == settings.weft == settings.weft_bend == 1.0)


def group_names(text: str) -> list[str]:
    """The vertex groups that a text names."""
    return [name for name in (part.strip() for part in text.split(",")) if name]
