"""Every figure that says it is a function of sums is one: recomputed from the sums it is the figure itself."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memory.embed import HashEmbedder
from scorers.base import Context, Unit, score_run, scorers
from scorers.feedback import Feedback
from scorers.pooling import Floats, Pooled
from scorers.resampled import pooled_of
from scorers.statistics.spread import Quantile
from simulator.core.rng import below
from simulator.runs.records import Kind, RunLog
from simulator.session.truth import Intent, Moment, Truth
from tests.logs import D, log, need, ns, truth

SAYS = ("Debug", "Translation")
KINDS = (Kind.OFFER, Kind.OFFER, Kind.SILENT, Kind.SILENT, Kind.ERROR, Kind.UNPARSED)
USED = {"tokens": {"in": 70, "out": 7, "images": 1}, "cost": 0.01}
END = 1300


def decisions(seed: int, session: int, n: int, *, instant: bool = False) -> list[D]:
    made, tick, free = [], 0, Fraction(0)
    for i in range(n):
        tick = max(tick + 1 + below(60, seed, session, i, "wait"), math.ceil(free))
        free = tick + (Fraction(0) if instant else Fraction(below(90, seed, session, i, "cost"), 10))
        kind = KINDS[below(len(KINDS), seed, session, i, "kind")]
        confidence = below(11, seed, session, i, "sure") / 10
        said = [{"intention": SAYS[below(2, seed, session, i, "say")], "text": "fix it", "confidence": confidence}]
        made.append(D(tick, free, said if kind is Kind.OFFER else (), kind, more=dict(USED)))
    return made


def session(seed: int, s: int, *, instant: bool = False, run: int = 0) -> tuple[RunLog, Truth]:
    n_needs = below(4, seed, s, "needs")
    opens = [200 * i + 20 + below(60, seed, s, i, "opens") for i in range(n_needs)]
    needs = [
        need(f"n{i}", at, at + 5 + below(90, seed, s, i, "long"), SAYS[i % 2], weight=(1.0, 0.5)[i % 2])
        for i, at in enumerate(opens)
    ]
    asked = [(10 * i + 1, below(2, seed, s, i, "positive")) for i in range(below(8, seed, s, "moments"))]
    moments = tuple(Moment(ns(t), bool(yes), "Debug" if yes else None, "why does it fail" if yes else None)
                    for t, yes in asked)  # fmt: skip
    intents = tuple(Intent(f"{i}", SAYS[below(2, seed, s, i, "intent")]) for i in range(below(3, seed, s, "intents")))
    made = decisions(seed + 1000 * run, s, below(25, seed, s, "n"), instant=instant)
    made += [D(t, t + 1, ["Debug"] if below(2, seed, s, t, "answer") else ()) for t, _ in asked]
    made.sort(key=lambda d: d.captured)
    head: dict[str, Any] = {"user": "u", "session": f"s{s}", "dataset": f"d{s}", "timeout_ns": ns(3)}
    known = truth(END, needs, gaps=[(700, 750)], moments=moments, intents={"A": intents})
    return log(made, released=END, changes=range(5, END, 37), **head), known


def units(seed: int, n: int, **how: Any) -> list[Unit]:
    return [Unit(f"s{s}", *session(seed, s, **how)) for s in range(n)]


def context(protocol: str, seed: int, n: int) -> Context:
    said = {f"s{s}": [Feedback(below(20, seed, s, i), "accepted") for i in range(3)] for s in range(n)}
    companions = {u.key: [u] for u in units(seed, n, run=1)}
    twins = {u.key: u for u in units(seed, n, instant=True)}
    return Context(protocol, embedder=HashEmbedder(), twins=twins, companions=companions, feedback=said)


CASES = [(name, protocol) for name in scorers for protocol in scorers.make(name).protocols]


@pytest.mark.parametrize(("name", "protocol"), CASES)
@given(seed=st.integers(0, 400), n=st.integers(1, 4))
@settings(max_examples=12, deadline=None)
def test_a_figure_is_its_formula_over_the_sums(name: str, protocol: str, seed: int, n: int) -> None:
    scorer, given_ = scorers.make(name), context(protocol, seed, n)
    tallies = [scorer.tally(u, given_) for u in units(seed, n)]
    figures = {s.metric.name: s for s in scorer.figures(tallies)}
    for m in pooled_of(scorer, tallies):
        value, again = figures[m.metric].value, m.of(json.loads(json.dumps(m.parts())))
        spread = isinstance(m.formula, Quantile)
        for found in (m.value, again.value):
            if value is None:
                assert math.isnan(found), m.metric
            else:
                wide: dict[str, Any] = {"rel": 0.0051, "abs": 1e-9} if spread else {"rel": 1e-9, "abs": 1e-9}
                assert found == pytest.approx(value, **wide), m.metric
        alone = [{s.metric.name: s.value for s in scorer.figures([t])}[m.metric] for t in tallies]
        for mine, told in zip(m.formula(m.columns).tolist(), alone, strict=True):
            assert math.isnan(mine) if told is None else mine == pytest.approx(told, rel=0.0051, abs=1e-6), m.metric


@pytest.mark.parametrize("name", list(scorers))
def test_of_no_sessions_a_scorer_names_all_that_it_names_of_some(name: str) -> None:
    scorer = scorers.make(name)
    empty = pooled_of(scorer, [])
    given_ = context(scorer.protocols[0], 1, 3)
    some = pooled_of(scorer, [scorer.tally(u, given_) for u in units(1, 3)])
    assert {m.metric for m in some} <= {m.metric for m in empty}
    assert {m.table for m in some} <= {m.table for m in empty}
    assert all(m.columns.shape[0] == 0 for m in empty)
    known = {metric.name for metric in scorer.metrics}
    assert {m.metric for m in empty} <= known
    assert set(getattr(scorer, "not_pooled", {})) <= known - {m.metric for m in empty}


@pytest.mark.parametrize("name", ["acceptance", "realtime", "serving", "proagentbench", "pira", "pira_card_approx"])
def test_what_has_no_formula_says_why(name: str) -> None:
    scorer = scorers.make(name)
    left_out = {metric.name for metric in scorer.metrics} - {m.metric for m in pooled_of(scorer, [])}
    assert left_out == set(getattr(scorer, "not_pooled", {}))


def test_metrics_of_a_table_share_its_columns() -> None:
    by_table: dict[str, NDArray[np.float64]] = {}
    scorer, given_ = scorers.make("realtime"), context("stream", 5, 4)
    found = pooled_of(scorer, [scorer.tally(u, given_) for u in units(5, 4)])
    for m in found:
        assert np.array_equal(by_table.setdefault(m.table, m.columns), m.columns)
    assert 1 < len(by_table) < len(found) / 2


def test_formulas_take_any_number_of_sums_at_once_and_never_warn() -> None:
    for name in scorers:
        scorer = scorers.make(name)
        given_ = context(scorer.protocols[0], 2, 3)
        for m in pooled_of(scorer, [scorer.tally(u, given_) for u in units(2, 3)]):
            k = m.columns.shape[1]
            assert m.formula(np.zeros((4, 2, k))).shape == (4, 2), m.metric


def told(n: int, protocol: str = "stream", **more: Any) -> dict[str, Any]:
    return score_run(units(3, n), protocol, embedder=HashEmbedder(), **more)


def test_figures_have_an_interval_from_two_sessions_on_and_a_reason_without() -> None:
    one, many = told(1)["details"], told(8)["details"]
    for details in (one, many):
        for metric, detail in details.items():
            has = {"interval", "no_interval"} & set(detail)
            assert len(has) == (detail["value"] is not None), metric
    assert one["F1_rt"]["no_interval"] == "one session: nothing to resample"
    assert many["keeps_up"]["no_interval"] == "a verdict"
    interval = many["F1_rt"]["interval"]
    assert interval["low"] <= many["F1_rt"]["value"] <= interval["high"]
    assert (interval["level"], interval["method"], interval["n_sessions"]) == (0.95, "BCa", 8)
    assert "few" not in interval
    assert told(4)["details"]["F1_rt"]["interval"]["few"] is True


def test_intervals_depend_on_no_order_and_parts_are_kept_by_unit() -> None:
    scores = told(6)
    backwards = score_run(units(3, 6)[::-1], "stream", embedder=HashEmbedder())
    assert json.dumps(scores) == json.dumps(backwards)
    hits = [u["parts"]["realtime"] for u in scores["units"].values()]
    assert sum(row[0] for row in hits) == scores["details"]["P_rt"]["classes"]["on_time"]


def test_two_profiles_of_one_session_are_not_two_sessions() -> None:
    made = [Unit(f"{u.key}.{p}", u.log, u.truth) for u in units(3, 12) for p in "ab"]
    interval = score_run(made, "trajectory", embedder=HashEmbedder())["details"]["S_final"]["interval"]
    assert interval["n_sessions"] == 12


@pytest.mark.parametrize("columns", [[1.0, 2.0], [[math.nan]], [[math.inf]]])
def test_what_cannot_be_summed_is_refused(columns: Sequence[Any]) -> None:
    def first(sums: Floats) -> Floats:
        return sums[..., 0]

    with pytest.raises(ValueError, match="table of finite numbers"):
        Pooled("x", np.array(columns), first)
    with pytest.raises(ValueError, match="1 parts a session"):
        Pooled("x", np.zeros((0, 1)), first).of([[1, 2]])
