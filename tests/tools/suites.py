"""Runs the test suites, a few at a time, and ends with a summary; exit code 1 when anything failed.

    python3 tests/tools/suites.py [NAME...] [-- PYTEST_ARGUMENTS]

Names: native (native-v2, -v3, -v4: the same for other instruction sets), sanitized, core-45, blender-45, core-52,
blender-52, blender-34, window-34 (default: all that can run here), and current, which runs in the Blender of
tests/tools/current.py (the window, the package and the command).
Each suite has its own temporary folder and its own Blender profile. The output of a suite appears when it ends, and
stays in build/test/NAME.log.
"""

from __future__ import annotations

import concurrent.futures
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import current

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "test"
TIMEOUT = 1800  # seconds for one suite: a hang is a failure, not a wait
PASSED, FAILED, SKIPPED = "passed", "FAILED", "skipped"
NO_TESTS_COLLECTED = 5
AT_ONCE = min(3, (os.cpu_count() or 1) + 1)  # they wait for windows, timers and disks a good part of their time
# Tests of what decides more than it computes, in plain loops: they are asked of the fastest instruction set, which
# fuses products, and of the sanitized build, which does not.
PLAIN = (
    "allocations box_tree cage cancel contact_candidates contact_intersections distance_field embedding fill memory "
    "mend mesh_cancel split stuffing tet_mesh thin_shells threads touch_planes tri_mesh union_find wrinkles"
).split()
MEMORY, ENOUGH = "/dev/shm", 4e9  # bytes: a bake makes sure many times that it is on the disk, which memory needs not
# What depends on the application rather than on the bpy module, which runs everything.
CURRENT_TESTS = [f"tests/blender/test_{name}.py" for name in ("ui_window", "overlay_window", "ui_install", "ui")]
printing = threading.Lock()


class Result:
    def __init__(self, name: str, state: str, seconds: float, closing: str) -> None:
        self.name, self.state, self.seconds, self.closing = name, state, seconds, closing


@functools.cache
def processor() -> list[str]:
    """Instruction sets that this processor has."""
    ask = "from sinew import _processor; print(*_processor.instructions())"
    command = [str(ROOT / "build" / "env" / "tools" / "bin" / "python"), "-c", ask]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "addon")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


def native_commands(flavour: str) -> list[list[str]]:
    names = sorted(source.stem for source in (ROOT / "tests" / "native").glob("test_*.c"))
    is_asked_all = flavour in (processor()[0], "sanitized")
    wanted = [name for name in names if is_asked_all or name.removeprefix("test_") not in PLAIN]
    return [[str(ROOT / "build" / flavour / "tests" / name)] for name in wanted]


# The later ones of several Blenders, and their Pythons, are not asked what has one answer in all.
AGAIN = ["-m", "not once"]


def pytest_commands(environment: str, folder: str, extra: list[str]) -> list[list[str]] | None:
    python = ROOT / "build" / "env" / environment / "bin" / "python"
    if not python.exists():
        return None
    return [[str(python), "-m", "pytest", "-p", "no:cacheprovider", *chosen([f"tests/{folder}"], extra)]]


def chosen(every: list[str], extra: list[str]) -> list[str]:
    """The arguments of pytest: the files that are named, or else all of the suite."""
    return extra if any(argument.startswith("tests/") for argument in extra) else [*every, *extra]


def inside_blender(blender: str, tests: list[str]) -> list[str]:
    start = [blender, "--background", "--factory-startup", "--python-exit-code", "9"]
    return [*start, "--python", "tests/tools/pytest_in_blender.py", "--", "-p", "no:cacheprovider", *tests]


def blender_commands(tests: list[str], extra: list[str]) -> list[list[str]] | None:
    # Debian's own, which runs under Debian's Python, where numpy and pytest are packages.
    blender = shutil.which("blender", path="/usr/bin")
    return [inside_blender(blender, chosen(tests, [*AGAIN, *extra]))] if blender else None


def current_commands(extra: list[str]) -> list[list[str]]:
    return [current.command_line(inside_blender("blender", chosen(CURRENT_TESTS, extra)))]


def suites(extra: list[str]) -> dict[str, list[list[str]] | None]:
    """Commands of each suite, None where it cannot run; the long ones first, so that all end together."""
    # Windows wait for redraws and timers; other suites compute beside them.
    windows = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "blender").glob("test_*_window.py"))
    return {
        "window-34": blender_commands(windows, extra),
        "core-45": pytest_commands("45", "core", extra),
        "blender-52": pytest_commands("52", "blender", [*AGAIN, *extra]),
        "blender-45": pytest_commands("45", "blender", extra),
        "blender-34": blender_commands(["tests/blender", *(f"--ignore={path}" for path in windows)], extra),
        "core-52": pytest_commands("52", "core", [*AGAIN, *extra]),
        "sanitized": native_commands("sanitized"),
        "native": native_commands("baseline"),
        **{f"native-{name}": native_commands(name) if name in processor() else None for name in ("v2", "v3", "v4")},
    }


def is_native(name: str) -> bool:
    return name.startswith(("native", "sanitized"))


def make_programs(programs: list[str]) -> None:
    names = [str(Path(program).relative_to(ROOT)) for program in programs]
    if names and subprocess.run(["make", f"-j{os.cpu_count() or 1}", *names], cwd=ROOT).returncode != 0:
        sys.exit("The native tests do not compile.")


def suite_environment(folder: str) -> dict[str, str]:
    environment = dict(os.environ)
    for kind in ("RESOURCES", "CONFIG", "SCRIPTS", "DATAFILES", "EXTENSIONS"):
        path = os.path.join(folder, "profile", kind.lower())
        os.makedirs(path)
        environment[f"BLENDER_USER_{kind}"] = path
    os.makedirs(os.path.join(folder, "tmp"))
    environment.update(
        TMPDIR=os.path.join(folder, "tmp"),
        PYTHONPATH=str(ROOT / "addon"),
        # Debian's Blender takes the home of the first python3 on the path for its own.
        PATH="/usr/bin:" + os.environ.get("PATH", ""),
        PYTHONDONTWRITEBYTECODE="1",
        # Suites share the cores: a waiting thread must not spin, nor one of numpy's (2^4 cycles, then it sleeps).
        OMP_WAIT_POLICY="passive",
        OPENBLAS_THREAD_TIMEOUT="4",
        ASAN_OPTIONS="detect_leaks=1:abort_on_error=0:" + os.environ.get("ASAN_OPTIONS", ""),
        UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1",
        LSAN_OPTIONS="print_suppressions=0:suppressions=tests/tools/leaks.txt",
    )
    for name in ("PYTHONHOME", "LD_PRELOAD"):
        environment.pop(name, None)
    return environment


def temporary_root() -> str | None:
    """Where the temporary folders lie: in memory, where there is enough of it."""
    return MEMORY if os.path.isdir(MEMORY) and shutil.disk_usage(MEMORY).free > ENOUGH else None


def run_command(command: list[str], environment: dict[str, str], log: Path) -> int:
    with open(log, "a") as file:
        if "pytest" not in " ".join(command):
            file.write(f"== {Path(command[0]).name}\n")
            file.flush()
        try:
            streams = {"stdin": subprocess.DEVNULL, "stdout": file, "stderr": subprocess.STDOUT}
            return subprocess.run(command, cwd=ROOT, env=environment, timeout=TIMEOUT, **streams).returncode
        except OSError as error:
            file.write(f"{error}\n")
            return 127
        except subprocess.TimeoutExpired:
            file.write(f"\nstopped after {TIMEOUT} s\n")
            return 124


def closing_line(name: str, log: Path, codes: list[int]) -> str:
    if is_native(name):
        return f"{codes.count(0)} of {len(codes)} programs"
    lines = [line.strip("= ") for line in log.read_text(errors="replace").splitlines()]
    ends = [line for line in lines if re.search(r"\b\d+ (passed|failed|error|skipped|deselected)|no tests ran", line)]
    return ends[-1] if ends else f"no closing line (exit code {codes[0]})"


def run_suite(name: str, commands: list[list[str]] | None, selective: bool) -> Result:
    log = LOGS / f"{name}.log"
    log.write_text("")
    if commands is None:
        return Result(name, SKIPPED, 0.0, "its Blender or processor is not here")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"sinew-{name}-", dir=temporary_root()) as folder:
        environment = suite_environment(folder)
        codes = [run_command(command, environment, log) for command in commands]
    seconds = time.monotonic() - start
    # A suite without tests is a lost suite, unless the caller selected some by name.
    state = FAILED if any(codes) or not codes else PASSED
    if selective and codes == [NO_TESTS_COLLECTED]:
        state = SKIPPED
    result = Result(name, state, seconds, closing_line(name, log, codes))
    with printing:
        print(f"\n======== {name}: {state}, {seconds:.0f} s\n{log.read_text(errors='replace').rstrip()}", flush=True)
    return result


def main() -> None:
    arguments = sys.argv[1:]
    extra = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
    names = arguments[: arguments.index("--")] if "--" in arguments else arguments
    every = suites(extra)
    if "current" in names:
        every["current"] = current_commands(extra)
    unknown = [name for name in names if name not in every]
    if unknown:
        sys.exit(f"There is no suite {unknown[0]}: choose from {', '.join(every)}, current.")
    wanted = {name: commands for name, commands in every.items() if not names or name in names}
    make_programs([command[0] for name in wanted if is_native(name) for command in wanted[name] or []])
    LOGS.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda name: run_suite(name, wanted[name], bool(extra)), wanted))
    print(f"\nSummary, {time.monotonic() - start:.0f} s")
    for result in results:
        print(f"  {result.name:<12} {result.state:<8} {result.seconds:6.1f} s  {result.closing}")
    if any(result.state == FAILED for result in results):
        sys.exit(1)
    if not any(result.state == PASSED for result in results):
        sys.exit("No test ran at all.")


if __name__ == "__main__":
    main()
