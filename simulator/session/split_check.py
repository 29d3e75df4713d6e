"""Whether anything of what is evaluated stands in what lies before it: ``proact dataset split --check``.

Looked at are all scenarios at or below a path, by user: their sessions are the evaluated part, the tables and earlier
sessions that they name are the history. A leak is

* ``moment``: an event of the history that lies in an evaluated session,
* ``event``: an event of an evaluated session in the history, by its id,
* ``label``: a label in the history that became known when an evaluated need was acted upon,
* ``query``: the question of an evaluated need in the history, word for word,
* ``picture``: a picture of an evaluated session in a session of the history, by the SHA-256 of pixels or file.

People ask the same twice, and screens come back; so the last two may be allowed, and are then only counted. Leaks name
ids, files and instants, no titles and no questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simulator.core.errors import InputError
from simulator.core.files import csv_rows, json_lines
from simulator.core.types import SECOND, Event, Label
from simulator.session.describe_pictures import Luminance
from simulator.session.reader import Reader
from simulator.session.scenario import find
from simulator.session.split_sides import Before, Own, by_user
from simulator.sources.recording import header_of

__all__ = ["REPEATS", "Leak", "Verdict", "check_split"]

REPEATS = ("query", "picture")
_NEAR = 0.99  # cosine of signatures from which two screens are called near duplicates
_NEAR_NS = 300 * SECOND
_MOST_NEAR = 300  # pictures a side that are looked at


@dataclass(frozen=True, slots=True)
class Leak:
    """One thing of the evaluated part in the history: what kind, whose, and where on both sides."""

    kind: str
    user: str
    evaluated: str
    history: str


@dataclass(slots=True)
class Verdict:
    """What was found.

    Attributes:
        leaks: in order of user and kind.
        repeats: what was allowed to come twice, by kind.
        near_duplicates: pictures of the history within 5 minutes of the cut that look like one behind it; None if
            they were not looked at.
        users_in_both: users with a history and an evaluated session: right, since each is helped by their own past.
        without_history: scenarios that name no history.
        n_scenarios: scenarios looked at.
        n_events: events of histories looked at.
    """

    leaks: list[Leak] = field(default_factory=list)
    repeats: Counter[str] = field(default_factory=Counter)
    near_duplicates: int | None = None
    users_in_both: list[str] = field(default_factory=list)
    without_history: int = 0
    n_scenarios: int = 0
    n_events: int = 0


def check_split(path: Path, *, allow_repeats: bool = False, pictures: bool = False) -> Verdict:
    """Look through the scenarios at or below a path.

    Args:
        path: a scenario, or a folder of many, however it was split.
        allow_repeats: questions and pictures that come twice are counted, and are no leaks.
        pictures: also look for near duplicates across the cut, which decodes pictures.

    Raises:
        InputError: there is no scenario; one cannot be read.
    """
    files = find(path).scenarios
    if not files:
        raise InputError(path, "there is no scenario (scenario.yaml) here, so nothing that could be evaluated")
    verdict = Verdict(near_duplicates=0 if pictures else None)
    for own in by_user(path, files):
        verdict.n_scenarios += len(own.plays)
        verdict.without_history += sum(not play.history for play in own.plays)
        if any(play.history for play in own.plays):
            verdict.users_in_both.append(own.user)
        _Check(own, verdict, allow_repeats=allow_repeats, pictures=pictures).all()
    verdict.users_in_both = sorted(set(verdict.users_in_both))
    return verdict


class _Check:
    """The looks at one user's history and evaluated sessions; instants are UTC."""

    def __init__(self, own: Own, verdict: Verdict, *, allow_repeats: bool, pictures: bool) -> None:
        self.own, self.verdict = own, verdict
        self.allow_repeats, self.pictures = allow_repeats, pictures
        self.history = list(self._history())

    def all(self) -> None:
        """Each look, in order."""
        self._moments()
        self._events()
        self._labels()
        self._queries()
        self._pictures()

    def _say(self, kind: str, evaluated: str, history: str) -> None:
        if kind in REPEATS and self.allow_repeats:
            self.verdict.repeats[kind] += 1
        else:
            self.verdict.leaks.append(Leak(kind, self.own.user, evaluated, history))

    def _history(self) -> Iterator[tuple[Event, Label | None, int]]:
        """Each event of any of the histories once, with what is to be added to its instants for UTC."""
        seen: set[tuple[str, int, int]] = set()
        for play in self.own.plays:
            shift = header_of(play.source).utc_anchor_ns or 0
            for event, label in play.history:
                key = (event.id, event.start_ns + shift, event.end_ns + shift)
                if key not in seen:
                    seen.add(key)
                    self.verdict.n_events += 1
                    yield event, label, shift

    def _moments(self) -> None:
        spans = [
            (s, s + header_of(p.source).end_ns, p.key)
            for p in self.own.evaluated
            for s in [header_of(p.source).utc_anchor_ns or 0]
        ]
        for event, _, shift in self.history:
            start, end = event.start_ns + shift, event.end_ns + shift
            for low, high, key in spans:
                if start < high and max(end, start + 1) > low:
                    self._say("moment", key, f"event {event.id}")

    def _events(self) -> None:
        ids: dict[str, str] = {}
        for play in self.own.evaluated:
            header = header_of(play.source)
            with Reader(header.folder, known=header) as reader:
                numbers = [n for (n,) in reader.table("events", ("id",))]
            # An import numbers a user's events across all sessions; a recorder begins anew in each.
            whole = [header.meta["part_of"]] if "part_of" in header.meta else []
            names = [header.session, *whole, *([header.user] if "import_digest" in header.meta else [])]
            ids |= {f"{name}/e{n}": f"{play.key}, event {n}" for name in names for n in numbers}
        for event, _, _ in self.history:
            if event.id in ids:
                self._say("event", ids[event.id], f"event {event.id}")

    def _labels(self) -> None:
        acted = {
            need.acted_ns + (header_of(play.source).utc_anchor_ns or 0): f"{play.key}, need {need.id}"
            for play in self.own.evaluated
            for need in play.truth.opportunities
            if need.acted_ns is not None
        }
        for event, label, shift in self.history:
            if label is not None and label.help and (where := acted.get(label.available_ns + shift)) is not None:
                self._say("label", where, f"event {event.id}")

    def _queries(self) -> None:
        asked: dict[str, str] = {}
        for play in self.own.evaluated:
            for name, query in [
                *((f"need {n.id}", n.query) for n in play.truth.opportunities),
                *((f"assistance event at {a.start_ns / SECOND:g} s", a.query) for a in play.truth.assists),
            ]:
                if query and query.strip():
                    asked.setdefault(_folded(query), f"{play.key}, {name}")
        found: dict[str, list[str]] = {}
        for table in sorted(self.own.tables):
            for name, query in _questions(table):
                if (where := asked.get(_folded(query))) is not None:
                    found.setdefault(where, []).append(f"{table.name}, {name}")
        for where, places in found.items():
            self._say("query", where, places[0] + (f" and {len(places) - 1} more" if len(places) > 1 else ""))

    def _pictures(self) -> None:
        before: dict[str, str] = {}
        for place in self.own.before.values():
            for digest, row in _digests(place):
                before.setdefault(digest, f"{place.folder.parent.name}/{place.folder.name}, row {row}")
        for play in self.own.plays:
            found: set[str] = set()
            for digest, row in _digests(Before(header_of(play.source).folder, None)):
                if (where := before.get(digest)) is not None and where not in found:
                    found.add(where)
                    self._say("picture", f"{play.key}, row {row}", where)
        if self.pictures and self.own.before:
            self.verdict.near_duplicates = (self.verdict.near_duplicates or 0) + self._near()

    def _near(self) -> int:
        """Pictures shortly before the first evaluated session that look like one shortly behind the cut."""
        first = min(self.own.plays, key=lambda p: header_of(p.source).utc_anchor_ns or 0)
        early = [f for place in self.own.before.values() for f in _files(place, last=True)]
        late = _files(Before(header_of(first.source).folder, None), last=False)
        signature = Luminance()
        there = [_row(signature, f) for f in early[-_MOST_NEAR:]]
        here = [_row(signature, f) for f in late[:_MOST_NEAR]]
        a, b = (np.array([r for r in rows if r is not None], np.float32) for rows in (there, here))
        return int(((a @ b.T) >= _NEAR).any(axis=1).sum()) if len(a) and len(b) else 0


def _row(signature: Luminance, file: Path) -> Any:
    try:
        return signature.embed_images([file])[0]
    except InputError:
        return None


def _digests(place: Before) -> Iterator[tuple[str, int]]:
    """SHA-256 of pixels and of files, each with the first row that shows it."""
    with Reader(place.folder) as reader:
        until = None if place.until_ns is None else place.until_ns + reader.header.zero_ns
        seen: set[str] = set()
        for row, captured, pixels, file in reader.rows(("id", "captured_ns", "pixels_hash", "file_hash")):
            if until is not None and captured >= until:
                break
            for digest in (pixels, file):
                if isinstance(digest, str) and len(digest) == 64 and digest not in seen:
                    seen.add(digest)
                    yield digest, row


def _files(place: Before, *, last: bool) -> list[Path]:
    """Distinct pictures of a session's last or first minutes, in order."""
    with Reader(place.folder) as reader:
        header = reader.header
        until = header.end_ns if place.until_ns is None else place.until_ns
        low, high = (until - _NEAR_NS, until) if last else (0, _NEAR_NS)
        rows = [f for t, f in reader.rows(("captured_ns", "file_path")) if f and low <= t - header.zero_ns < high]
        return [header.folder / f for f in dict.fromkeys(rows)]


def _questions(table: Path) -> Iterator[tuple[str, str]]:
    """The questions of an event table, of whatever rows, each with the id of its row or else the line."""
    for line, row in csv_rows(table) if table.suffix.lower() == ".csv" else json_lines(table):
        if isinstance(query := row.get("query"), str) and query.strip():
            yield f"event {row['id']}" if row.get("id") is not None else f"line {line}", query


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
