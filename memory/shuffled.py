"""``shuffled-user``: somebody else's past at the same instants: what it brings owes nothing to whose past is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memory.base import make_memory, memories
from memory.past import CAPABILITIES
from simulator.core.protocols import Embedder
from simulator.core.rng import draw_u64
from simulator.core.traits import trait
from simulator.core.types import Event, Label, MemoryItem, Query

__all__ = ["ShuffledUser"]

Past = Sequence[tuple[Event, Label | None]]
_NATIVE = ("class-prior", "graph", "personas", "rag", "random", "recency", "window")


@memories.register("shuffled-user")
class ShuffledUser:
    """Another user's past, read as of the moment asked about, by whichever memory it is the control of.

    Whose: among the users known so far (those of the history, and those that the run gives) the one with the lowest
    number drawn by seed and both names, so that a user keeps the same partner in every unit and every order of units.
    Of the run's other users it is given all at once and answers from what had become known by the instant of asking,
    counted from the start of *their* session. It is not isolated, and says so.

    Args:
        of: the memory that reads it, without parameters: ``rag``, ``graph``, ``personas``, …
        seed: of the run.
        others: the pasts of the run's users; a run fills it in.
        embedder: what the memory inside embeds with, where it does.
    """

    inline = True
    capabilities: Mapping[str, Any] = {**CAPABILITIES, "isolation": "none"}

    def __init__(self, of: str = "rag", seed: int = 0,
                 others: Mapping[str, Past] | None = None, embedder: Embedder | None = None) -> None:  # fmt: skip
        if memories.aliases.get(of, of) not in _NATIVE:
            raise ValueError(f"of must be one of {', '.join(_NATIVE)}")
        inner: Any = make_memory(of, seed=seed, embedder=embedder)
        self._inner = inner
        self.heading: str = inner.heading
        self.noted: Sequence[str] = trait(inner, "noted", ())
        self.upkeep_lag_ns: int | None = trait(inner, "upkeep_lag_ns")
        self._seed, self._waiting = seed, dict(others or {})
        self._since_ns: dict[str, int] = {}
        self._without = 0

    @property
    def embedder(self) -> str | None:
        """Identity of the embedder of the memory inside, for the result; None where that embeds nothing."""
        identity: str | None = trait(self._inner, "embedder")
        return identity

    def partner(self, user: str, now_ns: int) -> str | None:
        """Whose past is read for a user; None while nobody else has one."""
        there = [other for other, since in self._since_ns.items() if other != user and since <= now_ns]
        return min(there, key=lambda other: (draw_u64(self._seed, "shuffled user", user, other), other), default=None)

    async def observe(self, event: Event) -> None:
        """Take in a closed event, of whomever."""
        await self._take_others()
        await self._observe(event)

    async def _observe(self, event: Event) -> None:
        self._since_ns[event.user] = min(event.end_ns, self._since_ns.get(event.user, event.end_ns))
        await self._inner.observe(event)

    async def feedback(self, event: Event, label: Label) -> None:
        """Take in a label, of whomever."""
        await self._inner.feedback(event, label)

    def needs_upkeep(self) -> bool:
        """Whether the memory inside has something heavy to do."""
        needs = trait(self._inner, "needs_upkeep")
        return needs is not None and bool(needs())

    async def maintain(self, now_ns: int) -> None:
        """Take in the others' pasts before time 0, and let the memory do its upkeep."""
        await self._take_others()
        if hasattr(self._inner, "maintain"):
            await self._inner.maintain(now_ns)

    async def _take_others(self) -> None:
        """All events in order of time, each label when it became known: as these users' own runs would write them."""
        if not self._waiting:
            return
        steps = []
        for past in self._waiting.values():
            for event, label in past:
                steps.append((event.end_ns, 0, event, label))
                if label is not None:
                    steps.append((max(event.end_ns, label.available_ns), 1, event, label))
        self._waiting = {}
        for _, what, event, label in sorted(steps, key=lambda step: step[:2]):
            if what == 0:
                await self._observe(event)
            elif label is not None:
                await self._inner.feedback(event, label)

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """What the partner's past says; nothing while there is no partner."""
        await self._take_others()
        partner = self.partner(query.user, query.now_ns)
        if partner is None:
            self._without += 1
            return []
        items: list[MemoryItem] = await self._inner.recall(replace(query, user=partner), k, token_budget)
        return items

    async def forget(self, user: str, start_ns: int, end_ns: int) -> int:
        """Forget a span of a user's past, whoever reads it."""
        await self._take_others()
        gone: int = await self._inner.forget(user, start_ns, end_ns)
        return gone

    def render(self, items: Sequence[MemoryItem]) -> str:
        """As the memory that it is the control of."""
        return str(self._inner.render(items))

    def stats(self) -> dict[str, Any]:
        """Those of the memory inside, and how often nobody else was known."""
        return {**self._inner.stats(), "without_other_user": self._without}
