"""Scores from stored run logs and the truth, never from agents: whether help was right, and whether it came in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from scorers.base import Context, Metric, Score, Scorer, Unit, catalogue, score_run

__all__ = ["Context", "Metric", "Score", "Scorer", "Unit", "catalogue", "score_run"]

__getattr__ = door(__name__, {"scorers.base": __all__})
