"""What a reader of somebody else's recording hands over, before it becomes native sessions: one user's past.

All instants here are UTC nanoseconds since 1970. A ``Ledger`` keeps the account: nothing is repaired or left out
without a line in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from simulator.core.calendar import from_utc_ns, to_utc_ns
from simulator.core.errors import InputError, likely
from simulator.core.names import natural_key

__all__ = [
    "IMAGE_SUFFIXES",
    "Foreign",
    "ForeignEvent",
    "Ledger",
    "Local",
    "NameTime",
    "Outcome",
    "Shot",
    "Times",
    "name_time",
    "natural",
]

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff"})
Outcome = Literal["kept", "repaired", "left out", "noted"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Times = Literal["auto", "name", "exif", "mtime", "rate"]  # where the times of a folder of images come from
_NAME = re.compile(
    r"(?:screen_(?P<screen>\d+)_)?(?<!\d)(?P<date>\d{8})[_T-](?P<time>\d{6})(?:[_.-]?(?P<part>\d{1,6}))?(?!\d)"
)
_DASHED = re.compile(
    r"(?<!\d)(\d{4})-(\d{2})-(\d{2})[T _-](\d{2})[-_.:](\d{2})[-_.:](\d{2})(?:[._-](?P<part>\d{1,6}))?(?!\d)"
)


@dataclass(slots=True)
class Shot:
    """One screenshot, or one instant of which only app and title are known (``file`` None)."""

    utc_ns: int
    monitor: int = 0
    app: str | None = None
    title: str | None = None
    file: Path | None = None
    file_hash: str | None = None
    width: int | None = None
    height: int | None = None
    event: int | None = None
    text: str | None = None
    scene: str | None = None
    precision_ns: int = 1  # how exactly the time is known
    made: bool = False  # by the importer, from an event without a screenshot


@dataclass(slots=True)
class ForeignEvent:
    """One event as recorded; ``end_ns`` None while it was never closed."""

    id: int
    start_ns: int
    end_ns: int | None
    app: str | None = None
    title: str | None = None
    assistance: bool = False
    summary: str | None = None
    description: str | None = None
    conversation: str | None = None
    platform: str | None = None
    intention: str | None = None
    confidence: float | None = None
    excluded: str | None = None


@dataclass(slots=True)
class Ledger:
    """What was kept, repaired, left out and noted, by reason, with a few examples each."""

    counts: dict[tuple[Outcome, str], int] = field(default_factory=dict)
    examples: dict[tuple[Outcome, str], list[str]] = field(default_factory=dict)

    def add(self, outcome: Outcome, reason: str, example: str | None = None, n: int = 1) -> None:
        """One more line, or n."""
        if n:
            key = (outcome, reason)
            self.counts[key] = self.counts.get(key, 0) + n
            shown = self.examples.setdefault(key, [])
            if example is not None and len(shown) < 3:
                shown.append(example)

    def of(self, outcome: Outcome) -> dict[str, int]:
        """Counts of one outcome, by reason, in order of reason."""
        return {reason: n for (kind, reason), n in sorted(self.counts.items()) if kind == outcome}

    def lines(self) -> list[tuple[Outcome, str, int]]:
        """All counts with outcome and reason, what was kept first."""
        return [(outcome, reason, n) for outcome in OUTCOMES for reason, n in self.of(outcome).items()]


@dataclass(slots=True)
class Foreign:
    """One user's recording as read.

    ``period_ns`` None: not known, to be told from the times. ``anchored`` False: times are relative (no calendar).
    ``digest`` identifies the source's contents; options are not in it. ``gaps``: stretches of which nothing is known
    (start, end, reason), in which the last screen is not taken to stand still. ``profile``: facts about the user, kept
    in each session. ``zone``: IANA zone that the times themselves name, for which the user need not be asked.
    ``notes`` are kept in each session and shown in the account. ``recording``: what this is a version of, and
    ``person`` who was recorded, where the source tells either (``simulator.session.recording_id``).
    """

    user: str
    source: Path
    shots: list[Shot]
    events: list[ForeignEvent]
    ledger: Ledger
    digest: str
    period_ns: int | None = None
    anchored: bool = True
    has_assistance: bool = False
    notes: dict[str, str] = field(default_factory=dict)
    gaps: list[tuple[int, int, str]] = field(default_factory=list)
    profile: dict[str, str] = field(default_factory=dict)
    zone: str | None = None
    recording: str | None = None
    person: str | None = None


class Local:
    """Naive local times of a zone to UTC nanoseconds.

    Args:
        name: IANA name; what to do with it is told when it is unknown.
        ledger: counts times that exist twice (when clocks go back) or never (when they go forward).
    """

    def __init__(self, name: str, ledger: Ledger) -> None:
        try:
            self.zone = ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            want = f"{_like(name)}an IANA name is wanted, such as Asia/Shanghai or Europe/Berlin"
            raise InputError("timezone", want, value=name) from None
        self._ledger = ledger

    def utc_ns(self, moment: datetime) -> int:
        """An instant; a moment that names its own zone is taken at its word."""
        if moment.tzinfo is not None:
            return to_utc_ns(moment)
        local = moment.replace(tzinfo=self.zone)
        if local.utcoffset() != local.replace(fold=1).utcoffset():
            self._ledger.add(
                "noted", "local times that a clock change made ambiguous (the first reading is taken)", str(moment)
            )
        return to_utc_ns(local)

    def offset_min(self, utc_ns: int) -> int:
        """Minutes that the zone was ahead of UTC then."""
        at = from_utc_ns(utc_ns).astimezone(self.zone)
        return int((at.utcoffset() or timedelta()).total_seconds() // 60)


def _like(name: str) -> str:
    """The zone that was meant, by its city alone or its whole name."""
    zones = sorted(available_timezones())
    city = name.replace(" ", "_").rpartition("/")[2].casefold()
    by_city = [zone for zone in zones if zone.rpartition("/")[2].casefold() == city]
    return likely(by_city[0], by_city) if city and by_city else likely(name, zones, 0.8)


class NameTime(NamedTuple):
    """What a file name says of time: naive, how exactly, and of which screen."""

    moment: datetime
    screen: int
    precision_ns: int


def name_time(name: str) -> NameTime | None:
    """Naive time and screen number that a file name says, as in ``screen_1_20250902_101112_123.png``; None for none.

    The last digits are a fraction of a second (``_5`` is 0.5 s); a screen that is not named is 0.
    """
    found = _NAME.search(name)
    if found:
        digits, screen = found["date"] + found["time"], int(found["screen"] or 0)
    else:
        found = _DASHED.search(name)
        if not found:
            return None
        digits, screen = "".join(found.groups()[:6]), 0
    part = found["part"] or ""
    try:
        moment = datetime.strptime(digits + part.ljust(6, "0"), "%Y%m%d%H%M%S%f")  # noqa: DTZ007 - naive by nature
    except ValueError:
        return None
    return NameTime(moment, screen, 10 ** (9 - len(part)))


def natural(names: Iterable[Path]) -> list[Path]:
    """Paths in the order a person would give them: ``a2`` before ``a10``."""
    return sorted(names, key=lambda path: natural_key(path.as_posix()))
