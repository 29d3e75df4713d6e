"""Latency, age of information, coverage, load and cost from stamps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scorers.base import Unit, score_run
from simulator.runs.records import Kind
from tests.logs import D, log, play, truth


def score(decisions: Sequence[D], end: float = 100, **more: Any) -> dict[str, Any]:
    gaps = more.pop("gaps", ())
    return score_run([Unit("s", log(decisions, **more), truth(end, gaps=gaps, known=False))], "stream")


def test_the_three_latencies_add_up() -> None:
    scores = score([D(0, 3, started=1), D(3, 5, started=3.5)])["scores"]
    assert scores["scheduled_latency@mean"] == 2500
    assert scores["service_time@mean"] == 1750
    assert scores["dispatch_delay@mean"] == 750
    assert scores["scheduled_latency@max"] == 3000


def test_percentiles_are_nearest_rank() -> None:
    scores = score([D(t, t + 0.01 * (t + 1)) for t in range(20)])["scores"]
    assert [scores[f"service_time@{p}"] for p in ("p50", "p90", "p95")] == [100, 180, 190]


def test_the_wait_before_a_failed_call_is_added_to_the_timeout() -> None:
    scores = score([D(0, 3, started=2, kind=Kind.ERROR)], timeout_ns=30_000_000_000)["scores"]
    found = {name: scores[f"{name}@max"] for name in ("scheduled_latency", "service_time", "dispatch_delay")}
    assert found == {"scheduled_latency": 32_000, "service_time": 30_000, "dispatch_delay": 2_000}


def test_a_failed_call_counts_the_timeout_or_its_own_longer_time() -> None:
    failed = [D(0, 1, kind=Kind.ERROR), D(1, 41, started=31, kind=Kind.ERROR)]
    scores = score(failed, timeout_ns=30_000_000_000)["scores"]
    assert scores["service_time@max"] == 30_000
    assert scores["scheduled_latency@max"] == 60_000
    assert scores["failed_share"] == 1


def test_an_unparsed_answer_counts_its_own_time() -> None:
    told = score([D(0, 1, kind=Kind.UNPARSED)], timeout_ns=30_000_000_000)
    assert told["scores"]["service_time@max"] == 1000
    assert told["counts"]["unparsed"] == 1


def test_stopped_decisions_are_censored_at_their_stop() -> None:
    told = score([D(0, 1, kind=Kind.CANCELLED), D(1, 3)])
    assert told["scores"]["service_time@mean"] == 1500
    assert told["details"]["service_time@mean"]["n_censored"] == 1


def test_p99_is_shown_only_with_enough_samples() -> None:
    few = score([D(t, t + 1) for t in range(458)], end=500)
    assert few["details"]["service_time@p99"]["reason"] == "n too small: 458 of 459"
    assert score([D(t, t + 1) for t in range(459)], end=500)["scores"]["service_time@p99"] == 1000


def test_first_tokens_are_timed_where_reported() -> None:
    scores = score([D(0, 3, more={"first_token_ns": 500_000_000}), D(4, 5)])["scores"]
    assert scores["first_token_latency@max"] == 500
    assert score([D(0, 3)])["details"]["first_token_latency@max"]["reason"] == "not reported by the agent"


def test_age_counts_from_the_newest_capture_delivered() -> None:
    # Age 0-4 up to t=4, then 4 falls to 2 (capture 2), grows to 8 at t=10: (0+4)/2*4 + (2+8)/2*6 = 38.
    told = score([D(2, 4)], end=10)["scores"]
    assert told["age_of_information"] == pytest.approx(3.8)
    assert told["age_of_information@p95_peak"] == 8


def test_a_late_result_of_an_older_snapshot_does_not_make_information_younger() -> None:
    once = score([D(5, 6)], end=10)["scores"]["age_of_information"]
    assert score([D(5, 6), D(1, 7)], end=10)["scores"]["age_of_information"] == once


def test_errors_deliver_nothing() -> None:
    assert score([D(5, 6, kind=Kind.ERROR)], end=10)["scores"]["age_of_information"] == 5


def test_age_starts_anew_after_a_gap_and_does_not_grow_in_it() -> None:
    assert score([], end=110, gaps=[(10, 100)])["scores"]["age_of_information"] == 5


def test_coverage_counts_snapshots_reflected_in_what_was_delivered() -> None:
    scores = score([D(0, 1), D(2, 3, kind=Kind.ERROR), D(4, 5, ["Debug"])], released=10)["scores"]
    assert scores["coverage"] == 0.2
    assert scores["dropped"] == 7


def test_an_interrupted_run_is_scored_without_coverage() -> None:
    told = score([D(0, 1)], interrupted=True)
    assert told["scores"]["service_time@mean"] == 1000
    assert told["scores"]["coverage"] is None
    assert "interrupted" in told["details"]["coverage"]["reason"]
    assert told["counts"]["interrupted"] == 1


def test_busy_time_is_counted_once_where_decisions_overlap() -> None:
    assert score([D(0, 4), D(2, 6), D(8, 9)], end=10)["scores"]["utilisation"] == 0.7
    assert score([D(0, 9), D(1, 2), D(3, 4)], end=10)["scores"]["utilisation"] == 0.9


def test_a_growing_queue_is_saturated_and_latest_only_is_not() -> None:
    queue = score([D(t, 2 * t + 2, started=2 * t) for t in range(50)])
    assert queue["details"]["keeps_up"]["verdict"] == "saturated"
    latest = score_run([Unit("s", play(200, lambda t: (), lambda t: 2_300_000_000), truth(200, known=False))], "stream")
    assert latest["details"]["keeps_up"]["verdict"] == "keeps up"


def test_money_is_unknown_unless_every_call_has_a_price() -> None:
    used = {"tokens": {"in": 1000, "out": 10, "images": 1}}
    unpriced = score([D(0, 1, more={**used, "cost": 0.5}), D(1, 2, more=used)])
    assert unpriced["scores"]["cost"] is None
    assert "without a known price" in unpriced["details"]["cost"]["reason"]
    assert unpriced["scores"]["cost@tokens_in"] == 2000 * 36
    priced = score([D(0, 1, more={**used, "cost": 0.5})])
    assert priced["scores"]["cost"] == 18
    assert "unknown" in score([D(0, 1)])["details"]["cost"]["reason"]


def test_a_run_without_decisions_is_all_null_and_no_error() -> None:
    told = score([])
    assert told["scores"]["service_time@mean"] is None
    assert told["scores"]["keeps_up"] is None
