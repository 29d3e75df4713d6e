"""Runs as they are reported: read once, named by the ends of their paths that tell them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError, ProactError, UsageError
from simulator.play.assemble import as_path
from simulator.play.kept import read_scores
from simulator.play.scoring import Opened, open_folder, score_folder
from simulator.play.whereabouts import told_since
from simulator.report.naming import name_of, told_by_name
from simulator.runs.folder import read_run

__all__ = ["QUALITY", "RunFacts", "read_facts"]

QUALITY = {"stream": "F1_rt", "moments": "F1", "trajectory": "S_final"}
"""The figure by which a run of each protocol is drawn against its latency."""
_SINCE = ("{name}: what was needed was told after the run, in {where}: it counts here, as with `proact score --truth`; "
          "scores.json knows nothing of it")  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run as it is reported.

    Attributes:
        name: the end of its path that tells it from the others.
        told: its ``run.json``. ``opened`` is None where its logs are not read; ``notes`` say why they could not be.
    """

    name: str
    folder: Path
    told: Mapping[str, Any]
    scores: Mapping[str, Any]
    opened: Opened | None
    notes: tuple[str, ...] = field(default=())


def read_facts(runs: Sequence[str | Path], *, logs: bool = True) -> list[RunFacts]:
    """Read runs; their names are the ends of their paths that tell them apart. Without ``logs`` none is opened.

    Raises:
        InputError: not a run folder.
        UsageError: one that is named twice.
    """
    paths = [as_path("run", run) for run in runs]
    if len({p.resolve() for p in paths}) < len(paths):
        raise UsageError("a run is named twice; name each once")
    return [_read(name, path, logs=logs) for name, path in zip(_names(paths), paths, strict=True)]


def _names(paths: Sequence[Path]) -> list[str]:
    whole = [p.resolve().parts for p in paths]
    longest = max((len(parts) for parts in whole), default=1)
    tries = (["/".join(parts[-n:]) for parts in whole] for n in range(1, longest + 1))
    return next((names for names in tries if len(set(names)) == len(names)), [p.name for p in paths])


def _read(name: str, path: Path, *, logs: bool) -> RunFacts:
    told = read_run(path)
    scores, notes, opened = read_scores(path), list[str](), None
    try:
        opened = open_folder(path) if logs else None
    except ProactError as error:
        if scores is None:
            raise
        notes.append(f"{name}: its logs cannot be read, so there are no timelines: {told_by_name(error)}")
    if scores is None:
        scores = score_folder(path, save=False)
        notes.append(f"{name}: scored for this report; scores.json was absent, or not of what is there now")
    if opened is not None and (where := _told_since(path, told, opened)) is not None:
        with suppress(InputError):  # of one session, and this run has more
            opened = open_folder(path, truth=where)
            scores = score_folder(path, truth=where, save=False)
            notes.append(_SINCE.format(name=name, where=name_of(where)))
    return RunFacts(name, path, told, scores, opened, tuple(notes))


def _told_since(path: Path, told: Mapping[str, Any], opened: Opened) -> Path | None:
    """The scenario that says by now what was needed in a run that knew nothing of it."""
    if any(u.has_truth(opened.context.protocol) for u in opened.units):
        return None
    since = told_since(path, told, opened.units[0].key)
    return None if since is None else since[1]
