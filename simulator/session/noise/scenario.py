"""The scenario of a twin: what the original says, its truth as windows that have moved along with the rows."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from simulator.core.errors import UsageError
from simulator.core.types import SECOND
from simulator.session.noise.shift import Shift
from simulator.session.play import Play
from simulator.session.reader import is_session
from simulator.session.scenario_file import ScenarioFile, read_mapping
from simulator.session.truth import Truth

__all__ = ["text", "with_files"]

_HEAD = "# Made by `proact dataset noise`; noise.json in the folder above says of what, and how.\n"
_COPIED = (
    "trajectory",
    "intentions",
    "rate_hz",
    "window_s",
    "segmentation",
    "monitor",
    "policy",
    "protocol",
    "gate",
    "seed",
)


def with_files(spec: ScenarioFile, base: Path, shared: Path) -> dict[str, Any]:
    """What a scenario says, with the files that it names copied into a folder or read into it.

    Args:
        spec: the scenario.
        base: the folder that its paths are relative to.
        shared: the folder that gets the files; made when one comes.

    Returns:
        Keys of a scenario file, paths as from a folder ``OUT/<twin>/<name>`` to ``shared``; no truth.

    Raises:
        UsageError: the history is a recorded session: it must be named as a table.
    """
    out: dict[str, Any] = {"session": "session"}
    if spec.user is not None:
        out["user"] = spec.user
    if spec.profile is not None:
        out["profile"] = _profile(spec.profile, base)
    if spec.profiles is not None:
        out["profiles"] = {name: _profile(given, base) for name, given in spec.profiles.items()}
    history = []
    for i, entry in enumerate(spec.history, 1):
        if is_session(base / entry):
            raise UsageError(
                f"history '{entry}' is a recorded session; twins take histories as event tables (.jsonl, .csv)"
            )
        history.append(_copied(base / entry, shared, f"history-{i}"))
    if history:
        out["history"] = history
    if spec.taxonomy is not None:
        out["taxonomy"] = _copied(base / spec.taxonomy, shared, "taxonomy")
    defaults = {name: field.default for name, field in ScenarioFile.model_fields.items()}
    out |= {key: value for key in _COPIED if (value := getattr(spec, key)) != defaults[key]}
    return out


def _profile(given: Any, base: Path) -> dict[str, Any]:
    return read_mapping(base / given) if isinstance(given, str) else dict(given)


def _copied(file: Path, shared: Path, place: str) -> str:
    """Under its own name, which is part of the ids of a table's events, so that equal names stay apart by folder."""
    target = shared / place / file.name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)
    return f"../../shared/{shared.name}/{place}/{file.name}"


def text(said: dict[str, Any], plays: Sequence[Play], shift: Shift) -> str:
    """A twin's scenario file.

    Args:
        said: see ``with_files``, with name and description.
        plays: the original's plays, one a profile; their windows are the same.
        shift: where stream times come to lie.
    """
    whole = {**said, "truth": _truth(plays, shift)}
    order = ("session", "name", "description", "user", "profile", "profiles", "history", "truth")
    kept = {key: whole[key] for key in order if key in whole} | {k: v for k, v in whole.items() if k not in order}
    return _HEAD + yaml.safe_dump(kept, allow_unicode=True, sort_keys=False, width=110)


def _truth(plays: Sequence[Play], shift: Shift) -> Any:
    first = plays[0].truth
    out: dict[str, Any] = _windows(first, shift) if first.known else {}
    if first.intents is not None:
        out["intents"] = {
            profile: [i.text if i.intention is None else {"text": i.text, "intention": i.intention} for i in intents]
            for play in plays
            for profile, intents in (play.truth.intents or {}).items()
        }
    return out or "none"


def _windows(truth: Truth, shift: Shift) -> dict[str, Any]:
    def seconds(t_ns: int) -> float:
        return shift(t_ns) / SECOND

    needs = []
    for need in truth.opportunities:
        opens = max(0, need.opens_ns)  # an assistant asked at time 0 makes a window before it, which no file can state
        closes = max(opens + 1, need.closes_ns)
        row: dict[str, Any] = {"id": need.id, "opens_s": seconds(opens), "closes_s": seconds(closes)}
        if need.acted_ns is not None:
            row["acted_s"] = seconds(need.acted_ns)
        row["intention"] = need.intention
        if need.query is not None:
            row["query"] = need.query
        if need.weight != 1:
            row["weight"] = need.weight
        needs.append(row)
    out: dict[str, Any] = {"rule": truth.rule.removeprefix("scenario: "), "opportunities": needs}
    if truth.assists:
        out["assists"] = [
            {"start_s": seconds(a.start_ns), "end_s": seconds(a.end_ns)}
            | ({} if a.intention is None else {"intention": a.intention})
            | ({} if a.query is None else {"query": a.query})
            for a in truth.assists
        ]
    if truth.moments:
        out["moments"] = [
            {"t_s": seconds(m.t_ns), "positive": m.positive}
            | ({} if m.intention is None else {"intention": m.intention})
            | ({} if m.query is None else {"query": m.query})
            for m in truth.moments
        ]
    return out
