"""Variables stand in for options: exactly that one, and the command line wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.cli import app
from simulator.cli.options import Options


def _read(*words: str) -> Options:
    _, bound, _ = app().parse_args(["run", "somewhere", *words], exit_on_error=False, print_error=False)
    options = bound.arguments.get("options")
    return options if isinstance(options, Options) else Options()


@pytest.mark.parametrize(
    ("name", "value", "option", "read"),
    [
        ("PROACT_AGENT", "silent", "agent", "silent"),
        ("PROACT_MEMORY", "rag,graph", "memory", "rag,graph"),
        ("PROACT_MEMORY_MODE", "frozen", "memory_mode", "frozen"),
        ("PROACT_SEED", "7", "seed", 7),
        ("PROACT_JSON", "1", "json", True),
        ("PROACT_TWIN", "false", "twin", False),
        ("PROACT_OUT", "a folder/b", "out", Path("a folder/b")),
        ("PROACT_SEED", "", "seed", None),
    ],
)
def test_each_option_has_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, option: str, read: Any
) -> None:
    monkeypatch.setenv(name, value)
    found = _read()
    assert getattr(found, option) == read
    others = {k: v for k, v in vars(found).items() if k != option}
    assert others == {k: v for k, v in vars(Options()).items() if k != option}


def test_the_command_line_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROACT_AGENT", "silent")
    assert _read("--agent", "always").agent == "always"


def test_arguments_that_are_no_options_are_not_read_from_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROACT_SCENARIOS", "elsewhere")
    _, bound, _ = app().parse_args(["run", "somewhere"], exit_on_error=False, print_error=False)
    assert bound.args[0] == [Path("somewhere")]


def test_a_misspelt_variable_is_pointed_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROACT_MEMORYMODE", "frozen")
    monkeypatch.setenv("PROACT_SOMETHING_ELSE", "1")
    _read()
    said = "proact: PROACT_MEMORYMODE is not read by this command; did you mean PROACT_MEMORY_MODE?\n"
    assert capsys.readouterr().err == said


def test_a_value_that_does_not_fit_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from simulator.cli import _call

    monkeypatch.setenv("PROACT_SEED", "many")
    assert _call(["run", "somewhere"]) == 2
    assert "PROACT_SEED" in capsys.readouterr().err
