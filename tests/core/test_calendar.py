"""Calendar time to integers and back."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from simulator.core.calendar import from_utc_ns, parse_utc_ns, to_utc_ns


def test_an_instant_goes_there_and_back_to_the_microsecond() -> None:
    moment = datetime(2025, 10, 20, 9, 30, 0, 123_457, tzinfo=UTC)
    assert from_utc_ns(to_utc_ns(moment) + 999) == moment


def test_the_hour_that_comes_twice_is_two_hours() -> None:
    first = datetime(2025, 10, 26, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert to_utc_ns(first.replace(fold=1)) - to_utc_ns(first) == 3600 * 10**9


def test_a_time_without_a_zone_is_no_instant() -> None:
    with pytest.raises(ValueError, match="no zone"):
        parse_utc_ns("2025-10-20T09:30:00")
