"""The graph's counts of a stored past as one file beside its journal, so that years open in seconds.

    FOLDER/counts/graph-<scope>.bin      a line of JSON, then names, the order of things, and instants

It is derived: valid for one way of counting, for a log that holds the write it was made up to and no correction or
forgetting since. It is written whole under another name and then put in its place, and its first line tells the CRC-32
of the rest: what a kill, a full disk or a copy left is not read, and all is counted anew. Instants are those of the
journal, whatever session opens it.
"""

from __future__ import annotations

import gc
import json
import os
import zlib
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from memory.graph_counts import Counts, Node
from memory.journal import COUNTS, Journal
from memory.keywords import RULE, Tally

__all__ = ["find_counts", "keep_counts"]

_FORMAT = 2
"""To be raised with every change of what is counted, or of how it lies in the file."""
Tables = dict[str | None, Counts]
"""The counts of each user; those of everybody under None."""


def find_counts(journal: Journal, scope: str, gap_ns: int) -> tuple[Tables, int]:
    """The counts that lie beside a log, and up to which write they go (0: there are none that are valid).

    Args:
        journal: the log.
        scope: whose counts are kept, as ``GraphMemory`` names it.
        gap_ns: see ``Counts.observe``.
    """
    try:
        with _path(journal, scope).open("rb") as file:
            about = json.loads(file.readline())
            seq = int(about["seq"])
            if seq > journal.seq or _facts(journal, scope, gap_ns, seq) != {key: about.get(key) for key in _FACTS}:
                return {}, 0
            rest = file.read()
        if zlib.crc32(rest) != about["crc32"]:
            return {}, 0
        return _Reader(rest, about["sizes"], journal.shift_ns).tables(), seq
    except (OSError, ValueError, LookupError, TypeError):  # not there, or not as it was written
        return {}, 0


def keep_counts(journal: Journal, scope: str, gap_ns: int, tables: Mapping[str | None, Counts]) -> None:
    """Write the counts of all that a log holds; where nothing can be written nothing is."""
    parts = _Writer(tables).parts(journal.shift_ns)
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, crc)
    about = _facts(journal, scope, gap_ns, journal.seq)
    about |= {"seq": journal.seq, "crc32": crc, "sizes": [len(p) for p in parts]}
    path = _path(journal, scope)
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(exist_ok=True)
        for left in path.parent.glob("*.new"):  # by a kill
            left.unlink(missing_ok=True)
        with new.open("wb") as file:
            file.write(json.dumps(about).encode() + b"\n")
            file.writelines(parts)
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)


_FACTS = ("format", "rule", "scope", "gap_ns", "epoch", "identity")


def _facts(journal: Journal, scope: str, gap_ns: int, seq: int) -> dict[str, Any]:
    """What has to be the same for counts to be used again."""
    said = (_FORMAT, RULE, scope, gap_ns, journal.epoch, journal.chain(seq))
    return dict(zip(_FACTS, said, strict=True))


def _path(journal: Journal, scope: str) -> Path:
    return journal.path.parent / COUNTS / f"graph-{scope}.bin"


class _Writer:
    """Lays tables out: names once each, and whole numbers in the order in which ``_Reader`` wants them."""

    def __init__(self, tables: Mapping[str | None, Counts]) -> None:
        self._names: dict[str, int] = {}
        self._order, self._instants = array("q"), array("q")
        self._order.append(len(tables))
        for user, counts in tables.items():
            self._name(user)
            self._counts(counts)

    def parts(self, shift_ns: int) -> list[bytes]:
        """Names, order and instants as bytes; instants as the journal counts them."""
        said = json.dumps(list(self._names)).encode()  # half characters of strangers' titles are escaped
        instants = np.frombuffer(self._instants, dtype=np.int64) - shift_ns
        return [
            said,
            np.frombuffer(self._order, dtype=np.int64).astype("<i8").tobytes(),
            instants.astype("<i8").tobytes(),
        ]

    def _counts(self, counts: Counts) -> None:
        for nodes in (counts.apps, counts.keywords, counts.users):
            self._order.append(len(nodes))
            for name, node in nodes.items():
                self._name(name)
                self._node(node)
        self._order.append(len(counts.used))
        for (user, app), tally in counts.used.items():
            self._name(user)
            self._name(app)
            self._tally(tally)
        self._order.append(len(counts.following))
        for app, after in counts.following.items():
            self._name(app)
            self._tallies(after)
        self._tally(counts.words.titles)
        self._tallies(counts.words.holding)
        self._order.append(len(counts.last))
        for user, (end_ns, last_app) in counts.last.items():
            self._name(user)
            self._instants.append(end_ns)
            self._name(last_app)
        self._order.append(len(counts.keywords_of))
        for (user, event_id), words in counts.keywords_of.items():
            self._name(user)
            self._name(event_id)
            self._order.append(len(words))
            for word in words:
                self._name(word)

    def _node(self, node: Node) -> None:
        self._tally(node.seen)
        self._tally(node.helped)
        self._tallies(node.needs)
        self._order.append(len(node.questions))
        for intention, asked in node.questions.items():
            self._name(intention)
            self._order.append(len(asked))
            for ns, text in asked:
                self._instants.append(ns)
                self._name(text)

    def _tallies(self, tallies: Mapping[str, Tally]) -> None:
        self._order.append(len(tallies))
        for name, tally in tallies.items():
            self._name(name)
            self._tally(tally)

    def _tally(self, tally: Tally) -> None:
        self._order.append(len(tally))
        self._instants.extend(tally)

    def _name(self, name: str | None) -> None:
        self._order.append(-1 if name is None else self._names.setdefault(name, len(self._names)))


class _Reader:
    """Makes tables of what ``_Writer`` laid out."""

    def __init__(self, rest: bytes, sizes: list[int], shift_ns: int) -> None:
        first, second, third = sizes
        if first + second + third != len(rest):
            raise ValueError("of another size than it says")
        self._names: list[str | None] = [*json.loads(rest[:first]), None]  # -1 is the last
        self._order: Iterator[int] = iter(np.frombuffer(rest, "<i8", second // 8, first).tolist())
        self._whole = np.frombuffer(rest, "<i8", third // 8, first + second).astype(np.int64) + shift_ns
        self._bytes = self._whole.view(np.uint8).data
        self._at = 0

    def tables(self) -> Tables:
        """All of it."""
        with _no_collecting():
            return {self._user(): self._counts() for _ in range(next(self._order))}

    def _counts(self) -> Counts:
        counts, order = Counts(), self._order
        for nodes in (counts.apps, counts.keywords, counts.users):
            for _ in range(next(order)):
                name = self._name()
                nodes[name] = self._node()
        for _ in range(next(order)):
            used = self._name(), self._name()
            counts.used[used] = self._tally()
        for _ in range(next(order)):
            app = self._name()
            counts.following[app] = self._tallies()
        counts.words.titles = self._tally()
        counts.words.holding = self._tallies()
        for _ in range(next(order)):
            user = self._name()
            counts.last[user] = int(self._whole[self._at]), self._names[next(order)]
            self._at += 1
        for _ in range(next(order)):
            event = self._name(), self._name()
            counts.keywords_of[event] = tuple(self._name() for _ in range(next(order)))
        return counts

    def _node(self) -> Node:
        seen, helped, needs = self._tally(), self._tally(), self._tallies()
        node = Node(
            seen, helped, needs, {}, n=len(seen), n_helped=len(helped), n_for={c: len(t) for c, t in needs.items()}
        )
        if seen:
            node.newest_ns = seen[-1]
        order, names = self._order, self._names
        for _ in range(next(order)):
            intention = names[next(order)]
            n = next(order)
            instants = self._whole[self._at : self._at + n].tolist()
            self._at += n
            node.questions[intention] = [(ns, names[next(order)]) for ns in instants]  # type: ignore[misc]
        return node

    def _tallies(self) -> dict[str, Tally]:
        order = self._order
        found: dict[str, Tally] = {}
        for _ in range(next(order)):
            name = self._name()
            found[name] = self._tally()
        return found

    def _tally(self) -> Tally:
        tally = Tally()
        a = self._at
        self._at += next(self._order)
        tally.frombytes(self._bytes[8 * a : 8 * self._at])
        return tally

    def _user(self) -> str | None:
        return self._names[next(self._order)]

    def _name(self) -> str:
        return self._names[next(self._order)]  # type: ignore[return-value]  # None is nobody's name here


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Hundreds of thousands of objects are made and none is garbage: to look for it takes as long as the rest."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
