"""``rag``: one document for each past event; the nearest by cosine (ProAgentBench, Appendix C)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory import hnsw
from memory.base import memories
from memory.embed import HashEmbedder, Rows, vectors
from memory.entry import Entry
from memory.index import EXACT
from memory.items import entry_item
from memory.journal import Journal
from memory.journal_vectors import Kind, StoredShelf, open_shelves, shelved, versions
from memory.past import Remembered
from memory.shelf import Documents, Hit, Shelf
from simulator.core.protocols import Embedder
from simulator.core.traits import trait
from simulator.core.types import MemoryItem, Query

__all__ = ["RagMemory"]

_DOCUMENTS = ("labelled", "help", "all")
_TEMPLATES = ("paper", "window")
_INDEXES = ("auto", "exact", "hnsw")


@memories.register("rag")
class RagMemory(Remembered):
    """A document is made of app, window title and the intention that turned out true; a query of app and title.

    The paper stores "past interactions with ground-truth intent", which leaves two things open; both have a name here.

    Args:
        documents: which events become documents. ``labelled`` (default): those of which it is known whether help was
            needed, also when it was not (else nothing recalled could ever speak against helping). ``help``: only those
            in which help was needed, the narrowest reading. ``all``: every event from its close on; when its label
            becomes known its document is embedded anew.
        template: what of a document is embedded. ``paper``: app, title and intention. ``window`` (default): app and
            title, the intention being told in the text only. With ``paper`` and equal titles, documents with the
            shorter intention always come first, so that five recalled ones say nothing of how often help was needed.
        embedder: any ``Embedder``; the hashing one by default.
        index: ``auto`` (default) scans the user's whole past for each question up to 131,072 different documents, and
            looks through lists of like ones beyond that; ``hnsw`` walks graphs of near ones instead (faiss, an extra);
            ``exact`` always scans all.
        store: a folder with a past that is read and not written, see ``open_store``.
        utc_anchor_ns: the UTC of time 0; for a store whose instants are UTC.
        store_until_ns: with a store, later questions are answered as of this instant (0 in a run with frozen memory).
        header_facts: what the run's header says of it: with a store, that is seen as it was then.
    """

    def __init__(self, documents: str = "labelled", template: str = "window", embedder: Embedder | None = None,
                 index: str = "auto", store: str = "", utc_anchor_ns: int | None = None,
                 store_until_ns: int | None = None,
                 header_facts: Mapping[str, Any] | None = None) -> None:  # fmt: skip
        super().__init__()
        if index not in _INDEXES:
            raise ValueError(f"index must be one of {', '.join(_INDEXES)}")
        if documents not in _DOCUMENTS:
            raise ValueError(f"documents must be one of {', '.join(_DOCUMENTS)}")
        if template not in _TEMPLATES:
            raise ValueError(f"template must be one of {', '.join(_TEMPLATES)}")
        self._documents, self._template = documents, template
        self._embedder: Embedder = embedder or HashEmbedder()
        embedding = trait(self._embedder, "facts", self._embedder.identity)
        facts = {"embedder": embedding, "documents": documents, "template": template}
        if index == "hnsw":
            hnsw.version()  # that faiss is not there is told now
        self._kind = Kind(facts, self.document, self._embed, self._embedder.dimension, EXACT, index)
        self._users: dict[str, Shelf] = {}
        self._shelves: dict[str, StoredShelf] = {}
        self._read_store(store, utc_anchor_ns, store_until_ns, header_facts)

    @classmethod
    def header_facts(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """For a run's header: what a store holds, and who made the graphs, since another version may make others."""
        index = {"index": f"faiss {hnsw.version()}"} if given.get("index") == "hnsw" else {}
        return {**index, **super().header_facts(given)}

    @property
    def embedder(self) -> str:
        """Identity of the embedder, for the result."""
        return self._embedder.identity

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """The k nearest documents known by then; ties go to the newer one. Nothing in common is not recalled."""
        query = self._as_of(query)
        shelves: list[Documents] = [s for s in (self._users.get(query.user), self._shelves.get(query.user)) if s]
        if not shelves:
            return self._answer([], k, token_budget)
        asked = query.text if query.text is not None else _document(query.app, query.title)
        row, norm = self._embed(asked)
        # With a budget, shorter documents may have to stand in for longer ones: look a little further.
        wide = k if token_budget is None else 3 * k
        near: list[tuple[Hit, Documents]] = []
        for shelf in shelves:
            near += [(hit, shelf) for hit in shelf.nearest(row, norm, wide, query.now_ns)]
        near.sort(key=lambda found: found[0], reverse=True)
        items = [entry_item(shelf.entry(hit.version), hit.score) for hit, shelf in near[:wide]]
        return self._answer(items, k, token_budget)

    def stats(self) -> dict[str, int]:
        """As every memory's, and the bytes of its vectors."""
        indexes = [shelf.index for held in (self._users, self._shelves) for shelf in held.values()]
        return {**super().stats(), "bytes": sum(4 * index.dimension * len(index) for index in indexes)}

    async def maintain(self, now_ns: int) -> None:
        """Lay what is large enough into lists, off the path of decisions."""
        for user, shelf in list(self._users.items()):
            if shelf.index.disorder > max(1_000, len(shelf.index) // 20) and user not in self._stored:
                self._replay(user)  # much of it came out of order: put it in order
            else:
                shelf.index.seal()

    def _observe(self, entry: Entry) -> None:
        if self._documents == "all":
            self._write(entry)

    def _feedback(self, entry: Entry) -> None:
        if entry.label is not None and (self._documents != "help" or entry.label.help):
            self._write(entry)

    def _clear(self, user: str) -> None:
        self._users.pop(user, None)
        self._shelves.pop(user, None)

    def _adopt(self, journal: Journal) -> None:
        """The store's documents are read where they lie; what was written since they were made is added here."""
        self._shelves, seq = open_shelves(journal, self._kind)
        for entry in [*journal.labelled(seq, seq), *versions(journal.entries(after=seq))]:
            self._write(entry)

    def _replay(self, *users: str) -> None:
        for user in users:
            self._clear(user)
            shelf = shelved(versions(self._past.get(user, {}).values()), self._kind)
            if shelf.entries:
                self._users[user] = shelf

    def _write(self, entry: Entry) -> None:
        text = self.document(entry)
        if text is None:
            return
        user = entry.event.user
        if entry.label is not None and user in self._shelves:
            self._shelves[user].replaced(entry.n, entry.known_ns)
        shelf = self._users.get(user)
        if shelf is None:
            shelf = self._users[user] = Shelf(self._kind.index())
        shelf.put(text, self._embed, entry)

    def document(self, entry: Entry) -> str | None:
        """What is embedded of an event as it stands; None if it becomes no document."""
        event, label = entry.event, entry.label
        told = label is not None and (self._documents != "help" or label.help)
        # The need arose in the event before one with an assistant, and is told there.
        if self._documents != "all" and (event.assistance or not told):
            return None
        truth = None
        if self._template == "paper" and label is not None:
            truth = label.intention if label.help else "no help needed"
        return _document(event.app, event.title, truth)

    def _embed(self, text: str) -> tuple[Rows, float]:
        rows, norms = vectors(self._embedder, [text])
        return rows[0], float(norms[0])


def _document(*parts: str | None) -> str:
    return " | ".join(p or "" for p in parts)
