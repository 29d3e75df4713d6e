"""Summaries of sweeps whose figures are counted by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.core.errors import InputError, UsageError
from simulator.play.comparing import compare
from simulator.sweep import sharing
from simulator.sweep.ranking import _ranks
from simulator.sweep.summary import summarise
from tests.sweep.handmade import Made, S, sessions, varied

FILES = ("summary.json", "summary.csv", "summary.md", "summary.tex", "effects.csv")


def by_name(folder: Path, **how: Any) -> dict[str, Any]:
    return {cell["name"]: cell for cell in summarise(folder, **how).summary["cells"]}


def test_figures_ranks_and_errors_are_those_counted_by_hand(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none", "rag", "graph"]})
    made.cell({"memory": "none"}, sessions(8, hits=0))
    made.cell({"memory": "rag"}, sessions(8, hits=2, vain=2, errors=1, tokens=10))
    made.cell({"memory": "graph"}, sessions(8, hits=4))
    summary = summarise(made.write(metrics=["F1_rt", "P_rt", "unwanted_per_hour"])).summary
    none, rag, graph = summary["cells"]
    f1 = [cell["metrics"]["F1_rt"] for cell in (none, rag, graph)]
    assert [f["value"] for f in f1] == [0, 2 * 2 / (4 + 4), 1]
    assert [(f["rank"], f["best"]) for f in f1] == [(3, False), (2, False), (1, True)]
    assert [f["like_best"] for f in f1] == [False, False, True]
    assert f1[0]["p_best"] == pytest.approx(2 * 2 / 2**8)  # two of 256 ways to swap are as great; Holm doubles it
    assert (f1[1]["n"], f1[1]["n_events"]) == (8, 32)
    p = none["metrics"]["P_rt"]
    assert (p["value"], p["reason"], p["rank"], p["like_best"]) == (None, "no surfaced offers", None, None)
    assert rag["metrics"]["unwanted_per_hour"]["value"] == 2 * 3600 / 160
    assert (rag["counts"]["error"], rag["counts"]["decisions"]) == (8, 8 * (2 + 2 + 1 + 8))
    assert rag["units"] == {"done": 8, "erred": 0, "missing": 0}
    assert rag["tokens"] == {"in": 8 * 5 * 10, "out": 8 * 5, "reasoning": 0, "cached": 0, "images": 0}
    assert none["tokens"] is None
    assert none["cost"] is None
    assert none["cost_reason"] == "unknown: no usage was reported"
    assert rag["cost_reason"] == "unknown: tokens were reported, and no unit says what it cost"
    assert "| 8 / 104 |" in (tmp_path / "summary.md").read_text()


def test_an_effect_is_the_mean_gain_over_cells_that_differ_in_one_axis_alone(tmp_path: Path) -> None:
    made = Made(tmp_path, {"agent": ["a", "b"], "memory": ["none", "rag"]})
    hits = {("a", "none"): 1, ("a", "rag"): 2, ("b", "none"): 2, ("b", "rag"): 4}
    for (agent, memory), n in hits.items():
        made.cell({"agent": agent, "memory": memory}, sessions(6, hits=n))
    made.cell({"agent": "a", "memory": "-"}, sessions(6, hits=4))
    summary = summarise(made.write(metrics=["R_rt"], baseline={"memory": "none"})).summary
    effects = {(e["axis"], e["value"]): e for e in summary["effects"]}
    assert set(effects) == {("agent", "b"), ("memory", "rag")}
    rag, b = effects["memory", "rag"], effects["agent", "b"]
    assert (rag["first"], rag["second"], rag["gain"], rag["n_cells"], rag["n"]) == (0.375, 0.75, 0.375, 2, 6)
    assert (b["gain"], b["n_cells"], b["against"]) == (0.375, 2, "a")
    assert rag["p"] == pytest.approx(2 / 2**6)
    assert rag["low"] is None  # sessions alike: how others would differ cannot be told
    assert rag["no_interval"].startswith("no resample")


def test_a_talkative_agent_weighs_no_more_than_a_quiet_one(tmp_path: Path) -> None:
    """Precision of pooled offers would be that of the talkative one; the mean gain is not."""
    made = Made(tmp_path, {"agent": ["quiet", "loud"], "memory": ["none", "rag"]})
    made.cell({"agent": "quiet", "memory": "none"}, sessions(6, hits=1, vain=1))
    made.cell({"agent": "quiet", "memory": "rag"}, sessions(6, hits=2, vain=0))
    made.cell({"agent": "loud", "memory": "none"}, sessions(6, hits=4, vain=4))
    made.cell({"agent": "loud", "memory": "rag"}, sessions(6, hits=4, vain=4))
    (effect,) = [e for e in summarise(made.write(metrics=["P_rt"])).summary["effects"] if e["axis"] == "memory"]
    assert effect["gain"] == 0.25


def test_effects_and_tests_are_those_of_compare_where_two_runs_stand_alone(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none", "rag"]})
    base = sessions(9)
    made.cell({"memory": "none"}, varied(base, hits=[0, 1, 2, 1, 0, 1, 2, 3, 1], vain=[1, 0, 2, 1, 0, 0, 1, 1, 2]))
    made.cell({"memory": "rag"}, varied(base, hits=[1, 2, 2, 2, 1, 0, 4, 3, 2], vain=[0, 0, 2, 1, 1, 0, 0, 1, 1]))
    metrics = ["F1_rt", "timely_utility", "scheduled_latency@p95", "delay_s"]
    summary = summarise(made.write(metrics=metrics)).summary
    folder = tmp_path / "runs"
    (found,) = compare([folder / "none-s0", folder / "rag-s0"], metrics)
    for row, effect in zip(found.rows, summary["effects"], strict=True):
        assert row.found is not None
        assert (effect["metric"], effect["p"]) == (row.metric, row.found.p)
        assert effect["gain"] == pytest.approx(row.found.difference, rel=0.01)
    assert [c["metrics"]["F1_rt"]["p_best"] for c in summary["cells"]] == [found.rows[0].found.p, None]  # type: ignore[union-attr]


def test_seeds_are_pooled_and_a_session_with_all_its_seeds_is_one(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none", "rag"]})
    made.cell({"memory": "none"}, sessions(6, hits=1), sessions(6, hits=3))
    made.cell({"memory": "rag"}, sessions(6, hits=4), sessions(6, hits=4))
    none = by_name(made.write(metrics=["R_rt", "keeps_up"]))["none"]
    assert none["metrics"]["R_rt"]["value"] == 0.5
    assert (none["n_sessions"], none["seeds"], none["units"]["done"]) == (6, [0, 1], 12)
    assert none["metrics"]["R_rt"]["p_best"] == 2 / 2**6
    assert none["metrics"]["keeps_up"]["value"] is None
    assert none["metrics"]["keeps_up"]["reason"] == "a verdict: see its runs"


def test_the_curve_of_deadlines_counts_only_what_came_in_time(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none"]})
    slow, quick = S(hits=4, delay=6), S(hits=4, delay=1)
    made.cell({"memory": "none"}, {"s0": slow, "s1": quick}, {"s0": slow, "s1": slow})
    curve = by_name(made.write())["none"]["deadline"]
    at = dict(zip(curve["tau_s"], curve["F1_rt"], strict=True))
    assert (at[0.5], at[1.0], at[5.0], at[7.5], at[60.0]) == (0, 2 * 4 / 32, 2 * 4 / 32, 1, 1)


def test_cells_of_other_data_or_latencies_are_ranked_apart_and_it_is_said(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none", "rag", "timed", "other", "beside"]})
    made.cell({"memory": "none"}, sessions(6, hits=1))
    made.cell({"memory": "rag"}, sessions(6, hits=2))
    made.cell({"memory": "timed"}, sessions(6, hits=4), latency_source="measured")
    made.cell({"memory": "other"}, sessions(6, hits=3, data="e"))
    made.cell({"memory": "beside"}, sessions(6, hits=3), latency_source="measured", marked=True)
    summary = summarise(made.write(metrics=["F1_rt"])).summary
    cells = {cell["name"]: cell for cell in summary["cells"]}
    assert [cells[n]["group"] for n in ("none", "rag", "timed", "other", "beside")] == [0, 0, 1, 2, 3]
    assert [cells[n]["metrics"]["F1_rt"]["rank"] for n in ("none", "rag", "timed", "other", "beside")] == [
        2,
        1,
        1,
        1,
        1,
    ]
    said = " ".join(summary["caveats"])
    assert "4 groups are ranked apart" in said
    assert "beside other units" in said
    reasons = {e["value"]: e["reason"] for e in summary["effects"]}
    assert reasons["rag"] is None
    assert reasons["timed"].startswith("figures of these cells must not be compared")


def test_missing_and_erred_units_are_counted_and_tests_use_what_both_have(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none", "rag", "late"]})
    whole = sessions(8, hits=1)
    part = {key: S(hits=3) for key in list(whole)[:6]}
    made.cell({"memory": "none"}, whole)
    made.cell({"memory": "rag"}, part, keys=list(whole))
    made.cell({"memory": "late"}, None, whole)
    summary = summarise(made.write(metrics=["F1_rt"])).summary
    cells = {cell["name"]: cell for cell in summary["cells"]}
    assert cells["rag"]["units"] == {"done": 6, "erred": 2, "missing": 0}
    assert cells["late"]["units"] == {"done": 8, "erred": 0, "missing": 8}
    assert [cell["metrics"]["F1_rt"]["rank"] for cell in cells.values()] == [None] * 3
    assert cells["late"]["metrics"]["F1_rt"]["no_test"] == "8 of 16 units: it has no rank beside cells of more"
    assert "of 32 units 2 erred and 8 are missing" in summary["caveats"][0]
    assert {(e["n"], e["p"]) for e in summary["effects"] if e["value"] == "rag"} == {(6, 2 / 2**6)}


def test_a_cell_without_a_run_has_no_figure_and_says_why(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none", "rag"]})
    made.cell({"memory": "none"}, sessions(3))
    made.cell({"memory": "rag"}, None, keys=["s0"])
    found = by_name(made.write(metrics=["F1_rt"]))["rag"]
    assert found["metrics"]["F1_rt"]["reason"] == "no unit was played and scored yet"
    assert found["units"] == {"done": 0, "erred": 0, "missing": 1}
    assert found["latency_ms"] == {"p50": None, "p95": None, "reason": "no unit was played and scored yet"}


def test_fewer_than_six_sessions_give_no_test_and_nobody_is_like_the_best(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none", "rag"]})
    made.cell({"memory": "none"}, sessions(5, hits=1))
    made.cell({"memory": "rag"}, sessions(5, hits=2))
    found = by_name(made.write(metrics=["F1_rt"]))["none"]["metrics"]["F1_rt"]
    assert (found["rank"], found["like_best"], found["p_best"]) == (2, None, None)
    assert found["no_test"] == "5 sessions: a test needs 6"


def test_the_same_runs_give_the_same_bytes_wherever_they_lie(tmp_path: Path) -> None:
    made = Made(tmp_path / "a", {"memory": ["none", "rag"]})
    (tmp_path / "a").mkdir()
    base = sessions(7)
    made.cell({"memory": "none"}, varied(base, hits=[0, 1, 2, 1, 0, 1, 2]), varied(base, hits=[1, 1, 2, 1, 0, 1, 2]))
    made.cell({"memory": "rag"}, varied(base, hits=[1, 1, 2, 2, 3, 1, 2]), varied(base, hits=[1, 1, 2, 1, 3, 1, 4]))
    first = made.write()
    summarise(first)
    second = tmp_path / "b"
    for run in sorted((first / "runs").iterdir(), reverse=True):
        shutil.copytree(run, second / "runs" / run.name)
    shutil.copy(first / "sweep.json", second)
    plan = json.loads((second / "sweep.json").read_text())
    for cell in plan["cells"]:
        cell["runs"].reverse()
        for run in cell["runs"]:
            run["keys"].reverse()
    (second / "sweep.json").write_text(json.dumps(plan))
    summarise(second)
    for name in FILES:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
        assert str(tmp_path).encode() not in (first / name).read_bytes()


def test_several_processes_read_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Made(tmp_path, {"memory": ["a", "b", "c"]})
    for n, memory in enumerate("abc"):
        made.cell({"memory": memory}, sessions(6, hits=n), sessions(6, hits=n + 1))
    summarise(made.write(fail_if=["r_rt<0.1"]))
    alone = [(tmp_path / name).read_bytes() for name in FILES]
    monkeypatch.setattr(sharing, "LEAST_UNITS", 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    handed: list[list[int]] = []
    found = sharing.Helpers.found

    def told(self: sharing.Helpers) -> dict[int, Any]:
        cells = found(self)
        handed.append(list(cells))
        return cells

    monkeypatch.setattr(sharing.Helpers, "found", told)
    assert [f.cell for f in summarise(tmp_path).failed] == []
    assert [(tmp_path / name).read_bytes() for name in FILES] == alone
    assert handed == [[1]]
    (tmp_path / "runs" / "b-s0" / "scores.json").write_text("{}")
    with pytest.raises(InputError, match="b-s0"):
        summarise(tmp_path)


def test_edited_scores_are_refused(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none"]})
    made.cell({"memory": "none"}, sessions(2))
    made.write()
    file = tmp_path / "runs" / "none-s0" / "scores.json"
    file.write_text(file.read_text().replace('"F1_rt": 0.0', '"F1_rt": 0.9'))
    with pytest.raises(InputError, match="edited by hand"):
        summarise(tmp_path)


def test_unknown_metrics_and_folders_that_are_no_sweep_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sweep\.json: not a sweep's folder"):
        summarise(tmp_path)
    made = Made(tmp_path, {"memory": ["none"]})
    made.cell({"memory": "none"}, sessions(2))
    with pytest.raises(UsageError, match="did you mean 'F1_rt'"):
        summarise(made.write(metrics=["F1rt"]))


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.sampled_from([-1.0, 0.0, 0.1 + 0.2, 0.3, 2.0]), min_size=1))
@settings(max_examples=200)
def test_ranks_count_those_that_are_better_and_equals_share_one(values: dict[str, float]) -> None:
    for sign in (1, -1):
        ranks = _ranks(values, sign)
        assert min(ranks.values()) == 1
        for name, value in values.items():
            better = sum(sign * (other - value) > 1e-6 for other in values.values())
            assert ranks[name] == 1 + better
