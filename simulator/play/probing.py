"""How well a memory finds what it should, and what that takes: it is told a user's past as a run tells it, and asked at
each need of the session. No agent has a part in it, so memories are measured alike whatever an agent makes of them.

What fails is dealt with as in a run: before time 0 an error ends it, from then on it is counted and all goes on.
"""

from __future__ import annotations

import tempfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory.answered import check_items
from simulator.core.errors import CassetteMiss
from simulator.core.intentions import same
from simulator.core.traits import declares, trait
from simulator.core.types import MS, SECOND, Event, Label, MemoryItem, Query
from simulator.play.others import session_events
from simulator.runs.blame import said
from simulator.runs.unit import UnitPlan
from simulator.session.play import Play
from simulator.session.truth import Truth
from simulator.timing.audit import percentile
from simulator.timing.clock import pause, real_ns

__all__ = ["K", "Probed", "probe", "stored_bytes"]

K = 5
_VISIBLE_UNITS, _VISIBLE_WAIT_NS, _POLL_NS = 4, SECOND, 5 * MS
_OBSERVE, _FEEDBACK, _ASK = range(3)


@dataclass(slots=True)
class Probed:
    """What came of asking, over all units.

    Attributes:
        asked: needs at which it was asked; ``answerable``: those whose intention had arisen before in the user's past.
        recalls: of each answerable need, the share of the first K recalled events that could have been of the true
            intention (of at most K, since a habit may have hundreds); ``ranks``: 1 / place of the first one, else 0.
        unnamed: items that name no event.
        read_ns: real time of each recall; ``write_ns`` of each observe or feedback.
        visible_ns: real time from the begin of a write to the end of a recall that shows it; ``unseen``: writes that
            no recall of a second showed.
        tokens: of each recall.
        saved: bytes of what ``save`` writes, of all units; None where it cannot be saved.
        stats: sums of the numbers that the memories told; ``bytes``: of what they made of the past.
        failed: recalls at needs (they count as finding nothing), writes, upkeeps, and tries of how soon a write can be
            read, that raised or gave what is no list of items; ``fault``: what the first of them said.
    """

    asked: int = 0
    answerable: int = 0
    recalls: list[float] = field(default_factory=list)
    ranks: list[float] = field(default_factory=list)
    unnamed: int = 0
    items: int = 0
    read_ns: list[int] = field(default_factory=list)
    write_ns: list[int] = field(default_factory=list)
    visible_ns: list[int] = field(default_factory=list)
    unseen: int = 0
    tokens: list[int] = field(default_factory=list)
    saved: int | None = None
    events: int = 0
    stats: dict[str, float] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)
    fault: str | None = None

    def fail(self, what: str, error: Exception) -> None:
        """Count a call that failed, after which a run would go on.

        Raises:
            CassetteMiss: that is the run's fault, and ends it.
        """
        if isinstance(error, CassetteMiss):
            raise error
        self.failed[what] += 1
        self.fault = self.fault or said(error)[1]

    def told(self) -> dict[str, Any]:
        """Figures for a page; None where there is none."""
        named = self.items == 0 or self.unnamed < self.items
        n = len(self.recalls) if named else 0
        each = {
            f"{name}_per_event": round(self.stats[name] / self.events, 3)
            for name in ("model_calls", "embedding_calls", "tokens_in", "tokens_out", "embedding_tokens")
            if name in self.stats and self.events
        }
        return {
            "needs": self.asked,
            "answerable": self.answerable,
            f"recall@{K}": sum(self.recalls) / n if n else None,
            f"hit@{K}": sum(r > 0 for r in self.recalls) / n if n else None,
            "mrr": sum(self.ranks) / n if n else None,
            "read_ms_p50": _ms(self.read_ns, 50),
            "read_ms_p95": _ms(self.read_ns, 95),
            "write_ms_p95": _ms(self.write_ns, 95),
            "visible_ms_p95": _ms(self.visible_ns, 95),
            "writes_not_seen": self.unseen,
            "tokens_per_recall": sum(self.tokens) / len(self.tokens) if self.tokens else None,
            "size_bytes": self._size(),
            "saved_bytes": self.saved,
            "events": self.events,
            "failed": dict(sorted(self.failed.items())),
            "fault": self.fault,
            **each,
        }

    def _size(self) -> int | None:
        """What the memories, or those of a combination that say so, report; None where none does."""
        told = [value for name, value in self.stats.items() if name.rpartition(".")[2] == "bytes"]
        return round(sum(told)) if told else None


def _ms(values: Sequence[int], q: int) -> float | None:
    return round(percentile(values, q) / MS, 3) if values else None


async def probe(plan: UnitPlan, play: Play, into: Probed, *, nth: int = 0) -> None:
    """Tell one unit's memory its past and ask it at each need.

    Args:
        plan: the unit; its memory is made anew.
        play: the same session.
        into: gets what came of it.
        nth: the unit's place; of the first four it is also tried how soon a write can be read.
    """
    memory: Any = plan.memory()
    try:
        session = await session_events(play)
        seen_ns = [snapshot.captured_ns async for snapshot in play.source.snapshots()]
        known = await _told_and_asked(memory, plan, session, seen_ns, into)
        if nth < _VISIBLE_UNITS and not declares(memory, "inert"):
            await _how_soon(memory, plan, into)
        into.events += len(known)
        _sum(memory, into)
        saved = stored_bytes(memory)
        into.saved = saved if into.saved is None or saved is None else into.saved + saved
    finally:
        close = trait(memory, "close")
        ended = close() if close is not None else None
        if isinstance(ended, Awaitable):
            await ended


async def _told_and_asked(memory: Any, plan: UnitPlan, session: Sequence[tuple[Event, Label | None]],
                          seen_ns: Sequence[int], into: Probed) -> dict[str, tuple[Event, Label | None]]:  # fmt: skip
    """All steps in order of time: what closed, what became known, what is asked."""
    online = plan.settings.memory_mode == "online"
    steps: list[tuple[int, int, int, Any]] = []
    for pairs in (plan.history, session if online else ()):
        for event, label in pairs:
            steps.append((event.end_ns, _OBSERVE, len(steps), event))
            if label is not None:
                steps.append((max(event.end_ns, label.available_ns), _FEEDBACK, len(steps), (event, label)))
    for n, (t_ns, intention) in enumerate(_needs(plan.truth)):
        # A need opens between two snapshots: who watches sees its window on the later one.
        at = bisect_left(seen_ns, t_ns)
        steps.append((seen_ns[at] if at < len(seen_ns) else t_ns, _ASK, n, intention))
    known: dict[str, tuple[Event, Label | None]] = {}
    maintain, needs = trait(memory, "maintain"), trait(memory, "needs_upkeep")
    begun = False
    for t_ns, what, _, given in sorted(steps, key=lambda step: step[:3]):
        if not begun and t_ns >= 0:
            begun = True
            if maintain is not None:
                await maintain(0)
        if what == _ASK:
            window = next((e for e, _ in session if e.start_ns <= t_ns < e.end_ns), None)
            await _asked(memory, _query(plan.source.user, window, t_ns), given, known, into)
            continue
        event, label = (given, None) if what == _OBSERVE else given
        known[event.id] = (event, label)
        try:
            await _told(memory, event, label, into)
        except Exception as error:
            if not begun:
                raise
            into.fail("writes", error)
        if begun and needs is not None and needs():
            try:
                await maintain(t_ns)
            except Exception as error:  # noqa: BLE001 - the border to foreign code
                into.fail("upkeeps", error)
    return known


async def _told(memory: Any, event: Event, label: Label | None, into: Probed) -> None:
    if label is None:
        await _timed(memory.observe, event, into=into.write_ns)
    else:
        await _timed(memory.feedback, event, label, into=into.write_ns)


def _needs(truth: Truth) -> list[tuple[int, str | None]]:
    """Instants at which help is needed, and for what: the sampled moments, else the opening of each window of need."""
    if truth.moments:
        return [(m.t_ns, m.intention) for m in truth.moments if m.positive]
    return [(o.opens_ns, o.intention) for o in truth.servable]


def _query(user: str, window: Event | None, t_ns: int) -> Query:
    if window is None:
        return Query(user, None, None, None, t_ns)
    return Query(user, window.app, window.title, window.category, t_ns)


async def _asked(memory: Any, query: Query, intention: str | None, known: dict[str, tuple[Event, Label | None]],
                 into: Probed) -> None:  # fmt: skip
    into.asked += 1
    items: list[MemoryItem] = []
    try:
        found = await _timed(memory.recall, query, K, None, into=into.read_ns)
        check_items(memory, found)
    except Exception as error:  # noqa: BLE001 - the border to foreign code
        into.fail("recalls", error)
    else:
        items = found
        into.tokens.append(sum(item.tokens for item in items))
    into.items += len(items)
    into.unnamed += sum(not item.source_event_ids for item in items)
    right = {
        one
        for one, (event, label) in known.items()
        if event.user == query.user and label is not None and label.help and same(label.intention, intention)
    }
    if not right:
        return
    into.answerable += 1
    order = list(dict.fromkeys(one for item in items for one in item.source_event_ids))
    into.recalls.append(sum(one in right for one in order[:K]) / min(K, len(right)))
    into.ranks.append(next((1 / (place + 1) for place, one in enumerate(order) if one in right), 0.0))


async def _how_soon(memory: Any, plan: UnitPlan, into: Probed) -> None:
    """Write events in a window that nobody ever saw, and ask until one shows."""
    user, begin_ns = plan.source.user, plan.truth.end_ns + SECOND
    intention = next(iter(plan.intentions), None)
    for n in range(3):
        start_ns = begin_ns + n * SECOND
        event = Event(
            f"{plan.source.session}/seen-{n}", user, start_ns, start_ns + SECOND, f"canary{n}", f"zyxgard {n}"
        )
        label = Label(event.id, user, True, event.end_ns, intention, f"zyxgard {n}")
        try:
            shown_ns = await _shown_after(memory, event, label)
        except Exception as error:  # noqa: BLE001 - the border to foreign code
            into.fail("tries", error)
            continue
        if shown_ns is None:
            into.unseen += 1
            return  # the others would only take as long
        into.visible_ns.append(shown_ns)


async def _shown_after(memory: Any, event: Event, label: Label) -> int | None:
    """Write an event, and ask until it shows; None if it does not within a second."""
    query = _query(event.user, event, event.end_ns)
    shown = [word for word in (event.app, event.title) if word is not None]
    begun = real_ns()
    await memory.observe(event)
    await memory.feedback(event, label)
    while True:
        items: list[MemoryItem] = await memory.recall(query, 50, None)
        now = real_ns()
        check_items(memory, items)
        if any(event.id in i.source_event_ids or any(word in i.text for word in shown) for i in items):
            return now - begun
        if now - begun > _VISIBLE_WAIT_NS:
            return None
        await pause(_POLL_NS)


async def _timed(call: Callable[..., Awaitable[Any]], *given: Any, into: list[int]) -> Any:
    begun = real_ns()
    found = await call(*given)
    into.append(real_ns() - begun)
    return found


def stored_bytes(memory: Any) -> int | None:
    """How large a memory is when it is saved; None for one that cannot be."""
    save = trait(memory, "save")
    if save is None:
        return None
    with tempfile.TemporaryDirectory(prefix="proact-size-") as folder:
        try:
            save(Path(folder) / "kept")
        except NotImplementedError:
            return None
        return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())


def _sum(memory: Any, into: Probed) -> None:
    stats = trait(memory, "stats")
    for name, value in (dict(stats()) if stats is not None else {}).items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            into.stats[name] = into.stats.get(name, 0) + value
