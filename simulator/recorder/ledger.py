"""What a look adds to the session: rows, masks, notes, and the event that it closed; with counts of their quality.

Events are cut and judged by the code that cuts and judges them offline (``session.segmentation``, ``session.quality``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from simulator.core.calendar import from_utc_ns
from simulator.core.types import MS, Event, Snapshot
from simulator.recorder.looking import Seen, Sight
from simulator.recorder.machine import offset_min
from simulator.recorder.saving import Rows
from simulator.recorder.shots import Shot
from simulator.session.quality import Sieve
from simulator.session.segmentation import Segmenter

__all__ = ["Ledger"]


class Ledger:
    """Turns looks into rows and events. Not for several threads.

    Args:
        user: whose session it is.
        session: its name.
        zone: IANA name of the zone that offsets are told in.
        period_ns: of the ticks.
        first_event: number of the first event.

    Attributes:
        events_closed: so far.
    """

    def __init__(self, user: str, session: str, zone: str, period_ns: int, first_event: int = 1) -> None:
        self._segmenter, self._sieve = Segmenter(user, session), Sieve()
        self._zone, self._period_ns = zone, period_ns
        self._event, self._is_open = first_event, False
        self._start_tick = self._last_tick = self._last_ns = self._start_utc_ns = self._n_shots = 0
        self._n_snapshots = 0
        self._counts: Counter[str] = Counter()
        self._notes: list[dict[str, Any]] = []
        self.events_closed = 0

    @property
    def event_open(self) -> bool:
        """Whether an event is."""
        return self._is_open

    def quality(self) -> Mapping[str, Any]:
        """Counts of events and of what is odd about rows."""
        return {**self._sieve.summary(), **dict(sorted(self._counts.items()))}

    def note(self, tick: int, kind: str, detail: str | None = None, monitor: int | None = None) -> None:
        """Something odd, kept with the next rows."""
        self._notes.append({"tick": tick, "monitor": monitor, "kind": kind, "detail": detail})

    def sight(self, tick: int, sight: Sight, utc_ns: int) -> tuple[Rows, list[Shot]]:
        """What a look adds.

        Args:
            tick: which.
            sight: what was seen.
            utc_ns: the calendar's time at ``sight.captured_ns``.
        """
        event = self._pushed(tick, sight, utc_ns)
        rows = [(self._row(tick, sight, seen, utc_ns), seen.image) for seen in sight.seen]
        masks = [
            {"tick": tick, "monitor": seen.monitor, "x": x, "y": y, "w": w, "h": h, "reason": reason}
            for seen in sight.seen
            for x, y, w, h, reason in seen.masks
        ]
        self._count(tick, sight)
        notes, self._notes = self._notes, []
        return Rows(tick, rows, masks, notes, event), [self._shot(tick, sight, seen) for seen in sight.seen]

    def gap(self, start_ns: int) -> dict[str, Any] | None:
        """Nothing is known from that instant on: the columns of the event that ends there, if one was open."""
        closed = self._segmenter.gap(start_ns)
        return None if closed is None else self._closed(closed)

    def end(self) -> dict[str, Any] | None:
        """The session ends a period after its last row: the columns of the event that was open, if one was."""
        closed = self._segmenter.flush(self._last_ns + self._period_ns)
        return None if closed is None else self._closed(closed)

    def _pushed(self, tick: int, sight: Sight, utc_ns: int) -> dict[str, Any] | None:
        window, captured = sight.window, sight.captured_ns
        app, title = (None, None) if window is None else (window.app, window.title)
        closed = self._segmenter.push(Snapshot(self._n_snapshots, captured, captured, app, title))
        row = None if closed is None else self._closed(closed)
        if not self._is_open:
            self._is_open, self._start_tick, self._start_utc_ns = True, tick, utc_ns
        self._n_snapshots += 1
        self._n_shots += 1
        self._last_tick, self._last_ns = tick, captured
        return row

    def _closed(self, event: Event) -> dict[str, Any]:
        end_utc_ns = self._start_utc_ns + event.end_ns - event.start_ns
        row = {
            "id": self._event,
            "start_time": from_utc_ns(self._start_utc_ns).isoformat(),
            "end_time": from_utc_ns(end_utc_ns).isoformat(),
            "start_tick": self._start_tick,
            "end_tick": self._last_tick,
            "start_ns": event.start_ns,
            "end_ns": event.end_ns,
            "app_name": event.app,
            "window_title": event.title,
            "excluded": self._sieve.reason(event.start_ns, event.end_ns, self._n_shots, assistance=False),
        }
        self._event, self._is_open, self._n_shots = self._event + 1, False, 0
        self.events_closed += 1
        return row

    def _row(self, tick: int, sight: Sight, seen: Seen, utc_ns: int) -> dict[str, Any]:
        window = sight.window
        row = {
            "tick": tick,
            "captured_ns": sight.captured_ns,
            "wall_utc_ms": utc_ns // MS,
            "tz_offset_min": offset_min(utc_ns, self._zone),
            "late_ms": (sight.captured_ns - tick * self._period_ns) / MS,
            "monitor": seen.monitor,
            "file_path": seen.path,
            "pixels_hash": seen.pixels_hash,
            "width": seen.width,
            "height": seen.height,
            "scale": seen.scale,
            "monitor_x": None if seen.origin is None else seen.origin[0],
            "monitor_y": None if seen.origin is None else seen.origin[1],
            "focus_changed": int(sight.focus_changed),
            "change_score": seen.change,
            "event_id": self._event,
        }
        if window is not None:
            row |= {
                "app_name": window.app,
                "window_title": window.title,
                "window_class": window.window_class,
                "pid": window.pid,
                "window_x": window.x,
                "window_y": window.y,
                "window_w": window.width,
                "window_h": window.height,
            }
        return row

    def _shot(self, tick: int, sight: Sight, seen: Seen) -> Shot:
        app, title = (None, None) if sight.window is None else (sight.window.app, sight.window.title)
        late = sight.captured_ns - tick * self._period_ns
        return Shot(tick, sight.captured_ns, late, seen.monitor, app, title, seen.path, seen.pixels_hash, seen.image,
                    seen.width, seen.height)  # fmt: skip

    def _count(self, tick: int, sight: Sight) -> None:
        app, title = (None, None) if sight.window is None else (sight.window.app, sight.window.title)
        odd = {
            "no_app": app is None,
            "no_title": title is None,
            "focus_changed": sight.focus_changed,
            "blank": any(seen.blank for seen in sight.seen),
            "masked": any(seen.masks for seen in sight.seen),
        }
        self._counts.update(name for name, is_so in odd.items() if is_so)
        for seen in sight.seen:
            if seen.blank:
                self.note(tick, "blank", None, seen.monitor)
        if sight.monitors_changed:
            said = ", ".join(f"{seen.monitor}: {seen.width}x{seen.height}" for seen in sight.seen)
            self.note(tick, "monitors", said)
