"""``proact dataset import``: what others recorded, as native sessions and ready scenarios.

::

    OUT/<user>/import.json               of what source, and what was kept, repaired and left out, and why
    OUT/<user>/<session>/session.db      one a user and stretch of recording, with screenshots/
    OUT/<user>/<session>/scenario.yaml   only in those after the split: these are evaluated
    OUT/<user>/history.jsonl             the events before the split, with their labels: what memory is built from

The split is by time, per user: by default the first 70 % of what was recorded is history (ProAgentBench prints no
ratio; ours is stated in every result). Importing the same again changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from simulator.core.errors import InputError, UsageError, nearest, quote
from simulator.core.faults import told
from simulator.core.files import read_text
from simulator.core.types import SECOND
from simulator.session.history import first_query
from simulator.session.import_session import Pictures, Stretch, history_lines, write_session
from simulator.session.quality import Sieve
from simulator.session.reader import is_session
from simulator.session.schema import FAR_NS, FILE_NAME
from simulator.sources import folder, lifetrace, lifetrace_db, side_files
from simulator.sources.foreign import IMAGE_SUFFIXES, Foreign, Ledger, Outcome

__all__ = ["FORMATS", "Images", "Line", "Report", "import_"]

FORMATS = ("folder", "lifetrace", "proagentbench")
OUTCOMES: tuple[Outcome, ...] = ("kept", "repaired", "left out", "noted")
Images = Literal["copy", "reference", "none"]
ACCOUNT = "import.json"
VERSION = 1  # of the importer: part of what tells an import from another


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the account."""

    user: str
    outcome: str
    reason: str
    count: int
    examples: tuple[str, ...] = ()


@dataclass(slots=True)
class Report:
    """What an import did.

    ``unchanged``: everything was there already. ``notes``: by user, how times and rates were told.
    """

    lines: list[Line] = field(default_factory=list)
    sessions: list[Path] = field(default_factory=list)
    scenarios: list[Path] = field(default_factory=list)
    notes: dict[str, dict[str, str]] = field(default_factory=dict)
    unchanged: bool = True

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``; holds neither times nor places of this machine."""
        return {
            "unchanged": self.unchanged,
            "sessions": [p.as_posix() for p in self.sessions],
            "scenarios": [p.as_posix() for p in self.scenarios],
            "notes": self.notes,
            "account": [asdict(line) for line in self.lines],
        }


def import_(
    src: Path,
    out: Path,
    *,
    zone: str,
    format: str = "auto",
    user: str | None = None,
    images: Images = "copy",
    side: Sequence[Path] = (),
    split: float = 0.7,
    rate_hz: float | None = None,
    times: folder.Times = "auto",
    stretch_gap_s: float = 1800.0,
) -> Report:
    """Read a foreign recording and write native sessions, histories and scenarios.

    Args:
        src: a LifeTrace or ProAgentBench database, a folder with one such a participant, or a folder of images.
        out: where to write; made if it does not exist.
        zone: IANA zone of the machine that recorded: foreign times are naive local ones.
        format: one of ``FORMATS``, or ``auto``: a database makes lifetrace, images alone make folder.
        user: name of the user, where the source holds one.
        images: ``copy`` into the sessions, ``reference`` where they lie, or ``none`` (text only).
        side: files that say more of events, see ``simulator.sources.side_files``.
        split: share of the recorded time that becomes history, in [0, 1).
        rate_hz: the recording's rate; None: told from its times (images without times: 1).
        times: see ``simulator.sources.folder``.
        stretch_gap_s: a longer time without a row starts a new session.

    Raises:
        InputError: nothing readable in the source; ``out`` holds another import.
        UsageError: an option out of range; ``out`` and the source folder are not apart.
    """
    _check_options(split, rate_hz, stretch_gap_s, images)
    _check_user(user)
    with told(src):
        return _import(src, out, zone, format, user, images, side, split, rate_hz, times, stretch_gap_s)


def _import(
    src: Path,
    out: Path,
    zone: str,
    format: str,
    user: str | None,
    images: Images,
    side: Sequence[Path],
    split: float,
    rate_hz: float | None,
    times: folder.Times,
    stretch_gap_s: float,
) -> Report:
    report = Report()
    remarks = side_files.load(side)
    options = {"v": VERSION, "zone": zone, "images": images, "split": split, "rate_hz": rate_hz, "gap": stretch_gap_s,
               "side": [sha256(p.read_bytes()).hexdigest() for p in side]}  # fmt: skip
    found = list(_read(src, format, user, zone, times, rate_hz, report))
    if not found:
        raise InputError(src, "nothing in it could be imported: " + "; ".join(w.reason for w in report.lines))
    for foreign in found:
        _check_apart(src, out / foreign.user)
    for foreign in found:
        side_files.apply(remarks, foreign.user, foreign.events, foreign.ledger, only_user=len(found) == 1)
        if rate_hz is not None:
            foreign.period_ns = round(SECOND / rate_hz)
        _one_user(foreign, out, zone, images, split, round(stretch_gap_s * SECOND), json.dumps(options), report)
    _unclaimed(remarks, {f.user for f in found}, report)
    return report


def _check_options(split: float, rate_hz: float | None, stretch_gap_s: float, images: str) -> None:
    if not 0 <= split < 1:
        raise UsageError(f"split {quote(split)}: a share from 0 to below 1")
    if rate_hz is not None and not 0 < rate_hz <= 1000:
        raise UsageError(f"rate {quote(rate_hz)}: snapshots a second, above 0 and at most 1000")
    if not 0 < stretch_gap_s <= FAR_NS / SECOND:
        raise UsageError(f"stretch gap {quote(stretch_gap_s)}: seconds, above 0 and at most 7 days")
    if images not in ("copy", "reference", "none"):
        raise UsageError(f"images {quote(images)}: {nearest(images, ('copy', 'reference', 'none'))}")


def _check_user(user: str | None) -> None:
    """A user's name is the name of a folder in OUT, and leads nowhere else."""
    if user is not None and (user != user.strip() or len(user) > 80 or not user.isprintable() or not user
                             or user.startswith(".") or any(c in user for c in '/\\:*?"<>|')):  # fmt: skip
        want = 'a name fit for a folder: up to 80 characters, no / \\ : * ? " < > |, no dot or space at its start'
        raise UsageError(f"user {quote(user)}: {want}, such as {quote(lifetrace_db.plain(user))}")


def _check_apart(src: Path, home: Path) -> None:
    """Refuse to write a user's folder into the source, which is only read; what lies beside one file is not read."""
    inner, outer = home.resolve(), src.resolve()
    if src.is_dir() and (inner.is_relative_to(outer) or outer.is_relative_to(inner)):
        raise UsageError(
            f"{quote(home)} would be written: it and the source {quote(src)} must lie apart; name another OUT"
        )


def _read(
    src: Path, kind: str, user: str | None, zone: str, times: folder.Times, rate_hz: float | None, report: Report
) -> Iterator[Foreign]:
    if kind not in ("auto", *FORMATS):
        raise UsageError(f"unknown format {quote(kind)}; {nearest(kind, FORMATS)}")
    if not src.exists():
        raise InputError(src, "there is no such file or folder")
    if is_session(src) or src.name == FILE_NAME:
        raise InputError(src, "a session of proact already, nothing to import: `proact run` plays it as it is")
    if src.is_file() and src.suffix.lower() in IMAGE_SUFFIXES:
        raise InputError(src, "a picture; name the folder of images that it lies in")
    if kind == "auto":
        kind = "lifetrace" if src.is_file() or any(src.rglob("*.db")) else "folder"
    if kind == "folder":
        name = user or lifetrace_db.plain(src.absolute().name)
        yield folder.read(src, name, zone, times=times, rate_hz=rate_hz or 1.0)
        return
    owners = lifetrace_db.databases(src)
    if user is not None and len(owners) > 1:
        raise UsageError(f"user {quote(user)}: the source holds {len(owners)} databases, each with a user of its own")
    for owner, file in owners:
        name = user or owner
        try:
            with told(file):
                foreign = lifetrace.read(file, name, zone, images_under=_images_under(src, file))
        except InputError as error:
            if len(owners) == 1:
                raise
            report.lines.append(Line(name, "left out", f"database: {error.want}", 1, (file.name,)))
            continue
        if not foreign.shots and not foreign.events:
            report.lines.append(
                Line(name, "left out", "database: it holds no screenshot and no event", 1, (file.name,))
            )
            continue
        yield foreign


def _images_under(src: Path, file: Path) -> Path:
    """The participant's own folder: what lies below ``src`` on the way to the database."""
    if src.is_file():
        return file.parent
    parts = file.relative_to(src).parts
    return src / parts[0] if len(parts) > 1 else src


def _one_user(
    foreign: Foreign, out: Path, zone: str, images: Images, split: float, gap_ns: int, options: str, report: Report
) -> None:
    ledger = foreign.ledger
    if foreign.period_ns is None:
        foreign.period_ns = lifetrace.period_ns(foreign.shots)
        foreign.notes["rate"] = f"one shot in {foreign.period_ns / SECOND:g} s, told from the times"
    stretches = _stretches(foreign, gap_ns)
    _cut_events(foreign, stretches, gap_ns)
    for stretch in stretches:
        stretch.ensure_events(foreign)
    _sieve(foreign, stretches, pictures=images != "none")
    if not foreign.anchored:
        split = 0.0  # without a calendar there is no before: a history could not be placed
    stretches, first_evaluated = _split(stretches, split)
    foreign.notes["split"] = f"first {split:.0%} of the recorded time is history, the rest is evaluated"
    home = out / foreign.user
    source = sha256(f"{foreign.digest}\n{options}".encode()).hexdigest()
    _begin_account(home / ACCOUNT, source)
    pictures = Pictures(images, ledger)
    names: set[str] = set()
    anew = False
    for i, stretch in enumerate(stretches):
        name = _session_name(stretch, foreign, zone, i, names)
        names.add(name)
        digest = sha256(f"{foreign.digest}\n{options}\n{name}".encode()).hexdigest()
        anew |= write_session(home / name, stretch, foreign, zone, digest, pictures)
        report.sessions.append(Path(foreign.user) / name)
        if i >= first_evaluated:
            _write_new(home / name / "scenario.yaml", _scenario(foreign, stretch, history=first_evaluated > 0))
            report.scenarios.append(Path(foreign.user) / name / "scenario.yaml")
    report.unchanged &= not anew
    if first_evaluated:
        lines, labeller = history_lines(stretches[:first_evaluated], foreign)
        _write_new(home / "history.jsonl", "".join(lines))
        ledger.add("noted", "needs in the history whose event was left out or not recorded", n=labeller.n_homeless)
        ledger.add("noted", "needs in the history that came after another in the same event", n=labeller.n_passed_over)
    report.notes[foreign.user] = dict(sorted(foreign.notes.items()))
    report.lines += _account(home / ACCOUNT, source, _lines(foreign.user, ledger), anew=anew)


def _lines(user: str, ledger: Ledger) -> list[Line]:
    return [
        Line(user, outcome, reason, n, tuple(ledger.examples[(outcome, reason)]))
        for outcome in OUTCOMES
        for reason, n in ledger.of(outcome).items()
    ]


def _begin_account(file: Path, source: str) -> None:
    """Say of what the folder is before anything is written into it.

    Raises:
        InputError: it is of another source, or made with other options.
    """
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        _write_account(file, source, None)
    elif _kept(file)["source"] != source:
        raise InputError(file.parent, "came from another source or other options; choose another place to import to")


def _account(file: Path, source: str, lines: list[Line], *, anew: bool) -> list[Line]:
    """Keep the account beside the sessions; a repeated import, which opens no picture, repeats the first account."""
    kept = _kept(file)["account"]
    if not anew and kept is not None:
        return [Line(**{**line, "examples": tuple(line["examples"])}) for line in kept]
    _write_account(file, source, lines)
    return lines


def _kept(file: Path) -> dict[str, Any]:
    """What an account file holds.

    Raises:
        InputError: it is none.
    """
    try:
        said = json.loads(read_text(file))
    except ValueError:
        said = None
    if not isinstance(said, dict) or said.keys() != {"source", "account"}:
        raise InputError(file, "not the account of an import by this version; choose another place to import to")
    return said


def _write_account(file: Path, source: str, lines: list[Line] | None) -> None:
    said = {"source": source, "account": None if lines is None else [asdict(line) for line in lines]}
    file.write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _stretches(foreign: Foreign, gap_ns: int) -> list[Stretch]:
    """The shots in stretches without a longer silence, each with the events that start in it."""
    out: list[Stretch] = []
    for shot in foreign.shots:
        if not out or shot.utc_ns - out[-1].shots[-1].utc_ns > gap_ns:
            out.append(Stretch([], [], foreign.period_ns or SECOND))
        out[-1].shots.append(shot)
    k = 0
    for event in foreign.events:
        while k + 1 < len(out) and event.start_ns >= out[k + 1].start_ns:
            k += 1
        out[k].events.append(event)
    return out


def _cut_events(foreign: Foreign, stretches: Sequence[Stretch], gap_ns: int) -> None:
    """An event ends with its stretch: the recorder let the last one run until the next shot, days later."""
    for i, stretch in enumerate(stretches):
        limit = stretches[i + 1].start_ns if i + 1 < len(stretches) else stretch.end_ns + gap_ns
        end = stretch.end_ns
        for event in stretch.events:
            if event.end_ns is not None and event.end_ns >= limit:
                foreign.ledger.add("repaired", "events cut where the recording paused", f"event {event.id}")
                event.end_ns = max(end, event.start_ns)
            stretch.until_ns = max(stretch.until_ns, event.end_ns or 0)


def _sieve(foreign: Foreign, stretches: Sequence[Stretch], *, pictures: bool) -> None:
    """Mark the events that are not scored, and say why."""
    # Where there are no pictures at all, or none are wanted, a row is all that one can ask for.
    pictured = pictures and any(s.file is not None for s in foreign.shots)
    valid: dict[int, int] = {}
    for shot in foreign.shots:
        if shot.event is not None and not shot.made and (shot.file or shot.scene or shot.text or not pictured):
            valid[shot.event] = valid.get(shot.event, 0) + 1
    sieve = Sieve()
    for stretch in stretches:
        for event in stretch.events:
            end = event.start_ns if event.end_ns is None else event.end_ns
            why = sieve.reason(
                event.start_ns, end, valid.get(event.id, 0), assistance=event.assistance, excluded=event.excluded
            )
            event.excluded = why
            if event.assistance and event.excluded is None:
                if event.intention is None:
                    foreign.ledger.add(
                        "noted", "assistance events without an intention (Uncategorized)", f"event {event.id}"
                    )
                if first_query(event.conversation) is None:
                    foreign.ledger.add("noted", "assistance events without the user's question", f"event {event.id}")
    for reason, n in sieve.left_out.items():
        foreign.ledger.add("left out", f"events not scored: {reason}", n=n)
    for odd, n in sieve.flagged.items():
        foreign.ledger.add("noted", f"events to look at: {odd}", n=n)


def _split(stretches: list[Stretch], share: float) -> tuple[list[Stretch], int]:
    """Stretches with the one at the split cut in two at an event's start, and the index of the first evaluated."""
    left = round(share * sum(s.end_ns - s.start_ns for s in stretches))
    for i, stretch in enumerate(stretches):
        length = stretch.end_ns - stretch.start_ns
        if left >= length:
            left -= length
            continue
        cut = stretch.cut_at(stretch.start_ns + left) if left > 0 else None
        if cut is None:
            return stretches, i
        return [*stretches[:i], *cut, *stretches[i + 1 :]], i + 1
    return stretches, len(stretches)


def _session_name(stretch: Stretch, foreign: Foreign, zone: str, i: int, taken: set[str]) -> str:
    if not foreign.anchored:
        return f"{i + 1:03d}"
    local = stretch.local_start(zone).strftime("%Y%m%d-%H%M%S")
    name, n = local, 1
    while name in taken:
        n += 1
        name = f"{local}-{n}"
    return name


_HOW_TO_SAY = (
    "# Nothing is known of needs, so a run gives latency only. To have help scored, replace that line by the windows",
    "# in which it would be useful, in seconds since the first snapshot (intentions: `proact list intentions`):",
    "# truth:",
    "#   opportunities:",
    "#     - {opens_s: 0, closes_s: 5, intention: Information Lookup}",
)


def _scenario(foreign: Foreign, stretch: Stretch, *, history: bool) -> str:
    """A scenario that people may edit: importing again leaves it alone."""
    lines = [
        "# Made by `proact dataset import`; importing again leaves this file as you edit it.",
        "session: .",
        *(["history: [../history.jsonl]"] if history else []),
        *(["truth: recorded"] if foreign.has_assistance else ["truth: none", *_HOW_TO_SAY]),
        f"segmentation: {stretch.rule}",
    ]
    return "\n".join(lines) + "\n"


def _unclaimed(remarks: Sequence[side_files.Remark], users: set[str], report: Report) -> None:
    strangers = [
        r for r in remarks if (r.user is None and len(users) > 1) or (r.user is not None and r.user not in users)
    ]
    if strangers:
        reason = "remarks of side files on users that were not imported"
        report.lines.append(Line("", "left out", reason, len(strangers), tuple(r.where for r in strangers[:3])))


def _write_new(file: Path, text: str) -> None:
    """Write a file unless it is there: what people edited, or an equal import wrote, stays."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
