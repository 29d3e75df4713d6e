"""``proact dataset split``: each user's recorded time as history, (validation) and evaluation, by time.

::

    OUT/<user>/split.json              of what, by which shares, where it was cut, what lies on which side
    OUT/<user>/history.jsonl           the events before the first cut, each with what was known of it by then
    OUT/<user>/validation.jsonl        those between the cuts: the past of what is evaluated, not of what is validated
    OUT/<user>/validation/<name>/      scenarios between the cuts
    OUT/<user>/evaluation/<name>/      scenarios behind the last one

A session wholly on one side stays where it is, and its scenario names it. One in which a cut lies is written as parts,
with the pictures of each. The source is only read; splitting the same again changes nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import yaml

from simulator.core.calendar import from_utc_ns
from simulator.core.errors import InputError, UsageError, quote
from simulator.core.files import read_text
from simulator.core.folders import ensure_apart, whole_folder
from simulator.core.lock import alone_in
from simulator.core.names import free, plain
from simulator.core.types import SECOND
from simulator.session.history import line_of
from simulator.session.opportunities import label_events
from simulator.session.split_case import Case, cases, relative
from simulator.session.split_cut import Blocks, located
from simulator.session.split_part import write_part

__all__ = ["ACCOUNT", "EVALUATION", "HISTORY", "VALIDATION", "SplitUser", "Splitting", "split"]

ACCOUNT = "split.json"
HISTORY, VALIDATION, EVALUATION = "history", "validation", "evaluation"
_LEAST_NS = 2 * SECOND  # a shorter part can hold no need


@dataclass(frozen=True, slots=True)
class SplitUser:
    """What became of one user's time.

    Attributes:
        cuts: UTC of the cuts, in order.
        hours: by side.
        counts: of the history: events, events with help, assistance events, questions without an event, …
        scenarios: written, relative to OUT.
    """

    user: str
    cuts: tuple[int, ...]
    hours: dict[str, float]
    counts: dict[str, int]
    scenarios: tuple[Path, ...]
    unchanged: bool


@dataclass(slots=True)
class Splitting:
    """What a split did; ``left_out``: why scenarios and sessions are in none."""

    users: list[SplitUser] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def split(src: Path, out: Path, *, history: float = 0.7, validation: float = 0.0) -> Splitting:
    """Split what lies at or below a path.

    Args:
        src: a session, a scenario, or a folder of many.
        out: made if it is not there.
        history: share of each user's recorded time.
        validation: share behind it; the rest is evaluated.

    Raises:
        InputError: nothing to split; ``out`` holds another split.
        UsageError: shares out of range; ``src`` and ``out`` are not apart.
    """
    if min(history, validation) < 0 or not 0 < history + validation < 1:
        said = f"--history {quote(history)} --validation {quote(validation)}"
        raise UsageError(f"{said}: shares from 0 on, together above 0 and below 1")
    ensure_apart(src, out)
    done = Splitting()
    by_user: dict[str, list[Case]] = {}
    for case in cases(src):
        if isinstance(case, InputError):
            done.left_out.append(str(case))
        else:
            by_user.setdefault(case.user, []).append(case)
    if by_user:
        with alone_in(out):
            _split(by_user, out, (history, history + validation) if validation else (history,), done)
    if not done.users:
        more = f"; and {len(done.left_out) - 1} more of which likewise" if len(done.left_out) > 1 else ""
        raise InputError(src, f"nothing in it can be split: {done.left_out[0]}{more}")
    return done


def _split(by_user: Mapping[str, Sequence[Case]], out: Path, shares: Sequence[float], done: Splitting) -> None:
    homes: set[str] = set()
    for user in sorted(by_user):
        name = free(plain(user), homes)
        try:
            done.users.append(_User(user, by_user[user], out, name, shares).write())
        except _OtherSplit:
            raise
        except InputError as error:
            done.left_out.append(str(error))


class _OtherSplit(InputError):
    """What lies in OUT is not what would be written."""


class _User:
    def __init__(self, user: str, own: Sequence[Case], out: Path, name: str, shares: Sequence[float]) -> None:
        self.user, self.final, self.shares = user, out / name, shares
        self.cases = sorted(own, key=lambda c: (c.start_ns, c.end_ns, c.header.session))
        self.sides = (HISTORY, EVALUATION) if len(shares) == 1 else (HISTORY, VALIDATION, EVALUATION)
        self.counts: Counter[str] = Counter()
        self.scenarios: list[Path] = []
        self.taken: set[str] = set()

    def write(self) -> SplitUser:
        self._ensure_each_once()
        cuts = self._cuts()
        source = self._source()
        if known := self._known(source):
            return known
        with whole_folder(self.final) as self.home:
            return self._written(cuts, source)

    def _written(self, cuts: Sequence[int], source: str) -> SplitUser:
        bounds = [-(2**62), *cuts, 2**62]
        tables: list[str] = []
        hours: dict[str, float] = {}
        for side, low, high in zip(self.sides, bounds, bounds[1:], strict=False):
            hours[side] = sum(max(0, min(c.end_ns, high) - max(c.start_ns, low)) for c in self.cases) / SECOND / 3600
            if side != HISTORY:
                for case in self.cases:
                    self._scenario(case, side, low, high, tables)
            if side != EVALUATION and (text := self._table(low, high, counted=side == HISTORY)):
                tables.append(f"{side}.jsonl")
                (self.home / tables[-1]).write_text(text, encoding="utf-8")
        made = SplitUser(self.user, tuple(cuts), hours, dict(self.counts), tuple(self.scenarios), unchanged=False)
        (self.home / ACCOUNT).write_text(self._account(source, made), encoding="utf-8")
        return made

    def _ensure_each_once(self) -> None:
        """Refuse two versions of one time: what the one is asked of stands in the history that the other gives."""
        known: dict[str, Case] = {}
        for case in self.cases:
            where = case.scenario or case.header.folder
            if (other := known.setdefault(case.recording, case)) is not case and case.start_ns < other.end_ns:
                want = "of one recording, such as noise twins: split each into an OUT of its own"
                raise InputError(where, f"it and {other.scenario or other.header.folder} are versions {want}")
            known[case.recording] = max(case, other, key=lambda c: c.end_ns)
        named = Counter(event.id for case in self.cases for event in case.events)
        if named and max(named.values()) > 1:
            want = "two sessions of this user have one name, so their events could not be told apart; rename one"
            raise InputError(self.cases[0].scenario or self.cases[0].header.folder, want, value=self.user)

    def _cuts(self) -> list[int]:
        """Where each share ends, moved on until it cuts through nothing of any session, and leaves no part rowless."""
        blocks = Blocks(
            [
                *((c.last_ns, c.end_ns) for c in self.cases),
                *((e.start_ns, e.end_ns) for c in self.cases for e in c.events),
                *(s for c in self.cases for s in c.needs),
            ],
            [(a.start_ns, a.end_ns) for c in self.cases for a in c.requests],
        )
        cuts: list[int] = []
        for share in self.shares:
            i, offset = located([c.header.end_ns for c in self.cases], share)
            cut = blocks.first_cut(self.cases[i].start_ns + offset)
            cuts.append(max([cut, *cuts]))
        if cuts[-1] + _LEAST_NS > max(c.end_ns for c in self.cases):
            where = self.cases[-1].scenario or self.cases[-1].header.folder
            raise InputError(
                where, "what spans the cut reaches to the end, so nothing would be left to evaluate", value=self.user
            )
        return cuts

    def _scenario(self, case: Case, side: str, low: int, high: int, tables: Sequence[str]) -> None:
        """The scenario of what of a case lies on a side, if anything does."""
        start, end = max(case.start_ns, low), min(case.end_ns, high)
        if end - start < _LEAST_NS:
            return
        name = plain(case.header.folder.name if case.scenario is None else case.scenario.parent.name)
        folder = self.home / free(f"{side}/{name}", self.taken)
        session, span = case.header.folder, None
        if start > case.start_ns or end < case.end_ns:
            until = None if end == case.end_ns else end - case.start_ns
            session = folder / "session"
            odd = write_part(case.header, session, f"{case.header.session}-{side}", start - case.start_ns, until)
            self.counts.update(odd)
            span = (_first_row(session, case), end - case.start_ns)
        folder.mkdir(parents=True, exist_ok=True)
        back = [f"../../{table}" for table in tables]
        said = case.scenario_text(folder, session, back, span)
        head = "# Made by `proact dataset split`.\n"
        text = yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=120)
        (folder / "scenario.yaml").write_text(head + text, encoding="utf-8")
        self.scenarios.append(Path(self.final.name) / (folder / "scenario.yaml").relative_to(self.home))

    def _table(self, low: int, high: int, *, counted: bool) -> str:
        """The events between two instants as an event table, labelled by what was asked by then."""
        lines: list[tuple[int, str]] = []
        for case in self.cases:
            events = [e for e in case.events if low <= e.start_ns and e.end_ns <= high]
            asked = [q for q in case.asked if low <= q.asked_ns <= high]
            labelled, labeller = label_events(events, asked)
            wanted = {a.start_ns: (a.intention, a.query) for a in case.requests}
            known = case.truth.known
            for event, label in labelled:
                line = line_of(event, label if known else None, wanted.get(event.start_ns))
                lines.append((event.end_ns, line))
                if counted:
                    self.counts["events"] += 1
                    self.counts["events with help"] += known and label is not None and label.help
                    self.counts["assistance events"] += event.assistance
            if counted:
                self.counts["questions without an event"] += labeller.n_homeless
        return "".join(line for _, line in sorted(lines, key=lambda p: p[0]))

    def _source(self) -> str:
        """What tells this split from any other: sessions, scenarios, shares."""
        whole = sha256(json.dumps(list(self.shares)).encode())
        for case in self.cases:
            for file in (case.header.file, case.scenario):
                if file is not None:
                    whole.update(sha256(file.read_bytes()).digest())
        return whole.hexdigest()

    def _known(self, source: str) -> SplitUser | None:
        file = self.final / ACCOUNT
        if not file.exists():
            if self.final.exists() and any(self.final.iterdir()):
                raise _OtherSplit(file, "the folder holds something else than a split; choose another place")
            return None
        try:
            said = json.loads(read_text(file))
            if said["source"] != source:
                raise ValueError("of another source")
            scenarios = tuple(Path(s) for s in said["scenarios"])
            known = SplitUser(
                self.user, tuple(said["cuts_utc_ns"]), said["hours"], said["counts"], scenarios, unchanged=True
            )
            changed = next((name for name, sha in said["files"].items() if _digest(self.final / name) != sha), None)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise _OtherSplit(file, "a split of other sessions or shares lies here; choose another place") from None
        if changed is not None:
            want = f"it is not as the split wrote it; to split anew remove {self.final}, or choose another place"
            raise _OtherSplit(self.final / changed, want)
        return known

    def _account(self, source: str, made: SplitUser) -> str:
        before = [
            {"session": relative(c.header.folder, self.home), "until_ns": min(c.end_ns, made.cuts[0]) - c.start_ns}
            for c in self.cases
            if c.start_ns < made.cuts[0]
        ]
        said: dict[str, Any] = {
            "source": source, "user": self.user, "by": "time", "shares": list(self.shares),
            "cuts_utc_ns": list(made.cuts), "cuts_utc": [from_utc_ns(c).isoformat() for c in made.cuts],
            "hours": made.hours, "counts": made.counts, "scenarios": [s.as_posix() for s in made.scenarios],
            "history_sessions": before,
            "files": {
                file.relative_to(self.home).as_posix(): _digest(file)
                for file in sorted(self.home.rglob("*")) if file.is_file()
            },
        }  # fmt: skip
        return json.dumps(said, ensure_ascii=False, indent=1) + "\n"


def _digest(file: Path) -> str | None:
    """SHA-256 of a file; None where there is none."""
    try:
        with file.open("rb") as stream:
            return file_digest(stream, sha256).hexdigest()
    except OSError:
        return None


def _first_row(part: Path, case: Case) -> int:
    """How much later than the session its part begins: the time of the part's first row."""
    from simulator.session.reader import Reader

    with Reader(part) as reader:
        return reader.header.zero_ns - case.header.zero_ns
