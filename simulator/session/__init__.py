"""The recorded session, what is true of it, and what a scenario makes of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.session.play import Play
    from simulator.session.reader import Reader
    from simulator.session.scenario import plays
    from simulator.session.segmentation import Segmenter
    from simulator.session.store import Writer
    from simulator.session.truth import Truth

__all__ = ["Play", "Reader", "Segmenter", "Truth", "Writer", "plays"]

__getattr__ = door(
    __name__,
    {
        "simulator.session.play": ["Play"],
        "simulator.session.reader": ["Reader"],
        "simulator.session.scenario": ["plays"],
        "simulator.session.segmentation": ["Segmenter"],
        "simulator.session.store": ["Writer"],
        "simulator.session.truth": ["Truth"],
    },
)
