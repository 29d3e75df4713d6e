"""Asking never blocks the loop in which it is done: pictures, cassettes and names are read in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from blockbuster import BlockBuster, BlockingError, blockbuster_ctx
from PIL import Image

from simulator.core.types import ImageRef
from simulator.endpoint.chat import Endpoint
from simulator.endpoint.images import data_url
from simulator.endpoint.together import together
from simulator.endpoint.types import Message, ModelChoice
from tests.endpoint.asks import choice
from tests.endpoint.faults import FaultServer


@pytest.fixture
def guarded_loop() -> Iterator[BlockBuster]:
    with blockbuster_ctx(["simulator", "aiohttp"]) as guard:
        yield guard


def test_live_and_from_a_cassette(tmp_path: Path, server: FaultServer, guarded_loop: BlockBuster) -> None:
    path = tmp_path / "screen.png"
    Image.new("RGB", (640, 360), "white").save(path)
    question = [Message("user", ("Look:", ImageRef(path)))]
    record = choice(server.url("ok").replace("127.0.0.1", "localhost"), cassette=tmp_path / "c.jsonl", record=True)

    async def ask(asked: ModelChoice) -> list[str]:
        endpoint = Endpoint(asked)  # made before the loop in real life: it looks whether the cassette is one
        replies = await together(*[partial(endpoint.chat, question)] * 3)
        await endpoint.close()
        return [reply.text for reply in replies]

    for function in guarded_loop.functions.values():
        function.can_block_in("simulator/endpoint/cassette.py", {"check_begins"})
    assert asyncio.run(ask(record)) == ["Hello"] * 3
    replay = choice(cassette=tmp_path / "c.jsonl")
    assert asyncio.run(ask(replay)) == ["Hello"] * 3


def test_a_blocking_call_would_be_found(tmp_path: Path, guarded_loop: BlockBuster) -> None:
    path = tmp_path / "screen.png"
    Image.new("RGB", (64, 36), "white").save(path)

    async def blocks() -> None:
        data_url(ImageRef(path), 64, 80)

    with pytest.raises(BlockingError):
        asyncio.run(blocks())
