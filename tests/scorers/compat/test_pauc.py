"""PAUC: the published values, and the step function by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.base import Unit, score_run
from scorers.compat.pauc import area
from simulator.core.errors import InputError, UsageError
from tests.logs import D, log, need, truth

A = need("A", 20, 40)


def score(offers: list[tuple[float, str]], spec: str = "pauc", latency: float = 0) -> dict[str, Any]:
    unit = Unit("s", log([D(t, t + latency, [what]) for t, what in offers]), truth(100, [A]))
    return dict(score_run([unit], "stream", "off", names=[spec])["scores"])


@pytest.mark.parametrize(
    ("replies", "value"),
    [([], 0.125), ([(0, 4)], 1), ([(10, 4)], 0.781), ([(20, 4)], 0.5625), ([(0, 0)], 0)],
    ids=["silent", "right at once", "right in mid-window", "right at the end", "wrong at once"],
)
def test_the_published_values(replies: list[tuple[float, float]], value: float) -> None:
    assert area(replies, 20) == pytest.approx(value, abs=5e-4)


def test_silence_with_a_scale_of_two() -> None:
    assert area([], 20, s_max=2) == 0.25


def test_wrong_then_right_by_hand() -> None:
    # .5 until 2 · .5 = 1, then 0 until 8 · .5 = 4, then 4 until 20: (.5 + 64) / 80
    assert area([(2, 0), (8, 4)], 20) == pytest.approx(64.5 / 80)


def test_time_plays_no_part_with_omega_1_and_all_of_it_with_0() -> None:
    assert area([(20, 4)], 20, omega=1) == 1
    assert area([(10, 4)], 20, omega=0) == pytest.approx((0.5 * 10 + 4 * 10) / 80)


@pytest.mark.parametrize("length", [0, -1, float("nan")])
def test_a_window_without_a_length_is_refused_in_a_sentence(length: float) -> None:
    with pytest.raises(InputError, match="the window of a reply must be longer than 0"):
        area([], length)


@pytest.mark.parametrize("reply", [(21, 4), (-1, 4), (1, 5), (1, -1)])
def test_a_reply_outside_the_window_or_the_scale_is_refused(reply: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="a reply lies in its window"):
        area([reply], 20)


@given(st.lists(st.tuples(st.floats(0, 20), st.sampled_from([0, 1, 2, 3, 4])), max_size=6), st.floats(0, 1))
def test_it_lies_between_0_and_1(replies: list[tuple[float, float]], omega: float) -> None:
    assert -1e-12 <= area(replies, 20, omega=omega) <= 1 + 1e-12


@given(st.floats(0, 20), st.floats(0, 20))
def test_later_help_is_never_worth_more(a: float, b: float) -> None:
    early, late = sorted((a, b))
    assert area([(early, 4)], 20) >= area([(late, 4)], 20)


def test_in_a_stream_right_stays_right_whatever_is_said_after() -> None:
    assert score([(30, "Debug")])["pauc"] == pytest.approx(0.78125)
    assert score([(30, "Debug"), (31, "Translate")])["pauc"] == pytest.approx(0.78125)
    assert score([(20, "Translate")])["pauc"] == 0
    assert score([(22, "Translate"), (28, "Debug")])["pauc"] == pytest.approx(64.5 / 80)
    assert score([(50, "Debug")])["pauc"] == 0.125, "elsewhere nothing counts"


def test_charges_move_the_offer_at_arrival_only() -> None:
    told = score([(20, "Debug")], latency=10)
    assert (told["pauc"], told["pauc@seen"]) == (pytest.approx(0.78125), 1)


def test_scale_and_omega_are_parameters() -> None:
    assert score([], "pauc:s_max=2")["pauc"] == 0.25
    assert score([(39, "Debug")], "pauc:omega=1")["pauc"] == 1
    with pytest.raises(UsageError):
        score([], "pauc:omega=2")
