"""``oracle``, the memory that has seen the truth: what a perfect choice among the user's past events would bring."""

from __future__ import annotations

from itertools import islice
from typing import Any

from memory.base import memories
from memory.controls import Labelled
from memory.items import entry_item
from simulator.core.intentions import same
from simulator.core.types import MemoryItem, Query

__all__ = ["OracleMemory"]


@memories.register("oracle")
class OracleMemory(Labelled):
    """While a need is open, past events with the same need; else past events without any. Newest first.

    It knows the need, not the answer: what it recalls is the user's own past, as it was known at the moment of asking.
    Runs with it are marked as runs of the agent ``oracle`` are.

    Args:
        truth: the session's ``simulator.session.truth.Truth``; a run passes it only where ``sees_truth`` is declared.
    """

    sees_truth = True
    heading = "Like moments of the user's past:"

    def __init__(self, truth: Any = None) -> None:
        super().__init__()
        if truth is None:
            raise ValueError("it needs the truth of a session, which a run gives it")
        self._user: str = truth.user
        self._moments = {m.t_ns: m for m in truth.moments}
        self._needs = sorted(truth.opportunities, key=lambda o: (o.opens_ns, o.id))

    def _need(self, query: Query) -> tuple[bool, str | None]:
        """Whether help is needed at the instant of asking, and for what."""
        if query.user != self._user:
            return False, None
        if self._moments:
            moment = self._moments.get(query.now_ns)
            return (False, None) if moment is None or not moment.positive else (True, moment.intention)
        open_ = [o for o in self._needs if o.opens_ns <= query.now_ns < o.closes_ns]
        return (True, open_[0].intention) if open_ else (False, None)

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """None where the need that is open has never arisen before."""
        needed, intention = self._need(query)
        entries, n = self.known(query.user, self._as_of(query).now_ns)
        newest = (entries[place] for place in range(n - 1, -1, -1))
        fitting = (
            entry
            for entry in newest
            if entry.label is not None
            and entry.label.help == needed
            and (not needed or same(entry.label.intention, intention))
        )
        wide = k if token_budget is None else 3 * k
        return self._answer([entry_item(e, 1.0) for e in islice(fitting, max(wide, 0))], k, token_budget)
