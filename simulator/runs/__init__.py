"""One agent on one session: what is asked when, lanes that no agent can stall, the run log, the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.runs.config import Settings
    from simulator.runs.gate import Gate, surface
    from simulator.runs.records import Flag, Kind, LoggedOffer, RunLog
    from simulator.runs.unit import UnitPlan, UnitResult, play_unit

__all__ = [
    "Flag",
    "Gate",
    "Kind",
    "LoggedOffer",
    "RunLog",
    "Settings",
    "UnitPlan",
    "UnitResult",
    "play_unit",
    "surface",
]

__getattr__ = door(
    __name__,
    {
        "simulator.runs.config": ["Settings"],
        "simulator.runs.gate": ["Gate", "surface"],
        "simulator.runs.records": ["Flag", "Kind", "LoggedOffer", "RunLog"],
        "simulator.runs.unit": ["UnitPlan", "UnitResult", "play_unit"],
    },
)
