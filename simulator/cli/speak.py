"""What the command says: JSON records on stdout when asked for, words for people on stderr or stdout."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Speaker", "Voice", "claim_stdout", "counted", "facts", "in_a_line", "missed", "plain"]

_records: TextIO | None = None
"""Where JSON records go once stdout has been claimed for them; sys.stdout before."""


def claim_stdout() -> None:
    """From now on stdout carries JSON records only: what else writes there (an agent that prints) goes to stderr."""
    global _records
    try:
        _records = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        os.dup2(2, 1)
    except OSError:  # closed by whoever started us: there is nobody to read records
        _records = None


def plain(value: object) -> Text:
    """A value as text without markup and without control characters: titles and agents' texts are not trusted."""
    return Text("".join(c if c.isprintable() or c == "\n" else "�" for c in str(value)))


def in_a_line(said: str, most: int = 300) -> str:
    """Words of an agent or a model as part of one line: they begin none that looks like ours, and fill no terminal.

    >>> in_a_line(" no   such model")
    'no such model'
    >>> in_a_line("abcdef", 4)
    'abcd… (2 more characters)'
    """
    words = " ".join(said.split())
    return words if len(words) <= most else f"{words[:most]}… ({len(words) - most} more characters)"


def counted(n: int, noun: str, many: str | None = None) -> str:
    """So many of them.

    >>> counted(1, "row"), counted(0, "picture"), counted(1200, "tick")
    ('1 row', '0 pictures', '1200 ticks')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {many or noun + 's'}"


def missed(gaps: Mapping[str, int]) -> str:
    """Ticks that were not recorded, by reason; empty if there are none.

    >>> missed({"locked": 12, "overload": 1})
    '12 ticks locked, 1 tick overload'
    """
    return ", ".join(f"{counted(n, 'tick')} {reason}" for reason, n in gaps.items())


def facts(title: object, rows: Mapping[str, object] | None = None) -> Table:
    """A table of facts under what they are facts of, a name and what is so a row; rows can be added."""
    from rich.table import Table

    table = Table(
        title=plain(title), title_justify="left", box=None, show_edge=False, pad_edge=False, show_header=False
    )
    for name, said in (rows or {}).items():
        table.add_row(plain(name), plain(said))
    return table


class Speaker(Console):
    """A console whose reader may go away (``| head -1``, a closed terminal): what follows is not said, and the command
    goes on.
    """

    def print(self, *objects: Any, **how: Any) -> None:
        """As ever; a terminal that was closed is a reader that is gone."""
        try:
            super().print(*objects, **how)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            self.on_broken_pipe()

    def on_broken_pipe(self) -> None:
        """Say no more, and let nothing else that writes there find a broken pipe."""
        self.quiet = True
        _into_nothing(self.file)


def _into_nothing(stream: Any) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)


class Voice:
    """Where a command speaks. With ``as_json`` stdout carries one JSON record a line and nothing else."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        if os.environ.get("COLUMNS") == "0":  # some terminals say so; nothing fits into it
            del os.environ["COLUMNS"]
        # NO_COLOR: no escapes for dim and bold either, which rich would still write
        bare: Any = {"color_system": None} if os.environ.get("NO_COLOR") else {}
        self.people = Speaker(stderr=as_json, highlight=False, **bare)
        self.progress = Speaker(stderr=True, highlight=False, **bare)

    def record(self, event: str, **fields: Any) -> None:
        """One JSON record, flushed; nothing without ``as_json``."""
        if self.as_json:
            out = _records or sys.stdout
            try:
                try:
                    out.write(json.dumps({"event": event, **fields}, ensure_ascii=False, allow_nan=False) + "\n")
                except UnicodeEncodeError:  # half a surrogate pair, or a terminal without UTF-8: as an escape
                    out.write(json.dumps({"event": event, **fields}, allow_nan=False) + "\n")
                out.flush()
            except BrokenPipeError:
                _into_nothing(out)

    def tell(self, sentence: str, style: str = "") -> None:
        """A sentence for people, on stderr; never wrapped, so that a command or a path in it can be copied."""
        text = plain(sentence)
        text.stylize(style)
        self.progress.print(text, soft_wrap=True)

    def say(self, what: Any) -> None:
        """Words, tables and the like, for people; text is not wrapped."""
        self.people.print(what, soft_wrap=isinstance(what, Text))
