"""What an agent is shown when it is asked: the screen, the recent past and its memory, all as of that instant."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from memory.view import NOTHING, LabelBook, Recalls, View
from simulator.core.protocols import Memory
from simulator.core.types import Observation, Snapshot
from simulator.runs.history import HistoryView, Recent
from simulator.runs.seam import Look
from simulator.timing.meter import SilentMeter

__all__ = ["Sight"]


class Sight:
    """Of one unit's agent.

    Args:
        user: whose screen it is.
        profile: of the user.
        recent: the history view's keeper.
        memory: as the views read it; None when it is inert.
        book: labels known so far.

    Attributes:
        recalls: of all decisions; None where there is no memory to be asked.
    """

    def __init__(self, user: str, profile: Mapping[str, str], recent: Recent, memory: Memory | None, book: LabelBook
                 ) -> None:  # fmt: skip
        self._user, self._profile, self._memory = user, profile, memory
        self.recent, self.book = recent, book
        self.recalls = None if memory is None else Recalls()

    def look(self, snapshot: Snapshot, started_ns: int) -> Look:
        """To be taken at hand-over, and to show the past as it is now."""
        return partial(self.observe, snapshot, started_ns, HistoryView(self.recent, started_ns))

    def observe(self, snapshot: Snapshot, started: int, history: HistoryView, meter: SilentMeter) -> Observation:
        """What is handed over now, at ``started``."""
        if self._memory is None:
            return Observation(snapshot, started, self._user, history, self._profile, NOTHING, meter)
        where = (snapshot.app, snapshot.title, snapshot.category)
        memory = View(self._memory, self.book, self._user, started, *where, meter, self.recalls)
        return Observation(snapshot, started, self._user, history, self._profile, memory, meter)
