"""The errors a user can meet, and the exit code each one leads to.

::

    ProactError                 exit 1
    ├── UsageError              exit 2   a wrong word on the command line, an impossible combination
    │   └── InputError          exit 2   a file with something wrong in it: file, field, value, what would be right
    ├── TimeError               exit 1   time asked to run backwards, a call without a duration: a bug of ours
    ├── LostError               (never shown: it becomes a record of kind agent_lost)
    ├── JournalMiss             exit 2   a journal that does not hold the decision asked for
    └── CassetteMiss            exit 3   a cassette that does not hold the call asked for: its unit fails
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path

__all__ = [
    "CassetteMiss",
    "Exit",
    "InputError",
    "JournalMiss",
    "LostError",
    "NoRoom",
    "ProactError",
    "TimeError",
    "UsageError",
    "likely",
    "nearest",
    "quote",
]


class Exit(IntEnum):
    """Exit codes of the command."""

    DONE = 0
    INTERNAL = 1
    USAGE = 2
    SOME_UNITS_ERRED = 3
    GATE_FAILED = 4
    INTERRUPTED = 130


class ProactError(Exception):
    """Root of all errors that proact raises on purpose; shown without a traceback."""

    exit_code: Exit = Exit.INTERNAL


class UsageError(ProactError):
    """Something asked for cannot be done; the sentence says what can."""

    exit_code = Exit.USAGE


class InputError(UsageError):
    """A file holds something wrong.

    Args:
        where: the file, or file and line.
        field: the field in question, or None when the file as a whole is meant.
        value: the value found; quoted and cut, since it may be long. Omit it for private values.
        want: what would be right, as the end of the sentence.
    """

    def __init__(self, where: Path | str, want: str, *, field: str | None = None, value: object = None) -> None:
        parts = [str(where)]
        if field is not None:
            parts.append(field)
        said = "" if value is None else f"{quote(value)}: "
        super().__init__(f"{': '.join(parts)}: {said}{want}")
        self.where, self.field, self.value, self.want = str(where), field, value, want


class NoRoom(UsageError):
    """The disk is full: what else would be written there fails as well."""


class TimeError(ProactError):
    """Simulated time was asked to do what it cannot: run backwards, or take a call without a duration."""


class JournalMiss(UsageError):
    """A journal does not hold the call that the replay needs; it never falls through to a live call."""


class CassetteMiss(ProactError):
    """A cassette does not hold the call to a model that a replay makes: a fault of the run, whatever an agent does with
    this error; it never falls through to a live call.
    """

    exit_code = Exit.SOME_UNITS_ERRED


class LostError(ProactError):
    """A call that cannot even be cancelled stands before this one."""


def quote(value: object, limit: int = 80) -> str:
    """Any value as one short quoted piece of text without control characters."""
    try:
        said = str(value)
    except ValueError:  # Python writes no number of over 4,300 digits
        said = "a number of thousands of digits"
    text = said if said.isprintable() else "".join(c if c.isprintable() else "�" for c in said)
    return f"'{text if len(text) <= limit else text[: limit - 1] + '…'}'"


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown word: the nearest known one, then all of them."""
    names = sorted(known)
    return f"{likely(word, names)}known: {', '.join(names) if names else 'none'}"


def likely(word: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    """The nearest known word as a question with a space behind it; empty where none is near (``cutoff``, to 1)."""
    names = {name.casefold(): name for name in sorted(known, reverse=True)}
    close = difflib.get_close_matches(word[:200].casefold(), list(names), n=1, cutoff=cutoff)
    return f"did you mean '{names[close[0]]}'? " if close else ""
