"""A sweep's ``summary.json`` read back: whatever was done to it by hand, what comes out has the form that the readers
of studies build on. What none of them looks at is not looked at here either.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from simulator.core.errors import InputError
from simulator.core.files import open_plain
from simulator.figures.summary import Summary

__all__ = ["FILE", "SCHEMA", "read_summary"]

FILE = "summary.json"
SCHEMA = 1
_LARGEST = 64_000_000  # bytes
_LONGEST_NAME = 255  # bytes: no file system of today takes more


@dataclass(frozen=True, slots=True)
class _Value:
    """A value without parts; ``want`` says which."""

    want: str
    fits: Callable[[Any], bool]


def _or_null(value: _Value) -> _Value:
    return _Value(f"{value.want} or null", lambda found: found is None or value.fits(found))


def _is_number(value: object) -> bool:
    try:
        return type(value) in (int, float) and isfinite(value)  # type: ignore[arg-type]  # it is one
    except OverflowError:  # a whole number of hundreds of digits
        return False


def _is_run(value: object) -> bool:
    if not isinstance(value, str) or not value.startswith("runs/"):
        return False
    name = value.removeprefix("runs/")
    return (
        name not in ("", ".", "..")
        and not set(name) & set("/\\\0")
        and len(name.encode(errors="replace")) <= _LONGEST_NAME
    )


_TEXT = _Value("text", lambda value: isinstance(value, str))
_FLAG = _Value("true or false", lambda value: isinstance(value, bool))
_NUMBER = _Value("a number", _is_number)
_COUNT = _Value("a whole number from 0", lambda value: type(value) is int and 0 <= value < 2**53)
_DIRECTION = _Value("up, down or -", lambda value: value in ("up", "down", "-"))
_RUN = _Value("runs/ and the name of a folder there", _is_run)
_NO_NUMBER, _NO_TEXT, _NO_COUNT = _or_null(_NUMBER), _or_null(_TEXT), _or_null(_COUNT)

# An object has the fields named (those with ? may be missing), or with * any, all of one form. (form, None): or null.
_GAIN = {"value": _NO_NUMBER, "low?": _NO_NUMBER, "high?": _NO_NUMBER}
_FIGURE = {
    **_GAIN, "n?": _NO_COUNT, "n_events?": _NO_NUMBER, "best?": _or_null(_FLAG), "like_best?": _or_null(_FLAG),
    "reason?": _NO_TEXT, "no_test?": _NO_TEXT, "gain?": (_GAIN, None),
}  # fmt: skip
_CELL = {
    "name": _TEXT, "values": {"*": _TEXT}, "units": {"done": _COUNT, "erred": _COUNT, "missing": _COUNT},
    "metrics": {"*": _FIGURE}, "runs?": [_RUN], "latency_ms?": ({"p50?": _NO_NUMBER, "p95?": _NO_NUMBER}, None),
    "cost?": _NO_NUMBER, "tokens?": ({"*": _NUMBER}, None), "latency_source?": _NO_TEXT, "marked?": _or_null(_FLAG),
}  # fmt: skip
_EFFECT = {
    "axis": _TEXT, "value": _TEXT, "against": _TEXT, "metric": _TEXT, "gain": _NO_NUMBER, "low": _NO_NUMBER,
    "high": _NO_NUMBER, "adjusted": _NO_NUMBER, "n": _NO_COUNT, "n_cells?": _NO_COUNT, "first?": _NO_NUMBER,
    "second?": _NO_NUMBER, "reason?": _NO_TEXT, "data?": _NO_TEXT,
}  # fmt: skip
_SUMMARY = {
    "study": {"name": _TEXT, "identity": _TEXT, "preset?": _NO_TEXT},
    "axes": [{"name": _TEXT, "values": [_TEXT], "varies": _FLAG}],
    "baseline": {"*": _TEXT},
    "metrics": [{"name": _TEXT, "direction": _DIRECTION, "unit?": _TEXT, "formula?": _NO_TEXT}],
    "caveats": [_TEXT],
    "cells": [_CELL],
    "effects": [_EFFECT],
    "published?": [{"row": _TEXT, "column": _TEXT, "value": _NO_NUMBER, "source": _TEXT}],
}


def read_summary(folder: Path) -> Summary:
    """The summary of a sweep.

    Raises:
        InputError: it has not been summed up yet, no cell has a figure, or it is no summary; then the first field that
            is not what it should be is named.
    """
    file = folder / FILE
    try:
        with open_plain(file) as stream:
            text = stream.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            raise InputError(file, f"is larger than {_LARGEST // 1_000_000} MB")
        raw = json.loads(text.decode("utf-8"), parse_constant=_no_number)
    except FileNotFoundError:
        want = "this study has not been summed up yet: its command does that when all is played"
        raise InputError(file, want) from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(file, "cannot be read; the study's command writes it anew") from error
    if not isinstance(raw, dict) or "schema" not in raw:
        raise InputError(file, "not a summary of a study: it names no schema")
    if raw["schema"] != SCHEMA:
        want = f"this version reads schema {SCHEMA}; the study's command writes it anew"
        raise InputError(file, want, field="schema", value=raw["schema"])
    fault = _fault(raw, _SUMMARY) or _empty_axis(raw)
    if fault is not None:
        where, want, value = fault
        said = None if value is _MISSING else value
        raise InputError(file, f"not a summary of a study: {want} is wanted", field=where.lstrip("."), value=said)
    if not raw["metrics"] or not raw["cells"]:
        raise InputError(file, "no cell of this study has a figure yet")
    return Summary(raw)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


_Fault = tuple[str, str, object]
_MISSING = object()


def _fault(value: Any, form: Any) -> _Fault | None:
    """The first part that is not of its form: where, what is wanted, what is there."""
    if isinstance(form, _Value):
        return None if form.fits(value) else ("", form.want, value)
    if isinstance(form, tuple):
        return None if value is None else _fault(value, form[0])
    if isinstance(form, list):
        if not isinstance(value, list):
            return "", "a list", value
        return _first((f"[{n}]", one, form[0]) for n, one in enumerate(value))
    if not isinstance(value, dict):
        return "", "an object", value
    if "*" in form:
        return _first((f".{name}", one, form["*"]) for name, one in value.items())
    wanted = ((name.rstrip("?"), of) for name, of in form.items() if not name.endswith("?") or name[:-1] in value)
    return _first((f".{name}", value.get(name, _MISSING), of) for name, of in wanted)


def _first(parts: Iterable[tuple[str, Any, Any]]) -> _Fault | None:
    for at, value, form in parts:
        if (found := _fault(value, form)) is not None:
            return at + found[0], *found[1:]
    return None


def _empty_axis(raw: dict[str, Any]) -> _Fault | None:
    empty = next((n for n, axis in enumerate(raw["axes"]) if not axis["values"]), None)
    return None if empty is None else (f"axes[{empty}].values", "a list of one value at least", [])
