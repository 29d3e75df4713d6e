"""Instants as the page draws them."""

from __future__ import annotations

from simulator.core.types import SECOND

__all__ = ["seconds_of"]


def seconds_of(ns: int) -> float:
    """Seconds, to the microsecond."""
    return round(ns / SECOND, 6)
