"""What an agent predicted over trajectories, as PIRA-Bench's leaderboard takes it.

``{"traj_1": {"Profile_A": ["intent 1", "intent 2"], "Profile_B": ["intent 3"], "Profile_C": []}, …}``, names as the
import saw them. The leaderboard scores on its own server with a judge that is not published; nothing here does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from scorers.pira import unmerged
from simulator.core.errors import InputError, UsageError, quote
from simulator.core.names import natural_key
from simulator.runs import runlog
from simulator.runs.folder import read_log, read_run
from simulator.runs.records import Kind, RunLog
from simulator.runs.unit import LOG

__all__ = ["Submission", "ensure_free", "submission"]

Which = Literal["retained", "ever"]


@dataclass(frozen=True, slots=True)
class Submission:
    """What is sent, and what is to be known of it.

    Attributes:
        intents: by trajectory and profile.
        missing: samples that the run did not finish, as (trajectory, profile, why).
        odd: samples with decisions that failed, as (trajectory, profile, how many): their answers are lacking.
    """

    intents: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    missing: list[tuple[str, str, str]] = field(default_factory=list)
    odd: list[tuple[str, str, int]] = field(default_factory=list)

    @property
    def n_samples(self) -> int:
        """How many (trajectory, profile) pairs there are."""
        return sum(len(profiles) for profiles in self.intents.values())

    @property
    def n_intents(self) -> int:
        """How many intents in all."""
        return sum(len(said) for profiles in self.intents.values() for said in profiles.values())


def submission(run: Path, which: Which = "retained") -> Submission:
    """The predicted intents of a run, in natural order of the trajectories.

    A thread is one intent, in its last words; an offer without words is its category. Equal words of one sample stand
    once. ``retained`` leaves out what the agent took back, ``ever`` does not.

    Args:
        run: a run folder of protocol ``trajectory``.
        which: set of intents.

    Raises:
        InputError: not a run folder; a log that is broken, or was changed since.
        UsageError: another protocol; recordings that have no name on the leaderboard; two units of one sample.
    """
    told = read_run(run)
    out = Submission()
    for key in sorted(told["resolved"], key=lambda k: natural_key(_sample(told, k, run)[0])):
        trajectory, profile = _sample(told, key, run)
        profiles = out.intents.setdefault(trajectory, {})
        if profile in profiles or (trajectory, profile) in [m[:2] for m in out.missing]:
            raise UsageError(f"{quote(trajectory)}, {quote(profile)}: two units of the run are of this sample")
        folder, unit = run / "units" / key, told["units"].get(key, {})
        log = read_log(folder, unit) if runlog.has_begun(folder / LOG) else None
        why = _unfinished(log, unit)
        if log is None or why is not None:
            out.missing.append((trajectory, profile, why or ""))
            continue
        profiles[profile] = _words(log, which)
        failed = int(np.isin(log.kind, (Kind.ERROR, Kind.UNPARSED)).sum())
        if failed:
            out.odd.append((trajectory, profile, failed))
    for trajectory in [name for name, profiles in out.intents.items() if not profiles]:
        del out.intents[trajectory]
    return out


def ensure_free(out: Path) -> None:
    """Refuse to write over anything but an earlier submission.

    Raises:
        UsageError: something else is there.
    """
    if out.exists() and not _is_submission(out):
        raise UsageError(f"{out} is there, and is no submission that could be replaced; name another file")


def _is_submission(file: Path) -> bool:
    try:
        held = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(held, dict) or not all(isinstance(profiles, dict) for profiles in held.values()):
        return False
    lists = [said for profiles in held.values() for said in profiles.values()]
    return all(isinstance(said, list) and all(isinstance(text, str) for text in said) for said in lists)


def _sample(told: dict[str, Any], key: str, run: Path) -> tuple[str, str]:
    header = told["resolved"][key]
    if header.get("protocol") != "trajectory":
        raise UsageError(f"{run}: unit {quote(key)} was played with another protocol; play with --protocol trajectory")
    sample = header.get("sample")
    if sample is None:
        raise UsageError(
            f"{run}: unit {quote(key)} has no name on the leaderboard; import trajectories with --format pira, or "
            "write `trajectory: NAME` into the scenario"
        )
    if not isinstance(sample, list) or len(sample) != 2 or not all(isinstance(name, str) for name in sample):
        raise InputError(run / "run.json", "a pair of names is wanted", field=f"resolved.{key}.sample")
    if not sample[1]:
        raise UsageError(f"{run}: unit {quote(key)} has no profile with a name: a leaderboard takes intents by profile")
    return sample[0], sample[1]


def _unfinished(log: RunLog | None, unit: dict[str, Any]) -> str | None:
    """Why a unit cannot be counted as an answer, None where it can."""
    if log is None:
        return "not played"
    if unit.get("error"):
        return "failed"
    return None if log.complete else "interrupted"


def _words(log: RunLog, which: Which) -> list[str]:
    said = (" ".join((entry.text or entry.intention).split()) for entry in unmerged(log, ever=which == "ever"))
    return list(dict.fromkeys(text for text in said if text))
