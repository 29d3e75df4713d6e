"""Every registered scorer, found through the registry, is held to what every scorer must keep to."""

from __future__ import annotations

from typing import Any

import pytest

from scorers.base import PROTOCOLS, Metric, Score, catalogue, scorers
from tests.conformance.scorer_conformance import ScorerConformance


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


class TestEveryRegisteredScorerConforms(ScorerConformance):
    @pytest.fixture(autouse=True, params=scorers.names())
    def _spec(self, request: pytest.FixtureRequest) -> None:
        self.spec: str = request.param

    def make(self) -> Any:
        return scorers.make(self.spec)


class Sloppy:
    """Breaks rules, to see that the suite notices."""

    protocols = ("stream",)
    needs_truth = False
    metrics = (Metric("loud", "offers", "count", "0-1", "up"),)

    def __init__(self) -> None:
        self.n = 0

    def tally(self, unit: Any, context: Any) -> int:
        self.n += 1
        return len(unit.log.offers()) + ord(unit.key[-1]) * self.n

    def figures(self, tallies: Any) -> list[Score]:
        n = 1 + sum(tally * place for place, tally in enumerate(tallies))
        return [Score(self.metrics[0], n, n)]

    def explain(self, tally: Any) -> dict[str, Any]:
        return {}

    def reference(self, tallies: Any) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize(
    "rule",
    [
        "test_of_no_session_each_metric_is_given_once_and_rests_on_nothing",
        "test_every_value_lies_in_its_range_whatever_happened",
        "test_scoring_again_in_another_order_of_sessions_gives_the_same",
    ],
)
def test_the_suite_finds_a_scorer_that_breaks_a_rule(rule: str) -> None:
    class Suite(ScorerConformance):
        def make(self) -> Any:
            return Sloppy()

    with pytest.raises(Exception, match=r"loud"):
        getattr(Suite(), rule)()
