"""``threads``: what the user has in hand, as threads of like windows that are left, taken up again and given up.

PIRF (PIRA-Bench) keeps intents as threads, by a model's actions at each frame; the agent ``pirf`` does that, and what
its model says stays with it. This memory keeps threads of what was seen, without a model, by the same five actions:
an event CREATEs a thread, UPDATEs the one that is active, or RESUMEs a suspended one, whichever its window is like; a
glance is IDLE; a thread that nobody came back to for long is DELETEd. ``RULE`` names how they are told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.base import memories
from memory.embed import HashEmbedder, Rows, likeness, vectors
from memory.past import Entry, Remembered
from memory.wording import estimate_tokens, event_words, one_line
from simulator.core.protocols import Embedder
from simulator.core.types import SECOND, Event, Label, MemoryItem, Query

__all__ = ["RULE", "ThreadsMemory"]

RULE = "like-windows/1"
_KEPT = 64


@dataclass(slots=True)
class _Thread:
    """Visits in order of their ends, and what became known of them."""

    visits: list[Event] = field(default_factory=list)
    resumed_ns: list[int] = field(default_factory=list)
    labels: list[tuple[int, Label]] = field(default_factory=list)

    def until(self, now_ns: int) -> list[Event]:
        """The visits that had ended by then."""
        return [event for event in self.visits if event.end_ns <= now_ns]


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
        thread = self._like([(t, t.visits) for t in live], row, norm)
        if thread is None:
            thread = _Thread()
            self._n["created"] += 1
        else:
            if thread is not desk.threads[-1]:
                thread.resumed_ns.append(event.end_ns)
            self._n["updated" if thread is desk.threads[-1] else "resumed"] += 1
            desk.threads.remove(thread)
        thread.visits.append(event)
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
            thread.labels.append((entry.known_ns, entry.label))

    def _clear(self, user: str) -> None:
        self._desks.pop(user, None)

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """The score is 1 for the thread at hand, and falls from 1 (just left) to 0 (given up) for the others."""
        desk = self._desks.get(query.user)
        if desk is None:
            return self._answer([], k, token_budget)
        there = [(t, visits) for t in reversed(desk.threads) if (visits := t.until(query.now_ns))]
        there = [(t, visits) for t, visits in there if query.now_ns - visits[-1].end_ns < self._drop_ns]
        there.sort(key=lambda pair: -pair[1][-1].end_ns)
        asked = (query.app, query.title) if query.text is None else (None, query.text)
        row, norm = self._window(*asked)
        at_hand = self._like(there, row, norm)
        items = [self._item(t, visits, query.now_ns, at_hand is t) for t, visits in there]
        return self._answer(sorted(items, key=lambda item: -item.score), k, token_budget)

    def _window(self, app: str | None, title: str | None) -> tuple[Rows, float]:
        rows, norms = vectors(self._embedder, [_document(app, title)])
        return rows[0], float(norms[0])

    def _like(self, there: Sequence[tuple[_Thread, Sequence[Event]]], row: Rows, norm: float) -> _Thread | None:
        """The thread whose last window is likest, if it is like enough; among equals the one visited last.

        Args:
            there: threads, each with its visits by then.
            row: of the window that is looked for.
            norm: its length.
        """
        if not there:
            return None
        last = [visits[-1] for _, visits in there]
        rows, norms = vectors(self._embedder, [_document(event.app, event.title) for event in last])
        near = likeness(rows, norms, row, norm)
        best = max(range(len(there)), key=lambda i: (float(near[i]), last[i].end_ns))
        return there[best][0] if near[best] >= self._least else None

    def _item(self, thread: _Thread, visits: Sequence[Event], now_ns: int, at_hand: bool) -> MemoryItem:
        known = [(ns, label) for ns, label in thread.labels if ns <= now_ns]
        helped = [label for _, label in known if label.help]
        needs = Counter(label.intention for label in helped if label.intention is not None)
        intention = min(needs, key=lambda c: (-needs[c], c)) if needs else None
        asked = [label.query for _, label in sorted(known, key=lambda pair: pair[0]) if label.help and label.query]
        age_ns = now_ns - visits[-1].end_ns
        resumed = sum(ns <= now_ns for ns in thread.resumed_ns)
        state = "At hand" if at_hand else f"Suspended for {_minutes(age_ns)}"
        spent_ns = sum(event.end_ns - event.start_ns for event in visits)
        again = f"taken up again {resumed} time" + ("" if resumed == 1 else "s")
        text = f"{state}: {event_words(visits[-1])}, {_minutes(spent_ns)} in all, {again}"
        if known:
            text += f"; help needed in {len(helped)} of {len(known)} moments"
            text += f": {one_line(intention, 60)}" if intention else ""
        return MemoryItem(
            text=text,
            score=1.0 if at_hand else 1.0 - age_ns / self._drop_ns,
            source_event_ids=tuple(event.id for event in visits[-10:]),
            latest_source_ns=max([visits[-1].end_ns, *(ns for ns, _ in known)]),
            intention=intention,
            help=len(helped) / len(known) if known else None,
            query=asked[-1] if asked else None,
            tokens=estimate_tokens(text),
        )


def _document(app: str | None, title: str | None) -> str:
    return f"{app or ''} | {title or ''}"


def _minutes(ns: int) -> str:
    return f"{ns // (60 * SECOND)} min" if ns >= 60 * SECOND else f"{ns // SECOND} s"
