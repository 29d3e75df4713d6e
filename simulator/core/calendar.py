"""Calendar time as nanoseconds since 1970 UTC, and back; exact to the microsecond, with no detour through floats."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from simulator.core.types import SECOND

__all__ = ["from_utc_ns", "parse_utc_ns", "to_utc_ns"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_utc_ns(moment: datetime) -> int:
    """An instant that names its zone.

    Raises:
        ValueError: it names none.
    """
    if moment.tzinfo is None:
        raise ValueError("no zone")
    # In UTC first: the difference of two moments in one zone is that of the wall clocks.
    since = moment.astimezone(UTC) - _EPOCH
    return (since.days * 86400 + since.seconds) * SECOND + since.microseconds * 1000


def parse_utc_ns(text: str) -> int:
    """ISO 8601 with a zone.

    >>> parse_utc_ns("1970-01-01T01:00:01+01:00")
    1000000000

    Raises:
        ValueError: not ISO 8601, or without a zone.
    """
    return to_utc_ns(datetime.fromisoformat(text))


def from_utc_ns(utc_ns: int) -> datetime:
    """The instant in UTC; what is below a microsecond is cut off."""
    return _EPOCH + timedelta(microseconds=utc_ns // 1000)
