"""Sizes of files as people write them."""

from __future__ import annotations

import re
from decimal import Decimal

__all__ = ["parse_size", "show_size"]

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_FORM = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?B)\s*", re.IGNORECASE)


def parse_size(text: str) -> int:
    """``500MB``, ``1.5 GB`` in bytes, with powers of 1000; a unit is required.

    >>> parse_size("500MB"), parse_size("1.5 gb")
    (500000000, 1500000000)

    Raises:
        ValueError: no such form.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is not a size such as 500MB or 2GB")
    return int(Decimal(match[1]) * _UNITS[match[2].upper()])


def show_size(n_bytes: float) -> str:
    """In the unit that leaves one to three digits before the point.

    >>> show_size(0), show_size(1_530), show_size(512_000_000)
    ('0 B', '1.5 KB', '512 MB')
    """
    for unit, size in reversed(_UNITS.items()):
        if abs(n_bytes) >= size:
            value = n_bytes / size
            return f"{value:.0f} {unit}" if value >= 100 or unit == "B" else f"{value:.1f} {unit}"
    return f"{n_bytes:.0f} B"
