"""The nodes and edges of the graph as dictionaries of tallies: each count remembers when it grew, so that every prior
can be read as of the moment asked about, in whatever order labels became known.

Events are to be told in the order in which they closed, as runs and histories tell them: the keywords of each are
chosen with the word counts of that time, and transitions join an event to the one told before it. An event that
comes late counts as every other, but makes no transition.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import TypeVar

from memory.keywords import Tally, WordCounts
from memory.past import Entry
from simulator.core.types import Event, MemoryItem

__all__ = ["N_KEYWORDS", "Counts", "Node", "above", "added"]

N_KEYWORDS = 5
Asked = tuple[int, str]
_NEVER = -(2**63)
K = TypeVar("K")


@dataclass(slots=True)
class Node:
    """An app, a keyword or a user: in how many moments it was there, in how many help was needed, and for what.

    ``needs`` are the edges to the intentions. ``questions`` are the user's own, by intention, in order of instants.
    ``n``, ``n_helped`` and ``n_for`` (by intention) are the newest counts as plain numbers: nearly every question is
    about now, and is answered without looking at instants.
    """

    seen: Tally = field(default_factory=Tally)
    helped: Tally = field(default_factory=Tally)
    needs: dict[str, Tally] = field(default_factory=dict)
    questions: dict[str | None, list[Asked]] = field(default_factory=dict)
    newest_ns: int = _NEVER
    n: int = 0
    n_helped: int = 0
    n_for: dict[str, int] = field(default_factory=dict)
    told: tuple[int, MemoryItem] | None = None  # what was last said of it, and after how many moments

    def add(self, ns: int, helped: bool, intention: str | None, asked: Asked | None) -> None:
        """Count a moment whose label is known from ``ns`` on.

        Nearly every moment is newer than all that were counted, and then each of its tallies grows at its end.
        """
        newest = ns > self.newest_ns
        if newest:
            self.newest_ns = ns
        grow = Tally.append if newest else Tally.add
        grow(self.seen, ns)
        self.n += 1
        if not helped:
            return
        grow(self.helped, ns)
        self.n_helped += 1
        if intention is not None:
            self.n_for[intention] = self.n_for.get(intention, 0) + 1
            tally = self.needs.get(intention)
            if tally is None:
                tally = self.needs[intention] = Tally()
            grow(tally, ns)
        if asked is not None:
            told = self.questions.setdefault(intention, [])
            if newest:
                told.append(asked)
            else:  # of one instant by their words, so that the order of telling does not matter
                insort(told, asked)

    def upto(self, now_ns: int) -> tuple[int, int, dict[str, int], int]:
        """Moments, moments with help, those by intention (not to be changed), and when the newest became known, as of
        ``now_ns``; no moments, and the rest means nothing.
        """
        if self.newest_ns <= now_ns:
            return self.n, self.n_helped, self.n_for, self.newest_ns
        n = self.seen.upto(now_ns)
        if not n:
            return 0, 0, {}, _NEVER
        by = {c: times for c, tally in self.needs.items() if (times := tally.upto(now_ns))}
        return n, self.helped.upto(now_ns), by, self.seen[n - 1]

    def question(self, intention: str | None, now_ns: int) -> Asked | None:
        """The latest question asked by then for this intention, with its instant."""
        asked = self.questions.get(intention)
        if not asked:
            return None
        if asked[-1][0] <= now_ns:
            return asked[-1]
        n = bisect_right(asked, now_ns, key=_instant)
        return asked[n - 1] if n else None


def _instant(asked: Asked) -> int:
    return asked[0]


def above(parts: Mapping[str, int], whole: int, least: int) -> dict[str, float]:
    """Shares of a whole above so many hundredths of it, largest first, ties by name.

    Compared as whole numbers: rounded shares may add up to a little more than the threshold where they are just that.
    """
    told = sorted([(-part, c) for c, part in parts.items() if 100 * part > least * whole])
    return {c: -part / whole for part, c in told}


def added(shares: Sequence[tuple[Mapping[str, int], int]]) -> tuple[dict[str, int], int]:
    """The sum of shares, each given as parts and their whole: parts of one common whole, not rounded."""
    common = lcm(*[whole for _, whole in shares])
    parts: dict[str, int] = {}
    for by, whole in shares:
        for c, part in by.items():
            parts[c] = parts.get(c, 0) + part * (common // whole)
    return parts, common


class Counts:
    """All nodes and edges of one user, or of everybody."""

    def __init__(self) -> None:
        self.apps: dict[str, Node] = {}
        self.keywords: dict[str, Node] = {}
        self.users: dict[str, Node] = {}
        self.used: dict[tuple[str, str], Tally] = {}
        self.following: dict[str, dict[str, Tally]] = {}
        self.words = WordCounts()
        self.last: dict[str, tuple[int, str | None]] = {}  # of each user, when the last event ended, and in which app
        self.keywords_of: dict[tuple[str, str], tuple[str, ...]] = {}

    def observe(self, entry: Entry, gap_ns: int = 0) -> None:
        """Count what is known when an event closes: its words, and which app came after which.

        Args:
            entry: the event.
            gap_ns: a transition joins two events of which the second begins at most so long after the first ended.
        """
        event = entry.event
        if event.title:
            self.words.add(event.title, event.end_ns)
            if not event.assistance:
                # Chosen once, with the word counts of that time; needed again when the label comes.
                self.keywords_of[event.user, event.id] = self.words.top(event.title, event.end_ns, N_KEYWORDS)
        if event.end_ns > event.start_ns:  # one that took no time parts nothing
            self._follow(event, gap_ns)

    def _follow(self, event: Event, gap_ns: int) -> None:
        last_ns, last_app = self.last.get(event.user, (_NEVER, None))
        follows = 0 <= event.start_ns - last_ns <= gap_ns
        if follows and event.app is not None and last_app is not None and event.app != last_app:
            _tally(self.following.setdefault(last_app, {}), event.app).add(event.end_ns)
        if event.end_ns > last_ns:
            self.last[event.user] = event.end_ns, event.app

    def feedback(self, entry: Entry) -> None:
        """Count what became known of an event. Assistance events are no moments: help was needed in the event before,
        and is counted there.
        """
        event, label = entry.event, entry.label
        words = self.keywords_of.pop((event.user, event.id), ())
        if label is None or event.assistance:
            return
        ns = entry.known_ns
        what = (ns, label.help, label.intention, (ns, label.query) if label.query else None)
        _node(self.users, event.user).add(*what)
        if event.app is not None:
            _node(self.apps, event.app).add(*what)
            _tally(self.used, (event.user, event.app)).add(ns)
        for word in words:
            _node(self.keywords, word).add(*what)

    def sizes(self) -> tuple[int, int]:
        """How many edges there are, and bytes of all instants that are kept."""
        nodes = [node for kind in (self.apps, self.keywords, self.users) for node in kind.values()]
        needs = [tally for node in nodes for tally in node.needs.values()]
        edges = [*needs, *self.used.values(), *(t for after in self.following.values() for t in after.values())]
        instants = sum(map(len, edges)) + sum(len(n.seen) + len(n.helped) for n in nodes)
        return len(edges), 8 * (instants + self.words.instants())

    def next_apps(self, app: str | None, now_ns: int) -> tuple[dict[str, int], int]:
        """How often which app came after this one by then, most often first, and since when the newest is known."""
        tallies = self.following.get(app or "", {})
        found = {a: n for a, tally in tallies.items() if (n := tally.upto(now_ns))}
        latest = max((tallies[a].latest(now_ns) or 0 for a in found), default=0)
        return {a: found[a] for a in sorted(found, key=lambda a: (-found[a], a))}, latest


def _node(nodes: dict[str, Node], name: str) -> Node:
    node = nodes.get(name)
    if node is None:
        node = nodes[name] = Node()
    return node


def _tally(tallies: dict[K, Tally], key: K) -> Tally:
    tally = tallies.get(key)
    if tally is None:
        tally = tallies[key] = Tally()
    return tally
