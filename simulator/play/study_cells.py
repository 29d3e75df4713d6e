"""A cell of a sweep as one side of a comparison: its runs of all seeds, by the name that the study gives it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator.core.errors import InputError, UsageError, likely, quote
from simulator.sweep.cell_names import cell_names

__all__ = ["Named", "named"]

PLAN = "sweep.json"
_TOLD = 4


@dataclass(frozen=True, slots=True)
class Named:
    """A cell: its name, and the folders of its runs that are there."""

    name: str
    runs: tuple[Path, ...]


def named(paths: Sequence[Path]) -> list[Path | Named]:
    """What is named, in its order: runs and folders of runs as they are; in place of cells their runs.

    A cell is ``SWEEP/CELL``, or a word behind the folder of its sweep, by its name or its id.

    Raises:
        UsageError: a sweep without cells behind it, or a cell that it does not have.
        InputError: a cell of which nothing was played, or a damaged plan.
    """
    found: list[Path | Named] = []
    sweep: Path | None = None
    used = True
    for path in paths:
        if _is_sweep(path):
            _ensure_used(sweep, used)
            sweep, used = path, False
        elif sweep is not None and (str(path) in _cells(sweep) or not path.exists()):
            found.append(_cell(sweep, str(path)))
            used = True
        elif not path.exists() and _is_sweep(path.parent):
            found.append(_cell(path.parent, path.name))
        else:
            found.append(path)
    _ensure_used(sweep, used)
    return found


def _is_sweep(path: Path) -> bool:
    return (path / PLAN).is_file() and not (path / "run.json").exists()


def _ensure_used(sweep: Path | None, used: bool) -> None:
    if sweep is not None and not used:
        raise UsageError(f"{sweep} is a sweep; name two of its cells behind it: {_some(_cells(sweep))}")


def _some(cells: Mapping[str, Named]) -> str:
    """Names of cells, as many as a sentence has room for."""
    names = [name for name, cell in cells.items() if name == cell.name]
    return ", ".join(names[:_TOLD]) + (f" and {len(names) - _TOLD} more" if len(names) > _TOLD else "")


def _cells(sweep: Path) -> dict[str, Named]:
    """By name and by id; ``runs`` as planned."""
    file = sweep / PLAN
    try:
        plan = json.loads(file.read_bytes())
        cells = [
            (cell["id"], Named(name, tuple(sweep / "runs" / run["run"] for run in cell["runs"])))
            for cell, name in zip(plan["cells"], cell_names(plan["cells"]), strict=True)
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(file, f"not a sweep's plan ({type(error).__name__})") from error
    return dict(cells) | {cell.name: cell for _, cell in cells}


def _cell(sweep: Path, name: str) -> Named:
    cells = _cells(sweep)
    if (cell := cells.get(name)) is None:
        raise UsageError(f"{sweep} has no cell {quote(name)}; {likely(name, cells)}known: {_some(cells)}")
    runs = tuple(folder for folder in cell.runs if (folder / "run.json").is_file())
    if not runs:
        raise InputError(
            sweep, f"of its cell {quote(name)} no run has come to its end yet; the sweep's command goes on"
        )
    return Named(cell.name, runs)
