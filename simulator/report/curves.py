"""Curves of a run: how its latencies are distributed, and how good it would have been if only quick answers counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from scorers.interrupted import truth_as_played
from scorers.realtime import Realtime
from scorers.statistics.spread import middles
from simulator.core.types import SECOND
from simulator.play.scoring import Opened

__all__ = ["f1_by_deadline", "latencies"]

Curve = list[tuple[float, float]]


def latencies(scores: Mapping[str, Any], keys: frozenset[str] | None = None) -> Curve:
    """The scheduled latencies as shares: (ms, share of decisions that took at most so long), ascending.

    From the histograms that ``scores.json`` keeps, at most 0.5 % off; empty where it keeps none.

    Args:
        scores: of the run.
        keys: only these units.
    """
    total: Counter[int] = Counter()
    for key, unit in scores["units"].items():
        if keys is None or key in keys:
            row = unit.get("parts", {}).get("scheduled_latency", [])
            for at, n in zip(row[::2], row[1::2], strict=True):
                total[int(at)] += int(n)
    n_all = sum(total.values())
    found, so_far = Curve(), 0
    of = sorted(total)
    for at, ns in zip(of, middles(np.array(of, np.int64)).tolist(), strict=True):
        so_far += total[at]
        found.append((float(f"{ns / 1e6:.4g}"), round(so_far / n_all, 4)))
    return found


def f1_by_deadline(opened: Opened, keys: frozenset[str] | None = None) -> Curve:
    """(τ in s, F1 if only what arrived within τ of a need's opening served it), ascending; the longest is F1_rt where
    no need was open longer.

    An offer that comes later than τ is still an offer that interrupted: the number of offers stays.

    Args:
        opened: the run, of protocol ``stream``; another has no such curve.
        keys: only these units.
    """
    if opened.context.protocol != "stream":
        return []
    scorer, hits, n_said, n_needs = Realtime(), Counter[int](), 0, 0
    for unit in opened.units:
        if not unit.has_truth("stream") or not (len(unit.log) or unit.log.complete):
            continue
        if keys is None or unit.key in keys:
            strength = scorer.tally(
                replace(unit, truth=truth_as_played(unit.log, unit.truth)), opened.context
            ).strengths[""]
            hits.update(strength.by_deadline)
            n_said += len(strength.judged)
            n_needs += strength.n_needs
    if not n_needs:
        return []
    return [(d / SECOND, round(2 * n / (n_said + n_needs), 6)) for d, n in sorted(hits.items())]
