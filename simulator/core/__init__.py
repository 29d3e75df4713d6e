"""What every room shares: values, protocols, errors, names, chance. Imports nothing of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.core.errors import Exit, InputError, ProactError, UsageError
    from simulator.core.intentions import INTENTIONS
    from simulator.core.protocols import Agent, Embedder, History, Memory, MemoryView, Meter, SnapshotSource
    from simulator.core.registry import Registry, Spec, parse_spec
    from simulator.core.types import (
        SILENT,
        Decision,
        Event,
        ImageRef,
        Label,
        MemoryItem,
        Observation,
        Offer,
        Query,
        Setup,
        Snapshot,
    )

__all__ = [
    "INTENTIONS",
    "SILENT",
    "Agent",
    "Decision",
    "Embedder",
    "Event",
    "Exit",
    "History",
    "ImageRef",
    "InputError",
    "Label",
    "Memory",
    "MemoryItem",
    "MemoryView",
    "Meter",
    "Observation",
    "Offer",
    "ProactError",
    "Query",
    "Registry",
    "Setup",
    "Snapshot",
    "SnapshotSource",
    "Spec",
    "UsageError",
    "parse_spec",
]

__getattr__ = door(
    __name__,
    {
        "simulator.core.errors": ["Exit", "InputError", "ProactError", "UsageError"],
        "simulator.core.intentions": ["INTENTIONS"],
        "simulator.core.protocols": ["Agent", "Embedder", "History", "Memory", "MemoryView", "Meter", "SnapshotSource"],
        "simulator.core.registry": ["Registry", "Spec", "parse_spec"],
        "simulator.core.types": [
            "SILENT",
            "Decision",
            "Event",
            "ImageRef",
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
