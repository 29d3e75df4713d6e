"""Durations as people write them, read exactly into integer nanoseconds."""

from __future__ import annotations

import re
from decimal import Decimal

from simulator.core.errors import UsageError

__all__ = ["duration", "parse_duration", "show_duration"]

_MIN = 60 * 10**9
_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "m": _MIN, "min": _MIN, "h": 60 * _MIN}
_FORM = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|min|h)\s*")


def parse_duration(text: str) -> int:
    """``350ms``, ``1.5s``, ``10min`` (or ``10m``) in nanoseconds; a unit is required.

    >>> parse_duration("350ms"), parse_duration("1.5s")
    (350000000, 1500000000)

    Raises:
        ValueError: no such form, or finer than a nanosecond.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is not a duration such as 350ms, 1.5s or 10min")
    ns = Decimal(match[1]) * _UNITS[match[2]]
    if ns != ns.to_integral_value():
        raise ValueError(f"'{text}' is finer than a nanosecond")
    return int(ns)


def duration(option: str, text: str, *, above_0: bool = False) -> int:
    """A duration given on the command line, in nanoseconds.

    Raises:
        UsageError: it is not one; 0 where that makes no sense.
    """
    try:
        ns = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--{option}: {error}") from error
    if above_0 and ns == 0:
        raise UsageError(f"--{option} {text}: a duration above 0 is wanted, such as 60s")
    return ns


def show_duration(ns: int) -> str:
    """The shortest exact spelling.

    >>> show_duration(350_000_000), show_duration(90_000_000_000), show_duration(0)
    ('350ms', '90s', '0s')
    """
    for unit in ("s", "ms", "us"):
        if ns % _UNITS[unit] == 0:
            return f"{ns // _UNITS[unit]}{unit}"
    return f"{ns}ns"
