"""``mem0``: the memory layer of mem0.ai (Apache-2.0), in this process, offline: extra ``mem0``.

Facts are stored as they are (``infer=False``): an embedding a write, no model. With ``infer=true`` a model of yours
reads each event, with what was stored before, and what it writes of it is stored and told. A collection of its local
Qdrant for each user, since its filter on users is soft; ids and instants go along as metadata and come back with each
hit. Its telemetry is off before it is imported, and its embeddings are ours, through the counting proxy.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from memory.adapters.counted import Counted
from memory.adapters.documents import Document, DocumentMemory
from memory.base import memories
from memory.wording import estimate_tokens, one_line
from simulator.core.errors import UsageError
from simulator.core.extras import install_extra
from simulator.core.protocols import Embedder
from simulator.core.types import MemoryItem

__all__ = ["Mem0Memory"]


@memories.register("mem0")
class Mem0Memory(Counted, DocumentMemory):
    """mem0 as a memory.

    Args:
        template: what of an event is stored as its text: ``window`` or ``fact``, see ``DocumentMemory``. Where a model
            reads it, that is always the fact: else it would not know what was needed.
        infer: have a model write the memories: a call to it and some embeddings an event.
        upstream: base URL of that model's server, such as http://127.0.0.1:8000/v1.
        model: its name there.
        proxy: port of the counting proxy, 0 for a free one.
        embedder: the embedder that every memory of a comparison shares.
    """

    def __init__(self, template: str = "window", infer: bool = False, upstream: str = "", model: str = "none",
                 proxy: int = 0, embedder: Embedder | None = None) -> None:  # fmt: skip
        if infer and not upstream:
            raise UsageError("memory mem0: with infer=true a model writes the memories: name its server with "
                             "upstream=http://127.0.0.1:8000/v1, and model=NAME")  # fmt: skip
        DocumentMemory.__init__(self, "fact" if infer else template)
        self._infer, self._model, self._facts = infer, model, Counter[str]()
        self._wrote: dict[str, str] = {}  # by id of the event, what a model wrote of it that was found last
        # What a model carried over from an event into facts of later ones outlives it, and a correction of it.
        self.capabilities = {**self.capabilities, "llm_per_write": infer, "mutates_past": infer}
        self._folder = tempfile.mkdtemp(prefix="proact-mem0-")
        try:
            self._library = _library(self._folder)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        Counted.__init__(self, embedder, upstream, proxy)
        self._stores: dict[str, Any] = {}

    def _store(self, user: str) -> Any:
        store = self._stores.get(user)
        if store is None:
            name = sha256(user.encode("utf-8", "surrogatepass")).hexdigest()[:24]
            d, url = self.embedder.dimension, self.proxy.url
            config = {
                "vector_store": {"provider": "qdrant", "config": {
                    "collection_name": name, "path": f"{self._folder}/{name}", "embedding_model_dims": d}},
                "embedder": {"provider": "openai", "config": {
                    "model": self.embedder.identity, "api_key": "none", "openai_base_url": url, "embedding_dims": d}},
                "llm": {"provider": "openai", "config": {
                    "model": self._model, "api_key": "none", "openai_base_url": url, "temperature": 0.0}},
                "history_db_path": f"{self._folder}/{name}.db",
            }  # fmt: skip
            store = self._stores[user] = self._library.Memory.from_config(config)
        return store

    def _add(self, user: str, document: Document) -> list[str]:
        known = -(-document.known_ns // 1_000)  # µs, rounded up: whole numbers that its filter holds exactly
        metadata = {"event": document.entry.event.id, "known_us": known}
        added = self._store(user).add(document.text, user_id="user", metadata=metadata, infer=self._infer)["results"]
        self.written()
        self._facts["facts"] += len(added)
        self._facts["events_without_facts"] += not added
        return [str(one["id"]) for one in added]

    def _remove(self, user: str, document: Document) -> None:
        for handle in document.handle:
            self._store(user).delete(handle)

    def _search(self, user: str, text: str, n: int, now_ns: int) -> Sequence[tuple[str, float]]:
        filters = {"user_id": "user", "known_us": {"lte": now_ns // 1_000}}
        # Rounded: the sixth place differs from call to call, for the same texts.
        hits = self._store(user).search(text, top_k=n, filters=filters, threshold=0.0)["results"]
        found: dict[str, float] = {}
        for hit in hits:
            event, score = str(hit["metadata"]["event"]), round(float(hit["score"]), 5)
            if score > found.get(event, -1.0):  # a model may have written several facts of an event: the best speaks
                found[event], self._wrote[event] = score, str(hit["memory"])
        return list(found.items())

    def _item(self, document: Document, score: float) -> MemoryItem:
        item = super()._item(document, score)
        if not self._infer:
            return item
        text = one_line(self._wrote[document.entry.event.id], 300)
        return replace(item, text=text, tokens=estimate_tokens(text))

    def stats(self) -> dict[str, Any]:
        """As every adapter's, and the bytes of its databases."""
        files = [file.stat().st_size for file in Path(self._folder).rglob("*") if file.is_file()]
        return {**super().stats(), "bytes": sum(files), **(self._facts if self._infer else {})}

    def close(self) -> None:
        """Close its databases and connections, which it leaves to whoever made it, and remove what it stored."""
        for store in self._stores.values():
            store.close()
            for part in (store.vector_store, store.embedding_model, store.llm):
                client = getattr(part, "client", None)
                if client is not None:
                    client.close()
        self._stores.clear()
        super().close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _library(folder: str) -> Any:
    """The module, imported with its telemetry off: it reads the environment once, on import."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ.setdefault("MEM0_DIR", f"{folder}/config")  # else it makes ~/.mem0
    logging.getLogger("mem0").setLevel(logging.ERROR)  # it tells at length which extras it does without
    try:
        mem0, telemetry = import_module("mem0"), import_module("mem0.memory.telemetry")
    except ImportError as error:
        raise UsageError(
            f"memory mem0 needs the package mem0ai, which is not installed: {install_extra('mem0')}"
        ) from error
    if telemetry.MEM0_TELEMETRY:
        raise UsageError("memory mem0: mem0 was imported before with its telemetry on; set MEM0_TELEMETRY=False")
    return mem0
