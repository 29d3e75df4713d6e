"""``run.json`` read back: whatever was done to it by hand, what comes out has the form that its readers build on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from simulator.core.errors import InputError

__all__ = ["SCHEMA", "parse_run"]

SCHEMA = 1
_TEXTS = ("session", "user", "person", "recording", "dataset", "truth", "protocol", "policy", "gate", "segmentation",
          "agent", "agent_code", "memory", "memory_code", "memory_mode",
          "clock", "latency", "latency_source")  # fmt: skip
_NUMBERS = ("seed", "timeout_ns", "period_ns", "end_ns", "utc_anchor_ns", "window_ns")
_LONGEST_NAME = 255  # bytes: no file system of today takes more
_TEXT_OR_NOT = (str, type(None))
_RESULT_TEXTS = ("error", "log_sha256")


def parse_run(file: Path, text: bytes) -> dict[str, Any]:
    """What ``run.json`` says.

    Args:
        file: where it is, for errors.
        text: its content.

    Raises:
        InputError: it is no run file; the first field that is not what it should be is named.
    """
    try:
        run = json.loads(text.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InputError(file, f"not a run file ({error})") from error
    if not isinstance(run, dict) or "schema" not in run:
        raise InputError(file, "not a run file: it names no schema")
    if run["schema"] != SCHEMA:
        raise InputError(file, f"this version reads schema {SCHEMA}", field="schema", value=run["schema"])
    run.setdefault("given", {})
    for name, kind, want in (
        ("status", str, "text"),
        *((n, dict, "an object") for n in ("given", "resolved", "units")),
    ):
        _ensure(isinstance(run.get(name), kind), file, want, name, run.get(name))
    _ensure(isinstance(run.get("host", {}), dict), file, "an object", "host", run.get("host"))
    scenarios = run["given"].get("scenarios", [])
    _ensure(_is_texts(scenarios), file, "a list of texts", "given.scenarios", scenarios)
    for key, header in run["resolved"].items():
        _ensure_header(file, key, header)
    for key, result in run["units"].items():
        _ensure_result(file, f"units.{key}", result)
    return run


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _ensure_header(file: Path, key: str, header: Any) -> None:
    """A unit's header. A field may be missing where an earlier version did not write it, or null where nobody knows."""
    _ensure(_is_name(key), file, "the name of a folder as key of a unit", "resolved", key)
    _ensure(isinstance(header, dict), file, "an object", f"resolved.{key}", header)
    for name in _TEXTS:  # asked of each of 100,000 units of a sweep: words for a fault are made where there is one
        if not isinstance(value := header.get(name, ""), _TEXT_OR_NOT):
            _ensure(False, file, "text", f"resolved.{key}.{name}", value)
    for name in _NUMBERS:
        value = header.get(name)
        if not (type(value) is int or (value is None and name != "seed")):
            _ensure(False, file, "a whole number", f"resolved.{key}.{name}", value)


def _ensure_result(file: Path, where: str, result: Any) -> None:
    _ensure(isinstance(result, dict), file, "an object", where, result)
    for name in _RESULT_TEXTS:
        _ensure(isinstance(result.get(name), str | None), file, "text", f"{where}.{name}", result.get(name))
    audit = result.get("audit")
    _ensure(isinstance(audit, dict | None), file, "an object", f"{where}.audit", audit)
    invalid = (audit or {}).get("invalid")
    _ensure(invalid is None or _is_texts(invalid), file, "a list of texts", f"{where}.audit.invalid", invalid)


def _is_name(key: str) -> bool:
    try:
        return key not in ("", ".", "..") and not set(key) & set("/\\\0") and len(key.encode()) <= _LONGEST_NAME
    except UnicodeEncodeError:  # half a surrogate pair
        return False


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _ensure(so: bool, file: Path, want: str, field: str, value: object) -> None:
    if not so:
        raise InputError(file, f"not a run file: {want} is wanted", field=field, value=value)
