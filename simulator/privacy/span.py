"""Which stretch of calendar time is meant, from when until when; both ends may be open."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.calendar import parse_utc_ns
from simulator.core.durations import parse_duration
from simulator.core.errors import UsageError, quote
from simulator.timing.clock import wall_ns

__all__ = ["Span", "parse_instant"]


@dataclass(frozen=True, slots=True)
class Span:
    """``[start_ns, end_ns)``, UTC ns since the epoch; None: from the beginning, until the end of all time."""

    start_ns: int | None = None
    end_ns: int | None = None

    @property
    def everything(self) -> bool:
        """Whether it is all time."""
        return self.start_ns is None and self.end_ns is None

    def touches(self, start_ns: int, end_ns: int) -> bool:
        """Whether something that lasted from one instant until before the other (or happened at one) lies in it."""
        begins = self.end_ns is None or start_ns < self.end_ns
        return begins and (self.start_ns is None or end_ns > self.start_ns or start_ns >= self.start_ns)

    def holds(self, utc_ns: int) -> bool:
        """Whether an instant lies in it."""
        return self.touches(utc_ns, utc_ns)


def parse_instant(text: str, option: str) -> int:
    """An instant as people type it: ISO 8601 with a zone, or how long ago (``10min``); UTC ns since the epoch.

    Raises:
        UsageError: neither.
    """
    try:
        return wall_ns() - parse_duration(text)
    except ValueError:
        pass
    try:
        return parse_utc_ns(text)
    except (ValueError, OverflowError):
        want = "a time with its zone, such as 2026-11-30T09:00+01:00, or how long ago, such as 10min"
        raise UsageError(f"{option}: {quote(text)}: {want}") from None
