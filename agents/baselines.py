"""Agents to compare with: one that never speaks, one that always does, one that speaks by chance."""

from __future__ import annotations

from agents.base import agents, majority_intention
from simulator.core.rng import below, unit
from simulator.core.types import SILENT, Decision, Observation, Offer, Setup

__all__ = ["Always", "Random", "Silent"]


@agents.register("silent")
class Silent:
    """Never offers anything."""

    inline = True
    concurrent = "stateless"
    reads_window = False

    async def decide(self, observation: Observation) -> Decision:
        """Silence."""
        return SILENT


@agents.register("always")
class Always:
    """Offers the same help at every snapshot.

    Args:
        intention: what it offers; by default the most frequent one (``majority_intention``).
    """

    inline = True
    concurrent = "stateless"
    reads_window = False

    def __init__(self, intention: str | None = None) -> None:
        self._given = intention
        self._decision = _said(intention or majority_intention(()))

    async def open(self, setup: Setup) -> None:
        """Learn which intentions are in use."""
        self._decision = _said(self._given or majority_intention(setup.intentions))

    async def decide(self, observation: Observation) -> Decision:
        """The same offer."""
        return self._decision


def _said(intention: str) -> Decision:
    return Decision((Offer(intention, f"May I help with {intention}?", confidence=1.0),))


@agents.register("random")
class Random:
    """Offers a random intention at random snapshots.

    Every draw is keyed by session and snapshot: what was asked before changes nothing.

    Args:
        rate: probability of an offer at a snapshot; 1/60 is about one a minute at one snapshot a second.
    """

    inline = True
    concurrent = "stateless"
    reads_window = False

    def __init__(self, rate: float = 1 / 60) -> None:
        if not 0 <= rate <= 1:
            raise ValueError("rate must be from 0 to 1")
        self._rate = rate
        self._seed, self._session, self._intentions = 0, "", [majority_intention(())]

    async def open(self, setup: Setup) -> None:
        """Take seed, session and intentions."""
        self._seed, self._session = setup.seed, setup.session
        self._intentions = list(setup.intentions) or self._intentions

    async def decide(self, observation: Observation) -> Decision:
        """An offer if the draw for this snapshot says so."""
        key = (self._session, observation.snapshot.index)
        if unit(self._seed, "random agent", "speak", *key) >= self._rate:
            return SILENT
        which = below(len(self._intentions), self._seed, "random agent", "intention", *key)
        intention = self._intentions[which]
        return Decision((Offer(intention, f"May I help with {intention}?", confidence=self._rate),))
