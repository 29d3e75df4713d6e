"""What the README tells people to type is what the gate runs and what the command takes."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from pathlib import Path

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
    assert main[0] == tests[0]
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
