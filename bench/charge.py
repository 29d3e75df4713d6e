"""A real answer of 0.35 s, in a thread and over loopback HTTP: what clock ``measured`` charges for it on a stream of
20 s, and how long that stream takes to play.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import anyio
from aiohttp import web

from bench.make_session import make
from memory.base import make_memory
from simulator.core.types import SILENT, Decision, Observation, Setup
from simulator.runs import runlog
from simulator.runs.config import Settings
from simulator.runs.engine import Interrupt
from simulator.runs.unit import LOG, UnitPlan, play_unit
from simulator.session.truth import Truth
from simulator.sources.recording import Recording
from simulator.timing.clock import pause, real_ns

ANSWER_NS = 350_000_000
SECONDS = 20


class InThread:
    """Blocks a worker thread for the time of the answer."""

    async def decide(self, observation: Observation) -> Decision:
        done = threading.Event()
        await asyncio.to_thread(done.wait, ANSWER_NS / 1e9)
        return SILENT


class OverHttp:
    """Asks a server on this machine that takes the time of the answer."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/"

    async def open(self, setup: Setup) -> None:
        self._client = aiohttp.ClientSession()

    async def decide(self, observation: Observation) -> Decision:
        async with self._client.get(self._url) as response:
            await response.read()
        return SILENT

    async def close(self) -> None:
        await self._client.close()


async def _with_server(play: Callable[[int], Awaitable[None]]) -> None:
    async def answer(_: web.Request) -> web.Response:
        await pause(ANSWER_NS)
        return web.Response(text="no")

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        await play(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def measure() -> dict[str, float]:
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        source = Recording(make(Path(name) / "session", SECONDS))

        async def play(port: int) -> None:
            for kind, agent in (("thread", InThread()), ("http", OverHttp(port))):
                unit = Path(name) / kind
                begun = real_ns()
                await play_unit(_plan(source, agent), unit, Interrupt())
                figures[f"{kind}_play_s"] = (real_ns() - begun) / 1e9
                log = runlog.read(unit / LOG)
                charged = (log.actionable_ns - log.started_ns) / 1e9
                figures[f"{kind}_charge_median_s"] = statistics.median(charged.tolist())
                figures[f"{kind}_charge_max_s"] = float(charged.max())

        anyio.run(_with_server, play)
    return figures


def _plan(source: Recording, agent: InThread | OverHttp) -> UnitPlan:
    truth = Truth(source.session, source.user, source.header.end_ns)
    return UnitPlan(
        "unit", source, truth, (), {}, (), 300 * 10**9, "app_title", Settings(),
        lambda: agent, lambda: make_memory("none"), type(agent).__name__, "none", "standard", "bench",
    )  # fmt: skip
