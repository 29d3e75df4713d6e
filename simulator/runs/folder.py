"""A run on disk: ``run.json``, ``units/<key>/``, ``scores.json``.

The same command again finds the same folder: what is finished stays, what is missing or torn is played, and when all
is there nothing happens. Files are written beside and renamed, so that a kill leaves the old one or the new one.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError, UsageError
from simulator.core.files import open_plain
from simulator.runs import runlog
from simulator.runs.lock import LOCK, Lock
from simulator.runs.records import RunLog
from simulator.runs.run_file import SCHEMA, parse_run
from simulator.runs.unit import LOG, TRUTH, UnitPlan, UnitResult, file_digest, is_done
from simulator.session import truth as truths
from simulator.session.truth import Truth
from simulator.timing.clock import utc_now

TWIN = "twin"
LARGEST = 1 << 28  # bytes of run.json: of a million units

__all__ = ["TWIN", "RunFolder", "digest", "lost", "read_log", "read_run", "read_unit", "read_units", "write_json"]

UNIT = "unit.json"
"""In the folder of a unit of a sweep: how it went."""
_CHANGED = "it was changed since the unit was played; the same command plays the unit anew"
_CHANGED_IN_SWEEP = "it was changed since the unit was played; remove the unit's folder, and its sweep plays it anew"
_PLAYED_SINCE = (
    "its sweep has played the unit anew since the run was scored, and was stopped; the sweep's command goes on"
)

_NUMBERS = re.compile(r"\[\n[^\[\]{}\"]*\]")
"""An indented list of numbers; within a string there is no line break."""


def write_json(path: Path, value: Any) -> None:
    """Write beside, then rename; indented, but lists of numbers on one line each."""

    def text(*, ascii_only: bool) -> bytes:
        shown = json.dumps(value, ensure_ascii=ascii_only, indent=1, allow_nan=False)
        return _NUMBERS.sub(lambda found: f"[{' '.join(found[0][1:-1].split())}]", shown).encode()

    part = path.with_name(path.name + ".part")
    try:
        data = text(ascii_only=False)
    except UnicodeEncodeError:  # half a surrogate pair in somebody's text: as an escape, the file stays UTF-8
        data = text(ascii_only=True)
    with part.open("wb") as file:
        file.write(data + b"\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def digest(value: Any) -> str:
    """SHA-256 of canonical JSON."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class RunFolder:
    """One run's folder.

    Args:
        path: where it is or will be.
        plans: its units, all of them.
        given: what the user asked for, as typed, for the record.
    """

    def __init__(self, path: Path, plans: Sequence[UnitPlan], given: Mapping[str, Any]) -> None:
        self.path, self.plans, self.given = path, plans, dict(given)
        self.resolved = {plan.key: plan.header() for plan in plans}
        self.identity = digest(self.resolved)
        self._before: Mapping[str, Any] = {}
        self._results: dict[str, UnitResult] = {}

    @property
    def file(self) -> Path:
        """``run.json``."""
        return self.path / "run.json"

    def look(self, *, again: bool = False) -> list[UnitPlan]:
        """The units that are still to be played (``again``: all); nothing is written.

        Raises:
            UsageError: the folder holds another run; ``again`` admits one that differs in the agent's or memory's code.
        """
        self._before = self._told(again=again).get("units", {})
        return [plan for plan in self.plans if again or not self._is_done(plan)]

    def _told(self, *, again: bool) -> dict[str, Any]:
        """``run.json`` as it is, empty where there is none; another run, or anything else, is refused."""
        old = read_run(self.path) if self.file.exists() else None
        if old is not None and old.get("identity") != self.identity:
            difference, only_code = _difference(old, self.resolved)
            if not (again and only_code):
                or_again = ", or play it anew with --again" if only_code else ""
                raise UsageError(f"{self.path} holds another run{difference}; choose another --out{or_again}")
        if old is None and self.path.exists() and any(p.name != LOCK for p in self.path.iterdir()):
            raise UsageError(f"{self.path} is not empty and holds no run; choose another --out")
        return old or {}

    def open(self, *, again: bool = False) -> list[UnitPlan]:
        """Make the folder, or find it, and keep others out; what ``look`` finds.

        Raises:
            UsageError: see ``look``; or another process plays into it.
        """
        self._told(again=again)
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(self.path)
        missing = self.look(again=again)  # as it is now that nobody else is in it
        if missing or not self.file.exists():
            self._write("running")
        return missing

    def _is_done(self, plan: UnitPlan) -> bool:
        """Whether a unit is there to its end, and its log as it was when it was played."""
        folder, before = self.unit(plan.key), self._before.get(plan.key, {})
        return is_done(folder, plan) and before.get("log_sha256") in (None, file_digest(folder / LOG))

    def unit(self, key: str) -> Path:
        """A unit's folder."""
        return self.path / "units" / key

    def twin(self, key: str) -> Path:
        """The folder of a unit's zero-charge companion."""
        return self.unit(key) / TWIN

    def done(self, result: UnitResult) -> None:
        """A unit has been played, or could not be."""
        self._results[result.key] = result
        self._write("running")

    def close(self, status: str) -> None:
        """The run ended: ``done``, ``some_units_erred``, ``interrupted`` or ``stopped``."""
        self._write(status)
        self.release()

    def release(self) -> None:
        """Let other processes into the folder."""
        self._lock.release()

    def _write(self, status: str) -> None:
        units: dict[str, Any] = {}
        for plan in self.plans:
            result = self._results.get(plan.key)
            units[plan.key] = self._before.get(plan.key, {}) if result is None else result_record(result)
        first = next(iter(self.plans), None)
        seed = None if first is None else first.settings.seed
        write_json(self.file, run_record(status, self.given, self.resolved, seed, units))


def run_record(status: str, given: Mapping[str, Any], resolved: Mapping[str, Any], seed: int | None,
               units: Mapping[str, Any]) -> dict[str, Any]:  # fmt: skip
    """What ``run.json`` says, on this machine and now.

    Args:
        status: running, done, some_units_erred, interrupted or stopped.
        given: what the user asked for.
        resolved: by unit key, the log's header.
        seed: of the run.
        units: by unit key, what ``result_record`` tells; empty for those that were not played.
    """
    return {
        "schema": SCHEMA,
        "proact": proact_version(),
        "status": status,
        "identity": digest(resolved),
        "given": dict(given),
        "resolved": dict(resolved),
        "seed": seed,
        "host": dict(_host()),
        "written": utc_now().isoformat(timespec="seconds"),
        "units": dict(units),
    }


def result_record(result: UnitResult) -> dict[str, Any]:
    """A unit's result in JSON, without its key."""
    told = asdict(result) | {"audit": None if result.audit is None else result.audit.as_dict()}
    del told["key"]
    return told


@cache
def proact_version() -> str:
    """Of proact, as installed."""
    try:
        return version("proact")
    except PackageNotFoundError:
        return "not installed"


@cache
def _host() -> Mapping[str, Any]:
    """The machine in the words that bear on latency; nothing that names a person or a network."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "numpy": version("numpy"),
    }


def read_run(path: Path) -> dict[str, Any]:
    """``run.json`` of a run folder.

    Raises:
        InputError: there is none, or it is not one.
    """
    file = path / "run.json"
    try:
        with open_plain(file) as stream:
            return parse_run(file, stream.read(LARGEST))
    except (FileNotFoundError, NotADirectoryError) as error:
        if not path.exists():
            raise InputError(
                path, "there is no such folder; a run folder is wanted, see `run folder:` of a run"
            ) from error
        inner = sorted(f.parent.name for f in path.glob("*/run.json"))
        want = f"it holds runs, name one: {', '.join(inner[:8])}" if inner else "not a run folder: it has no run.json"
        if (path / "units").is_dir() and (path.absolute().parents[1] / "sweep.json").is_file():
            want = "not all of its units are played yet; the command of its sweep goes on"
        raise InputError(path, want) from error
    except OSError as error:
        raise InputError(file, f"cannot be read ({error.strerror})") from error


def read_units(path: str | Path) -> list[tuple[str, RunLog, Truth]]:
    """Key, log and truth of every unit of a run, sorted by key; interrupted ones as far as they came, those that have
    not begun not at all. ``lost`` tells which were there once.

    Raises:
        InputError: not a run folder, or a unit's file is broken.
    """
    path = Path(path)
    run = read_run(path)
    keys = [key for key in sorted(run["resolved"]) if runlog.has_begun(path / "units" / key / LOG)]
    return [(key, *read_unit(path, run, key)) for key in keys]


def lost(run: Mapping[str, Any], whole: Iterable[str]) -> list[str]:
    """Units that were played to their end, as ``run.json`` says, and of which no whole log is there any more.

    Args:
        run: as ``read_run`` gives it. While it is being played, a unit may be played anew: none is lost then.
        whole: keys of the units whose logs have their end.
    """
    there = set(whole)
    played = (key for key, told in run["units"].items() if told.get("log_sha256") is not None)
    return [] if run["status"] == "running" else sorted(key for key in played if key not in there)


def read_unit(path: Path, run: Mapping[str, Any], key: str) -> tuple[RunLog, Truth]:
    """A unit's log and truth: what was cut short as far as it came, what was changed since it was played not.

    Args:
        path: the run folder.
        run: as ``read_run`` gives it.
        key: of the unit.

    Raises:
        InputError: the unit has not begun, or a file of it is broken.
    """
    folder = path / "units" / key
    log, truth = read_log(folder, run["units"].get(key, {})), truths.read(folder / TRUTH)
    if truth.digest() != log.header.get("truth"):
        raise InputError(folder / TRUTH, _CHANGED_IN_SWEEP if (folder / UNIT).exists() else _CHANGED)
    return log, truth


def read_log(folder: Path, told: Mapping[str, Any]) -> RunLog:
    """A unit's log, as far as it came.

    Args:
        folder: of the unit.
        told: what ``run.json`` says of it.

    Raises:
        InputError: it is broken, or another than the one that was played.
    """
    log = runlog.read(folder / LOG)
    if log.complete and told.get("log_sha256") not in (None, file_digest(folder / LOG)):
        raise InputError(folder / LOG, _why_other(folder))
    return log


def _why_other(folder: Path) -> str:
    """Why a unit's log is another than the one of which ``run.json`` tells."""
    try:
        told = json.loads((folder / UNIT).read_bytes())
    except FileNotFoundError:
        return _CHANGED
    except (OSError, ValueError, RecursionError):
        return _CHANGED_IN_SWEEP
    played = isinstance(told, dict) and told.get("log_sha256") == file_digest(folder / LOG)
    return _PLAYED_SINCE if played else _CHANGED_IN_SWEEP


def _difference(old: Mapping[str, Any], new: Mapping[str, Mapping[str, Any]]) -> tuple[str, bool]:
    """The first difference of two runs in words, and whether the code of agent or memory is all that differs."""
    before = old.get("resolved", {})
    if set(before) != set(new):
        sides = {"there": sorted(set(before) - set(new)), "here": sorted(set(new) - set(before))}
        said = [f"unit {key} is only {where}" for where, keys in sides.items() for key in keys[:1]]
        more = sum(map(len, sides.values())) - len(said)
        return f" ({', '.join(said)}{f', and {more} more' if more else ''})", False
    found = [
        (key, field, before[key].get(field), value)
        for key in sorted(new)
        for field, value in new[key].items()
        if before[key].get(field) != value
    ]
    if not found:
        return "", False
    others = [f for f in found if not f[1].endswith("_code")]
    if not others:
        return f" (the code of the {found[0][1].removesuffix('_code')} has changed)", True
    key, field, there, here = others[0]
    return f" ({key}: {field} is '{there}' there and '{here}' here)", False
