"""The command line: `python -m sinew bake FILE.blend --object NAME`, `python -m sinew check FILE.blend`.

With the add-on enabled, in Blender 4.2 and later also `blender -b FILE.blend --command sinew bake --object NAME`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import Any

from .core.bake.method import Method, find, known
from .core.bake.report import lines
from .core.base import disk
from .core.base.errors import BadInput, Cancelled, Error, StoreError
from .core.base.settings import Setting
from .core.edit.handles import CONTACTS, Edits, parse_handle, parse_range
from .core.methods import presets

EXIT_ERROR = 1
EXIT_CANCELLED = 130


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns the exit code: 0 only on success."""
    return _run(_parser().parse_args(sys.argv[1:] if arguments is None else arguments))


def run_in_open_file(arguments: list[str]) -> int:
    """What Blender calls for `--command sinew`: as `main`, with the file that is open."""
    import bpy

    try:
        options = _parser(bpy.data.filepath).parse_args(arguments)
    except SystemExit as end:  # after --help, or a mistake in the line
        return int(end.code or 0)
    return _run(options)


def register() -> None:
    """Lets Blender know the command, where it has commands."""
    import bpy

    utilities: Any = bpy.utils
    if hasattr(utilities, "register_cli_command"):  # 4.2 and later
        _registered.append(utilities.register_cli_command("sinew", run_in_open_file))


def unregister() -> None:
    import bpy

    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())


_registered: list[Any] = []


def _run(options: argparse.Namespace) -> int:
    try:
        if not options.file.name:
            raise BadInput("No file is open: use `blender -b FILE.blend --command sinew ...`.")
        if options.blender:
            return _run_in_blender(options)
        _catch_interrupts()
        return int(options.run(options))
    except Cancelled as error:
        print(f"\n{error}", file=sys.stderr)
        return EXIT_CANCELLED
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return EXIT_CANCELLED
    except Error as error:
        print(f"sinew: {error}", file=sys.stderr)
        return EXIT_ERROR


def _parser(open_file: str | None = None) -> argparse.ArgumentParser:
    """The command line's grammar; without a file's name where one is open."""
    keys = "\n".join(f"  {one.line}" for one in _all_settings())
    names = "\n".join(f"  {name}: {preset.description}" for name, preset in presets.load_all().items())
    settings = f"settings (--set key=value):\n{keys}\n\npresets (--preset NAME):\n{names}\n"
    parser = argparse.ArgumentParser(
        prog="python -m sinew" if open_file is None else "blender -b FILE.blend --command sinew",
        description="Adds physics to the animation of a mesh in a .blend file.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=settings,
    )
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, run: Any, about: str, what: str, epilog: str | None = settings) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name, help=about, formatter_class=argparse.RawDescriptionHelpFormatter, epilog=epilog
        )
        made.set_defaults(run=run)
        made.add_argument("--object", required=epilog is not None, metavar="NAME", help=what)
        if open_file is None:
            made.add_argument("file", type=Path, metavar="FILE.blend")
            made.add_argument(
                "--blender", metavar="PATH", help="a Blender executable to run in (otherwise bpy of this Python)"
            )
        else:
            made.set_defaults(file=Path(open_file), blender=None)
        made.add_argument(
            "--enable-scripts",
            action="store_true",
            help="run the file's scripts and scripted drivers; only if you trust it",
        )
        return made

    bake = command("bake", _bake, "bake an object and save the file", "the mesh object to bake")
    _add_method(bake)
    _add_preset(bake)
    _add_set(bake)
    _add_results(bake)
    bake.add_argument("--resample", action="store_true", help="play all frames, also where an earlier bake holds them")

    about = "pull points of the finished motion, and save the file; nothing is simulated that is baked already"
    edit = command("edit", _edit, about, "the mesh object to edit, baked or animated")
    edit.set_defaults(preset=None)
    _add_pulls(edit)
    _add_set(edit)
    _add_results(edit)

    tried = "; ".join(f"{method.label}: {method.rehearsal}" for method in known() if method.rehearsal)
    about = f"try a few frames before a bake ({tried}); nothing is baked or saved"
    fit = command("fit", _fit, about, "the mesh object to try")
    _add_preset(fit)
    _add_set(fit)

    about = "look for missing, stale or mismatched bakes"
    command("check", _check, about, "only this object, which must have a setup", None)
    return parser


def _add_method(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(method.name for method in known())
    parser.add_argument("--method", metavar="NAME", help=f"one of {names} (otherwise that of the object's setup)")


def _add_preset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", metavar="NAME", help="start from a preset (--set goes over it)")


def _add_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting; may repeat")


def _add_results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, metavar="OUT.blend", help="save here and leave FILE untouched")
    parser.add_argument("--report", type=Path, metavar="R.json", help="write the report here")


def _add_pulls(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--handle",
        action="append",
        default=[],
        metavar="VERTEX,FRAME,DX,DY,DZ",
        help="where a vertex is pulled to from where it is, in metres; VERTEX may be several, 7+8+9, whose mean is "
        "pulled, and FRAME FROM-TO, which is held; may repeat",
    )
    parser.add_argument("--range", metavar="A-B", help="frames beyond which nothing changes")
    parser.add_argument("--wiggle", type=float, metavar="W", help="1 swings as the body does, 0 hardly overshoots")
    parser.add_argument("--spread", type=float, metavar="S", help="how far in time it is felt, times its own")
    parser.add_argument(
        "--free",
        action=argparse.BooleanOptionalAction,
        help="what follows the animation exactly may be pulled too; --no-free: it stays (as it is in the file, where "
        "neither is given; in a mesh that Sinew has not moved yet and that has no bones, all may be pulled)",
    )
    parser.add_argument(
        "--keep-contacts",
        choices=[kind for kind in CONTACTS if kind],
        help="above: nothing is pulled into the floor or what the bake collides with; slide: what touches goes on "
        "touching; pin: and stays there",
    )
    parser.add_argument("--floor", type=float, metavar="Z", help="height of the floor for --keep-contacts, metres")
    parser.add_argument("--clear", action="store_true", help="forget the handles that are there")


def _all_settings() -> list[Setting]:
    """Those of all methods, each once."""
    found = {name: one for method in reversed(known()) for name, one in method.settings.all().items()}
    return list(found.values())


def _bake(options: argparse.Namespace) -> int:
    _check_values(options)
    target = _checked_target(options)
    file, baking = _open(options)
    values = _values(options, baking.method_for(options.object, options.method or ""))
    where = baking.Target(target)
    outcome = baking.bake_object(
        options.object, values, where, _ProgressLine(), method=options.method or "", resample=options.resample
    )
    return _saved(options, file, baking, where, outcome)


def _saved(options: argparse.Namespace, file: Any, baking: Any, where: Any, outcome: Any) -> int:
    """Saves what was made, and tells of it."""
    report = outcome.report
    if file.scripts_were_blocked():
        report = _with_warning(
            report, "The file has scripts that were not run; if the animation needs them, pass --enable-scripts."
        )
    _translated(file.save_blend, where.blend)
    baking.finish(where)
    if options.report:
        disk.write_atomically(options.report.resolve(), json.dumps(report, indent=1, allow_nan=False).encode())
    if outcome.unchanged:
        print(f"Nothing has changed since the last bake of {options.object}.")
    print("\n".join(lines(report)))
    print(f"saved {where.blend}")
    return 0


def _edit(options: argparse.Namespace) -> int:
    _check_values(options)
    how = _edits(options)
    target = _checked_target(options)
    file, baking = _open(options)
    from .setups.edit.values import edited_values

    handles = [parse_handle(text) for text in options.handle]
    method, values = edited_values(options.object, handles, clear=options.clear, **how)
    values |= _values(options, baking.method_for(options.object, method))
    where = baking.Target(target)
    outcome = baking.bake_object(options.object, values, where, _ProgressLine(), method=method)
    result = _saved(options, file, baking, where, outcome)
    if any("free it" in told for told in (outcome.report.get("edits") or {}).get("left_out", ())):
        print("To free what follows the animation exactly, give --free.")
    return result


def _edits(options: argparse.Namespace) -> dict[str, Any]:
    """What is said of edits beside the handles, checked before the file is open."""
    how: dict[str, Any] = {name: getattr(options, name) for name in ("wiggle", "spread", "floor", "free")}
    how["contacts"] = options.keep_contacts
    how = {name: value for name, value in how.items() if value is not None}
    how |= {"range": parse_range(options.range)} if options.range else {}
    handles = tuple(parse_handle(text) for text in options.handle)
    if not (handles or how or options.clear):
        raise BadInput("Nothing is to be edited: give a --handle VERTEX,FRAME,DX,DY,DZ, or --clear.")
    Edits(handles=handles, **how)
    return how


def _fit(options: argparse.Namespace) -> int:
    _check_values(options)
    _, baking = _open(options)
    rehearse = baking.rehearsal_of(options.object)
    values = _values(options, baking.method_for(options.object))
    for line in rehearse(options.object, values, _ProgressLine()):
        print(line)
    return 0


def _check(options: argparse.Namespace) -> int:
    _, baking = _open(options)
    entries = [entry for entry in baking.setups() if options.object in (None, entry.object_name)]
    if options.object and not entries:
        raise BadInput(f'"{options.object}" has no setup in {options.file}: bake it first.')
    if not entries:
        print(f"{options.file} has no setups.")
    wrong = 0
    for entry in entries:
        where = baking.Target(options.file.resolve())
        problem = baking.check_object(entry, where)
        good = "" if problem else "; ".join(filter(None, ("good", baking.about_spliced(entry, where))))
        print(f"{entry.object_name or '(deleted)'}: {problem or good}")
        wrong += problem is not None
    return EXIT_ERROR if wrong else 0


def _values(options: argparse.Namespace, method: Method) -> dict[str, Any]:
    """Values of the preset and of --set, as settings of a method."""
    values: dict[str, Any] = {}
    if options.preset:
        preset = presets.load(options.preset)
        if preset.method != method.name:
            raise BadInput(
                f'The preset "{preset.name}" is one of {preset.method}, and this is baked by {method.name}: choose one '
                f"of {method.name}, or add --method {preset.method}."
            )
        values |= preset.values
    values |= method.settings.parse(options.set)
    method.settings().replace(values)
    return values


def _check_values(options: argparse.Namespace) -> None:
    """What can be told of them before the file is open, and with it the method of a setup: that they suit the one that
    is named, or else some."""
    named = getattr(options, "method", None)
    wrong: list[BadInput] = []
    for method in [find(named)] if named else known():
        try:
            _values(options, method)
            return
        except BadInput as error:
            wrong.append(error)
    raise wrong[0]


def _checked_target(options: argparse.Namespace) -> Path:
    """Where the .blend will be saved; all folders that will be written to must allow it."""
    if not options.file.is_file():
        raise BadInput(f"{options.file} does not exist: check the name.")
    target = Path(options.out or options.file)
    if target.suffix != ".blend":
        raise BadInput(f"{target} must end in .blend: give the name of a Blender file.")
    for path in (target, options.report):
        if path is None:
            continue
        if path.is_dir():
            raise BadInput(f"{path} is a folder: give the name of a file.")
        folder = path.resolve().parent
        if not folder.is_dir():
            raise StoreError(f"The folder {folder} does not exist: make it first.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise StoreError(f"The folder {folder} cannot be written to: check its permissions.")
    return target.resolve()


def _open(options: argparse.Namespace) -> tuple[Any, Any]:
    """Opens the file in bpy of this Python. The modules that save it and that bake: they cannot be had without bpy."""
    if not options.file.is_file():
        raise BadInput(f"{options.file} does not exist: check the name.")
    try:
        from . import setups
        from .scene import file
    except ModuleNotFoundError as error:
        advice = {
            "bpy": "install it with pip, or name a Blender executable with --blender PATH",
            "numpy": "install it (Debian: python3-numpy), or use a Blender that brings it along",
        }
        if error.name not in advice:
            raise
        raise BadInput(f"This Python has no {error.name}: {advice[error.name]}.") from error
    _translated(file.open_blend, options.file.resolve(), scripts=options.enable_scripts)
    return file, setups


def _translated(function: Any, *arguments: Any, **keywords: Any) -> Any:
    from .scene.errors import SceneError

    try:
        return function(*arguments, **keywords)
    except SceneError as error:
        raise BadInput(str(error)) from error


def _with_warning(report: dict[str, Any], warning: str) -> dict[str, Any]:
    return {**report, "warnings": [*report.get("warnings", []), warning]}


def _run_in_blender(options: argparse.Namespace) -> int:
    """Runs the same command inside a Blender executable and hands on its exit code."""
    if options.command != "check":
        _check_values(options)
    if options.command == "edit":
        _edits(options)
    if options.command in ("bake", "edit"):
        _checked_target(options)
    package = Path(__file__).resolve().parent
    # The exit code alone proves nothing: a program that is no Blender may well answer 0.
    descriptor, token = tempfile.mkstemp(prefix="sinew-")
    os.close(descriptor)
    script = (
        f"import sys; sys.path.insert(0, {str(package.parent)!r}); from {package.name}.command import main; "
        f"code = main(sys.argv[sys.argv.index('--') + 1:]); print(code, file=open({token!r}, 'w')); sys.exit(code)"
    )
    command = [
        *(options.blender, "--background", "--factory-startup", "--python-exit-code", "9"),
        *("--python-expr", script, "--", *_arguments(options)),
    ]
    try:
        code = _wait_for(subprocess.Popen(command))
        finished = Path(token).read_text().strip()
    except OSError as error:
        raise BadInput(f"{options.blender} cannot be started ({error.strerror}): name a Blender executable.") from error
    finally:
        os.unlink(token)
    if code == -signal.SIGINT:  # struck before the bake could answer it
        return EXIT_CANCELLED
    if code < 0:
        print(f"sinew: Blender was ended by signal {-code}; bake again to continue.", file=sys.stderr)
        return EXIT_ERROR
    if code == 0 and finished != "0":
        raise BadInput(f"{options.blender} did not run Sinew: name a Blender executable of version 3.4 or later.")
    return code


def _wait_for(process: subprocess.Popen[bytes]) -> int:
    """The exit code of Blender, which gets the signals that are meant to end us: it must not go on alone."""
    previous = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGTERM, previous)


def _arguments(options: argparse.Namespace) -> list[str]:
    """The command line again, without --blender: every option that was given."""
    arguments = [options.command, str(options.file)]
    for action in _options_of(options.command):
        value, flag = getattr(options, action.dest), action.option_strings[0]
        if action.nargs == 0:
            arguments += [flag] if value else []
        else:
            given = value if isinstance(value, list) else [] if value is None else [value]
            arguments += [f"{flag}={one}" for one in given]
    return arguments


def _options_of(command: str) -> list[argparse.Action]:
    """Those of a command that a Blender is to get too."""
    (commands,) = (one for one in _parser()._actions if isinstance(one, argparse._SubParsersAction))
    found: list[argparse.Action] = commands.choices[command]._actions
    return [one for one in found if one.option_strings and one.dest not in ("help", "blender")]


def _catch_interrupts() -> None:
    """Ctrl+C ends the work in order, also in Blender, which would keep it to itself. A second one ends at once."""
    first: list[float] = []

    def handle(_: int, __: FrameType | None) -> None:
        if not first:
            first.append(time.monotonic())
            raise KeyboardInterrupt
        if time.monotonic() - first[0] > 2.0:
            os._exit(EXIT_CANCELLED)

    try:
        signal.signal(signal.SIGINT, handle)
    except ValueError:
        return  # not the main thread: whoever called us sees to interrupts


class _ProgressLine:
    """One line that is rewritten in a terminal; elsewhere a line at each tenth."""

    def __init__(self) -> None:
        self._tenth = -1
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int, left: float) -> None:
        text = f"{stage} {done}/{total}" + (f", {_duration(left)} left" if left >= 0 and done < total else "")
        if sys.stderr.isatty():
            print(f"\r{text:<60}", end="\n" if done == total else "", file=sys.stderr, flush=True)
        elif (stage, 10 * done // total) != (self._stage, self._tenth):
            self._stage, self._tenth = stage, 10 * done // total
            print(text, file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
