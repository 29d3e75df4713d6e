"""What an adapter's store asks of models goes through a proxy of ours that counts it, per event written."""

from __future__ import annotations

from typing import Any

from memory.embed import HashEmbedder
from simulator.core.protocols import Embedder
from simulator.endpoint.counting import CountingProxy

__all__ = ["Counted"]


class Counted:
    """Base of adapters whose store asks models.

    Args:
        embedder: answers embeddings for every store alike; ``hash512`` where none is given.
        upstream: base URL of the model server for all other calls; empty: there is none.
        proxy: port of the counting proxy; 0 takes a free one.
    """

    def __init__(self, embedder: Embedder | None, upstream: str, proxy: int) -> None:
        self.embedder: Embedder = embedder or HashEmbedder()
        self.proxy = CountingProxy(self.embedder.embed, self.embedder.identity, upstream or None, proxy).start()
        self._written = 0

    def written(self) -> None:
        """An event went into the store."""
        self._written += 1

    def stats(self) -> dict[str, Any]:
        """Calls and tokens, in all and per event written."""
        counts = self.proxy.counts()
        n = self._written
        each = {f"{key}_per_event": round(counts[key] / n, 3) for key in _EACH} if n else {}
        return {"events_written": n, "embedder": self.embedder.identity, **counts, **each}

    def close(self) -> None:
        """End the proxy."""
        self.proxy.close()


_EACH = ("model_calls", "embedding_calls", "tokens_in", "tokens_out", "embedding_tokens")
