"""Pictures of figures, as SVG: a small room of axes, bars, lines and heat maps, and the figures made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.figures.corpus import draw_corpus
    from simulator.figures.sheet import Sheet

__all__ = ["Sheet", "draw_corpus"]

__getattr__ = door(
    __name__,
    {"simulator.figures.corpus": ["draw_corpus"], "simulator.figures.sheet": ["Sheet"]},
)
