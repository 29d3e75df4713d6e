"""Against llama.cpp's own server: a real protocol over a real socket from a real model (whose answers mean nothing)."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path

from simulator.core.types import SECOND
from simulator.endpoint.chat import Endpoint
from simulator.endpoint.together import together
from simulator.endpoint.types import Message, ModelChoice, Reply
from simulator.timing.meter import CallMeter
from tests.endpoint.asks import ask, refused

SCHEMA = {
    "type": "object",
    "properties": {"help": {"enum": ["yes", "no"]}, "intention": {"enum": ["Translation", "Summarization"]}},
    "required": ["help", "intention"],
    "additionalProperties": False,
}
HELLO = [Message("system", ("Answer in a few words.",)), Message("user", ("Say hello.",))]


def tiny(base_url: str, **more: object) -> ModelChoice:
    given = {"base_url": base_url, "temperature": 0.0, "seed": 1, "max_tokens": 24, "timeout_ns": 100 * SECOND, **more}
    return ModelChoice(**given)  # type: ignore[arg-type]


def test_a_real_server_streams_its_answer_with_its_figures(llama: str) -> None:
    meter = CallMeter()
    reply = ask(tiny(llama), meter, messages=HELLO)
    assert reply.text
    assert reply.finish_reason == "stop"
    assert len(reply.stamps.chunks_ns) > 2
    assert list(reply.stamps.chunks_ns) == sorted(reply.stamps.chunks_ns)
    assert reply.stamps.first_token_ns is not None
    assert reply.stamps.first_token_ns < reply.stamps.done_ns
    assert not reply.usage.estimated
    assert reply.usage.tokens_in > 10
    assert 0 < reply.usage.tokens_out <= 24
    assert meter.tokens["out"] == reply.usage.tokens_out


def test_a_real_server_keeps_to_a_schema(llama: str) -> None:
    reply = ask(tiny(llama, max_tokens=80), messages=HELLO, schema=SCHEMA)
    assert set(json.loads(reply.text)) == {"help", "intention"}
    assert reply.notes == ()


def test_a_real_server_cuts_at_the_limit_and_that_is_an_error(llama: str) -> None:
    error = refused(tiny(llama, max_tokens=2), messages=[Message("user", ("Count from one to a hundred.",))])
    assert error.kind == "length"
    assert error.partial


def test_a_real_server_refuses_what_does_not_fit_into_it(llama: str) -> None:
    error = refused(tiny(llama), messages=[Message("user", ("word " * 4000,))])
    assert error.kind == "too_large"


def test_a_real_server_answers_several_at_once_and_is_replayed(llama: str, tmp_path: Path) -> None:
    record = tiny(llama, max_tokens=None, cassette=tmp_path / "c.jsonl", record=True, extra_body={"n_predict": 64})

    async def main(choice: ModelChoice) -> list[Reply]:
        async with Endpoint(choice) as endpoint:
            return await together(*[partial(endpoint.chat, HELLO, params={"seed": i}) for i in range(4)])

    first = asyncio.run(main(record))
    starts = [r.stamps.first_token_ns or 0 for r in first]
    ends = [r.stamps.done_ns for r in first]
    assert max(starts) < max(ends)
    replay = tiny("", max_tokens=None, cassette=tmp_path / "c.jsonl", extra_body={"n_predict": 64})
    again = asyncio.run(main(replay))
    assert [(r.text, r.stamps, r.usage) for r in again] == [(r.text, r.stamps, r.usage) for r in first]


def test_a_real_server_without_embeddings_says_so(llama: str) -> None:
    async def main() -> str:
        async with Endpoint(tiny(llama)) as endpoint:
            try:
                await endpoint.embed(["a"])
            except Exception as error:
                return str(error)
        return ""

    assert "embeddings" in asyncio.run(main())
