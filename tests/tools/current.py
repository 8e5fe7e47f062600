"""Today's Blender with a window: Debian unstable's, in a folder of the user's cache that is made once.

    python3 tests/tools/current.py make                 make the folder, about two minutes and 2 GB
    python3 tests/tools/current.py blender ARGS...      that Blender, on a screen of its own that nobody sees
    python3 tests/tools/current.py run COMMAND...       any command in there, e.g. /bin/bash

Inside, this clone, the current folder and /tmp lie where they lie outside. Needs root, because it uses chroot. All
mounts belong to the started command alone and end with it, however it ends.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from environment import CACHE, ROOT, install_packages, locked, say

SUITE = "sid"
PACKAGES = ["blender", "python3-numpy", "python3-cattr", "python3-requests", "python3-pytest", "xvfb", "xauth"]
PACKAGES += ["imagemagick", "libegl1", "libegl-mesa0", "libgl1-mesa-dri"]
SCREEN = "-screen 0 1600x1000x24 +extension GLX -nolisten tcp"
# A throw-away system: it need not survive a power cut, and nobody reads its manuals.
DPKG_OPTIONS = "force-unsafe-io\npath-exclude=/usr/share/doc/*\npath-exclude=/usr/share/man/*\n"
OWN_MOUNTS = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
KEPT_VARIABLES = ("TMPDIR", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "OMP_WAIT_POLICY", "OMP_NUM_THREADS")


def folder() -> Path:
    key = hashlib.sha256("\n".join([SUITE, DPKG_OPTIONS, *PACKAGES]).encode()).hexdigest()[:12]
    return CACHE / f"blender-current-{key}"


def mirror() -> str:
    """Where this machine gets its own Debian packages from."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Label: Debian", "Created-By: Packages"]
    found = subprocess.run(command, capture_output=True, text=True).stdout.split() if shutil.which("apt-get") else []
    if not found:
        sys.exit("The apt of this machine knows no Debian mirror: on Debian, run `apt-get update` as root first.")
    return found[0]


def in_chroot(root: Path, command: list[str], binds: list[Path]) -> list[str]:
    """A command line that runs `command` in there, in a mount namespace that vanishes with it."""
    mounts = ["mount -t proc proc {root}/proc", "mount --rbind /dev {root}/dev"]
    for path in binds:
        mounts += [f"mkdir -p {{root}}{shlex.quote(str(path))}"]
        mounts += [f"mount --bind {shlex.quote(str(path))} {{root}}{shlex.quote(str(path))}"]
    start = binds[-1] if binds else Path("/")
    script = " && ".join(["set -e", *mounts]).format(root=shlex.quote(str(root)))
    # The first process of a namespace does not get all signals, and xvfb-run waits for one: a shell stays first.
    script += f" && chroot {shlex.quote(str(root))} /bin/sh -c 'cd \"$0\" && exec \"$@\"' \"$0\" \"$@\"; exit $?"
    return [*OWN_MOUNTS, "/bin/sh", "-c", script, str(start), *command]


def chroot_environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in KEPT_VARIABLES}
    kept |= {name: value for name, value in os.environ.items() if name.startswith(("BLENDER_USER_", "SINEW_"))}
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"PATH": path, "HOME": "/root", "LANG": "C.UTF-8", "LIBGL_ALWAYS_SOFTWARE": "1", **kept}


def need_root() -> None:
    if os.geteuid() != 0:
        sys.exit("Today's Blender is kept in a chroot, which needs root: run the same command with sudo.")


def make() -> Path:
    """Builds under a temporary name and renames when complete, so that a broken one is never used."""
    need_root()
    target = folder()
    CACHE.mkdir(parents=True, exist_ok=True)
    with locked(CACHE / "blender-current.lock"):
        if target.exists():
            return target
        install_packages(["debootstrap", "util-linux"])
        say("Making a folder with Blender of Debian unstable (once; about two minutes, 2 GB)")
        start = time.monotonic()
        work = CACHE / f"tmp-{target.name}"
        shutil.rmtree(work, ignore_errors=True)
        log = ROOT / "build" / "blender-current.log"
        log.parent.mkdir(exist_ok=True)
        with open(log, "w") as file:
            for command in make_commands(work):
                environment = {**chroot_environment(), "DEBIAN_FRONTEND": "noninteractive"}
                code = subprocess.run(command, env=environment, stdout=file, stderr=subprocess.STDOUT).returncode
                if code != 0:
                    sys.stderr.write("".join(log.read_text().splitlines(keepends=True)[-8:]))
                    sys.exit(f"Making it failed: check the network and {log}, then run it again.")
        work.rename(target)
        for old in CACHE.glob("blender-current-*"):
            if old != target:
                shutil.rmtree(old, ignore_errors=True)
        say(f"  {time.monotonic() - start:.0f} s, {target}")
    return target


def make_commands(work: Path) -> list[list[str]]:
    apt = ["apt-get", "-q", "-y", "-o", "APT::Install-Recommends=false", "-o", "Acquire::Retries=3"]
    etc = shlex.quote(str(work / "etc"))
    resolver = f"cp -L /etc/resolv.conf {etc}/ && ln -sf /proc/mounts {etc}/mtab && mkdir -p {etc}/dpkg/dpkg.cfg.d"
    options = f"printf %s {shlex.quote(DPKG_OPTIONS)} > {etc}/dpkg/dpkg.cfg.d/sinew"
    return [
        [*OWN_MOUNTS, "debootstrap", "--variant=minbase", SUITE, str(work), mirror()],
        ["/bin/sh", "-c", f"{resolver} && {options}"],
        in_chroot(work, [*apt, "install", *PACKAGES], []),
        in_chroot(work, ["apt-get", "clean"], []),
        in_chroot(work, ["blender", "--version"], []),
    ]


def command_line(command: list[str]) -> list[str]:
    """The command line that runs `command` in the folder, which is made first if need be."""
    binds = list(dict.fromkeys([Path("/tmp"), ROOT, Path.cwd()]))
    return in_chroot(make(), command, binds)


def run(line: list[str]) -> int:
    process = subprocess.Popen(line, env=chroot_environment())
    # unshare itself hears nothing but a kill, which takes all that it started along.
    signal.signal(signal.SIGTERM, lambda *_: process.kill())
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.kill()
        return 130


def main() -> None:
    verb, rest = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    if verb == "make":
        say(str(make()))
        return
    if verb == "blender":
        rest = ["xvfb-run", "-a", "-s", SCREEN, "blender", *rest]
    elif verb != "run" or not rest:
        sys.exit(__doc__)
    sys.exit(run(command_line(rest)))


if __name__ == "__main__":
    main()
