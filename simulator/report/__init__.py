"""Runs as people read them: what happened when in each session, figures as SVG, one HTML file that holds all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.report.strips import Mark, Strip, strips

__all__ = ["Mark", "Strip", "strips"]

__getattr__ = door(__name__, {"simulator.report.strips": ["Mark", "Strip", "strips"]})
