"""Invariants 1, 2, 3, 5, 6 and 9 of the time contract on run logs made at random, and what scores promise besides.

On whole runs of the engine, with 4, 7 and 8: ``test_runs_keep_their_promises``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorers.base import Context, Unit, score_run
from scorers.interrupted import played_until, truth_as_played
from scorers.matching import AnyContent, Windows, match
from scorers.realtime import Realtime
from scorers.realtime_metrics import PROFILES, Rules
from scorers.serving import Serving
from simulator.core.types import SECOND
from simulator.runs.gate import Gate, surface
from simulator.runs.records import Kind, RunLog
from simulator.session.truth import Opportunity, Truth
from tests.logs import D, log, ns, truth
from tests.random_runs import END, decisions, needs


def scores(run: RunLog, true: Truth, gate: Gate | None = None, **more: Any) -> dict[str, float | None]:
    found: dict[str, float | None] = score_run([Unit("s", run, true)], "stream", gate, **more)["scores"]
    return found


@given(decisions(charged=False), st.lists(st.integers(0, 300), min_size=12, max_size=12), needs())
def test_1_without_charge_arrival_capture_and_instant_scores_are_one(
    said: list[D], late: list[int], wanted: tuple[Opportunity, ...]
) -> None:
    at_once, true = log(said, released=END), truth(END, wanted)
    free = scores(at_once, true)
    assert free["F1_rt"] == free["F1_seen"]
    assert free["latency_loss"] in (0, None)
    assert free["F1_rt@timing"] == free["F1_seen@timing"]
    charged = [
        replace(d, actionable=Fraction(str(d.actionable)) + Fraction(by, 10)) for d, by in zip(said, late, strict=False)
    ]
    slow = scores(log(charged, released=END), true, twins={"s": Unit("s", at_once, true)})
    for end in ("", "@timing"):
        assert slow[f"F1_instant{end}"] == free[f"F1_rt{end}"]


@given(decisions())
def test_2_scheduled_latency_is_service_time_and_waiting(said: list[D]) -> None:
    found = scores(log(said, released=END), truth(END))
    points = ("mean", "p50", "p90", "p95", "max")
    pairs = [(found[f"scheduled_latency@{p}"], found[f"service_time@{p}"]) for p in points]
    waited = any(Fraction(str(d.started)) > Fraction(str(d.released)) for d in said)
    if said:
        assert all(a >= b for a, b in pairs if a is not None and b is not None)
        assert (pairs[0][0] == pairs[0][1]) == (not waited)


@given(decisions(), needs(), st.integers(0, 200))
def test_3_a_uniform_delay_never_meets_more_deadlines(
    said: list[D], wanted: tuple[Opportunity, ...], delay: int
) -> None:
    offers = surface(log(said), truth(END, wanted), Gate())
    arrived = np.array([o.actionable_ns for o in offers], np.int64)
    captured = np.array([o.captured_ns for o in offers], np.int64)

    def served(times: np.ndarray[Any, np.dtype[np.int64]], deadline_s: int) -> int:
        opens = [n.opens_ns for n in wanted]
        found = match(Windows.of(wanted, ns(deadline_s)), times, lambda i, js: captured[js] >= opens[i])
        return sum(j is not None for j in found)

    for deadline_s in (1, 2, 5, 10):
        assert served(arrived + delay * SECOND // 10, deadline_s) <= served(arrived, deadline_s)


def _twice(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v * 2 if k.endswith("_ns") and v is not None else v for k, v in values.items()}


def doubled(run: RunLog, true: Truth) -> tuple[RunLog, Truth]:
    stamps = ("captured_ns", "content_ns", "released_ns", "started_ns", "actionable_ns")
    full = {s: {**_twice(r), "offers": [_twice(o) for o in r["offers"]]} for s, r in run.full.items()}
    end = None if run.end is None else {**run.end, "changes_ns": [2 * t for t in run.end["changes_ns"]]}
    slow = replace(run, full=full, end=end, **{name: getattr(run, name) * 2 for name in stamps})
    slower = (
        replace(n, opens_ns=2 * n.opens_ns, closes_ns=2 * n.closes_ns, acted_ns=2 * (n.acted_ns or 0))
        for n in true.opportunities
    )
    times: dict[str, Any] = {
        "end_ns": 2 * true.end_ns,
        "period_ns": 2 * true.period_ns,
        "acts_ns": tuple(2 * t for t in true.acts_ns),
    }
    return slow, replace(true, opportunities=tuple(slower), **times)


PER_TIME: Mapping[str, Fraction | int] = {"ms": 2, "s": 2, "1/h": Fraction(1, 2)}
"""What doubling all times does to a figure, by its unit; others stay."""


def _values(scorer: Any, run: RunLog, true: Truth, gate: Gate) -> dict[str, tuple[str, float | None]]:
    found = scorer.figures([scorer.tally(Unit("s", run, true), Context(gate=gate))])
    return {s.metric.name: (s.metric.unit, s.value) for s in found}


def _alike(once: Mapping[str, tuple[str, float | None]], twice: Mapping[str, tuple[str, float | None]]) -> None:
    for (name, (unit, a)), (other, (_, b)) in zip(once.items(), twice.items(), strict=True):
        factor = PER_TIME.get(unit, 1)
        assert (a is None and b is None) or (a is not None and b == float(a * factor)), (name, other, a, b)


@given(decisions(), needs())
def test_5_doubling_all_times_leaves_ratios_as_they_are(said: list[D], wanted: tuple[Opportunity, ...]) -> None:
    more = {"tokens": {"in": 3, "images": 1}, "cost": 0.25}
    run = log([replace(d, more=more) for d in said], released=END, changes=[3, 40], timeout_ns=ns(5))
    true, rules = truth(END, wanted), Rules()
    double = Rules(
        early_ns=2 * rules.early_ns,
        slo_ns=2 * rules.slo_ns,
        restraint_ns=2 * rules.restraint_ns,
        block_ns=2 * rules.block_ns,
        breakpoint_ns=2 * rules.breakpoint_ns,
        deadlines_ns=tuple(2 * d for d in rules.deadlines_ns),
        curve_ns=tuple(2 * d for d in rules.curve_ns),
    )
    slow, slower = doubled(run, true)
    slow = replace(slow, header={**slow.header, "timeout_ns": ns(10)})
    wide = Gate(2 * (Gate().window_ns or 0))
    _alike(_values(Realtime(rules=rules), run, true, Gate()), _values(Realtime(rules=double), slow, slower, wide))
    _alike(_values(Serving(), run, true, Gate()), _values(Serving(), slow, slower, wide))


@given(st.lists(st.tuples(decisions(), needs()), min_size=2, max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_6_the_order_of_sessions_and_of_needs_changes_no_score(
    sessions: list[tuple[list[D], tuple[Opportunity, ...]]], chance: Any
) -> None:
    units = [Unit(f"s{i}", log(said), truth(END, wanted)) for i, (said, wanted) in enumerate(sessions)]
    other = [replace(u, truth=replace(u.truth, opportunities=u.truth.opportunities[::-1])) for u in units]
    chance.shuffle(other)
    assert score_run(units, "stream")["scores"] == score_run(other, "stream")["scores"]


@given(decisions(least=1), needs(least=1), st.integers(0, 11))
def test_9_a_failed_call_in_place_of_a_slow_one_improves_nothing(
    said: list[D], wanted: tuple[Opportunity, ...], which: int
) -> None:
    which %= len(said)
    failed = [replace(d, kind=Kind.ERROR, offers=()) if i == which else d for i, d in enumerate(said)]
    true = truth(END, wanted)
    before, after = (scores(log(d, timeout_ns=ns(5), released=END), true, Gate(None)) for d in (said, failed))
    for name in ("R_rt", "R_rt@timing", *(f"deadline_attainment@{d}" for d in (1, 2, 5, 10)), "coverage"):
        assert _at_most(after[name], before[name]), name
    points = ("mean", "p50", "p90", "p95", "max")
    slow = [f"{kind}@{point}" for kind in ("scheduled_latency", "service_time") for point in points]
    for name in (*slow, "age_of_information", "age_of_information@p95_peak"):
        assert _at_most(before[name], after[name]), name


def _at_most(a: float | None, b: float | None) -> bool:
    """Both are known, and in this order."""
    return a is not None and b is not None and a <= b


@given(needs(least=1))
def test_silence_is_worth_nothing_and_perfection_everything(wanted: tuple[Opportunity, ...]) -> None:
    silent = scores(log([], released=END), truth(END, wanted), Gate(None))
    at_once = sorted(wanted, key=lambda n: n.opens_ns)
    said = [D(Fraction(n.opens_ns, SECOND), Fraction(n.opens_ns, SECOND), [n.intention]) for n in at_once]
    perfect = scores(log(said), truth(END, wanted), Gate(None))
    for name in ("timely_utility", "timely_utility@quiet", "timely_utility@eager"):
        assert silent[name] == 0
        assert perfect[name] == 100


@given(needs(least=1), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 50)), max_size=2))
def test_an_instant_oracle_reaches_the_printed_ceiling_and_nobody_passes_it(
    wanted: tuple[Opportunity, ...], odd: list[tuple[int, int]]
) -> None:
    """It names each need at the first tick of the window outside a gap; windows may open between ticks."""
    gaps = [(10 * start + 3, 10 * start + 3 + length) for start, length in odd]
    true = truth(END, wanted, gaps)
    at = {n.id: _first_tick(n, gaps) for n in wanted}
    said = [D(t, t, [n.intention]) for n in wanted if (t := at[n.id]) is not None]
    said.sort(key=lambda d: Fraction(str(d.captured)))
    found = scores(log(said, released=END), true, Gate(None))
    assert found["timely_utility"] == pytest.approx(found["timely_utility@ceiling"])
    assert found["timely_utility@timing"] == pytest.approx(found["timely_utility@ceiling"])
    every = [D(t, t, ["Debug", "Translation"]) for t in range(END) if not any(a <= t < b for a, b in gaps)]
    greedy = scores(log(every, released=END), true, Gate(None))
    assert (greedy["timely_utility"] or 0) <= (greedy["timely_utility@ceiling"] or 0) + 1e-9


def _first_tick(need: Opportunity, gaps: list[tuple[int, int]]) -> int | None:
    ticks = range(-(-need.opens_ns // SECOND), -(-need.closes_ns // SECOND))
    return next((t for t in ticks if t < END and not any(a <= t < b for a, b in gaps)), None)


@given(st.integers(0, 500), st.integers(20, 400), st.data())
def test_help_is_worth_less_the_later_it_comes(opens: int, length: int, data: st.DataObject) -> None:
    """In every profile; help at the end of the window is still worth more than none."""
    first, second = sorted(data.draw(st.lists(st.integers(0, length - 1), min_size=2, max_size=2, unique=True)))
    wanted = Opportunity("0", opens * SECOND // 10, (opens + length) * SECOND // 10, "Debug")

    def worth(after: int) -> dict[str, float | None]:
        at = Fraction(opens + after, 10)
        return scores(log([D(at, at, ["Debug"])], released=END), truth(END, [wanted]), Gate(None))

    sooner, later = worth(first), worth(second)
    for name in ("timely_utility", "timely_utility@quiet", "timely_utility@eager"):
        assert (sooner[name] or 0) > (later[name] or 0) > 50


@given(needs(least=1), decisions())
def test_a_wrong_offer_never_pays_and_costs_what_its_class_costs(
    wanted: tuple[Opportunity, ...], said: list[D]
) -> None:
    """The utility is the worth of the help less the costs of the classes: nothing else enters it."""
    true = truth(END, wanted)
    told = score_run([Unit("s", log(said, released=END), true)], "stream", Gate(None))
    classes = told["details"]["P_rt"]["classes"]
    costs = (
        classes["false_alarm"] + classes["early"],
        classes["wrong_content"],
        classes["stale"],
        classes["redundant"],
    )
    weight = sum(n.weight for n in wanted)
    gains = {}
    for profile, prices in PROFILES.items():
        name = "timely_utility" if profile == "standard" else f"timely_utility@{profile}"
        gains[profile] = told["scores"][name] * weight / 100 + sum(p * c for p, c in zip(prices, costs, strict=True))
    assert gains["standard"] == pytest.approx(gains["quiet"])
    assert gains["standard"] == pytest.approx(gains["eager"])
    assert -1e-9 <= gains["standard"] <= weight + 1e-9


def test_any_content_is_right_in_strength_timing() -> None:
    assert AnyContent().right([], [])(0, np.arange(3)).all()


@given(decisions(least=1), needs(), st.data())
def test_what_lies_after_the_end_of_an_interrupted_log_changes_no_score(
    said: list[D], wanted: tuple[Opportunity, ...], data: st.DataObject
) -> None:
    kept = said[: data.draw(st.integers(1, len(said)))]
    cut, true = log(kept, interrupted=True), truth(END, wanted, acts_ns=(ns(END),))
    until = played_until(cut, true)
    assert max(ns(d.actionable) for d in kept) < until or until == ns(END)
    before = tuple(w for w in wanted if w.opens_ns < until)
    later = tuple(Opportunity(f"{w.id}+", until, until + 30 * SECOND, w.intention) for w in wanted)
    longer = replace(true, end_ns=until + 3600 * SECOND, opportunities=before + later, acts_ns=(until + SECOND,))
    assert played_until(cut, longer) == until or until == ns(END)
    if until < ns(END):
        assert scores(cut, longer) == scores(cut, replace(true, opportunities=before))
    assert len(truth_as_played(cut, true).opportunities) == len(before)
