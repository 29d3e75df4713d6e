"""Figures that can be resampled: a metric as sums over sessions and a formula over the sums.

An interval asks what a figure would have been on other sessions. With the figure written as a function of sums, a
resample is a re-weighted sum: ten thousand of them are one matrix product, and no log is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Formula", "Pooled", "Pools", "mean_of", "over", "ratio_of"]

Floats = NDArray[np.float64]
Formula = Callable[[Floats], Floats]
"""From sums, shape (..., k), to figures, shape (...): NaN where there is no figure. Never warns."""

T = TypeVar("T", contravariant=True)


@dataclass(frozen=True, slots=True)
class Pooled:
    """A metric as a function of sums over sessions; resampling recomputes it from re-weighted sums.

    Attributes:
        metric: its name as in the catalogue.
        columns: shape (n_sessions, k): what each session adds, in the order of the tallies. Finite.
        formula: sums, shape (..., k), to figures, shape (...); NaN where there is no figure.

    Raises:
        ValueError: columns that are not a finite table.
    """

    metric: str
    columns: Floats
    formula: Formula

    def __post_init__(self) -> None:
        if self.columns.ndim != 2 or not np.isfinite(self.columns).all():
            raise ValueError(f"{self.metric}: what sessions add must be a table of finite numbers")

    @property
    def value(self) -> float:
        """The figure of all sessions together; NaN where there is none."""
        return float(self.formula(self.columns.sum(axis=0)))

    @property
    def by_session(self) -> Floats:
        """The figure of each session alone, shape (n_sessions,); NaN where it has none."""
        return self.formula(self.columns)


@runtime_checkable
class Pools(Protocol[T]):
    """A scorer that says which of its metrics are functions of sums.

    Metrics that it leaves out have no interval. A test holds each ``value`` against what ``figures`` gives.
    """

    def pooled(self, tallies: Sequence[T]) -> list[Pooled]:
        """The metrics that can be resampled, over these sessions."""
        ...


def over(numerator: Floats, denominator: Floats) -> Floats:
    """Their quotient, NaN where the denominator is 0; shapes broadcast."""
    out: Floats = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


def ratio_of(metric: str, parts: Sequence[tuple[Any, Any]], scale: float = 1.0) -> Pooled:
    """A ratio of two sums, times ``scale``: the commonest case.

    Args:
        metric: its name.
        parts: numerator and denominator of each session.
        scale: 100 for a percentage, and the like.
    """
    columns = np.array(parts, np.float64).reshape(len(parts), 2)
    return Pooled(metric, columns, lambda sums: scale * over(sums[..., 0], sums[..., 1]))


def mean_of(metric: str, values: Sequence[float | None], scale: float = 1.0) -> Pooled:
    """A mean over sessions of a figure that each has alone; a session without one is left out of the mean."""
    return ratio_of(metric, [(0, 0) if v is None else (v, 1) for v in values], scale)
