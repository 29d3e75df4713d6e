"""What holds of every registered scorer, found through the registry, on whatever a run may have been."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.embed import HashEmbedder
from scorers.base import PROTOCOLS, Metric, Unit, catalogue, score_run, scorers
from simulator.runs.records import Kind
from simulator.session.truth import Moment
from tests.logs import D, log, need, ns, truth
from tests.random_runs import END, units

NAMES = scorers.names()
EMBEDDER = HashEmbedder()
GATES = ("off", "standard", "window:5s")
FITS = [(name, protocol) for name in NAMES for protocol in scorers.make(name).protocols]


def score(name: str, protocol: str, found: Sequence[Unit], gate: str = "standard", **more: Any) -> dict[str, Any]:
    return score_run(found, protocol, gate, names=[name], embedder=EMBEDDER, **more)


def check(told: dict[str, Any], name: str, protocol: str) -> None:
    """Everything that a scorer promises of one result."""
    json.dumps(told, allow_nan=False)
    metrics = {m.name: m for m in scorers.make(name).metrics if protocol in m.protocols}
    assert list(told["scores"]) == list(metrics)
    for of in (told, *told["units"].values()):
        for metric, value in of["scores"].items():
            low, high = metrics[metric].bounds
            if value is not None:
                slack = 1e-9 * max(1, abs(value))
                assert low - slack <= value <= high + slack, (metric, value, metrics[metric].range)
    for metric, detail in told["details"].items():
        assert detail["n"] >= 0, metric
        assert (detail["value"] is None) == bool(detail.get("reason")), metric


@pytest.mark.parametrize("metric", [m for _, m in catalogue()], ids=lambda m: m.name)
def test_every_metric_says_what_it_is(metric: Metric) -> None:
    low, high = metric.bounds
    assert low < high
    assert metric.direction in ("up", "down", "-")
    assert metric.version >= 1
    assert metric.formula.strip()
    assert metric.unit.strip()
    assert set(metric.protocols) <= set(PROTOCOLS)
    assert metric.protocols


@pytest.mark.parametrize("words", ["0 - 1", "0..1", ">=0", "some", "", "0-1 or so"])
def test_a_range_in_other_words_is_refused(words: str) -> None:
    with pytest.raises(ValueError, match="no known form"):
        _ = Metric("m", "f", "u", words, "up").bounds


@pytest.mark.parametrize(("name", "protocol"), FITS)
@given(found=units(), gate=st.sampled_from(GATES))
@settings(max_examples=40)
def test_every_value_lies_in_its_range_whatever_happened(
    name: str, protocol: str, found: Sequence[Unit], gate: str
) -> None:
    twins = {u.key: u for u in found if u.log.complete}
    check(score(name, protocol, found, gate, twins=twins), name, protocol)


NEED, OFFER = need("A", 10, 30, query="why?"), {"intention": "Debug", "text": "so", "confidence": 1.0}
MOMENTS = (Moment(ns(20), True, "Debug", "why?"), Moment(ns(60), False))
CASES = {
    "nothing played": (log([], interrupted=True), truth(END, [NEED])),
    "an empty log": (log([], released=END), truth(END, [NEED], moments=MOMENTS)),
    "an empty truth": (log([D(12, 14, [OFFER])], released=END), truth(END)),
    "neither": (log([], released=END), truth(END)),
    "one sample": (log([D(20, 20, [OFFER])], released=1), truth(END, [NEED], moments=MOMENTS[:1])),
    "one silence": (log([D(20, 21)], released=1), truth(END, [NEED], moments=MOMENTS[:1])),
    "one need of the shortest kind": (log([D(10, 11, [OFFER])]), truth(END, [need("A", 10, 12)])),
    "all errors": (log([D(t, t + 1, kind=Kind.ERROR) for t in range(9)]), truth(END, [NEED], moments=MOMENTS)),
    "all unparsed": (log([D(t, t + 1, kind=Kind.UNPARSED) for t in range(9)]), truth(END, [NEED], moments=MOMENTS)),
    "all superseded": (log([D(t, t + 1, kind=Kind.SUPERSEDED) for t in range(9)]), truth(END, [NEED])),
    "always": (log([D(t, t, [OFFER]) for t in range(END)], released=END), truth(END, [NEED], moments=MOMENTS)),
    "no time": (log([], released=0), truth(0)),
    "one gap": (log([D(12, 14, [OFFER])]), truth(END, [NEED], [(0, END)])),
}


@pytest.mark.parametrize(("name", "protocol"), FITS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("intents", [None, {"p": ()}])
def test_nothing_crashes_a_scorer(name: str, protocol: str, case: str, intents: Any) -> None:
    run, true = CASES[case]
    told = score(name, protocol, [Unit("s", run, replace(true, intents=intents))])
    if told["scores"]:
        check(told, name, protocol)


@pytest.mark.parametrize(("name", "protocol"), FITS)
@given(found=units(), chance=st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_the_order_of_sessions_changes_nothing(name: str, protocol: str, found: Sequence[Unit], chance: Any) -> None:
    other = list(found)
    chance.shuffle(other)
    assert score(name, protocol, found) == score(name, protocol, other)


@pytest.mark.parametrize(("name", "protocol"), FITS)
@given(found=units(most=1), gate=st.sampled_from(GATES))
@settings(max_examples=15)
def test_a_run_of_one_session_scores_as_that_session(
    name: str, protocol: str, found: Sequence[Unit], gate: str
) -> None:
    told = score(name, protocol, found, gate)
    for unit in told["units"].values():
        if unit["scores"]:
            assert unit["scores"] == told["scores"]


@pytest.mark.parametrize(("name", "protocol"), FITS)
def test_no_session_at_all_gives_no_figure(name: str, protocol: str) -> None:
    told = score(name, protocol, [])
    assert told["scores"]
    assert all(v is None or not math.isnan(v) for v in told["scores"].values())
    assert all(v is None for v in told["scores"].values())
