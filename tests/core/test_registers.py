"""The hot loops keep their numbers in registers, whatever the width of these: reads the disassembly of every module.

A vector that does not fit is kept on the stack, and every use of it becomes a load and a store. That once made the core
ten times slower on processors without AVX-512, and no other test saw it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.once

OBJECTS = Path(__file__).resolve().parents[2] / "build" / "module"
INSTRUCTIONS = ("baseline", "v2", "v3", "v4")
VECTOR = re.compile(r"\b[xyz]mm\d+")
ARITHMETIC = re.compile(r"^v?(?:mul|add|sub|div|sqrt|fn?m(?:add|sub)\d+)(p|s)[sd]\s")
STACK = re.compile(r"\[r[sb]p")
JUMP = re.compile(r"^(j\w+)\s+([0-9a-f]+)\b")
SMALL = 4  # sums and products: a loop with fewer is not what takes the time


class Bound(NamedTuple):
    """Of one hot function."""

    on_stack: float  # the largest share of vector instructions that may touch the stack in any innermost loop
    packed: float = 0.0  # the least share of its arithmetic that must work on whole registers


# Panels work on registers alone, but for the few numbers that all rows are multiplied with. Batches of 3x3 matrices are
# more numbers than there are registers: they live on the stack, and a loop reads and writes each of them about once,
# where a loop that spills does so for every product (a share of 0.9 was seen). Ends of loops are scalar everywhere;
# what gathers from all over the mesh is so as a whole.
HOT = {
    "math/dense_panel": {
        "sn_panel_factorize": Bound(0.3, 0.5),
        "sn_panel_update": Bound(0.1, 0.6),
        "sn_panel_forward": Bound(0.1),
        "sn_panel_backward": Bound(0.1),
        "sn_panel_round": Bound(0.1),
        "sn_rounded_forward": Bound(0.1, 0.9),
        "sn_rounded_backward": Bound(0.1, 0.9),
    },
    "math/vector": {"sn_vector_dot": Bound(0.1), "sn_vector_add": Bound(0.1)},
    "math/batch3": {
        "sn_batch3_svd": Bound(0.25, 0.7),
        "sn_batch3_polar": Bound(0.25, 0.5),
        "sn_batch3_project_psd": Bound(0.25, 0.8),
    },
    "energy/neo_hookean": {name: Bound(0.1, 0.9) for name in ("density", "derivatives", "direct")},
    "energy/stvk": {name: Bound(0.1, 0.9) for name in ("density", "derivatives", "direct")},
    "energy/tet_energy": {"sum_energy": Bound(0.6, 0.6), "compute_derivatives": Bound(0.6, 0.5)},
    "energy/tet_elements": {"compute_gradients": Bound(0.6)},
    "energy/tet_pose": {"follow_pose": Bound(0.7)},
    "energy/triangle_term": {"sum_energy": Bound(0.87, 0.75), "compute_stiffness": Bound(0.65, 0.7)},
    "energy/hinges": {"sum_energy": Bound(0.35, 0.6), "compute_stiffness": Bound(0.35, 0.55)},
    "dynamics/turns": {"decompose": Bound(0.6, 0.9), "find_missing": Bound(0.6, 0.9)},
    "dynamics/assembly": {"gather_blocks": Bound(0.1), "gather_vertices": Bound(0.1)},
    "mesh/detail": {"move_vertices": Bound(0.5)},
}


class Loop(NamedTuple):
    function: str
    start: int
    vectors: int
    on_stack: int

    def share(self) -> float:
        return self.on_stack / self.vectors


def functions(listing: str) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Name and instructions, each with its address, of every function."""
    for block in re.split(r"\n\n+", listing):
        head = re.match(r"[0-9a-f]+ <([^>]+)>:\n", block)
        if head:
            lines = (line.split("\t") for line in block.splitlines()[1:])
            yield head[1], [(int(line[0].strip(" :"), 16), line[-1].strip()) for line in lines if len(line) >= 2]


def loop_body(head: int, tail: int, before: dict[int, list[int]]) -> set[int]:
    """What lies between the head and the jump back to it at `tail`, and leads there."""
    body, waiting = {head, tail}, [tail] if tail != head else []
    while waiting:
        for address in before.get(waiting.pop(), []):
            if address not in body and head <= address <= tail:
                body.add(address)
                waiting.append(address)
    return body


def loops_of(instructions: list[tuple[int, str]]) -> list[set[int]]:
    """Addresses of the instructions of each loop: one for every jump backwards."""
    before: dict[int, list[int]] = {}
    backwards = []
    for (address, text), (following, _) in zip(instructions, [*instructions[1:], (0, "")], strict=True):
        jump = JUMP.match(text)
        if jump:
            before.setdefault(int(jump[2], 16), []).append(address)
            if int(jump[2], 16) <= address:
                backwards.append((int(jump[2], 16), address))
        if not text.startswith(("jmp", "ret")):
            before.setdefault(following, []).append(address)
    return [loop_body(head, tail, before) for head, tail in backwards]


def innermost_loops(name: str, instructions: list[tuple[int, str]]) -> Iterator[Loop]:
    """Those that hold no other and do a fair number of sums and products."""
    bodies = loops_of(instructions)
    for body in bodies:
        if any(other < body for other in bodies):
            continue
        texts = [text for address, text in instructions if address in body and VECTOR.search(text)]
        if sum(bool(ARITHMETIC.match(text)) for text in texts) >= SMALL:
            yield Loop(name, min(body), len(texts), sum(bool(STACK.search(text)) for text in texts))


def disassembly(library: Path) -> str:
    if not shutil.which("objdump"):
        pytest.skip("this machine has no objdump")
    command = ["objdump", "-d", "--no-show-raw-insn", "-M", "intel", str(library)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Found(NamedTuple):
    loops: list[Loop]
    packed: float  # share of the arithmetic


def found_in(compiled: Path, names: Collection[str]) -> dict[str, Found]:
    """The functions of an object file, parts that the compiler split off counted to them."""
    parts: dict[str, list[list[tuple[int, str]]]] = {}
    for name, body in functions(disassembly(compiled)):
        if name.split(".")[0] in names:
            parts.setdefault(name.split(".")[0], []).append(body)
    found = {}
    for name, bodies in parts.items():
        kinds = [match[1] for body in bodies for _, text in body if (match := ARITHMETIC.match(text))]
        loops = [loop for body in bodies for loop in innermost_loops(name, body)]
        found[name] = Found(loops, kinds.count("p") / max(1, len(kinds)))
    return found


def broken(found: Mapping[str, Found], bounds: Mapping[str, Bound]) -> list[str]:
    """What is beyond its bound, in words."""
    words = [f"{name} is not there" for name in bounds if name not in found]
    for name, function in found.items():
        worst = max((loop.share() for loop in function.loops), default=0.0)
        if worst > bounds[name].on_stack:
            words.append(f"{name}: {worst:.2f} of a loop's vector instructions touch the stack")
        if function.packed < bounds[name].packed:
            words.append(f"{name}: only {function.packed:.2f} of its arithmetic is on whole registers")
    return words


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_hot_loops_work_on_whole_registers_and_keep_them(instructions: str) -> None:
    folder = OBJECTS / instructions
    if not folder.exists():
        pytest.skip(f"the objects for {instructions} are not here: run `make build`")
    for file, bounds in HOT.items():
        assert broken(found_in(folder / f"{file}.o", bounds), bounds) == [], file


SPILLING = """
#ifdef SCALAR
typedef float Wide;
#else
typedef float Wide __attribute__((vector_size(64), aligned(4)));
#endif
void sn_panel_update(long depth, const float *a, const float *b, float *c)
{
    Wide sum[2][6] = {0};
    for (long k = 0; k < depth; k++, a += 32, b += 6)
        for (int j = 0; j < 6; j++)
            for (int s = 0; s < 2; s++)
                sum[s][j] += ((const Wide *)a)[s] * b[j];
    for (int j = 0; j < 12; j++)
        ((Wide *)c)[j] = sum[j % 2][j / 2];
}
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="this machine has no gcc")
@pytest.mark.parametrize(
    ("flags", "word"),
    [
        (["-march=x86-64-v3"], "touch the stack"),
        (["-march=x86-64-v4"], ""),
        (["-march=x86-64-v4", "-DSCALAR"], "whole registers"),
    ],
)
def test_loops_that_spill_or_are_scalar_are_noticed(tmp_path: Path, flags: list[str], word: str) -> None:
    (tmp_path / "wide.c").write_text(SPILLING)
    compiled = tmp_path / "wide.o"
    command = ["gcc", "-O3", "-fno-tree-vectorize", *flags, "-c", str(tmp_path / "wide.c"), "-o", str(compiled)]
    subprocess.run(command, check=True)
    bounds = {"sn_panel_update": Bound(0.4, 0.5)}
    words = broken(found_in(compiled, bounds), bounds)
    assert len(words) == bool(word) and all(word in one for one in words)
    assert broken({}, bounds) == ["sn_panel_update is not there"]
