"""The agent that has seen the truth: what a perfect answer without delay would score."""

from __future__ import annotations

from typing import Any

from agents.base import agents, majority_intention
from simulator.core.types import SILENT, Decision, Observation, Offer, Setup

__all__ = ["Oracle"]


@agents.register("oracle")
class Oracle:
    """Offers the right help once in each window of need, at the first snapshot it sees in it.

    In protocol ``moments`` it says yes at the positive ones; asked to ``finish`` a trajectory, it names the true
    intents.

    Args:
        truth: the session's ``simulator.session.truth.Truth``; a run passes it only where ``sees_truth`` is declared.
    """

    inline = True
    reads_window = False
    sees_truth = True
    """What a run reads before it hands over the truth; the log's header and the scores say so then."""

    def __init__(self, truth: Any = None) -> None:
        if truth is None:
            raise ValueError("it needs the truth of a session, which a run gives it")
        self._intents = [i for named in (truth.intents or {}).values() for i in named]
        self._moments = {m.t_ns: m for m in truth.moments}
        self._waiting = sorted(truth.servable, key=lambda o: (o.opens_ns, o.id))
        self._fallback = majority_intention(())

    async def open(self, setup: Setup) -> None:
        """Learn which intentions are in use."""
        self._fallback = majority_intention(setup.intentions)

    async def decide(self, observation: Observation) -> Decision:
        """The needs open now that were not served before, or the answer to a sampled moment."""
        if self._moments:
            moment = self._moments.get(observation.now_ns)
            return self._said([moment]) if moment is not None and moment.positive else SILENT
        now_ns = observation.now_ns
        if not self._waiting or self._waiting[0].opens_ns > now_ns:
            return SILENT
        started = [o for o in self._waiting if o.opens_ns <= now_ns]
        del self._waiting[: len(started)]
        return self._said([o for o in started if now_ns < o.closes_ns])

    async def finish(self, observation: Observation) -> Decision:
        """The true intents of the trajectory."""
        offers = (Offer(i.intention or i.text, i.text, 1.0, thread=f"intent {n}") for n, i in enumerate(self._intents))
        return Decision(tuple(offers))

    def _said(self, needs: list[Any]) -> Decision:
        offers = (Offer(n.intention or self._fallback, n.query or "", 1.0) for n in needs)
        return Decision(tuple(offers)) if needs else SILENT
