"""LifeTrace and ProAgentBench databases of every generation, as they are found in the wild.

The databases cannot be taken at their word: ``created_at`` is when a row was written and not when the screen was
taken, rows are linked to events that they do not belong to, events stay open for ever, paths are those of another
machine. Each trap is repaired by what can be trusted, the time in the file name and the start of events, and every
repair is counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PureWindowsPath
from statistics import median
from typing import Any

from simulator.core.intentions import canonical
from simulator.core.types import SECOND
from simulator.sources.foreign import IMAGE_SUFFIXES, Foreign, ForeignEvent, Ledger, Local, Shot, name_time
from simulator.sources.lifetrace_db import Row, digest, generation, known, load, moment, text

__all__ = ["period_ns", "read"]

_LAG_NS = 5 * SECOND


def read(file: Path, user: str, zone: str, *, images_under: Path | None = None) -> Foreign:
    """One user's recording.

    Args:
        file: the database; nothing is written beside it.
        user: whose it is.
        zone: IANA zone of the machine that recorded it: its times are naive local ones.
        images_under: where to look for pictures; default the folder of the database.

    Raises:
        InputError: 0 bytes, not SQLite, no table ``screenshots``, damaged.
    """
    ledger = Ledger()
    local = Local(zone, ledger)
    tables, rows = load(file)
    kind = generation(tables)
    files = _Files(images_under or file.parent, ledger)
    shots = _Shots(local, files, ledger, kind, tables).read(rows["screenshots"], rows["ocr_results"])
    events = _events(rows["events"], local, ledger)
    shots += files.orphans(local)
    shots.sort(key=lambda s: (s.utc_ns, s.monitor))
    _close(events, shots, ledger)
    _attach(events, shots, ledger)
    shots += _made(events, shots, ledger)
    shots.sort(key=lambda s: (s.utc_ns, s.monitor))
    ledger.add("kept", "screenshots", n=sum(not s.made for s in shots))
    ledger.add("kept", "events", n=len(events))
    return Foreign(
        user=user,
        source=file,
        shots=shots,
        events=events,
        ledger=ledger,
        digest=digest(file),
        has_assistance="is_llm_event" in tables.get("events", ()),
        notes={"generation": kind, "times": "file names", "images_found": str(len(files.known))},
    )


class _Files:
    """Pictures on disk by file name: rows hold paths of another machine, often in its own notation."""

    def __init__(self, root: Path, ledger: Ledger) -> None:
        self._ledger = ledger
        self.known: dict[str, Path] = {}
        self._used: set[str] = set()
        for path in sorted(root.rglob("*"), key=_original_first):
            if path.suffix.lower() not in IMAGE_SUFFIXES or not path.is_file():
                continue
            if path.name in self.known:
                ledger.add(
                    "noted", "pictures of which a pipeline left copies (the one in screenshots/ is taken)", path.name
                )
            else:
                self.known[path.name] = path

    def find(self, stored: Any) -> tuple[str | None, Path | None]:
        """File name and place of a path that may be in the notation of another system, or of two at once."""
        if not stored:
            return None, None
        name = PureWindowsPath(str(stored)).name  # splits at both kinds of slash
        self._used.add(name)
        return name, self.known.get(name)

    def orphans(self, local: Local) -> list[Shot]:
        """Pictures in ``screenshots/`` that no row names: the recorder linked an older row in their place."""
        out: list[Shot] = []
        for name, path in sorted(self.known.items()):
            told = name_time(name) if name not in self._used and path.parent.name == "screenshots" else None
            if told:
                self._ledger.add("repaired", "pictures without a row, taken by the time in their name", name)
                out.append(Shot(local.utc_ns(told.moment), told.screen, file=path, precision_ns=told.precision_ns))
        return out


def _pixels(value: Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _whole(value: Any) -> int | None:
    """A whole number, also one written as a text; None for what is none."""
    try:
        number = int(str(value).strip())
    except ValueError:
        return None
    return number if abs(number) < 1 << 63 else None


def _original_first(path: Path) -> tuple[bool, int, str]:
    return path.parent.name != "screenshots", len(path.parts), path.as_posix()


@dataclass(slots=True)
class _Shots:
    """Rows of ``screenshots`` to shots."""

    local: Local
    files: _Files
    ledger: Ledger
    kind: str
    tables: Mapping[str, Sequence[str]]

    def read(self, rows: Sequence[Row], ocr: Sequence[Row]) -> list[Shot]:
        texts: dict[Any, list[str]] = {}
        for row in ocr:
            if row.get("text_content"):
                texts.setdefault(row.get("screenshot_id"), []).append(str(row["text_content"]))
        utc = self._created_is_utc(rows)
        out: list[Shot] = []
        last_id, inversions, before = None, 0, None
        for row in rows:
            shot = self._shot(row, utc)
            if shot is None:
                continue
            shot.text = "\n".join(texts[row["id"]]) if row.get("id") in texts else None
            inversions += before is not None and shot.utc_ns < before
            before = shot.utc_ns
            last_id = row.get("id")
            out.append(shot)
        self.ledger.add("repaired", "rows whose id is not in the order of capture", f"last id {last_id}", n=inversions)
        return out

    def _created_is_utc(self, rows: Sequence[Row]) -> bool:
        """Whether ``created_at`` is UTC, judged by its distance from the local times in file names."""
        hours: Counter[int] = Counter()
        for row in rows:
            name, _ = self.files.find(row.get("file_path"))
            told, created = name_time(name) if name else None, moment(row.get("created_at"))
            if told is None or created is None or created.tzinfo is not None:
                continue
            taken = self.local.utc_ns(told.moment)
            ahead = self.local.offset_min(taken) * 60
            late = (created - told.moment).total_seconds()
            if ahead:
                hours[1 if abs(late + ahead) < abs(late) else 0] += 1
        utc = hours[1] > hours[0] if hours else self.kind == "FreeTodo"
        if utc:
            self.ledger.add("noted", "created_at is UTC while file names are local (two zones in one database)")
        return utc

    def _shot(self, row: Row, created_is_utc: bool) -> Shot | None:
        where = f"screenshot {row.get('id')}"
        name, path = self.files.find(row.get("file_path"))
        taken, monitor, precision = self._time(row, name, created_is_utc, where)
        if taken is None:
            self.ledger.add("left out", "screenshots without any time", where)
            return None
        scene = row.get("scene_description") or row.get("screenshot_description")
        if row.get("file_deleted"):
            self.ledger.add("noted", "pictures deleted by the recorder's cleaner (app and title are kept)", where)
            path = None
        elif path is None:
            what = "pictures replaced by a scene description" if scene else "pictures that are not there"
            self.ledger.add("noted", f"{what} (app and title are kept)", where)
        return Shot(
            utc_ns=taken,
            monitor=self._screen(row.get("screen_id"), monitor, where),
            app=known(row.get("app_name")),
            title=known(row.get("window_title")),
            file=path,
            file_hash=self._hash(row),
            width=_pixels(row.get("width")),
            height=_pixels(row.get("height")),
            event=row.get("event_id"),
            scene=None if scene is None else str(scene),
            precision_ns=precision,
        )

    def _screen(self, said: Any, told: int, where: str) -> int:
        """The number of the screen; that of the file name where the row holds something else."""
        number = said if said is None else _whole(said)
        if said is not None and number is None:
            self.ledger.add("repaired", "screens that are no number (the one in the file name is taken)", where)
        return told if number is None else number

    def _time(self, row: Row, name: str | None, created_is_utc: bool, where: str) -> tuple[int | None, int, int]:
        told = name_time(name) if name else None
        created = moment(row.get("created_at"))
        written: int | None = None
        if created is not None:
            aware = created.tzinfo is not None or not created_is_utc
            written = (
                self.local.utc_ns(created) if aware else self.local.utc_ns(datetime.fromisoformat(f"{created}+00:00"))
            )
        if told is None:
            if written is not None:
                self.ledger.add("repaired", "screenshots timed by created_at for want of a time in the name", where)
            return written, 0, 1
        taken = self.local.utc_ns(told.moment)
        if written is not None and abs(written - taken) > _LAG_NS:
            self.ledger.add("repaired", "created_at more than 5 s off capture (the time in the name is taken)", where)
        return taken, told.screen, told.precision_ns

    def _hash(self, row: Row) -> str | None:
        digest = row.get("file_hash")
        if not digest:
            return None
        kinds = {16: "perceptual (16 digits)", 32: "MD5 (32 digits)", 64: "SHA-256 (64 digits)"}
        self.ledger.add("noted", f"file hashes: {kinds.get(len(str(digest)), 'of another length')}")
        return str(digest)


def _events(rows: Sequence[Row], local: Local, ledger: Ledger) -> list[ForeignEvent]:
    out: list[ForeignEvent] = []
    for row in rows:
        where = f"event {row.get('id')}"
        start, end = moment(row.get("start_time")), moment(row.get("end_time"))
        if start is None or row.get("id") is None:
            ledger.add("left out", "events without a start", where)
            continue
        number = _whole(row["id"])
        if number is None:
            ledger.add("left out", "events whose id is no whole number", where)
            continue
        start_ns, end_ns = local.utc_ns(start), None if end is None else local.utc_ns(end)
        if end_ns is not None and end_ns < start_ns:
            ledger.add("repaired", "events that ended before they started (closed at the next event)", where)
            end_ns = None
        conversation = row.get("conversation")
        out.append(
            ForeignEvent(
                id=number,
                start_ns=start_ns,
                end_ns=end_ns,
                app=known(row.get("app_name")),
                title=known(row.get("window_title")),
                assistance=str(row.get("is_llm_event") or "0").lower() in ("1", "true"),
                summary=text(row.get("event_summary") or row.get("ai_summary") or row.get("ai_title")),
                description=text(row.get("detailed_description")),
                conversation=None if not conversation else str(conversation),
                platform=text(row.get("llm_platform")),
                intention=_intention(row.get("user_intention"), where, ledger),
                confidence=row.get("confidence") if isinstance(row.get("confidence"), float) else None,
            )
        )
    return sorted(out, key=lambda e: (e.start_ns, e.id))


def _intention(value: Any, where: str, ledger: Ledger) -> str | None:
    if text(value) is None:
        return None
    category = canonical(str(value))
    if category is None:
        ledger.add("left out", "intentions that are none of the 16 categories", f"{where}: {value}")
    return category


def _close(events: list[ForeignEvent], shots: Sequence[Shot], ledger: Ledger) -> None:
    """Give each event that was never closed an end: the next event's start, or where its screenshots end."""
    times = [s.utc_ns for s in shots]
    for i, event in enumerate(events):
        if event.end_ns is not None:
            continue
        following = events[i + 1].start_ns if i + 1 < len(events) else None
        k = len(times) if following is None else bisect_right(times, following - 1)
        last = times[k - 1] if k and times[k - 1] >= event.start_ns else event.start_ns
        event.end_ns = last + SECOND if following is None else min(following, last + SECOND)
        if following is not None and following - last <= 60 * SECOND:
            event.end_ns = following  # events touch, as the recorder's rule has it
        reason = "the last event, never closed" if following is None else "events never closed, though others follow"
        ledger.add("repaired", f"{reason} (ended by what came next)", f"event {event.id}")


def _attach(events: Sequence[ForeignEvent], shots: Sequence[Shot], ledger: Ledger) -> None:
    """Give each shot the event of its time; app and title too, where the recorder filled them in later."""
    starts = [e.start_ns for e in events]
    ids = {e.id for e in events}
    for shot in shots:
        k = bisect_right(starts, shot.utc_ns) - 1
        event = events[k] if k >= 0 else None
        if event is not None and event.end_ns is not None and shot.utc_ns >= event.end_ns:
            if shot.event == event.id:
                ledger.add("repaired", "screenshots taken after their event was closed", f"event {event.id}")
            else:
                event = None
        said = shot.event
        if k + 1 < len(events) and said == events[k + 1].id and starts[k + 1] - shot.utc_ns < shot.precision_ns:
            event = events[k + 1]  # names are cut to milliseconds, so a shot can seem to precede its own event
        if said is not None and said not in ids:
            ledger.add("repaired", "screenshots that name an event that does not exist", f"event {said}")
        elif said is not None and (event is None or said != event.id):
            ledger.add("repaired", "screenshots linked to an event of another time", f"event {said}")
        if event is None:
            if said is None and events:
                ledger.add("noted", "screenshots outside all events")
        elif said is None and (shot.app, shot.title) != (event.app, event.title):
            reason = "app and title filled in later (those of the event of their time are taken)"
            ledger.add("repaired", f"screenshots with {reason}", f"event {event.id}")
            shot.app, shot.title = event.app, event.title
        elif said == event.id and shot.title != event.title and shot.app == event.app:
            ledger.add("noted", "screenshots with another title than their event", f"event {event.id}")
        shot.event = None if event is None else event.id


def _made(events: Sequence[ForeignEvent], shots: Sequence[Shot], ledger: Ledger) -> list[Shot]:
    """A shot without a picture for each event that has none, so that a replay knows which window was in front."""
    seen = {s.event for s in shots}
    common = Counter(s.monitor for s in shots).most_common(1)
    monitor = common[0][0] if common else 0
    out: list[Shot] = []
    for event in events:
        if event.id not in seen:
            ledger.add(
                "repaired", "events without a screenshot (one row without a picture is made)", f"event {event.id}"
            )
            out.append(Shot(event.start_ns, monitor, event.app, event.title, event=event.id, made=True))
    return out


def period_ns(shots: Sequence[Shot]) -> int:
    """The recorder's period, told from the times: the usual short step between shots of a screen, in whole seconds."""
    steps: list[int] = []
    last: dict[int, int] = {}
    for shot in shots:
        if shot.made:
            continue
        if shot.monitor in last and shot.utc_ns > last[shot.monitor]:
            steps.append(shot.utc_ns - last[shot.monitor])
        last[shot.monitor] = shot.utc_ns
    if not steps:
        return SECOND
    steps.sort()
    usual = median(steps[: max(1, len(steps) // 2)])  # still screens are not stored, so long steps say nothing
    return max(1, round(usual / SECOND)) * SECOND
