"""What score_run accepts, refuses and returns, whatever the scorer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scorers.base import NOT_PLAYED, PROTOCOLS, Metric, Score, Unit, catalogue, score_run, scorers
from simulator.core.errors import UsageError
from simulator.core.types import SILENT, Decision, Observation, Setup
from simulator.play import run
from tests.logs import D, log, need, ns, truth

DESKTOP = Path(__file__).resolve().parents[2] / "scenarios" / "desktop"


def unit(key: str = "s", known: bool = True) -> Unit:
    return Unit(key, log([D(12, 14, ["Debug"])]), truth(3600, [need("A", 10, 30)] if known else [], known=known))


def test_every_metric_is_named_once_and_explained() -> None:
    listed = catalogue()
    assert len({m.name for _, m in listed}) == len(listed) > 100
    for _, metric in listed:
        assert metric.formula
        assert metric.unit
        assert metric.range
        assert metric.direction in ("up", "down", "-")
        assert set(metric.protocols) <= set(PROTOCOLS)


@pytest.mark.parametrize("name", list(scorers))
def test_every_scorer_gives_its_metrics_for_nothing_at_all(name: str) -> None:
    scorer = scorers.make(name)
    found = scorer.figures([])
    assert [s.metric for s in found] == list(scorer.metrics)
    assert all(s.n == 0 for s in found)


def test_a_scorer_that_does_not_fit_the_protocol_is_refused_with_those_that_do() -> None:
    with pytest.raises(
        UsageError, match=r"'pira' does not fit protocol 'stream'; these do: .*nab, .*realtime, serving"
    ):
        score_run([unit()], "stream", names=["pira"])


@pytest.mark.parametrize(
    ("protocol", "names", "said"),
    [
        ("streem", None, "did you mean 'stream'"),
        ("stream", ["realtme"], "did you mean 'realtime'"),
        ("stream", ["realtime:speed=3"], "no parameter 'speed'"),
        ("stream", ["realtime:matcher=near"], "unknown matcher 'near'"),
    ],
)
def test_a_wrong_word_is_refused_with_the_nearest(protocol: str, names: list[str] | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        score_run([unit()], protocol, names=names)


def test_two_units_of_one_key_are_refused() -> None:
    with pytest.raises(UsageError, match="same key"):
        score_run([unit(), unit()], "stream")


def test_without_truth_there_is_latency_only() -> None:
    told = score_run([unit(known=False)], "stream")
    assert told["scores"]["scheduled_latency@mean"] == 2000
    assert "F1_rt" not in told["scores"]
    assert told["counts"]["sessions_without_truth"] == 1


def test_sessions_without_truth_are_left_out_of_what_needs_it() -> None:
    told = score_run([unit("a"), unit("b", known=False)], "stream")
    assert told["scores"]["interruptions_per_hour"] == 1
    assert told["details"]["scheduled_latency@mean"]["n"] == 2


def test_counts_are_pooled_before_dividing() -> None:
    # One session right, one without a need but with three false alarms: P = 1/4, not the mean of 1 and 0.
    quiet = Unit("t", log([D(t, t + 1, ["Debug"]) for t in (100, 300, 500)]), truth(3600))
    told = score_run([unit(), quiet], "stream")
    assert told["scores"]["P_rt"] == 1 / 4
    assert told["units"]["s"]["scores"]["P_rt"] == 1
    assert told["units"]["t"]["scores"]["P_rt"] == 0


def test_the_order_of_sessions_changes_nothing() -> None:
    units = [unit(key) for key in "abc"]
    assert json.dumps(score_run(units, "stream")) == json.dumps(score_run(units[::-1], "stream"))


def _failed_to_open(key: str, known: bool = True) -> Unit:
    return Unit(key, log([], interrupted=True), truth(3600, [need("A", 10, 30)], known=known))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("units", [[], [_failed_to_open("s")], [_failed_to_open("s"), _failed_to_open("t", False)]])
def test_where_no_unit_was_played_no_figure_is_a_number(protocol: str, units: list[Unit]) -> None:
    told = score_run(units, protocol)
    assert told["details"].keys() == told["scores"].keys() > {"scheduled_latency@p95"}
    assert {d["reason"] for d in told["details"].values()} == {"no unit was played"}
    assert set(told["scores"].values()) == {None}
    assert told["counts"] == dict.fromkeys(told["counts"], 0) | {"not_played": len(units)}


def test_a_unit_that_was_not_played_changes_no_figure() -> None:
    alone, beside = (score_run(units, "stream") for units in ([unit()], [_failed_to_open("b"), unit()]))
    assert beside["scores"] == alone["scores"]
    assert beside["counts"] == alone["counts"] | {"not_played": 1}
    assert beside["units"]["b"]["scores"] == {}
    twin = Unit("s", log([], interrupted=True), unit().truth)
    assert score_run([unit()], "stream", twins={"s": twin})["scores"]["F1_instant"] is None


def test_a_silent_unit_and_one_that_was_interrupted_were_played() -> None:
    never_asked = Unit("s", log([], released=3600), unit().truth)
    cut = Unit("t", log([D(12, 14)], interrupted=True), unit().truth)
    told = score_run([never_asked, cut], "stream")
    assert (told["counts"]["not_played"], told["counts"]["interrupted"], told["scores"]["R_rt"]) == (0, 1, 0)


def _cut_after(decisions: list[D], until: float, needs: list[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The scores of a run that stopped after these decisions, and of one over a session that ended there."""
    stopped = Unit("s", log(decisions, interrupted=True), truth(3600, needs))
    ended = [replace(n, closes_ns=min(n.closes_ns, ns(until))) for n in needs if n.opens_ns < ns(until)]
    ended = [n if n.acted_ns is None or n.acted_ns <= n.closes_ns else replace(n, acted_ns=None) for n in ended]
    return score_run([stopped], "stream"), score_run([Unit("s", log(decisions), truth(until, ended))], "stream")


@pytest.mark.parametrize("more", [0, 50, 99])
def test_an_interrupted_run_is_scored_as_if_the_session_had_ended_there(more: int) -> None:
    needs = [need("A", 10, 30), need("B", 40, 300), need("C", 350, 400), need("D", 1000, 2000)]
    decisions = [D(t, t + 1, ["Debug"] if t in (12, 60, 95) else []) for t in range(more + 1)]
    cut, whole = _cut_after(decisions, more + 1.000000001, needs)
    of_the_end_line = {"coverage", "coverage@seen", "never_seen"}
    differing = {m for m, v in whole["scores"].items() if cut["scores"][m] != v} - of_the_end_line
    assert all(cut["scores"][m] is None for m in differing)  # what only the end line tells
    assert {"F1_rt", "R_rt", "unwanted_per_hour", "restraint"}.isdisjoint(differing)
    assert cut["counts"] == whole["counts"] | {"interrupted": 1}
    assert cut["counts"]["seconds_played"] == more + 1


def test_a_need_that_was_cut_to_under_2_s_is_counted_as_unservable() -> None:
    unit = Unit("s", log([D(0, 1), D(1, 2)], interrupted=True), truth(3600, [need("A", 1, 30), need("B", 5, 30)]))
    told = score_run([unit], "stream")
    assert (told["counts"]["opportunities"], told["counts"]["unservable"]) == (0, 1)


class _Shut:
    """An agent that cannot be opened."""

    inline = True

    async def open(self, setup: Setup) -> None:
        raise RuntimeError("no key")

    async def decide(self, seen: Observation) -> Decision:
        return SILENT


class _Mute:
    """An agent that says nothing."""

    inline = True

    async def decide(self, seen: Observation) -> Decision:
        return SILENT


def test_a_reader_of_scores_json_tells_an_agent_that_was_never_played_from_a_silent_one(tmp_path: Path) -> None:
    told = {}
    for agent in (_Shut, _Mute):
        rules: dict[str, Any] = {"memory": "none", "clock": "modelled", "latency": "fixed:1s"}
        run(DESKTOP, agent=agent, out=tmp_path / agent.__name__, **rules)
        told[agent] = json.loads((tmp_path / agent.__name__ / "scores.json").read_text())
    shut, mute = told[_Shut], told[_Mute]
    assert (shut["counts"]["not_played"], mute["counts"]["not_played"]) == (1, 0)
    assert set(shut["scores"].values()) == {None}
    assert {d["reason"] for d in shut["details"].values()} == {NOT_PLAYED}
    assert (shut["counts"]["opportunities"], mute["counts"]["opportunities"]) == (0, 4)
    assert (mute["scores"]["R_rt"], mute["scores"]["timely_utility"], mute["counts"]["silent"]) == (0, 0, 200)


def test_classes_and_what_the_gate_held_back_are_all_that_was_delivered() -> None:
    repeats = Unit("s", log([D(t, t + 1, ["Debug"]) for t in range(5, 25)]), truth(3600, [need("A", 10, 30)]))
    gated, free = score_run([repeats], "stream"), score_run([repeats], "stream", "off")
    assert gated["details"]["held_back"]["n"] == free["details"]["held_back"]["n"] == 20
    assert (gated["scores"]["held_back"], free["scores"]["held_back"]) == (19, 0)
    assert sum(gated["details"]["P_rt"]["classes"].values()) == 1
    assert gated["units"]["s"]["scores"]["held_back"] == 19
    # The one that surfaced came before the need, and the gate then held back those that would have served it.
    assert (gated["scores"]["R_rt"], free["scores"]["R_rt"]) == (0, 1)
    assert gated["details"]["P_rt"]["classes"]["early"] == 1


def test_a_figure_is_never_nan_and_never_without_value_and_reason() -> None:
    metric = Metric("m", "f", "0-1", "0-1", "up")
    for value, reason in ((float("nan"), None), (float("inf"), None), (None, None), (1.0, "why")):
        with pytest.raises(ValueError, match="m"):
            Score(metric, value, 1, reason)
