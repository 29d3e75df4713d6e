"""The page of results cannot lie: its tables and figures are made of the summaries that are kept, its text says no
number that stands in no table, and a part of the studies, played anew, comes out as kept.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.results import FIGURES, KEPT, PAGE, ROOT, STUDIES, command, drawn, filled, kept, kept_summaries, table
from bench.studies.worth import NEVER, Seen, best_rule
from simulator.core.types import SECOND
from simulator.sweep.study import load
from simulator.sweep.sweeping import Asked, prepared, sweep

TEXT = PAGE.read_text(encoding="utf-8")
KEPT_OF = kept_summaries()
BARE = re.sub(r"<!-- table: .*?<!-- end -->", "", TEXT, flags=re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])[+-]?\d+\.\d+(?![\w.])")


def test_each_table_is_made_of_the_summary_that_is_kept() -> None:
    assert filled(TEXT, KEPT_OF) == TEXT
    assert {study for study in STUDIES if f"<!-- table: {study} " in TEXT} == set(STUDIES)


def test_a_changed_number_would_be_seen() -> None:
    number = NUMBER.search(TEXT, TEXT.index("<!-- table: "))
    assert number is not None
    assert filled(TEXT.replace(number[0], "9.999"), KEPT_OF) != TEXT.replace(number[0], "9.999")


def test_the_text_says_no_figure_that_stands_in_no_table() -> None:
    told = {number.lstrip("+-") for mark in re.findall(r"<!-- table: .*?<!-- end -->", TEXT, re.DOTALL)
            for number in NUMBER.findall(mark)}  # fmt: skip
    said = [number.lstrip("+-") for number in NUMBER.findall(BARE.split("## What one may not conclude")[0])]
    assert len(said) > 10
    assert [number for number in said if number not in told] == []


def test_the_page_shows_the_commands_that_make_it() -> None:
    shown = [shlex.split(line)[1:] for line in re.findall(r"^proact sweep .*", TEXT, re.MULTILINE)]
    assert shown == [command(study, "runs/results") for study in STUDIES]


@pytest.mark.parametrize("study", STUDIES)
def test_what_is_kept_is_of_the_study_as_it_stands(study: str) -> None:
    made = prepared(ROOT / f"bench/studies/{study}.yaml", Asked())
    told = KEPT_OF[study]
    assert [cell["values"] for cell in told["cells"]] == [dict(cell.values) for cell in made.grid.cells]
    assert [metric["name"] for metric in told["metrics"]] == load(made.where).metrics
    assert not any(cell["units"]["erred"] or cell["units"]["missing"] for cell in told["cells"])


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="the extra figures is not installed")
@pytest.mark.parametrize("study", FIGURES)
def test_each_figure_is_drawn_of_what_is_kept(study: str) -> None:
    assert drawn(study, KEPT_OF[study]) == (KEPT / f"{study}.svg").read_bytes()
    assert f"results/{study}.svg" in TEXT


@pytest.mark.parametrize(
    ("study", "part"),
    [
        ("memories-moments", {"data": ["bundled"], "memory": ["class-prior", "rag"]}),
        ("policies", {"memory": ["rag"], "latency": ["profile:5s"], "policy": ["latest_only", "queue_all"]}),
    ],
)
def test_a_part_that_is_played_anew_comes_out_as_kept(study: str, part: Mapping[str, Any], tmp_path: Path) -> None:
    asked = Asked(out=tmp_path / "out", set_=part)
    sweep(ROOT / f"bench/studies/{study}.yaml", asked, engine="inline")
    again = kept(json.loads((tmp_path / "out" / "summary.json").read_bytes()))["cells"]
    before = [c for c in KEPT_OF[study]["cells"] if all(c["values"][a] in values for a, values in part.items())]
    assert len(again) == 2
    assert [json.dumps(_alone(cell)) for cell in again] == [json.dumps(_alone(cell)) for cell in before]


def _alone(cell: Mapping[str, Any]) -> dict[str, Any]:
    """A cell without what rests on the others that there are: the best of them, p by Holm."""
    figures = {
        name: figure | {"best": None, "gain": {k: v for k, v in figure.get("gain", {}).items() if k != "adjusted"}}
        for name, figure in cell["metrics"].items()
    }
    return {**cell, "metrics": figures}


def test_a_table_marks_what_was_shown_and_leaves_unknown_open() -> None:
    def cell(data: str, memory: str, value: float | None, gain: Mapping[str, Any] | None = None) -> dict[str, Any]:
        figure = {"value": value, "low": None, "high": None} | ({"gain": gain} if gain else {})
        return {"values": {"data": data, "memory": memory}, "n_sessions": 9, "metrics": {"F1": figure}}

    shown = {"value": 0.25, "low": 0.125, "high": 0.5, "p": 0.01, "adjusted": 0.05, "detectable": 0.1}
    summary = {
        "axes": [{"name": "data", "values": ["a", "b"], "varies": True},
                 {"name": "memory", "values": ["none", "rag"], "varies": True}],
        "baseline": {"memory": "none"},
        "cells": [cell("a", "none", 0.5), cell("a", "rag", 0.75, shown), cell("b", "none", None),
                  cell("b", "rag", -0.0001, shown | {"value": -0.25, "adjusted": 0.051})],
    }  # fmt: skip
    assert list(table(summary, "by_data", ["F1"])) == [
        "| memory | a, n 9 | gain on none | b, n 9 | gain on none |",
        "|---|---:|---:|---:|---:|",
        "| none | 0.500 | - | - | - |",
        "| rag | 0.750 | **+0.250 [0.125, 0.500]** | 0.000 | -0.250 [0.125, 0.500] |",
        "| *would show* |  | from 0.100 |  | from 0.100 |",
    ]


def test_the_trial_speaks_where_and_when_it_was_worth_it_and_is_silent_where_it_never_was() -> None:
    lead = 60 * SECOND
    late = [Seen(0.8, right=True, help=True, lasted_ns=200 * SECOND)] * 5  # the need opens after 140 s
    brief = [Seen(0.8, right=False, help=False, lasted_ns=20 * SECOND)] * 50
    vain = [Seen(0.3, right=False, help=False, lasted_ns=300 * SECOND)] * 50
    assert best_rule([*late, *brief, *vain], lead, price=0.25, late=0.5) == (0.8, 140 * SECOND)
    assert best_rule([*brief, *vain], lead, price=0.25, late=0.5)[0] == NEVER
    wrong = [Seen(0.8, right=False, help=True, lasted_ns=30 * SECOND)] * 5
    assert best_rule(wrong, lead, price=0.25, late=0.5)[0] == NEVER
    assert best_rule([], lead, price=0.25, late=0.5)[0] == NEVER
