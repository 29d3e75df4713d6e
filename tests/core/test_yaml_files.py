"""YAML of others: what it may multiply to, and what it may not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.core.errors import InputError
from simulator.core.yaml_files import read_yaml

BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))
MERGES = "a0: &a0 {k: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 40))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, r"line \d+: its aliases multiply to over 1,000,000 values"),
        (MERGES, r"line \d+: its aliases multiply to over 1,000,000 values"),
        ("a: &a [1, *a]\n", "line 1: an alias stands within what it stands for"),
        ("a: &a {b: *a}\n", "line 1: an alias stands within what it stands for"),
    ],
)
def test_aliases_that_multiply_or_hold_themselves_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_yaml(tmp_path / "x.yaml")


def test_aliases_and_merge_keys_that_people_use_work(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("a: &a {k: 1}\nb: {<<: *a, l: 2}\nc: [*a, *a]\n", encoding="utf-8")
    assert read_yaml(tmp_path / "x.yaml") == {"a": {"k": 1}, "b": {"k": 1, "l": 2}, "c": [{"k": 1}, {"k": 1}]}
