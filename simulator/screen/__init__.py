"""Pixels of snapshots, read only when somebody asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.screen.pixels import MAX_PIXELS, array, decode, pixels_hash, read, size

__all__ = ["MAX_PIXELS", "TooLarge", "array", "decode", "pixels_hash", "read", "size"]

__getattr__ = door(
    __name__,
    {
        "simulator.screen.pixels": ["MAX_PIXELS", "TooLarge", "array", "decode", "pixels_hash", "read", "size"],
    },
)
