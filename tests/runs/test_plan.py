"""Moments: a positive for each need, a negative that looks like it, the same list for the same seed."""

from __future__ import annotations

from itertools import pairwise

from simulator.core.types import SECOND, Event
from simulator.runs.plan import APART_NS, sample
from simulator.session.truth import Assist, Opportunity, Truth
from tests.logs import need, ns, truth


def event(start: float, end: float, app: str = "Editor", title: str = "report", assistance: bool = False) -> Event:
    return Event(f"s/{start}", "u", ns(start), ns(end), app, title, assistance=assistance)


def session(n_needs: int = 3, minutes: int = 120) -> tuple[list[Event], Truth]:
    """A minute an event, editor and browser by turns; every 30th minute the user asks an assistant."""
    events: list[Event] = []
    needs: list[Opportunity] = []
    assists: list[Assist] = []
    for i in range(minutes):
        asked = i % 30 == 10 and len(needs) < n_needs
        app, title = ("Chat", "assistant") if asked else [("Editor", f"report {i}"), ("Browser", "weather news")][i % 2]
        events.append(event(60 * i, 60 * (i + 1), app, title, asked))
        if asked:
            needs.append(need(f"n{i}", 60 * i - 60, 60 * i, "Translation", query="how?"))
            assists.append(Assist(ns(60 * i), ns(60 * (i + 1))))
    return events, truth(60 * minutes, needs, assists=tuple(assists))


def test_a_positive_lies_one_second_before_the_act() -> None:
    events, true = session()
    plan = sample(events, true, 1)
    positives = [m for m in plan.moments if m.positive]
    assert [m.t_ns for m in positives] == [o.acted_ns - SECOND for o in true.opportunities if o.acted_ns is not None]
    assert {(m.intention, m.query) for m in positives} == {("Translation", "how?")}


def test_negatives_are_as_many_and_keep_their_distance() -> None:
    events, true = session()
    plan = sample(events, true, 1)
    times = [m.t_ns for m in plan.moments if not m.positive]
    assert len(times) == 3
    assert plan.short == 0
    starts = {e.start_ns for e in events if not e.assistance}
    for t in times:
        assert t + SECOND in starts
        assert not any(
            o.opens_ns <= t <= a.end_ns + ns(60) for o, a in zip(true.opportunities, true.assists, strict=True)
        )
    assert all(b - a >= APART_NS for a, b in pairwise(times))


def test_a_negative_shows_what_the_positive_showed() -> None:
    # Each need arises in the browser, so the screen 1 s before a negative must show the browser too.
    events, true = session()
    for moment in sample(events, true, 1).moments:
        shown = next(e for e in events if e.start_ns <= moment.t_ns < e.end_ns)
        assert shown.app == "Browser"


def test_the_same_seed_gives_the_same_list_and_another_breaks_ties_otherwise() -> None:
    events, true = session(n_needs=1, minutes=12)
    twins = [event(60 * i, 60 * (i + 1), "Editor", "same") for i in range(12)]
    plans = [sample(twins, true, seed) for seed in range(20)]
    assert plans[3] == sample(twins, true, 3)
    assert plans[3].digest() == sample(list(reversed(twins)), true, 3).digest()
    assert sample(events, true, 3).digest() != plans[3].digest()


def test_ties_are_broken_by_the_seed() -> None:
    # Two equally alike candidates, 1000 s before the positive and 1000 s after it.
    events = [event(0, 2600), event(2600, 3600), event(3601, 4600), event(4600, 5000)]
    true = truth(8000, [need("n", 3540, 3600)], assists=(Assist(ns(3600), ns(3601)),))
    chosen = {m.t_ns for seed in range(20) for m in sample(events, true, seed).moments if not m.positive}
    assert chosen == {ns(2599), ns(4599)}


def test_needs_that_give_no_moment_are_counted_with_their_reason() -> None:
    needs = [
        Opportunity("a", ns(100), ns(101), "x", acted_ns=ns(101), unservable="under 2 s"),
        Opportunity("b", ns(200), ns(220), "x"),
        Opportunity("c", ns(300), ns(320), "x", acted_ns=ns(320)),
    ]
    plan = sample([event(0, 400)], truth(400, needs, gaps=[(310, 330)]), 1)
    assert dict(plan.left_out) == {"unservable (under 2 s)": 1, "the user's act is unknown": 1, "inside a gap": 1}
    assert plan.moments == ()
    assert "inside a gap" in plan.rule


def test_no_negative_is_taken_twice_or_near_another() -> None:
    # The candidates lie 30 s apart and look the same; the nearest to the second need is too near the first choice.
    events = [*(event(30 * i, 30 * (i + 1)) for i in range(10)), event(300, 1000)]
    needs = [need("a", 390, 400), need("b", 490, 500)]
    times = [m.t_ns for m in sample(events, truth(1000, needs), 1).moments if not m.positive]
    assert times == [ns(239), ns(299)]


def test_too_few_candidates_are_said() -> None:
    events = [event(0, 60), event(60, 120, "Chat", "assistant", assistance=True)]
    plan = sample(events, truth(200, [need("n", 20, 60)]), 1)
    assert plan.short == 1
    assert "1 negatives short: not balanced" in plan.rule


def test_a_long_session_is_planned_quickly() -> None:
    events, true = session(n_needs=200, minutes=6200)
    assert len(sample(events, true, 1).moments) == 400
