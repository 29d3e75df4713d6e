"""A run's scores as its folder keeps them: with what they were made of, so that what does not fit is made again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from scorers.base import scorers
from scorers.feedback import FILE as FEEDBACK
from scorers.foreign import is_ours
from simulator.core.errors import InputError, UsageError
from simulator.core.files import open_plain
from simulator.runs import runlog
from simulator.runs.folder import TWIN, read_run, write_json
from simulator.runs.stored import UNFIT
from simulator.runs.unit import LOG, TRUTH, file_digest

__all__ = ["FILE", "SOURCES", "keep", "made_of", "own_scores", "read_scores"]

FILE = "scores.json"
SCHEMA = 1
_DIGEST = "digest"
_SOURCES = {"log": LOG, "truth": TRUTH, "twin": f"{TWIN}/{LOG}", "feedback": FEEDBACK}
"""What scores are made of, by its name in ``made_of``: files of a unit."""
SOURCES = tuple(_SOURCES.values())
"""The files of a unit, in its folder, that scores are made of."""
_VERSIONS: dict[str, Mapping[str, int]] = {}
_MOST = 256
_LARGEST = 1 << 28  # bytes of a file of scores


def made_of(run: Path, keys: Iterable[str]) -> dict[str, dict[str, str]]:
    """SHA-256 of each file that the scores of these units are made of."""
    return {key: _hashes(run / "units" / key) for key in keys}


def keep(run: Path, scores: Mapping[str, Any]) -> None:
    """Write scores into a run's folder, with a digest of their own by which an edited file is noticed."""
    write_json(run / FILE, {**scores, _DIGEST: _digest(scores)})


def read_scores(run: Path) -> dict[str, Any] | None:
    """The scores of a run that came to its end, as they were written; None where they are to be computed.

    Those are to be: no scores; damaged or edited ones; those of another run; those of logs, truths, twins or feedback
    that have changed since; those of a scorer whose formulas have. Every log is hashed, none is parsed. Where the logs
    are not there (the two small files of a run can be carried off alone), the scores must be of those that the run
    names.

    Raises:
        InputError: not a run folder.
    """
    told = read_run(run)
    if told["status"] != "done":
        return None
    scores = _written(run)
    try:
        return None if scores is None or not _fits(run, told, scores) or _outdated(scores) else scores
    except UNFIT:  # edited, with its digest made anew
        return None


def own_scores(run: Path, told: Mapping[str, Any]) -> dict[str, Any] | None:
    """The scores of a run as they were written, whatever its status, if they are of the logs that its ``run.json``
    names; no log is looked at. None where they are missing, damaged, edited, or of other logs.

    Args:
        run: its folder.
        told: its ``run.json``.
    """
    scores = _written(run)
    if scores is None:
        return None
    logs = {key: result.get("log_sha256") for key, result in told["units"].items()}
    try:
        fits = all(logs.get(key) in (None, made.get("log")) for key, made in scores["made_of"].items())
    except UNFIT:  # edited, with its digest made anew
        return None
    return scores if fits else None


def _written(run: Path) -> dict[str, Any] | None:
    """What the file holds, unless it is damaged, edited, or of another schema."""
    try:
        with open_plain(run / FILE) as file:
            scores = json.loads(file.read(_LARGEST).decode("utf-8"))
        if not isinstance(scores, dict) or scores.pop(_DIGEST, None) != _digest(scores):
            return None
    except (InputError, OSError, ValueError, RecursionError):  # none, no file, or damaged
        return None
    return scores if scores.get("schema") == SCHEMA else None


def _hashes(folder: Path) -> dict[str, str]:
    return {name: file_digest(file) for name, part in _SOURCES.items() if (file := folder / part).is_file()}


def _digest(scores: Mapping[str, Any]) -> str:
    """Of all they say, as it reads when it has been written and read again."""
    return sha256(json.dumps(scores, separators=(",", ":"), allow_nan=False).encode()).hexdigest()


def _fits(run: Path, told: Mapping[str, Any], scores: Mapping[str, Any]) -> bool:
    """Whether they are of the logs that the run names and, where it holds any, of the files that it holds."""
    of = scores["made_of"]
    if not of.keys() <= told["resolved"].keys():
        return False
    for key in told["resolved"]:
        folder, log = run / "units" / key, of.get(key, {}).get("log")
        if told["units"].get(key, {}).get("log_sha256") not in (None, log):
            return False
        if runlog.has_begun(folder / LOG) and of.get(key) != _hashes(folder):
            return False
    return True


def _outdated(scores: Mapping[str, Any]) -> bool:
    """Whether they were made by other formulas than those of the scorers here."""
    try:
        versions = {
            spec: _versions_of(spec) for spec in sorted({detail["scorer"] for detail in scores["details"].values()})
        }
    except UsageError:  # by a scorer that is not installed here
        return True
    return any(versions[d["scorer"]].get(m) != d["version"] for m, d in scores["details"].items())


def _versions_of(spec: str) -> Mapping[str, int]:
    """Of each metric of a scorer. To make one takes longer than to read a run's scores, so those of ours are made once:
    their formulas stay while this process lives. A file of somebody's may change.
    """
    known = _VERSIONS.get(spec)
    if known is None:
        made = scorers.make(spec)
        known = {metric.name: metric.version for metric in made.metrics}
        if is_ours(made) and len(_VERSIONS) < _MOST:  # specs come out of files
            _VERSIONS[spec] = known
    return known
