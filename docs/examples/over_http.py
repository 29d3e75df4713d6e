"""An agent whose thinking is done by an HTTP server: it sends the window and what memory recalls, and reads an answer.

The server answers in JSON: ``{"help": true, "intention": "Translation", "text": "…", "confidence": 0.8, "tokens_in":
900, "tokens_out": 40}``; only ``help`` must be there, and ``intention`` where help is offered.
"""

from typing import Any

import aiohttp

from simulator.core.types import SILENT, Decision, Observation, Offer, Setup


class OverHttp:
    """Asks a server at every snapshot it is given.

    Args:
        url: where decisions are made.
        limit_s: how long it waits for an answer; below the run's ``--timeout``, so that the error is its own.
    """

    def __init__(self, url: str, limit_s: float = 20.0) -> None:
        self._url, self._limit = url, aiohttp.ClientTimeout(total=limit_s)
        self._intentions: list[str] = []

    async def open(self, setup: Setup) -> None:
        """Make the client once, in the loop in which all calls run: its connections outlive a decision."""
        self._intentions = list(setup.intentions)
        self._client = aiohttp.ClientSession(timeout=self._limit)

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()

    async def decide(self, observation: Observation) -> Decision:
        """Ask and read the answer. Whatever raises here becomes a record of kind ``error``: nothing must be caught."""
        meter, memory = observation.meter, observation.memory
        items = await memory.recall(5, token_budget=400)  # the view books this as stage `retrieve`
        with meter.stage("build"):
            asked = self._question(observation, memory.render(items))
        with meter.stage("model"):
            async with self._client.post(self._url, json=asked) as answer:
                answer.raise_for_status()
                said: dict[str, Any] = await answer.json()
        with meter.stage("parse"):
            meter.usage(tokens_in=said.get("tokens_in", 0), tokens_out=said.get("tokens_out", 0), cost=said.get("cost"))
            if not said["help"]:
                return SILENT
            if said.get("intention") not in self._intentions:
                return Decision(unparsed=True)  # help is offered, and nobody can tell with what
            offer = Offer(said["intention"], said.get("text", ""), said.get("confidence"))
            return Decision((offer,), parse_rule="json")

    def _question(self, observation: Observation, remembered: str) -> dict[str, Any]:
        event = observation.history.current
        return {
            "app": observation.snapshot.app,
            "title": observation.snapshot.title,
            "seconds_in_window": 0 if event is None else (event.end_ns - event.start_ns) // 10**9,
            "memory": remembered,
            "profile": dict(observation.profile),
            "intentions": self._intentions,
        }
