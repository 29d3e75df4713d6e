"""Forgetting what a sweep's folder holds of a user beside its runs: names in its plan, and words in what is made of it.

Its runs are run folders and go as such, before it; data that were made for it are sessions. Summaries hold numbers of
cells and stay, but for sentences that name a unit; the table of all decisions (``decisions.parquet``) goes, since it
can be made again from what is left of the logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator.core.faults import told
from simulator.core.lock import FolderLock, is_locked
from simulator.privacy.disk import remove
from simulator.privacy.forget_run import without_names
from simulator.privacy.items import Item, Unreached
from simulator.privacy.run_files import read_object, write_object
from simulator.privacy.run_of import FORGOTTEN, LOCK, RUN
from simulator.privacy.span import Span

__all__ = ["MADE_AGAIN", "SWEEP", "plan_sweep"]

SWEEP, RUNS = "sweep.json", "runs"
_SUMMARY = "summary.json"
_DECISIONS, _REPORT = "decisions.parquet", "report.html"
_OF_SUMMARY = ("summary.csv", "summary.md", "summary.tex", "effects.csv", _REPORT)
MADE_AGAIN = (_DECISIONS, _REPORT)
"""What of a run or a sweep goes as a whole, if it holds something of the user's: it can be made again."""
_PLAYED = "a sweep is being played into {}: wait for it and call again"


def plan_sweep(file: Path, user: str, span: Span, played_as: frozenset[tuple[str, str]]) -> Item | Unreached | None:
    """What of a sweep is the user's; None for nothing.

    Args:
        file: its ``sweep.json``.
        user: whose.
        span: when.
        played_as: (user, session) under which recordings of the user were played by scenarios that name somebody else.

    Raises:
        InputError: it cannot be read.
    """
    sweep, plan = file.parent, read_object(file)
    mine = [s for s in _sessions(plan) if s.get("user") == user or (s.get("user"), s.get("session")) in played_as]
    tables = [path for name in (_DECISIONS, f"{_DECISIONS}.part") if (path := sweep / name).exists()]
    if not mine or not (span.everything or tables):
        return None
    if is_locked(sweep / LOCK):
        return Unreached(sweep, _PLAYED.format(sweep))
    names = tuple(sorted({user, *(str(s[name]) for s in mine for name in ("key", "session") if s.get(name))}))
    said = f"names of {len(mine)} sessions, and its table of decisions" if span.everything else "its table of decisions"
    return Item("sweep", sweep, said, lambda: _forget(file, names if span.everything else (), tables))


def _sessions(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    sets = plan.get("data")
    listed = (
        [data.get("sessions") for data in sets.values() if isinstance(data, dict)] if isinstance(sets, dict) else []
    )
    return [session for sessions in listed if isinstance(sessions, list) for session in sessions]


def _forget(file: Path, names: tuple[str, ...], tables: list[Path]) -> list[Unreached]:
    """The tables, the summaries' names, and last the plan, which tells whose they are."""
    sweep = file.parent
    lock = FolderLock(sweep / LOCK, _PLAYED.format(sweep))
    try:
        for path in tables:
            remove(path)
        if names:
            _clean_summary(sweep, names)
            write_object(file, _cleaned(sweep, read_object(file), names))
    finally:
        lock.release()
    return []


def _cleaned(sweep: Path, plan: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The plan without the user's sessions; its runs name the units that they have now."""
    for session in _sessions(plan):
        if session.get("key") in names:
            session |= dict.fromkeys(("key", "session", "user", "scenario"), FORGOTTEN)
    for data in plan["data"].values():
        data["given"] = without_names(data.get("given"), names)
    plan["study"] = without_names(plan.get("study"), names)
    for cell in plan.get("cells", ()):
        for run in cell["runs"]:
            run["keys"] = _keys(sweep / RUNS / run["run"], run["keys"], names)
    return plan


def _keys(run: Path, keys: list[str], names: tuple[str, ...]) -> list[str]:
    """The keys of a run's units: in place of the user's those that stand in its ``run.json`` now."""
    there = list(read_object(run / RUN).get("resolved", {})) if (run / RUN).is_file() else []
    stay = [key for key in keys if key not in names]
    return stay + [key for key in there if key not in stay]


def _clean_summary(sweep: Path, names: tuple[str, ...]) -> None:
    """Sentences of the summary that name a unit lose the name; files that were made of it and hold one go."""
    file = sweep / _SUMMARY
    if file.is_file():
        summary = read_object(file)
        cleaned = summary | {"caveats": without_names(summary.get("caveats"), names)}
        if cleaned != summary:
            write_object(file, cleaned)
    for path in (sweep / name for name in _OF_SUMMARY):
        if path.is_file():
            with told(path):
                text = path.read_text(encoding="utf-8")
            if without_names(text, names) != text:
                remove(path)
