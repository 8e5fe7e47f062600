from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from sinew import command
from sinew.core.flesh.settings import Settings

ADDON = Path(command.__file__).parents[1]


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = command.main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def blend(tmp_path: Path) -> Path:
    path = tmp_path / "shot.blend"
    path.write_bytes(b"BLENDER, but not really")
    return path


@pytest.mark.parametrize("arguments", [["--help"], ["bake", "--help"]])
def test_help_lists_all_settings_with_defaults_and_all_presets(arguments: list[str], capsys) -> None:
    with pytest.raises(SystemExit) as left:
        command.main(arguments)
    assert left.value.code == 0
    text = capsys.readouterr().out
    for name, one in Settings.all().items():
        assert f"{name}=" in text and one.description in text
    for preset in ("flesh", "jelly", "subtle", "cartoon"):
        assert f"{preset}:" in text


def test_help_works_in_a_fresh_python_without_bpy() -> None:
    result = subprocess.run(
        [sys.executable, "-S", "-c", "import sys; sys.modules['bpy'] = None; import runpy; runpy.run_module('sinew')"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ADDON), *sys.path])},
        check=False,
    )
    assert result.returncode == 2 and "usage: python -m sinew" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--set", "jigle=2"], 'did you mean "jiggle"'),
        (["--set", "resolution=300"], "resolution cannot be 300"),
        (["--set", "resolution"], "key=value"),
        (["--preset", "jely"], 'did you mean "jelly"'),
        (["--preset", "foo"], 'no preset "foo": there are bouncy, cartoon, '),
        (["--set", "foo=2"], 'no setting "foo". See'),
        (["--out", "/nowhere/at/all.blend"], "does not exist"),
        (["--out", "a.txt"], ".blend"),
        (["--report", "/nowhere/r.json"], "does not exist"),
    ],
)
def test_wrong_input_is_answered_before_any_work(blend: Path, capsys, arguments: list[str], words: str) -> None:
    before = blend.read_bytes()
    code, _, err = run("bake", str(blend), "--object", "Body", *arguments, capsys=capsys)
    assert code == 1 and words in err and "Traceback" not in err and err.count("\n") == 1
    assert blend.read_bytes() == before and os.listdir(blend.parent) == ["shot.blend"]


def test_a_missing_file_is_named(tmp_path: Path, capsys) -> None:
    for name in ("bake", "check"):
        code, _, err = run(name, str(tmp_path / "no.blend"), "--object", "Body", capsys=capsys)
        assert code == 1 and "no.blend does not exist" in err


def test_a_blender_that_cannot_be_started_is_named(blend: Path, capsys) -> None:
    code, _, err = run("bake", str(blend), "--object", "B", "--blender", "/no/blender", capsys=capsys)
    assert code == 1 and "/no/blender cannot be started" in err


def test_a_python_without_bpy_says_what_to_do(blend: Path, capsys, monkeypatch) -> None:
    for name in [name for name in sys.modules if name.startswith("sinew.scene")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "bpy", None)
    code, _, err = run("bake", str(blend), "--object", "B", capsys=capsys)
    assert code == 1 and "--blender PATH" in err


def fake_blender(folder: Path, body: str) -> str:
    path = folder / "blender"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(("body", "code"), [("exit 1", 1), ("exit 9", 9), ("kill -9 $$", 1)])
def test_the_exit_code_of_a_blender_is_handed_on(blend: Path, capsys, body: str, code: int) -> None:
    blender = fake_blender(blend.parent, body)
    assert run("bake", str(blend), "--object", "B", "--blender", blender, capsys=capsys)[0] == code


def test_a_program_that_is_no_blender_is_no_success(blend: Path, capsys) -> None:
    blender = fake_blender(blend.parent, "exit 0")
    code, _, err = run("bake", str(blend), "--object", "B", "--blender", blender, capsys=capsys)
    assert code == 1 and "did not run Sinew" in err


def test_all_arguments_reach_the_blender(blend: Path, capsys) -> None:
    told = blend.parent / "told"
    blender = fake_blender(blend.parent, f'printf "%s\\n" "$@" > {told}')
    options = ["--object", "My Body", "--set", "jiggle=2", "--set", "follow_group=a b", "--preset", "heavy"]
    run("bake", str(blend), *options, "--enable-scripts", "--blender", blender, capsys=capsys)
    arguments = told.read_text().splitlines()
    inner = arguments[arguments.index("--") + 1 :]
    assert inner[:2] == ["bake", str(blend)] and "--blender" not in " ".join(inner)
    wanted = {"--object=My Body", "--set=jiggle=2", "--set=follow_group=a b", "--preset=heavy", "--enable-scripts"}
    assert set(inner[2:]) == wanted
    assert "--python-exit-code" in arguments and "--factory-startup" in arguments
    edits = ["--handle=3,4,0,0,1", "--handle=5,6-9,0,0,-1.5", "--range=2-20", "--wiggle=0.5", "--spread=2.0", "--free"]
    edits += ["--keep-contacts=slide", "--floor=-0.25", "--clear", "--out=a b.blend", "--report=r.json"]
    run("edit", str(blend), "--object=B", *edits, "--blender", blender, capsys=capsys)
    inner = told.read_text().splitlines()
    assert sorted(inner[inner.index("--") + 3 :]) == sorted(["--object=B", *edits])
