"""The files of a run as forgetting reads and writes them: what is left is as ``runs`` would have written it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.core.faults import told
from simulator.privacy.disk import replace

__all__ = ["canonical", "digest_of", "head_of", "line_of", "read_object", "records", "write_object"]


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a log; a torn last one is dropped.

    Raises:
        InputError: a line that is not a record.
    """
    with told(path):
        lines = path.read_bytes().split(b"\n")
        for line in lines[:-1]:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("not a record")
            yield record


def head_of(path: Path) -> dict[str, Any]:
    """The first line of a log; empty if it is not there or says nothing."""
    if not path.is_file():
        return {}
    with told(path), path.open("rb") as stream:
        line = stream.readline()
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return header if isinstance(header, dict) and header.get("kind") == "header" else {}


def read_object(path: Path) -> dict[str, Any]:
    """A file that holds one JSON object.

    Raises:
        InputError: it cannot be read, or holds anything else.
    """
    with told(path):
        value = json.loads(path.read_bytes())
        if not isinstance(value, dict):
            raise InputError(path, "a JSON object")
        return value


def line_of(record: Mapping[str, Any]) -> bytes:
    """A record as a line of a log."""
    return _encoded(record, separators=(",", ":")) + b"\n"


def canonical(value: Any) -> bytes:
    """As ``session.truth`` and ``runs.folder`` write what they hash."""
    return _encoded(value, separators=(",", ":"), sort_keys=True)


def digest_of(value: Any) -> str:
    """SHA-256 of a value as it is hashed in headers and ``run.json``."""
    return sha256(canonical(value)).hexdigest()


def write_object(path: Path, value: Any) -> None:
    """Put a JSON object in place of a file."""
    replace(path, _encoded(value, indent=1) + b"\n")


def _encoded(value: Any, **how: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, **how).encode()
    except UnicodeEncodeError:  # half a surrogate pair in somebody's text
        return json.dumps(value, allow_nan=False, **how).encode()
