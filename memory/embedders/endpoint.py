"""Embeddings of a server (``/v1/embeddings``): charged and recorded as calls to models are, and never made up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memory.embedders.base import embedders
from simulator.core.errors import ProactError, UsageError
from simulator.endpoint.types import ModelChoice
from simulator.timing.meter import charging

if TYPE_CHECKING:
    from simulator.endpoint.chat import Endpoint

__all__ = ["EndpointEmbedder"]

_BATCH = 64
"""Texts in one call; some servers take no more."""


@embedders.register("endpoint")
class EndpointEmbedder:
    """Whatever an OpenAI-compatible server embeds with, such as bge-m3 or Qwen3-Embedding; for Chinese.

    Its calls go through the run's client: they are charged (stage ``embed``), kept in the cassette that the run records
    into or answered from the one that it replays, and one that brings no answer is an error of the decision that asked.

    Args:
        model: as the server calls it; default: the one it serves.
        base_url: of the server; default: that of the run (``--base-url``, ``OPENAI_BASE_URL``).
        dimensions: asked of the server, where its model can give fewer; 0 leaves it to the server.
        choice: the run's model, given by the run: its address, patience and cassette hold here too.
        unit: whose calls these are, given by the run.
    """

    asks_server = True
    inline = False
    licence = "the model's own"

    def __init__(self, model: str | None = None, base_url: str | None = None, dimensions: int = 0,
                 choice: ModelChoice | None = None, unit: str = "") -> None:  # fmt: skip
        if dimensions < 0:
            raise UsageError("embedder 'endpoint': dimensions must be 1 or more, or 0 for the server's own")
        self._choice = _asked(model, base_url, dimensions, choice)
        self._scope = f"{unit}/embedder" if unit else "embedder"
        self.identity = _name(self._choice.model)
        self._dimension = dimensions  # 0 until the first answer
        self._loop: asyncio.AbstractEventLoop | None = None
        self._endpoint: Endpoint | None = None

    @staticmethod
    def header_facts(params: Mapping[str, Any], choice: ModelChoice | None) -> dict[str, Any]:
        """For the log's header: how it is asked, with a cassette's hash; no server tells the hash of its weights."""
        dimensions = int(params.get("dimensions", 0))
        asked = _asked(params.get("model"), params.get("base_url"), dimensions, choice)
        return {"name": _name(asked.model), "dimension": dimensions or None, "weights": None, "asked": asked.header}

    @property
    def dimension(self) -> int:
        """See ``core.protocols.Embedder``. Nobody but the server knows it: where it has not answered yet and it was not
        told, it is asked for one vector.
        """
        if not self._dimension:
            self.embed(["dimension"])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``core.protocols.Embedder``. Blocks its thread while the server is asked; what is blank is not sent.

        Raises:
            EndpointError: no answer came.
            CassetteMiss: the cassette does not hold this call.
            ProactError: rows of another length than before, or one of zeros, which is no embedding.
        """
        said = [place for place, text in enumerate(texts) if text.strip()]
        found = [self._ask([texts[p] for p in said[i : i + _BATCH]]) for i in range(0, len(said), _BATCH)]
        for rows in found:
            self._dimension = self._dimension or rows.shape[1]
            if rows.shape[1] != self._dimension:
                raise ProactError(f"embedder {self.identity}: {rows.shape[1]} numbers came, not {self._dimension}")
        made = np.zeros((len(texts), self.dimension if texts else 0), dtype=np.float32)
        if found:
            whole = np.concatenate(found).astype(np.float64)
            lengths = np.sqrt((whole * whole).sum(axis=1, keepdims=True))
            if not (lengths > 0).all():
                raise ProactError(f"embedder {self.identity}: nothing but zeros came for a text")
            made[said] = whole / lengths
        return made

    def close(self) -> None:
        """Close the connections, the cassette and the thread; twice does no harm."""
        loop, endpoint = self._loop, self._endpoint
        self._loop = self._endpoint = None
        if loop is None:
            return
        try:
            if endpoint is not None:
                asyncio.run_coroutine_threadsafe(endpoint.close(), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)

    def _ask(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """From a loop of its own, so that whoever asks need not be a coroutine. The task takes on the caller's context:
        the meter that is charged and the span that is open.
        """
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=_serve, args=(self._loop,), name="embedder", daemon=True).start()
        rows, passed = asyncio.run_coroutine_threadsafe(self._embed(texts), self._loop).result()
        _now().set(passed)
        return rows

    async def _embed(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], Any]:
        if self._endpoint is None:
            from simulator.endpoint.chat import Endpoint  # most runs ask no server

            self._endpoint = Endpoint(self._choice, scope=self._scope)
        rows = await self._endpoint.embed(texts, meter=charging.get())
        return rows, _now().get()


def _now() -> Any:
    from simulator.endpoint.together import virtual_now_ns

    return virtual_now_ns


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.close()


def _asked(model: Any, base_url: Any, dimensions: int, choice: ModelChoice | None) -> ModelChoice:
    """The run's address, patience and cassette with this model; nothing that is meant for another model goes along."""
    whole = choice or ModelChoice()
    return replace(
        whole, model=None if model is None else str(model), base_url=base_url or whole.base_url, temperature=None,
        top_p=None, max_tokens=None, seed=None, extra_body={"dimensions": dimensions} if dimensions else {},
    )  # fmt: skip


def _name(model: str | None) -> str:
    return f"endpoint/{model or 'the one served'}"
