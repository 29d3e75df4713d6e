"""``graphiti:URL``: the temporal knowledge graph of Graphiti (Apache-2.0), through its own REST server.

Written against that server's routes (``/messages``, ``/search``, ``/group``) and tried on a stub of ours; it never ran
against a real server, which needs a graph database and a model that reads every event. Its facts are sentences that the
model made: they name no events, so an agent reads them as texts, and nothing tells whether they mix in what came later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from memory.adapters.counted import Counted
from memory.adapters.letta import instant_of
from memory.adapters.wire import ServerError, Wire, own_name
from memory.base import memories
from memory.items import entry_item
from memory.past import Entry
from memory.wording import estimate_tokens, event_words, one_line, render_lines, within_budget
from simulator.core.types import Event, Label, MemoryItem, Query

__all__ = ["GraphitiMemory"]


@memories.register("graphiti")
class GraphitiMemory(Counted):
    """Facts of a Graphiti server as a memory.

    Args:
        url: of the server, such as http://127.0.0.1:8000.
        token: name of the environment variable that holds a token.
        proxy: port of the counting proxy, which the server is to have as its OPENAI_BASE_URL; 0 takes a free one.
        upstream: the model server behind that proxy.
    """

    capabilities: Mapping[str, Any] = {
        "as_of": "stream_order_only",
        "isolation": "collection",
        "mutates_past": True,
        "llm_per_write": True,
    }

    heading = "What is known of the user:"

    def __init__(self, url: str, token: str | None = None, proxy: int = 0, upstream: str = "") -> None:
        self._wire, self._name = Wire(url, token), own_name()
        self._told: dict[str, dict[str, Label]] = {}
        Counted.__init__(self, None, upstream, proxy)

    def observe(self, event: Event) -> None:
        """Nothing yet: what was needed is not known."""

    def feedback(self, event: Event, label: Label) -> None:
        """Send the event with what became known of it as an episode; one that was sent already is not sent again."""
        told = self._told.setdefault(event.user, {})
        if event.assistance or told.get(event.id) == label:
            return
        entry = Entry(event, label)
        message = {
            "content": entry_item(entry, 0.0).text,
            "name": event.id,
            "role_type": "user",
            "role": "user",
            "timestamp": instant_of(entry.known_ns),
            "source_description": "a window that the user worked in",
        }
        self._wire.call("POST", "/messages", {"group_id": self._group(event.user), "messages": [message]})
        told[event.id] = label
        self.written()

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """Its facts in its own order; those that it holds for valid only later are left out."""
        if k < 1 or query.user not in self._told:
            return []
        words = query.text or event_words(Event("", query.user, 0, 0, query.app, query.title))
        asked = {"group_ids": [self._group(query.user)], "query": one_line(words, 500), "max_facts": max(2 * k, 10)}
        said = self._wire.call("POST", "/search", asked)
        facts = said.get("facts") if isinstance(said, Mapping) else None
        if not isinstance(facts, list):
            raise ServerError("the Graphiti server's answer to /search has no list 'facts': is it another version?")
        now = datetime.fromisoformat(instant_of(query.now_ns))
        items = []
        for place, fact in enumerate(facts):
            valid, text = _date(fact.get("valid_at")), one_line(str(fact.get("fact") or ""), 500)
            if text and (valid is None or valid <= now):
                items.append(MemoryItem(text, 1.0 / (place + 1), tokens=estimate_tokens(text)))
        return within_budget(items, k, token_budget, self.heading)[0]

    def render(self, items: Sequence[MemoryItem]) -> str:
        """One line a fact."""
        return render_lines(items, self.heading)

    def close(self) -> None:
        """Delete what was sent."""
        try:
            for user in self._told:
                self._wire.call("DELETE", f"/group/{self._group(user)}")
        finally:
            self._told.clear()
            self._wire.close()
            super().close()

    def _group(self, user: str) -> str:
        return f"{self._name}-{sha256(user.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _date(text: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
