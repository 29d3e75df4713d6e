"""Beginning a recording, or going on with one that a crash left."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from simulator.core.durations import show_duration
from simulator.core.errors import InputError, quote
from simulator.core.faults import kind_of
from simulator.core.lock import FolderLock
from simulator.core.types import MS
from simulator.recorder.machine import boot_id, zone
from simulator.recorder.private import PRIVATE
from simulator.recorder.status import LOCK
from simulator.recorder.ticks import Clocks
from simulator.session.reader import HINT, connect
from simulator.session.schema import FILE_NAME
from simulator.session.store import Left, Writer

__all__ = ["Begun", "begin"]

_RULES = "exclusions"  # meta, until it is closed
_LEAD_NS = 20 * MS  # from the opening to the first tick
_DAMAGE = (sqlite3.Error, TypeError, ValueError, OverflowError)  # UnicodeError is a ValueError
_REFUSED = (sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY,
            sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Begun:
    """A session that is open for recording.

    Attributes:
        lock: held until nothing is written any more.
        writer: of the session.
        user: whose it is.
        session: its name.
        zone: IANA name of the zone that its times are shown in.
        zero: the ``boot`` instant of ``captured_ns`` 0.
        first: the next tick.
        last_event: number of the last event.
        recovered: what was repaired, as a sentence; None for a new session.
    """

    lock: FolderLock
    writer: Writer
    user: str
    session: str
    zone: str
    zero: int
    first: int = 0
    last_event: int = 0
    recovered: str | None = None


def begin(folder: Path, name: str, user: str | None, period_ns: int, clocks: Clocks, rules: str = "none") -> Begun:
    """Open a session in that folder, which is made, for its user alone, if it does not exist. Blocks.

    Args:
        folder: of the session.
        name: of a new one; one that goes on keeps its own.
        user: whose it is; None: as it says, a new one ``user``'s.
        period_ns: of its ticks.
        clocks: see there.
        rules: what tells what is left out from what else might be (``Exclusions.digest``); kept until it is closed.

    Raises:
        UsageError: another program has it open; it is closed; it was begun with another period, for another user, with
            other rules; it is none of ours; it is damaged, or cannot be written.
    """
    folder.mkdir(PRIVATE, parents=True, exist_ok=True)
    lock = FolderLock(
        folder / LOCK, f"{folder}: another program has this session open (a recorder, say); end it, or wait for it"
    )
    try:
        with _readable(folder / FILE_NAME):
            _check(folder / FILE_NAME, user, period_ns, rules)
            return _begin(folder, name, user or "user", period_ns, clocks, lock, rules)
    except BaseException:
        lock.release()
        raise


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """A session that a crash left may be damaged in any place: one sentence. So is a disk that takes nothing."""
    try:
        yield
    except _DAMAGE as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _REFUSED:
            raise InputError(file, f"cannot be written ({error})") from None
        raise InputError(file, f"{kind_of(error)}{HINT}") from None


def _check(file: Path, user: str | None, period_ns: int, rules: str) -> None:
    """Refuse what would make one session of two, before anything of the one that is there is touched."""
    if not file.exists():
        return
    with closing(connect(file)) as db:
        meta = dict(db.execute("SELECT key, value FROM meta"))
    if meta.get("state", "recording") != "recording":
        return  # closed, which the writer says
    if (period := int(meta.get("period_ns", period_ns))) != period_ns:
        raise InputError(file, f"begun with a period of {show_duration(period)}, and goes on only with that")
    if user is not None and (whose := meta.get("user", user)) != user:
        raise InputError(file, f"begun as the recording of {quote(whose)}, and goes on only as that", value=user)
    if meta.get(_RULES, rules) != rules:
        raise InputError(
            file,
            "begun with other exclusions, and goes on only with those: give the same --exclude as then, or close it "
            "with `proact dataset compact` and record into another folder",
        )


def _begin(folder: Path, name: str, user: str, period_ns: int, clocks: Clocks, lock: FolderLock, rules: str) -> Begun:
    boot, shown_in = boot_id() or "", zone()
    writer = Writer(folder, session=name, user=user, period_ns=period_ns, zone=shown_in)
    try:
        # Only now, since making the file takes longer than a tick may be late.
        zero, wall = clocks.boot() + _LEAD_NS, clocks.wall() + _LEAD_NS
        if writer.recovery is None:
            writer.set_meta({"utc_anchor_ns": wall, "boot_id": boot, "boot_zero_ns": zero, _RULES: rules})
            return Begun(lock, writer, user, name, shown_in, zero)
        left = writer.left()
        zero, first = _continued(left, period_ns, boot, zero, wall)
        writer.set_meta({"boot_id": boot, "boot_zero_ns": zero})
        if 0 <= left.tick < first - 1:
            writer.gap(left.tick + 1, first - 1, "missing", "the recorder had died")
        writer.note(tick=first, kind="resumed")
        user, name = left.meta.get("user", user), left.meta.get("session", name)
        return Begun(lock, writer, user, name, shown_in, zero, first, left.event, writer.recovery.sentence)
    except BaseException:
        writer.abandon()
        raise


def _continued(left: Left, period_ns: int, boot: str, now: int, wall: int) -> tuple[int, int]:
    """Zero and next tick of a session that goes on at ``now`` (``wall`` by the calendar).

    Zero stays the instant that it was: by the clock where the machine has not been started anew, else by the calendar,
    as long as that does not put the new rows before the old ones.
    """
    reached = max(left.captured_ns, left.tick * period_ns) + period_ns
    if boot and left.meta.get("boot_id") == boot:
        zero = int(left.meta["boot_zero_ns"])
    else:
        since = wall - int(left.meta["utc_anchor_ns"]) if "utc_anchor_ns" in left.meta else 0
        zero = now - max(since, reached)
    return zero, max(-(-(now - zero) // period_ns), left.tick + 1)
