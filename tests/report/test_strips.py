"""What happened when in a session, from its scores."""

from __future__ import annotations

from typing import Any

from simulator.core.types import SECOND
from simulator.report.strips import strips


def _scores(unit: dict[str, Any], protocol: str = "stream") -> dict[str, Any]:
    counts = {"seconds_played": 100, "not_played": 0}
    return {"protocol": protocol, "units": {"s": {"counts": counts, **unit}}}


def _offer(seq: int, t: int, verdict: str, need: str | None = None) -> dict[str, Any]:
    stamps = {"captured_ns": (t - 1) * SECOND, "actionable_ns": t * SECOND}
    return {"seq": seq, **stamps, "intention": "I", "class": verdict, "opportunity": need}


def _need(name: str, opens: int, closes: int, by: int | None) -> dict[str, Any]:
    return {"id": name, "opens_ns": opens * SECOND, "closes_ns": closes * SECOND, "intention": "I", "served_by": by}


def test_every_class_of_an_offer_is_a_mark_and_every_unserved_need_a_miss() -> None:
    unit = {
        "offers": [
            _offer(1, 5, "early"), _offer(2, 12, "on_time", "a"), _offer(3, 14, "redundant", "a"),
            _offer(4, 33, "stale", "b"), _offer(5, 50, "false_alarm"), _offer(6, 22, "wrong_content", "b"),
        ],
        "opportunities": [_need("a", 10, 20, 2), _need("b", 20, 30, None)],
    }  # fmt: skip
    (strip,) = strips(_scores(unit))
    assert [(m.t_ns // SECOND, m.kind) for m in strip.marks] == [
        (5, "false"), (12, "hit"), (14, "false"), (22, "false"), (30, "miss"), (33, "late"), (50, "false"),
    ]  # fmt: skip
    assert strip.counts == {"hit": 1, "miss": 1, "late": 1, "false": 4}
    assert [n.served for n in strip.needs] == [True, False]


def test_a_moment_that_could_not_be_read_is_missed_where_help_was_needed_and_a_false_alarm_where_not() -> None:
    moments = [
        {"t_ns": t * SECOND, "positive": positive, "answer": answer, "intention": None, "offered": None, "right": None}
        for t, positive, answer in [(1, True, "yes"), (2, True, "unparsed"), (3, False, "no"), (4, False, "unparsed")]
    ]
    (strip,) = strips(_scores({"moments": moments}, "moments"))
    assert [(m.t_ns // SECOND, m.kind) for m in strip.marks] == [(1, "hit"), (2, "miss"), (4, "false")]


def test_a_session_of_which_nothing_is_known_says_so_and_has_no_marks() -> None:
    (strip,) = strips(_scores({}))
    assert strip.note == "nothing is known of what was needed"
    assert strip.counts == {"hit": 0, "miss": 0, "late": 0, "false": 0}


def test_a_trajectory_has_no_strips() -> None:
    assert strips(_scores({"intents": {}}, "trajectory")) == []
