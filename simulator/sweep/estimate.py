"""What a study will take, before anything of it is played: units, decisions, calls, tokens, cost, time.

Rules of thumb, told as ranges. What nobody can know beforehand is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from simulator.core.types import SECOND
from simulator.endpoint.prices import Price
from simulator.endpoint.types import ModelChoice
from simulator.sweep.data import Session
from simulator.sweep.planning import CellFacts, Plan

__all__ = ["Estimate", "estimate"]

Range = tuple[float, float]
_TOKENS_IN = (500.0, 4_000.0)  # of a prompt with history and memory
_TOKENS_PICTURE = (250.0, 1_600.0)  # of one picture, as providers count them
_TOKENS_OUT = (30.0, 400.0)
_CALL_S = (0.5, 10.0)
_DECISION_S = (20e-6, 1e-3)  # of an agent that asks nobody
_UNIT_S = (0.005, 0.02)  # around a unit: reading, writing, its share of scoring
_MOMENTS = 40  # sampled where a scenario states none: about so many of a session


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is to be played of a study.

    Attributes:
        units: all of them; ``there``: played already; ``changed``: of other inputs; ``erred``: to be tried again.
        decisions: about; None where data are yet to be made.
        calls: to models; None where an agent does not tell how often it asks.
        tokens_in: from, to; ``tokens_out`` likewise. Of calls that are known.
        cost: in the prices' currency; None where prices are unknown.
        seconds: with these workers.
    """

    cells: int
    seeds: int
    runs: int
    units: int
    there: int
    missing: int
    changed: int
    erred: int
    decisions: int | None
    calls: int | None
    tokens_in: Range
    tokens_out: Range
    cost: Range | None
    seconds: Range
    alone: int

    def told(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def estimate(plan: Plan, workers: int, seeds: int, prices: Mapping[str, Price] | None = None) -> Estimate:
    """What is to be played of a plan that was looked at.

    Args:
        plan: the plan.
        workers: how many units run side by side.
        seeds: of the study.
        prices: by model, where they are known.
    """
    decisions: int | None = 0
    calls: int | None = 0
    known_calls = alone = 0
    tokens_in, tokens_out, seconds, kept = [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]
    cost: list[float] | None = [0.0, 0.0]
    for run in plan.runs:
        facts, sessions = plan.facts[run.cell], plan.sessions(run)
        model: ModelChoice | None = plan.cells[run.cell].choice.get("model")
        if facts.needs.alone:
            alone += len(run.missing)
        n = sum(_decisions(facts, sessions[i]) for i in run.missing)
        if plan.sets[plan.cells[run.cell].data].first is None:
            decisions = None
        decisions = None if decisions is None else decisions + n
        n_calls = None if facts.asks is None else n * facts.asks
        calls = None if calls is None or n_calls is None else calls + n_calls
        known_calls += n_calls or 0
        for end in (0, 1):
            took = (n_calls or 0) * _CALL_S[end] + n * _DECISION_S[end] + len(run.missing) * _UNIT_S[end]
            (kept if facts.needs.alone else seconds)[end] += took
            more_in = (n_calls or 0) * (_TOKENS_IN[end] + facts.pictures * _TOKENS_PICTURE[end])
            more_out = (n_calls or 0) * _TOKENS_OUT[end]
            tokens_in[end] += more_in
            tokens_out[end] += more_out
            if n_calls == 0 or cost is None:
                continue
            price = None if n_calls is None else _price(model, prices or {})
            cost = None if price is None else cost
            if cost is not None and price is not None:
                cost[end] += more_in * price[0] + more_out * price[1]
    return Estimate(
        len(plan.cells), seeds, len(plan.runs), plan.n_units, plan.n_units - plan.n_missing, plan.n_missing,
        plan.n_changed, plan.n_erred, decisions, calls, (tokens_in[0], tokens_in[1]), (tokens_out[0], tokens_out[1]),
        None if cost is None else (cost[0], cost[1]),
        (kept[0] + seconds[0] / workers, kept[1] + seconds[1] / workers), alone,
    )  # fmt: skip


def _decisions(facts: CellFacts, session: Session) -> int:
    """How often an agent is asked: it sees a new snapshot when it has answered the last one."""
    protocol = facts.protocol
    if protocol == "moments":
        return session.n_moments or _MOMENTS
    apart = session.period_ns if protocol == "trajectory" else max(session.period_ns, facts.latency_ns or 0)
    return max(1, session.end_ns // max(apart, SECOND // 1000))


def _price(model: ModelChoice | None, prices: Mapping[str, Price]) -> tuple[float, float] | None:
    """Of one token in and out; None where nobody said."""
    price = prices.get(model.model or "") if model is not None else None
    return None if price is None else (price.tokens_in / 1e6, price.tokens_out / 1e6)
