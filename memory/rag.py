"""``rag``: one document for each past event; the nearest by cosine (ProAgentBench, Appendix C)."""

from __future__ import annotations

from memory.base import memories
from memory.embed import HashEmbedder, Rows, vectors
from memory.index import Index
from memory.past import Entry, Remembered
from memory.wording import estimate_tokens, event_words, label_words
from simulator.core.protocols import Embedder
from simulator.core.types import MemoryItem, Query

__all__ = ["RagMemory"]

_DOCUMENTS = ("labelled", "help", "all")
_TEMPLATES = ("paper", "window")


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
    """

    def __init__(self, documents: str = "labelled", template: str = "window", embedder: Embedder | None = None) -> None:
        super().__init__()
        if documents not in _DOCUMENTS:
            raise ValueError(f"documents must be one of {', '.join(_DOCUMENTS)}")
        if template not in _TEMPLATES:
            raise ValueError(f"template must be one of {', '.join(_TEMPLATES)}")
        self._documents, self._template = documents, template
        self._embedder: Embedder = embedder or HashEmbedder()
        self._users: dict[str, _Shelf] = {}

    @property
    def embedder(self) -> str:
        """Identity of the embedder, for the result."""
        return self._embedder.identity

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """The k nearest documents known by then; ties go to the newer one. Nothing in common is not recalled."""
        shelf = self._users.get(query.user)
        if shelf is None:
            return self._answer([], k, token_budget)
        asked = query.text if query.text is not None else _document(query.app, query.title)
        rows, norms = vectors(self._embedder, [asked])
        # With a budget, shorter documents may have to stand in for longer ones: look a little further.
        wide = k if token_budget is None else 3 * k
        near = shelf.index.nearest(rows[0], float(norms[0]), wide, query.now_ns)
        return self._answer([_item(shelf.entries[p], score) for p, score in near], k, token_budget)

    def _observe(self, entry: Entry) -> None:
        if self._documents == "all":
            self._write(entry)

    def _feedback(self, entry: Entry) -> None:
        if entry.label is not None and (self._documents != "help" or entry.label.help):
            self._write(entry)

    def _clear(self, user: str) -> None:
        self._users.pop(user, None)

    def _write(self, entry: Entry) -> None:
        event, label = entry.event, entry.label
        if event.assistance and self._documents != "all":
            return  # the need arose in the event before it, and is told there
        truth = None
        if self._template == "paper" and label is not None:
            truth = label.intention if label.help else "no help needed"
        rows, norms = vectors(self._embedder, [_document(event.app, event.title, truth)])
        shelf = self._users.setdefault(event.user, _Shelf(Index(rows.shape[1])))
        shelf.put(Entry(event, label), rows[0], float(norms[0]))


class _Shelf:
    """One user's documents."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.entries: list[Entry] = []
        self._places: dict[str, int] = {}

    def put(self, entry: Entry, row: Rows, norm: float) -> None:
        """Add a document, or put it in the place of the same event's earlier one."""
        place = self._places.get(entry.event.id)
        if place is None:
            self._places[entry.event.id] = self.index.add(row, norm, entry.known_ns)
            self.entries.append(entry)
        else:
            self.index.replace(place, row, norm, entry.known_ns)
            self.entries[place] = entry


def _document(*parts: str | None) -> str:
    return " | ".join(p or "" for p in parts)


def _item(entry: Entry, score: float) -> MemoryItem:
    event, label = entry.event, entry.label
    known = "the user was working with an assistant" if event.assistance else label_words(label)
    text = f"In {event_words(event)}: {known}"
    return MemoryItem(
        text=text,
        score=score,
        source_event_ids=(event.id,),
        latest_source_ns=entry.known_ns,
        intention=None if label is None else label.intention,
        help=None if label is None else float(label.help),
        query=None if label is None else label.query,
        tokens=estimate_tokens(text),
    )
