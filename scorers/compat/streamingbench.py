"""StreamingBench's proactive output: a question is asked, and to be answered by itself within 2 s of the true time.

There a model is polled once a second, from one second after the question until four seconds after the true time, and
the first answer counts: right in time within 2 s of the truth, before or after, and then right if the required output
stands in it letter by letter. Source: Lin et al. 2024 (arXiv 2411.03628); THUNLP-MT/StreamingBench at 8929923,
``src/benchmark/StreamingBenchProactive.py`` (polls), ``src/data/count.py`` (both accuracies, over all questions).
``simulator.sources.streamingbench`` imports its questions.

Both bounds are inclusive, as published (``|t - truth| <= 2``). There all times are whole seconds; here an offer that
arrives a microsecond after the bound is late, so a figure can hang on little where an agent is asked each second and
charged whole seconds.

In a stream of ours each need is a question. Its true time is when the window opens (or when the user acted alone), and
it is asked when the window before closes, or at the session's start.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scorers.base import Context, Metric, Score, Unit, scorers
from scorers.compat.twice import ENDS, FiguresOnly, instants, put_pooled, twice
from scorers.figures import Sheet
from scorers.matching import Content, Right, Said, Wanted, content
from scorers.pooling import Pooled, ratio_of
from simulator.core.errors import UsageError, nearest, quote
from simulator.core.types import SECOND
from simulator.runs.gate import surface
from simulator.session.truth import Opportunity

__all__ = ["AFTER_NS", "NEAR_NS", "TIMES", "Contains", "Question", "StreamingBench", "questions", "timely"]

NEAR_NS = 2 * SECOND
AFTER_NS = 4 * SECOND
FIRST_POLL_NS = SECOND
TIMES = ("opening", "act")


def timely(t_ns: int, true_ns: int) -> bool:
    """Whether an answer comes within 2 s of the true time, before or after.

    >>> timely(8 * SECOND, 10 * SECOND), timely(12 * SECOND + 1, 10 * SECOND)
    (True, False)
    """
    return abs(t_ns - true_ns) <= NEAR_NS


class Contains:
    """``contains``: the required output (the need's query) stands in the offered text, letter by letter.

    A need without a query has no required output, and no answer to it is right.
    """

    name = "contains"

    def right(self, offers: Sequence[Said], needs: Sequence[Wanted]) -> Right:
        """Containment."""
        outputs = [need.query for need in needs]
        texts = [offer.text for offer in offers]
        return lambda i, js: np.array([bool(outputs[i]) and str(outputs[i]) in texts[j] for j in js], dtype=bool)

    def why(self, offer: Said, need: Wanted, right: bool) -> str:
        """Whether it stands there."""
        if not need.query:
            return "the need says no words that an answer should hold"
        return f"the required output {'stands' if right else 'does not stand'} in the offered text"


@dataclass(frozen=True, slots=True)
class Question:
    """When it is first and last polled, both inclusive, and the true time."""

    first_ns: int
    last_ns: int
    true_ns: int


@dataclass(frozen=True, slots=True)
class Answered:
    """One session: questions, those answered in time, those of them answered rightly; needs without a true time."""

    asked: int
    in_time: int
    right: int
    left_out: int


def questions(needs: Sequence[Opportunity], time: str = "opening") -> list[Question | None]:
    """Each need as a question, None where the user's act is the true time and is not known."""
    closes = sorted(n.closes_ns for n in needs)
    found: list[Question | None] = []
    for need in needs:
        true = need.opens_ns if time == "opening" else need.acted_ns
        before = bisect_right(closes, need.opens_ns)
        asked = closes[before - 1] if before else 0
        found.append(None if true is None else Question(asked + FIRST_POLL_NS, true + AFTER_NS, true))
    return found


@scorers.register("streamingbench")
class StreamingBench(FiguresOnly):
    """Both accuracies of StreamingBench's proactive output, at arrival and at capture.

    Args:
        matcher: ``contains`` as published, ``category``, or ``embedding>=0.8``.
        time: the true time: ``opening`` of the window, or the user's ``act``.
    """

    protocols = ("stream",)
    needs_truth = True

    def __init__(self, matcher: str = "contains", time: str = "opening") -> None:
        if time not in TIMES:
            raise UsageError(f"streamingbench: time: unknown {quote(time)}; {nearest(time, TIMES)}")
        self.matcher, self.time = matcher, time
        true = "opening of the window" if time == "opening" else "act of the user"
        said = (
            f"needs of which the first offer from 1 s after the question until 4 s after the true time lies at most "
            f"2 s before or after it{{}} / needs, all bounds inclusive, to the nanosecond; question = close of the "
            f"window before, or the session's start; true time = {true}"
        )
        right = f" and is right ({matcher})"
        self.metrics = twice(
            [
                Metric("streamingbench@time_accuracy", said.format(""), "0-1", "0-1", "up"),
                Metric("streamingbench@answer_accuracy", said.format(right), "0-1", "0-1", "up"),
            ]
        )

    def tally(self, unit: Unit, context: Context) -> dict[str, Answered]:
        """Ask each need of one session, by ending."""
        needs = unit.truth.servable
        offers = surface(unit.log, unit.truth, context.gate)
        kind: Content = Contains() if self.matcher == Contains.name else content(self.matcher, context.embedder)
        right = kind.right(offers, needs)
        asked = questions(needs, self.time)
        found = {}
        for end, at in instants(offers).items():
            order = np.argsort(at, kind="stable")
            times = at[order]
            in_time = n_right = 0
            for i, question in enumerate(asked):
                if question is None:
                    continue
                first = int(np.searchsorted(times, question.first_ns))
                if first < len(times) and timely(times[first], question.true_ns):  # past the last poll it is too late
                    in_time += 1
                    n_right += int(right(i, order[first : first + 1])[0])
            n = sum(question is not None for question in asked)
            found[end] = Answered(n, in_time, n_right, len(asked) - n)
        return found

    def pooled(self, tallies: Sequence[Mapping[str, Answered]]) -> list[Pooled]:
        """See ``scorers.pooling.Pools``."""
        found = []
        for end in ENDS:
            parts = [t[end] for t in tallies]
            found.append(ratio_of(f"streamingbench@time_accuracy{end}", [(a.in_time, a.asked) for a in parts]))
            found.append(ratio_of(f"streamingbench@answer_accuracy{end}", [(a.right, a.asked) for a in parts]))
        return found

    def figures(self, tallies: Sequence[Mapping[str, Answered]]) -> list[Score]:
        """Over the questions of all sessions."""
        sheet = Sheet(self.metrics)
        n = sum(t[""].asked for t in tallies)
        listed = self.pooled(tallies)
        told = {"matcher": self.matcher, "left_out": sum(t[""].left_out for t in tallies)}
        reason = "no opportunities" if self.time == "opening" else "no opportunities with a known act of the user"
        put_pooled(sheet, listed, {p.metric: n for p in listed}, reason, told)
        return sheet.scores()
