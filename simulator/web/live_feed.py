"""What the page of a live run shows, as plain state: what happens goes in, JSON comes out.

Nothing here knows a server or a clock. ``LiveFeed`` is told of snapshots, decisions, offers and answers as they come,
keeps the last two minutes of them, and hands each change on as an event; ``state`` is all of it at once, for a page
that opens now or has lost the thread. Instants are milliseconds of stream time, as the run log's, only shorter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import isfinite
from threading import RLock
from typing import Any

from simulator.core.types import MS, SECOND, MemoryItem, Offer, Snapshot
from simulator.runs.flights import Flight, charged_ns
from simulator.runs.gate import Gate, Surfacing
from simulator.runs.records import Kind
from simulator.timing.audit import percentile
from simulator.web.clipping import clip

__all__ = ["BUDGET_MS", "STRIP_NS", "LiveFeed", "Shown"]

STRIP_NS = 120 * SECOND
"""How far back the strip reaches."""
BUDGET_MS = 1000
"""Where the line of the latency budget stands: one period of a 1 Hz stream."""
_LATENCIES = 600
_OFFERS = 50
_AT_ONCE = 3  # offers of one decision that are shown: nobody reads more in a second
_MEMORIES = 4
# Characters that are sent of a text: with the numbers above an event stays below what a hub takes, whatever is said.
_LONGEST, _MEMORY, _NAME = 1000, 200, 80

Say = Callable[[str, dict[str, Any]], object]


def _named(text: str | None) -> str | None:
    return None if text is None else clip(text, _NAME)


def _ms(ns: int) -> float:
    return round(ns / MS, 1)


@dataclass(frozen=True, slots=True)
class Shown:
    """An offer that was shown, as somebody may answer it.

    Attributes:
        seq: of its decision, like ``intention``: what names it in ``feedback.jsonl``.
        captured_ns: of the snapshot that it was made on.
        arrived_ns: when it was there to be read.
    """

    seq: int
    intention: str
    captured_ns: int
    arrived_ns: int


class LiveFeed:
    """The state of one page; from any thread.

    Args:
        say: is handed each change, an event's name and its data; called with the state locked, so it must be quick.
        life: a word that no other feed has, so that a page tells what it knows of an earlier one from what it gets.

    Attributes:
        tally: gives what the run itself counts, as of now, to stand beside what is counted here.
    """

    def __init__(self, say: Say = lambda event, data: None, life: str = "0") -> None:
        self._say, self._lock, self._life = say, RLock(), life
        self.tally: Callable[[], Mapping[str, int | None]] = dict
        self._about: dict[str, Any] = {"badge": "LIVE", "phase": "preparing"}
        self._status: dict[str, Any] = {}
        self._rule = Surfacing(Gate())
        self._timeout_ns: int | None = None
        self._n = 0
        self._clear()

    def _clear(self) -> None:
        self._newest: dict[str, Any] | None = None
        self._snapshots: deque[tuple[int, float, str | None]] = deque()
        self._gaps: list[tuple[int, int, str]] = []
        self._decisions: deque[tuple[int, dict[str, Any]]] = deque()
        self._flying: dict[int, dict[str, Any]] = {}
        self._offers: deque[dict[str, Any]] = deque(maxlen=_OFFERS)
        self._shown: dict[str, Shown] = {}
        self._latencies: deque[int] = deque(maxlen=_LATENCIES)
        self._tokens: dict[str, int] = {}
        self._cost: float | None = 0.0
        self._asked_model = False
        self._counts = dict.fromkeys(
            ("decisions", "shown", "offered", "errors", "unparsed", "superseded", "dropped"), 0
        )
        self._fault: dict[str, Any] | None = None
        self._recalled: tuple[int, tuple[MemoryItem, ...]] | None = None
        self._pictures: dict[str, int] = {}

    def begin(self, about: Mapping[str, Any], gate: Gate, timeout_ns: int | None = None) -> None:
        """Another unit is shown from now on.

        Args:
            about: what stands above: ``run`` (a name that no other run of this server has), ``badge`` (LIVE or
                RECORDING), ``notice`` and whatever else the page is to tell.
            gate: what of repeated offers is shown.
            timeout_ns: limit of a decision: a failed one is charged no less, here as in the scores.
        """
        with self._lock:
            self._n += 1
            self._clear()
            self._about = {**about, "part": f"{self._life}-{self._n}", "phase": "preparing"}
            self._rule, self._timeout_ns = Surfacing(gate), timeout_ns
            self._say("live_reset", {"part": self._about["part"]})

    def phase(self, phase: str, why: str | None = None) -> None:
        """``preparing``, ``running`` or ``ended``, and a sentence why."""
        with self._lock:
            if (self._about.get("phase"), self._about.get("why")) != (phase, why):
                self._phase(phase, why, None)

    def lingers(self, until_ms: int) -> None:
        """It has ended, and answers are taken until then: milliseconds since 1970."""
        with self._lock:
            self._phase("ended", self._about.get("why"), until_ms)

    def _phase(self, phase: str, why: str | None, until_ms: int | None) -> None:
        told = {"phase": phase, "why": why, "until_ms": until_ms}
        self._about |= told
        self._say("live_phase", told)

    @property
    def unanswered(self) -> bool:
        """Whether there is a suggestion on the page that nobody has answered."""
        with self._lock:
            return any(offer["said"] is None for offer in self._offers)

    def snapshot(self, snapshot: Snapshot) -> None:
        """A snapshot was released."""
        with self._lock:
            t = snapshot.captured_ns
            image = snapshot.image
            self._newest = {
                "index": snapshot.index,
                "t_ms": _ms(t),
                "app": _named(snapshot.app),
                "title": None if snapshot.title is None else clip(snapshot.title, _LONGEST),
                "held": snapshot.held,
                "picture": None if image is None else image.pixels_hash,
            }
            self._snapshots.append((t, self._newest["t_ms"], self._newest["app"]))
            self._forget(t - STRIP_NS)
            self._say("live_snapshot", self._newest)

    def gaps(self, gaps: Iterable[tuple[int, int, str]]) -> None:
        """All gaps known by now; those of the strip are shown."""
        with self._lock:
            newest = self._snapshots[-1][0] if self._snapshots else 0
            shown = [gap for gap in gaps if gap[1] > newest - STRIP_NS]
            if shown != self._gaps:
                self._gaps = shown
                self._say("live_gaps", {"gaps": self._said_gaps()})

    def departed(self, flight: Flight) -> None:
        """A decision started."""
        with self._lock:
            assert flight.snapshot is not None
            self._counts["dropped"] += flight.dropped
            self._flying[flight.seq] = one = {
                "seq": flight.seq,
                "captured_ms": _ms(flight.snapshot.captured_ns),
                "started_ms": _ms(flight.started_ns),
                "dropped": flight.dropped,
            }
            self._say("live_thinking", one)

    def decided(self, flight: Flight, kind: Kind, ended_ns: int) -> None:
        """A decision ended; its offers go through the gate."""
        answer, snapshot = flight.answer, flight.snapshot
        assert answer is not None
        assert snapshot is not None
        with self._lock:
            if self._flying.pop(flight.seq, None) is None:  # of a world that is held nobody tells departures
                self._counts["dropped"] += flight.dropped
            self._latencies.append(charged_ns(flight, kind, ended_ns, self._timeout_ns))
            self._counts["decisions"] += 1
            self._count(kind, answer.fields)
            row = {
                "seq": flight.seq,
                "captured_ms": _ms(snapshot.captured_ns),
                "started_ms": _ms(flight.started_ns),
                "ended_ms": _ms(ended_ns),
                "kind": kind.name.lower(),
                "dropped": flight.dropped,
                "stages_ms": {k: _ms(v) for k, v in answer.fields.get("stages_ns", {}).items()},
            }
            if (error := answer.fields.get("error")) is not None:
                row["error"] = clip(f"{error['kind']}: {error['text']}", 300)
                self._fault = {"t_ms": row["ended_ms"], "text": row["error"]}
            self._decisions.append((ended_ns, row))
            if kind is Kind.SILENT:
                self._rule.silence()
            if items := _items(flight):
                self._recalled = snapshot.captured_ns, items
            shown: list[dict[str, Any]] = []
            if kind is Kind.OFFER:
                for offer, at in answer.offers:
                    self._counts["offered"] += 1
                    arrival = flight.started_ns + at
                    if self._rule.offer(flight.seq, offer.intention, arrival):
                        self._counts["shown"] += 1
                        if len(shown) < _AT_ONCE:
                            shown.append(self._offered(flight, snapshot, offer, arrival))
            self._say("live_decision", {**row, "offers": shown, **self._figures()})

    def _count(self, kind: Kind, fields: Mapping[str, Any]) -> None:
        name = {Kind.ERROR: "errors", Kind.UNPARSED: "unparsed", Kind.SUPERSEDED: "superseded"}.get(kind)
        if name is not None:
            self._counts[name] += 1
        if str(fields.get("error", {}).get("kind")).startswith("model_"):  # asked, and what that took is not known
            self._asked_model, self._cost = True, None
        if "tokens" in fields:
            self._asked_model = True
            for word, n in fields["tokens"].items():
                self._tokens[word] = self._tokens.get(word, 0) + n
            cost = fields.get("cost")
            self._cost = None if self._cost is None or cost is None else self._cost + cost  # unknown stays unknown

    def _offered(self, flight: Flight, snapshot: Snapshot, offer: Offer, arrival_ns: int) -> dict[str, Any]:
        id_ = f"{self._life}-{self._n}-{flight.seq}-{self._counts['offered']}"
        self._shown[id_] = Shown(flight.seq, offer.intention, snapshot.captured_ns, arrival_ns)
        items, recalled_ns = self._behind(flight)
        picture = None if snapshot.image is None else snapshot.image.pixels_hash
        shown = {
            "id": id_,
            "seq": flight.seq,
            "intention": clip(offer.intention, _NAME),
            "text": clip(offer.text.strip(), _LONGEST),  # what begins with empty lines would be shown as nothing
            "confidence": offer.confidence,
            "t_ms": _ms(arrival_ns),
            "captured_ms": _ms(snapshot.captured_ns),
            "latency_ms": _ms(arrival_ns - snapshot.captured_ns),
            "app": _named(snapshot.app),
            "picture": picture,
            "memories": _memories(items),
            "recalled_ms": None if recalled_ns is None else _ms(recalled_ns),
            "said": None,
        }
        if len(self._offers) == _OFFERS:
            del self._shown[self._offers[0]["id"]]
        self._offers.append(shown)
        return shown

    def _behind(self, flight: Flight) -> tuple[tuple[MemoryItem, ...], int | None]:
        """What memory had told: for this decision or, where an agent kept what it knew, before it; then also when."""
        items = _items(flight)
        if items or self._recalled is None:
            return items, None
        return self._recalled[1], self._recalled[0]

    def said(self, id_: str, said: str | None) -> None:
        """A person answered an offer (``scorers.feedback.SAID``), or took it back (None)."""
        with self._lock:
            for offer in self._offers:
                if offer["id"] == id_:
                    offer["said"] = said
            self._say("live_said", {"id": id_, "said": said})

    def offer(self, id_: str) -> Shown | None:
        """The offer of that id, if it was shown lately, so that somebody may answer it."""
        with self._lock:
            return self._shown.get(id_)

    def status(self, status: Mapping[str, Any]) -> None:
        """How recording and machine are doing; sent each time, as a page takes from it what time it is."""
        with self._lock:
            self._status = dict(status)
            self._say("live_status", self._status)

    def state(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        with self._lock:
            return {
                "about": self._about,
                "budget_ms": BUDGET_MS,
                "strip_ms": STRIP_NS // MS,
                "snapshot": self._newest,
                "snapshots": [[t_ms, app] for _, t_ms, app in self._snapshots],
                "gaps": self._said_gaps(),
                "decisions": [row for _, row in self._decisions],
                "thinking": list(self._flying.values()),
                "offers": [dict(offer) for offer in self._offers],
                "status": self._status,
                **self._figures(),
            }

    def _figures(self) -> dict[str, Any]:
        late = self._latencies
        return {
            "counts": {**self._counts, **self.tally()},
            "fault": self._fault,
            "timeout_ms": None if self._timeout_ns is None else _ms(self._timeout_ns),
            "latency": {f"p{q}_ms": _ms(percentile(late, q)) for q in (50, 95)} | {"n": len(late)} if late else None,
            "tokens": dict(self._tokens) if self._asked_model else None,
            "cost": self._cost if self._asked_model else None,
        }

    def _said_gaps(self) -> list[list[Any]]:
        return [[_ms(start), _ms(end), reason] for start, end, reason in self._gaps]

    def _forget(self, before_ns: int) -> None:
        """Drop what has left the strip."""
        for row in list(takewhile(lambda one: one[0] < before_ns, self._snapshots))[:-1]:  # one more: its app lasts
            assert row is self._snapshots.popleft()
        while self._decisions and self._decisions[0][0] < before_ns:
            self._decisions.popleft()


def _items(flight: Flight) -> tuple[MemoryItem, ...]:
    memory = None if flight.observation is None else flight.observation.memory
    return tuple(getattr(memory, "items", ()))


def _memories(items: Sequence[MemoryItem]) -> list[dict[str, Any]]:
    """What an offer stood on, most telling first, each once."""
    once = {item.text: item for item in reversed(items)}
    best = sorted(once.values(), key=lambda item: -item.score)[:_MEMORIES]
    return [
        {
            "text": clip(item.text, _MEMORY),
            "score": round(float(item.score), 4) if isfinite(item.score) else None,
            "intention": None if item.intention is None else clip(item.intention, _NAME),
            "help": item.help,
            "query": None if item.query is None else clip(item.query, _MEMORY),
            "memory": _named(item.memory),
            "sources": len(item.source_event_ids),
        }
        for item in best
    ]
