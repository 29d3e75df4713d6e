"""From the axes of a study to its cells: every value with every other, further ones, without those left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError, UsageError, nearest, quote
from simulator.endpoint.types import ModelChoice
from simulator.sweep.axes import ALWAYS, Axis, Draft, canonical, choice_of, ensure_axis
from simulator.sweep.faults import Faults
from simulator.sweep.study import StudyFile, said
from simulator.sweep.types import Cell

__all__ = ["MOST_CELLS", "Grid", "grid"]

MOST_CELLS = 1_000_000
DATA, ONE_SET = "data", "sessions"


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a study, and the axes as they came out: with what ``include`` added, and ``-`` where it is."""

    axes: tuple[Axis, ...]
    cells: tuple[Cell, ...]
    baseline: Mapping[str, str]


def grid(study: StudyFile, where: Path, *, model: ModelChoice | None = None,
         set_: Mapping[str, Sequence[str]] | None = None) -> Grid:  # fmt: skip
    """The cells of a study, each once, in the order of the axes (the last one runs fastest).

    Args:
        study: as its file says.
        where: the file, for messages.
        model: what the command line chose, under what the axis ``model`` says.
        set_: axes that the command line sets, over those of the file.

    Raises:
        InputError: an axis or a value that there is not, with the field and the nearest.
    """
    models: dict[str, Any] = {}
    axes = _axes(study, where, models, set_ or {})
    entries = _entries(study, axes, where, models, set_ or {})
    drafts = [dict(zip(axes, values, strict=True)) for values in _product(axes, where)]
    for given in entries.include:
        free = {name: [given[name]] if name in given else values for name, values in axes.items()}
        drafts += [dict(zip(free, values, strict=True)) for values in _product(free, where)]
    for given in entries.exclude:
        drafts = [d for d in drafts if any(d[name] != value for name, value in given.items())]
    axes = entries.axes
    varying = tuple(name for name, values in axes.items() if len(values) > 1)
    cells: dict[tuple[tuple[str, str], ...], Cell] = {}
    faults: dict[str, InputError] = {}  # one of each kind
    for values in drafts:
        draft = Draft(dict(values), values)
        try:
            choice_of(draft, models, model)
        except UsageError as error:
            faults.setdefault(str(error), InputError(where, str(error), field=_told(values, varying)))
            continue
        key = tuple(draft.values.items())
        cells.setdefault(key, Cell(key, draft.choice, draft.values[DATA], varying))
    Faults.of(faults.values()).tell()
    if not cells:
        raise InputError(where, "no cell is left of it", field="exclude")
    found = tuple(cells.values())
    return Grid(_as_they_are(axes, found), found, entries.baseline)


@dataclass(frozen=True, slots=True)
class _Entries:
    """What include, exclude and baseline say, by axis; ``axes`` are those of the study with what is included."""

    include: list[dict[str, str]]
    exclude: list[dict[str, str]]
    baseline: dict[str, str]
    axes: dict[str, list[str]]


def _entries(study: StudyFile, axes: Mapping[str, Sequence[str]], where: Path, models: dict[str, Any],
             set_: Collection[str]) -> _Entries:  # fmt: skip
    faults, found = Faults(), _Entries([], [], {}, {name: list(values) for name, values in axes.items()})
    for i, entry in enumerate(study.include):
        with faults.noted():
            found.include.append(_entry(entry, f"include[{i}]", axes, where, models))
    for name in axes:
        found.axes[name] += [given[name] for given in found.include if name in given]
        found.axes[name][:] = dict.fromkeys(found.axes[name])
    # A value that the command line took away needs no leaving out, and is no mistake of the file.
    excludable = {name: [*v, *(_of_file(study, name, where) if name in set_ else ())] for name, v in found.axes.items()}
    for i, entry in enumerate(study.exclude):
        with faults.noted():
            if not entry:
                raise InputError(where, "an axis with a value is wanted", field=f"exclude[{i}]")
            given = _entry(entry, f"exclude[{i}]", excludable, where, models, known=True, set_=set_)
            found.exclude.append(given)
    with faults.noted():
        found.baseline.update(_entry(study.baseline, "baseline", found.axes, where, models, known=True, set_=set_))
    faults.tell()
    return found


def _of_file(study: StudyFile, name: str, where: Path) -> list[str]:
    """What the file says of an axis, as typed; values that there are not are nobody's affair here."""
    typed = list(study.data or ()) if name == DATA else study.axes.get(name, [])
    found = []
    for value in typed if isinstance(typed, list) else [typed]:
        with suppress(InputError):
            found.append(_word(name, value, {}, where, name))
    return found


def _told(values: Mapping[str, str], varying: Sequence[str]) -> str:
    return "cell " + (" ".join(f"{name}={values[name]}" for name in varying) or "(the only one)")


def _axes(study: StudyFile, where: Path, models: dict[str, Any], set_: Mapping[str, Sequence[str]]
          ) -> dict[str, list[str]]:  # fmt: skip
    """By name the values as typed; data, agent and memory are always there, and in front."""
    given: dict[str, list[Any]] = {}
    for name, values in study.axes.items():
        given[name] = list(values) if isinstance(values, list) else [values]
    given |= {name: list(values) for name, values in set_.items()}
    if DATA in study.axes:
        raise InputError(where, "data sets are named under data, beside axes", field="axes.data")
    sets = list(study.data) if study.data is not None else [ONE_SET]
    chosen = [said(v) for v in given.pop(DATA, sets)]
    axes: dict[str, list[str]] = {DATA: []}
    for name in chosen:
        if name not in sets:
            raise InputError(where, f"no such data set; {nearest(name, sets)}", field="data", value=name)
        axes[DATA].append(name)
    given = {name: given.pop(name, [value]) for name, value in ALWAYS.items()} | given
    fields = {name: f"axes.{name}" + (" (set on the command line)" if name in set_ else "") for name in given}
    faults = Faults()
    for name, values in given.items():
        with faults.noted():
            axes[name] = _values(name, values, models, where, fields[name])
    further: list[dict[str, str]] = []
    for i, entry in enumerate(study.include):
        with faults.noted():
            words = {name: value for name, value in entry.items() if name in ALWAYS}
            further.append({n: _word(n, v, models, where, f"include[{i}].{n}") for n, v in words.items()})
    faults.tell()
    specs = {kind: [*axes[kind], *(e[kind] for e in further if kind in e)] for kind in ALWAYS}
    for name in axes:
        try:
            ensure_axis(name, specs["agent"], specs["memory"])
        except UsageError as error:
            faults.note(InputError(where, str(error), field=fields.get(name)))
    faults.tell()
    return axes


def _values(name: str, values: Sequence[Any], models: dict[str, Any], where: Path, field: str) -> list[str]:
    """Those of an axis as typed."""
    found = [_word(name, value, models, where, field) for value in values]
    if not found:
        raise InputError(where, "at least one value is wanted", field=field)
    first = {value: i for i, value in reversed(list(enumerate(found)))}
    if (nth := next((i for i, value in enumerate(found) if first[value] != i), None)) is not None:
        typed, value = said(values[nth]), found[nth]
        is_alias = typed != value and not isinstance(values[nth], dict)
        why = f", and this is another word for {quote(value)}" if is_alias else ""
        raise InputError(where, f"each value once{why}", field=field, value=typed if why else value)
    return found


def _word(axis: str, value: Any, models: dict[str, Any], where: Path, field: str) -> str:
    """A value as typed, by our own name where an alias was; that of a model with more than a name goes by its name, or
    by all of it where that is taken.
    """
    if axis in ALWAYS:
        try:
            return canonical(axis, said(value))
        except UsageError as error:
            raise InputError(where, str(error), field=field) from error
    if not isinstance(value, dict):
        return said(value)
    if axis != "model":
        return said(value)
    name = str(value.get("name") or value.get("model") or said(value))
    if name in models and models[name] != value:
        name = f"{name}@{value.get('base_url', said(value))}"
    models[name] = value
    return name


def _entry(entry: Mapping[str, Any], field: str, axes: Mapping[str, Sequence[str]], where: Path,
           models: dict[str, Any], *, known: bool = False, set_: Collection[str] = ()) -> dict[str, str]:  # fmt: skip
    """An entry of include, exclude or baseline; ``known``: its values must be among those of the study."""
    found = {}
    for name, value in entry.items():
        if name not in axes:
            raise InputError(where, f"the study has no such axis; {nearest(name, axes)}", field=f"{field}.{name}")
        try:
            found[name] = _word(name, value, models, where, f"{field}.{name}")
        except InputError:
            if not known:
                raise
            found[name] = said(value)  # which is no value of that axis
        if (known or name == DATA) and found[name] not in axes[name]:
            as_set = " as it is set on the command line" if name in set_ else ""
            want = f"no value of that axis{as_set}; {nearest(found[name], axes[name])}"
            raise InputError(where, want, field=f"{field}.{name}", value=found[name])
    return found


def _product(axes: Mapping[str, Sequence[str]], where: Path) -> list[tuple[str, ...]]:
    n = 1
    for values in axes.values():
        n *= len(values)
    if n > MOST_CELLS:
        raise InputError(where, f"{n:,} cells; at most {MOST_CELLS:,} fit into one study", field="axes")
    return list(product(*axes.values()))


def _as_they_are(axes: Mapping[str, Sequence[str]], cells: Sequence[Cell]) -> tuple[Axis, ...]:
    """The axes with the values that cells have, in the order given, ``-`` last."""
    found = []
    for i, (name, values) in enumerate(axes.items()):
        there = {cell.values[i][1] for cell in cells}
        found.append(Axis(name, (*(v for v in values if v in there), *sorted(there - set(values)))))
    return tuple(found)
