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

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simulator.core.errors import InputError
from simulator.core.files import csv_rows, json_lines, read_text
from simulator.core.types import SECOND, Event, Label
from simulator.session.describe_pictures import Luminance
from simulator.session.play import Play
from simulator.session.reader import Header, Reader, is_session
from simulator.session.scenario import find, plays
from simulator.session.scenario_file import load
from simulator.session.split import ACCOUNT, EVALUATION, VALIDATION

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


@dataclass(frozen=True, slots=True)
class _Before:
    """A session of the history, until an instant of its stream time (None: whole)."""

    folder: Path
    until_ns: int | None


@dataclass(slots=True)
class _Own:
    """One side of a split of one user, or one scenario whose session has no calendar.

    ``plays`` are the ones whose histories are looked at, ``evaluated`` these and those of later sides: what is
    evaluated may know what was validated.
    """

    user: str
    plays: list[Play] = field(default_factory=list)
    evaluated: list[Play] = field(default_factory=list)
    before: dict[Path, _Before] = field(default_factory=dict)
    tables: set[Path] = field(default_factory=set)


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
    for own in _by_user(path, files, verdict):
        _Check(own, verdict, allow_repeats=allow_repeats, pictures=pictures).all()
    verdict.users_in_both = sorted(set(verdict.users_in_both))
    return verdict


def _by_user(path: Path, files: Sequence[Path], verdict: Verdict) -> Iterable[_Own]:
    owns: dict[tuple[str, str, str], _Own] = {}
    for file in files:
        spec = load(file)
        for play in plays([file]):
            key = (play.user, "" if _header(play).utc_anchor_ns is not None else play.key, _side(file))
            own = owns.setdefault(key, _Own(play.user))
            own.plays.append(play)
            verdict.n_scenarios += 1
            verdict.without_history += not play.history
            if play.history:
                verdict.users_in_both.append(play.user)
            for entry in spec.history:
                if is_session(place := (file.parent / entry).resolve()):
                    own.before[place] = _Before(place, None)
                else:
                    own.tables.add(place)
    for (user, alone, side), own in owns.items():
        own.evaluated += own.plays
        if side == VALIDATION and (later := owns.get((user, alone, EVALUATION))) is not None:
            own.evaluated += later.plays
            later.before |= {f: _Before(f, None) for p in own.plays for f in [_header(p).folder.resolve()]}
    _left_behind(path, owns)
    _from_accounts(path, owns)
    return owns.values()


def _side(scenario: Path) -> str:
    """The side on which a split put a scenario; all others are of one."""
    home = scenario.absolute().parent.parent
    return home.name if home.name == VALIDATION and (home.parent / ACCOUNT).is_file() else EVALUATION


def _left_behind(path: Path, owns: dict[tuple[str, str, str], _Own]) -> None:
    """An import leaves the sessions of the history beside the others."""
    played = {_header(play).folder.resolve() for own in owns.values() for play in own.plays}
    for folder in find(path).sessions:
        if (place := folder.resolve()) not in played:
            with Reader(folder) as reader:
                user = reader.header.user
            for key in ((user, "", VALIDATION), (user, "", EVALUATION)):
                if key in owns:
                    owns[key].before.setdefault(place, _Before(place, None))


def _from_accounts(path: Path, owns: dict[tuple[str, str, str], _Own]) -> None:
    """The sessions that a split drew its histories from, as its account names them."""
    for file in sorted(path.rglob(ACCOUNT)) if path.is_dir() else ():
        try:
            said = json.loads(read_text(file))
            user = str(said["user"])
            named = [
                ((file.parent / one["session"]).resolve(), int(one["until_ns"])) for one in said["history_sessions"]
            ]
        except (ValueError, KeyError, TypeError):
            raise InputError(file, "not the account of a split by this version") from None
        for key in ((user, "", VALIDATION), (user, "", EVALUATION)):
            for place, until in named:
                if key in owns and is_session(place):
                    owns[key].before.setdefault(place, _Before(place, until))


def _header(play: Play) -> Header:
    header: Header = play.source.header  # type: ignore[attr-defined]  # scenarios play recordings
    return header


class _Check:
    """The looks at one user's history and evaluated sessions; instants are UTC."""

    def __init__(self, own: _Own, verdict: Verdict, *, allow_repeats: bool, pictures: bool) -> None:
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
            shift = _header(play).utc_anchor_ns or 0
            for event, label in play.history:
                key = (event.id, event.start_ns + shift, event.end_ns + shift)
                if key not in seen:
                    seen.add(key)
                    self.verdict.n_events += 1
                    yield event, label, shift

    def _moments(self) -> None:
        spans = [(s, s + _header(p).end_ns, p.key) for p in self.own.evaluated for s in [_header(p).utc_anchor_ns or 0]]
        for event, _, shift in self.history:
            start, end = event.start_ns + shift, event.end_ns + shift
            for low, high, key in spans:
                if start < high and max(end, start + 1) > low:
                    self._say("moment", key, f"event {event.id}")

    def _events(self) -> None:
        ids: dict[str, str] = {}
        for play in self.own.evaluated:
            header = _header(play)
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
            need.acted_ns + (_header(play).utc_anchor_ns or 0): f"{play.key}, need {need.id}"
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
            for digest, row in _digests(_Before(_header(play).folder, None)):
                if (where := before.get(digest)) is not None and where not in found:
                    found.add(where)
                    self._say("picture", f"{play.key}, row {row}", where)
        if self.pictures and self.own.before:
            self.verdict.near_duplicates = (self.verdict.near_duplicates or 0) + self._near()

    def _near(self) -> int:
        """Pictures shortly before the first evaluated session that look like one shortly behind the cut."""
        first = min(self.own.plays, key=lambda p: _header(p).utc_anchor_ns or 0)
        early = [f for place in self.own.before.values() for f in _files(place, last=True)]
        late = _files(_Before(_header(first).folder, None), last=False)
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


def _digests(place: _Before) -> Iterator[tuple[str, int]]:
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


def _files(place: _Before, *, last: bool) -> list[Path]:
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
