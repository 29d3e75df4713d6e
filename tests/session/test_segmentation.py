"""Snapshots to events, by the rules of the field's recorder."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.errors import UsageError
from simulator.core.types import SECOND, Event, Snapshot
from simulator.session.segmentation import RULES, Segmenter

Seen = tuple[str | None, str | None]


def _events(seen: list[Seen], rule: str) -> list[Event]:
    segmenter = Segmenter("u", "s", rule)
    pushed = [segmenter.push(Snapshot(i, i * SECOND, i * SECOND, *what)) for i, what in enumerate(seen)]
    return [e for e in [*pushed, segmenter.flush(len(seen) * SECOND)] if e is not None]


def _windows(events: list[Event]) -> list[tuple[int, int]]:
    return [(e.start_ns // SECOND, e.end_ns // SECOND) for e in events]


def test_rule_app_ignores_titles_and_keeps_the_first() -> None:
    events = _events([("a", "x"), ("a", "y"), ("A", "y"), ("b", "y")], "app")
    assert _windows(events) == [(0, 2), (2, 3), (3, 4)]
    assert [e.title for e in events] == ["x", "y", "y"]


def test_rule_app_title_folds_the_app_and_strips_the_title() -> None:
    events = _events([("a", "x"), ("A", " x "), ("a", "X"), ("a", "y")], "app_title")
    assert _windows(events) == [(0, 2), (2, 3), (3, 4)]


def test_rule_app_clean_title_survives_an_unsaved_mark() -> None:
    seen: list[Seen] = [("code", "k.py"), ("code", "● k.py"), ("code", "k.py"), ("code", "m.py")]
    assert _windows(_events(seen, "app_clean_title")) == [(0, 3), (3, 4)]
    assert _windows(_events(seen, "app_title")) == [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize("rule", RULES)
def test_an_unknown_application_closes_the_event_before_and_is_closed_by_the_next(rule: str) -> None:
    assert _windows(_events([("a", "x"), (None, None), (None, None), ("a", "x")], rule)) == [(0, 1), (1, 3), (3, 4)]


def test_a_gap_closes_and_the_next_snapshot_opens_anew_in_the_same_window() -> None:
    segmenter = Segmenter("u", "s")
    assert segmenter.push(Snapshot(0, 0, 0, "a", "x")) is None
    closed = segmenter.gap(5 * SECOND)
    assert closed is not None
    assert (closed.start_ns, closed.end_ns) == (0, 5 * SECOND)
    assert segmenter.gap(6 * SECOND) is None
    assert segmenter.current(7 * SECOND) is None
    assert segmenter.push(Snapshot(1, 9 * SECOND, 9 * SECOND, "a", "x")) is None
    current = segmenter.current(10 * SECOND)
    assert current is not None
    assert (current.id, current.start_ns, current.end_ns) == ("s/1", 9 * SECOND, 10 * SECOND)


def test_the_open_event_is_cut_at_now_and_has_the_id_it_will_keep() -> None:
    segmenter = Segmenter("u", "s")
    segmenter.push(Snapshot(0, 0, 0, "a", "x", "ide"))
    current = segmenter.current(3)
    closed = segmenter.push(Snapshot(1, 5, 5, "b", "x"))
    assert current is not None
    assert closed is not None
    assert (current.end_ns, closed.end_ns, current.id, current.category) == (3, 5, closed.id, "ide")


def test_an_unknown_rule_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'app_title'"):
        Segmenter("u", "s", "app_titel")


_NAMES = st.sampled_from([None, "a", "A", "b"])


@given(st.lists(st.tuples(_NAMES, _NAMES), min_size=1, max_size=40), st.sampled_from(sorted(RULES)))
def test_events_touch_cover_everything_and_group_equal_keys(seen: list[Seen], rule: str) -> None:
    events = _events(seen, rule)
    assert [e.id for e in events] == [f"s/{i}" for i in range(len(events))]
    assert events[0].start_ns == 0
    assert events[-1].end_ns == len(seen) * SECOND
    assert all(a.end_ns == b.start_ns for a, b in pairwise(events))
    lengths = [len(list(group)) for _, group in groupby(seen, key=lambda s: RULES[rule](*s))]
    assert [(e.end_ns - e.start_ns) // SECOND for e in events] == lengths
