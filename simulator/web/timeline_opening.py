"""Reading one unit of a run for the replay timeline, and having the scorer explain it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from scorers.base import Context, Unit, score_run
from scorers.explaining import Told, explain_unit, seconds
from scorers.feedback import FILE as FEEDBACK
from scorers.feedback import read as read_feedback
from scorers.interrupted import played_until
from simulator.core.errors import InputError, quote
from simulator.play.kept import read_scores
from simulator.play.whereabouts import told_since
from simulator.report.naming import name_of
from simulator.runs.folder import read_run, read_unit
from simulator.runs.gate import Gate
from simulator.runs.records import RunLog
from simulator.web.timeline_data import UnitView

__all__ = ["open_unit"]

_FIGURES = {
    "stream": ("F1_rt", "P_rt", "R_rt", "scheduled_latency@p50", "scheduled_latency@p95", "false_alarms_per_hour"),
    "moments": ("accuracy", "F1", "intention_accuracy", "scheduled_latency@p50", "scheduled_latency@p95"),
    "trajectory": ("S_final", "P", "R", "scheduled_latency@p50", "scheduled_latency@p95"),
}
_NO_TRUTH = "Nothing is known of what was needed here, so nothing was classified: offers are drawn as they came."
_NOT_YET = "The run goes on: it was not asked yet."
_SINCE = ("What was needed was told after the run was played, in {where}: it counts here, as with `proact score "
          "--truth`; the figures that the run keeps know nothing of it.")  # fmt: skip


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
            notes.append(_SINCE.format(where=name_of(since[1])))
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
    invalid = (told["units"].get(key, {}).get("audit") or {}).get("invalid") or ()
    return UnitView(run, key, told["status"], unit, gate, matcher, found, notes, chosen, going_on, said, invalid)


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


def _matcher(scores: Mapping[str, Any] | None, notes: list[str]) -> str:
    """What made content right when the run was scored; a judge is not asked again, an embedder not loaded."""
    specs = {} if scores is None else {d["scorer"] for d in scores["details"].values()}
    for spec in sorted(specs):
        _, _, given = spec.partition("matcher=")
        if given and not given.startswith("category"):
            notes.append(f"The kept scores compare content by {quote(given)}; here it is compared by category.")
    return "category"
