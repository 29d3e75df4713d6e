"""Makes the golden cassette of the present schema: ``python -m tests.golden.make_cassette FILE``. Old ones stay."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from simulator.core.types import MS, SECOND, ImageRef
from simulator.endpoint.chat import Endpoint
from simulator.endpoint.types import EndpointError, Message, ModelChoice
from tests.endpoint.faults import FaultServer

SCHEMA = {"type": "object", "properties": {"help": {"type": "boolean"}}}
PICTURE = ImageRef(Path("nowhere.png"), pixels_hash="sha-of-some-pixels")


def golden_choice(path: Path, base_url: str | None = None, **more: Any) -> ModelChoice:
    return ModelChoice("golden", base_url, temperature=0.25, extra_body={"top_k": 3}, timeout_ns=5 * SECOND,
                       idle_timeout_ns=30 * MS, max_retries=1, cassette=path, **more)  # fmt: skip


async def ask_all(endpoints: Mapping[str, Endpoint]) -> dict[str, Any]:
    """What the golden cassette holds, asked of endpoints by fault."""
    said: dict[str, Any] = {}
    for name, endpoint in endpoints.items():
        question = [Message("system", ("Be brief.",)), Message("user", (f"Grüße, {name}?",))]
        if name == "slowly":
            question.append(Message("user", ("Look:", PICTURE)))
        for i in range(2 if name == "counting" else 1):
            try:
                if name == "embeds":
                    said[name] = (await endpoint.embed(["a", "bb"])).tolist()
                else:
                    schema = SCHEMA if name == "no_schema" else None
                    said[f"{name} {i}"] = await endpoint.chat(question, schema=schema, params={"seed": 7})
            except EndpointError as error:
                said[f"{name} {i}"] = error
    return said


NAMES = ("slowly", "counting", "thinks", "reasons", "no_usage", "no_schema", "limited_once", "stall", "length",
         "fails", "embeds")  # fmt: skip


async def _no_picture(ref: ImageRef) -> str:
    return "data:image/jpeg;base64,"


async def _record(path: Path) -> None:
    with FaultServer() as server:
        choices = {name: golden_choice(path, server.url(name), record=True) for name in NAMES}
        endpoints = {name: Endpoint(choice, scope="golden") for name, choice in choices.items()}
        vars(endpoints["slowly"]._pictures)["url"] = _no_picture  # it is nowhere
        await ask_all(endpoints)
        for endpoint in endpoints.values():
            await endpoint.close()


if __name__ == "__main__":
    out = Path(sys.argv[1])
    with suppress(FileNotFoundError):
        out.unlink()
    asyncio.run(_record(out))
