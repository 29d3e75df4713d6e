"""Noise in a recorded session: stretches that have nothing to do with the work, and the twin without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.session.noise.marking import Mark, in_noise, marks
    from simulator.session.noise.pair import Made, twins
    from simulator.session.noise.plan import KINDS, Options

__all__ = ["KINDS", "Made", "Mark", "Options", "in_noise", "marks", "twins"]

__getattr__ = door(
    __name__,
    {
        "simulator.session.noise.marking": ["Mark", "in_noise", "marks"],
        "simulator.session.noise.plan": ["KINDS", "Options"],
        "simulator.session.noise.pair": ["Made", "twins"],
    },
)
