"""One stretch of a foreign recording as a native session, and the events before the split as a history table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from simulator.core.calendar import from_utc_ns
from simulator.core.errors import InputError
from simulator.core.folders import is_vacant, whole_folder
from simulator.core.types import Event, Label, Snapshot
from simulator.screen import pixels
from simulator.session.history import first_query, line_of
from simulator.session.opportunities import Labeller, label_events, questions
from simulator.session.reader import connect
from simulator.session.recording_id import PERSON, RECORDING
from simulator.session.schema import FILE_NAME
from simulator.session.segmentation import Segmenter
from simulator.session.split_cut import Blocks
from simulator.session.store import Writer, image_path
from simulator.session.truth import Assist
from simulator.sources.foreign import Foreign, ForeignEvent, Ledger, Shot

__all__ = ["Pictures", "Stretch", "history_lines", "rule_of", "write_session"]

_TITLES_FROM, _TITLES_UNTIL = datetime(2025, 10, 15, tzinfo=UTC), datetime(2025, 11, 20, tzinfo=UTC)
_COLUMNS = (
    "tick", "captured_ns", "wall_utc_ms", "tz_offset_min", "monitor", "file_path", "file_hash", "file_size", "width",
    "height", "app_name", "window_title", "event_id", "text", "scene_description",
)  # fmt: skip


def rule_of(utc_ns: int) -> str:
    """The rule by which LifeTrace cut events at that time (its builds changed it twice)."""
    return "app_title" if _TITLES_FROM <= from_utc_ns(utc_ns) < _TITLES_UNTIL else "app"


def _iso(utc_ns: int) -> str:
    return from_utc_ns(utc_ns).isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass(slots=True)
class Stretch:
    """Shots without a long silence, in order of time, and the events that start among them."""

    shots: list[Shot]
    events: list[ForeignEvent]
    period_ns: int
    rule: str = "app_title"
    until_ns: int = 0  # until when its events say that the last screen stood still

    @property
    def start_ns(self) -> int:
        """UTC of the first shot."""
        return self.shots[0].utc_ns

    @property
    def end_ns(self) -> int:
        """UTC of the end: last shot and a period, or the end of its last event."""
        return max(self.shots[-1].utc_ns + self.period_ns, self.until_ns)

    def local_start(self, zone: str) -> datetime:
        """The start as a clock on the wall showed it."""
        return from_utc_ns(self.start_ns).astimezone(ZoneInfo(zone))

    def ensure_events(self, foreign: Foreign) -> None:
        """Set the rule of this time; where the recording holds no events at all, cut them out of the shots by it."""
        if "generation" in foreign.notes:
            self.rule = "app_title" if foreign.notes["generation"] == "ProAgentBench" else rule_of(self.start_ns)
        if foreign.events and not foreign.notes.get("events"):
            return
        if all(s.app is None and s.title is None for s in self.shots):
            return
        foreign.notes["events"] = "cut by rule, for the recording holds none"
        segmenter = Segmenter(foreign.user, "", self.rule)
        inside: list[Shot] = []
        for i, shot in enumerate(self.shots):
            at = shot.utc_ns
            self._closed(segmenter.push(Snapshot(i, at, at, shot.app, shot.title)), inside, foreign)
            inside.append(shot)
        self._closed(segmenter.flush(self.end_ns), inside, foreign)

    def _closed(self, event: Event | None, inside: list[Shot], foreign: Foreign) -> None:
        if event is None:
            return
        made = ForeignEvent(len(foreign.events) + 1, event.start_ns, event.end_ns, event.app, event.title)
        foreign.events.append(made)
        self.events.append(made)
        for shot in inside:
            shot.event = made.id
        inside.clear()

    def cut_at(self, utc_ns: int) -> tuple[Stretch, Stretch] | None:
        """Two stretches, cut at the first event from then on that may begin a part (``simulator.session.split_cut``).

        None if nothing would be left on a side.
        """
        spans = [(e.start_ns, e.end_ns or e.start_ns, e.assistance) for e in self.events]
        blocks = Blocks([(a, b) for a, b, _ in spans], [(a, b) for a, b, assistance in spans if assistance])
        at = blocks.first_of(utc_ns, (start for start, _, _ in spans))
        k = next((i for i, s in enumerate(self.shots) if s.utc_ns + s.precision_ns > at), len(self.shots))
        if k in (0, len(self.shots)):
            return None
        early = [e for e in self.events if e.start_ns < at]
        late = [e for e in self.events if e.start_ns >= at]
        return (
            Stretch(self.shots[:k], early, self.period_ns, self.rule, min(self.until_ns, at)),
            Stretch(self.shots[k:], late, self.period_ns, self.rule, self.until_ns),
        )


class Pictures:
    """Takes pictures into a session, each distinct one once, and looks at their heads on the way."""

    def __init__(self, how: str, ledger: Ledger) -> None:
        self.how, self._ledger = how, ledger

    def columns(self, shot: Shot, writer: Writer, seen: dict[Path, dict[str, Any]]) -> dict[str, Any]:
        """The columns of a row about its picture."""
        plain = {"width": shot.width, "height": shot.height, "file_hash": shot.file_hash}
        if shot.file is None or self.how == "none":
            return plain
        if shot.file not in seen:
            seen[shot.file] = self._take(shot.file, writer, plain)
        return seen[shot.file]

    def _take(self, file: Path, writer: Writer, plain: dict[str, Any]) -> dict[str, Any]:
        try:
            width, height = pixels.size(file)
            if file.suffix.lower() == ".png" and _torn(file):
                raise InputError(file, "its end is missing")
        except InputError as error:
            self._ledger.add(
                "repaired", "rows whose picture is damaged (app and title are kept)", f"{file.name}: {error.want}"
            )
            return plain
        shape = {"width": width, "height": height, "file_size": file.stat().st_size}
        if self.how == "reference":
            return {"file_path": file.absolute().as_posix(), "file_hash": plain["file_hash"], **shape}
        content = file.read_bytes()
        digest = sha256(content).hexdigest()
        relative = image_path(digest, file.suffix.lower())
        if (writer.folder / relative).exists():
            self._ledger.add("kept", "pictures with the same SHA-256, stored once", file.name)
        else:
            writer.put(relative, content)
        return {"file_path": relative, "file_hash": digest, **shape}


def _torn(png: Path) -> bool:
    """Whether a PNG lacks its last chunk, as one half-written does; nothing is decoded."""
    with png.open("rb") as stream:
        stream.seek(-min(12, png.stat().st_size), os.SEEK_END)
        return b"IEND" not in stream.read()


def write_session(target: Path, stretch: Stretch, foreign: Foreign, zone: str, digest: str, pictures: Pictures) -> bool:
    """Write one session whole or not at all; False if this very import wrote it before.

    Raises:
        InputError: the folder holds something else.
    """
    if (target / FILE_NAME).exists():
        _same(target, digest)
        return False
    if not is_vacant(target):
        raise InputError(target, "the folder holds something else; choose another place to import to")
    with whole_folder(target) as part:
        _write(part, target.name, stretch, foreign, zone, digest, pictures)
    return True


def _same(target: Path, digest: str) -> None:
    db = connect(target / FILE_NAME)
    try:
        row = db.execute("SELECT value FROM meta WHERE key = 'import_digest'").fetchone()
    finally:
        db.close()
    if row is None or row[0] != digest:
        want = "this session came from another source or other options; choose another place to import to"
        raise InputError(target, want)


def _write(
    part: Path, name: str, stretch: Stretch, foreign: Foreign, zone: str, digest: str, pictures: Pictures
) -> None:
    zero, period = stretch.start_ns, stretch.period_ns
    wall = ZoneInfo(zone)
    meta = {
        "recorder": "import", "codec": "as imported" if pictures.how != "none" else "none", "import_digest": digest,
        "import_source": foreign.source.name, "segmentation": stretch.rule,
        **{f"import_{key}": value for key, value in foreign.notes.items()}, **_version_of(stretch, foreign, zone),
    }  # fmt: skip
    with Writer(
        part,
        session=f"{foreign.user}-{name}",
        user=foreign.user,
        period_ns=period,
        zone=zone,
        utc_anchor_ns=zero if foreign.anchored else None,
        meta=meta,
    ) as writer:
        seen: dict[Path, dict[str, Any]] = {}
        rows: list[tuple[Any, ...]] = []
        for shot in stretch.shots:
            picture = pictures.columns(shot, writer, seen)
            offset = from_utc_ns(shot.utc_ns).astimezone(wall).utcoffset() or timedelta()
            since = shot.utc_ns - zero
            row = {
                "tick": (since + period // 2) // period,
                "captured_ns": since,
                "wall_utc_ms": shot.utc_ns // 1_000_000 if foreign.anchored else None,
                "tz_offset_min": int(offset.total_seconds() // 60) if foreign.anchored else None,
                "monitor": shot.monitor,
                "app_name": shot.app,
                "window_title": shot.title,
                "event_id": shot.event,
                "text": shot.text,
                "scene_description": shot.scene,
                **picture,
            }
            rows.append(tuple(row.get(column) for column in _COLUMNS))
        writer.add_rows(_COLUMNS, rows)
        writer.events(_event_row(event, zero, period, anchored=foreign.anchored) for event in stretch.events)
        for start, end, reason in foreign.gaps:
            first, last = -(-max(0, start - zero) // period), (min(end, stretch.end_ns) - zero) // period - 1
            if first <= last:
                writer.gap(first, last, reason)
        writer.set_profile(foreign.profile)
        writer.close(end_ns=stretch.end_ns - zero)


def _version_of(stretch: Stretch, foreign: Foreign, zone: str) -> dict[str, str]:
    """What ``meta`` says of the recording that this is a version of. Versions of a person's log may be cut elsewhere
    (noise fills silences), but a day of it is the same day in each.
    """
    out = {} if foreign.recording is None else {RECORDING: foreign.recording}
    if foreign.person is not None:
        out = {RECORDING: f"{foreign.person} {stretch.local_start(zone).date()}", **out, PERSON: foreign.person}
    return out


def _event_row(event: ForeignEvent, zero: int, period: int, *, anchored: bool) -> dict[str, Any]:
    start, end = event.start_ns - zero, (event.end_ns or event.start_ns) - zero
    return {
        "id": event.id,
        "start_time": _iso(event.start_ns) if anchored else None,
        "end_time": _iso(event.start_ns + end - start) if anchored else None,
        "start_tick": start // period,
        "end_tick": end // period,
        "start_ns": start,
        "end_ns": end,
        "app_name": event.app,
        "window_title": event.title,
        "is_llm_event": int(event.assistance),
        "event_summary": event.summary,
        "detailed_description": event.description,
        "conversation": event.conversation,
        "llm_platform": event.platform,
        "user_intention": event.intention,
        "intention_confidence": event.confidence,
        "excluded": event.excluded,
    }


def history_lines(stretches: Sequence[Stretch], foreign: Foreign) -> tuple[list[str], Labeller]:
    """The kept events of stretches as lines of an event table, with labels by the rule.

    Returns:
        The lines, in order of the events' ends, and who labelled them, with counts of what has no place in them.
    """
    kept = [e for s in stretches for e in s.events if e.excluded is None]
    events = [
        Event(
            str(e.id), foreign.user, e.start_ns, e.end_ns or e.start_ns, e.app, e.title, None, e.summary, e.assistance
        )
        for e in kept
    ]
    assists = [
        Assist(e.start_ns, e.end_ns or e.start_ns, e.intention, first_query(e.conversation))
        for e in kept
        if e.assistance
    ]
    said = {e.id: e for e in kept}
    labelled, labeller = label_events(events, questions((), assists))
    known = foreign.has_assistance
    lines = [_line(event, label if known else None, said[int(event.id)], foreign) for event, label in labelled]
    return lines, labeller


def _line(event: Event, label: Label | None, source: ForeignEvent, foreign: Foreign) -> str:
    named = replace(event, id=f"{foreign.user}/e{event.id}")
    return line_of(named, label, (source.intention, first_query(source.conversation)))
