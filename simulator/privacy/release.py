"""A recorded session made ready to be passed on: a new database of chosen columns, looked-at pictures, a datasheet.

Nothing is copied that is not named here, so what a later version records does not slip out. In both tiers: no OCR
text, no process numbers, no names of user, session and raters, no times of files; what people wrote goes through the
rules first. ``public``: no sentences that people wrote or said, no calendar, titles by number, no pictures unless
asked for. ``restricted``: for those who signed for it, with pictures.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from simulator.core.errors import InputError, UsageError
from simulator.core.faults import told
from simulator.core.folders import is_vacant, whole_folder
from simulator.privacy.datasheet import TERMS, datasheet
from simulator.privacy.rules import Rules, load_rules
from simulator.privacy.states import State, inside
from simulator.screen.pixels import decode
from simulator.session.check import check
from simulator.session.reader import Reader
from simulator.session.schema import ACCEPTED, GAP_REASONS, MARKED, NOTE_KINDS
from simulator.session.store import Writer, image_path

__all__ = ["SIDE_FILE", "Options", "Released", "release"]

Tier = Literal["public", "restricted"]
SIDE_FILE = "events.csv"
_ROW = (
    "tick", "captured_ns", "late_ms", "monitor", "width", "height", "scale", "app_name", "window_title",
    "window_class", "focus_changed", "change_score", "event_id", "scene_description", "privacy_level", "privacy_action",
)  # fmt: skip
_RESTRICTED_ROW = ("monitor_x", "monitor_y", "window_x", "window_y", "window_w", "window_h")
_CALENDAR_ROW = ("wall_utc_ms", "tz_offset_min")
_EVENT = (
    "id", "start_tick", "end_tick", "start_ns", "end_ns", "app_name", "window_title", "is_llm_event", "llm_platform",
    "user_intention", "intention_confidence", "excluded",
)  # fmt: skip
_SAID = ("event_summary", "detailed_description", "conversation")
_NEED = ("opens_ns", "closes_ns", "acted_ns", "intention", "event_id", "weight", "origin")
_LABEL = ("event_id", "at_ns", "rater", "help", "intention", "verdict", "closes_ns", "acted_ns", "weight", "origin",
          "state")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """How a session is passed on.

    Attributes:
        tier: ``public`` or ``restricted``.
        titles: ``keep`` (after the rules), ``number`` (equal titles, equal numbers) or ``drop``; None: as the tier.
        pictures: whether reviewed pictures come along; None: as the tier.
        unreviewed: pictures that nobody looked at: ``refuse``, ``leave-out``, or ``accept`` (restricted only).
        calendar: whether it says when it was recorded; None: as the tier.
        user: the name in place of the user's.
        licence: the text of the terms; None: that of the tier.
    """

    tier: Tier = "public"
    titles: Literal["keep", "number", "drop"] | None = None
    pictures: bool | None = None
    unreviewed: Literal["refuse", "leave-out", "accept"] = "refuse"
    calendar: bool | None = None
    user: str = "participant"
    licence: str | None = None

    @property
    def restricted(self) -> bool:
        """Whether it goes to people who signed for it."""
        return self.tier == "restricted"

    @property
    def title_policy(self) -> str:
        """What becomes of titles."""
        return self.titles or ("keep" if self.restricted else "number")

    @property
    def with_pictures(self) -> bool:
        """Whether pictures come along."""
        return self.restricted if self.pictures is None else self.pictures

    @property
    def with_calendar(self) -> bool:
        """Whether calendar times come along."""
        return self.restricted if self.calendar is None else self.calendar


@dataclass(slots=True)
class Released:
    """What came along and what did not.

    Attributes:
        kept: counts of what is there.
        removed: counts of what was left out.
        found: by kind, what rules took out of distinct texts.
        pictures: distinct pictures by state, as they stand in the session.
    """

    kept: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    pictures: Counter[str] = field(default_factory=Counter)

    def as_dict(self) -> dict[str, dict[str, int]]:
        """For ``--json``."""
        return {name: dict(sorted(getattr(self, name).items())) for name in ("kept", "removed", "found", "pictures")}


def release(session: Path, out: Path, options: Options, *, rules: Rules | None = None) -> Released:
    """Write a new session that may be passed on; the old one is only read.

    Args:
        session: the folder of a closed session.
        out: a folder that is not there yet, or empty.
        options: see there.
        rules: what texts are put through; default the built-in ones.

    Raises:
        InputError: the session is damaged or not closed, or has pictures that nobody looked at.
        UsageError: ``out`` holds something; unreviewed pictures in a public release.
    """
    if options.unreviewed == "accept" and not options.restricted:
        raise UsageError("pictures that nobody looked at are never public; leave them out, or review them")
    if not is_vacant(out):
        raise UsageError(f"{out} is not empty: a release needs a folder of its own")
    with told(session), Reader(session) as reader:
        _refuse(reader, options)
        with whole_folder(out) as part:
            return _Release(reader, options, rules or load_rules()).write(part, out.absolute().name)


def _refuse(reader: Reader, options: Options) -> None:
    """Sessions that nobody may pass on yet."""
    if reader.header.state == "recording":
        raise InputError(
            reader.file, "it is being recorded, or was not closed: end it first (`proact record` repairs it)"
        )
    damage = [finding.sentence for finding in check(reader.folder) if finding.severity == "damage"]
    if damage:
        raise InputError(reader.file, f"it is damaged ({damage[0]}); `proact dataset check` says what is wrong")
    if options.unreviewed == "refuse" and (n := _states(reader)[State.UNREVIEWED]):
        want = (
            f"{n} {'picture is' if n == 1 else 'pictures are'} not reviewed: `proact dataset privacy scan` and "
            "`review` do that, and --unreviewed leave-out releases it without them"
        )
        raise InputError(reader.file, want)


def _states(reader: Reader) -> Counter[str]:
    """Distinct pictures by state; of rows that disagree the least reviewed counts."""
    order = (State.UNREVIEWED, State.PASSED, State.REDACTED)
    worst: dict[str, str] = {}
    for path, action in reader.stream(
        "SELECT DISTINCT file_path, privacy_action FROM screenshots WHERE file_path NOT NULL"
    ):
        state = action if action in order else State.UNREVIEWED
        worst[path] = min(worst.get(path, state), state, key=order.index)
    return Counter({state: sum(s == state for s in worst.values()) for state in order})


class _Release:
    """One release on its way."""

    def __init__(self, reader: Reader, options: Options, rules: Rules) -> None:
        self._reader, self._options, self._rules = reader, options, rules
        self._titles: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        name = re.escape(reader.header.user)
        self._name = re.compile(rf"(?<!\w){name}(?!\w)", re.IGNORECASE)  # as terminals have it: sam@host
        self._raters: dict[str, str] = {}
        self._kept: dict[str, dict[str, Any]] = {}  # by the old path, the columns of a picture that came along
        self._made = Released(pictures=_states(reader))

    def write(self, folder: Path, name: str) -> Released:
        """All of it into a new folder."""
        reader, options, header = self._reader, self._options, self._reader.header
        stated = header.meta.get("end_ns")
        meta = {
            "released": json.dumps({"tier": options.tier, "titles": options.title_policy}),
            "codec": "webp lossless",
        }
        if "annotated_by" in header.meta:  # whose word the events are: no name of a person
            meta["annotated_by"] = header.meta["annotated_by"]
        anchor = header.meta.get("utc_anchor_ns") if options.with_calendar else None
        with Writer(
            folder,
            session=name,
            user=options.user,
            period_ns=header.period_ns,
            zone=header.zone if options.with_calendar else "UTC",
            utc_anchor_ns=None if anchor is None else int(anchor),
            meta=meta,
        ) as writer:
            with writer.transaction():
                self._rows(writer)
                self._tables(writer)
            if options.restricted:
                writer.set_profile({key: self._text(value) or "" for key, value in header.profile.items()})
            else:
                self._made.removed["facts about the user"] = len(header.profile)
            writer.close(end_ns=None if stated is None else int(stated))
        (folder / SIDE_FILE).write_text(self._side_file(), encoding="utf-8", newline="")
        (folder / "LICENSE.txt").write_text(options.licence or TERMS[options.tier], encoding="utf-8")
        page = datasheet(reader, options.tier, self._made.as_dict(), titles=options.title_policy,
                         calendar=options.with_calendar, name=name)  # fmt: skip
        (folder / "DATASHEET.md").write_text(page, encoding="utf-8")
        return self._made

    def _rows(self, writer: Writer) -> None:
        made, options = self._made, self._options
        names = (
            _ROW + (_RESTRICTED_ROW if options.restricted else ()) + (_CALENDAR_ROW if options.with_calendar else ())
        )
        have = {row[1] for row in self._reader.fetch("PRAGMA table_info(screenshots)")}
        names = tuple(name for name in names if name in have)
        for *values, path, digest, text in self._select(
            "screenshots", (*names, "file_path", "pixels_hash", "text"), "id"
        ):
            row = dict(zip(names, values, strict=True))
            row["window_title"] = self._title(row["window_title"])
            row["app_name"], row["window_class"] = self._text(row["app_name"]), self._text(row["window_class"])
            row["scene_description"] = self._text(row["scene_description"])
            made.removed["rows with OCR text"] += text is not None
            made.kept["rows"] += 1
            if path is not None:
                columns = self._picture(writer, path, digest, row)
                if columns is None:
                    made.removed["rows whose picture was left out"] += 1
                row |= columns or {}
            writer.add(**row)
        made.kept["pictures"] = len(self._kept)

    def _picture(self, writer: Writer, path: str, digest: str | None, row: Mapping[str, Any]) -> dict[str, Any] | None:
        """The columns of a picture that comes along: its pixels, since a file may hold more."""
        options = self._options
        reviewed = row["privacy_action"] in (State.PASSED, State.REDACTED)
        if not options.with_pictures or not (reviewed or options.unreviewed == "accept"):
            return None
        if not inside(path):
            self._made.removed["rows whose picture lies outside of the session"] += 1
            return None
        if path not in self._kept:
            file = self._reader.folder / path
            content = file.read_bytes()
            if (
                digest is not None and path == image_path(digest) and _only_pixels(content)
            ):  # as our recorder writes them
                writer.put(path, content)
                shape = {"width": row["width"], "height": row["height"]}
                self._kept[path] = {"file_path": path, "pixels_hash": digest, **(writer.kept(digest) or {}), **shape}
            else:
                self._kept[path] = writer.keep(decode(file))
        return self._kept[path]

    def _tables(self, writer: Writer) -> None:
        made, restricted = self._made, self._options.restricted
        for start, end, reason in self._select("gaps", ("from_tick", "to_tick", "reason"), "from_tick, id"):
            writer.gap(start, end, reason if reason in GAP_REASONS else "missing")
            made.kept["gaps"] += 1
        for row in self._dicts("events", _EVENT + _SAID):
            row["window_title"] = self._title(row["window_title"])
            row["excluded"] = (
                None if row["excluded"] is None else self._text(row["excluded"]) if restricted else "excluded"
            )
            self._sentences(row, _SAID)
            writer.event(**row)
            made.kept["events"] += 1
        for n, row in enumerate(self._dicts("opportunities", (*_NEED, "query"), "opens_ns, id"), 1):
            self._sentences(row, ("query",))
            writer.opportunity(id=f"need-{n}", **row)
            made.kept["needs"] += 1
        for row in self._dicts("labels", (*_LABEL, "query", "note")):
            if row["rater"] is not None:
                row["rater"] = self._raters.setdefault(row["rater"], f"rater {len(self._raters) + 1}")
            self._sentences(row, ("query", "note", "verdict"))
            if row["state"] not in (None, "closed"):
                made.removed["labels: drafts"] += 1
                continue
            row["origin"] = row["origin"] if row["origin"] in (MARKED, ACCEPTED) else None
            writer.label(**row)
            made.kept["labels"] += 1
        for row in self._dicts("masks", ("tick", "monitor", "x", "y", "w", "h", "reason")):
            if restricted:
                writer.mask(**row)
            made.kept["masks" if restricted else "masks (not listed)"] += 1
        for row in self._dicts("notes", ("tick", "monitor", "kind")):
            if row["kind"] in NOTE_KINDS:
                writer.note(**row)
                made.kept["notes"] += 1

    def _sentences(self, row: dict[str, Any], columns: tuple[str, ...]) -> None:
        """What people wrote or said: after the rules, or not at all."""
        for column in columns:
            if row[column] is not None and not self._options.restricted:
                self._made.removed[f"texts: {column}"] += 1
                row[column] = None
            else:
                row[column] = self._text(row[column])

    def _title(self, title: str | None) -> str | None:
        policy = self._options.title_policy
        if title is None or policy == "drop":
            self._made.removed["titles"] += title is not None
            return None
        if title not in self._titles:
            private = self._rules.title(title)
            self._made.found["title"] += private is not None and policy == "keep"
            kept = f"[{private}]" if private else self._text(title) or ""
            self._titles[title] = kept if policy == "keep" else f"title {len(self._titles) + 1}"
        return self._titles[title]

    def _text(self, text: str | None) -> str | None:
        """A text after the rules; of JSON the texts in it, so that it stays JSON."""
        if not text:
            return text
        if text[0] in "[{":
            try:
                return json.dumps(self._inner(json.loads(text)), ensure_ascii=False)
            except (ValueError, RecursionError):
                pass
        if text not in self._texts:  # a scene is described in every row that shows it
            self._texts[text], found = self._rules.clean(self._name.sub(self._options.user, text))
            self._made.found.update(found)
        return self._texts[text]

    def _inner(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._inner(one) for one in value]
        return {k: self._inner(v) for k, v in value.items()} if isinstance(value, dict) else value

    def _select(self, table: str, columns: tuple[str, ...], order: str) -> Iterator[tuple[Any, ...]]:
        have = {row[1] for row in self._reader.fetch(f"PRAGMA table_info({table})")}
        chosen = ", ".join(c if c in have else "NULL" for c in columns)
        return self._reader.stream(f"SELECT {chosen} FROM {table} ORDER BY {order}") if have else iter(())

    def _dicts(self, table: str, columns: tuple[str, ...], order: str = "id") -> Iterator[dict[str, Any]]:
        return (dict(zip(columns, row, strict=True)) for row in self._select(table, columns, order))

    def _side_file(self) -> str:
        """What is known of each event, keyed by user and event, as ``dataset import --side`` reads it."""
        page = io.StringIO(newline="")
        table = csv.writer(page, lineterminator="\n")
        table.writerow(("user", "event_id", "reason", "intention", "confidence", "platform"))
        for row in self._dicts("events", _EVENT):
            table.writerow((self._options.user, row["id"], _reason(row, self._options), row["user_intention"],
                            row["intention_confidence"], row["llm_platform"]))  # fmt: skip
        return page.getvalue()


def _only_pixels(content: bytes) -> bool:
    """Whether a file is lossless WebP and nothing besides: a head of 20 bytes and one chunk that fills the rest."""
    size = int.from_bytes(content[16:20], "little")
    whole = int.from_bytes(content[4:8], "little") + 8 == len(content) == 20 + size + size % 2
    return content[:4] == b"RIFF" and content[8:16] == b"WEBPVP8L" and whole


def _reason(row: Mapping[str, Any], options: Options) -> str | None:
    if row["excluded"] is None:
        return None
    return "excluded" if not options.restricted else str(row["excluded"])
