"""What the index of runs shows: one row a run, read once and again only when one of its files changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from simulator.core.errors import InputError, ProactError
from simulator.core.types import SECOND
from simulator.play.kept import FILE as SCORES
from simulator.play.kept import read_scores
from simulator.runs.folder import read_run
from simulator.runs.lock import status_now
from simulator.runs.stored import stored
from simulator.sweep.place import FILE as PLAN
from simulator.sweep.place import RUNS, read_plan
from simulator.timing.clock import wall_ns
from simulator.web.stamps import Stamp, sources, stamp

__all__ = ["FIGURES", "Index", "row_of", "session_of"]

FIGURES = (
    "F1_rt", "F1", "S_final", "intention_accuracy", "scheduled_latency@p50", "scheduled_latency@p95",
    "false_alarms_per_hour",
)  # fmt: skip
"""The figures of a row; a run has those of its protocol."""
_COMMON = ("agent", "memory", "memory_mode", "protocol", "policy", "clock", "latency", "latency_source")
_SESSION = ("user", "session", "end_ns")
"""What runs of one session have in common, whatever their protocol and truth."""
_RUN = "run.json"


@dataclass(frozen=True, slots=True)
class _Row:
    stamp: tuple[Stamp, ...]
    logs: tuple[object, ...]
    row: Mapping[str, Any]
    units: tuple[tuple[str, ...], ...]


class Index:
    """Rows of run folders, kept while their files stay as they are. May be used from several threads."""

    def __init__(self) -> None:
        self._rows: dict[Path, _Row] = {}
        self._said: dict[Path, tuple[str, int]] = {}
        self._sweeps: dict[Path, tuple[tuple[int, int], frozenset[str]]] = {}
        self._now = wall_ns() // 1000  # later than any number that an earlier server told a page; exact in JavaScript
        self._lock = Lock()

    def rows(
        self, runs: Sequence[tuple[str, Path, str]], budget_s: float = 0.3, since: int = 0
    ) -> tuple[list[Mapping[str, Any]], int]:
        """The rows of runs given as id, folder and name, and how many are still to be read.

        Reading stops when the budget is used up; the next call goes on, so a page shows thousands as they come, those
        played last first.

        Args:
            runs: which.
            budget_s: how long to read.
            since: only rows that changed after the one of this ``v``.
        """
        until = wall_ns() + int(budget_s * SECOND)
        stamps = {path: _stamp(path) for _, path, _ in runs}
        unread = 0
        for path in sorted(stamps, key=lambda path: stamps[path][0] or (0, 0), reverse=True):
            if self._holds(path, stamps[path]):
                continue
            if wall_ns() > until:
                unread += 1
            else:
                self._read(path, stamps[path])
        found: list[Mapping[str, Any]] = []
        studies = {above: self._study(above) for above in {path.parent for _, path, _ in runs}}
        for id_, path, name in runs:
            if (kept := self._kept(path)) is not None:
                status, study = status_now(str(kept.row["status"]), path), studies[path.parent]
                gone = {"gone": True} if study is not None and path.name not in study else {}
                v = self._told(path, f"{status} {bool(gone)}")
                if v > since:
                    found.append({"id": id_, "name": name, **kept.row, **gone, "status": status, "v": v})
        return found, unread

    def same_session(self, runs: Iterable[tuple[str, Path, str]], run: Path, key: str) -> list[dict[str, str]]:
        """Runs, among those read so far, that played the session of a unit: id, name, and the unit's key there."""
        own = self._kept(run) or self._read(run, _stamp(run))
        mine = {unit[1:] for unit in own.units if unit[0] == key}
        found = []
        for id_, path, name in runs:
            kept = self._kept(path)
            if kept is None:
                continue
            there = [unit[0] for unit in kept.units if unit[1:] in mine]
            if there:
                unit = key if key in there else there[0]
                shown = {k: str(kept.row.get(k) or "") for k in ("agent", "memory", "protocol")}
                found.append({"id": id_, "name": name, "unit": unit, **shown})
        return found

    def _study(self, runs: Path) -> frozenset[str] | None:
        """The runs that a sweep's study has, of a folder of runs; None of one that is no sweep's."""
        if runs.name != RUNS:
            return None
        file = runs.parent / PLAN
        try:
            now = stamp(file)
            if now is None:
                return None
            with self._lock:
                known = self._sweeps.get(file)
            if known is None or known[0] != now:
                told = read_plan(runs.parent)
                known = now, frozenset(str(run["run"]) for cell in told["cells"] for run in cell["runs"])
                with self._lock:
                    self._sweeps[file] = known
        except (OSError, ProactError, KeyError, TypeError):  # no sweep, or one that cannot be read: nothing is said
            return None
        return known[1]

    def _kept(self, path: Path) -> _Row | None:
        with self._lock:
            return self._rows.get(path)

    def _holds(self, path: Path, stamps: tuple[Stamp, ...]) -> bool:
        """Whether a row is known and is still right: figures hold as long as what they were made of does."""
        kept = self._kept(path)
        if kept is None or kept.stamp != stamps:
            return False
        return not kept.row.get("figures") or kept.logs == sources(path)

    def _read(self, path: Path, stamps: tuple[Stamp, ...]) -> _Row:
        logs = sources(path)  # from before they are read
        row, units = row_of(path)
        made = _Row(stamps, logs, row, units)
        with self._lock:
            self._rows[path] = made
            self._said.pop(path, None)
        return made

    def _told(self, path: Path, status: str) -> int:
        """The number of a row as it is; another one once it has changed."""
        with self._lock:
            before = self._said.get(path)
            if before is None or before[0] != status:
                self._now += 1
                before = self._said[path] = (status, self._now)
            return before[1]


def row_of(path: Path) -> tuple[dict[str, Any], tuple[tuple[str, ...], ...]]:
    """One run's row, and of each unit its key and what tells its session; of a folder that cannot be read, why."""
    try:
        with stored(path):
            row, units = _row_of(path)
            json.dumps(row, allow_nan=False)  # 1e999 in one would keep all from being shown
            return row, units
    except (InputError, OSError) as error:
        return {"status": "broken", "why": _why(error)}, ()


def _row_of(path: Path) -> tuple[dict[str, Any], tuple[tuple[str, ...], ...]]:
    told = read_run(path)
    row = _head(told)
    try:
        scores = read_scores(path)
    except (ProactError, OSError, KeyError, TypeError, ValueError, AttributeError) as error:  # a file edited by hand
        scores, row["why"] = None, f"the scores cannot be read ({type(error).__name__}); `proact score` makes them anew"
    if scores is not None:
        row |= _scored(scores)
    elif told["status"] == "done" and "why" not in row:
        row["why"] = "no scores that fit: `proact score` makes them"
    if row["invalid"]:
        row["why"] = f"the harness itself was late, so the figures say nothing of the agent: {row['invalid'][0]}"
    units = tuple((key, *session_of(header)) for key, header in sorted(told["resolved"].items()))
    return row, units


def session_of(header: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells the session of a unit, of its header as ``run.json`` has it."""
    return tuple(str(header.get(k)) for k in _SESSION)


def _head(told: Mapping[str, Any]) -> dict[str, Any]:
    """What is known without scores: of running runs as far as they are."""
    heads, units = list(told["resolved"].values()), told["units"].values()
    common = {k: " + ".join(dict.fromkeys(str(h[k]) for h in heads if h.get(k) is not None)) for k in _COMMON}
    tallies = [tally for unit in units if isinstance(tally := unit.get("tally"), dict)]
    invalid = [why for unit in units for why in ((unit.get("audit") or {}).get("invalid") or [])]
    models = dict.fromkeys(
        str(name) for h in heads if isinstance(m := h.get("model"), dict) and (name := m.get("name") or m.get("model"))
    )
    done = sum(bool(u) and u.get("error") is None for u in units)
    given = told.get("given") or {}
    counted = len(tallies) == len(units)  # a unit that was killed has none: what failed in it is not known
    return {
        "status": told["status"],
        **common,
        "model": " + ".join(models),
        "units": sorted(told["resolved"])[:1],
        "n_units": len(heads),
        "n_done": done,
        "n_failed_units": sum(u.get("error") is not None for u in units),
        "decisions": _sum(tallies, "decisions"),
        "errors": _sum(tallies, "errors") or (0 if counted else None),
        "unparsed": _sum(tallies, "unparsed") or (0 if counted else None),
        "data": [_ending(path) for path in (*(given.get("scenarios") or ()), *filter(None, [given.get("live")]))],
        "sees_truth": any(bool(h.get("sees_truth")) for h in heads),
        "invalid": invalid,
        "written": told.get("written") if isinstance(told.get("written"), str) else None,
        "figures": {},
    }


def _scored(scores: Mapping[str, Any]) -> dict[str, Any]:
    figures = {}
    for name in FIGURES:
        detail = scores["details"].get(name)
        if detail is None:
            continue
        interval = detail.get("interval") or {}
        figures[name] = {
            "value": detail["value"],
            "low": interval.get("low"),
            "high": interval.get("high"),
            "n": detail["n"],
            "unit": detail["unit"],
            "few": bool(detail.get("few")),
            "why": detail.get("reason") or detail.get("no_interval"),
        }
    counts = scores["counts"]
    return {"figures": figures, "gate": scores["gate"], "errors": counts["error"], "unparsed": counts["unparsed"],
            "decisions": counts["decisions"]}  # fmt: skip


def _ending(path: object) -> str:
    """Of where a run's data lie, what tells it from others at a glance: the last two names, without the file's."""
    parts = [part for part in Path(str(path)).parts if part not in ("/", ".", "..")]
    return "/".join(parts[:-1][-2:] if parts[1:] and parts[-1].startswith("scenario.") else parts[-2:])


def _sum(tallies: Iterable[Mapping[str, Any]], name: str) -> int:
    return sum(n for tally in tallies if type(n := tally.get(name)) is int)


def _stamp(path: Path) -> tuple[Stamp, ...]:
    return tuple(stamp(path / name) for name in (_RUN, SCORES))


def _why(error: Exception) -> str:
    return error.want if isinstance(error, InputError) else "it cannot be read"
