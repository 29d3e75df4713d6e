"""Gates: figures that a run or a sweep must not have, such as ``f1_rt<0.6``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any

from simulator.core.errors import UsageError, likely, quote

if TYPE_CHECKING:
    from simulator.sweep.results import CellRuns, Results

__all__ = ["Failure", "Gate", "check", "check_cells", "is_of_latency", "parse"]

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_FORM = re.compile(r"\s*([^<>=\s]+)\s*(<=|>=|<|>)\s*([^<>=\s]+)\s*")
_LATENCIES = ("scheduled_latency", "service_time", "dispatch_delay", "first_token_latency", "age_of_information",
              "keeps_up", "utilisation", "assist_goodput")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Gate:
    """Fails where the figure stands so to the limit.

    Attributes:
        metric: as typed; letters of any size.
        sign: ``<``, ``<=``, ``>`` or ``>=``.
        limit: in the metric's own unit.
    """

    metric: str
    sign: str
    limit: float

    @property
    def text(self) -> str:
        """As one types it."""
        return f"{self.metric}{self.sign}{self.limit:g}"


@dataclass(frozen=True, slots=True)
class Failure:
    """A gate that says no.

    Attributes:
        cell: the name of the sweep's cell; empty of a run.
        why: the sentence for people.
        value: the figure; None where there is none that could be looked at.
    """

    gate: str
    cell: str
    why: str
    value: float | None = None

    @property
    def sentence(self) -> str:
        """All of it."""
        return f"gate {self.gate}{f', {self.cell}' if self.cell else ''}: {self.why}"


def parse(text: str) -> Gate:
    """A gate as typed.

    >>> parse("f1_rt < 0.6")
    Gate(metric='f1_rt', sign='<', limit=0.6)

    Raises:
        UsageError: it is none.
    """
    found = _FORM.fullmatch(text)
    try:
        limit = float(found[3]) if found else math.nan
    except ValueError:
        limit = math.nan
    if found is None or not math.isfinite(limit):
        raise UsageError(f"{quote(text)} is no gate: a metric, one of < <= > >=, and a number are wanted, such as "
                         "'F1_rt<0.6'; it fails where that holds")  # fmt: skip
    return Gate(found[1], found[2], limit)


def is_of_latency(metric: str) -> bool:
    """Whether a metric says how quick something was, so that it is only as true as the latencies are.

    >>> is_of_latency("scheduled_latency@p95"), is_of_latency("F1_rt")
    (True, False)
    """
    return metric.partition("@")[0] in _LATENCIES


def check(gates: Sequence[Gate], scores: Mapping[str, Any], *, modelled: bool = False) -> list[Failure]:
    """The gates that a run's scores do not keep.

    A figure that is unknown fails, with the reason: nobody should take it for good. So do latencies that are modelled:
    they are what was put in.

    Args:
        gates: those to keep.
        scores: as ``scores.json`` holds them.
        modelled: look at modelled latencies too.
    """
    details = scores["details"]
    return [
        failure
        for gate in gates
        if (failure := _look(gate, details, str(scores["latency_source"]), "", modelled=modelled)) is not None
    ]


def check_cells(gates: Sequence[Gate], results: Results, *, modelled: bool = False) -> Iterator[Failure]:
    """The gates that cells of a sweep do not keep: every cell must keep every gate."""
    from simulator.sweep.pooling import figures

    for gate in gates:
        for cell in results.cells:
            name = _named(gate.metric, [m for run in cell.runs for m in run.details])
            details: dict[str, Mapping[str, Any]] = {m: d for run in cell.runs for m, d in run.details.items()}
            if name is not None:
                figure = figures(results, cell, [name])[name]
                details[name] = {"value": figure.value, "reason": figure.reason}
            elif not cell.runs:
                yield Failure(gate.text, cell.name, "no unit of it was scored")
                continue
            failure = _look(gate, details, cell.told("latency_source"), cell.name, modelled=modelled)
            if failure is None and (cell.erred or cell.missing):
                failure = _of_the_rest(gate, cell, name, details)
            if failure is not None:
                yield failure


def _of_the_rest(gate: Gate, cell: CellRuns, name: str | None, details: Mapping[str, Mapping[str, Any]]) -> Failure:
    """A figure that keeps a gate only as far as units came to their end: what is hard may be what is not in it."""
    name = name or gate.metric
    value: float = details[name]["value"]
    why = f"{name} is {value:.6g}, but {cell.erred} of {cell.planned} units erred and {cell.missing} are missing"
    return Failure(gate.text, cell.name, f"{why}: it is that of the rest alone", value)


def _named(word: str, names: Sequence[str]) -> str | None:
    """The name that is meant: letters of any size, but the very one first."""
    if word in names:
        return word
    return next((name for name in names if name.casefold() == word.casefold()), None)


def _look(gate: Gate, details: Mapping[str, Mapping[str, Any]], source: str, cell: str, *, modelled: bool
          ) -> Failure | None:  # fmt: skip
    name = _named(gate.metric, list(details))
    if name is None:
        return Failure(gate.text, cell, f"there is no figure of that name; {likely(gate.metric, details)}"
                                        "`proact list metrics` names all")  # fmt: skip
    value = details[name]["value"]
    if value is None:
        return Failure(gate.text, cell, f"{name} is unknown: {details[name].get('reason') or 'no reason was given'}")
    if is_of_latency(name) and "modelled" in source and not modelled:
        return Failure(gate.text, cell, f"{name} is {source}, so it says what was put in, not how quick this is; "
                                        "--fail-on-modelled looks at it all the same", value)  # fmt: skip
    if _OPERATORS[gate.sign](value, gate.limit):
        return Failure(gate.text, cell, f"{name} is {value:.6g}", value)
    return None
