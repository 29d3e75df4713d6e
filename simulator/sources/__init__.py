"""Where snapshots come from: native recordings, and readers of what others recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.sources.recording import Recording

__all__ = ["Recording"]

__getattr__ = door(
    __name__,
    {
        "simulator.sources.recording": ["Recording"],
    },
)
