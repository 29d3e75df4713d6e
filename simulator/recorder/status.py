"""How a recording is doing: the figures while it runs, the heartbeat that others can read, the state of a folder.

A recorder that has died looks exactly like one that has nothing to say. So it writes ``status.json`` beside the session
at every tick; whoever reads that knows how long ago the last tick was, and whether anybody still writes.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from simulator.core.faults import told
from simulator.core.lock import is_locked
from simulator.core.types import SECOND
from simulator.recorder.machine import boot_id
from simulator.recorder.ticks import HUNG_NS, Clocks
from simulator.session.reader import connect
from simulator.session.schema import FILE_NAME, LOCK

__all__ = ["BEAT", "HANGS", "LOCK", "PAUSE", "SAID", "Facts", "status", "write_beat"]

BEAT = "status.json"
PAUSE = "pause"
"""A file of this name in the session's folder makes the recorder pause for as long as it is there."""

SAID = {
    "paused": "paused: nothing is recorded",
    "locked": "the screen is locked",
    "excluded": "something that is excluded cannot be covered, or it cannot be told which windows are to be seen",
    "disk_full": "no room: the disk is nearly full or the budget is used up; recording goes on when there is room",
    "display_lost": "the display is gone; trying again",
    "permission": "the system does not permit to capture the screen",
    "blank": "the screen shows nothing",
    "overload": "this machine is too busy: ticks are missed",
    "suspend": "the machine slept",
    "missing": "what was seen cannot be written",
}
"""What is told of a gap while it lasts."""

HANGS = "the screen does not answer, so nothing is recorded; waiting for it"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a progress line needs to know of a running recording.

    Attributes:
        last_tick_age_s: since the last tick that was dealt with, recorded or not; None before the first.
        last_row_age_s: since the last row.
        trouble: reason of the gap that the last tick is part of; None if it was recorded.
        fault: what kind of fault the last thing that could not be written met; None if all could.
        n_rows: written, in this recording.
        n_pictures: distinct ones written.
        gaps: ticks by reason.
        late_p99_ms: how late looks were taken, 99th percentile of the last 3,600.
        n_bytes: size of the session.
        kb_per_s: by which it grew, on average.
        cpu_percent: of one core, on average.
        rss_bytes: memory held; None if unknown.
        queue: pictures that wait to be written.
        n_quick: pictures written by the quick method, which ``dataset compact`` makes smaller.
        events_closed: so far.
        event_open: whether one is.
        quality: counts of the events' sieve, and of rows without application or title, with a blank picture, with a
            focus that changed while they were taken, with something covered.
        own_missing: our own window was not there to be covered at the last tick.
        page_missing: the window of a live run's page was not.
        screened: counts of the screener, by outcome; empty without one.
        looking_s: how long the look in hand has taken so far; 0 between two looks.
    """

    last_tick_age_s: float | None = None
    last_row_age_s: float | None = None
    trouble: str | None = None
    fault: str | None = None
    n_rows: int = 0
    n_pictures: int = 0
    gaps: Mapping[str, int] = field(default_factory=dict)
    late_p99_ms: float | None = None
    n_bytes: int = 0
    kb_per_s: float = 0.0
    cpu_percent: float = 0.0
    rss_bytes: int | None = None
    queue: int = 0
    n_quick: int = 0
    events_closed: int = 0
    event_open: bool = False
    quality: Mapping[str, Any] = field(default_factory=dict)
    own_missing: bool = False
    page_missing: bool = False
    screened: Mapping[str, int] = field(default_factory=dict)
    looking_s: float = 0.0

    @property
    def hangs(self) -> bool:
        """Whether the screen has not answered for so long that this is no busy machine any more."""
        return self.looking_s >= HUNG_NS / SECOND

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def write_beat(folder: Path, facts: Facts, clocks: Clocks) -> None:
    """Write the heartbeat, whole; where the disk has no room, the old one stays and grows old."""
    beat = {"pid": os.getpid(), "boot_id": boot_id(), "boot_ns": clocks.boot(), "wall_ns": clocks.wall()}
    part = folder / f"{BEAT}.part"
    try:
        part.write_text(json.dumps({**beat, **facts.as_dict()}) + "\n", encoding="utf-8")
        part.replace(folder / BEAT)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def status(folder: Path, clocks: Clocks | None = None) -> dict[str, Any]:
    """What a session folder says of its recording, running or not. Only reads.

    Returns:
        ``state``: ``recording``, ``paused``, ``died`` (not closed, and nobody writes), ``closed`` or ``recovered``;
        ``rows``, ``ticks``, ``gaps`` (ticks by reason), ``events``, ``pictures``, ``bytes``, ``seconds``, ``kb_per_s``,
        ``last_tick_age_s`` and ``last_row_age_s`` (None for a closed one), ``trouble``, and of a running one ``now``,
        the recorder's own figures.

    Raises:
        InputError: there is no session, or it cannot be read.
    """
    clocks = clocks or Clocks()
    file = folder / FILE_NAME
    with told(file), contextlib.closing(connect(file)) as db:
        meta = dict(db.execute("SELECT key, value FROM meta"))
        rows, ticks, first, last, wall = db.execute(
            "SELECT COUNT(*), COUNT(DISTINCT tick), MIN(captured_ns), MAX(captured_ns), MAX(wall_utc_ms) "
            "FROM screenshots"
        ).fetchone()
        (distinct,) = db.execute("SELECT COUNT(DISTINCT file_path) FROM screenshots").fetchone()
        (events,) = db.execute("SELECT COUNT(*) FROM events").fetchone()
        gaps = dict(db.execute("SELECT reason, SUM(to_tick - from_tick + 1) FROM gaps GROUP BY reason ORDER BY reason"))
        seconds = (last - first + int(meta.get("period_ns", SECOND))) / SECOND if rows else 0.0
    beat = _beat(folder)
    state = meta.get("state", "closed")
    if state == "recording":
        state = "died" if not is_locked(folder / LOCK) else "paused" if beat.get("trouble") == "paused" else "recording"
    pictures = [f for f in (folder / "screenshots").rglob("*") if f.is_file() and f.suffix != ".part"]
    size = sum(f.stat().st_size for f in [*pictures, *folder.glob(FILE_NAME + "*")])
    open_ = state in ("recording", "paused", "died")
    return {
        "state": state,
        "session": meta.get("session"),
        "user": meta.get("user"),
        "rows": rows,
        "ticks": ticks,
        "gaps": gaps,
        "events": events,
        "pictures": distinct,
        "bytes": size,
        "seconds": seconds,
        "kb_per_s": size / 1000 / seconds if seconds else None,
        "last_tick_age_s": _age_s(beat, "last_tick_age_s", clocks) if open_ else None,
        "last_row_age_s": _row_age_s(beat, wall, clocks) if open_ else None,
        "trouble": beat.get("trouble") if state in ("recording", "paused") else None,
        "now": {k: v for k, v in beat.items() if k in Facts.__slots__} if state in ("recording", "paused") else None,
    }


def _beat(folder: Path) -> dict[str, Any]:
    try:
        said = json.loads((folder / BEAT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _age_s(beat: Mapping[str, Any], key: str, clocks: Clocks) -> float | None:
    """An age as of now that the heartbeat tells as of when it was written."""
    then = beat.get(key)
    if not isinstance(then, int | float):
        return None
    same_boot = beat.get("boot_id") is not None and beat["boot_id"] == boot_id()
    now, at = (clocks.boot(), beat.get("boot_ns")) if same_boot else (clocks.wall(), beat.get("wall_ns"))
    return None if not isinstance(at, int) else then + max(0, now - at) / SECOND


def _row_age_s(beat: Mapping[str, Any], wall_ms: int | None, clocks: Clocks) -> float | None:
    told = _age_s(beat, "last_row_age_s", clocks)
    if told is not None or wall_ms is None:
        return told
    return max(0.0, clocks.wall() / SECOND - wall_ms / 1000)
