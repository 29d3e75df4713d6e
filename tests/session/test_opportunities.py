"""Needs out of assistance events, and labels out of the same: the rule of scoring.md, section 0."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.core.types import SECOND, Event, Label
from simulator.session.opportunities import LeadRule, Released, derive, follow_ups, label_events, questions
from simulator.session.truth import Assist, Gap, Opportunity

S = SECOND
END = 1000


def _derive(
    assists: list[tuple[float, float]], gaps: list[tuple[int, int]] | None = None, silent: tuple[int, int] = (0, 0)
) -> list[Opportunity]:
    """Needs of a session of 1000 s with a row a second, save in gaps and in one silent stretch."""
    stretches = [Gap(a * S, b * S, "suspend") for a, b in gaps or []]
    times = [t for t in range(END) if not any(a <= t < b for a, b in [*(gaps or []), silent])]
    released = Released(np.array(times, dtype=np.int64) * S, stretches, S, END * S)
    return list(
        derive([Assist(round(a * S), round(b * S), "Translation", "q") for a, b in assists], released, stretches)
    )


def _windows(needs: list[Opportunity]) -> list[tuple[float, float, str | None]]:
    return [(n.opens_ns / S, n.closes_ns / S, n.unservable) for n in needs]


def test_a_need_opens_60_s_before_the_user_asked_and_closes_then() -> None:
    (need,) = _derive([(100, 150)])
    assert _windows([need]) == [(40, 100, None)]
    assert (need.id, need.acted_ns, need.intention, need.query, need.origin) == (
        "a0",
        100 * S,
        "Translation",
        "q",
        "recorded",
    )


def test_it_does_not_open_before_the_session_the_last_answer_a_gap_or_a_pause() -> None:
    assert _windows(_derive([(30, 40)])) == [(0, 30, None)]
    assert _windows(_derive([(100, 150), (190, 200)])) == [(40, 100, None), (150, 190, None)]
    assert _windows(_derive([(200, 210)], gaps=[(100, 160)])) == [(160, 200, None)]
    assert _windows(_derive([(200, 210)], silent=(100, 170))) == [(170, 200, None)]
    assert _windows(_derive([(200, 210)], silent=(120, 175))) == [(140, 200, None)], "a pause of under 60 s is work"


def test_asking_again_within_30_s_is_a_follow_up_and_not_a_need() -> None:
    assert _windows(_derive([(100, 150), (179.9, 185), (215, 220)])) == [(40, 100, None), (185, 215, None)]
    starts_and_ends = [(0, 10), (5, 6), (39, 50), (80, 90)]
    assert follow_ups([Assist(a * S, b * S) for a, b in starts_and_ends]) == [False, True, True, False]


def test_windows_too_short_or_without_a_snapshot_are_kept_as_unservable() -> None:
    (at_start,) = _derive([(0, 5)])
    assert at_start.unservable == "under 2 s"
    assert at_start.opens_ns < at_start.closes_ns, "also a need that nobody could serve is a window"
    assert _windows(_derive([(1.5, 5)])) == [(0, 1.5, "under 2 s")]
    in_gap, *_ = _derive([(130, 140)], gaps=[(100, 160)])
    assert in_gap.unservable == "under 2 s"


def test_a_window_in_which_nothing_is_released_is_unservable() -> None:
    gaps = [Gap(50 * S, 90 * S, "locked")]
    released = Released(np.array([0, 1, 100], dtype=np.int64) * S, gaps, S, 101 * S)
    assert not released.any_in(92 * S, 99 * S)
    assert released.any_in(40 * S, 45 * S), "held on a still screen"


def test_an_event_without_intention_is_uncategorized() -> None:
    released = Released(np.arange(100, dtype=np.int64) * S, [], S, 100 * S)
    (need,) = derive([Assist(50 * S, 60 * S)], released, [])
    assert need.intention == "Uncategorized"


def test_the_rule_says_its_own_numbers() -> None:
    assert "60 s" in LeadRule().text
    assert "45 s" in LeadRule(lead_ns=45 * S).text


def _event(n: int, start: float, end: float, *, assistance: bool = False) -> Event:
    return Event(f"e{n}", "ada", round(start * S), round(end * S), assistance=assistance)


def test_the_label_belongs_to_the_event_in_which_the_need_arose() -> None:
    events = [_event(0, 0, 50), _event(1, 50, 100), _event(2, 100, 150, assistance=True), _event(3, 150, 200)]
    asked = questions((), [Assist(100 * S, 150 * S, "Translation", "what is 'gap'?")])
    labelled, labeller = label_events(events, asked)
    assert (labeller.n_homeless, labeller.n_passed_over) == (0, 0)
    assert [label for _, label in labelled] == [
        Label("e0", "ada", False, 50 * S),
        Label("e1", "ada", True, 100 * S, "Translation", "what is 'gap'?"),
        None,
        Label("e3", "ada", False, 200 * S),
    ]


def test_a_need_in_the_midst_of_an_event_is_known_before_the_event_closes() -> None:
    labelled, _ = label_events([_event(0, 0, 50)], questions((), [Assist(20 * S, 25 * S, "Translation")]))
    assert labelled[0][1] == Label("e0", "ada", True, 20 * S, "Translation")


def test_follow_ups_give_no_label_and_needs_without_an_event_are_counted() -> None:
    events = [_event(0, 0, 10, assistance=True), _event(1, 10, 20), _event(2, 20, 30, assistance=True)]
    asked = questions((), [Assist(0, 10 * S, "Translation"), Assist(20 * S, 30 * S, "Summarization")])
    labelled, labeller = label_events(events, asked)
    assert [label and label.help for _, label in labelled] == [None, False, None]
    assert labeller.n_homeless == 1


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_history_comes_in_order_of_the_events_ends(order: list[int]) -> None:
    events = [_event(0, 0, 10), _event(1, 5, 12), _event(2, 12, 14)]
    labelled, _ = label_events([events[i] for i in order], [])
    assert [e.id for e, _ in labelled] == ["e0", "e1", "e2"]
