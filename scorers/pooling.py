"""Figures that can be resampled: a metric as sums over sessions and a formula over the sums.

An interval asks what a figure would have been on other sessions. With the figure written as a function of sums, a
resample is a re-weighted sum: ten thousand of them are one matrix product, and no log is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Formula", "Pooled", "Pools", "Sums", "mean_of", "over", "ratio_of"]

Floats = NDArray[np.float64]
Formula = Callable[[Floats], Floats]
"""From sums, shape (..., k), to figures, shape (...): NaN where there is no figure. Never warns."""
Parts = list[float]
"""What a session adds to a metric, as scores.json keeps it."""

T = TypeVar("T", contravariant=True)


@runtime_checkable
class Reader(Protocol):
    """A formula whose columns depend on what sessions add, as those of a distribution do: bins that nobody uses have no
    column. It says how parts are kept and how columns are made of them again.
    """

    def __call__(self, sums: Floats) -> Floats:
        """See ``Formula``."""
        ...

    def parts(self, columns: Floats) -> list[Parts]:
        """What ``scores.json`` keeps of each session."""
        ...

    def read(self, parts: Sequence[Sequence[float]]) -> tuple[Floats, Formula]:
        """Columns of these sessions, and the formula over them."""
        ...


@dataclass(frozen=True, slots=True)
class Pooled:
    """A metric as a function of sums over sessions; resampling recomputes it from re-weighted sums.

    Attributes:
        metric: its name as in the catalogue.
        columns: shape (n_sessions, k): what each session adds, in the order of the tallies. Finite.
        formula: sums, shape (..., k), to figures, shape (...); NaN where there is no figure.
        table: metrics of one table have the same columns, which are summed and kept once; by default the metric's name.

    Raises:
        ValueError: columns that are not a finite table.
    """

    metric: str
    columns: Floats
    formula: Formula
    table: str = ""

    def __post_init__(self) -> None:
        if self.columns.ndim != 2 or not np.isfinite(self.columns).all():
            raise ValueError(f"{self.metric}: what sessions add must be a table of finite numbers")
        object.__setattr__(self, "table", self.table or self.metric)

    @property
    def value(self) -> float:
        """The figure of all sessions together; NaN where there is none."""
        return float(self.formula(self.columns.sum(axis=0)))

    def parts(self) -> list[Parts]:
        """What each session adds, JSON-ready, whole numbers as such."""
        listed = self.formula.parts(self.columns) if isinstance(self.formula, Reader) else self.columns.tolist()
        return [[int(x) if x == int(x) else x for x in row] for row in listed]

    def of(self, parts: Sequence[Sequence[float]]) -> Pooled:
        """The same metric over other sessions, from their parts.

        Raises:
            ValueError: parts of another metric or version.
        """
        if isinstance(self.formula, Reader):
            columns, formula = self.formula.read(parts)
            return replace(self, columns=columns, formula=formula)
        width = self.columns.shape[1]
        if any(len(row) != width for row in parts):
            raise ValueError(f"{self.metric}: {width} parts a session are due")
        return replace(self, columns=np.array(parts, np.float64).reshape(len(parts), width))


@runtime_checkable
class Pools(Protocol[T]):
    """A scorer that says which of its metrics are functions of sums.

    Metrics that it leaves out have no interval; ``not_pooled``, a mapping of metric to reason, may say why. A test
    holds each ``value`` against what ``figures`` gives.
    """

    def pooled(self, tallies: Sequence[T]) -> list[Pooled]:
        """The metrics that can be resampled, over these sessions. Of no sessions it gives all of them, with columns of
        shape (0, k): so formulas are found again for parts that were kept.
        """
        ...


class Sums:
    """Columns with names, shared by the metrics of one table.

    Args:
        table: what scores.json keeps the parts under.
        names: of the columns.
        rows: one a session, in the order of the names.
    """

    def __init__(self, table: str, names: Sequence[str], rows: Sequence[Sequence[float]]) -> None:
        self._table, self._at = table, {name: i for i, name in enumerate(names)}
        self._columns: Floats = np.array(rows, np.float64).reshape(len(rows), len(names))

    def metric(self, name: str, formula: Callable[[Mapping[str, Floats]], Floats]) -> Pooled:
        """A metric of it; its formula takes the sums by name."""
        at = self._at
        return Pooled(name, self._columns, lambda sums: formula(_Named(sums, at)), self._table)


class _Named(Mapping[str, Floats]):
    def __init__(self, sums: Floats, at: Mapping[str, int]) -> None:
        self._sums, self._at = sums, at

    def __getitem__(self, name: str) -> Floats:
        return np.asarray(self._sums[..., self._at[name]])

    def __iter__(self) -> Any:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)


def over(numerator: Floats, denominator: Floats) -> Floats:
    """Their quotient, NaN where the denominator is 0; shapes broadcast."""
    out: Floats = np.full(np.broadcast_shapes(np.shape(numerator), np.shape(denominator)), np.nan)
    np.divide(numerator, denominator, out=out, where=np.asarray(denominator) != 0)
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
