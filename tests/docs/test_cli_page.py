"""docs/cli.md names every command and option, and its help is the one that the commands print."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_regenerate", DOCS / "regenerate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()
PAGE = (DOCS / "cli.md").read_text(encoding="utf-8")
COMMANDS: list[str] = TOOL.commands()


def test_the_help_on_the_page_is_up_to_date() -> None:
    assert TOOL.filled(PAGE) == PAGE, "run `make docs`"


def test_the_check_can_fail() -> None:
    assert TOOL.filled(PAGE.replace("--memory-mode STR", "--memory-mode INT")) == PAGE


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_section_with_every_option(command: str) -> None:
    assert f"<!-- help: {command} -->" in PAGE or (not command and "<!-- help: -->" in PAGE)
    if command:
        assert re.search(rf"^#+ proact {re.escape(command)}$", PAGE, re.MULTILINE)
    for option in re.findall(r"--[a-z][a-z-]+", TOOL.help_of(command)):
        assert option in PAGE


def test_the_page_knows_the_commands_that_there_are() -> None:
    assert {"", "run", "score", "list", "doctor", "dataset", "dataset import", "dataset check"} <= set(COMMANDS)


def test_every_exit_code_is_explained() -> None:
    from simulator.core.errors import Exit

    told = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    assert told == {int(code) for code in Exit}


def test_a_command_says_the_same_in_a_list_and_in_its_own_help() -> None:
    """The sentence in the list stands where the command is registered; the other is its docstring's first."""
    from simulator.cli import app

    differ = {}
    for words in (command.split() for command in COMMANDS if command):
        named = app()
        for word in words:
            named = named[word]
        said = named.help
        loaded = (inspect.getdoc(named.default_command) or said) if named.default_command is not None else said
        if said.split("\n\n")[0] != loaded.split("\n\n")[0].replace("\n", " "):
            differ[" ".join(words)] = (said, loaded)
    assert not differ


def test_help_of_every_command_fits_80_columns() -> None:
    assert all(len(line) <= 80 for command in COMMANDS for line in TOOL.help_of(command).splitlines())
