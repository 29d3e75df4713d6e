"""What recalled memory items say about the need for help: how often, for what, and what the user asked then.

Three ways, tried in this order for each item, so that any memory will do:

1. the item's own fields, where the memory knows labels;
2. the labels of the item's source events, which the view knows;
3. a vote of the labelled events whose window reads most like the item's text.

An item that is ``neutral`` is read in none of them: the names of windows in its words are no moments like this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.base import HashEmbedder, Index
from simulator.core.types import Event, Label, MemoryItem

__all__ = ["Evidence", "LabelReader", "weigh"]

_VOTES = 3
_LEAST_COSINE = 0.3
"""Below it a labelled event is about something else than the item."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What all items say together.

    Attributes:
        share: weighted mean share of moments like this one in which help was needed, 0-1.
        intention: the need with the most weight, None if none is known.
        query: the nearest earlier question for that intention, else the nearest one at all.
        n_items: how many items said something.
    """

    share: float
    intention: str | None
    query: str | None
    n_items: int


@dataclass(frozen=True, slots=True)
class _Said:
    """What one item says."""

    help: float
    intention: str | None
    query: str | None


class LabelReader:
    """The labels known so far, by event and by likeness of text; read on as they become known."""

    def __init__(self) -> None:
        self._embedder = HashEmbedder()
        self._labels: dict[str, Label] = {}
        self._known: list[tuple[Event, Label]] = []
        self._index = Index(self._embedder.dimension)

    def read(self, labels: Sequence[tuple[Event, Label]]) -> None:
        """Take in what is new; ``labels`` only ever grows at its end."""
        for n in range(len(self._known), len(labels)):
            event, label = labels[n]
            self._known.append((event, label))
            self._labels[event.id] = label

    def of_sources(self, event_ids: Sequence[str]) -> _Said | None:
        """The labels of these events together."""
        return _together([(self._labels[i], 1.0) for i in event_ids if i in self._labels])

    def by_vote(self, text: str) -> _Said | None:
        """The labels of the windows that read most like a text, weighted by likeness."""
        for event, _ in self._known[len(self._index) :]:
            row, norm = self._embedder.counts(f"{event.app or ''} {event.title or ''}")
            self._index.add(row, norm, 0)
        row, norm = self._embedder.counts(text)
        near = self._index.nearest(row, norm, _VOTES, 0)
        return _together([(self._known[place][1], cosine) for place, cosine in near if cosine >= _LEAST_COSINE])


def weigh(items: Sequence[MemoryItem], labels: LabelReader) -> Evidence | None:
    """The evidence of all items, weighted by their scores; None if none of them says anything.

    Scores of foreign memories may be distances or anything else: where they do not all lie in (0, 1], an item weighs
    1 / its rank instead. Of combined memories each that says anything has one voice, however many items it gave and
    whatever scale its scores have: what it says is weighed first, then all voices count the same.
    """
    by_memory: dict[str | None, list[MemoryItem]] = {}
    for item in items:
        by_memory.setdefault(item.memory, []).append(item)
    voices = [voice for told in by_memory.values() if (voice := _voice(told, labels))]
    if not voices:
        return None
    said = voices[0] if len(voices) == 1 else [pair for voice in voices for pair in _of_weight_one(voice)]
    needs: dict[str, float] = {}
    for one, weight in said:
        if one.intention is not None and one.help > 0:
            needs[one.intention] = needs.get(one.intention, 0.0) + weight * one.help
    intention = min(needs, key=lambda c: (-needs[c], c)) if needs else None
    asked = [one for one, _ in said if one.query]
    asked.sort(key=lambda one: one.intention != intention)  # stable: nearest first within each part
    share = sum(weight * one.help for one, weight in said) / sum(weight for _, weight in said)
    return Evidence(min(share, 1.0), intention, asked[0].query if asked else None, len(said))


def _voice(items: Sequence[MemoryItem], labels: LabelReader) -> list[tuple[_Said, float]]:
    """What the items of one memory say, each with its weight."""
    by_score = all(0 < item.score <= 1 for item in items)
    said: list[tuple[_Said, float]] = []
    for rank, item in enumerate(items, 1):
        one = _read(item, labels)
        if one is not None:
            said.append((one, item.score if by_score else 1 / rank))
    return said


def _of_weight_one(said: list[tuple[_Said, float]]) -> list[tuple[_Said, float]]:
    whole = sum(weight for _, weight in said)
    return [(one, weight / whole) for one, weight in said]


def _read(item: MemoryItem, labels: LabelReader) -> _Said | None:
    if item.neutral:
        return None
    if item.help is not None:
        return _Said(item.help, item.intention, item.query)
    return labels.of_sources(item.source_event_ids) or labels.by_vote(item.text)


def _together(labels: Sequence[tuple[Label, float]]) -> _Said | None:
    if not labels:
        return None
    needs: dict[str, float] = {}
    for label, weight in labels:
        if label.help and label.intention is not None:
            needs[label.intention] = needs.get(label.intention, 0.0) + weight
    intention = min(needs, key=lambda c: (-needs[c], c)) if needs else None
    query = next((lb.query for lb, _ in labels if lb.query and lb.intention == intention), None)
    helped = sum(weight for label, weight in labels if label.help)
    return _Said(helped / sum(weight for _, weight in labels), intention, query)
