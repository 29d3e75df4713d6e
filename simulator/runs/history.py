"""The recent past as an agent sees it: a view that ends where its decision starts, not a copy.

Lists only grow, and a view keeps a list together with its length at the start: what is appended later lies beyond its
end, also when a thread reads while the engine goes on. When a list has grown long, the engine starts a new one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from simulator.core.types import Event, Snapshot
from simulator.session.segmentation import Segmenter

__all__ = ["HistoryView", "Recent"]

KEPT_SNAPSHOTS = 600
_TRIM_AT = 4 * KEPT_SNAPSHOTS


class Recent:
    """What has been seen so far, kept by the engine: closed events, the open one, the last snapshots."""

    __slots__ = ("_app", "_segmenter", "_title", "_trim_events_at", "events", "open", "seen", "window_ns")

    def __init__(self, segmenter: Segmenter, window_ns: int) -> None:
        self._segmenter, self.window_ns = segmenter, window_ns
        self.events: list[Event] = []
        self._trim_events_at = _TRIM_AT
        self.seen: list[Snapshot] = []
        self.open: Event | None = None
        self._app: str | None = None
        self._title: str | None = None

    def saw(self, snapshot: Snapshot) -> Event | None:
        """A snapshot was released; the event that it proved closed, if it did."""
        if len(self.seen) >= _TRIM_AT:
            self.seen = self.seen[-KEPT_SNAPSHOTS:]
        self.seen.append(snapshot)
        if snapshot.app is self._app and snapshot.title is self._title and self.open is not None:
            return None  # the very same window, as nearly always
        self._app, self._title = snapshot.app, snapshot.title
        closed = self._segmenter.push(snapshot)
        if closed is not None:
            self.remember(closed)
        if closed is not None or self.open is None:
            self.open = self._segmenter.current(snapshot.captured_ns)
        return closed

    def gap(self, start_ns: int) -> Event | None:
        """Recording stopped for a while; the event that was open until then."""
        closed, self.open = self._segmenter.gap(start_ns), None
        if closed is not None:
            self.remember(closed)
        return closed

    def remember(self, event: Event) -> None:
        """An event closed, in the session or before it."""
        if len(self.events) >= self._trim_events_at:
            kept = bisect_left(self.events, event.end_ns - self.window_ns, key=lambda e: e.end_ns)
            self.events = self.events[kept:]
            self._trim_events_at = max(_TRIM_AT, 2 * len(self.events))  # a wide window holds many: copy them seldom
        self.events.append(event)


class HistoryView:
    """See ``core.protocols.History``."""

    __slots__ = ("_events", "_n_events", "_n_seen", "_now_ns", "_open", "_seen", "_window_ns")

    def __init__(self, recent: Recent, now_ns: int) -> None:
        self._now_ns, self._window_ns, self._open = now_ns, recent.window_ns, recent.open
        self._events, self._seen = recent.events, recent.seen
        self._n_events, self._n_seen = len(recent.events), len(recent.seen)

    @property
    def events(self) -> Sequence[Event]:
        """Closed events that ended within the history window, oldest first."""
        first = bisect_left(self._events, self._now_ns - self._window_ns, hi=self._n_events, key=lambda e: e.end_ns)
        return self._events[first : self._n_events]

    @property
    def current(self) -> Event | None:
        """The event still open, cut at now."""
        return None if self._open is None else replace(self._open, end_ns=max(self._now_ns, self._open.start_ns))

    def snapshots(self, k: int) -> Sequence[Snapshot]:
        """The last k snapshots released (600 are kept), oldest first."""
        return self._seen[max(0, self._n_seen - k) : self._n_seen]
