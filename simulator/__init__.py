"""Streams, time and runs: what plays a recorded screen into an agent and stamps every decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.core.types import (
        SILENT,
        Decision,
        Event,
        Label,
        MemoryItem,
        Observation,
        Offer,
        Query,
        Setup,
        Snapshot,
    )

__all__ = ["SILENT", "Decision", "Event", "Label", "MemoryItem", "Observation", "Offer", "Query", "Setup", "Snapshot"]

__getattr__ = door(
    __name__,
    {
        "simulator.core.types": [
            "SILENT",
            "Decision",
            "Event",
            "Label",
            "MemoryItem",
            "Observation",
            "Offer",
            "Query",
            "Setup",
            "Snapshot",
        ],
    },
)
