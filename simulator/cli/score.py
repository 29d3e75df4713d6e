"""``proact score``: the scores of a run from its logs and truth alone; no agent is asked."""

from __future__ import annotations

import json as json_  # `json` is the name of an option
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from simulator.cli.show import ScoreTable, invalid
from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit, InputError
from simulator.runs import runlog
from simulator.runs.folder import read_run, read_units, write_json
from simulator.runs.unit import LOG

__all__ = ["read_scores", "score", "score_folder"]

FILE = "scores.json"


def score_folder(
    run: Path, gate: str | None = None, names: list[str] | None = None, *, save: bool = True
) -> dict[str, Any]:
    """Score a run folder; with ``save`` into its ``scores.json``.

    Raises:
        InputError: not a run folder, or nothing was played in it yet.
        UsageError: a scorer or a gate that is unknown or does not fit.
    """
    from memory.embed import HashEmbedder
    from scorers.base import Unit, score_run

    read = read_units(run)
    if not read:
        raise InputError(run, "no unit of this run has been played yet")
    units = [Unit(key, log, truth) for key, log, truth in read]
    twins = {}
    for unit in units:
        path = run / "units" / unit.key / "twin" / LOG
        if path.exists():
            twins[unit.key] = Unit(unit.key, runlog.read(path), unit.truth)
    header = units[0].log.header
    protocol, used = str(header["protocol"]), gate or str(header["gate"])
    scores = score_run(units, protocol, used, names=names, embedder=HashEmbedder(), twins=twins)
    notes: Counter[str] = Counter()
    for unit in units:
        notes.update((unit.log.end or {}).get("notes", {}))
    scores["notes"] = dict(sorted(notes.items()))
    if save:
        write_json(run / FILE, scores)
    return scores


def read_scores(run: Path) -> dict[str, Any] | None:
    """The scores of a run that came to its end, as they were written; None where they are to be computed."""
    file = run / FILE
    if read_run(run)["status"] != "done" or not file.exists():
        return None
    try:
        scores: dict[str, Any] = json_.loads(file.read_text(encoding="utf-8"))
    except ValueError:  # damaged by hand: they can be computed again
        return None
    return scores if {"scores", "details", "counts", "notes"} <= scores.keys() else None


def score(
    run: Path,
    /,
    *,
    gate: Annotated[str | None, Parameter(help="Another gate than the run's; shown, not saved.")] = None,
    scorer: Annotated[
        list[str] | None, Parameter(help="Scorers by name; default: those of the run's protocol.")
    ] = None,
    json: Annotated[
        bool, Parameter(help="One JSON record a line on stdout, the last one 'done'.", negative="")
    ] = False,
) -> int:
    """Score RUN, a run folder, again."""
    voice = Voice(as_json=json)
    scores = score_folder(run, gate, scorer, save=gate is None and scorer is None)
    voice.say(ScoreTable({run.name: scores}))
    for sentence in (broken := invalid(run)):
        voice.tell(sentence, "bold red")
    if gate is not None or scorer is not None:
        voice.say(plain("not saved: scores.json keeps the run's own gate and scorers"))
    voice.record("done", run=str(run), scores=scores["scores"], valid=not broken)
    return Exit.DONE
