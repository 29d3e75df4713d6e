"""A scorer of somebody else's is held to what a scorer promises: what it does wrong is told in one sentence.

Ours are held to it by tests (``tests/conformance/scorer_conformance.py``): a fault of theirs is one of proact itself.
"""

from __future__ import annotations

import inspect
import json
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from scorers.metric import PROTOCOLS, Metric, Score
from simulator.core.errors import ProactError, UsageError, quote

__all__ = ["blamed", "ensure_scorer", "ensure_scores", "ensure_told", "is_ours"]

_ATTRIBUTES = {
    "protocols": f"a tuple of what it is meant for, out of {', '.join(map(quote, PROTOCOLS))}",
    "needs_truth": "True where it reads what was needed, False where the logs are enough",
    "metrics": "a tuple of Metric, one for each figure that it gives",
}
_METHODS = {
    "tally": "tally(self, unit, context) counts one session",
    "figures": "figures(self, tallies) gives a Score for each metric, of these sessions together",
    "explain": "explain(self, tally) gives what is to be said of one session, {} for nothing",
    "reference": "reference(self, tallies) gives rows to compare with, {} for none",
}
_TAKEN = ("counts", "scores", "parts", "offers", "opportunities")
"""What ``scores.json`` says of a unit under these names is ours."""
_SLACK = 1e-9
"""Figures may leave their range by so much of themselves, which is rounding."""


def is_ours(scorer: object) -> bool:
    """Whether it is one of this package."""
    return type(scorer).__module__.partition(".")[0] == __name__.partition(".")[0]


def _refused(scorer: object, said: str) -> UsageError:
    return UsageError(f"scorer {quote(type(scorer).__name__)}: {said}")


def ensure_scorer(scorer: Any) -> None:
    """Check that it has all that a scorer has, before anything is asked of it.

    Raises:
        UsageError: what is missing or of another kind, and what would be right.
    """
    for name, want in _ATTRIBUTES.items():
        if not hasattr(scorer, name):
            raise _refused(scorer, f"it has no {name}: {want}")
    for name, want in _METHODS.items():
        if not callable(getattr(scorer, name, None)):
            raise _refused(scorer, f"it has no method {name}: {want}")
    protocols, metrics = scorer.protocols, scorer.metrics
    if not isinstance(protocols, tuple) or not protocols or not set(protocols) <= set(PROTOCOLS):
        raise _refused(scorer, f"protocols is {quote(protocols)}; it is to be {_ATTRIBUTES['protocols']}")
    if not isinstance(scorer.needs_truth, bool):
        raise _refused(scorer, f"needs_truth is {quote(scorer.needs_truth)}; it is to be {_ATTRIBUTES['needs_truth']}")
    if not isinstance(metrics, tuple) or not metrics or not all(isinstance(m, Metric) for m in metrics):
        raise _refused(scorer, f"metrics is to be {_ATTRIBUTES['metrics']}")
    for metric in metrics:
        if (wrong := _wrong(metric)) is not None:
            raise _refused(scorer, f"metric {quote(metric.name)}: {wrong}")
    if twice := [name for name, n in Counter(m.name for m in metrics).items() if n > 1]:
        raise _refused(scorer, f"two metrics are called {quote(twice[0])}")
    if bare := set(protocols) - {p for m in metrics for p in m.protocols}:
        raise _refused(scorer, f"no metric is for protocol {quote(min(bare))}: a Metric's own `protocols` say so")


def _wrong(metric: Metric) -> str | None:
    """What a metric says of itself that is not right."""
    for name in ("name", "formula", "unit"):
        if not isinstance(said := getattr(metric, name), str) or not said.strip():
            return f"its {name} is to say something"
    if metric.direction not in ("up", "down", "-"):
        return f"its direction is {quote(metric.direction)}; 'up' (more is better), 'down' or '-' is wanted"
    if not isinstance(metric.protocols, tuple) or not set(metric.protocols) <= set(PROTOCOLS):
        return f"its protocols are {quote(metric.protocols)}; {_ATTRIBUTES['protocols']} is wanted"
    if type(metric.version) is not int or metric.version < 1:
        return "its version is to be a whole number from 1"
    try:
        low, high = metric.bounds
    except (ValueError, TypeError):
        return f"its range is {quote(metric.range)}; such as '0-1', '0 or 1', '>= 0', '<= 100' or 'any' is wanted"
    return None if low < high else f"its range {quote(metric.range)} is empty"


@contextmanager
def blamed(scorer: object, doing: str) -> Iterator[None]:
    """Tell a fault of the scorer's code as one of its author's, with the line at which it was.

    Raises:
        UsageError: in place of whatever was raised; of our own scorers the error as it is.
    """
    try:
        yield
    except ProactError:
        raise
    except Exception as error:  # whatever code of others raises is its author's
        if is_ours(scorer):
            raise
        said = " ".join(str(error).split())
        why = type(error).__name__ + (f": {quote(said, 200)[1:-1]}" if said else "")
        raise _refused(scorer, f"{doing} failed{_at(scorer, error)}: {why}") from error


def _at(scorer: object, error: Exception) -> str:
    """Where in the scorer's own file; nothing where that cannot be told."""
    try:
        file = inspect.getfile(type(scorer))
    except (TypeError, OSError):
        return ""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" at {file}:{lines[-1]}" if lines else ""


def ensure_scores(scorer: Any, found: Any) -> None:
    """Check what ``figures`` gave.

    Raises:
        UsageError: not each metric once and in order, a value that is no number or out of its range, an n that is no
            count, or what belongs to a figure and cannot be written as JSON.
    """
    if not isinstance(found, Sequence) or not all(isinstance(score, Score) for score in found):
        raise _refused(scorer, "figures() is to give a list of Score")
    given, wanted = [score.metric for score in found], list(scorer.metrics)
    if given != wanted:
        names, due = ", ".join(m.name for m in given) or "nothing", ", ".join(m.name for m in wanted)
        raise _refused(scorer, f"figures() gave {names}; each of its metrics is due once, in their order: {due}")
    for score in found:
        name, value = score.metric.name, score.value
        if value is not None:
            if not isinstance(value, int | float):
                raise _refused(scorer, f"{name} came out as a {type(value).__name__}; a plain number is due")
            low, high = score.metric.bounds
            slack = _SLACK * max(1.0, abs(value))
            if not low - slack <= value <= high + slack:
                raise _refused(scorer, f"{name} came out as {value}, and its range is {quote(score.metric.range)}")
        if type(score.n) is not int or score.n < 0:
            raise _refused(scorer, f"{name}: n is {quote(score.n)}; the number of events behind the figure is due")
        if score.reason is not None and not isinstance(score.reason, str):
            raise _refused(scorer, f"{name}: the reason why there is no figure is to be a sentence")
        ensure_told(scorer, f"{name}: extra", score.extra)


def ensure_told(scorer: Any, what: str, told: Any, *, of_unit: bool = False) -> None:
    """Check that it can be written into ``scores.json``; ``of_unit`` beside what we say of the unit.

    Raises:
        UsageError: no mapping of what JSON knows, or a name that is taken.
    """
    try:
        fits = isinstance(told, Mapping) and all(isinstance(key, str) for key in told)
        json.dumps(dict(told) if fits else None, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise _refused(scorer, f"{what} cannot be written as JSON: {error}") from error
    if not fits:
        raise _refused(scorer, f"{what} is to be a mapping of names to what JSON can hold")
    if of_unit and (taken := [key for key in _TAKEN if key in told]):
        raise _refused(scorer, f"{what} says {quote(taken[0])}, a name that is taken: {', '.join(_TAKEN)}")
