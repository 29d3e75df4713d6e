"""Help is quick: what a command works with is imported when it works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from inspect import getdoc
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import app
from simulator.play import run

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import sys
from simulator.cli import main
sys.argv = ["proact", *sys.argv[1:]]
try:
    main()
except SystemExit as left:
    assert left.code in (0, None), left.code
heavy = {"numpy", "aiohttp", "PIL", "pydantic", "yaml", "mss", "structlog", "anyio"}
sys.stderr.write(" ".join(sorted(heavy & {name.split(".")[0] for name in sys.modules})))
"""


@pytest.mark.e2e
@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "--version",
        "run --help",
        "dataset --help",
        "dataset import --help",
        "list --help",
        "compare --help",
        "score --help",
        "explain --help",
        "dataset split --help",
        "dataset describe --help",
        "dataset answers --help",
        "doctor --help",
        "doctor agent --help",
    ],
)
def test_help_loads_nothing_heavy(words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "proact" in done.stdout


@pytest.mark.e2e
def test_what_a_terminal_cannot_show_fails_no_command(tmp_path: Path) -> None:
    run(ROOT / "scenarios" / "desktop", "prior", "rag", out=tmp_path / "run", clock="modelled", latency="fixed:1s")
    command = [sys.executable, "-m", "simulator.cli", "explain", str(tmp_path / "run")]
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"asked: ?" in done.stdout
    done = subprocess.run([*command, "--json"], cwd=ROOT, env=env, capture_output=True, check=False)
    assert "asked: “" in "".join(json.loads(line).get("text", "") for line in done.stdout.decode().splitlines())


def test_a_bug_of_ours_is_shown_whole_and_exits_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from simulator import cli

    def broken(words: list[str]) -> int:
        raise KeyError("a bug")

    monkeypatch.setattr(cli, "_call", broken)
    left: list[int] = []
    monkeypatch.setattr("os._exit", left.append)
    monkeypatch.setattr("sys.argv", ["proact"])
    cli.main()
    assert left == [1]
    said = capsys.readouterr()
    assert "KeyError: 'a bug'" in said.err
    assert said.err.endswith("proact: this is a fault of proact's own; the lines above say where\n")
    assert said.out == ""


def test_ctrl_c_while_a_command_is_imported_ends_it_without_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from simulator import cli

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("simulator.cli.guard.check", interrupted)
    left: list[int] = []
    monkeypatch.setattr("os._exit", left.append)
    monkeypatch.setattr("sys.argv", ["proact", "--version"])
    cli.main()
    monkeypatch.setattr(cli, "_call", lambda words: interrupted())
    cli.main()
    assert left == [130, 130]
    assert capsys.readouterr().err == ""


def commands(tree: Any, *path: str) -> Iterator[tuple[str, ...]]:
    for name in tree:
        if not name.startswith("-"):
            yield (*path, name)
            yield from commands(tree[name], *path, name)


def at(tree: Any, words: Sequence[str]) -> Any:
    for word in words:
        tree = tree[word]
    return tree


EVERY = list(commands(app()))


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_a_command_tells_all_of_its_docstring_and_lists_show_the_first_sentence_of_that(words: Sequence[str]) -> None:
    short, whole = at(app(), words), at(app(words), words)
    if whole.default_command is not None:
        assert whole.help.split() == (getdoc(whole.default_command) or "").split()
        assert whole.help.split("\n\n")[0] == short.help.split("\n\n")[0]


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_every_argument_and_option_is_explained(words: Sequence[str]) -> None:
    command = at(app(), words)
    if command.default_command is not None:
        for one in command.assemble_argument_collection():
            assert one.parameter.help or not one.show, one.name
