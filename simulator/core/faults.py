"""One net at each border to the files of others: what slips through the checks still ends in one sentence.

The checks of the readers say what is wrong and where. Files can be wrong in more ways than anybody lists, though, and
then Python's own error would end the program with a traceback, or print what a file holds. The net names the file and
the kind of fault, and never a value.
"""

from __future__ import annotations

import errno
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simulator.core.errors import InputError, NoRoom

__all__ = ["FAULTS", "kind_of", "told", "writing"]

FAULTS = (TypeError, ValueError, OverflowError, RecursionError, sqlite3.Error, OSError)  # UnicodeError is a ValueError
_COLUMN = re.compile(r"[Cc]ould not decode to UTF-8(?: column '(\w{1,40})')?")


@contextmanager
def told(where: Path | str) -> Iterator[None]:
    """Turn what slips through into an ``InputError`` on this file (or on the one that an ``OSError`` names).

    Raises:
        InputError: in place of a fault; without the fault as its cause, whose text may hold a title.
    """
    try:
        yield
    except FAULTS as error:
        raise InputError(_named(error) or where, kind_of(error)) from None


@contextmanager
def writing(out: Path) -> Iterator[None]:
    """Say of a disk that is full where that is; else whoever reads meanwhile would blame the file that is read.

    Raises:
        NoRoom: there is none left.
    """
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if not _is_full(error):
            raise
        raise NoRoom(f"{out}: there is no room left on the disk for what is to be written there") from None


def _is_full(error: Exception) -> bool:
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def _named(error: Exception) -> str | None:
    """The file that the system refused, where a sentence has room for its name."""
    name = error.filename if isinstance(error, OSError) else None
    return name if isinstance(name, str) and len(name) <= 1024 else None


def kind_of(error: Exception) -> str:
    """What kind of thing is wrong, without any value of the file."""
    if _is_full(error):
        return "there is no room left on the disk"
    match error:
        case sqlite3.Error():
            return f"the database is damaged ({_sqlite(error)})"
        case UnicodeError():
            return "a text in it is not UTF-8"
        case RecursionError():
            return "it is nested too deeply"
        case OverflowError():
            return "a number in it is too large"
        case OSError():
            return f"cannot be read ({error.strerror or 'the system refuses'})"
        case ValueError() if "null" in str(error):
            return "a path in it holds a NUL character"
        case ValueError() if "digits" in str(error):
            return "a number in it is too large"
        case TypeError():
            return "a value in it has the wrong type, such as a text where a number belongs"
    return "a value in it is not of the form that its place wants"


def _sqlite(error: sqlite3.Error) -> str:
    """SQLite's own words, but for faults of a text, which it would quote whole."""
    said = str(error)
    if found := _COLUMN.search(said):
        return f"a text in column {found[1]} is not UTF-8" if found[1] else "a text is not UTF-8"
    return "".join(c if c.isprintable() else "�" for c in said)[:120]
