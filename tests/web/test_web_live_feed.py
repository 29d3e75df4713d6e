"""The live page's state: what happens goes in, JSON comes out, and it stays small whatever is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simulator.core.types import MS, SECOND, ImageRef, MemoryItem, Observation, Offer, Snapshot
from simulator.runs.answers import Answer
from simulator.runs.flights import Flight
from simulator.runs.gate import OFF, STANDARD
from simulator.runs.records import Kind
from simulator.web.clipping import clip
from simulator.web.hub import LARGEST, Hub
from simulator.web.live_feed import STRIP_NS, LiveFeed


class Told:
    """A feed, and what it told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.feed = LiveFeed(lambda event, data: self.events.append((event, json.loads(json.dumps(data)))))
        self.feed.begin({"run": "r", "badge": "LIVE"}, STANDARD)

    def named(self, event: str) -> list[dict[str, Any]]:
        return [data for name, data in self.events if name == event]


@pytest.fixture
def told() -> Told:
    return Told()


def snapshot(n: int, app: str | None = "xterm", title: str | None = "bash") -> Snapshot:
    return Snapshot(n, n * SECOND, n * SECOND, app, title, None, ImageRef(Path("a.webp"), f"{n:064x}"))


def flight(
    n: int,
    *offers: Offer,
    took_ms: int = 40,
    items: tuple[MemoryItem, ...] = (),
    dropped: int = 0,
    kind: Kind | None = None,
    **fields: Any,
) -> tuple[Flight, Kind, int]:
    seen = snapshot(n)
    one = Flight("decide", n, seen.captured_ns + MS, seen.captured_ns, dropped, snapshot=seen)
    one.answer = Answer(took_ms * MS, offers=tuple((offer, took_ms * MS) for offer in offers), fields=fields)
    view: Any = type("View", (), {"items": items})()
    one.observation = Observation(seen, one.started_ns, "u", view, {}, view, view)
    return one, kind or (Kind.OFFER if offers else Kind.SILENT), one.started_ns + took_ms * MS


def test_what_is_told_piece_by_piece_is_what_the_state_says(told: Told) -> None:
    feed = told.feed
    feed.snapshot(snapshot(0))
    one = flight(0, Offer("Coding", "try this", 0.4))
    feed.departed(one[0])
    assert feed.state()["thinking"] == [{"seq": 0, "captured_ms": 0.0, "started_ms": 1.0, "dropped": 0}]
    feed.decided(*one)
    feed.status({"now_ms": 50})
    state = feed.state()
    assert state["thinking"] == []
    assert [name for name, _ in told.events] == [
        "live_reset", "live_snapshot", "live_thinking", "live_decision", "live_status",
    ]  # fmt: skip
    assert told.named("live_snapshot")[-1] == state["snapshot"]
    assert told.named("live_decision")[-1]["offers"] == state["offers"]
    assert told.named("live_decision")[-1]["counts"] == state["counts"]
    assert state["offers"][0]["latency_ms"] == 41
    assert state["latency"] == {"p50_ms": 41, "p95_ms": 41, "n": 1}
    json.dumps(state, allow_nan=False)


def test_a_repeated_offer_is_counted_and_not_shown(told: Told) -> None:
    for n in range(3):
        told.feed.decided(*flight(n, Offer("Coding", f"number {n}")))
    assert told.feed.state()["counts"]["shown"] == 1
    assert told.feed.state()["counts"]["offered"] == 3
    assert [o["text"] for o in told.feed.state()["offers"]] == ["number 0"]
    told.feed.decided(*flight(3))
    told.feed.decided(*flight(4, Offer("Coding", "after a silence")))
    assert told.feed.state()["counts"]["shown"] == 2


def test_the_memories_behind_an_offer_stand_with_it_best_first_and_once(told: Told) -> None:
    items = (
        MemoryItem("low", 0.1),
        MemoryItem("high", 0.9, ("a", "b"), help=0.5, query="why?"),
        MemoryItem("low", 0.1),
    )
    told.feed.decided(*flight(0, Offer("Coding"), items=items))
    (offer,) = told.feed.state()["offers"]
    assert [m["text"] for m in offer["memories"]] == ["high", "low"]
    assert offer["memories"][0] == {
        "text": "high", "score": 0.9, "intention": None, "help": 0.5, "query": "why?", "memory": None, "sources": 2,
    }  # fmt: skip


def test_a_score_that_is_no_number_is_unknown(told: Told) -> None:
    told.feed.decided(*flight(0, Offer("Coding"), items=(MemoryItem("odd", float("nan")),)))
    assert told.feed.state()["offers"][0]["memories"][0]["score"] is None


def test_tokens_add_up_and_one_unknown_cost_makes_all_unknown(told: Told) -> None:
    assert told.feed.state()["tokens"] is None, "no model was asked"
    told.feed.decided(*flight(0, tokens={"in": 10, "out": 2}, cost=0.5))
    told.feed.decided(*flight(1, tokens={"in": 5, "out": 1}, cost=0.25))
    assert told.feed.state()["tokens"] == {"in": 15, "out": 3}
    assert told.feed.state()["cost"] == 0.75
    told.feed.decided(*flight(2, tokens={"in": 5}, cost=None))
    told.feed.decided(*flight(3, tokens={"in": 5}, cost=1.0))
    assert told.feed.state()["cost"] is None


def test_two_minutes_are_kept_and_no_more(told: Told) -> None:
    for n in range(1000):
        told.feed.snapshot(snapshot(n))
        told.feed.decided(*flight(n, Offer(f"kind {n}")))
    state = told.feed.state()
    oldest = state["snapshot"]["t_ms"] - STRIP_NS / MS
    assert 120 <= len(state["snapshots"]) <= 122
    assert state["snapshots"][1][0] >= oldest
    assert all(row["ended_ms"] >= oldest for row in state["decisions"])
    assert len(state["offers"]) == 50
    assert state["latency"]["n"] == 600
    assert told.feed.offer(state["offers"][0]["id"]) is not None
    assert len(told.feed._shown) == 50


def test_an_offer_is_known_by_its_id_and_what_was_said_of_it_can_be_taken_back(told: Told) -> None:
    told.feed.decided(*flight(7, Offer("Coding", "one"), Offer("Writing", "two")))
    first, second = told.feed.state()["offers"]
    shown = told.feed.offer(second["id"])
    assert shown is not None
    assert (shown.seq, shown.intention, shown.captured_ns) == (7, "Writing", 7 * SECOND)
    assert told.feed.offer("1-99-1") is None
    told.feed.said(second["id"], "accepted")
    assert [o["said"] for o in told.feed.state()["offers"]] == [None, "accepted"]
    told.feed.said(second["id"], None)
    assert [o["said"] for o in told.feed.state()["offers"]] == [None, None]
    assert first["id"] != second["id"]


def test_another_unit_starts_with_nothing_of_the_one_before(told: Told) -> None:
    told.feed.decided(*flight(0, Offer("Coding")))
    (old,) = told.feed.state()["offers"]
    told.feed.begin({"run": "r", "badge": "RECORDING"}, OFF)
    state = told.feed.state()
    assert (state["offers"], state["decisions"], state["latency"]) == ([], [], None)
    assert told.feed.offer(old["id"]) is None
    assert state["about"]["part"] == "0-2"
    told.feed.decided(*flight(0, Offer("Coding")))
    assert told.feed.state()["offers"][0]["id"] != old["id"], "an answer never reaches an offer of another unit"


def test_gaps_are_told_once_and_leave_with_the_strip(told: Told) -> None:
    told.feed.snapshot(snapshot(10))
    told.feed.gaps([(2 * SECOND, 4 * SECOND, "paused")])
    told.feed.gaps([(2 * SECOND, 4 * SECOND, "paused")])
    assert told.named("live_gaps") == [{"gaps": [[2000.0, 4000.0, "paused"]]}]
    told.feed.snapshot(snapshot(500))
    told.feed.gaps([(2 * SECOND, 4 * SECOND, "paused")])
    assert told.feed.state()["gaps"] == []


def test_the_kinds_and_the_dropped_are_told_of_each_decision(told: Told) -> None:
    error = {"kind": "timeout", "text": "too\x1b[31m slow"}
    told.feed.decided(*flight(0, kind=Kind.ERROR, dropped=3, error=error, stages_ns={"model": 30 * MS}))
    (row,) = told.feed.state()["decisions"]
    assert (row["kind"], row["dropped"], row["stages_ms"]) == ("error", 3, {"model": 30})
    assert row["error"] == "timeout: too\x1b[31m slow", "shown as it is: the page makes it harmless"
    assert told.feed.state()["counts"]["errors"] == 1


def test_whatever_is_said_an_event_stays_below_what_a_hub_takes() -> None:
    hub = Hub()
    feed = LiveFeed(hub.publish)
    feed.begin({"run": "r"}, OFF)
    wide = "\U0001f469" * 10_000  # 12 bytes each as an escape
    items = tuple(MemoryItem(f"{n}{wide}", 1.0, intention=wide, query=wide, memory="rag") for n in range(50))
    feed.snapshot(Snapshot(0, 0, 0, wide, wide, None, None))
    feed.decided(*flight(0, *(Offer(f"{n}{wide}", wide, 1.0) for n in range(1000)), items=items))
    assert feed.state()["counts"]["shown"] == 1000
    assert len(feed.state()["offers"]) == 3
    _, n_bytes = hub.held
    assert n_bytes < LARGEST
    assert feed.state()["snapshot"]["title"].endswith("(9000 more characters)")


def test_empty_lines_around_a_suggestion_are_not_sent(told: Told) -> None:
    told.feed.decided(*flight(0, Offer("Coding", "\n" * 2000 + "shall\n I?\n")))
    assert [one["text"] for one in told.feed.state()["offers"]] == ["shall\n I?"]


def test_a_short_text_is_sent_whole() -> None:
    assert clip("abc", 3) == "abc"
    assert clip("abcd", 3) == "abc… (1 more characters)"


def test_a_failure_is_charged_the_timeout_and_says_why(told: Told) -> None:
    told.feed.begin({"run": "r"}, STANDARD, 60 * SECOND)
    told.feed.decided(*flight(0, took_ms=40))
    assert told.feed.state()["fault"] is None
    told.feed.decided(*flight(1, kind=Kind.ERROR, took_ms=30, error={"kind": "model_refused", "text": "no such model"}))
    state = told.feed.state()
    assert state["latency"]["p95_ms"] == 60_001, "its wait of 1 ms comes on top, as in the scores"
    assert state["fault"] == {"t_ms": 1031, "text": "model_refused: no such model"}
    assert told.named("live_decision")[-1]["fault"] == state["fault"]
    assert (state["tokens"], state["cost"]) == ({}, None), "a model was asked; what that took is not known"
    told.feed.begin({"run": "s"}, STANDARD)
    assert told.feed.state()["fault"] is None


def test_what_gave_way_counts_as_soon_as_a_decision_departs_and_once(told: Told) -> None:
    one = flight(0, dropped=3)
    told.feed.departed(one[0])
    assert told.feed.state()["counts"]["dropped"] == 3
    told.feed.decided(*one)
    told.feed.decided(*flight(1, dropped=2))
    assert told.feed.state()["counts"]["dropped"] == 5


def test_an_offer_of_which_the_memory_was_asked_before_says_when(told: Told) -> None:
    told.feed.decided(*flight(3, items=(MemoryItem("kept", 0.5),)))
    told.feed.decided(*flight(9, Offer("Coding")))
    told.feed.decided(*flight(10, Offer("Writing"), items=(MemoryItem("new", 0.5),)))
    before, own = told.feed.state()["offers"]
    assert ([m["text"] for m in before["memories"]], before["recalled_ms"]) == (["kept"], 3000)
    assert ([m["text"] for m in own["memories"]], own["recalled_ms"]) == (["new"], None)
