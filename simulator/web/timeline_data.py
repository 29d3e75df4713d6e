"""What the replay timeline shows of one unit of a run: its decisions, and how the scorer counted offers and needs.

Classes and sentences are the scorer's own (``scorers.explaining``): the page draws them and decides nothing. Instants
are seconds of the session, to the microsecond.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scorers.base import Unit
from scorers.explaining import Told
from scorers.feedback import Feedback, last_words
from scorers.interrupted import truth_as_played
from simulator.core.errors import UsageError, quote
from simulator.core.intentions import key
from simulator.runs.records import Kind, LoggedOffer
from simulator.runs.runlog import flag_names
from simulator.web.clipping import clip
from simulator.web.timeline_log import LONG, decisions, failed, needed, stages, write
from simulator.web.timeline_threads import intent_of, threads
from simulator.web.timeline_times import seconds_of

__all__ = ["MARKS", "UnitView"]

MARKS = {
    "on_time": "hit",
    "redundant": "redundant",
    "stale": "late",
    "early": "early",
    "wrong_content": "wrong",
    "false_alarm": "false_alarm",
    "held_back": "held_back",
}
"""How each class of the scorer is drawn; a class that is not here is drawn by its own name."""

_FINE = frozenset({"on_time", "held_back", "served", "unservable", "not_played", "still_open", "true_positive",
                   "true_negative", "not_asked", "matched", "merged"})  # fmt: skip
"""Classes that are no mistake: neither an offer that counts against the agent, nor a need that went unserved."""

_SHOWN = ("session", "user", "agent", "memory", "memory_mode", "protocol", "policy", "clock", "latency",
          "latency_source", "gate", "ocr", "seed", "segmentation", "model", "strategy", "sees_truth")  # fmt: skip


@dataclass(frozen=True, slots=True)
class UnitView:
    """One unit of a run, read and explained.

    Attributes:
        told: ``scorers.explaining`` of it; empty where nothing is known of what was needed.
        matcher: what made content right; notes: what a reader has to know, in sentences.
        figures: metric to value, of this unit alone.
        going_on: the run is being played; needs that are not over yet are neither served nor missed.
        said: what people said of its offers; None where nobody was asked.
        invalid: why the harness's own audit says that no figure of it is to be used.
    """

    run: Path
    key: str
    status: str
    unit: Unit
    gate: str
    matcher: str
    told: Sequence[Told]
    notes: Sequence[str]
    figures: Mapping[str, float | None]
    going_on: bool = False
    said: Sequence[Feedback] | None = None
    invalid: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """All that lanes and lists are drawn from."""
        log, whole = self.unit.log, self.unit.truth
        last = int(log.actionable_ns.max()) if len(log) else 0  # of a live run that goes on, no end is known yet
        end_ns = whole.end_ns or last
        played_ns = truth_as_played(log, whole).end_ns or last
        return {
            "name": self.run.name,
            "unit": self.key,
            "status": self.status,
            "complete": log.complete,
            "torn": log.torn,
            "header": {k: log.header[k] for k in _SHOWN if log.header.get(k) is not None},
            "gate": self.gate,
            "matcher": self.matcher,
            "notes": list(self.notes),
            "invalid": list(self.invalid),
            "figures": dict(self.figures),
            "end_s": seconds_of(end_ns),
            "played_s": seconds_of(played_ns),
            "period_s": seconds_of(whole.period_ns),
            "never_seen": None if log.end is None else log.end.get("never_seen"),
            "failed": failed(log),
            "answers": self._answers(),
            "truth": needed(whole),
            "decisions": decisions(log),
            "stages": stages(log),
            "writes": [write(w) for w in log.writes],
            "offers": self._offers(),
            "needs": [self._need(t) for t in self.told if t.what == "need"],
            "moments": [self._moment(t) for t in self.told if t.what == "moment"],
            "intents": [_plainly(t) for t in self.told if t.what in ("intent", "prediction", "sample")],
            "threads": threads(log, self._intent_classes()) if log.header["protocol"] == "trajectory" else [],
        }

    def decision(self, seq: int) -> dict[str, Any]:
        """One decision whole: its record as the log holds it, and why its offers were counted as they were.

        Raises:
            UsageError: there is none of this number.
        """
        log = self.unit.log
        row = int(np.searchsorted(log.seq, seq))
        if row == len(log) or int(log.seq[row]) != seq:
            raise UsageError(f"unit {quote(self.key)} has no decision {seq}")
        kind = Kind(int(log.kind[row])).name.lower()
        columns = ("snapshot", "captured_ns", "content_ns", "released_ns", "started_ns", "actionable_ns",
                   "dropped_before")  # fmt: skip
        plain = {"kind": kind, "seq": seq, **{c: int(getattr(log, c)[row]) for c in columns}}
        if flags := flag_names(int(log.flags[row])):
            plain["flags"] = flags
        return {
            "record": dict(log.full.get(seq, plain)),
            "folded": seq not in log.full,
            "why": [_plainly(t) for t in self.told if t.what == "offer" and t.facts["seq"] == seq],
        }

    def words(self) -> list[tuple[float, str, str]]:
        """What can be searched: second, kind and text of each offer and need."""
        found = [(seconds_of(o.captured_ns), "offer", f"{o.intention} {o.text}") for o in self.unit.log.offers()]
        needs = self.unit.truth.opportunities
        return found + [(seconds_of(n.opens_ns), "need", f"{n.id} {n.intention} {n.query or ''}") for n in needs]

    def _offers(self) -> list[dict[str, Any]]:
        """Each delivered offer with its class, None where nothing was classified."""
        said = [t for t in self.told if t.what == "offer"]
        offers = self.unit.log.offers()
        classes: Sequence[Told | None] = said if len(said) == len(offers) else [None] * len(offers)
        intents = self._intent_classes()
        return [
            _offer(offer, told, intents.get(intent_of(offer.thread, offer.intention, offer.text)))
            for offer, told in zip(offers, classes, strict=True)
        ]

    def _answers(self) -> list[dict[str, Any]] | None:
        """The last that each person said of an offer, as it counts in the scores, in order of time; what nobody dated
        stands where the offer arrived.
        """
        if self.said is None:
            return None
        offers = self.unit.log.offers()
        named = {(o.seq, key(o.intention)): o for o in reversed(offers)}
        last, _ = last_words(offers, self.said)
        found = [
            {
                "seq": seq,
                "said": one.said,
                "by": by,
                "intention": named[seq, intention].intention,
                "dated": one.t_s is not None,
                "t_s": seconds_of(named[seq, intention].actionable_ns) if one.t_s is None else one.t_s,
            }
            for (seq, intention, by), one in last.items()
        ]
        return sorted(found, key=lambda one: one["t_s"])

    def _intent_classes(self) -> dict[tuple[str, ...], str]:
        """Of a trajectory, the class of each predicted intent; what was not taken back goes before what was, and what
        others were counted with before those.
        """
        said = [t for t in self.told if t.what == "prediction"]
        said.sort(key=lambda t: (t.facts["set"] == "retained", t.verdict != "merged"))
        found = {}
        for told in said:
            facts = told.facts
            names = facts.get("threads") or [facts["thread"]]
            found.update({intent_of(name, facts["intention"], facts["text"]): told.verdict for name in names})
        return found

    def _need(self, told: Told) -> dict[str, Any]:
        facts = told.facts
        return {
            **_plainly(told),
            "opens_s": seconds_of(facts["opens_ns"]),
            "closes_s": seconds_of(facts["closes_ns"]),
            "served_by": facts["served_by"],
        }

    def _moment(self, told: Told) -> dict[str, Any]:
        t_ns, log = told.facts["t_ns"], self.unit.log
        near = int(np.searchsorted(log.captured_ns, t_ns, side="right")) - 1  # moments are asked one after the other
        asked = near >= 0 and told.verdict != "not_asked"
        return {**_plainly(told), "t_s": seconds_of(t_ns), "positive": told.facts["positive"],
                "seq": int(log.seq[near]) if asked else None}  # fmt: skip


def _offer(offer: LoggedOffer, told: Told | None, intent: str | None) -> dict[str, Any]:
    verdict = intent if told is None else told.verdict
    return {
        "id": str(offer.seq) if told is None else told.id,
        "seq": offer.seq,
        "captured_s": seconds_of(offer.captured_ns),
        "arrived_s": seconds_of(offer.actionable_ns),
        "intention": offer.intention,
        "text": ""
        if verdict == "held_back"
        else clip(offer.text, LONG),  # thousands of the same, none of which was shown
        "confidence": offer.confidence,
        "class": verdict,
        "mark": "offer" if verdict is None else MARKS.get(verdict, verdict),
        "need": None if told is None else told.facts["opportunity"],
        "error": verdict is not None and verdict not in _FINE,
    }


def _plainly(told: Told) -> dict[str, Any]:
    return {"id": told.id, "what": told.what, "class": told.verdict, "title": told.title, "why": list(told.sentences),
            "error": told.verdict not in _FINE}  # fmt: skip
