"""Releases of a session: they name nobody, and may hold titles of whoever is forgotten. They are told, not touched.

``dataset release`` writes no word on what a release was made of, so it is known by what it keeps as it is: when each
row was taken, to the nanosecond.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from simulator.core.calendar import from_utc_ns
from simulator.core.errors import InputError
from simulator.core.faults import told
from simulator.privacy.forget_opening import Head, reading
from simulator.privacy.items import Unreached
from simulator.privacy.span import Span
from simulator.session.schema import FILE_NAME

__all__ = ["releases"]

_INSTANTS = "SELECT tick, captured_ns, late_ms, monitor FROM screenshots ORDER BY id"


def releases(sessions: Iterable[Head], going: Collection[Path], span: Span) -> Iterator[Unreached]:
    """The releases among sessions that were made of those that go, each with the command that forgets it."""
    heads = list(sessions)
    made = [head for head in heads if head.tier is not None and head.folder not in going]
    known = {_digest(head): head for head in heads if made and head.folder in going}
    for head in made:
        source = known.get(_digest(head))
        if source is not None:
            said = f"a {head.tier} release of '{source.session}': {_command(head, span)} forgets it"
            yield Unreached(head.folder, said)


def _digest(head: Head) -> str:
    file = head.folder / FILE_NAME
    hashed = sha256(str(head.folder).encode())  # a damaged file is like no other
    with suppress(InputError), told(file), reading(file) as db:
        hashed = sha256()
        for row in db.execute(_INSTANTS):
            hashed.update(repr(row).encode())
    return hashed.hexdigest()


def _command(head: Head, span: Span) -> str:
    words = ["proact", "forget", head.user, "--in", str(head.folder)]
    if head.zero_ns is not None:  # else nobody can say which rows are of a stretch
        for option, instant in (("--from", span.start_ns), ("--to", span.end_ns)):
            words += [] if instant is None else [option, from_utc_ns(instant).isoformat()]
    return f"`{shlex.join(words)}`"
