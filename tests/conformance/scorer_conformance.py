"""What every scorer must keep to, as tests that others can run on their own class.

::

    from tests.conformance.scorer_conformance import ScorerConformance

    class TestMine(ScorerConformance):
        def make(self):
            return Mine()

No plugin of pytest is needed. Sessions are drawn by hypothesis and made by hand (``CASES``): whole or interrupted, with
offers or without, all errors, without a need, without any time. A scorer that is given by ``proact score --scorer`` is
held to the first two rules there too.
"""

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
from scorers.base import Score, Unit, score_run
from scorers.foreign import ensure_scorer, ensure_scores, ensure_told
from scorers.pooling import Pools
from simulator.runs.records import Kind
from simulator.session.truth import Moment
from tests.logs import D, log, need, ns, truth
from tests.random_runs import END, units

__all__ = ["CASES", "ScorerConformance"]

EMBEDDER = HashEmbedder()
COARSE = 0.006
"""Distributions are kept in bins, whose middle is at most 0.5 % off."""
GATES = ("off", "standard", "window:5s")
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


class ScorerConformance:
    """Subclass it, say how to ``make`` the scorer, and let pytest collect the subclass."""

    examples = 12
    """So many runs at random a rule."""

    def make(self) -> Any:
        """A new scorer."""
        raise NotImplementedError

    # For tests of one's own beside the rules.

    def score(self, protocol: str, found: Sequence[Unit], gate: str = "standard", **more: Any) -> dict[str, Any]:
        """What ``scores.json`` would hold."""
        return score_run(found, protocol, gate, names=[self.make()], embedder=EMBEDDER, **more)

    def figures(self, found: Sequence[Unit], protocol: str = "stream") -> dict[str, float | None]:
        """Metric to value."""
        values: dict[str, float | None] = self.score(protocol, found)["scores"]
        return values

    def _check(self, told: dict[str, Any], protocol: str) -> None:
        """Everything that a scorer promises of one result."""
        json.dumps(told, allow_nan=False)
        scorer = self.make()
        for unit in told["units"].values():
            ensure_told(scorer, "what explain() gives", unit)
        metrics = {m.name: m for m in scorer.metrics if protocol in m.protocols}
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

    def _holds(self, rule: Any, most: int = 3) -> None:
        """Try a rule on every protocol, on runs at random: ``rule(protocol, units, gate)``."""
        for protocol in self.make().protocols:

            @given(st.just(protocol), units(most=most), st.sampled_from(GATES))
            @settings(max_examples=self.examples, deadline=None, database=None)
            def holds(protocol: str, found: Sequence[Unit], gate: str) -> None:
                rule(protocol, found, gate)

            holds()

    # The rules.

    def test_it_says_what_it_is_and_what_its_metrics_are(self) -> None:
        ensure_scorer(self.make())

    def test_of_no_session_each_metric_is_given_once_and_rests_on_nothing(self) -> None:
        scorer = self.make()
        found: list[Score] = scorer.figures([])
        ensure_scores(scorer, found)
        for score in found:
            assert score.n == 0, score.metric.name
        for protocol in scorer.protocols:
            told = self.score(protocol, [])
            assert told["scores"]
            assert set(told["scores"].values()) == {None}

    @pytest.mark.parametrize("case", CASES)
    @pytest.mark.parametrize("intents", [None, {"p": ()}])
    def test_nothing_that_happens_in_a_run_is_a_fault(self, case: str, intents: Any) -> None:
        run, true = CASES[case]
        for protocol in self.make().protocols:
            told = self.score(protocol, [Unit("s", run, replace(true, intents=intents))])
            if told["scores"]:
                self._check(told, protocol)

    def test_every_value_lies_in_its_range_whatever_happened(self) -> None:
        def rule(protocol: str, found: Sequence[Unit], gate: str) -> None:
            twins = {u.key: u for u in found if u.log.complete}
            self._check(self.score(protocol, found, gate, twins=twins), protocol)

        self._holds(rule)

    def test_scoring_again_in_another_order_of_sessions_gives_the_same(self) -> None:
        def rule(protocol: str, found: Sequence[Unit], gate: str) -> None:
            assert self.score(protocol, found) == self.score(protocol, found[::-1])

        self._holds(rule)

    def test_a_run_of_one_session_scores_as_that_session(self) -> None:
        def rule(protocol: str, found: Sequence[Unit], gate: str) -> None:
            told = self.score(protocol, found, gate)
            for unit in told["units"].values():
                if unit["scores"]:
                    assert unit["scores"] == told["scores"]

        self._holds(rule, most=1)

    def test_what_is_pooled_gives_the_figures_again(self) -> None:
        scorer = self.make()
        if not isinstance(scorer, Pools):
            pytest.skip("no metric is a function of sums: none has an interval")
        assert {p.metric for p in scorer.pooled([])} <= {m.name for m in self.make().metrics}
        assert all(len(p.columns) == 0 for p in scorer.pooled([]))

        def rule(protocol: str, found: Sequence[Unit], gate: str) -> None:
            told = self.score(protocol, found, gate)
            parts = [unit["parts"] for unit in told["units"].values() if "parts" in unit]
            for pooled in scorer.pooled([]) if parts else ():
                if pooled.metric in told["scores"] and all(pooled.table in part for part in parts):
                    again = pooled.of([part[pooled.table] for part in parts]).value
                    value = told["scores"][pooled.metric]
                    fits = (
                        math.isnan(again) if value is None else math.isclose(again, value, rel_tol=COARSE, abs_tol=1e-9)
                    )
                    assert fits, (pooled.metric, value, again)

        self._holds(rule)
