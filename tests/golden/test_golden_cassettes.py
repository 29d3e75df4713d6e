"""Cassettes of each schema version can be replayed for ever. Never change a file here: add one for a new schema.

Made once by ``tests/golden/make_cassette.py`` with the code of that version.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from simulator.core.types import MS
from simulator.endpoint.cassette import load
from simulator.endpoint.chat import Endpoint
from simulator.endpoint.types import EndpointError, Usage
from tests.golden.make_cassette import NAMES, ask_all, golden_choice

HERE = Path(__file__).parent


def replay(path: Path) -> dict[str, Any]:
    async def main() -> dict[str, Any]:
        endpoint = Endpoint(golden_choice(path), scope="golden")
        return await ask_all(dict.fromkeys(NAMES, endpoint))

    return asyncio.run(main())


def test_schema_1() -> None:
    path = HERE / "cassette-schema-1.jsonl"
    assert len(load(path).entries) == 12
    said = replay(path)
    texts = {name: reply.text for name, reply in said.items() if hasattr(reply, "text")}
    assert texts == {
        "slowly 0": "Hello", "counting 0": "answer 0", "counting 1": "answer 1", "thinks 0": "Yes", "reasons 0": "Yes",
        "no_usage 0": "Hello", "no_schema 0": "Hello", "limited_once 0": "Hello",
    }  # fmt: skip
    slow = said["slowly 0"]
    assert slow.stamps.chunks_ns == (32239635, 42380841)
    assert (slow.stamps.first_token_ns, slow.stamps.done_ns) == (32239635, 72889985)
    assert slow.usage == Usage(100, 7, 0, 40, 1)
    assert slow.sent["seed"] == 7
    assert said["thinks 0"].reasoning == "No, no"
    assert said["reasons 0"].usage == Usage(9, 10, 20)
    assert said["no_usage 0"].usage.estimated
    assert said["no_schema 0"].notes == ("no_json_schema",)
    assert said["limited_once 0"].stamps.retries == 1
    assert said["limited_once 0"].stamps.waited_ns > 30 * MS
    errors = {name: (e.kind, e.retries, e.partial) for name, e in said.items() if isinstance(e, EndpointError)}
    assert errors == {
        "stall 0": ("idle_timeout", 0, "Hello"),
        "length 0": ("length", 0, "Need help: Y"),
        "fails 0": ("server", 1, ""),
    }
    assert said["embeds"] == [[1, 1.5, 0], [2, 1.5, -1]]
