"""Short ways to ask in tests."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from simulator.core.types import SECOND
from simulator.endpoint.chat import Endpoint
from simulator.endpoint.types import NO_PARAMS, EndpointError, Message, ModelChoice, Reply

__all__ = ["HI", "ask", "choice", "refused"]

HI = (Message("system", ("Be brief.",)), Message("user", ("Say hello.",)))


def choice(base_url: str | None = None, **more: Any) -> ModelChoice:
    """Of a test: no time is lost where a server never answers."""
    given: dict[str, Any] = {"model": "m", "base_url": base_url, "timeout_ns": 5 * SECOND, "idle_timeout_ns": SECOND}
    return ModelChoice(**{**given, **more})


def ask(asked: ModelChoice, meter: Any = None, *, params: Mapping[str, Any] = NO_PARAMS, messages: Any = HI,
        schema: Mapping[str, Any] | None = None) -> Reply:  # fmt: skip
    """One call in a loop of its own."""

    async def main() -> Reply:
        async with Endpoint(asked) as endpoint:
            return await endpoint.chat(messages, meter=meter, params=params, schema=schema)

    return asyncio.run(main())


def refused(asked: ModelChoice, meter: Any = None, **more: Any) -> EndpointError:
    """The error that a call meets."""
    with pytest.raises(EndpointError) as caught:
        ask(asked, meter, **more)
    return caught.value
