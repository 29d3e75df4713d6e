"""``proact dataset import``: what others recorded, as native sessions and ready scenarios.

::

    OUT/<user>/import.json               of what source, and what was kept, repaired and left out, and why
    OUT/<user>/<session>/session.db      one a user and stretch of recording, with screenshots/
    OUT/<user>/<session>/scenario.yaml   only in those after the split: these are evaluated
    OUT/<user>/history.jsonl             the events before the split, with their labels: what memory is built from

Sources of ready scenarios (``Format.gives`` cases) are written one folder a case instead, see ``importing_cases``. The
split is by time, per user: by default the first 70 % of what was recorded is history (ProAgentBench prints no
ratio; ours is stated in every result). Importing the same again changes nothing.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from simulator.core.errors import InputError, UsageError, nearest, quote
from simulator.core.faults import told
from simulator.core.lock import alone_in
from simulator.core.names import free, plain
from simulator.core.types import SECOND
from simulator.session.importing_account import ACCOUNT, Line, Report, abandon, lines_of
from simulator.session.importing_cases import all_cases
from simulator.session.importing_user import Images, Into, one_user
from simulator.session.reader import is_session
from simulator.session.schema import FAR_NS, FILE_NAME
from simulator.sources import side_files
from simulator.sources.foreign import IMAGE_SUFFIXES, Ledger, Local, Outcome, Times
from simulator.sources.formats import FORMATS, Format, Wanted, chosen
from simulator.sources.passed_over import passed_over

__all__ = ["FORMATS", "Images", "Line", "Report", "import_"]

VERSION = 2  # of the importer: part of what tells an import from another


def import_(
    src: Path,
    out: Path,
    *,
    zone: str | None = None,
    format: str = "auto",
    user: str | None = None,
    images: Images = "copy",
    side: Sequence[Path] = (),
    split: float = 0.7,
    rate_hz: float | None = None,
    times: Times = "auto",
    stretch_gap_s: float | None = None,
    videos: Path | None = None,
    truth: Path | None = None,
) -> Report:
    """Read what others recorded and write native sessions, histories and scenarios.

    Args:
        src: what to read: a file or folder of one of the ``FORMATS``.
        out: where to write; made if it does not exist.
        zone: IANA zone of the machine that recorded; needed where foreign times are naive local ones.
        format: one of ``FORMATS``, or ``auto``: the first that recognises the source.
        user: name of the user, where the source holds one.
        images: ``copy`` into the sessions, ``reference`` where they lie, or ``none`` (text only).
        side: files that say more of events, see ``simulator.sources.side_files``.
        split: share of the recorded time that becomes history, in [0, 1); of no concern to ready scenarios.
        rate_hz: the recording's rate; None: told from its times (images without times: 1).
        times: see ``simulator.sources.folder``.
        stretch_gap_s: a longer time without a row starts a new session; None: as the format has it.
        videos: folder with the videos that the source speaks of.
        truth: file with what is true of the source, where that lies apart from it.

    Raises:
        InputError: nothing readable in the source; ``out`` holds another import.
        UsageError: an option out of range, or one that the format does not take; ``out`` and the source folder are not
            apart; another process writes there; the disk is full.
    """
    _check_options(split, rate_hz, stretch_gap_s, images)
    _check_user(user)
    if zone is not None:
        Local(zone, Ledger())  # says what is wrong with the name
    with told(src):
        _check_source(src)
        kind = chosen(format, src)
        given = {"user": user, "rate": rate_hz, "side": side or None, "videos": videos,
                 "truth": truth,
                 "times": times if times != "auto" else None}  # fmt: skip
        _check_taken(kind, {name for name, value in given.items() if value is not None}, zone, images)
        gap_s = kind.stretch_gap_s if stretch_gap_s is None else stretch_gap_s
        options = {"v": VERSION, "zone": zone, "images": images, "split": split, "rate_hz": rate_hz, "gap": gap_s,
                   "side": [sha256(p.read_bytes()).hexdigest() for p in side]}  # fmt: skip
        if videos is not None:
            options["videos"] = True
        into = Into(out, zone, images, split, round(gap_s * SECOND), json.dumps(options))
        with alone_in(out):
            scratch = _Scratch(out)
            wanted = Wanted(src, zone or "UTC", scratch, user, images != "none", times, rate_hz, videos, truth)
            try:
                report = _cases(kind, wanted, into) if kind.gives == "cases" else _recordings(kind, wanted, into, side)
            except BaseException:
                abandon(out)
                raise
            finally:
                scratch.clear()
        if src.is_dir():
            _others(kind, wanted, side, report)
    return report


def _recordings(kind: Format, wanted: Wanted, into: Into, side: Sequence[Path]) -> Report:
    report = Report()
    remarks = side_files.load(side)

    def account(user: str, outcome: Outcome, reason: str, example: str) -> None:
        report.lines.append(Line(user, outcome, reason, 1, (example,)))

    found = list(kind.recordings(wanted, account))
    if not found:
        raise _nothing(wanted.src, report)
    names: set[str] = set()
    for foreign in found:
        foreign.user = free(foreign.user, names)  # names of files that come out alike as names of folders
        _check_apart(wanted.src, into.out / foreign.user)
    if (into.out / ACCOUNT).exists():
        raise InputError(into.out, "ready scenarios of another source lie there; choose another place to import to")
    for foreign in found:
        side_files.apply(remarks, foreign.user, foreign.events, foreign.ledger, only_user=len(found) == 1)
        if wanted.rate_hz is not None:
            foreign.period_ns = round(SECOND / wanted.rate_hz)
        one_user(foreign, into, report)
    _unclaimed(remarks, {f.user for f in found}, report)
    return report


def _cases(kind: Format, wanted: Wanted, into: Into) -> Report:
    report = Report()
    all_cases(kind.cases(wanted), into, kind.name, partial(_check_apart, wanted.src), report)
    if not report.sessions:
        raise _nothing(wanted.src, report)
    return report


def _nothing(src: Path, report: Report) -> InputError:
    why = "; ".join(f"{w.reason} ({w.examples[0]})" if w.examples else w.reason for w in report.lines)
    return InputError(src, f"nothing in it could be imported: {why}")


def _others(kind: Format, wanted: Wanted, side: Sequence[Path], report: Report) -> None:
    """Count what lies in the folder and is not read."""
    read = [*kind.looked_at(wanted.src), *side, *([] if wanted.truth is None else [wanted.truth])]
    if wanted.videos is not None:
        read += [p for p in wanted.videos.rglob("*") if p.is_file()]
    ledger = Ledger()
    for reason, example in passed_over(wanted.src, read):
        ledger.add("left out", reason, example)
    report.lines += lines_of(kind.name if kind.gives == "cases" else "", ledger)


class _Scratch:
    """A folder for pictures that a reader makes, beside what is written, made when first asked for."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._made: Path | None = None

    def __call__(self) -> Path:
        if self._made is None:
            self._out.mkdir(parents=True, exist_ok=True)
            self._made = Path(tempfile.mkdtemp(prefix=".import-", dir=self._out))
        return self._made

    def clear(self) -> None:
        if self._made is not None:
            shutil.rmtree(self._made, ignore_errors=True)


def _check_source(src: Path) -> None:
    if not src.exists():
        raise InputError(src, "there is no such file or folder")
    if is_session(src) or src.name == FILE_NAME:
        raise InputError(src, "a session of proact already, nothing to import: `proact run` plays it as it is")
    if src.is_file() and src.suffix.lower() in IMAGE_SUFFIXES - {".gif"}:
        raise InputError(src, "a picture; name the folder of images that it lies in")


def _check_taken(kind: Format, given: set[str], zone: str | None, images: str) -> None:
    """Refuse options that the format does not take, rather than to pass them over."""
    for name in sorted(given - set(kind.takes)):
        others = [f.name for f in FORMATS.values() if name in f.takes]
        raise UsageError(f"--{name} is not for format {kind.name}; it is for {', '.join(others)}")
    if zone is None and kind.zone == "needed":
        raise UsageError(
            "--timezone is missing: the times of such recordings are local ones without a zone; "
            "name that of the machine that recorded, such as Asia/Shanghai"
        )
    if images == "reference" and kind.makes_pictures:
        raise UsageError(f"the pictures of format {kind.name} are made on importing: --images copy or none")


def _check_options(split: float, rate_hz: float | None, stretch_gap_s: float | None, images: str) -> None:
    if not 0 <= split < 1:
        raise UsageError(f"split {quote(split)}: a share from 0 to below 1")
    if rate_hz is not None and not 0 < rate_hz <= 1000:
        raise UsageError(f"rate {quote(rate_hz)}: snapshots a second, above 0 and at most 1000")
    if stretch_gap_s is not None and not 0 < stretch_gap_s <= FAR_NS / SECOND:
        raise UsageError(f"stretch gap {quote(stretch_gap_s)}: seconds, above 0 and at most 7 days")
    if images not in ("copy", "reference", "none"):
        raise UsageError(f"images {quote(images)}: {nearest(images, ('copy', 'reference', 'none'))}")


def _check_user(user: str | None) -> None:
    """A user's name is the name of a folder in OUT, and leads nowhere else."""
    if user is not None and (user != user.strip() or len(user) > 80 or not user.isprintable() or not user
                             or user.startswith(".") or any(c in user for c in '/\\:*?"<>|')):  # fmt: skip
        want = 'a name fit for a folder: up to 80 characters, no / \\ : * ? " < > |, no dot or space at its start'
        raise UsageError(f"user {quote(user)}: {want}, such as {quote(plain(user))}")


def _check_apart(src: Path, home: Path) -> None:
    """Refuse to write a user's folder into the source, which is only read; what lies beside one file is not read."""
    inner, outer = home.resolve(), src.resolve()
    if src.is_dir() and (inner.is_relative_to(outer) or outer.is_relative_to(inner)):
        raise UsageError(
            f"{quote(home)} would be written: it and the source {quote(src)} must lie apart; name another OUT"
        )


def _unclaimed(remarks: Sequence[side_files.Remark], users: set[str], report: Report) -> None:
    strangers = [
        r for r in remarks if (r.user is None and len(users) > 1) or (r.user is not None and r.user not in users)
    ]
    if strangers:
        reason = "remarks of side files on users that were not imported"
        report.lines.append(Line("", "left out", reason, len(strangers), tuple(r.where for r in strangers[:3])))
