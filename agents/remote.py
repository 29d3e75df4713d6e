"""Agents of others, in any language, each in a process of its own: what they share, and those that speak HTTP.

The protocol: ``docs/remote-agents.md``. A call that brings no answer raises ``RemoteError``, which a run records as an
error of that decision. Nothing is asked twice: the other side may remember what it was asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from agents.base import agents
from agents.remote_http import HttpWire, url_of
from agents.remote_protocol import (
    PROTOCOL,
    Answer,
    Health,
    Needs,
    Opened,
    RemoteError,
    observation_body,
    read,
    setup_body,
    unknown_fields,
    unwrapped,
)
from simulator.core.errors import quote
from simulator.core.types import SECOND, SILENT, Decision, ImageRef, Observation, Setup
from simulator.endpoint.images import Pictures

__all__ = ["CLOSE_S", "HEALTH_S", "OPEN_S", "Joined", "Remote", "Wire", "picture", "read_health"]

HEALTH_S, OPEN_S, CLOSE_S = 10.0, 600.0, 2.0  # close and the end of a process together stay below 5 s
_QUALITY = 80  # of a JPEG
_BUDGET = 1000  # tokens of memory


class Wire(Protocol):
    """How calls get to another process."""

    @property
    def near(self) -> bool:
        """Whether it is on this machine, so that a path of a picture means something there."""
        ...

    async def ask(self, call: str, body: Mapping[str, Any], limit_s: float) -> Mapping[str, Any]:
        """The answer to one call.

        Raises:
            RemoteError: none came.
        """
        ...

    async def close(self) -> None:
        """Let go of the other side."""
        ...


class Joined:
    """An agent behind a wire.

    Args:
        wire: to it.
        limit_s: how long one decision may take; below the run's ``--timeout``, so that the error says more.
        expect: ``name version`` that its health must tell; with it the run's log names whom it asked.
        stateless: it promises that no decision depends on another (see ``concurrent`` in ``docs/agents.md``).
    """

    def __init__(self, wire: Wire, limit_s: float, expect: str | None, stateless: bool) -> None:
        if limit_s <= 0:
            raise ValueError("limit_s must be above 0")
        self._wire, self._limit_s, self._expect = wire, limit_s, expect
        self.concurrent = "stateless" if stateless else None
        self._health: Health | None = None
        self._id: str | None = None
        self._pictures = Pictures(Needs().image_side, _QUALITY)
        self._introduced = False

    async def open(self, setup: Setup) -> None:
        """Ask who is there, and open a session with it.

        Raises:
            RemoteError: nobody, another protocol, another agent than expected, or one that needs what cannot be had.
        """
        health = self._health = read_health(await self._wire.ask("health", {}, HEALTH_S))
        if self._expect is not None and self._expect != (told := f"{health.name} {health.version}".strip()):
            raise RemoteError("refused", f"{quote(self._expect)} is expected, and {quote(told)} answers")
        if health.needs.images == "path" and not self._wire.near:
            raise RemoteError("refused", "it needs paths of pictures, which mean nothing on another machine (use jpeg)")
        self._pictures = Pictures(health.needs.image_side, _QUALITY)
        opened = read(Opened, unwrapped(await self._wire.ask("open", setup_body(setup), OPEN_S)), "open")
        self._id = opened.id

    async def decide(self, observation: Observation) -> Decision:
        """Send what is seen, and read what it decides.

        Raises:
            RemoteError: no answer, or one that is not of the protocol's form.
        """
        return await self._ask("decide", observation)

    async def finish(self, observation: Observation) -> Decision:
        """The last question of a trajectory; silence from an agent that does not declare ``finish``.

        Raises:
            RemoteError: see ``decide``.
        """
        return await self._ask("finish", observation) if self._health is not None and self._health.finish else SILENT

    async def close(self) -> None:
        """Close the session and the wire."""
        health, self._health = self._health, None
        try:
            if health is not None:
                await self._wire.ask("close", {"id": self._id}, CLOSE_S)
        finally:
            await self._wire.close()

    async def _ask(self, call: str, seen: Observation) -> Decision:
        health, meter = self._health, seen.meter
        if health is None:
            raise RemoteError("refused", "the agent was not opened")
        items = await seen.memory.recall(health.needs.memory, token_budget=_BUDGET) if health.needs.memory else []
        with meter.stage("build"):
            image = await picture(seen.snapshot.image, health.needs, self._pictures)
            if image is None and seen.snapshot.image is not None and health.needs.images != "none":
                meter.note("picture_not_written")
            body = observation_body(seen, items, seen.memory.render(items), image) | {"id": self._id}
        with meter.stage("model"):
            said = await self._wire.ask(call, body, self._limit_s)
        with meter.stage("parse"):
            answer = read(Answer, unwrapped(said), call)
        self._note(answer, health, seen)
        return answer.decision

    def _note(self, answer: Answer, health: Health, seen: Observation) -> None:
        """What it tells of itself goes into the books."""
        meter = seen.meter
        if (used := answer.usage) is not None:
            meter.usage(tokens_in=used.tokens_in, tokens_out=used.tokens_out, reasoning=used.reasoning,
                        cached=used.cached, images=used.images, cost=used.cost)  # fmt: skip
        if answer.stages_s:
            meter.reported("model", {stage: round(s * SECOND) for stage, s in answer.stages_s.items()})
        if answer.waited_s or answer.retries:
            meter.waited(round(answer.waited_s * SECOND), retries=answer.retries)
        if unknown_fields(answer):
            meter.note("remote_unknown_field")
        if not self._introduced:
            self._introduced = True
            meter.note(f"answered_by {quote(f'{health.name} {health.version}'.strip(), 60)[1:-1]}")


async def picture(ref: ImageRef | None, needs: Needs, pictures: Pictures) -> Mapping[str, Any] | None:
    """A picture as an agent needs it; None where it needs none, or a path to what is not on the disk yet (live).

    Raises:
        InputError: it cannot be read.
    """
    if ref is None or needs.images == "none":
        return None
    size = {"width": ref.width, "height": ref.height, "hash": ref.pixels_hash}
    if needs.images == "path":
        there = await asyncio.to_thread(ref.path.is_file)
        return {"path": str(ref.path.absolute()), **size} if there else None
    return {"data_url": await pictures.url(ref), **size}


def read_health(said: Mapping[str, Any]) -> Health:
    """Who answers.

    Raises:
        RemoteError: an answer in another protocol, or not of the form of one.
    """
    said = unwrapped(said)
    version = said.get("protocol")
    if type(version) is int and version != PROTOCOL:
        raise RemoteError("protocol", f"it speaks protocol {version}; this version of proact speaks {PROTOCOL}")
    return read(Health, said, "health")


@agents.register("remote")
class Remote(Joined):
    """An agent that answers over HTTP.

    Args:
        url: where, such as http://127.0.0.1:8900. Another machine than this one only together with ``token``.
        token: the environment variable that holds the token to send (as ``Authorization: Bearer``).
        limit_s: how long one decision may take.
        expect: ``name version`` that must answer.
        stateless: it promises that no decision depends on another.
    """

    def __init__(self, url: str, token: str | None = None, limit_s: float = 55.0, expect: str | None = None,
                 stateless: bool = False) -> None:  # fmt: skip
        super().__init__(HttpWire(url_of(url, token), token), limit_s, expect, stateless)
