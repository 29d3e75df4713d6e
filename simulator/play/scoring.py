"""The scores of a run folder, from its logs and truth alone; no agent is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.embedders.base import DEFAULT, embedder_choice
from memory.view import RECALLS
from scorers.base import Context, Unit, score_run
from scorers.feedback import FILE as FEEDBACK
from scorers.feedback import read as read_feedback
from scorers.judge import Judge
from scorers.matching import Judging
from simulator.core.errors import InputError, quote
from simulator.play.assemble import as_path
from simulator.play.companions import companions_of
from simulator.play.kept import keep, made_of
from simulator.play.settling import settle
from simulator.runs import runlog
from simulator.runs.blame import blotted
from simulator.runs.folder import TWIN, digest, lost, read_run, read_units
from simulator.runs.gate import Gate
from simulator.runs.unit import LOG
from simulator.session.scenario import Play, plays

__all__ = ["Opened", "open_folder", "score_folder"]

TOLD_ERRORS = 10
ANEW = "the command that played the run plays anew what is not there"
_OF_THE_CLOCK = ("clock", "latency", "latency_source")


@dataclass(frozen=True, slots=True)
class Opened:
    """A run folder as it is scored.

    Attributes:
        units: in order of key, those that have a log.
        context: what scorers take besides.
        missing: keys of the units of the run that have none: not begun, or gone since.
        lost: keys of those that were played to their end and whose logs are gone, or cut, since.
    """

    units: tuple[Unit, ...]
    context: Context
    missing: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def open_folder(run: str | Path, gate: str | None = None, *, truth: str | Path | None = None,
                judge: Judge | None = None, companions: Sequence[str | Path] = (),
                embedder: str | None = None) -> Opened:  # fmt: skip
    """Read a run folder; see ``score_folder`` for what may be given and for its errors."""
    run = as_path("run", run)
    settle(run)
    read, told = read_units(run), read_run(run)
    if told["identity"] != digest(told["resolved"]):
        want = "it was changed since the run was played: what it says of its units is not what its identity is of"
        raise InputError(run / "run.json", want, field="resolved")
    gone = lost(told, (key for key, log, _ in read if log.complete))
    if not read:
        want = f"the logs of its units are gone; {ANEW}" if gone else "no unit of this run has been played yet"
        raise InputError(run, want)
    units = [Unit(key, log, known) for key, log, known in read]
    if truth is not None:
        truth = as_path("truth", truth)
        units = _judged_by(units, plays([truth]), truth)
    header = units[0].log.header
    context = Context(
        protocol=str(header["protocol"]),
        gate=Gate.parse(gate or str(header["gate"])),
        embedder=embedder_choice(embedder or DEFAULT).make(),
        twins={unit.key: found for unit in units if (found := _twin(run, unit)) is not None},
        judge=None if judge is None else _judging(judge, run, units, truth),
        companions=companions_of(run, units, [as_path("companion", c) for c in companions]) if companions else {},
        feedback={
            unit.key: said for unit in units if (said := read_feedback(run / "units" / unit.key / FEEDBACK)) is not None
        },
    )
    begun = {unit.key for unit in units}
    missing = tuple(key for key in sorted(told["resolved"]) if key not in begun)
    return Opened(tuple(units), context, missing, tuple(gone))


@runlog.no_collection()
def score_folder(run: str | Path, gate: str | None = None, names: Sequence[str] | None = None, *,
                 truth: str | Path | None = None, judge: Judge | None = None, companions: Sequence[str | Path] = (),
                 embedder: str | None = None, save: bool = True) -> dict[str, Any]:  # fmt: skip
    """Score a run folder; with ``save`` into its ``scores.json``, unless some of it is lost.

    Units without a log are in no figure: they are counted as ``missing``. ``lost`` names those that were played to
    their end and whose logs are gone, or cut, since then: such figures are not those of the run, and are not saved.

    Besides what ``scorers.base.score_run`` gives: ``notes`` (counted by agents and memories) and ``errors`` (the most
    frequent ten kinds, each with kind, text, n, and how many texts are joined in it), ``errors_untold``, ``made_of``
    (SHA-256 of the files of each unit that they are made of).

    ``truth``: a scenario whose truth is to count instead of what the run knew: of a live run somebody may have written
    down afterwards what was needed when.

    ``judge``: for ``pira:matcher=judge`` and ``realtime:matcher=judge``. It is told the users' profiles as the run's
    scenarios give them.

    ``embedder``: compares texts, by its spec; ``hash`` where none is named, whatever the run's memory embeds with, so
    that figures of runs can be compared.

    ``companions``: run folders of the same under other seeds, for ``pass^k``.

    Raises:
        InputError: not a run folder, nothing was played in it yet, or a truth of another session.
        UsageError: a scorer or a gate that is unknown or does not fit, or a companion that is none.
    """
    run = as_path("run", run)
    opened = open_folder(run, gate, truth=truth, judge=judge, companions=companions, embedder=embedder)
    units, given = opened.units, opened.context
    scores = score_run(
        units, given.protocol, given.gate, names=names, embedder=given.embedder, twins=given.twins, judge=given.judge,
        companions=given.companions, feedback=given.feedback,
    )  # fmt: skip
    scores["embedder"] = dict(embedder_choice(embedder or DEFAULT).facts)
    notes: Counter[str] = Counter()
    errors: Counter[tuple[str, str]] = Counter()
    for unit in units:
        notes.update((unit.log.end or {}).get("notes", {}))
        records = [*unit.log.full.values(), *unit.log.writes]
        errors.update((r["error"]["kind"], r["error"]["text"]) for r in records if "error" in r)
    scores["notes"] = dict(sorted(notes.items()))
    scores |= _told_errors(errors)
    scores["counts"] |= _recalls(units)
    scores["counts"]["missing"] = len(opened.missing)
    scores["lost"] = list(opened.lost)
    scores["made_of"] = made_of(run, (unit.key for unit in units))
    if save and not opened.lost:
        keep(run, scores)
    return scores


def _recalls(units: Sequence[Unit]) -> dict[str, int]:
    """How often memories were asked and had nothing, or less than was asked for; nothing where no log tells."""
    told = [unit.log.end for unit in units if unit.log.end is not None and "recalls" in unit.log.end]
    return {name: sum(int(end.get(name, 0)) for end in told) for name in RECALLS} if told else {}


def _told_errors(errors: Counter[tuple[str, str]]) -> dict[str, Any]:
    """The most frequent kinds of error, and how many are not told. Texts that differ in numbers alone are of one kind,
    which shows the most frequent of them.
    """
    kinds: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for (kind, text), n in sorted(errors.items()):
        kinds.setdefault((kind, blotted(text)), []).append((n, text))
    found: list[dict[str, Any]] = [
        {"kind": kind, "text": max(texts, key=lambda t: t[0])[1], "n": sum(n for n, _ in texts), "texts": len(texts)}
        for (kind, _), texts in kinds.items()
    ]
    found.sort(key=lambda e: e["n"], reverse=True)  # stable: equals by kind and text
    untold = found[TOLD_ERRORS:]
    return {"errors": found[:TOLD_ERRORS], "errors_untold": {"kinds": len(untold), "n": sum(e["n"] for e in untold)}}


def _judged_by(units: Sequence[Unit], said: Sequence[Play], where: Path) -> list[Unit]:
    """The units under the truths of a scenario, session by session."""
    by_session = {play.source.session: play.truth for play in said}
    found = []
    for unit in units:
        truth = by_session.get(str(unit.log.header["session"]))
        if truth is None or (truth.end_ns, truth.period_ns) != (unit.truth.end_ns, unit.truth.period_ns):
            session = quote(unit.log.header["session"])
            others = ", ".join(map(quote, by_session))
            raise InputError(where, f"the unit {quote(unit.key)} is of the session {session}; this says what is true "
                                    f"of {others}, or of another recording of that name")  # fmt: skip
        found.append(Unit(unit.key, unit.log, truth))
    return found


def _judging(judge: Judge, run: Path, units: Sequence[Unit], truth: Path | None) -> Callable[[str], Judging]:
    """The judge by unit. A profile is not in the log: it is read where the run had it, if that is still the same."""
    wanted = {unit.key: unit for unit in units}
    given = [str(truth)] if truth is not None else read_run(run).get("given", {}).get("scenarios", [])
    profiles: dict[str, Mapping[str, str]] = {}
    for scenario in given:
        try:
            found = plays([Path(scenario)])
        except InputError:
            continue  # moved or changed: judged without the profile, and its name says so
        for play in found:
            unit = wanted.get(play.key)
            if unit is not None and (truth is not None or play.dataset_hash == unit.log.header["dataset"]):
                profiles[play.key] = play.profile
    return lambda key: judge.matcher(profiles.get(key))


def _twin(run: Path, unit: Unit) -> Unit | None:
    """The unit's zero-charge companion, if it came to its end and is of the very same unit otherwise."""
    path = run / "units" / unit.key / TWIN / LOG
    if not runlog.has_begun(path):
        return None
    log = runlog.read(path)
    same = all(log.header.get(k) == v for k, v in unit.log.header.items() if k not in _OF_THE_CLOCK)
    return Unit(unit.key, log, unit.truth) if log.complete and same else None
