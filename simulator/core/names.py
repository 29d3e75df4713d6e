"""Names of folders that come from names of others: fit for any file system, each once, in a person's order."""

from __future__ import annotations

import re

__all__ = ["free", "natural_key", "plain"]


def plain(name: str) -> str:
    """A name fit for a folder: no separators, not hidden, no longer than file systems take.

    >>> plain("Ann / work"), plain("...")
    ('Ann---work', 'user')
    """
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)[:80].strip(".-") or "user"


def free(name: str, taken: set[str]) -> str:
    """The name, or with a number behind it where another (in any case of letters) has it already; then taken, too.

    >>> taken = set()
    >>> free("a", taken), free("A", taken), free("a", taken)
    ('a', 'A-2', 'a-3')
    """
    tried, n = name, 1
    while tried.casefold() in taken:
        n += 1
        tried = f"{name}-{n}"
    taken.add(tried.casefold())
    return tried


def natural_key(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """What sorts names as a person would: numbers by their size, capital letters like small ones.

    >>> sorted(["a10", "A2", "a²", "a2"], key=natural_key)
    ['A2', 'a2', 'a10', 'a²']
    """
    pieces = [piece for piece in re.split(r"(\d+)", name) if piece]
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p.casefold()) for p in pieces], name
