from __future__ import annotations

from simulator.core.types import SECOND, Event
from simulator.runs.history import HistoryView, Recent
from simulator.session.segmentation import Segmenter
from tests.worlds import screen


def recent(window_s: int = 300) -> Recent:
    return Recent(Segmenter("u", "s"), window_s * SECOND)


def test_a_view_holds_the_window_and_the_open_event_cut_at_its_instant() -> None:
    past = recent(10)
    for row in screen("aaabbbbbbbcccccccccdd").rows:
        past.saw(row)
    view = HistoryView(past, 20 * SECOND)
    assert [(e.app, e.end_ns // SECOND) for e in view.events] == [("b", 10), ("c", 19)]
    assert view.current is not None
    assert (view.current.app, view.current.start_ns, view.current.end_ns) == ("d", 19 * SECOND, 20 * SECOND)
    assert [s.index for s in view.snapshots(3)] == [18, 19, 20]
    assert len(view.snapshots(99)) == 21
    assert list(view.snapshots(0)) == []


def test_behind_a_gap_nothing_is_open_until_something_was_seen() -> None:
    past = recent()
    past.saw(screen("a").rows[0])
    closed = past.gap(5 * SECOND)
    assert closed is not None
    assert closed.end_ns == 5 * SECOND
    assert HistoryView(past, 9 * SECOND).current is None


def test_old_views_stay_whole_when_a_long_past_is_trimmed() -> None:
    past = recent()
    rows = screen("ab" * 5000).rows
    views = []
    for row in rows:
        past.saw(row)
        if row.index % 997 == 500:
            view = HistoryView(past, row.captured_ns)
            views.append((row.index, view, list(view.events), view.snapshots(600)))
    for index, view, events, snapshots in views:
        assert view.events == events
        assert view.snapshots(600) == snapshots
        assert snapshots[-1].index == index
        assert len(snapshots) == min(600, index + 1)
        assert events[-1].end_ns == index * SECOND
        assert len(events) == min(301, index)
    assert len(past.seen) <= 2400
    assert len(past.events) <= 2400


def test_a_window_that_holds_many_events_keeps_them_all() -> None:
    past = recent(10**6)
    for i in range(10_000):
        past.remember(Event(str(i), "u", i * SECOND, (i + 1) * SECOND))
    assert len(HistoryView(past, 10_000 * SECOND).events) == 10_000
