"""What the replay timeline shows of one unit of a run: its decisions, and how the scorer counted offers and needs.

Classes and sentences are the scorer's own (``scorers.explaining``): the page draws them and decides nothing. Instants
are seconds of the session, to the microsecond.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from scorers.base import Context, Unit, score_run
from scorers.explaining import Told, explain_unit, seconds
from scorers.feedback import FILE as FEEDBACK
from scorers.feedback import Feedback
from scorers.feedback import read as read_feedback
from scorers.interrupted import played_until, truth_as_played
from simulator.core.errors import InputError, UsageError, quote
from simulator.core.types import SECOND
from simulator.play.kept import read_scores
from simulator.play.whereabouts import told_since
from simulator.runs.folder import read_run, read_unit
from simulator.runs.gate import Gate
from simulator.runs.records import Ints, Kind, LoggedOffer, RunLog
from simulator.runs.runlog import flag_names
from simulator.session.truth import Truth
from simulator.web.timeline_threads import intent_of, threads
from simulator.web.timeline_times import seconds_of

__all__ = ["MARKS", "UnitView", "open_unit"]

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
_FIGURES = {
    "stream": ("F1_rt", "P_rt", "R_rt", "scheduled_latency@p50", "scheduled_latency@p95", "false_alarms_per_hour"),
    "moments": ("accuracy", "F1", "intention_accuracy", "scheduled_latency@p50", "scheduled_latency@p95"),
    "trajectory": ("S_final", "P", "R", "scheduled_latency@p50", "scheduled_latency@p95"),
}
_LONG = 400  # characters of a text that the list of offers carries; the whole is in the decision
_FAILED = (Kind.ERROR, Kind.UNPARSED)
_NO_TRUTH = "Nothing is known of what was needed here, so nothing was classified: offers are drawn as they came."
_NOT_YET = "The run goes on: it was not asked yet."
_SINCE = ("What was needed was told after the run was played, in {where}: it counts here, as with `proact score "
          "--truth`; the figures that the run keeps know nothing of it.")  # fmt: skip


@dataclass(frozen=True, slots=True)
class UnitView:
    """One unit of a run, read and explained.

    Attributes:
        told: ``scorers.explaining`` of it; empty where nothing is known of what was needed.
        matcher: what made content right; notes: what a reader has to know, in sentences.
        figures: metric to value, of this unit alone.
        going_on: the run is being played; needs that are not over yet are neither served nor missed.
        said: what people said of its offers; None where nobody was asked.
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
            "figures": dict(self.figures),
            "end_s": seconds_of(end_ns),
            "played_s": seconds_of(played_ns),
            "period_s": seconds_of(whole.period_ns),
            "never_seen": None if log.end is None else log.end.get("never_seen"),
            "failed": _failed(log),
            "answers": self._answers(),
            "truth": _truth(whole),
            "decisions": self._decisions(),
            "stages": self._stages(),
            "writes": [_write(w) for w in log.writes],
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

    def _decisions(self) -> dict[str, Any]:
        log = self.unit.log
        stamps = {c: getattr(log, f"{c}_ns") for c in ("captured", "content", "released", "started", "actionable")}
        return {
            "seq": log.seq.tolist(),
            "snapshot": log.snapshot.tolist(),
            "kind": log.kind.tolist(),
            "kinds": [kind.name.lower() for kind in Kind],
            "flags": log.flags.tolist(),
            "dropped": log.dropped_before.tolist(),
            **{f"{name}_s": _seconds(column) for name, column in stamps.items()},
        }

    def _stages(self) -> dict[str, dict[str, list[Any]]]:
        """By stage, the rows of the decisions that report it, and how long it took, in seconds."""
        log, found = self.unit.log, dict[str, dict[str, list[Any]]]()
        row_of = {int(seq): row for row, seq in enumerate(log.seq.tolist())}
        for seq, record in log.full.items():
            for name, ns in record.get("stages_ns", {}).items():
                column = found.setdefault(name, {"row": [], "s": []})
                column["row"].append(row_of[seq])
                column["s"].append(seconds_of(ns))
        return found

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
        """What people said of offers, in order of time; what nobody dated stands where the offer arrived."""
        if self.said is None:
            return None
        arrived = {o.seq: o.actionable_ns for o in reversed(self.unit.log.offers())}
        found = [
            {
                "seq": one.seq,
                "said": one.said,
                "by": one.by,
                "intention": one.intention,
                "dated": one.t_s is not None,
                "t_s": seconds_of(arrived[one.seq]) if one.t_s is None else one.t_s,
            }
            for one in self.said
            if one.seq in arrived
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
        "text": "" if verdict == "held_back" else offer.text[:_LONG],  # thousands of the same, none of which was shown
        "confidence": offer.confidence,
        "class": verdict,
        "mark": "offer" if verdict is None else MARKS.get(verdict, verdict),
        "need": None if told is None else told.facts["opportunity"],
        "error": verdict is not None and verdict not in _FINE,
    }


def open_unit(run: Path, key: str, *, going_on: bool = False) -> UnitView:
    """Read one unit of a run and have the scorer explain it, under the gate and matcher of the run's scores.

    Of a run that knew nothing of what was needed, what its scenario says by now counts, as with ``score --truth``.

    Args:
        run: the run folder.
        key: of the unit.
        going_on: somebody plays into the run now.

    Raises:
        InputError: not a run folder, a unit it has not, or a broken file.
    """
    told = read_run(run)
    if key not in told["resolved"]:
        raise InputError(run, f"has no unit {quote(key)}")
    log, truth = read_unit(run, told, key)
    unit, notes = Unit(key, log, truth), list[str]()
    protocol, scores = str(log.header["protocol"]), read_scores(run)
    if later := not unit.has_truth(protocol):
        if (since := told_since(run, told, key)) is not None:
            unit = replace(unit, truth=since[0])
            notes.append(_SINCE.format(where=since[1]))
        else:
            notes.append(_NO_TRUTH)
    gate = str(log.header["gate"]) if scores is None else str(scores["gate"])
    context = Context(protocol, Gate.parse(gate), None)
    matcher = _matcher(scores, notes)
    found: Sequence[Told] = ()
    judged, going_on = unit, going_on and not log.complete
    if unit.has_truth(protocol):
        ends = going_on and protocol == "stream"  # of which windows must not be cut where the log ends
        found = explain_unit(replace(unit, log=_as_if_over(log)) if ends else unit, context, matcher)
        if ends:
            found, judged = _so_far(unit, found)
        elif going_on:
            found = [replace(t, sentences=(_NOT_YET,)) if t.verdict == "not_asked" else t for t in found]
    kept = None if scores is None or later or going_on else scores["units"].get(key, {}).get("scores")
    figures = kept or score_run([judged], protocol, gate)["scores"]
    chosen = {
        name: figures[name] for name in _FIGURES[protocol] if name in figures and not (going_on and "hour" in name)
    }
    said = read_feedback(run / "units" / key / FEEDBACK)
    return UnitView(run, key, told["status"], unit, gate, matcher, found, notes, chosen, going_on, said)


def _as_if_over(log: RunLog) -> RunLog:
    """The log of a run that goes on, so that windows keep their length: they are not cut where it stands now."""
    never_seen = int(log.dropped_before.sum())
    return replace(log, end={"released": len(log) + never_seen, "never_seen": never_seen})


def _so_far(unit: Unit, told: Sequence[Told]) -> tuple[list[Told], Unit]:
    """What can be said of a run that goes on: needs that are open, or to come, are not missed yet. Also the unit
    without those, of which figures are made.
    """
    until = played_until(unit.log, unit.truth)
    found, waiting = [], set[str]()
    for one in told:
        if one.what == "need" and one.verdict not in ("served", "unservable") and one.facts["closes_ns"] > until:
            opened = one.facts["opens_ns"] < until
            stands = "is still open" if opened else "opens later"
            why = f"The run goes on and has come to {seconds(until)}; this {stands}."
            waiting.add(one.id)
            one = replace(one, verdict="still_open" if opened else "not_played", sentences=(why,))
        found.append(one)
    left = tuple(n for n in unit.truth.opportunities if n.id not in waiting)
    return found, replace(unit, log=_as_if_over(unit.log), truth=replace(unit.truth, opportunities=left))


def _failed(log: RunLog) -> dict[str, Any]:
    """How many decisions failed or could not be read, what each failed one is charged at least, in seconds, and by
    ``seq`` what was said of it.
    """
    timeout = log.header.get("timeout_ns")
    errors, unread = (int((log.kind == kind).sum()) for kind in _FAILED)
    said = {
        str(seq): f"{e['kind']}: {e['text']}"[:_LONG] for seq, record in log.full.items() if (e := record.get("error"))
    }
    charge_s = None if timeout is None else seconds_of(int(timeout))
    return {"errors": errors, "unparsed": unread, "charge_s": charge_s, "said": said}


def _matcher(scores: Mapping[str, Any] | None, notes: list[str]) -> str:
    """What made content right when the run was scored; a judge is not asked again, an embedder not loaded."""
    specs = {} if scores is None else {d["scorer"] for d in scores["details"].values()}
    for spec in sorted(specs):
        _, _, given = spec.partition("matcher=")
        if given and not given.startswith("category"):
            notes.append(f"The kept scores compare content by {quote(given)}; here it is compared by category.")
    return "category"


def _seconds(column: Ints) -> list[float]:
    found: list[float] = np.round(column / SECOND, 6).tolist()
    return found


def _plainly(told: Told) -> dict[str, Any]:
    return {"id": told.id, "what": told.what, "class": told.verdict, "title": told.title, "why": list(told.sentences),
            "error": told.verdict not in _FINE}  # fmt: skip


def _write(record: Mapping[str, Any]) -> dict[str, Any]:
    error = record.get("error")
    return {
        "seq": record["seq"],
        "what": record["what"],
        "event": record["event"],
        "started_s": seconds_of(record["started_ns"]),
        "done_s": seconds_of(record["done_ns"]),
        "error": None if error is None else error.get("kind"),
    }


def _truth(truth: Truth) -> dict[str, Any]:
    return {
        "known": truth.known,
        "rule": truth.rule,
        "needs": [
            {
                "id": n.id,
                "opens_s": seconds_of(n.opens_ns),
                "closes_s": seconds_of(n.closes_ns),
                "acted_s": None if n.acted_ns is None else seconds_of(n.acted_ns),
                "intention": n.intention,
                "query": n.query,
                "weight": n.weight,
                "origin": n.origin,
                "unservable": n.unservable,
            }
            for n in sorted(truth.opportunities, key=lambda n: (n.opens_ns, n.id))
        ],
        "assists": [[seconds_of(a.start_ns), seconds_of(a.end_ns), a.intention] for a in truth.assists],
        "gaps": [[seconds_of(g.start_ns), seconds_of(g.end_ns), g.reason] for g in truth.gaps],
        "acts_s": [seconds_of(t) for t in truth.acts_ns],
    }
