"""What may stand in a study file, and the sentences for what may not.

YAML or TOML by suffix. The published JSON schema is ``docs/study.schema.json``, written by ``json_schema()``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, field_validator
from pydantic_core import ErrorDetails

from simulator.core.errors import InputError, nearest
from simulator.session.scenario_file import read_mapping
from simulator.sweep.faults import Faults

__all__ = ["FIGURES", "DataSpec", "GenerateSpec", "NoiseSpec", "StudyFile", "json_schema", "load", "parse", "said"]

FIGURES = ("heatmap", "context", "deadline", "pareto")
MOST_SEEDS = 100_000
MOST_BYTES = 100
Text = Annotated[str, Field(min_length=1)]
Whole = Annotated[int, Field(strict=True, ge=0, lt=2**63)]
Scalar = str | int | float | bool
Value = Scalar | dict[str, Any]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class GenerateSpec(_Strict):
    """Made-up users, as ``proact dataset generate`` makes them; made once, into the sweep's folder."""

    recipe: Text = Field("habits-strong", description="a recipe file, relative to this one, or one of proact's by name")
    users: Annotated[int, Field(strict=True, ge=1, le=100_000)] = 12
    days: Annotated[int, Field(strict=True, ge=1, le=3650)] = 14
    seed: Whole = 0
    sessions: Annotated[int, Field(strict=True, ge=1)] = Field(1, description="of the last days of work of each user")


class NoiseSpec(_Strict):
    """The noisy twins of another data set, as ``proact dataset noise`` makes them; made once."""

    of: Text = Field(description="the data set whose twins they are")
    rate: Annotated[float, Field(ge=0, le=0.9)] = 0.25
    seed: Whole = 0
    kinds: list[Text] = ["switch", "idle", "browse"]


class DataSpec(_Strict):
    """A data set that is made for the study."""

    generate: GenerateSpec | None = None
    noise: NoiseSpec | None = None


def _kind_of_data(value: Any) -> str:
    return "paths" if isinstance(value, list) else "made"


Data = Annotated[Annotated[list[Text], Tag("paths")] | Annotated[DataSpec, Tag("made")], Discriminator(_kind_of_data)]


class StudyFile(_Strict):
    """A study: every value of every axis with every other, over the same sessions and seeds."""

    name: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[\w.:+-]+$")] = Field(
        description="goes into the folder's name"
    )
    title: str | None = None
    description: str | None = None
    sessions: list[Text] | None = Field(
        None,
        min_length=1,
        description="scenarios, sessions, folders of many, relative to this file; default: eight of proact's",
    )
    data: dict[Text, Data] | None = Field(None, min_length=1, description="several data sets by name: they are an axis")
    axes: dict[Text, list[Value] | Value] = Field(
        default_factory=dict,
        description="agent, memory, embedder, model, clock, latency, policy, protocol, gate, window, rate, "
        "memory_mode, timeout, a parameter of the agents such as modality, or memory.NAME: each a list of values",
    )
    seeds: list[Whole] | Annotated[int, Field(strict=True, ge=1, le=MOST_SEEDS)] = Field(
        [0], description="a list, or how many, counted from 0"
    )
    include: list[dict[Text, Value]] = Field(
        default_factory=list, description="further cells; axes that one does not name take all their values"
    )
    exclude: list[dict[Text, Value]] = Field(default_factory=list, description="cells to leave out")
    baseline: dict[Text, Value] = Field(
        default_factory=dict, description="by axis, the value that others are held against"
    )
    metrics: list[Text] = Field(default_factory=list, description="default: the headline figures of the protocol")
    fail_if: list[Text] = Field(default_factory=list, description="gates such as F1_rt<0.6")
    figures: list[Text] = Field(
        default_factory=list, description=f"of {', '.join(FIGURES)}; heatmap:DOWN,ACROSS names the axes"
    )
    layout: dict[str, Any] = Field(default_factory=dict, description="how a preset lays out its table")
    published: list[dict[str, Any]] = Field(default_factory=list, description="values to stand in grey beside ours")

    @field_validator("seeds")
    @classmethod
    def _each_once(cls, seeds: list[int] | int) -> list[int] | int:
        if isinstance(seeds, list) and (not seeds or len(set(seeds)) < len(seeds)):
            raise ValueError("a list of whole numbers, each once" if seeds else "at least one seed")
        return seeds

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """The seeds themselves."""
        return tuple(range(self.seeds)) if isinstance(self.seeds, int) else tuple(self.seeds)


def said(value: Any) -> str:
    """A value of an axis as one types it on the command line.

    >>> said(True), said(0.5), said("rag:k=3")
    ('true', '0.5', 'rag:k=3')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, sort_keys=True) if isinstance(value, dict) else str(value)


def load(path: Path) -> StudyFile:
    """Read a study file.

    Raises:
        InputError: unreadable, not YAML or TOML, an unknown key, a value that does not fit.
    """
    if not path.is_file():
        raise InputError(path, "there is no such study file")
    return parse(read_mapping(path), path)


def parse(raw: Mapping[str, Any], where: Path) -> StudyFile:
    """A study from what its file holds.

    Raises:
        InputError: an unknown key, a value that does not fit; with the field.
    """
    faults = Faults()
    try:
        study = StudyFile.model_validate(dict(raw))
    except ValidationError as error:
        for fault in _each(error):
            faults.note(_sentence(fault, where))
        faults.tell()
        raise
    if study.sessions is not None and study.data is not None:
        want = "give sessions, or data with several sets by name, not both"
        faults.note(InputError(where, want, field="data"))
    for name in study.data or ():  # a folder of made-up users is named after it
        if name.strip(".") == "" or not name.isprintable() or set(name) & set("/\\") or len(name.encode()) > MOST_BYTES:
            want = f"a data set's name is no path: up to {MOST_BYTES} bytes without slashes"
            faults.note(InputError(where, want, field="data", value=name))
    for name, paths in {"sessions": study.sessions, **{f"data.{n}": d for n, d in (study.data or {}).items()}}.items():
        for path in paths if isinstance(paths, list) else ():
            if "\0" in path:
                faults.note(InputError(where, "no path holds a zero byte", field=name))
    with faults.noted():
        _ensure_plain(study, where)
    for word in study.figures:
        with faults.noted():
            _ensure_figure(word, study, where)
    faults.tell()
    return study


def _ensure_figure(word: str, study: StudyFile, where: Path) -> None:
    kind, named, axes = word.partition(":")
    if kind not in FIGURES:
        raise InputError(where, f"no such figure; {nearest(word, FIGURES)}", field="figures", value=word)
    if named and (kind != "heatmap" or not _two_axes(axes.split(","), study)):
        want = "axes go with a heat map, two of the study: heatmap:DOWN,ACROSS"
        raise InputError(where, want, field="figures", value=word)


def _ensure_plain(study: StudyFile, where: Path) -> None:
    """Refuse what no JSON file could hold, such as bytes and dates: all of a study is written into its sweep."""
    for name, value in study:
        try:
            json.dumps(value, allow_nan=False, default=_dumped)
        except (TypeError, ValueError, RecursionError):
            want = "texts, numbers, true, false, lists and mappings are wanted, no bytes and no dates"
            raise InputError(where, want, field=name) from None


def _dumped(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump()
    raise TypeError


def _two_axes(named: Sequence[str], study: StudyFile) -> bool:
    return len(set(named)) == len(named) == 2 and all(
        axis in (*study.axes, "data", "agent", "memory") for axis in named
    )


_MODELS: Mapping[str, type[BaseModel]] = {"generate": GenerateSpec, "noise": NoiseSpec}


def _each(error: ValidationError) -> list[ErrorDetails]:
    """Its faults, a place once: of the branches of a union that which came furthest, an unknown key, or the first."""
    faults = error.errors(include_url=False)
    found: dict[tuple[str | int, ...], ErrorDetails] = {}
    for fault in sorted(faults, key=lambda f: f["type"] != "extra_forbidden"):
        found.setdefault(tuple(_places(fault)), fault)
    outer = {place[:n] for place in found for n in range(1, len(place))}
    return [fault for place, fault in found.items() if place not in outer]


def _places(fault: ErrorDetails) -> list[str | int]:
    """Where it is, as one would find it in the file; the branches of a union are no places."""
    loc = [p for i, p in enumerate(fault["loc"]) if not (p in ("paths", "made") and i == 2)]  # which kind of data set
    return [p for p in loc if isinstance(p, int) or not _is_branch(p)]


def _sentence(fault: ErrorDetails, where: Path) -> InputError:
    places = _places(fault)
    field = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in places).lstrip(".") or None
    value = fault.get("input")
    if fault["type"] == "extra_forbidden":
        inner = next((_MODELS[str(p)] for p in reversed(places[:-1]) if p in _MODELS), None)
        if inner is None:
            inner = DataSpec if places[0] == "data" and len(places) > 1 else StudyFile
        return InputError(where, f"unknown key; {nearest(str(places[-1]), inner.model_fields)}", field=field)
    if fault["type"] == "missing":
        return InputError(where, "this key is missing", field=field)
    shown = None if isinstance(value, dict | list) else said(value)
    return InputError(where, _wanted(fault["type"], str(fault["msg"]), places, value), field=field, value=shown)


_SEEDS = f"a list of whole numbers from 0, each once, or how many of them: 1 to {MOST_SEEDS:,}"
_NAME = "letters, digits and . : + - _, without blanks"
_SET = "a list of sessions is wanted, or a mapping with generate or noise"


def _wanted(kind: str, said_of_it: str, places: Sequence[Any], value: Any) -> str:
    """What is wanted there, in words of the file."""
    if places[0] == "seeds":
        return said_of_it.removeprefix("Value error, ") if kind == "value_error" else _SEEDS
    if kind == "string_pattern_mismatch":
        return _NAME
    if places[0] == "data" and len(places) == 2:
        return _SET
    if kind == "string_type" and places[0] in ("axes", "include", "exclude", "baseline"):
        return "a text, a number, true or false is wanted, or of a model a mapping"
    if kind == "list_type":
        return "a list is wanted" + ("" if isinstance(value, dict) else f", such as [{said(value)}]")
    if kind in ("dict_type", "model_type", "model_attributes_type", "mapping_type"):
        return "a mapping is wanted: names, each with its value"
    return said_of_it.removeprefix("Input ").removeprefix("Value error, ")


def _is_branch(place: str) -> bool:
    return place in ("str", "int", "float", "bool", "constrained-int") or "[" in place


def json_schema() -> dict[str, Any]:
    """The schema of a study file (JSON Schema 2020-12)."""
    schema = StudyFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "proact study"}


if __name__ == "__main__":
    json.dump(json_schema(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
