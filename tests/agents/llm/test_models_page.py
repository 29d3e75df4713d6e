"""docs/models.md says what there is: agents, parameters, options, rules, readers; its code runs."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from agents.base import agents
from agents.llm.ask import Asking
from agents.llm.history import RULE
from agents.llm.zero_shot import ZeroShot
from simulator.cli.options import ModelOptions, Options
from simulator.screen.readers import READERS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "models.md").read_text(encoding="utf-8")


def test_every_agent_that_asks_a_model_is_on_the_page_and_the_other_way_round() -> None:
    made = {name: agents.get(name) for name in agents.names()}
    ask = {name for name, cls in made.items() if isinstance(cls, type) and issubclass(cls, Asking)}
    table = PAGE.split("## What is asked")[1].split("A question has")[0]
    assert ask == set(re.findall(r"^\| `([a-z-]+)(?::k=5)?` \|", table, re.MULTILINE))


def test_every_parameter_and_default_is_on_the_page() -> None:
    table = PAGE.split("| parameter |")[1].split("\n\n")[0]
    for name, param in inspect.signature(ZeroShot).parameters.items():
        if name != "model":
            assert f"`{name}`" in table
            assert str(param.default or "ours") in table


def test_every_option_that_is_shown_exists() -> None:
    names = [name for cls in (Options, ModelOptions) for name in inspect.signature(cls).parameters]
    known = {f"--{name.replace('_', '-')}" for name in names}
    assert set(re.findall(r"--[a-z][a-z-]+", PAGE)) <= known


def test_readers_and_the_rule_of_shortening_are_named() -> None:
    assert RULE in PAGE
    assert all(f"| `{name}`" in PAGE for name in (*READERS, "none"))


@pytest.mark.parametrize("code", re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S))
def test_code_runs(code: str) -> None:
    exec(compile(code, "models.md", "exec"), {})
