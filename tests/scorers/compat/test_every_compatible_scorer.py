"""What holds of all scores of other benchmarks on any stream: bounds, twins, silence, sums, nothing at all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scorers.base import COMPATIBLE, STANDARD_SCORERS, Context, Unit, score_run, scorers
from scorers.pooling import Pools
from simulator.runs.gate import OFF
from simulator.runs.records import Kind
from simulator.session.truth import Opportunity
from tests.logs import D, log, need, truth

STREAM = ("erde", "f_latency", "nab", "pauc", "streamingbench:matcher=category")
END = 120
INTENTIONS = ("Debug", "Translate")
QUARTERS = st.integers(0, 30)


@st.composite
def sessions(draw: Any, latency: Any = QUARTERS) -> Unit:
    """A stream at 1 Hz, some ticks with an offer or an error, windows anywhere (overlaps too), perhaps a gap."""
    windows = draw(st.lists(st.tuples(st.integers(0, END - 2), st.integers(1, 40), st.booleans()), max_size=4))
    needs = [
        need(f"n{i}", o, min(END, o + w), INTENTIONS[i % 2], query="q", **({"unservable": "odd"} if odd else {}))
        for i, (o, w, odd) in enumerate(windows)
    ]
    said = draw(st.dictionaries(st.integers(0, END - 1), st.sampled_from([*INTENTIONS, "error"]), max_size=12))
    decisions = []
    for t in range(END):
        what = said.get(t)
        charge = draw(latency) / 4 if what else 0
        kind = Kind.ERROR if what == "error" else None
        decisions.append(D(t, t + charge, [what] if what in INTENTIONS else (), kind=kind))
    gaps = draw(st.sampled_from([[], [(30, 50)], [(0, 10), (100, 140)]]))
    return Unit("s", log(decisions), truth(END, needs, gaps))


def scores(units: Sequence[Unit], protocol: str = "stream") -> dict[str, float | None]:
    return dict(score_run(units, protocol, "off", names=STREAM)["scores"])


@settings(max_examples=40, deadline=None)
@given(sessions())
def test_figures_lie_in_their_range(unit: Unit) -> None:
    for name, value in scores([unit]).items():
        if value is not None:
            assert value <= (100 + 1e-9 if name.startswith("nab") else 1 + 1e-12), name
            assert value >= (-math.inf if name.startswith("nab") else -1e-12), name


@settings(max_examples=30, deadline=None)
@given(sessions(latency=st.just(0)))
def test_without_charges_both_twins_are_one(unit: Unit) -> None:
    told = scores([unit])
    assert {n: v for n, v in told.items() if not n.endswith("@seen")} == {
        n.removesuffix("@seen"): v for n, v in told.items() if n.endswith("@seen")
    }


@settings(max_examples=30, deadline=None)
@given(st.lists(sessions(), min_size=1, max_size=3))
@pytest.mark.parametrize("name", [s for s in STREAM if s != "f_latency"])
def test_figures_are_their_formula_over_sums(name: str, units: list[Unit]) -> None:
    scorer = scorers.make(name)
    context = Context("stream", OFF)
    tallies = [scorer.tally(unit, context) for unit in units]
    assert isinstance(scorer, Pools)
    pooled = {p.metric: p for p in scorer.pooled(tallies)}
    found = scorer.figures(tallies)
    assert list(pooled) == [s.metric.name for s in found]
    for s in found:
        value = pooled[s.metric.name].value
        assert (math.isnan(value) and s.value is None) or value == s.value
    for p in scorer.pooled([]):
        assert p.columns.shape[0] == 0
        assert np.isnan(p.value)


def test_all_of_them_say_what_is_pooled_or_why_not() -> None:
    for name in COMPATIBLE:
        scorer: Any = scorers.make(name)
        pooled = {p.metric for p in scorer.pooled([])} if isinstance(scorer, Pools) else set()
        assert pooled | set(getattr(scorer, "not_pooled", ())) == {m.name for m in scorer.metrics}


def test_none_is_in_a_standard_set() -> None:
    assert not {name for names in STANDARD_SCORERS.values() for name in names} & set(COMPATIBLE)


@pytest.mark.parametrize("needs", [[], [need("A", 20, 40)]], ids=["no needs", "a need"])
@pytest.mark.parametrize(
    "decisions",
    [[], [D(5, 5)], [D(25, 26, ["Debug"])], [D(t, t + 1, kind=Kind.ERROR) for t in range(60)],
     [D(t, t, ["Debug"]) for t in range(60)], [D(25, 500, ["Debug"])]],
    ids=["empty", "one silence", "one offer", "all errors", "always", "after the end"],
)  # fmt: skip
def test_none_crashes_on_little_or_odd_logs(decisions: list[D], needs: list[Opportunity]) -> None:
    told = scores([Unit("s", log(decisions), truth(60, needs))])
    if not needs:
        assert set(told.values()) <= {None}
    else:
        assert None not in told.values()


@pytest.mark.parametrize(("name", "up"), [("nab@standard", True), ("nab@reward_low_FN", True), ("pauc", True),
                                          ("f_latency", True), ("erde@5", False), ("erde@50", False)])  # fmt: skip
def test_later_help_in_the_window_is_worth_less(name: str, up: bool) -> None:
    def at(t: float) -> float:
        decisions = [D(s, s) for s in range(60) if s < t] + [D(t, t, ["Debug"])]
        value = scores([Unit("s", log(decisions), truth(60, [need("A", 20, 40)]))])[name]
        assert value is not None
        return value

    values = [at(t) for t in range(20, 40)]
    assert values == sorted(values, reverse=up)
    assert values[0] != values[-1]


def test_an_agent_under_latency_loses_against_its_own_capture() -> None:
    units = [Unit("s", log([D(20, 36, ["Debug"])]), truth(60, [need("A", 20, 40)]))]
    told = scores(units)
    for name in ("nab@standard", "pauc", "streamingbench@time_accuracy"):
        now, seen = told[name], told[f"{name}@seen"]
        assert now is not None
        assert seen is not None
        assert now < seen, name
