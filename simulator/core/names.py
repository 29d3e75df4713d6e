"""Names of folders that come from names of others: fit for any file system, and each once."""

from __future__ import annotations

__all__ = ["free", "plain"]


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
