from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.errors import UsageError
from simulator.core.types import MS, SECOND
from simulator.timing.latency import PROFILES, Call, Empirical, Fixed, Token, parse_latency

CALL = Call("session", 3, "decide")


def test_fixed_charges_decisions_and_writes_apart() -> None:
    model = parse_latency("fixed:350ms+20ms")
    assert model == Fixed(350 * MS, 20 * MS)
    assert model.text == "fixed:350ms+20ms"
    assert [model.charge_ns(Call("session", 3, w), 0) for w in ("decide", "finish", "observe", "feedback")] == [
        350 * MS,
        350 * MS,
        20 * MS,
        20 * MS,
    ]


def test_token_counts_each_token_once() -> None:
    model = parse_latency("token:rtt=200ms,prefill=100us,image=80ms,decode=20ms")
    assert isinstance(model, Token)
    tokens = {"in": 1000, "cached": 400, "images": 2, "out": 10, "reasoning": 5}
    assert model.charge_ns(Call("session", 3, "decide", tokens), 0) == (200 + 60 + 160 + 300) * MS
    assert model.charge_ns(CALL, 0) == 200 * MS, "no tokens told: the round trip is left"
    assert parse_latency(model.text) == model


@given(st.sampled_from(sorted(PROFILES)), st.integers(0, 2**31), st.integers(0, 10**6))
def test_a_profile_stays_in_its_range_and_is_a_whole_number(name: str, seed: int, snapshot: int) -> None:
    profile = PROFILES[name]
    ns = profile.charge_ns(Call("s", snapshot, "decide"), seed)
    assert type(ns) is int
    low, high = profile.shape_permille[0], profile.shape_permille[-1]
    assert profile.median_ns * low // 1000 <= ns <= profile.median_ns * high // 1000


def test_the_draws_of_a_profile_have_its_median() -> None:
    draws = sorted(PROFILES["1s"].charge_ns(Call("s", i, "decide"), 1) for i in range(4001))
    assert abs(draws[2000] - SECOND) < 50 * MS
    assert draws[200] < 500 * MS
    assert draws[3800] > 2 * SECOND


@given(st.integers(0, 2**31), st.lists(st.integers(0, 10**10), min_size=1, max_size=9))
def test_resampling_hands_out_what_was_measured(seed: int, table: list[int]) -> None:
    model = Empirical("run", tuple(table), ())
    assert {model.charge_ns(Call("s", i, "decide"), seed) for i in range(30)} <= set(table)
    assert model.charge_ns(Call("s", 1, "observe"), seed) == 0, "that run had no writes to measure"


def test_one_draw_depends_on_no_other() -> None:
    model = Empirical("run", tuple(range(1000)), ())
    whole = [model.charge_ns(Call("s", i, "decide"), 5) for i in range(10)]
    assert [model.charge_ns(Call("s", i, "decide"), 5) for i in reversed(range(10))] == whole[::-1]
    assert len({model.charge_ns(Call(s, 1, w), 5) for s in "abcdef" for w in ("decide", "finish")}) > 8


def test_other_times_in_the_same_folder_are_another_model() -> None:
    assert Empirical("run", (1, 2), ()).text != Empirical("run", (1, 3), ()).text
    assert Empirical("run", (1, 2), ()).text == Empirical("run", (1, 2), ()).text


def test_a_profile_of_any_length_is_told_what_takes_one() -> None:
    with pytest.raises(UsageError, match=r"'profile:8s': no such profile.*a length of your own is fixed:8s"):
        parse_latency("profile:8s")


@pytest.mark.parametrize(
    "text",
    ["fixed:", "fixed:1", "fixed:-1s", "fixed:1s+", "fixed:0.1ns", "token:rtt", "token:rtt=1", "token:x=1s",
     "profile:9s", "nothing", "from:run"],
)  # fmt: skip
def test_what_is_no_latency_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="latency"):
        parse_latency(text)


def test_a_parameter_without_a_length_of_time_is_told_in_words() -> None:
    with pytest.raises(UsageError, match=r"latency 'token:zz': 'zz' is no parameter with a length of time, such as"):
        parse_latency("token:zz")
