"""What is shown of an event: its window, and its first three and last three different screenshots.

ProAgentBench shows the first and last three screenshots; a still screen repeats one picture each second, so ours are
different ones. An event's end may be shown here, since annotations are truth and never reach an agent.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from simulator.core.types import SECOND, ImageRef, Snapshot
from simulator.session.reader import Header, Reader
from simulator.session.segmentation import Cutter

__all__ = ["ENDS", "LETTERS", "Sample", "Shot", "Target", "squeezed", "targets"]

ENDS = 3
"""Screenshots from each end of an event."""
LETTERS = 500
"""Characters of the text of one screenshot."""


@dataclass(slots=True)
class Target:
    """One event to be annotated; times as in the file (``captured_ns``).

    ``event_id`` is None where the session's table of events is empty: then the rule ``app_title`` has cut its rows.
    ``rows`` are ids of the screenshots that are shown, ``n_rows`` how many there are in all.
    """

    event_id: int | None
    start_ns: int
    end_ns: int
    app: str | None
    title: str | None
    rows: list[int] = field(default_factory=list)
    n_rows: int = 0

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.end_ns - self.start_ns) / SECOND


@dataclass(frozen=True, slots=True)
class Shot:
    """One screenshot: when in the event, its picture, its text as recorded, a description where there is no picture."""

    at_ns: int
    picture: ImageRef | None
    text: str | None
    scene: str | None


@dataclass(frozen=True, slots=True)
class Sample:
    """What an annotator gets of one event."""

    target: Target
    shots: tuple[Shot, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of its contents: events that show the same are the same question."""
        target = self.target
        said: list[Any] = [target.app, target.title, round(target.seconds), target.n_rows]
        said += [(round(s.at_ns / SECOND), _name(s.picture), s.text, s.scene) for s in self.shots]
        return sha256(repr(said).encode("utf-8", "surrogatepass")).hexdigest()


def _name(picture: ImageRef | None) -> str | None:
    return None if picture is None else picture.pixels_hash or str(picture.path)


def targets(folder: Path) -> tuple[Header, list[Target], int]:
    """The events of a session in order of time, each with the rows that are to be shown.

    Returns:
        The session's head, the events, and how many are left out (excluded, or without start or end).

    Raises:
        InputError: any fault of the session.
    """
    with Reader(folder) as reader:
        found, n_left = _recorded(reader)
        if not found and not n_left:
            found = _cut(reader)
        _show(reader, found)
        return reader.header, found, n_left


def _recorded(reader: Reader) -> tuple[list[Target], int]:
    columns = ("id", "start_ns", "end_ns", "app_name", "window_title", "excluded")
    found, n_left = [], 0
    for number, start, end, app, title, excluded in reader.table("events", columns, order="start_ns, id"):
        if start is None or end is None or end < start or excluded is not None:
            n_left += 1
        else:
            found.append(Target(number, start, end, app, title))
    return found, n_left


def _cut(reader: Reader) -> list[Target]:
    header = reader.header
    zero = header.zero_ns
    cutter = Cutter(header.user, header.session, "app_title", (gap.start_ns for gap in header.gaps))
    events = []
    for row, captured, app, title in reader.rows(("id", "captured_ns", "app_name", "window_title")):
        if type(captured) is not int:
            header.check_time(row, captured, zero)
        now = captured - zero
        if closed := cutter.push(Snapshot(0, now, now, app, title)):
            events.append(closed)
    if last := cutter.flush(header.end_ns):
        events.append(last)
    return [Target(None, e.start_ns + zero, e.end_ns + zero, e.app, e.title) for e in events]


def _show(reader: Reader, found: Sequence[Target]) -> None:
    """Choose the rows of each event: in one pass, since a day has 80,000."""
    by_id = {target.event_id: target for target in found if target.event_id is not None}
    starts = [target.start_ns for target in found]
    last: dict[int, tuple[Any, ...]] = {}
    for row, event, captured, path, text, scene in reader.rows(
        ("id", "event_id", "captured_ns", "file_path", "text", "scene_description")
    ):
        if type(captured) is not int:
            reader.header.check_time(row, captured, reader.header.zero_ns)
        target = by_id.get(event) if event is not None else None
        if target is None:
            place = bisect_right(starts, captured) - 1
            if place < 0 or captured >= found[place].end_ns:
                continue
            target = found[place]
        target.n_rows += 1
        shown = (path, text, scene)
        if shown == (None, None, None) or last.get(id(target)) == shown:
            continue
        last[id(target)] = shown
        if len(target.rows) == 2 * ENDS:
            del target.rows[ENDS]
        target.rows.append(row)


def shots_of(folder: Path, target: Target, rows: Mapping[int, Sequence[Any]]) -> Iterator[Shot]:
    """The screenshots of an event.

    Args:
        folder: of the session.
        target: the event.
        rows: by id: captured_ns, file_path, pixels_hash, width, height, text, scene_description.
    """
    for row in target.rows:
        captured, path, digest, width, height, text, scene = rows[row]
        picture = None if path is None else ImageRef(folder / path, digest, width, height)
        yield Shot(captured - target.start_ns, picture, squeezed(text), squeezed(scene))


def squeezed(text: str | None, limit: int = LETTERS) -> str | None:
    """A text with its blanks folded and without control characters, cut; None for nothing."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text or "").split())
    return flat[:limit] or None
