"""The study of memories: its page shows the commands that its script runs, and a small one comes to its tables."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from bench.shared_past import OTHERS
from bench.study import FIGURES, OPTION_FIGURES, OPTIONS, SCOPES, Asked, commands, study
from memory.base import memories
from simulator.play.makers import memory_maker

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "memory.md").read_text(encoding="utf-8")


def test_the_page_shows_each_command_of_the_study_in_order() -> None:
    shown = [shlex.split(line)[1:] for line in re.findall(r"^proact (?:dataset|run) .*", PAGE, re.M)]
    asked = Asked(Path("study"))
    run = [words for part in ("made-up", "bundled", "options") for words in commands(asked, part)]
    run = [words for i, words in enumerate(run) if words not in run[:i]]  # users of two parts are made up once
    assert shown == run
    assert len(run) == 3 + 3 * 2 + 1 + 2 * 2 + 3 * 3


def test_every_option_of_the_study_is_one_that_can_be_made_and_stands_in_the_page() -> None:
    for memory, options in OPTIONS.items():
        for spec in (f"{memory}:{option}" for option in options):
            assert memory_maker(spec).text == spec
            assert PAGE.count(f"| {spec} |") == 3 * len(OPTION_FIGURES) + 1


def test_every_memory_of_the_study_is_one_that_can_be_made_and_stands_in_the_page() -> None:
    for spec in Asked(Path()).memories:
        assert memory_maker(spec).text == spec
        assert PAGE.count(f"| {spec} |") >= len(FIGURES)
    ours = {"none", "class-prior", "recency", "random", "shuffled-user", "window", "rag", "graph", "personas", "oracle"}
    assert ours <= set(memories.names())


def test_a_small_study_holds_each_option_against_its_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.study.OPTIONS", {"graph": ("keyword_mean=all",), "recency": ()})
    asked = Asked(tmp_path, OTHERS + 1, 3, 5, varied=("day",), bundled="docs/examples/desk.yaml")
    rows = [line.strip("| ").split(" | ") for line in study(asked, ("options",)) if line.startswith("| graph")]
    names = ["graph", "graph:keyword_mean=all", "graph, `--memory-mode online`"]
    ours = [f"{spec}, told the pasts of {OTHERS} others" for spec in SCOPES]
    figures = len(OPTION_FIGURES)
    assert [row[0] for row in rows] == figures * [*names, *ours] + figures * [*names, *SCOPES]
    here, there, difference = (float(cell.split()[0]) for cell in (rows[0][1], rows[1][1], rows[1][2]))
    assert difference == pytest.approx(there - here, abs=2e-3)
    alone, user, everybody = (row[1] for row in (rows[0], rows[3], rows[4]))
    assert alone == user != everybody, "others' pasts are read where the scope says so, and only there"


def test_a_small_study_comes_to_its_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.study.OPTIONS", {"graph": ("keyword_mean=all",)})
    asked = Asked(tmp_path, 2, 3, 5, ("day",), ("none", "class-prior", "graph"), (50,))
    told = list(study(asked, ("made-up", "costs", "growth")))
    rows = [line.split(" | ") for line in told if line.startswith("| graph | ")]
    assert len(rows) == len(FIGURES) + 2
    accuracy, intention, *_ = (float(row[3].split()[0]) for row in rows[: len(FIGURES)])
    assert accuracy > 0.1, "what the graph learns of strong habits is more than the user's shares"
    assert intention > 0.05
    assert sum(line.startswith("| none | ") for line in told) == len(FIGURES) + 1
    again = [line for line in study(asked, ("made-up",)) if line.startswith("| graph | ")]
    assert again == [" | ".join(row) for row in rows[: len(FIGURES)]]
