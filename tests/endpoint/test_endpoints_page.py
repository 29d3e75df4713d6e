"""``docs/endpoints.md`` says what there is."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from simulator.endpoint.types import ERROR_KINDS, ModelChoice, Reply, Stamps

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "endpoints.md").read_text(encoding="utf-8")


def _table(head: str) -> set[str]:
    """The words in the first column of the table with this head."""
    _, _, rest = PAGE.partition(f"| {head} |")
    rows = rest.split("\n\n", 1)[0].splitlines()[2:]
    return {word for row in rows for word in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_every_kind_of_error_is_explained() -> None:
    assert _table("kind") == set(ERROR_KINDS)


def test_every_choice_is_explained() -> None:
    elsewhere = {"model", "base_url", "key_variable", "cassette", "record"}
    assert _table("of `ModelChoice`") == {field.name for field in fields(ModelChoice)} - elsewhere
    assert all(f"`{name}`" in PAGE or f"{name}_url" in PAGE or f"its {name}" in PAGE for name in elsewhere - {"model"})


@pytest.mark.parametrize("value", [Reply, Stamps])
def test_every_field_of_an_answer_is_named(value: type) -> None:
    told = {"replayed", "chunks_ns", "retries"}  # in words
    missing = {field.name for field in fields(value)} - told - set(re.findall(r"`(\w+)`", PAGE))
    assert not missing


def test_its_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(compile(code, "endpoints.md", "exec"), {"__name__": "page"})
