"""What a study will take, before anything of it is played: units, decisions, calls, tokens, cost, time.

Rules of thumb, told as ranges. What nobody can know beforehand is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from simulator.core.types import SECOND
from simulator.endpoint.prices import Price
from simulator.endpoint.types import ModelChoice
from simulator.sweep.cell_facts import CellFacts
from simulator.sweep.data import Session
from simulator.sweep.planning import Plan, Run

__all__ = ["Estimate", "estimate"]

Range = tuple[float, float]
_TOKENS_IN = (500.0, 4_000.0)  # of a prompt with history and memory
_TOKENS_PICTURE = (250.0, 1_600.0)  # of one picture, as providers count them
_TOKENS_OUT = (30.0, 400.0)
_CALL_S = (0.5, 10.0)
_DECISION_S = (20e-6, 1e-3)  # of an agent that asks nobody
_UNIT_S = (0.005, 0.02)  # around a unit: reading, writing, its share of scoring
_EVENT_S = (20e-6, 1e-3)  # of the past that an agent and its memory are told first
_MOMENTS = 40  # of a session that is yet to be made


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is to be played of a study.

    Attributes:
        units: all of them; ``there``: played already; ``changed``: of other inputs; ``erred``: to be tried again;
            ``damaged``: cut or damaged since.
        decisions: about; None where data are yet to be made.
        calls: to models; None where an agent does not tell how often it asks.
        tokens_in: from, to; ``tokens_out`` likewise. None where calls are.
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
    damaged: int
    decisions: int | None
    calls: int | None
    tokens_in: Range | None
    tokens_out: Range | None
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
    sum_ = _Sum(prices or {})
    for run in plan.runs:
        if run.missing:
            sum_.add(plan, run)
    return Estimate(
        len(plan.cells), seeds, len(plan.runs), plan.n_units, plan.n_units - plan.n_missing, plan.n_missing,
        plan.n_changed, plan.n_erred, plan.n_damaged, sum_.decisions, sum_.calls, *sum_.tokens,
        None if sum_.cost is None else _ends(sum_.cost),
        _ends([alone + beside / workers for alone, beside in zip(sum_.alone_s, sum_.seconds, strict=True)]),
        sum_.n_alone,
    )  # fmt: skip


def _ends(values: Sequence[float]) -> Range:
    return values[0], values[1]


class _Sum:
    """Adds up what runs take; ranges are lists of a lower and an upper end."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = prices
        self.decisions: int | None = 0
        self.calls: int | None = 0
        self.tokens_in, self.tokens_out, self.seconds, self.alone_s = [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]
        self.cost: list[float] | None = [0.0, 0.0]
        self.n_alone = 0

    def add(self, plan: Plan, run: Run) -> None:
        """Take the missing units of a run in."""
        cell, facts, sessions = plan.cells[run.cell], plan.facts[run.cell], plan.sessions(run)
        n = sum(_decisions(facts, sessions[i]) for i in run.missing)
        asked = (len(run.missing) if facts.asks_once else n) * (facts.asks or 0)
        before = facts.asks_before * sum(sessions[i].n_past > 0 for i in run.missing)
        calls = None if facts.asks is None else asked + before
        is_known = self.decisions is not None and plan.sets[cell.data].first is not None
        self.decisions = (self.decisions or 0) + n if is_known else None
        self.calls = None if self.calls is None or calls is None else self.calls + calls
        self.n_alone += len(run.missing) if facts.needs.alone else 0
        n_past = sum(sessions[i].n_past for i in run.missing)
        seconds, known = self.alone_s if facts.needs.alone else self.seconds, calls or 0
        tokens_in = [known * t + asked * facts.pictures * p for t, p in zip(_TOKENS_IN, _TOKENS_PICTURE, strict=True)]
        tokens_out = [known * t for t in _TOKENS_OUT]
        for end in (0, 1):
            around = len(run.missing) * _UNIT_S[end] + n_past * _EVENT_S[end]
            seconds[end] += known * _CALL_S[end] + n * _DECISION_S[end] + around
            self.tokens_in[end] += tokens_in[end]
            self.tokens_out[end] += tokens_out[end]
        if calls != 0:
            self._pay(_price(cell.choice.get("model"), self._prices), calls, tokens_in, tokens_out)

    @property
    def tokens(self) -> tuple[Range | None, Range | None]:
        """In and out; nobody can know them where nobody knows how many calls there are."""
        return (None, None) if self.calls is None else (_ends(self.tokens_in), _ends(self.tokens_out))

    def _pay(self, price: tuple[float, float] | None, calls: int | None, tokens_in: Sequence[float],
             tokens_out: Sequence[float]) -> None:  # fmt: skip
        if self.cost is None or price is None or calls is None:
            self.cost = None
            return
        for end in (0, 1):
            self.cost[end] += tokens_in[end] * price[0] + tokens_out[end] * price[1]


def _decisions(facts: CellFacts, session: Session) -> int:
    """How often an agent is asked: it sees a new snapshot when it has answered the last one."""
    protocol = facts.protocol
    if protocol == "moments":
        return _MOMENTS if session.n_moments is None else session.n_moments
    apart = session.period_ns if protocol == "trajectory" else max(session.period_ns, facts.latency_ns or 0)
    return max(1, session.end_ns // max(apart, SECOND // 1000))


def _price(model: ModelChoice | None, prices: Mapping[str, Price]) -> tuple[float, float] | None:
    """Of one token in and out; None where nobody said."""
    price = prices.get(model.model or "") if model is not None else None
    return None if price is None else (price.tokens_in / 1e6, price.tokens_out / 1e6)
