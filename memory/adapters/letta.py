"""``letta:URL``: archival memory (passages) of a Letta server (Apache-2.0), over its REST interface.

Written against the interface of letta-client 1.12 and tried on a stub of ours; it never ran against a real server. An
agent of the server's for each user, so that users share nothing; events and instants go along as tags and come back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from memory.adapters.counted import Counted
from memory.adapters.documents import Document, DocumentMemory
from memory.adapters.wire import ServerError, Wire, own_name
from memory.base import memories

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
        model: the handle of the model that its agents are made with; a passage needs none, but the server asks for it.
        embedding: likewise, of its embeddings; to have ours, set the server up with the proxy as its base URL.
        token: name of the environment variable that holds a token.
        template: what of an event is stored as its text: ``window`` or ``fact``, see ``DocumentMemory``.
        proxy: port of the counting proxy; 0 takes a free one.
        upstream: the model server behind that proxy.
    """

    def __init__(self, url: str, model: str = "openai/none", embedding: str = "openai/none", token: str | None = None,
                 template: str = "window", proxy: int = 0, upstream: str = "") -> None:  # fmt: skip
        DocumentMemory.__init__(self, template)
        self._wire = Wire(url, token)
        self._model, self._embedding, self._name = model, embedding, own_name()
        self._agents: dict[str, str] = {}
        Counted.__init__(self, None, upstream, proxy)

    def _agent(self, user: str) -> str:
        agent = self._agents.get(user)
        if agent is None:
            body = {"name": f"{self._name}-{len(self._agents)}", "model": self._model, "embedding": self._embedding}
            made = self._wire.call("POST", "/v1/agents/", {**body, "memory_blocks": []})
            agent = self._agents[user] = str(_field(made, "id", "an agent"))
        return agent

    def _add(self, user: str, document: Document) -> str:
        body = {"text": document.text, "created_at": instant_of(document.known_ns),
                "tags": [f"event:{document.entry.event.id}"]}  # fmt: skip
        made = self._wire.call("POST", f"/v1/agents/{self._agent(user)}/archival-memory", body)
        self.written()
        first = made[0] if isinstance(made, list) and made else None
        return str(_field(first, "id", "a passage"))

    def _remove(self, user: str, document: Document) -> None:
        self._wire.call("DELETE", f"/v1/agents/{self._agent(user)}/archival-memory/{document.handle}")

    def _search(self, user: str, text: str, n: int, now_ns: int) -> Sequence[tuple[str, float]]:
        # "before" the date: a microsecond later, so that what became known just now counts
        query = {"query": text, "top_k": n, "end_datetime": instant_of(now_ns + 1_000)}
        said = self._wire.call("GET", f"/v1/agents/{self._agent(user)}/archival-memory/search", query=query)
        found = []
        for place, hit in enumerate(_field(said, "results", "a search")):
            tags = hit.get("tags") or [] if isinstance(hit, Mapping) else []
            ids = [tag.removeprefix("event:") for tag in tags if str(tag).startswith("event:")]
            found += [(one, 1.0 / (place + 1)) for one in ids]  # it tells an order and no scores
        return found

    def close(self) -> None:
        """Delete its agents on the server, with all that they hold."""
        try:
            for agent in self._agents.values():
                self._wire.call("DELETE", f"/v1/agents/{agent}")
        finally:
            self._agents.clear()
            self._wire.close()
            super().close()


def _field(said: Any, name: str, what: str) -> Any:
    if not isinstance(said, Mapping) or name not in said:
        raise ServerError(f"the Letta server's answer on {what} has no '{name}': is it another version?")
    return said[name]
