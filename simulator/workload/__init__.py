"""A workload generator: recordings and pasts of people who do not exist, with habits of known strength."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.workload.calibration import Calibration, calibrate
    from simulator.workload.making import Generated, generate
    from simulator.workload.person import Person
    from simulator.workload.recipe import Recipe, load

__all__ = ["Calibration", "Generated", "Person", "Recipe", "calibrate", "generate", "load"]

__getattr__ = door(
    __name__,
    {
        "simulator.workload.calibration": ["Calibration", "calibrate"],
        "simulator.workload.making": ["Generated", "generate"],
        "simulator.workload.person": ["Person"],
        "simulator.workload.recipe": ["Recipe", "load"],
    },
)
