"""What the page of a study is told, from a summary."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.core.errors import InputError, UsageError
from simulator.figures.summary import Summary
from simulator.report.study import View
from simulator.report.summary_file import read_summary
from simulator.web.ablation_data import ablation


def a_summary(hostile: str = "rag") -> dict[str, Any]:
    """Two agents, two memories, two windows; the baseline is memory none."""
    agents, memories, windows = ["prior", "always"], ["none", hostile], ["10s", "5min"]

    def cell(n: int, agent: str, memory: str, window: str) -> dict[str, Any]:
        value = 0.1 * n if n != 7 else None
        gain = None if memory == "none" else {"value": 0.1, "low": -0.1 if agent == "prior" else 0.05, "high": 0.3}
        ends = (None, None) if value is None else (value - 0.05, value + 0.05)
        figure = {
            "value": value, "low": ends[0], "high": ends[1], "n": 6, "n_events": 20, "rank": 1, "best": n == 6,
            "reason": None if value is not None else "no needs", "like_best": n > 4, "p_best": 0.5, "gain": gain,
        }  # fmt: skip
        values = {"agent": agent, "memory": memory, "window": window}
        return {
            "id": f"c{n}", "name": "_".join(values.values()), "values": values, "group": 0, "runs": [], "seeds": [0],
            "n_sessions": 6, "n_users": 3, "units": {"done": 5, "erred": 1, "missing": 0}, "counts": {},
            "latency_source": "modelled", "marked": False,
            "metrics": {"F1_rt": figure, "unwanted_per_hour": {**figure, "value": float(n)}},
            "latency_ms": {"p50": 10.0, "p95": 100.0 * n}, "tokens": None, "cost": None, "deadline": None,
        }  # fmt: skip

    order = [(a, m, w) for a in agents for m in memories for w in windows]
    effect = {"axis": "memory", "value": hostile, "against": "none", "gain": 0.2, "low": 0.1, "high": 0.3, "p": 0.01,
              "adjusted": 0.02, "n": 6, "n_cells": 4, "first": 0.1, "second": 0.3, "reason": None}  # fmt: skip
    return {
        "schema": 1,
        "study": {"name": "memories", "identity": "x", "preset": None},
        "axes": [{"name": name, "values": values, "varies": True}
                 for name, values in (("agent", agents), ("memory", memories), ("window", windows))],
        "baseline": {"memory": "none"},
        "metrics": [{"name": "F1_rt", "unit": "0-1", "direction": "up", "title": "F1_rt"},
                    {"name": "unwanted_per_hour", "unit": "1/h", "direction": "down", "title": "unwanted"}],
        "caveats": ["latencies are modelled, not measured"],
        "cells": [cell(n, *values) for n, values in enumerate(order)],
        "effects": [{**effect, "metric": m} for m in ("F1_rt", "unwanted_per_hour")],
        "published": [],
    }  # fmt: skip


def _classes(told: list[Any]) -> list[str]:
    return [e[1].get("class", "") for e in told[4]]


def _words(told: list[Any]) -> list[str]:
    return [e[2] for e in told[4] if e[2] is not None]


def test_what_is_studied_goes_across_and_the_rest_stands_at_the_first_value() -> None:
    found = ablation("s", Summary(a_summary()), View())
    assert found["view"] == {"metric": "F1_rt", "rows": "agent", "columns": "memory", "fixed": {"window": "10s"}}
    assert [w for w in _words(found["map"]) if w in ("none", "rag", "prior", "always")] == [
        "none",
        "rag",
        "prior",
        "always",
    ]
    json.dumps(found, allow_nan=False)


def test_cells_show_the_figure_at_the_chosen_values() -> None:
    words = _words(ablation("s", Summary(a_summary()), View(fixed={"window": "10s"}))["map"])
    assert [w for w in words if w in ("0", "0.2 †", "0.2", "0.4", "0.6 ★")] == ["0", "0.2", "0.4", "0.6 ★"]
    words = _words(ablation("s", Summary(a_summary()), View(fixed={"window": "5min"}))["map"])
    assert "no needs" in words  # unknown is no zero


def test_a_cell_is_hatched_where_the_interval_of_its_difference_to_the_baseline_holds_zero() -> None:
    found = ablation("s", Summary(a_summary()), View())
    (hatch,) = [e[1] for e in found["map"][4] if e[1].get("class", "").startswith("hatch")]
    (row,) = [e[1]["y"] for e in found["map"][4] if e[2] == "prior"]
    assert abs(float(hatch["d"].split("l")[0].split(" ")[1]) - float(row)) < 23  # prior with it, not always with it
    assert found["hatched"]


def test_cells_that_nobody_could_test_are_said_not_to_be_tested() -> None:
    summary = a_summary()
    assert ablation("s", Summary(summary), View())["marks"] == "★ best, † not significantly worse"
    figures = [cell["metrics"]["F1_rt"] for cell in summary["cells"]]
    why = {"like_best": None, "no_test": "2 sessions: a test needs 6"}
    figures[1] |= why
    some = "★ best, † not significantly worse; of the others 1 not tested (2 sessions: a test needs 6)"
    assert ablation("s", Summary(summary), View())["marks"] == some
    for figure in figures:
        if not figure["best"]:
            figure |= why
    said = "★ best; the others were not tested against it (2 sessions: a test needs 6)"
    assert ablation("s", Summary(summary), View())["marks"] == said
    for figure in figures:
        figure["best"] = False
    assert ablation("s", Summary(summary), View())["marks"].startswith("nothing is marked as best")


def test_axes_and_figure_can_be_switched() -> None:
    found = ablation("s", Summary(a_summary()), View("unwanted_per_hour", "window", "agent"))
    assert found["view"]["fixed"] == {"memory": "none"}
    shades = [c for c in _classes(found["map"]) if c.startswith("heat h")]
    assert shades[0] == "heat h8"  # the least unwanted is the darkest


def test_curves_run_along_lengths_of_time_one_picture_a_row() -> None:
    curves = ablation("s", Summary(a_summary()), View())["curves"]
    assert [c["caption"] for c in curves] == ["F1_rt along window, agent prior", "F1_rt along window, agent always"]


def test_latency_stands_beside_and_unknown_cost_has_no_map() -> None:
    assert [b["title"] for b in ablation("s", Summary(a_summary()), View())["beside"]] == ["latency p95 (ms)"]


def test_effects_are_those_of_the_figure() -> None:
    found = ablation("s", Summary(a_summary()), View())
    assert [(e["axis"], e["value"], e["gain"]) for e in found["effects"]] == [("memory", "rag", 0.2)]


@pytest.mark.parametrize("view", [View(metric="F2"), View(rows="agnet"), View(fixed={"window": "7s"})])
def test_what_the_study_does_not_have_is_refused(view: View) -> None:
    with pytest.raises(UsageError, match="this study has no"):
        ablation("s", Summary(a_summary()), view)


@pytest.mark.parametrize("content", [None, "{", "[]", '{"schema": 2}'])
def test_a_study_that_is_not_summed_up_says_so(tmp_path: Any, content: str | None) -> None:
    (tmp_path / "sweep.json").write_text("{}", encoding="utf-8")
    if content is not None:
        (tmp_path / "summary.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="summary"):
        read_summary(tmp_path)
