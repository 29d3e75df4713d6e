"""The client: one call to a model from messages to a reply, with its waits on record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.core.protocols import Meter
from simulator.endpoint.types import NO_PARAMS, Message, ModelChoice, Reply

__all__ = ["Endpoint"]


class Endpoint:
    """Asks one server. Made anywhere, opened by its first call in the loop of that call; close it in that loop.

    Args:
        choice: the model and how it is asked.
        scope: whose calls these are (a session's name): a cassette counts repeated questions for each apart.
    """

    def __init__(self, choice: ModelChoice, *, scope: str = "") -> None:
        self.choice, self.scope = choice, scope

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None,
                   meter: Meter | None = None, params: Mapping[str, Any] = NO_PARAMS) -> Reply:  # fmt: skip
        """One answer of the model; drives the meter (stages ``build``, ``wait``, ``model``, first token, usage).

        Args:
            messages: in order.
            schema: a JSON schema for the answer; where the server knows none, the call goes without and is noted.
            meter: the decision's meter.
            params: sent over those of the choice (``temperature``, ``seed``, …).

        Raises:
            EndpointError: no answer came, whatever the reason.
            CassetteMiss: the cassette does not hold this call: a fault of the run, let it pass.
        """
        raise NotImplementedError

    async def embed(self, texts: Sequence[str], *, meter: Meter | None = None) -> NDArray[np.float32]:
        """Embeddings, float32 of shape (len(texts), d), as the server gives them.

        Raises:
            EndpointError: none came, or of unequal lengths.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Close the connections; twice does no harm."""

    async def __aenter__(self) -> Endpoint:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()
