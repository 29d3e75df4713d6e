"""``threads``: what the user has in hand, as threads of like windows that are left, taken up again and given up.

PIRF (PIRA-Bench) keeps intents as threads, by a model's actions at each frame; the agent ``pirf`` does that, and what
its model says stays with it. This memory keeps threads of what was seen, without a model, by the same five actions:
an event CREATEs a thread, UPDATEs the one that is active, or RESUMEs a suspended one, whichever its window is like; a
glance is IDLE; a thread that nobody came back to for long is DELETEd. ``RULE`` names how they are told apart.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.base import memories
from memory.embed import HashEmbedder, Rows, likeness, vectors
from memory.graph_counts import Node
from memory.past import Entry, Remembered
from memory.wording import estimate_tokens, event_words, one_line
from simulator.core.protocols import Embedder
from simulator.core.types import SECOND, Event, Label, MemoryItem, Query

__all__ = ["RULE", "ThreadsMemory"]

RULE = "like-windows/1"
_KEPT = 64


@dataclass(slots=True)
class _Thread:
    """Visits in order of their ends, how much time they took up to each, and what became known of them.

    A long past has few threads with thousands of visits each: what is told of one is looked up, not added up.
    """

    visits: list[Event] = field(default_factory=list)
    spent_ns: list[int] = field(default_factory=list)
    resumed_ns: list[int] = field(default_factory=list)
    known: Node = field(default_factory=Node)
    asked: list[tuple[int, str]] = field(default_factory=list)

    def visit(self, event: Event) -> None:
        """Add one, mostly at the end."""
        at = len(self.visits)
        if self.visits and self.visits[-1].end_ns > event.end_ns:
            at = bisect_right(self.visits, event.end_ns, key=_end)
        self.visits.insert(at, event)
        del self.spent_ns[at:]
        for one in self.visits[at:]:
            self.spent_ns.append((self.spent_ns[-1] if self.spent_ns else 0) + one.end_ns - one.start_ns)

    def learn(self, ns: int, label: Label) -> None:
        """A label of one of its visits became known."""
        self.known.add(ns, label.help, label.intention, None)
        if label.help and label.query:
            insort(self.asked, (ns, label.query), key=_instant)

    def until(self, now_ns: int) -> int:
        """How many visits had ended by then."""
        if self.visits[-1].end_ns <= now_ns:
            return len(self.visits)
        return bisect_right(self.visits, now_ns, key=_end)

    def question(self, now_ns: int) -> str | None:
        """What was asked last by then."""
        n = bisect_right(self.asked, now_ns, key=_instant)
        return self.asked[n - 1][1] if n else None


def _end(event: Event) -> int:
    return event.end_ns


def _instant(asked: tuple[int, str]) -> int:
    return asked[0]


@dataclass(slots=True)
class _Desk:
    """One user's threads, the one that was visited last at the end."""

    threads: list[_Thread] = field(default_factory=list)
    by_event: dict[str, _Thread] = field(default_factory=dict)


@memories.register("threads")
class ThreadsMemory(Remembered):
    """The threads of the user's work that are not given up: the one the window belongs to first, then the latest.

    Args:
        likeness: least cosine of two windows (app and title) of one thread.
        idle_s: an event that is shorter is a glance and changes nothing.
        drop_s: a thread that was not visited for so long is given up.
        embedder: any ``Embedder``; the hashing one by default.
    """

    heading = "What the user has in hand:"

    def __init__(self, likeness: float = 0.5, idle_s: float = 3.0, drop_s: float = 7200.0,
                 embedder: Embedder | None = None) -> None:  # fmt: skip
        super().__init__()
        if not 0 < likeness <= 1:
            raise ValueError("likeness must be above 0, at most 1")
        if idle_s < 0 or not drop_s > 0:
            raise ValueError("idle_s must be 0 or more, drop_s above 0")
        self._least, self._idle_ns, self._drop_ns = likeness, round(idle_s * SECOND), round(drop_s * SECOND)
        self._embedder: Embedder = embedder or HashEmbedder()
        self._desks: dict[str, _Desk] = {}

    def _observe(self, entry: Entry) -> None:
        event = entry.event
        if event.assistance or event.end_ns - event.start_ns < self._idle_ns or not (event.app or event.title):
            self._n["idle"] += 1
            return
        desk = self._desks.setdefault(event.user, _Desk())
        row, norm = self._window(event.app, event.title)
        live = [t for t in desk.threads if t.visits[-1].end_ns > event.start_ns - self._drop_ns]
        thread = self._like([(t, t.visits[-1]) for t in live], row, norm)
        if thread is None:
            thread = _Thread()
            self._n["created"] += 1
        else:
            if thread is not desk.threads[-1]:
                insort(thread.resumed_ns, event.end_ns)
            self._n["updated" if thread is desk.threads[-1] else "resumed"] += 1
            desk.threads.remove(thread)
        thread.visit(event)
        desk.threads.append(thread)
        desk.by_event[event.id] = thread
        # Twice as long as it lives, for decisions still in flight; and never more than so many.
        gone = [t for t in desk.threads[:-_KEPT] if t.visits]
        gone += [t for t in desk.threads[-_KEPT:] if t.visits[-1].end_ns < event.end_ns - 2 * self._drop_ns]
        for old in gone:
            desk.threads.remove(old)
            self._n["deleted"] += 1
            for visit in old.visits:
                desk.by_event.pop(visit.id, None)

    def _feedback(self, entry: Entry) -> None:
        desk = self._desks.get(entry.event.user)
        thread = None if desk is None else desk.by_event.get(entry.event.id)
        if thread is not None and entry.label is not None:
            thread.learn(entry.known_ns, entry.label)

    def _clear(self, user: str) -> None:
        self._desks.pop(user, None)

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """The score is 1 for the thread at hand, and falls from 1 (just left) to 0 (given up) for the others."""
        query = self._as_of(query)
        desk = self._desks.get(query.user)
        if desk is None:
            return self._answer([], k, token_budget)
        seen = [(t, n) for t in reversed(desk.threads) if (n := t.until(query.now_ns))]
        seen = [(t, n) for t, n in seen if query.now_ns - t.visits[n - 1].end_ns < self._drop_ns]
        seen.sort(key=lambda pair: -pair[0].visits[pair[1] - 1].end_ns)
        asked = (query.app, query.title) if query.text is None else (None, query.text)
        row, norm = self._window(*asked)
        at_hand = self._like([(t, t.visits[n - 1]) for t, n in seen], row, norm)
        # What has just been left is as near as what is at hand, and yet comes after it.
        order = sorted(seen, key=lambda pair: pair[0] is not at_hand)
        return self._answer([self._item(t, n, query.now_ns, t is at_hand) for t, n in order], k, token_budget)

    def _window(self, app: str | None, title: str | None) -> tuple[Rows, float]:
        rows, norms = vectors(self._embedder, [_document(app, title)])
        return rows[0], float(norms[0])

    def _like(self, there: Sequence[tuple[_Thread, Event]], row: Rows, norm: float) -> _Thread | None:
        """The thread whose last window is likest, if it is like enough; among equals the one visited last.

        Args:
            there: threads, each with its last visit by then.
            row: of the window that is looked for.
            norm: its length.
        """
        if not there:
            return None
        last = [event for _, event in there]
        rows, norms = vectors(self._embedder, [_document(event.app, event.title) for event in last])
        near = likeness(rows, norms, row, norm)
        best = max(range(len(there)), key=lambda i: (float(near[i]), last[i].end_ns))
        return there[best][0] if near[best] >= self._least else None

    def _item(self, thread: _Thread, n_visits: int, now_ns: int, at_hand: bool) -> MemoryItem:
        last = thread.visits[n_visits - 1]
        n, n_helped, needs, newest_ns = thread.known.upto(now_ns)
        intention = min(needs, key=lambda c: (-needs[c], c)) if needs else None
        age_ns = now_ns - last.end_ns
        resumed = bisect_right(thread.resumed_ns, now_ns)
        state = "At hand" if at_hand else f"Suspended for {_minutes(age_ns)}"
        again = f"taken up again {resumed} time" + ("" if resumed == 1 else "s")
        text = f"{state}: {event_words(last)}, {_minutes(thread.spent_ns[n_visits - 1])} in all, {again}"
        if n:
            text += f"; help needed in {n_helped} of {n} moments"
            text += f": {one_line(intention, 60)}" if intention else ""
        return MemoryItem(
            text=text,
            score=1.0 if at_hand else 1.0 - age_ns / self._drop_ns,
            source_event_ids=tuple(event.id for event in thread.visits[max(0, n_visits - 10) : n_visits]),
            latest_source_ns=max(last.end_ns, newest_ns) if n else last.end_ns,
            intention=intention,
            help=n_helped / n if n else None,
            query=thread.question(now_ns),
            tokens=estimate_tokens(text),
        )


def _document(app: str | None, title: str | None) -> str:
    return f"{app or ''} | {title or ''}"


def _minutes(ns: int) -> str:
    return f"{ns // (60 * SECOND)} min" if ns >= 60 * SECOND else f"{ns // SECOND} s"
