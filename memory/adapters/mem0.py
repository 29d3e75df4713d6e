"""``mem0``: the memory layer of mem0.ai (Apache-2.0), in this process, offline: extra ``mem0``.

Facts are stored as they are (``infer=False``): an embedding a write, no model. A collection of its local Qdrant for
each user, since its filter on users is soft; ids and instants go along as metadata and come back with each hit. Its
telemetry is off before it is imported, and its embeddings are ours, through the counting proxy.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from memory.adapters.counted import Counted
from memory.adapters.documents import Document, DocumentMemory
from memory.base import memories
from simulator.core.errors import UsageError
from simulator.core.extras import install_extra
from simulator.core.protocols import Embedder

__all__ = ["Mem0Memory"]


@memories.register("mem0")
class Mem0Memory(Counted, DocumentMemory):
    """mem0 as a memory.

    Args:
        template: what of an event is stored as its text: ``window`` or ``fact``, see ``DocumentMemory``.
        proxy: port of the counting proxy, 0 for a free one.
        embedder: the embedder that every memory of a comparison shares.
    """

    def __init__(self, template: str = "window", proxy: int = 0, embedder: Embedder | None = None) -> None:
        DocumentMemory.__init__(self, template)
        self._folder = tempfile.mkdtemp(prefix="proact-mem0-")
        try:
            self._library = _library(self._folder)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        Counted.__init__(self, embedder, "", proxy)
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
                "llm": {"provider": "openai", "config": {"model": "none", "api_key": "none", "openai_base_url": url}},
                "history_db_path": f"{self._folder}/{name}.db",
            }  # fmt: skip
            store = self._stores[user] = self._library.Memory.from_config(config)
        return store

    def _add(self, user: str, document: Document) -> str:
        known = -(-document.known_ns // 1_000)  # µs, rounded up: whole numbers that its filter holds exactly
        metadata = {"event": document.entry.event.id, "known_us": known}
        added = self._store(user).add(document.text, user_id="user", metadata=metadata, infer=False)
        self.written()
        return str(added["results"][0]["id"])

    def _remove(self, user: str, document: Document) -> None:
        self._store(user).delete(document.handle)

    def _search(self, user: str, text: str, n: int, now_ns: int) -> Sequence[tuple[str, float]]:
        filters = {"user_id": "user", "known_us": {"lte": now_ns // 1_000}}
        # Rounded: the sixth place differs from call to call, for the same texts.
        hits = self._store(user).search(text, top_k=n, filters=filters, threshold=0.0)["results"]
        return [(str(hit["metadata"]["event"]), round(float(hit["score"]), 5)) for hit in hits]

    def stats(self) -> dict[str, Any]:
        """As every adapter's, and the bytes of its databases."""
        files = [file.stat().st_size for file in Path(self._folder).rglob("*") if file.is_file()]
        return {**super().stats(), "bytes": sum(files)}

    def close(self) -> None:
        """Close its databases and remove them."""
        for store in self._stores.values():
            store.close()
            client = getattr(store.vector_store, "client", None)
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
