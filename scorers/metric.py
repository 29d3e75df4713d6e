"""What a metric is called and means, and a figure of it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simulator.core.errors import quote

__all__ = ["FEW", "PROTOCOLS", "Metric", "Score"]

PROTOCOLS = ("stream", "moments", "trajectory")
FEW = 10
"""A figure that rests on fewer events than this is flagged ``few`` and shown greyed."""

_NUMBER = r"-?\d+(?:\.\d+)?"


@dataclass(frozen=True, slots=True)
class Metric:
    """A registered metric.

    Attributes:
        name: as in scores.json. Members of a family are ``name@member`` (``deadline_attainment@5``); the bare name,
            where the family has one, is its headline.
        formula: what is computed, in words a reader can check.
        unit: ``0-1``, ``%``, ``ms``, ``s``, ``1/h``, ``points``, ``count``, ….
        range: the values it can take.
        direction: ``up`` (more is better), ``down``, or ``-`` (a diagnosis).
        version: raised when the formula changes; scores of different versions are not compared.
    """

    name: str
    formula: str
    unit: str
    range: str
    direction: str
    protocols: tuple[str, ...] = ("stream",)
    version: int = 1

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest value, as ``range`` says: ``0-1``, ``-1 to 1``, ``0 or 1``, ``>= 0``, ``<= 100``, ``any``.

        Raises:
            ValueError: a range in other words.
        """
        if self.range == "any":
            return -math.inf, math.inf
        if found := re.fullmatch(rf"({_NUMBER})(?:-| to | or )({_NUMBER})", self.range):
            return float(found[1]), float(found[2])
        if found := re.fullmatch(rf"(>=|<=) ({_NUMBER})", self.range):
            return (float(found[2]), math.inf) if found[1] == ">=" else (-math.inf, float(found[2]))
        raise ValueError(f"{self.name}: the range {quote(self.range)} is in no known form")


@dataclass(frozen=True, slots=True)
class Score:
    """A figure, or the reason why there is none.

    Attributes:
        value: finite, or None with a reason. A verdict is 1 or 0.
        n: events the figure rests on.
        extra: what belongs to it (a curve, the embedder's name), JSON-ready.
    """

    metric: Metric
    value: float | None
    n: int
    reason: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"{self.metric.name} came out as {self.value}: a null with a reason is due")
        if (self.value is None) == (self.reason is None):
            raise ValueError(f"{self.metric.name}: a figure has a value or a reason, and not both")

    @property
    def few(self) -> bool:
        """Whether the figure rests on fewer than ``FEW`` events."""
        return self.n < FEW

    def details(self) -> dict[str, Any]:
        """The figure with all that explains it, JSON-ready."""
        m = self.metric
        shown: dict[str, Any] = {"value": self.value, "n": self.n, "unit": m.unit, "direction": m.direction}
        shown["version"] = m.version
        if self.reason is not None:
            shown["reason"] = self.reason
        if self.few:
            shown["few"] = True
        return {**shown, **self.extra}
