"""What the command says: JSON records on stdout when asked for, words for people on stderr or stdout."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

__all__ = ["Voice", "plain"]


def plain(value: object) -> Text:
    """A value as text without markup and without control characters: titles and agents' texts are not trusted."""
    return Text("".join(c if c.isprintable() or c == "\n" else "�" for c in str(value)))


class Voice:
    """Where a command speaks. With ``as_json`` stdout carries one JSON record a line and nothing else."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.people = Console(stderr=as_json, highlight=False)
        self.progress = Console(stderr=True, highlight=False)

    def record(self, event: str, **fields: Any) -> None:
        """One JSON record, flushed; nothing without ``as_json``."""
        if self.as_json:
            sys.stdout.write(json.dumps({"event": event, **fields}, ensure_ascii=False, allow_nan=False) + "\n")
            sys.stdout.flush()

    def tell(self, sentence: str, style: str = "") -> None:
        """A sentence for people, on stderr; never wrapped, so that a command or a path in it can be copied."""
        text = plain(sentence)
        text.stylize(style)
        self.progress.print(text, soft_wrap=True)

    def say(self, what: Any) -> None:
        """Words, tables and the like, for people; text is not wrapped."""
        self.people.print(what, soft_wrap=isinstance(what, Text))
