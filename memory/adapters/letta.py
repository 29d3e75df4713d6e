"""``letta:URL``: archival memory (passages) of a Letta server (Apache-2.0), over its REST interface.

Tried on a real server, Letta 0.16.8 over PostgreSQL with pgvector. An agent of the server for each user, so that users
share nothing; events go along as tags, instants as dates, and both come back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from memory.adapters.counted import Counted
from memory.adapters.documents import Document, DocumentMemory
from memory.adapters.wire import ServerError, Wire, own_name
from memory.base import memories
from simulator.core.errors import UsageError
from simulator.endpoint.address import is_here

__all__ = ["LettaMemory", "instant_of"]

_ZERO = datetime(2000, 1, 1, tzinfo=UTC)


def instant_of(ns: int) -> str:
    """An instant of a session as a date that a server can filter by; time 0 is the year 2000 for all."""
    return (_ZERO + timedelta(microseconds=-(-ns // 1_000))).isoformat()


@memories.register("letta")
class LettaMemory(Counted, DocumentMemory):
    """Passages of a Letta server as a memory.

    Args:
        url: of the server, such as http://127.0.0.1:8283.
        model: handle of the server's model that its agents are made with, such as ``openai-proxy/qwen``; a passage asks
            none. Empty: none of the server's, but the name of the proxy, which the server then has no need to know.
        embedding: handle of the server's embeddings; empty: ours, which the server gets from the proxy.
        token: name of the environment variable that holds a token.
        template: what of an event is stored as its text: ``window`` or ``fact``, see ``DocumentMemory``.
        proxy: port of the counting proxy; 0 takes a free one.
        upstream: the model server behind that proxy.
    """

    def __init__(self, url: str, model: str = "", embedding: str = "", token: str | None = None,
                 template: str = "window", proxy: int = 0, upstream: str = "") -> None:  # fmt: skip
        DocumentMemory.__init__(self, template)
        if not (model and embedding) and not is_here(urlsplit(url).hostname or ""):
            raise UsageError("memory: a Letta server on another machine cannot ask the counting proxy here: name "
                             "handles of its own, model=… and embedding=…")  # fmt: skip
        self._wire = Wire(url, token)
        self._model, self._embedding, self._name = model, embedding, own_name()
        self._agents: dict[str, str] = {}
        self._archives: dict[str, None] = {}  # where the server keeps an agent's passages; it outlives the agent
        Counted.__init__(self, None, upstream, proxy)

    def _agent(self, user: str) -> str:
        agent = self._agents.get(user)
        if agent is None:
            body = {"name": f"{self._name}-{len(self._agents)}", **self._models(), "memory_blocks": [],
                    "include_base_tools": False}  # fmt: skip
            made = self._wire.call("POST", "/v1/agents/", body)
            agent = self._agents[user] = str(_field(made, "id", "an agent"))
        return agent

    def _models(self) -> dict[str, Any]:
        """What an agent is made with: a handle has to be one that the server listed, a description may name anybody."""
        url, embedder = self.proxy.url, self.embedder
        model: dict[str, Any] = {"model": self._model} if self._model else {
            "llm_config": {"model": "none", "model_endpoint_type": "openai", "model_endpoint": url,
                           "context_window": 8_192}}  # fmt: skip
        embedding: dict[str, Any] = {"embedding": self._embedding} if self._embedding else {
            "embedding_config": {"embedding_model": embedder.identity, "embedding_endpoint_type": "openai",
                                 "embedding_endpoint": url, "embedding_dim": embedder.dimension}}  # fmt: skip
        return {**model, **embedding}

    def _add(self, user: str, document: Document) -> str:
        body = {"text": document.text, "created_at": instant_of(document.known_ns),
                "tags": [f"event:{document.entry.event.id}"]}  # fmt: skip
        made = self._wire.call("POST", f"/v1/agents/{self._agent(user)}/archival-memory", body)
        self.written()
        first = made[0] if isinstance(made, list) and made else None
        self._archives[str(_field(first, "archive_id", "a passage"))] = None
        return str(_field(first, "id", "a passage"))

    def _remove(self, user: str, document: Document) -> None:
        self._wire.call("DELETE", f"/v1/agents/{self._agent(user)}/archival-memory/{document.handle}")

    def _search(self, user: str, text: str, n: int, now_ns: int) -> Sequence[tuple[str, float]]:
        # "before" the date: a microsecond later, so that what became known just now counts
        query = {"query": text, "top_k": n, "end_datetime": instant_of(now_ns + 1_000)}
        said = self._wire.call("GET", f"/v1/agents/{self._agent(user)}/archival-memory/search", query=query)
        hits = _field(said, "results", "a search")
        scores = self._scores(text, [str(_field(hit, "content", "a search")) for hit in hits])
        # Which of the passages of one text come is left to chance: all events of a text that came tie. What has nothing
        # in common with the question is not recalled, as by ``rag``.
        documents = self._documents.get(user, {})
        return [(one, score) for one, d in documents.items() if (score := scores.get(d.text, 0.0)) > 0]

    def _scores(self, asked: str, contents: Sequence[str]) -> dict[str, float]:
        """It tells an order and no scores, and no order among what is equally near. Where the embedder is ours, its
        cosines are what it ordered by; else what can be told of a hit is its place, and equal texts tie at the first.
        """
        texts = list(dict.fromkeys(contents))
        if self._embedding:
            return {text: 1.0 / (contents.index(text) + 1) for text in texts}
        rows = self.embedder.embed([asked, *texts])
        near = zip(texts, (rows[1:] @ rows[0]).tolist(), strict=True)
        return {text: round(cosine, 5) for text, cosine in near}  # the sixth place is noise, and would part what ties

    def close(self) -> None:
        """Delete its agents on the server, and their archives: with an agent its passages do not go."""
        try:
            for archive in self._archives:
                self._wire.call("DELETE", f"/v1/archives/{archive}")
            for agent in self._agents.values():
                self._wire.call("DELETE", f"/v1/agents/{agent}")
        finally:
            self._archives.clear()
            self._agents.clear()
            self._wire.close()
            super().close()


def _field(said: Any, name: str, what: str) -> Any:
    if not isinstance(said, Mapping) or name not in said:
        raise ServerError(f"the Letta server's answer on {what} has no '{name}': is it another version?")
    return said[name]
