"""The moments of a run that tell most about it: one of each kind first, then a second of each, and so on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scorers.base import Unit
from scorers.explaining import Told, explain_unit, seconds
from simulator.play.scoring import Opened
from simulator.report.naming import without_folders
from simulator.runs.records import Ints, Kind, RunLog

__all__ = ["Telling", "telling"]


@dataclass(frozen=True, slots=True)
class Telling:
    """A moment that is worth a look.

    Attributes:
        kind: what it is one of, in words. ``unit``: its key. ``t_ns``: the instant whose screen says most: where an
            offer was made the screen that it rests on, of a need that was missed its opening.
        title: what it is, in one line. ``story``: why it was counted so, from ``scorers.explaining``.
        agent: what the agent wrote, if it did.
    """

    kind: str
    unit: str
    t_ns: int
    title: str
    story: tuple[str, ...]
    agent: str = ""


def telling(opened: Opened, most: int) -> list[Telling]:
    """At most so many, of all units together: the first miss, the worst latency, the most confident false alarm, the
    latest of the late, something wrong, a failure, a hit; then the next of each.
    """
    known = [(u, explain_unit(u, opened.context)) for u in opened.units if u.has_truth(opened.context.protocol)]
    kinds = [
        _missed(known), _slow(opened.units), _offers(known, "false_alarm", "a confident false alarm"),
        _late(known), _offers(known, "wrong_content", "wrong content"), _failed(opened.units),
        _offers(known, "on_time", "a hit"), _moments(known, "false_positive", "a false alarm"),
        _moments(known, "true_positive", "a hit"),
    ]  # fmt: skip
    found: dict[tuple[str, int], Telling] = {}
    for turn in range(max(map(len, kinds), default=0)):
        for of_kind in kinds:
            if turn < len(of_kind) and len(found) < most:
                one = of_kind[turn]
                found.setdefault((one.unit, one.t_ns), one)
    return list(found.values())


Known = Sequence[tuple[Unit, Sequence[Told]]]
_FINE = frozenset({"served", "unservable", "not_played"})


def _missed(known: Known) -> list[Telling]:
    """Needs that were missed, the first of each session before the second of any."""
    found: list[tuple[int, Telling]] = []
    for unit, told in known:
        needs = [t for t in told if t.what == "need" and t.verdict not in _FINE]
        found += [(n, _need(unit, t)) for n, t in enumerate(needs)]
        moments = [t for t in told if t.what == "moment" and t.verdict == "false_negative"]
        found += [(n, _moment(unit, t, "a miss")) for n, t in enumerate(moments)]
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _need(unit: Unit, told: Told) -> Telling:
    why = f"a missed need ({told.verdict.replace('_', ' ')})"
    return Telling(why, unit.key, int(told.facts["opens_ns"]), f"need {told.id}: {told.title}", told.sentences)


def _moment(unit: Unit, told: Told, kind: str) -> Telling:
    return Telling(kind, unit.key, int(told.facts["t_ns"]), told.title, told.sentences)


def _moments(known: Known, verdict: str, kind: str) -> list[Telling]:
    return [_moment(u, t, kind) for u, told in known for t in told if t.what == "moment" and t.verdict == verdict]


def _slow(units: Sequence[Unit]) -> list[Telling]:
    """The worst latency of each unit, the worst first."""
    found = []
    for unit in units:
        log = unit.log
        if len(log) == 0:
            continue
        took, charged = log.actionable_ns - log.released_ns, _charged(log)
        row = int(np.argmax(charged))
        kind = Kind(int(log.kind[row])).name.lower()
        parts = {"waiting": log.started_ns - log.released_ns, "deciding": log.actionable_ns - log.started_ns}
        said = " and ".join(f"{seconds(int(column[row]))} {name}" for name, column in parts.items())
        title = f"decision {int(log.seq[row])} ({kind}) took {seconds(int(took[row]))}"
        counts = ""
        if charged[row] > took[row]:
            title += f" and counts as {seconds(int(charged[row]))}"
            counts = " It failed, so it is charged the timeout."
        why = (
            f"Released at {seconds(int(log.released_ns[row]))}: {said}.{counts} None of this session counts as longer."
        )
        story = (why,)
        found.append(
            (int(charged[row]), Telling("the worst latency", unit.key, int(log.captured_ns[row]), title, story))
        )
    return [one for _, one in sorted(found, key=lambda pair: (-pair[0], pair[1].unit))]


def _charged(log: RunLog) -> Ints:
    """How long each decision counts: a failed one is charged no less than the timeout, as in the scores."""
    service, timeout = log.actionable_ns - log.started_ns, log.header.get("timeout_ns")
    if timeout is not None:
        service = np.where(log.kind == Kind.ERROR, np.maximum(service, int(timeout)), service)
    return log.started_ns - log.released_ns + service


def _offer(unit: Unit, told: Told, kind: str) -> Telling:
    sure = _confidence(unit, told)
    said = kind if sure is None else f"{kind} (confidence {sure:.2f})"
    text = str(told.facts.get("text") or "")
    title = f"offer {told.id}: {told.facts['intention']}"
    return Telling(said, unit.key, int(told.facts["captured_ns"]), title, told.sentences, text)


def _confidence(unit: Unit, told: Told) -> float | None:
    offers: Sequence[Mapping[str, object]] = unit.log.full.get(int(told.facts["seq"]), {}).get("offers", ())
    known = [c for o in offers if isinstance(c := o.get("confidence"), int | float)]
    return max(known, default=None)


def _offers(known: Known, verdict: str, kind: str) -> list[Telling]:
    """Offers of a class, those that the agent was most sure of first."""
    found = [(u, t) for u, told in known for t in told if t.what == "offer" and t.verdict == verdict]
    found.sort(key=lambda pair: -(_confidence(*pair) or 0.0))
    return [_offer(u, t, kind) for u, t in found]


def _late(known: Known) -> list[Telling]:
    """Late offers, those that took longest first."""
    found = [(u, t) for u, told in known for t in told if t.what == "offer" and t.verdict == "stale"]
    found.sort(key=lambda pair: pair[1].facts["captured_ns"] - pair[1].facts["actionable_ns"])
    return [_offer(u, t, "help that came late") for u, t in found]


def _failed(units: Sequence[Unit]) -> list[Telling]:
    """The first failure of each unit."""
    found = []
    for unit in units:
        for record in unit.log.full.values():
            if record["kind"] in ("error", "unparsed"):
                error = record.get("error") or {"kind": record["kind"], "text": "the answer could not be read"}
                title = f"decision {record['seq']} came to nothing: {error['kind']}"
                found.append(
                    Telling("a failure", unit.key, record["captured_ns"], title, (without_folders(str(error["text"])),))
                )
                break
    return found
