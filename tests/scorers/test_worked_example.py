"""The worked example of the scoring design: five offers, two opportunities, every figure known."""

from __future__ import annotations

import json

import pytest

from scorers.base import Unit, score_run
from tests.logs import D, log, need, truth

NEEDS = [need("A", 10, 30, "Debug"), need("B", 50, 60, "Translate")]
OFFERS = [
    D(12, 14, ["Debug"]),
    D(15, 18, ["Debug"]),
    D(40, 41, ["Debug"]),
    D(58, 61, ["Translate"]),
    D(46, 47, ["Translate"]),
]
RESULT = score_run([Unit("s", log(OFFERS), truth(3600, NEEDS))], "stream", "off")


def test_each_offer_gets_its_class_and_opportunity() -> None:
    told = {o["seq"]: (o["class"], o["opportunity"]) for o in RESULT["units"]["s"]["offers"]}
    assert told == {
        0: ("on_time", "A"),
        1: ("redundant", "A"),
        2: ("false_alarm", None),
        3: ("stale", "B"),
        4: ("early", "B"),
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("P_rt", 1 / 5),
        ("R_rt", 1 / 2),
        ("F1_rt", 2 / 7),
        ("F1_seen", 4 / 7),
        ("latency_loss", 2 / 7),
        ("timely_utility", 2.5),
        ("timely_utility@quiet", 100 * (0.9 - 1 * 2 - 1 - 0.5) / 2),
        ("timely_utility@eager", 100 * (0.9 - 0.1 * 2 - 0.1 - 0.05) / 2),
        ("timely_utility@ceiling", 100),
        ("lead_s", 16),
        ("delay_s", 4),
        ("seconds_saved_per_hour", 16),
        ("interruptions_per_hour", 5),
        ("unwanted_per_hour", 4),
        ("false_alarms_per_hour", 1),
        ("deadline_attainment@2", 0),
        ("deadline_attainment@5", 1 / 2),
        ("assist_goodput", 1),
        ("anticipated", 0),
    ],
)
def test_figure(name: str, value: float) -> None:
    assert RESULT["scores"][name] == pytest.approx(value, abs=1e-12)


def test_the_oracle_of_latency_is_said_to_be_missing() -> None:
    assert RESULT["scores"]["coverage_loss"] is None
    assert RESULT["details"]["F1_instant"]["reason"] == "not computed: needs an instant twin of every session"


def test_rates_of_few_events_are_flagged() -> None:
    assert RESULT["details"]["P_rt"]["few"]


def test_the_result_is_json_without_nan() -> None:
    assert json.loads(json.dumps(RESULT, allow_nan=False)) == RESULT


def test_the_standard_gate_holds_the_repeated_offer_back() -> None:
    gated = score_run([Unit("s", log(OFFERS), truth(3600, NEEDS))], "stream")
    # (3) came after the user had acted at 30, so it surfaces; (4) repeats (5) of 47 across the user's act at 60.
    assert [o["seq"] for o in gated["units"]["s"]["offers"]] == [0, 2, 4, 3]
