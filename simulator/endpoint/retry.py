"""When a failed call is made again, and after how long.

Again: 408, 409, 425, 429, 5xx, and connections that fail before anything came. ``Retry-After`` is honoured;
otherwise the wait is drawn from zero to a bound that doubles ("full jitter"), by name, so that many clients spread and
one client is the same twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from simulator.core.rng import below
from simulator.core.types import MS, SECOND
from simulator.timing.clock import utc_now

__all__ = ["AGAIN", "asks_to_wait", "backoff_ns", "is_again", "retry_after_ns"]

AGAIN = (408, 409, 425, 429)
FIRST_NS = 500 * MS
MOST_NS = 20 * SECOND
YEAR_NS = 365 * 86_400 * SECOND  # longer than any limit: who asks for it is not asked again in time


def is_again(status: int) -> bool:
    """Whether a status may be another one next time (501, not implemented, will not)."""
    return status in AGAIN or (500 <= status <= 599 and status != 501)


def backoff_ns(attempt: int, seed: int, *names: str | int) -> int:
    """The wait after failed attempt number ``attempt`` (from 0): somewhere below 0.5 s · 2^attempt, 20 s at most."""
    return below(min(MOST_NS, FIRST_NS << min(attempt, 16)) + 1, seed, "back-off", *names, attempt)


def retry_after_ns(headers: Mapping[str, str]) -> int | None:
    """What a server asks for: seconds, a date (RFC 9110, 10.2.3), or ``retry-after-ms``; a year at most. None where it
    does not ask, or for what is no time to wait (``asks_to_wait`` tells the two apart).

    >>> retry_after_ns({"Retry-After": "1.5"}), retry_after_ns({"Retry-After": "soon"})
    (1500000000, None)
    """
    for name, scale in (("Retry-After-Ms", MS), ("Retry-After", SECOND)):
        said = headers.get(name)
        if said is None:
            continue
        try:
            wait = float(said)
        except ValueError:
            return _until(said)
        return round(min(wait, YEAR_NS / scale) * scale) if wait >= 0 else None  # not for NaN either
    return None


def asks_to_wait(headers: Mapping[str, str]) -> bool:
    """Whether a server says anything of when to come back."""
    return "Retry-After" in headers or "Retry-After-Ms" in headers


def _until(date: str) -> int | None:
    try:
        seconds = (parsedate_to_datetime(date) - utc_now()).total_seconds()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return min(max(0, round(seconds * SECOND)), YEAR_NS)
