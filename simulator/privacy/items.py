"""What forgetting finds: things that are a user's, and things that it cannot reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Item", "Place", "Unreached"]


@dataclass(frozen=True, slots=True)
class Unreached:
    """A place that holds something of the user's and was left as it is, and why.

    ``only_maybe``: nobody has seen anything of theirs there, it was not looked into.
    """

    path: Path
    why: str
    only_maybe: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One thing of the user's, and how it is forgotten.

    Attributes:
        kind: ``session history scenario profile run sweep memory account cache named``.
        path: the file or folder.
        said: what is going to happen, in words; nothing private.
        apply: does it. Safe to be killed and called again; returns what it could not reach, and raises where all of
            it stays: then it is not told as forgotten.
        texts: of what goes, so that copies elsewhere can be found; never shown.
        names: of sessions, as cassettes, reports and questions call them.
        offered: what agents said to the user, likewise; but their sentences are theirs, and stand in others' units too.
    """

    kind: str
    path: Path
    said: str
    apply: Callable[[], list[Unreached]]
    texts: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    offered: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a scenario puts a file that it names: whose it is, and the UTC of its time 0 (None: not known)."""

    user: str
    zero_ns: int | None = None
    by: Path = field(default_factory=Path)
