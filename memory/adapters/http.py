"""``http:URL``: a memory in another process, in any language, behind a protocol of seven calls.

``GET /proact/memory/health`` and ``POST /proact/memory/open | observe | feedback | recall | forget | close``, each with
a JSON object; docs/memory-adapters.md has every field. Each memory of a run opens one of its own by a name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from memory.adapters.counted import Counted
from memory.adapters.wire import ServerError, Wire, own_name
from memory.base import memories
from memory.wording import PAST, estimate_tokens, render_lines
from simulator.core.types import Event, Label, MemoryItem, Query

__all__ = ["HttpMemory"]

PROTOCOL = 1
_KNOWN = ("as_of", "isolation", "mutates_past", "llm_per_write")


@memories.register("http")
class HttpMemory(Counted):
    """A memory that answers over HTTP.

    Args:
        url: where, such as http://127.0.0.1:8901.
        token: name of the environment variable that holds a token; another machine needs one.
        limit_s: how long one call may take.
        proxy: port of a counting proxy for what the server asks of models (its base URL is then
            http://127.0.0.1:PORT/v1); 0 takes a free one.
        upstream: the model server behind that proxy.
        seed: of the run; the server is told.
    """

    heading = PAST

    def __init__(self, url: str, token: str | None = None, limit_s: float = 30.0, proxy: int = 0, upstream: str = "",
                 seed: int = 0) -> None:  # fmt: skip
        self._wire, self._name = Wire(url, token, limit_s), own_name()
        try:
            health = self._opened(seed)
            Counted.__init__(self, None, upstream, proxy)
        except BaseException:
            self._wire.close()
            raise
        told = health.get("capabilities")
        self.capabilities: Mapping[str, Any] = {
            "as_of": "stream_order_only",
            "isolation": "none",
            "mutates_past": True,
            "llm_per_write": False,
            **({k: told[k] for k in _KNOWN if k in told} if isinstance(told, Mapping) else {}),
        }
        if not health.get("forget", False):
            self.forget = None  # type: ignore[assignment,method-assign]  # it says that it cannot

    def _opened(self, seed: int) -> Mapping[str, Any]:
        """Who answers there, once a memory of our own is open."""
        health = self._wire.call("GET", "/proact/memory/health")
        if not isinstance(health, Mapping) or health.get("protocol") != PROTOCOL:
            raise ServerError(f"what answers there speaks no memory protocol {PROTOCOL}: see docs/memory-adapters.md")
        self._wire.call("POST", "/proact/memory/open", {"id": self._name, "seed": seed})
        return health

    def observe(self, event: Event) -> None:
        """Tell it a closed event."""
        self._post("observe", event=asdict(event))
        self.written()

    def feedback(self, event: Event, label: Label) -> None:
        """Tell it a label."""
        self._post("feedback", event=asdict(event), label=asdict(label))

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """Its items, as it gives them.

        Raises:
            ServerError: an answer without items.
        """
        said = self._post("recall", query=asdict(query), k=k, token_budget=token_budget)
        items = said.get("items") if isinstance(said, Mapping) else None
        if not isinstance(items, list) or not all(isinstance(one, Mapping) for one in items):
            raise ServerError("the memory server's answer to recall has no list 'items' of objects")
        return [_item(one) for one in items]

    def render(self, items: Sequence[MemoryItem]) -> str:
        """One line an item."""
        return render_lines(items, self.heading)

    def forget(self, user: str, start_ns: int, end_ns: int) -> Any:
        """Have it forget a span."""
        return self._post("forget", user=user, start_ns=start_ns, end_ns=end_ns)

    def close(self) -> None:
        """Let it go; the server may drop what it holds."""
        try:
            self._post("close")
        finally:
            self._wire.close()
            super().close()

    def _post(self, call: str, **body: Any) -> Any:
        return self._wire.call("POST", f"/proact/memory/{call}", {"id": self._name, **body})


def _item(said: Mapping[str, Any]) -> MemoryItem:
    """An item out of JSON; what is of another kind than an item has is an error of the server's, told by its name."""
    text = said.get("text")
    if not isinstance(text, str):
        raise ServerError("an item of the memory server has no 'text'")
    numbers: dict[str, Any] = {}
    for name, kinds in (("score", (int, float)), ("help", (int, float)), ("latest_source_ns", (int,))):
        value = said.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, kinds)):
            raise ServerError(f"an item of the memory server has a '{name}' that is no number")
        numbers[name] = value
    words: dict[str, Any] = {}
    for name in ("intention", "query"):
        words[name] = said.get(name)
        if words[name] is not None and not isinstance(words[name], str):
            raise ServerError(f"an item of the memory server has a '{name}' that is no text")
    sources, tokens = said.get("source_event_ids") or [], said.get("tokens")
    if not isinstance(sources, list) or not all(isinstance(one, str) for one in sources):
        raise ServerError("an item of the memory server has 'source_event_ids' that are no list of texts")
    return MemoryItem(
        text=text,
        score=float(numbers["score"] or 0.0),
        source_event_ids=tuple(sources),
        latest_source_ns=numbers["latest_source_ns"],
        intention=words["intention"],
        help=numbers["help"],
        query=words["query"],
        tokens=tokens if type(tokens) is int else estimate_tokens(text),
    )
