"""A model that says what a test wants it to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.core.protocols import Meter
from simulator.endpoint.types import NO_PARAMS, EndpointError, Message, Reply, Stamps, Usage

Said = str | EndpointError | Callable[[str], str]


class Answering:
    """Answers in turn; a function is given the text of the question. The last answer stays."""

    def __init__(self, *answers: Said) -> None:
        self._answers = list(answers)
        self.asked: list[Sequence[Message]] = []
        self.schemas: list[Mapping[str, Any] | None] = []
        self.closed = 0

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None,
                   meter: Meter | None = None, params: Mapping[str, Any] = NO_PARAMS) -> Reply:  # fmt: skip
        self.asked.append(messages)
        self.schemas.append(schema)
        said = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(said, EndpointError):
            raise said
        text = said if isinstance(said, str) else said(self.texts(-1))
        return Reply(text, "", "stop", Usage(10, 5), Stamps(0, 0, 1, (1,), 2), "served")

    async def embed(self, texts: Sequence[str], *, meter: Meter | None = None) -> NDArray[np.float32]:
        raise NotImplementedError

    async def close(self) -> None:
        self.closed += 1

    def texts(self, n: int) -> str:
        """All that was said in a question, but pictures."""
        return "\n".join(part for message in self.asked[n] for part in message.parts if isinstance(part, str))
