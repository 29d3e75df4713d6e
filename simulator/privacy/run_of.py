"""What a run folder says of whom it is of, and whether somebody plays into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.core.lock import is_locked
from simulator.privacy.run_files import head_of, read_object

__all__ = [
    "FORGOTTEN",
    "LOCK",
    "LOG",
    "RUN",
    "SWEEP",
    "InPlay",
    "UnitOf",
    "in_play",
    "is_run",
    "lock_of",
    "sessions_of",
    "units_of",
    "users_of",
]

RUN, LOG, LOCK, SWEEP = "run.json", "decisions.jsonl", ".lock", "sweep.json"
FORGOTTEN = "forgotten"
"""The user of a unit that was made nobody's."""


def is_run(folder: Path) -> bool:
    """Whether a folder looks like a run's."""
    return (folder / RUN).is_file() or (folder / "units").is_dir()


def lock_of(run: Path) -> Path:
    """What is held by whoever plays into a run: a sweep holds one lock for all of its own."""
    sweep = run.parent.parent
    return (sweep if (sweep / SWEEP).is_file() else run) / LOCK


def users_of(run: Path) -> set[str]:
    """Whose units a run holds; nobody's where it cannot be read."""
    return {user for user, _ in sessions_of(run)} - {FORGOTTEN}


def sessions_of(run: Path) -> set[tuple[str, str]]:
    """(user, session) of a run's units; none where it cannot be read."""
    try:
        told_of = read_object(run / RUN) if (run / RUN).is_file() else {}
        heads = [*(unit.header for unit in units_of(run, told_of)), *told_of.get("resolved", {}).values()]
    except InputError:
        return set()
    return {(str(head["user"]), str(head.get("session"))) for head in heads if "user" in head}


@dataclass(frozen=True, slots=True)
class InPlay:
    """What a run is being played from: (user, session) of its units, and the scenario file of a live run."""

    sessions: frozenset[tuple[str, str]]
    scenario: Path | None


def in_play(run: Path) -> InPlay | None:
    """What somebody plays into a run right now; None if nobody does."""
    if not is_locked(lock_of(run)):
        return None
    try:
        told_of = read_object(run / RUN) if (run / RUN).is_file() else {}
        heads = [*(unit.header for unit in units_of(run, told_of)), *told_of.get("resolved", {}).values()]
        live = told_of.get("given", {}).get("live")
    except (InputError, AttributeError):
        return InPlay(frozenset(), None)
    sessions = frozenset(
        (str(head["user"]), str(head["session"])) for head in heads if {"user", "session"} <= set(head)
    )
    return InPlay(sessions, Path(live).resolve() if isinstance(live, str) else None)


@dataclass(frozen=True, slots=True)
class UnitOf:
    """A unit of a run, by what stands in its folder."""

    key: str
    folder: Path
    header: Mapping[str, Any]  # of its log; empty where there is none
    cut_ns: int | None = None  # words go from this instant of its stream on; None: all of them


def units_of(run: Path, told_of: Mapping[str, Any]) -> Iterator[UnitOf]:
    """Every unit that ``run.json`` names or that lies in the folder."""
    there = sorted(p.name for p in (run / "units").iterdir() if p.is_dir()) if (run / "units").is_dir() else []
    for key in sorted({*there, *told_of.get("resolved", {})}):
        folder = run / "units" / key
        yield UnitOf(key, folder, head_of(folder / LOG))
