"""The gate: repeated decisions surface once, and a new need, a silence, an act or time lets them through again."""

from __future__ import annotations

from decimal import Decimal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.errors import UsageError
from simulator.core.types import SECOND
from simulator.runs.gate import OFF, STANDARD, Gate, surface
from simulator.runs.records import Kind, RunLog
from tests.logs import D, log, ns, truth

END = truth(1000)


def surfaced(run: RunLog, gate: Gate = STANDARD, acts: tuple[int, ...] = ()) -> list[int]:
    return [o.seq for o in surface(run, truth(1000, acts_ns=tuple(ns(a) for a in acts)), gate)]


def test_a_repeated_offer_surfaces_once() -> None:
    assert surfaced(log(D(t, t + 0.5, ["Debug"]) for t in range(50))) == [0]


def test_the_first_of_a_group_gives_stamps_and_confidence() -> None:
    run = log(D(t, t + 2, [{"intention": "Debug", "confidence": 0.1 * t}]) for t in range(1, 4))
    (offer,) = surface(run, END, STANDARD)
    assert (offer.captured_ns, offer.actionable_ns, offer.confidence) == (ns(1), ns(3), 0.1)


def test_time_counts_from_the_offer_that_surfaced_and_is_not_extended() -> None:
    assert surfaced(log(D(t, t, ["Debug"]) for t in range(125))) == [0, 60, 120]


def test_exactly_the_window_is_long_enough() -> None:
    assert surfaced(log([D(0, 0, ["Debug"]), D(59.999, 59.999, ["Debug"])])) == [0]
    assert surfaced(log([D(0, 0, ["Debug"]), D(60, 60, ["Debug"])])) == [0, 1]


def test_a_silence_in_between_lets_the_offer_through() -> None:
    assert surfaced(log([D(0, 0, ["Debug"]), D(1, 1), D(2, 2, ["Debug"])])) == [0, 2]


@pytest.mark.parametrize("kind", [Kind.ERROR, Kind.UNPARSED, Kind.CANCELLED, Kind.SUPERSEDED])
def test_what_delivers_nothing_does_not(kind: Kind) -> None:
    assert surfaced(log([D(0, 0, ["Debug"]), D(1, 1, kind=kind), D(2, 2, ["Debug"])])) == [0]


def test_another_intention_in_between_lets_the_offer_through() -> None:
    assert surfaced(log([D(0, 0, ["Debug"]), D(1, 1, ["Translation"]), D(2, 2, ["Debug"])])) == [0, 1, 2]


def test_an_act_of_the_user_in_between_lets_the_offer_through() -> None:
    run = log([D(0, 0, ["Debug"]), D(2, 2, ["Debug"])])
    assert surfaced(run, acts=(1,)) == [0, 1]
    assert surfaced(run, acts=(3,)) == [0]


def test_at_one_instant_an_arrival_comes_before_an_act() -> None:
    run = log([D(1, 1, ["Debug"]), D(2, 2, ["Debug"])])
    assert surfaced(run, acts=(2,)) == [0]
    assert surfaced(run, acts=(1,)) == [0, 1]


def test_order_is_that_of_arrival() -> None:
    slow_first = log([D(0, 9, ["Debug"]), D(1, 2, ["Debug"])])
    assert surfaced(slow_first) == [1]


def test_two_offers_of_one_decision_are_told_apart_by_intention() -> None:
    assert surfaced(log([D(0, 0, ["Debug", "Translation", "Debug"]), D(1, 1, ["Translation"])])) == [0, 0]


def test_aliases_are_the_same_intention() -> None:
    assert surfaced(log([D(0, 0, ["Information Lookup"]), D(1, 1, ["information retrieval"])])) == [0]


def test_off_lets_everything_through() -> None:
    assert surfaced(log(D(t, t, ["Debug"]) for t in range(5)), OFF) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("text", ["standard", "off", "window:30s", "window:1500ms"])
def test_a_gate_reads_its_own_spelling(text: str) -> None:
    assert Gate.parse(text).text == text


def test_a_bare_off_in_a_scenario_is_off() -> None:
    assert Gate.parse(yaml.safe_load("gate: off")["gate"]) == OFF
    assert Gate.parse(yaml.safe_load("gate: on")["gate"]) == STANDARD


def test_a_gate_reads_a_mapping() -> None:
    assert Gate.parse({"window_s": 0.5}) == Gate(SECOND // 2)
    assert Gate.parse({"window_s": None}) == OFF
    assert Gate.parse(None) == Gate.parse({}) == STANDARD


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("standart", "did you mean 'standard'"),
        ("window:soon", "not a duration"),
        ({"windows": 3}, "did you mean 'window_s'"),
        ({"window_s": 0}, "must be positive"),
        ({"window_s": -1}, "must be positive"),
        ({"window_s": float("nan")}, "must be a number of seconds"),
        ({"window_s": float("inf")}, "must be a number of seconds"),
        ({"window_s": True}, "must be a number of seconds"),
        ({"window_s": "soon"}, "must be a number of seconds"),
    ],
)
def test_a_wrong_gate_is_refused_with_a_sentence(spec: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Gate.parse(spec)  # type: ignore[arg-type]


DECISIONS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 400), st.sampled_from(["", "a", "b", "ab", "aa", "!"])), max_size=12
)


def _slowly(run: RunLog, acts: tuple[int, ...], window: int) -> list[tuple[int, str]]:
    """The rule word by word, without speed."""
    silent = [i for i in range(len(run)) if run.kind[i] == Kind.SILENT]
    deliveries = [(int(run.actionable_ns[i]), int(run.seq[i]), -1, "") for i in silent]
    deliveries += [(o.actionable_ns, o.seq, n, o.intention) for n, o in enumerate(run.offers())]
    shown: list[tuple[int, str]] = []
    when: dict[str, int] = {}
    groups: list[tuple[int, set[str]]] = [(-1, set())]
    for t, seq, _, intention in sorted(deliveries):
        if groups[-1][0] != seq:
            groups.append((seq, set()))
        if not intention:
            continue
        near = groups[-1][1] | groups[-2][1]
        groups[-1][1].add(intention)
        last = when.get(intention)
        if last is not None and t - last < window and intention in near and not any(last <= a < t for a in acts):
            continue
        when[intention] = t
        shown.append((seq, intention))
    return shown


@given(DECISIONS, st.lists(st.integers(0, 50), max_size=3), st.integers(1, 20))
def test_the_fast_gate_agrees_with_the_rule(said: list[tuple[int, int, str]], acts: list[int], window: int) -> None:
    decisions, now = [], 0
    for step, latency, words in said:
        now += step
        kind = Kind.ERROR if words == "!" else None
        decisions.append(D(now, now + Decimal(latency) / 100, tuple(words.strip("!")), kind))  # type: ignore[arg-type]
    run, acted = log(decisions), tuple(sorted(ns(a) for a in acts))
    fast = [(o.seq, o.intention) for o in surface(run, truth(1000, acts_ns=acted), Gate(ns(window)))]
    assert fast == _slowly(run, acted, ns(window))
