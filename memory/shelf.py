"""One user's documents: each different text has one row, and each event that it stands for one version or two.

Titles repeat heavily, so a row is scanned once for all its events. A version is known from an instant on, and ends when
the event's label makes a newer one: a question as of any instant sees each event once, as it was known then.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from memory.embed import Rows
from memory.entry import Entry
from memory.index import Index

__all__ = ["ALWAYS", "Documents", "Hit", "Numbers", "Shelf"]

ALWAYS = 2**63 - 1


class Numbers(Protocol):
    """Integers by position: of an array that grows, or of one on a disk."""

    def __getitem__(self, i: int, /) -> int: ...


class Hit(NamedTuple):
    """A version of an event that is near: best first is by score, then by end of the event, then by arrival."""

    score: float
    end_ns: int
    n: int
    version: int


class Documents:
    """Versions of events over rows of texts.

    Attributes:
        index: the rows.
        known_ns: since when each version is known; ``until_ns``: when a newer one took its place.
        end_ns: when its event ended; ``n``: the order in which events came.
    """

    index: Index
    known_ns: Numbers
    until_ns: Numbers
    end_ns: Numbers
    n: Numbers

    def versions(self, row: int) -> Sequence[int]:
        """The versions of a row's text, in order of their events' ends, then of arrival."""
        raise NotImplementedError

    def entry(self, version: int) -> Entry:
        """The event of a version, with its label if the version has it."""
        raise NotImplementedError

    def nearest(self, row: Rows, norm: float, k: int, now_ns: int) -> list[Hit]:
        """The k nearest versions that were known and not replaced by ``now_ns``, best first."""
        wide, whole = k, False
        while True:
            near = self.index.near(row, norm, wide, now_ns, whole=whole)
            hits: list[Hit] = []
            last = 1.0
            for position, score in zip(near.positions, near.scores, strict=True):
                if len(hits) >= k and score < last:
                    break
                hits += self._newest(position, score, k, now_ns)
                last = score
            if len(hits) >= k or near.whole:
                return sorted(hits, reverse=True)[:k]
            # Texts whose every version was replaced leave room for others: then everything is looked at.
            wide, whole = 4 * wide, True

    def _newest(self, row: int, score: float, k: int, now_ns: int) -> list[Hit]:
        versions = self.versions(row)
        at = bisect_right(versions, now_ns, key=self.end_ns.__getitem__)  # none is known before its event has ended
        hits: list[Hit] = []
        while at and len(hits) < k:
            at -= 1
            version = int(versions[at])
            if self.known_ns[version] <= now_ns < self.until_ns[version]:
                hits.append(Hit(score, int(self.end_ns[version]), int(self.n[version]), version))
        return hits


class Shelf(Documents):
    """Documents in this process, to which more are added.

    Attributes:
        row_of: which row each version's text has.
        entries: each version's event.
        texts: each row's text.

    Args:
        index: for the rows; empty.
    """

    known_ns: array[int]
    until_ns: array[int]
    end_ns: array[int]
    n: array[int]

    def __init__(self, index: Index) -> None:
        self.index = index
        self.known_ns, self.until_ns, self.end_ns, self.n, self.row_of = (array("q") for _ in range(5))
        self.entries: list[Entry] = []
        self.texts: dict[str, int] = {}
        self._versions: list[list[int]] = []
        self._newest_of: dict[str, int] = {}

    def versions(self, row: int) -> Sequence[int]:
        """See ``Documents``."""
        return self._versions[row]

    def entry(self, version: int) -> Entry:
        """See ``Documents``."""
        return self.entries[version]

    def put(self, text: str, embed: Callable[[str], tuple[Rows, float]], entry: Entry) -> None:
        """Add a document; it takes the place of an earlier one of the same event from when it is known."""
        event, known_ns = entry.event, entry.known_ns
        row = self.texts.get(text)
        if row is None:
            row = self.texts[text] = self.index.add(*embed(text), known_ns)
            self._versions.append([])
        else:
            self.index.earlier(row, known_ns)
        earlier = self._newest_of.get(event.id)
        if earlier is not None:
            self.until_ns[earlier] = known_ns
        version = self._newest_of[event.id] = len(self.entries)
        self.entries.append(Entry(event, entry.label, entry.n))  # the one given may get its label later
        for column, value in ((self.known_ns, known_ns), (self.until_ns, ALWAYS), (self.end_ns, event.end_ns),
                              (self.n, entry.n), (self.row_of, row)):  # fmt: skip
            column.append(value)
        self._link(self._versions[row], version)

    def _link(self, versions: list[int], version: int) -> None:
        key = (self.end_ns[version], self.n[version])
        if not versions or (self.end_ns[versions[-1]], self.n[versions[-1]]) <= key:
            versions.append(version)
        else:
            versions.insert(bisect_left(versions, key, key=lambda v: (self.end_ns[v], self.n[v])), version)
