"""What a sweep was to be, as its ``sweep.json`` says: cells, runs, units, what is held against what."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.sweep.cell_names import cell_names

__all__ = ["Planned", "PlannedCell", "Study", "planned"]

PLAN = "sweep.json"
Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Planned:
    """A run as the study plans it.

    Attributes:
        folder: its name below ``runs/``.
        keys: of its units, by session.
    """

    folder: str
    seed: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell as the study plans it; ``marked``: it is measured beside others; ``model``: whom it asks, by name."""

    id: str
    name: str
    values: Mapping[str, str]
    data: str
    marked: bool
    runs: tuple[Planned, ...]
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Study:
    """What ``sweep.json`` says: what was asked for.

    Attributes:
        axes: name to values, in order.
        baseline: value of an axis that effects are held against; the first value where none is named.
        metrics: names that tables show; empty: the headlines of the protocol.
        gates: ``fail_if`` of the study.
    """

    name: str
    identity: str
    preset: str | None
    axes: Mapping[str, tuple[str, ...]]
    baseline: Mapping[str, str]
    metrics: tuple[str, ...]
    gates: tuple[str, ...]
    cells: tuple[PlannedCell, ...]


def planned(sweep: Path) -> Study:
    """What a sweep's ``sweep.json`` says.

    Raises:
        InputError: there is none, or it is none.
    """
    file = sweep / PLAN
    try:
        told = json.loads(file.read_bytes())
        return _study(told)
    except OSError as error:
        raise InputError(file, f"not a sweep's folder: cannot be read ({error.strerror})") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(file, f"not a sweep's plan ({type(error).__name__}: {error})") from error


def _study(told: Told) -> Study:
    study = told["study"]
    cells = tuple(
        PlannedCell(
            str(cell["id"]), name, {str(k): str(v) for k, v in cell["values"].items()}, str(cell["data"]),
            bool(cell.get("marked")),
            tuple(Planned(str(run["run"]), int(run["seed"]), tuple(run["keys"])) for run in cell["runs"]),
            ((cell.get("choice") or {}).get("model") or {}).get("model"),
        )
        for cell, name in zip(told["cells"], cell_names(told["cells"]), strict=True)
    )  # fmt: skip
    return Study(
        name=str(study["name"]),
        identity=str(told["identity"]),
        preset=study.get("preset"),
        axes={str(axis["name"]): tuple(map(str, axis["values"])) for axis in told["axes"]},
        baseline={str(k): str(v) for k, v in (study.get("baseline") or {}).items()},
        metrics=tuple(dict.fromkeys(study.get("metrics") or ())),
        gates=tuple(study.get("fail_if") or ()),
        cells=cells,
    )
