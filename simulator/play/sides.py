"""The sides of a comparison: run folders with their scores, several seeds of one choice taken together."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError, UsageError, quote
from simulator.play.assemble import as_path
from simulator.play.kept import read_scores
from simulator.play.scoring import ANEW, score_folder
from simulator.play.study_cells import Named, named
from simulator.runs.folder import digest, read_run

__all__ = ["Run", "Side", "sides"]

_OF_A_SEED = ("seed", "truth")  # what is drawn of a truth (moments) is drawn by the seed
Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder.

    Attributes:
        scores: as ``scores.json`` has them, or computed again where that does not fit (``simulator.play.kept``).
        units: by key, the header of the unit's log.
        faults: why its figures should not be used: interrupted, INVALID, not all played, logs gone since.
    """

    folder: Path
    scores: Told
    units: Mapping[str, Told]
    faults: tuple[str, ...]

    @property
    def seed(self) -> int:
        """Of its draws."""
        return int(next(iter(self.units.values()))["seed"])


@dataclass(frozen=True, slots=True)
class Side:
    """One run, or several that differ in their seed alone, in order of the seed."""

    name: str
    runs: tuple[Run, ...]

    def units(self) -> Iterator[tuple[str, int, Run]]:
        """Key, seed and run of each unit."""
        for run in self.runs:
            for key in run.units:
                yield key, run.seed, run

    @property
    def seeds(self) -> tuple[int, ...]:
        """Of its runs."""
        return tuple(run.seed for run in self.runs)

    @property
    def faults(self) -> list[str]:
        """Of all its runs."""
        return [fault for run in self.runs for fault in run.faults]


def sides(paths: Sequence[str | Path], scorers: Sequence[str] | None = None) -> list[Side]:
    """The sides that folders hold: each a run, a folder of runs, or a cell of a sweep (``SWEEP CELL``, ``SWEEP/CELL``)
    with the runs of all its seeds. Runs of a folder that differ in their seed alone are one side, others are sides of
    their own, in order of name. With ``scorers`` all are scored by these, in memory.

    Raises:
        InputError: a folder that holds no run.
        UsageError: fewer than two sides, a cell that a sweep does not have, a run that is named twice, or two runs of
            one seed on a side.
    """
    found: list[tuple[Path, list[Path]]] = []
    for path in named([as_path("run", p) for p in paths]):
        if isinstance(path, Named):
            found.append((Path(path.name), list(path.runs)))
            continue
        inner = [] if (path / "run.json").exists() else sorted(f.parent for f in path.glob("*/run.json"))
        if not inner:
            read_run(path)  # a folder that is no run is told first
        groups = _groups(inner) if inner else [[path]]
        found += [(group[0] if len(group) == 1 else path, group) for group in groups]
    _ensure_once([folder for _, group in found for folder in group])
    if len(found) < 2:
        raise UsageError(f"a comparison takes two runs or more, and {quote(paths[0])} is one; name another")
    names = _short([path.resolve() for path, _ in found])
    made = [Side(name, _by_seed(group, scorers)) for name, (_, group) in zip(names, found, strict=True)]
    return [side if names.count(side.name) == 1 else Side(f"{side.name}#{n}", side.runs) for n, side in enumerate(made)]


def _ensure_once(folders: Sequence[Path]) -> None:
    """Whatever names or links they go by."""
    seen: dict[Path, Path] = {}
    for folder in folders:
        if (first := seen.get(folder.resolve())) is not None:
            raise UsageError(f"{first} and {folder} are the same run; name it once, and what it is to be held against")
        seen[folder.resolve()] = folder


def _short(paths: Sequence[Path]) -> list[str]:
    """The ends of the paths that tell them apart."""
    longest = max(len(path.parts) for path in paths)
    tries = (["/".join(path.parts[-n:]) for path in paths] for n in range(1, longest + 1))
    return next((names for names in tries if len(set(names)) == len(names)), [path.name for path in paths])


def _groups(folders: Sequence[Path]) -> list[list[Path]]:
    """Runs that are the same but for their seed."""
    groups: dict[str, list[Path]] = {}
    for folder in folders:
        resolved = read_run(folder)["resolved"]
        same = {key: {k: v for k, v in unit.items() if k not in _OF_A_SEED} for key, unit in resolved.items()}
        groups.setdefault(digest(same), []).append(folder)
    return list(groups.values())


def _by_seed(folders: Sequence[Path], names: Sequence[str] | None) -> tuple[Run, ...]:
    runs = sorted((_run(folder, names) for folder in folders), key=lambda r: (r.seed, r.folder))
    for a, b in itertools.pairwise(runs):
        if a.seed == b.seed:
            raise UsageError(f"{a.folder} and {b.folder} are the same run of one seed, {a.seed}; name one of them")
    return tuple(runs)


def _run(folder: Path, names: Sequence[str] | None) -> Run:
    told = read_run(folder)
    if not told["resolved"]:
        raise InputError(folder / "run.json", "no unit of this run has been played yet")
    scores = read_scores(folder) if names is None else None
    if scores is None:
        scores = score_folder(folder, names=names, save=False)
    return Run(folder, scores, told["resolved"], tuple(_faults(folder, told, scores)))


def _faults(folder: Path, told: Told, scores: Told) -> Iterator[str]:
    if told.get("identity") != digest(told["resolved"]):
        yield f"{folder.name}: its run.json was changed: what it says of its units is not what its identity is of"
    if told["status"] != "done":
        yield f"{folder.name} did not come to its end (status {quote(told['status'])})"
    for key, unit in told["units"].items():
        for reason in (unit.get("audit") or {}).get("invalid") or ():
            yield f"{folder.name}, unit {key}, is INVALID: {reason}"
    if told["status"] == "done" and (n := scores["counts"].get("interrupted", 0)):
        yield f"{folder.name}: {n} units were interrupted"
    if gone := scores["lost"]:
        units = f"{len(gone)} of its units, such as {quote(gone[0])}"
        yield f"{folder.name}: of {units}, the log is gone or was cut; {ANEW}"
