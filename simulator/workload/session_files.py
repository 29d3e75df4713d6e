"""Writing a made-up day as a recorded session with its scenario, through the real store.

A row at each change of window and every ``rows_every_s`` while nothing changes; a player holds the screen in between.
Longer times away are gaps with the reason ``locked``. Truth is what the session's own table of events says: needs are
derived from the events with an assistant by the published lead rule, follow-ups included.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import yaml

from simulator.core.calendar import to_utc_ns
from simulator.core.types import SECOND
from simulator.session.store import QUICK, Writer
from simulator.workload.hours import DAY_S
from simulator.workload.named import Named, Namer
from simulator.workload.person import Person
from simulator.workload.pictures import draw
from simulator.workload.words import screen_lines

__all__ = ["Days", "Images", "Wrote"]

Images = Literal["none", "few", "all"]
_COLUMNS = (
    "tick", "captured_ns", "wall_utc_ms", "tz_offset_min", "monitor", "app_name", "window_title", "event_id", "text",
    "file_path", "file_hash", "pixels_hash", "file_size", "width", "height",
)  # fmt: skip
_PICTURE = _COLUMNS[9:]
_LEAST_ROWS = 3  # of an event with an assistant: with fewer, it is one to be looked at


@dataclass(slots=True)
class Wrote:
    """What was written."""

    n_sessions: int = 0
    n_rows: int = 0
    n_events: int = 0


class Days:
    """Writes days of one user.

    Args:
        home: the user's folder.
        person, namer: whose days.
        images: none, few (one picture a window) or all (one a row).
        size: of the pictures, pixels.
    """

    def __init__(self, home: Path, person: Person, namer: Namer, images: Images, size: tuple[int, int]) -> None:
        self._home, self._person, self._namer, self._images, self._size = home, person, namer, images, size
        first = person.recipe.first_day
        self._midnight = datetime(first.year, first.month, first.day, tzinfo=UTC)
        self.wrote = Wrote()

    def write(self, day: int, events: Sequence[Named]) -> Path:
        """The session of one day, and its scenario; the folder."""
        person = self._person
        date = (self._midnight + timedelta(days=day)).date().isoformat()
        folder, zero = self._home / date, events[0].start_s
        anchor = to_utc_ns(self._midnight) + zero * SECOND
        named = f"{person.user}-{date}"
        meta = {
            "recorder": "generator", "synthetic": "yes", "recipe": person.recipe.name, "seed": str(person.seed),
            "codec": "none" if self._images == "none" else "webp lossless", "sqlite": "not said",
            "segmentation": "app_title",
        }  # fmt: skip
        writer = Writer(folder, session=named, user=person.user, utc_anchor_ns=anchor, meta=meta)
        with writer:
            writer.add_rows(_COLUMNS, self._rows(writer, events, zero, anchor))
            writer.events(self._event(i, event, zero) for i, event in enumerate(events, 1))
            for before, after in pairwise(events):
                if after.start_s > before.end_s:
                    writer.gap(before.end_s - zero, after.start_s - zero - 1, "locked")
            writer.set_profile(json.loads((self._home / "profile.json").read_text(encoding="utf-8")))
            writer.close(end_ns=(events[-1].end_s - zero) * SECOND)
        self._scenario(folder, named)
        self.wrote.n_sessions += 1
        self.wrote.n_events += len(events)
        return folder

    def _rows(self, writer: Writer, events: Sequence[Named], zero: int, anchor: int) -> Iterator[tuple[Any, ...]]:
        every = self._person.recipe.events.rows_every_s
        for number, event in enumerate(events, 1):
            app, title, topic = self._namer.windows[event.window]
            lines = (
                [app, title, event.query or ""] if event.assistance else screen_lines(app, title, topic, event.window)
            )
            text = "\n".join(lines)
            step = max(1, min(every, (event.end_s - event.start_s) // _LEAST_ROWS)) if event.assistance else every
            for at in range(event.start_s, event.end_s, step):
                tick = at - zero
                picture = self._picture(writer, app, lines[1:], at)
                yield (
                    tick, tick * SECOND, anchor // 1_000_000 + tick * 1000, 0, 0, app, title, number, text, *picture
                )  # fmt: skip
                self.wrote.n_rows += 1

    def _picture(self, writer: Writer, app: str, lines: Sequence[str], at: int) -> tuple[Any, ...]:
        if self._images == "none":
            return (None,) * len(_PICTURE)
        second = at % DAY_S
        clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}" if self._images == "all" else ""
        kept = writer.keep(draw(app, lines, clock, self._size), method=QUICK)
        return tuple(kept[column] for column in _PICTURE)

    def _event(self, number: int, event: Named, zero: int) -> dict[str, Any]:
        app, title, _ = self._namer.windows[event.window]
        start, end = event.start_s - zero, event.end_s - zero
        row: dict[str, Any] = {
            "id": number, "start_time": self._iso(event.start_s), "end_time": self._iso(event.end_s),
            "start_tick": start, "end_tick": end, "start_ns": start * SECOND, "end_ns": end * SECOND,
            "app_name": app, "window_title": title, "is_llm_event": int(event.assistance),
        }  # fmt: skip
        if event.assistance:
            asked = json.dumps({"user_queries": [event.query], "llm_responses": []}, ensure_ascii=False)
            row |= {"conversation": asked, "llm_platform": title.partition(" - ")[0], "user_intention": event.intention}
        return row

    def _iso(self, at_s: int) -> str:
        return (self._midnight + timedelta(seconds=at_s)).isoformat()

    def _scenario(self, folder: Path, named: str) -> None:
        person = self._person
        said = {
            "session": ".",
            "name": named,
            "description": f"SYNTHETIC: a day of nobody, made by proact from the recipe {person.recipe.name}, "
            f"seed {person.seed}",
            "user": person.user,
            "history": ["../history.jsonl"],
            "truth": "recorded",
        }
        head = "# SYNTHETIC: nobody's day. Truth: needs derived from the session's events with an assistant.\n"
        text = head + yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=1000)
        (folder / "scenario.yaml").write_text(text, encoding="utf-8", newline="\n")
