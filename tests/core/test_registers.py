"""The hot loops keep their numbers in registers, whatever the width of these: reads the disassembly of every module.

A vector that does not fit is kept on the stack, and every use of it becomes a load and a store. That once made the core
ten times slower on processors without AVX-512, and no other test saw it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.once

PACKAGE = Path(__file__).resolve().parents[2] / "addon" / "sinew"
INSTRUCTIONS = ("baseline", "v2", "v3", "v4")
VECTOR = re.compile(r"\b[xyz]mm\d+")
PACKED = re.compile(r"^v?(mul|add|sub|fn?m(add|sub)\d+)p[sd]\s")
STACK = re.compile(r"\[r[sb]p")
JUMP = re.compile(r"^(j\w+)\s+([0-9a-f]+)\b")
SMALL = 4  # packed sums and products: a loop with fewer is not what takes the time

# Function -> the largest share of vector instructions that may touch the stack in any of its innermost loops. Panels
# work on registers alone, but for the few numbers that all rows are multiplied with. Batches of 3x3 matrices are more
# numbers than there are registers: they live on the stack, and a loop reads and writes each of them about once, where a
# loop that spills does so for every product (a share of 0.9 was seen).
HOT = {
    "sn_panel_factorize": 0.3,
    "sn_panel_update": 0.1,
    "sn_panel_backward": 0.1,
    "sn_rounded_forward": 0.1,
    "sn_rounded_backward": 0.1,
    "sn_vector_dot": 0.1,
    "gather_blocks": 0.3,
    "gather_vertices": 0.3,
    "sn_batch3_svd": 0.25,
    "sn_batch3_polar": 0.25,
    "sn_batch3_project_psd": 0.25,
    "compute_derivatives": 0.55,
    "sum_energy": 0.55,
    "compute_gradients": 0.55,
    "follow_pose": 0.55,
    "decompose": 0.55,
    "find_missing": 0.55,
    "move_vertices": 0.45,
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
    """Those that hold no other and do a fair number of sums and products in whole registers."""
    bodies = loops_of(instructions)
    for body in bodies:
        if any(other < body for other in bodies):
            continue
        texts = [text for address, text in instructions if address in body and VECTOR.search(text)]
        if sum(bool(PACKED.match(text)) for text in texts) >= SMALL:
            yield Loop(name, min(body), len(texts), sum(bool(STACK.search(text)) for text in texts))


def disassembly(library: Path) -> str:
    if not shutil.which("objdump"):
        pytest.skip("this machine has no objdump")
    command = ["objdump", "-d", "--no-show-raw-insn", "-M", "intel", str(library)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def loops_in(library: Path) -> dict[str, list[Loop]]:
    """The innermost loops of the hot functions, parts that the compiler split off counted to them."""
    found: dict[str, list[Loop]] = {}
    for name, body in functions(disassembly(library)):
        if name.split(".")[0] in HOT:
            found.setdefault(name.split(".")[0], []).extend(innermost_loops(name, body))
    return found


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_hot_loops_keep_their_numbers_in_registers(instructions: str) -> None:
    loops = loops_in(PACKAGE / f"_native_{instructions}.abi3.so")
    assert [name for name in HOT if name not in loops] == [], "these are not in the module"
    # Batches as wide as a register are worked on without a loop over their lanes.
    assert sum(bool(found) for found in loops.values()) > len(HOT) // 2 and loops["sn_panel_update"]
    spilled = [loop for name, found in loops.items() for loop in found if loop.share() > HOT[name]]
    assert spilled == []


SPILLING = """
typedef float Wide __attribute__((vector_size(64), aligned(4)));
void sn_panel_update(long depth, const float *a, const float *b, float *c)
{
    Wide sum[2][6] = {{{0}}};
    for (long k = 0; k < depth; k++, a += 32, b += 6)
        for (int j = 0; j < 6; j++)
            for (int s = 0; s < 2; s++)
                sum[s][j] += ((const Wide *)a)[s] * b[j];
    for (int j = 0; j < 12; j++)
        ((Wide *)c)[j] = sum[j % 2][j / 2];
}
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="this machine has no gcc")
def test_a_loop_that_spills_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "wide.c").write_text(SPILLING)
    compiled = tmp_path / "wide.o"
    flags = ["-O3", "-march=x86-64-v3", "-c", str(tmp_path / "wide.c"), "-o", str(compiled)]
    subprocess.run(["gcc", *flags], check=True)
    (loops,) = loops_in(compiled).values()
    assert max(loop.share() for loop in loops) > 0.4
