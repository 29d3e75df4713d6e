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

__all__ = ["f1_by_deadline", "f1_of_units", "latencies"]

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


def f1_by_deadline(scores: Mapping[str, Any]) -> Curve:
    """(τ in s, F1 if only what arrived within τ of a need's opening served it), ascending; the longest is F1_rt where
    no need was open longer. From the attainment of deadlines and the number of offers; empty where there are none.

    An offer that comes later than τ is still an offer that interrupted: the number of offers stays.
    """
    attained, said = (scores["details"].get(name) or {} for name in ("deadline_attainment@5", "P_rt"))
    if not attained.get("curve") or "classes" not in said:
        return []
    n_needs, n_said = attained["n"], sum(said["classes"].values())
    return [(tau, round(2 * round(share * n_needs) / (n_said + n_needs), 6)) for tau, share in attained["curve"]]


def f1_of_units(opened: Opened, keys: frozenset[str]) -> Curve:
    """``f1_by_deadline`` of some units, from their logs; empty of another protocol than ``stream``."""
    if opened.context.protocol != "stream":
        return []
    scorer, hits, n_said, n_needs = Realtime(), Counter[int](), 0, 0
    for unit in opened.units:
        if unit.key in keys and unit.has_truth("stream") and (len(unit.log) or unit.log.complete):
            played = replace(unit, truth=truth_as_played(unit.log, unit.truth))
            strength = scorer.tally(played, opened.context).strengths[""]
            hits.update({d: strength.by_deadline[d] for d in scorer.rules.curve_ns})
            n_said += len(strength.judged)
            n_needs += strength.n_needs
    if not n_needs:
        return []
    return [(d / SECOND, round(2 * hits[d] / (n_said + n_needs), 6)) for d in scorer.rules.curve_ns]
