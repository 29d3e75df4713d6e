"""How instants lie in time: burstiness, and whether the times between them follow a power law.

ProAgentBench gives two figures of when people ask an assistant, ``B = 0.787`` and ``α = 1.50``. The burstiness is Goh &
Barabási's (EPL 81, 2008). The power law is fitted by maximum likelihood, its lower end by the least Kolmogorov-Smirnov
distance, and set against an exponential by the normalised likelihood ratio of Vuong, all as in Clauset, Shalizi &
Newman, "Power-law distributions in empirical data", SIAM Review 51 (2009), sections 3 and 5.

A power law with α below 2 has no mean, and every recording is cut: nothing in it can be longer than it. So both laws
may be cut at ``xmax``, too. Either is then one law, the exponential on ``[0, L]``: of ``ln(x / xmin)`` with rate
``α - 1`` for the power law, of ``x - xmin`` for the exponential; one solver serves both (`_rate`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.core.types import SECOND

__all__ = ["FEWEST", "PowerLaw", "burstiness", "burstiness_of", "power_law", "times_between_s"]

FEWEST = 50  # fewer samples bias the exponent by more than its error is worth (Clauset et al., section 3.1)
_CANDIDATES = 400  # lower ends that are tried: every distinct value, or so many quantiles of them
_HALVINGS = 80  # past the last bit of a float, whatever the ends
_Floats = NDArray[np.float64]


def burstiness(times_ns: Sequence[int]) -> float | None:
    """``(σ - μ) / (σ + μ)`` of the times between instants: -1 regular, 0 as by chance, 1 bursts; None for fewer than 3.

    ProAgentBench gives 0.787 for when people ask an assistant and 0.166 for when models think that they would.
    """
    return burstiness_of(_between_ns(times_ns))


def burstiness_of(between: ArrayLike) -> float | None:
    """The same from the times between instants themselves, in any unit; None for fewer than 2, or where all are 0."""
    times = np.asarray(between, dtype=np.float64)
    if len(times) < 2 or not (total := float(times.std() + times.mean())):
        return None
    return float(times.std() - times.mean()) / total


def times_between_s(times_ns: Sequence[int]) -> _Floats:
    """Seconds between instants in order, ``float64[n - 1]``."""
    return _between_ns(times_ns) / SECOND


def _between_ns(times_ns: Sequence[int]) -> NDArray[np.int64]:
    instants = np.sort(np.array(times_ns, dtype=np.int64))  # integers: a late instant as a float would be rounded
    return instants[1:] - instants[:-1]


@dataclass(frozen=True, slots=True)
class PowerLaw:
    """``p(x) ~ x^-α`` for ``xmin <= x (<= xmax)``, fitted; what could not be said is None and `reason` says why.

    Attributes:
        exponent: α.
        error: its standard error.
        xmin: Where the law begins, in the unit of the samples; given or found.
        xmax: Where it is cut; None for a law without end.
        n: Samples above 0.
        n_tail: Of these the ones that were fitted, from xmin to xmax.
        n_not_positive: Samples of 0 or less, which no power law holds; left out.
        ks: The greatest distance between the samples' distribution and the law's.
        rate: Of the exponential with the same ends, per unit of the samples.
        llr: Log-likelihood of the power law less that of the exponential; above 0 speaks for the
            power law.
        llr_normalised: The same over its standard deviation, Vuong's statistic.
        p: How likely so great an `llr_normalised` of either sign is where both laws fit equally well.
        reason: Why there is no exponent, or no p.
    """

    n: int
    n_tail: int
    n_not_positive: int
    xmin: float | None = None
    xmax: float | None = None
    exponent: float | None = None
    error: float | None = None
    ks: float | None = None
    rate: float | None = None
    llr: float | None = None
    llr_normalised: float | None = None
    p: float | None = None
    reason: str | None = None


def power_law(
    samples: ArrayLike,
    *,
    xmin: float | None = None,
    xmax: float | None = None,
    cut: bool = False,
    fewest: int = FEWEST,
) -> PowerLaw:
    """Fit a power law to samples and compare it with an exponential.

    Args:
        samples: Any positive magnitudes, such as seconds between events.
        xmin: Where the law begins; None finds it by the least Kolmogorov-Smirnov distance.
        xmax: Where the law is cut; None for no end. Greater samples are left out of the tail.
        cut: Cut the law at the greatest sample, which is the likeliest end; not with `xmax`.
        fewest: Samples that a tail must have.

    Raises:
        ValueError: ends that hold no law.
    """
    if cut and xmax is not None:
        raise ValueError("cut means the greatest sample: leave it or xmax out")
    if xmin is not None and not (0 < xmin < (math.inf if xmax is None else xmax)):
        raise ValueError(f"a power law begins above 0 and below its end, not at {xmin}")
    every = np.sort(np.asarray(samples, dtype=np.float64))
    positive = every[every > 0]
    counts = {"n": len(positive), "n_not_positive": len(every) - len(positive)}
    if cut and len(positive):
        xmax = float(positive[-1])
    x = positive if xmax is None else positive[positive <= xmax]
    if xmin is None:
        xmin = _lower_end(x, xmax, fewest)
    tail = x if xmin is None else x[np.searchsorted(x, xmin) :]
    if len(tail) < fewest or xmin is None or tail[0] == tail[-1]:
        few = f"{len(tail)} times in the tail, {fewest} needed" if len(tail) < fewest else "all times are equal"
        return PowerLaw(n_tail=len(tail), xmin=xmin, xmax=xmax, reason=few, **counts)
    return _fitted(tail, xmin, xmax, counts)


def _fitted(tail: _Floats, xmin: float, xmax: float | None, counts: dict[str, int]) -> PowerLaw:
    logs, n = np.log(tail / xmin), len(tail)
    end = math.inf if xmax is None else xmax
    log_end = math.log(end / xmin)
    slope = float(_rate(np.array([logs.mean()]), np.array([log_end]))[0])
    decay = float(_rate(np.array([(tail - xmin).mean()]), np.array([end - xmin]))[0])
    # The density of ln(x / xmin) over x is that of x.
    each = (_log_density(logs, slope, log_end) - np.log(tail)) - _log_density(tail - xmin, decay, end - xmin)
    llr, spread = float(each.sum()), float(each.std())
    z = llr / (spread * math.sqrt(n)) if spread > 0 else None
    return PowerLaw(
        n_tail=n,
        xmin=xmin,
        xmax=xmax,
        exponent=1 + slope,
        error=1 / math.sqrt(n * _information(slope, log_end)),
        ks=_distance(logs, slope, log_end),
        rate=decay,
        llr=llr,
        llr_normalised=z,
        p=None if z is None else math.erfc(abs(z) / math.sqrt(2)),
        reason=None if z is not None else "both laws are equally likely at every sample",
        **counts,
    )


def _lower_end(x: _Floats, xmax: float | None, fewest: int) -> float | None:
    """The xmin with the least Kolmogorov-Smirnov distance among those that leave enough of the sorted samples."""
    if len(x) < fewest or fewest < 2:
        return None
    firsts = np.flatnonzero(np.r_[True, np.diff(x[: len(x) - fewest + 1]) > 0])  # where each distinct value begins
    firsts = firsts[x[firsts] < x[-1]]
    if len(firsts) > _CANDIDATES:
        firsts = firsts[np.unique(np.linspace(0, len(firsts) - 1, _CANDIDATES).round().astype(np.int64))]
    if not len(firsts):
        return None
    logs = np.log(x)
    sums = np.cumsum(logs[::-1])[::-1]  # of the tail from here on
    starts = logs[firsts]
    means = sums[firsts] / (len(x) - firsts) - starts
    ends = np.full(len(firsts), math.inf) if xmax is None else math.log(xmax) - starts
    slopes = _rate(means, ends)
    distances = [
        _distance(logs[i:] - start, float(slope), float(end))
        for i, start, slope, end in zip(firsts, starts, slopes, ends, strict=True)
    ]
    return float(x[firsts[int(np.argmin(distances))]])


def _rate(means: _Floats, ends: _Floats) -> _Floats:
    """The likeliest rate of exponentials on ``[0, end]`` with these means; below 0 where they rise.

    Without an end ``1 / mean``. Else the root of ``1/r - L/(e^{rL} - 1) = mean``, whose left side falls in r: halving.
    """
    free, cut = 1 / means, np.isfinite(ends)
    ends = np.where(cut, ends, 2 * means)  # any, where there is none
    low, high = -1 / (ends - means), free  # a cut on one side brings the mean nearer: the rate is below that without
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = _mean(middle, ends) > means
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(cut, (low + high) / 2, free)


def _mean(rates: _Floats, ends: _Floats) -> _Floats:
    """The mean of exponentials on ``[0, end]``; the quotient cancels near rate 0, so a series stands in there."""
    u = rates * ends
    near = np.abs(u) < 1e-3
    safe = np.where(near, 1.0, u)
    with np.errstate(over="ignore"):
        share = np.where(near, 0.5 - u / 12 + u**3 / 720, 1 / safe - 1 / np.expm1(safe))
    return share * ends


def _log_density(y: _Floats, rate: float, end: float) -> _Floats:
    """Of the exponential on ``[0, end]`` at y."""
    return _log_scale(rate, end) - rate * y


def _log_scale(rate: float, end: float) -> float:
    """``ln(r / (1 - e^{-rL}))``, of either sign of r."""
    if math.isinf(end):
        return math.log(rate)
    u = rate * end
    if abs(u) < 1e-8:
        return -math.log(end) + u / 2
    if u < -30:  # e^{-u} alone counts, and would overflow
        return math.log(-rate) + u
    return math.log(rate / -math.expm1(-u))


def _information(rate: float, end: float) -> float:
    """Fisher's, of one sample about the rate: the variance of the cut exponential."""
    if math.isinf(end):
        return 1 / rate**2
    u = rate * end
    if abs(u) < 1e-2:
        return end**2 * (1 / 12 - u**2 / 240)
    return 1 / rate**2 - (0.0 if abs(u) > 60 else end**2 / (2 * math.cosh(u) - 2))


def _distance(y: _Floats, rate: float, end: float) -> float:
    """Kolmogorov-Smirnov, of sorted samples from the exponential on ``[0, end]``."""
    if math.isinf(end):
        law = -np.expm1(-rate * y)
    elif abs(rate * end) < 1e-8:
        law = y / end
    elif rate < 0:  # it rises: from its end on, so that nothing overflows
        law = 1 - np.expm1(rate * (end - y)) / np.expm1(rate * end)
    else:
        law = np.expm1(-rate * y) / np.expm1(-rate * end)
    steps = np.arange(len(y) + 1) / len(y)
    return float(max((steps[1:] - law).max(), (law - steps[:-1]).max()))
