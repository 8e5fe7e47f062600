"""Installs what a make target needs: system packages that are missing, and virtual environments.

    python3 tests/tools/environment.py NEED...      needs: build, bpy, blender, bpy-next, check, bench, valgrind,
                                                    referee

Environments live in the user's cache folder, named by a hash of what they hold, so that other clones and later runs
share them; build/env/NAME is a link to each. Runs under any Python 3.8 or later, with nothing but its standard library.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tests" / "tools"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sinew"

# Libraries that Blender as a Python module expects of the system.
BPY_PACKAGES = ["libx11-6", "libxi6", "libxxf86vm1", "libxfixes3", "libxrender1", "libxkbcommon0", "libsm6", "libice6"]
BPY_PACKAGES += ["libgl1", "libegl1", "libgomp1"]
# What the Gmsh that we carry expects of it beside these.
BPY_PACKAGES += ["libglu1-mesa", "libxft2", "libxcursor1", "libxinerama1", "libfontconfig1"]
PACKAGES = {
    "build": ["libc6-dev", "libsuitesparse-dev", "libarpack2-dev", "libopenblas-dev"],
    "bpy": BPY_PACKAGES,
    "bpy-next": BPY_PACKAGES,
    "blender": ["blender", "python3-numpy", "python3-pytest", "xvfb", "imagemagick"],
    "check": ["cppcheck", "gcc-mingw-w64-x86-64-posix", "libsuitesparse-dev"],
    "bench": ["calculix-ccx"],
    "valgrind": ["valgrind"],
    "referee": [],
}
# need -> environment name, Python version
ENVIRONMENTS = {
    "build": ("tools", "3.11"),
    "check": ("tools", "3.11"),
    "bpy": ("45", "3.11"),
    "bpy-next": ("52", "3.13"),
    "referee": ("referee", "3.11"),
}
PYTHON_PACKAGES = ["python3-venv", "python3-dev"]


def say(sentence: str) -> None:
    print(sentence, flush=True)


def missing_packages(names: list[str]) -> list[str]:
    query = ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n", *names]
    lines = subprocess.run(query, capture_output=True, text=True).stdout.splitlines()
    installed = {line.split()[0] for line in lines if line.split()[1:] == ["installed"]}
    return [name for name in names if name not in installed]


def install_packages(names: list[str]) -> None:
    if not shutil.which("apt-get") or not shutil.which("dpkg-query"):
        say(f"This is not a Debian system: make sure that these are installed: {' '.join(names)}")
        return
    missing = missing_packages(names)
    if not missing:
        return
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    command = f"apt-get install --no-install-recommends {' '.join(missing)}"
    if prefix and not shutil.which("sudo"):
        sys.exit(f"Packages are missing and there is no sudo: as root, run `{command}`, then run make again.")
    if prefix and not sys.stdin.isatty():
        prefix.append("-n")
    say(f"Installing {' '.join(missing)}")
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=600"]
    log = ROOT / "build" / "apt.log"
    log.parent.mkdir(exist_ok=True)
    with open(log, "w") as file:
        # A mirror that cannot be refreshed may still install.
        subprocess.run([*apt, "update"], stdout=file, stderr=subprocess.STDOUT)
        install = [*apt, "install", "--no-install-recommends", *missing]
        code = subprocess.run(install, stdout=file, stderr=subprocess.STDOUT).returncode
    if code != 0:
        sys.stderr.write("".join(log.read_text().splitlines(keepends=True)[-8:]))
        sys.exit(f"Installing packages failed: as root, run `apt-get update; {command}`, then run make again.")


def python_candidates(version: str) -> list[str]:
    found = [shutil.which(f"python{version}"), f"/usr/bin/python{version}", f"/usr/local/bin/python{version}"]
    found += sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}*/bin/python{version}")), reverse=True)
    found += [shutil.which("python3")]
    return [path for path in found if path and os.path.exists(path)]


def usable_python(version: str, headers: bool) -> str | None:
    """The real path of an interpreter of that version which can make environments (and has its headers)."""
    probe = (
        "import sys, sysconfig, os, venv, ensurepip\n"
        f"assert '%d.%d' % sys.version_info[:2] == '{version}' and sys.prefix == sys.base_prefix\n"
        f"assert not {headers} or os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h'))\n"
        "print(os.path.realpath(sys.executable))"
    )
    for path in python_candidates(version):
        # A version manager's shim may exist and fail: only running it tells.
        result = subprocess.run([path, "-c", probe], capture_output=True, text=True)
        if result.returncode == 0:
            return result.stdout.strip()
    return None


def find_python(version: str, optional: bool) -> str | None:
    found = usable_python(version, headers=not optional)
    if not found and not optional:
        install_packages(PYTHON_PACKAGES)
        found = usable_python(version, headers=True)
    if not found and not optional:
        sys.exit(f"No usable Python {version} was found: install python{version} with its venv and dev packages.")
    return found


def works(folder: Path) -> bool:
    """Whether the environment is there and its base interpreter still exists."""
    try:
        return subprocess.run([str(folder / "bin" / "python"), "-c", ""], capture_output=True).returncode == 0
    except OSError:
        return False


@contextlib.contextmanager
def locked(path: Path):
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Waiting for another make that prepares {path.stem}")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def make_environment(folder: Path, python: str, requirements: Path) -> None:
    """Builds under a temporary name and renames when complete, so that a broken one is never used."""
    say(f"Making the environment {folder.name} (once; {requirements.read_text().splitlines()[0].strip('# ')})")
    start = time.monotonic()
    work = folder.with_name(f"tmp-{folder.name}")
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    install = [str(work / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q"]
    for command in ([python, "-m", "venv", str(work)], [*install, "-r", str(requirements)]):
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            shutil.rmtree(work, ignore_errors=True)
            sys.stderr.write(result.stdout)
            sys.exit(f"Making {folder.name} failed: check the network and the message above, then run make again.")
    # Scripts name the folder that they were installed in.
    for script in (work / "bin").iterdir():
        if script.is_file() and not script.is_symlink() and script.read_bytes()[:2] == b"#!":
            script.write_bytes(script.read_bytes().replace(bytes(work), bytes(folder)))
    work.rename(folder)
    say(f"  {time.monotonic() - start:.0f} s")


def provide_environment(name: str, version: str, optional: bool) -> None:
    link = ROOT / "build" / "env" / name
    python = find_python(version, optional)
    if not python:
        link.unlink(missing_ok=True)
        say(f"No python{version} here: Blender 5.2 is skipped.")
        return
    requirements = TOOLS / f"requirements-{name}.txt"
    key = hashlib.sha256(f"{python}\n{version}\n{requirements.read_text()}".encode()).hexdigest()[:12]
    folder = CACHE / f"venv-{name}-{key}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with locked(CACHE / f"venv-{name}.lock"):
        if not works(folder):
            make_environment(folder, python, requirements)
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink() or os.readlink(link) != str(folder):
        link.unlink(missing_ok=True)
        link.symlink_to(folder)


def main() -> None:
    needs = sys.argv[1:]
    unknown = [need for need in needs if need not in PACKAGES]
    if unknown or not needs:
        sys.exit(__doc__)
    install_packages(list(dict.fromkeys(name for need in needs for name in PACKAGES[need])))
    environments = dict.fromkeys(ENVIRONMENTS[need] for need in needs if need in ENVIRONMENTS)
    for name, version in environments:
        provide_environment(name, version, optional=name == "52")


if __name__ == "__main__":
    main()
