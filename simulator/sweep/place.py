"""A sweep's folder: who is in it, what lies in it, what ``sweep.json`` says.

::

    SWEEP/sweep.json                            the study as resolved, its axes, cells and data sets, how it stands:
                                                starting_over, running, interrupted, some_units_erred, done
    SWEEP/runs/<cell>-<id>-s<seed>/             a run folder for each cell and seed
    SWEEP/runs/…/units/<key>/unit.json          how the unit went, and of what it was made
    SWEEP/runs/…/.scored                        digest of the units that its scores are of
    SWEEP/made-up/<data set>-<hash>/            data that were made for the study
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError, UsageError
from simulator.core.files import open_plain
from simulator.core.lock import FolderLock
from simulator.play.player import slug
from simulator.runs.folder import write_json
from simulator.runs.lock import LOCK
from simulator.runs.unit import LOG

__all__ = [
    "FILE", "RUN", "RUNS", "SCORED", "STARTING_OVER", "UNIT", "UNITS", "default_folder", "ensure_ours", "found_as",
    "is_part", "is_starting_over", "locked", "part_of", "read_plan", "remove_runs", "rename_runs", "score_mark",
    "sweep_leftovers", "unit_stands", "write_plan",
]  # fmt: skip

FILE, RUNS, UNITS, UNIT, SCORED = "sweep.json", "runs", "units", "unit.json", ".scored"
RUN = "run.json"
_OURS = (LOCK, "made-up", "leases", FILE + ".part")
"""What a sweep that was ended at once may have left before its ``sweep.json``."""
SCHEMA = 1
STARTING_OVER = "starting_over"
"""How a sweep stands from the moment it is to be played anew until nothing is left of what was played before."""
_LARGEST = 1 << 28  # bytes of sweep.json
_RUN = re.compile(r"-([0-9a-f]{10}-s\d+)\Z")


def default_folder(name: str, identity: str) -> Path:
    """Named after what is studied, so that the same command finds it again."""
    return Path("runs") / f"sweep-{slug(name)}-{identity[:10]}"


def ensure_ours(folder: Path, name: str) -> None:
    """Refuse a folder that holds anything else than this study, as it was or as it is.

    Raises:
        UsageError: it holds another study, or no sweep.
    """
    if (folder / FILE).exists():
        before = read_plan(folder)
        if before["name"] != name:
            raise UsageError(f"{folder} holds the study '{before['name']}'; choose another --out for '{name}'")
    elif folder.exists() and not _has_runs(folder / RUNS) and any(p.name not in _OURS for p in folder.iterdir()):
        raise UsageError(f"{folder} is not empty and holds no sweep; choose another --out")


def _has_runs(runs: Path) -> bool:
    """Whether a folder holds runs of a sweep and nothing else: of one whose damaged ``sweep.json`` was removed."""
    return runs.is_dir() and bool(names := os.listdir(runs)) and all(map(_RUN.search, names))


def locked(folder: Path) -> FolderLock:
    """Make the folder, or find it, and keep other processes out.

    Raises:
        UsageError: another process plays into it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    said = f"another proact is playing the sweep {folder}; wait for it, or choose another --out"
    return FolderLock(folder / LOCK, said)


def read_plan(sweep: Path) -> dict[str, Any]:
    """``sweep.json``.

    Raises:
        InputError: there is none, or it is not one.
    """
    file = sweep / FILE
    try:
        with open_plain(file) as stream:
            told = json.loads(stream.read(_LARGEST))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(sweep, "not a sweep's folder: it has no sweep.json") from None
    except OSError as error:
        raise InputError(file, f"cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(file, f"damaged: no sweep file ({error}); remove it, and the command that played the sweep "
                               "writes it anew and finds what was played") from error  # fmt: skip
    if not isinstance(told, dict) or told.get("schema") != SCHEMA or not isinstance(told.get("name"), str):
        raise InputError(file, f"not a sweep file of schema {SCHEMA}")
    return told


def write_plan(sweep: Path, told: Mapping[str, Any]) -> None:
    """Write ``sweep.json`` beside, then rename it."""
    write_json(sweep / FILE, {"schema": SCHEMA, **told})


def is_starting_over(sweep: Path) -> bool:
    """Whether a start over was begun whose old runs may be there still: none of them is to count.

    Raises:
        InputError: a ``sweep.json`` that is none.
    """
    return (sweep / FILE).exists() and read_plan(sweep).get("status") == STARTING_OVER


def remove_runs(sweep: Path, names: Iterable[str]) -> None:
    """Remove runs, with what was played of them.

    Raises:
        UsageError: one cannot be removed.
    """
    for name in names:
        try:
            shutil.rmtree(sweep / RUNS / name)
        except FileNotFoundError:
            continue
        except OSError as error:
            want = f"cannot be removed ({error.strerror or error}), and would be mixed with what is played now"
            raise UsageError(f"{sweep / RUNS / name}: what was played before {want}") from error


def found_as(runs: Path, wanted: Iterable[str]) -> dict[str, str]:
    """By the name that a run has in a study as it is, the name of its folder: one of the same cell and seed may have
    been named by other axes. Runs that are not there are left out.
    """
    if not runs.is_dir():
        return {}
    names = sorted(os.listdir(runs), reverse=True)  # of several of one cell and seed (copies) the first
    there, known = {match[1]: name for name in names if (match := _RUN.search(name))}, set(names)
    return {
        name: name if name in known else there[match[1]]
        for name in wanted if (match := _RUN.search(name)) and match[1] in there
    }  # fmt: skip


def rename_runs(runs: Path, wanted: Iterable[str]) -> None:
    """Give runs of a study as it was the names that they have in it as it is: those of the same cell and seed."""
    for name, before in found_as(runs, wanted).items():
        if before != name:
            (runs / before).rename(runs / name)


def part_of(units: Path, key: str, mark: str) -> Path:
    """Where a unit is made before it gets its name; ``mark`` tells attempts apart."""
    return units / f".{key}.part-{mark}"


def is_part(name: str) -> bool:
    """Whether a folder below ``units`` is a unit that never came to its end."""
    return name.startswith(".") and ".part-" in name


def sweep_leftovers(units: Path) -> None:
    """Remove what attempts left that were killed; nobody may be playing there."""
    for entry in list(os.scandir(units)) if units.is_dir() else ():
        if is_part(entry.name):
            shutil.rmtree(entry.path, ignore_errors=True)


def unit_stands(folder: str | Path, inputs: str) -> tuple[str, str]:
    """How a unit stands, and what its scores' mark is made of.

    Args:
        folder: of the unit.
        inputs: what it would be made of now.

    Returns:
        ``done``, ``erred``, ``changed`` (it is of other inputs), ``damaged`` or ``missing``; the SHA-256 of its log.
    """
    try:
        with open(f"{folder}/{UNIT}", "rb") as file:
            told = json.loads(file.read())
    except FileNotFoundError:
        return "missing", ""
    except (OSError, ValueError, RecursionError):
        return "damaged", ""
    try:
        if told["inputs"] != inputs:
            return "changed", ""
        if told["error"] is not None:
            return "erred", str(told["log_sha256"])
        size = os.stat(f"{folder}/{LOG}").st_size  # what is in it is looked at when it is scored
        return ("done" if told.get("log_size", size) == size else "damaged"), str(told["log_sha256"])
    except (OSError, KeyError, TypeError, AttributeError):
        return "damaged", ""


def score_mark(stand: Iterable[tuple[str, str, str]]) -> str:
    """Digest of what the scores of a run are of: key, how the unit stands and the SHA-256 of its log, each."""
    return sha256(repr(list(stand)).encode("utf-8", "surrogatepass")).hexdigest()
