"""What the README tells people to type is what the gate runs and what the command takes."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest

from simulator.cli.options import Options

ROOT = Path(__file__).resolve().parents[2]


def _commands() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return [block.strip() for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]


def test_the_readme_has_exactly_two_commands_of_one_line() -> None:
    assert len(_commands()) == 2
    assert not any("\n" in command for command in _commands())


def test_both_commands_set_up_alike() -> None:
    main, tests = (command.rsplit(" && ", 1) for command in _commands())
    assert main[0] == tests[0].replace("-e '.[test]'", "-e .")
    assert main[0] != tests[0], "playing needs no tests, and is set up sooner without"
    assert "-c requirements.lock" in main[0]


def test_the_gate_runs_the_test_command_of_the_readme_word_for_word() -> None:
    gate = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert _commands()[1] in [line.strip() for line in gate]


def test_the_gate_stops_at_the_first_failure() -> None:
    assert "set -euo pipefail" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_what_the_main_command_plays_is_there() -> None:
    words = shlex.split(_commands()[0].rsplit(" && ", 1)[1])
    assert words[:2] == [".venv/bin/proact", "run"]
    assert (ROOT / words[2]).is_dir()


def test_the_command_knows_the_options_of_the_main_command() -> None:
    options = {w for w in shlex.split(_commands()[0].rsplit(" && ", 1)[1]) if w.startswith("--")}
    missing = options - {f"--{f.name.replace('_', '-')}" for f in fields(Options)}
    assert not missing


def test_the_table_is_what_the_main_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Latencies apart: they belong to the machine that played it, so here an instant one is charged."""
    from simulator.cli import _call

    words = shlex.split(_commands()[0].rsplit(" && ", 1)[1])[1:]
    monkeypatch.setenv("COLUMNS", "80")
    words[1] = str(ROOT / words[1])
    assert _call([*words, "--clock", "modelled", "--latency", "profile:instant", "--out", str(tmp_path / "run")]) == 0
    printed = capsys.readouterr().out
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"## What you get\n.*?^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert shown is not None

    def figures(table: str) -> list[str]:
        lines = [line.rstrip() for line in table.splitlines()]
        timed = ("clock ", "scheduled_latency", "latency:", "run folder", "age_of_information", "proact:")
        return [line for line in lines if line and not line.startswith(timed)]

    assert figures(shown[1]) == figures(printed)
