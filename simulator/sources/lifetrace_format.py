"""LifeTrace and ProAgentBench as formats of ``proact dataset import``: every database of a source, a user each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from simulator.core.errors import InputError, UsageError, quote
from simulator.core.faults import told
from simulator.sources import lifetrace
from simulator.sources.foreign import IMAGE_SUFFIXES, Foreign
from simulator.sources.formats import Account, Wanted
from simulator.sources.lifetrace_db import databases
from simulator.sources.loose_rows import start_of

__all__ = ["looked_at", "recordings", "sniff"]

_SUFFIXES = frozenset({".db", ".sqlite", ".sqlite3"})


def sniff(src: Path) -> bool:
    """Whether it is a database, is named like one (what is wrong with it is told on reading), or holds one."""
    if src.is_file():
        return src.suffix.lower() in _SUFFIXES or start_of(src, 16).startswith("SQLite format 3")
    return any(src.rglob("*.db"))


def recordings(wanted: Wanted, account: Account) -> Iterator[Foreign]:
    """Each database's recording; of several, those that cannot be read are left out with the reason.

    Raises:
        InputError: no database; the only one cannot be read.
        UsageError: a user's name for several databases.
    """
    src = wanted.src
    owners = databases(src)
    if wanted.user is not None and len(owners) > 1:
        many = f"the source holds {len(owners)} databases, each with a user of its own"
        raise UsageError(f"user {quote(wanted.user)}: {many}")
    for owner, file in owners:
        name = wanted.user or owner
        try:
            with told(file):
                foreign = lifetrace.read(file, name, wanted.zone, images_under=_images_under(src, file))
        except InputError as error:
            if len(owners) == 1:
                raise
            account(name, "left out", f"database: {error.want}", file.name)
            continue
        if not foreign.shots and not foreign.events:
            account(name, "left out", "database: it holds no screenshot and no event", file.name)
            continue
        yield foreign


def looked_at(src: Path) -> Iterable[Path]:
    """The databases with what SQLite keeps beside them, and all pictures, of which each recording keeps the account."""
    for _, file in databases(src):
        yield from (file.with_name(file.name + end) for end in ("", "-wal", "-shm", "-journal"))
    yield from (p for p in src.rglob("*") if p.suffix.lower() in IMAGE_SUFFIXES and p.is_file())


def _images_under(src: Path, file: Path) -> Path:
    """The participant's own folder: what lies below ``src`` on the way to the database."""
    if src.is_file():
        return file.parent
    parts = file.relative_to(src).parts
    return src / parts[0] if len(parts) > 1 else src
