"""A summary of a study that was never played, as ``summary.json`` has it: what figures and layouts are tested on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

__all__ = ["made"]


def made(axes: Mapping[str, Sequence[str]], *, metrics: Sequence[str] = ("F1_rt",), preset: str | None = None,
         baseline: Mapping[str, str] | None = None, unit: str = "0-1") -> dict[str, Any]:  # fmt: skip
    """Cells of all values of all axes; figures follow from their places, so that each is known."""
    cells = []
    for n, values in enumerate(product(*axes.values())):
        place = dict(zip(axes, values, strict=True))
        cells.append(
            {
                "id": f"{n:010x}", "name": "_".join(values), "values": place, "runs": [f"runs/{n}"], "seeds": [0],
                "n_sessions": 12, "n_users": 6, "units": {"done": 12, "erred": 0, "missing": 0},
                "counts": {}, "latency_source": "modelled", "marked": False,
                "metrics": {m: _figure(n, k) for k, m in enumerate(metrics)} | {"scheduled_latency@p95": _latency(n)},
                "latency_ms": {"p50": 100.0 * (n + 1), "p95": 180.0 * (n + 1)}, "tokens": None, "cost": None,
                "deadline": {"tau_s": [0.5, 1, 2, 5, 10], "F1_rt": [0.1 * n / (n + 1) * k for k in range(5)]},
            }
        )  # fmt: skip
    return {
        "schema": 1, "study": {"name": "made", "identity": "0" * 10, "preset": preset},
        "axes": [{"name": a, "values": list(v), "varies": len(v) > 1} for a, v in axes.items()],
        "baseline": dict(baseline or {}),
        "metrics": [{"name": m, "unit": unit, "direction": "up", "title": m} for m in metrics],
        "caveats": [], "cells": cells, "effects": [], "published": [],
    }  # fmt: skip


def _figure(n: int, k: int) -> dict[str, Any]:
    value = 0.5 + 0.03 * n - 0.1 * k
    gain = {"value": 0.03 * n, "low": 0.03 * n - 0.05, "high": 0.03 * n + 0.05}
    return {"value": value, "low": value - 0.05, "high": value + 0.04, "n": 30, "n_events": 30, "reason": None,
            "rank": n + 1, "best": n == 3, "like_best": n >= 2, "p_best": None, "gain": gain}  # fmt: skip


def _latency(n: int) -> dict[str, Any]:
    return {"value": 180.0 * (n + 1), "low": 150.0 * (n + 1), "high": 230.0 * (n + 1), "n": 30, "n_events": 30}
