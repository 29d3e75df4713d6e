"""JSON that other projects publish, taken apart row by row: what is odd is counted, never guessed."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from simulator.core.errors import InputError
from simulator.core.faults import kind_of
from simulator.core.files import read_text
from simulator.core.types import SECOND
from simulator.sources.foreign import Ledger, natural

__all__ = ["LARGEST", "digest_of", "epoch_ns", "in_order", "iso", "json_files", "load", "parse", "start_of", "words"]

LARGEST = 256 << 20
"""Bytes; a published file of this kind is under 1 MB, and a larger one is not read into memory."""
LATEST_S = 1 << 33  # the year 2242: what is later is no time of a recording


def json_files(src: Path, inside: Sequence[Path], but: str | None = None) -> list[Path]:
    """A ``.json`` file itself; of a folder those in the first of the folders ``inside`` it that holds any.

    Args:
        src: what the user named.
        inside: where publishers keep them, relative to the folder; ``Path()`` is the folder itself.
        but: the name of a file that is none of them.
    """
    if src.is_file():
        return [src] if src.suffix.lower() == ".json" else []
    for folder in inside:
        if found := natural(p for p in (src / folder).glob("*.json") if p.is_file() and p.name != but):
            return found
    return []


def load(path: Path) -> Any:
    """What a JSON file holds.

    Raises:
        InputError: it cannot be read, is larger than ``LARGEST``, or is not JSON.
    """
    if path.is_file() and path.stat().st_size > LARGEST:
        raise InputError(path, f"larger than {LARGEST >> 20} MB, which no file of this kind is")
    return parse(read_text(path), path)


def parse(text: str, where: Path | str) -> Any:
    """What a JSON text holds; NaN, infinities and keys given twice are refused. Half characters stay: see ``words``.

    Raises:
        InputError: it is not JSON, or nested too deeply.
    """
    try:
        found = json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise InputError(where, f"not JSON (line {error.lineno}: {error.msg})") from None
    except RecursionError as error:
        raise InputError(where, kind_of(error)) from None
    except ValueError as error:
        raise InputError(where, f"not JSON ({str(error)[:60]})") from None
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key is given twice")  # of two times, which is right?
    return made


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not a number")


def start_of(path: Path, n: int = 4096) -> str:
    """The first characters of a file, for telling its format; empty where there are none to be had."""
    try:
        with path.open("rb") as stream:
            return stream.read(n).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    except OSError:
        return ""


def words(value: Any) -> str | None:
    """A text that says something, in whole characters; None for anything else."""
    if not isinstance(value, str) or not value.strip():
        return None
    return value.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def epoch_ns(value: Any) -> int | None:
    """Seconds since 1970, as a number or a text, in nanoseconds; None for what is no time of a recording."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(seconds) or not 0 <= seconds < LATEST_S:
        return None
    return round(seconds * 1000) * (SECOND // 1000)  # published to the millisecond; a float holds no more


def iso(value: Any) -> datetime | None:
    """A moment in ISO 8601; None for what is none."""
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def in_order(times: Sequence[int], step_ns: int, ledger: Ledger, where: str) -> list[int]:
    """Times such that each is later than the one before, in the order of the rows.

    The order of rows is what was shown to agents and judged, so it is kept: a row earlier than the one before it takes
    that one's time, and rows of one time are set ``step_ns`` apart.
    """
    out: list[int] = []
    latest = None
    for t in times:
        if latest is not None and t < latest:
            ledger.add("repaired", "rows timed before the row above them (that row's time is taken)", where)
        elif latest is not None and t == latest:
            ledger.add("repaired", f"rows of the same time (set {step_ns / SECOND:g} s apart)", where)
        elif out and t <= out[-1]:
            ledger.add("repaired", "rows moved on by those above them that were moved", where)
        latest = t if latest is None else max(latest, t)
        out.append(latest if not out or latest > out[-1] else out[-1] + step_ns)
    return out


def digest_of(files: Sequence[Path]) -> str:
    """SHA-256 over names and bytes."""
    whole = sha256()
    for file in files:
        whole.update(f"{file.name}\n".encode("utf-8", "surrogateescape"))
        whole.update(sha256(file.read_bytes()).digest())
    return whole.hexdigest()
