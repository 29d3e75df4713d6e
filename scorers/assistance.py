"""ProAgentBench's score over sampled moments: *when* help was needed (accuracy, P, R, F1) and *how* (intention, text).

Answers that failed or could not be read are counted apart and are wrong, a miss on a positive moment and a false alarm
on a negative one; leaving them out, as published tables seem to, flatters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scorers.base import Context, Metric, Score, Unit, scorers
from scorers.figures import Sheet, harmonic, ratio
from scorers.pooling import Floats, Pooled, Sums, over
from simulator.core.intentions import key
from simulator.core.protocols import Embedder
from simulator.runs.records import Kind, RunLog
from simulator.session.truth import Moment, Truth

__all__ = ["Answer", "Assistance", "pair"]

_MOMENTS = ("moments",)
_NO_EMBEDDER = "not computed: needs an embedder"


def _metric(
    name: str, formula: str, direction: str = "up", unit: str = "0-1", span: str = "0-1", version: int = 1
) -> Metric:
    return Metric(name, formula, unit, span, direction, _MOMENTS, version)


@dataclass(frozen=True, slots=True)
class Answer:
    """A moment with what came back: ``yes``, ``no``, ``unparsed``, ``failed``, or ``unanswered`` (no decision).

    ``intention`` and ``text`` are those of the first offer. ``right`` compares the intention with the true one;
    ``cosine`` is None where nobody can say (no query, no embedder).
    """

    moment: Moment
    kind: str
    intention: str | None = None
    text: str = ""
    right: bool = False
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """One session's answers in order of time."""

    answers: tuple[Answer, ...]
    not_asked: int
    rule: str
    embedder: str | None


@scorers.register("proagentbench")
class Assistance:
    """Accuracy, precision, recall, F1, trigger rate; intention accuracy; semantic similarity."""

    protocols = _MOMENTS
    needs_truth = True
    metrics = (
        _metric("accuracy", "moments answered rightly / moments; unparsed and failed answers are wrong"),
        _metric("precision", "TP / (TP + FP); FP = yes, unparsed or failed on a negative"),
        _metric("recall", "TP / positive moments"),
        _metric("F1", "2 TP / (2 TP + FP + FN)"),
        _metric("trigger_rate", "moments answered yes / moments", "-"),
        _metric(
            "intention_accuracy",
            "positive moments with the true intention offered first / positive moments of known intention",
            version=2,
        ),
        _metric("intention_accuracy_given_help", "the same / those of them answered yes", version=2),
        _metric(
            "semantic_similarity",
            "mean cosine of offered text and the user's query over positives answered yes",
            span="-1 to 1",
        ),
        _metric(
            "semantic_similarity@all",
            "the same over all positives, 0 where not answered yes",
            span="-1 to 1",
        ),
        _metric("unparsed", "answers that could not be read", "down", "count", ">= 0"),
        _metric("failed", "calls that failed, and moments of a whole run without an answer", "down", "count", ">= 0"),
    )

    def tally(self, unit: Unit, context: Context) -> Answers:
        """Pair decisions with moments and compare."""
        answers, not_asked = pair(unit.log, unit.truth)
        if context.embedder is not None:
            answers = _with_cosines(answers, context.embedder)
        identity = None if context.embedder is None else context.embedder.identity
        return Answers(tuple(answers), not_asked, unit.truth.rule, identity)

    def figures(self, tallies: Sequence[Answers]) -> list[Score]:
        """Pool answers over sessions."""
        sheet = Sheet(self.metrics)
        answers = [a for t in tallies for a in t.answers]
        positive = [a for a in answers if a.moment.positive]
        yes = [a for a in positive if a.kind == "yes"]
        said = len(yes) + sum(not a.moment.positive and a.kind != "no" for a in answers)
        n_right = len(yes) + sum(not a.moment.positive and a.kind == "no" for a in answers)
        rules = sorted({t.rule for t in tallies if t.rule})
        stated: dict[str, Any] = {
            "rule": rules[0] if len(rules) == 1 else rules,
            "not_asked": sum(t.not_asked for t in tallies),
        }
        sheet.put("accuracy", ratio(n_right, len(answers), "moments"), **stated)
        when = harmonic(len(yes), said, len(positive), said_of="moments answered yes", true_of="positive moments")
        for name, figure in zip(("precision", "recall", "F1"), when, strict=True):
            sheet.put(name, figure)
        sheet.put("trigger_rate", ratio(sum(a.kind == "yes" for a in answers), len(answers), "moments"))
        hits = sum(a.right for a in yes)
        n_named = [sum(a.moment.intention is not None for a in of) for of in (positive, yes)]  # a source may name none
        sheet.put("intention_accuracy", ratio(hits, n_named[0], "positive moments with a known intention"))
        sheet.put(
            "intention_accuracy_given_help",
            ratio(hits, n_named[1], "positive moments with a known intention answered yes"),
        )
        _put_similarity(sheet, positive, next((t.embedder for t in tallies if t.embedder), None))
        kinds = Counter(a.kind for a in answers)
        sheet.put("unparsed", kinds["unparsed"], len(answers))
        sheet.put("failed", kinds["failed"] + kinds["unanswered"], len(answers))
        return sheet.scores()

    def pooled(self, tallies: Sequence[Answers]) -> list[Pooled]:
        """See ``scorers.pooling.Pools``."""
        names = ("positive", "negative", "hits", "false", "quiet", "yes", "right", "named", "named_yes")
        made = Sums("moments", (*names, "unparsed", "failed"), [_counted(t.answers) for t in tallies])
        found = [made.metric(name, formula) for name, formula in _POOLED.items()]
        if all(t.embedder is not None for t in tallies):
            made = Sums("semantic_similarity", ("cosines", "measured", "known"), [_cosines(t.answers) for t in tallies])
            found.append(made.metric("semantic_similarity", lambda s: over(s["cosines"], s["measured"])))
            found.append(made.metric("semantic_similarity@all", lambda s: over(s["cosines"], s["known"])))
        return found

    def explain(self, tally: Answers) -> Mapping[str, Any]:
        """Each moment with its answer."""
        return {
            "moments": [
                {
                    "t_ns": a.moment.t_ns,
                    "positive": a.moment.positive,
                    "answer": a.kind,
                    "intention": a.moment.intention,
                    "offered": a.intention,
                    "right": a.right,
                }
                for a in tally.answers
            ],
            "not_asked": tally.not_asked,
        }

    def reference(self, tallies: Sequence[Answers]) -> Mapping[str, Any]:
        """Agents that need no screen: ``always``, ``silent``, ``majority`` intention, and the ``oracle``.

        The majority is that of the scored positives, named, which no real agent can know: an upper bound of its kind.
        """
        moments = [a.moment for t in tallies for a in t.answers]
        positive = [m for m in moments if m.positive]
        counts = Counter(key(m.intention) for m in positive if m.intention)
        most = min(counts, key=lambda k: (-counts[k], k), default=None)
        rows: dict[str, Any] = {}
        for name, says, intention in (
            ("always", lambda m: True, None),
            ("silent", lambda m: False, None),
            ("majority", lambda m: True, most),
            ("oracle", lambda m: m.positive, "true"),
        ):
            said = [_reference_answer(m, says(m), intention) for m in moments]
            figures = self.figures([Answers(tuple(said), 0, "", None)])
            rows[name] = {s.metric.name: s.value for s in figures if s.metric.name in _SHOWN}
            if intention is None:
                rows[name].pop("intention_accuracy")
        rows["majority"]["intention"] = most
        return rows


def _counted(answers: Sequence[Answer]) -> list[int]:
    positive = [a for a in answers if a.moment.positive]
    negative = [a.kind for a in answers if not a.moment.positive]
    yes = [a for a in positive if a.kind == "yes"]
    kinds = Counter(a.kind for a in answers)
    named, named_yes = (sum(a.moment.intention is not None for a in of) for of in (positive, yes))
    false, quiet = sum(kind != "no" for kind in negative), negative.count("no")
    right, failed = sum(a.right for a in yes), kinds["failed"] + kinds["unanswered"]
    outcomes = [len(positive), len(negative), len(yes), false, quiet, kinds["yes"]]
    return [*outcomes, right, named, named_yes, kinds["unparsed"], failed]


def _cosines(answers: Sequence[Answer]) -> list[float]:
    known = [a for a in answers if a.moment.positive and a.moment.query]
    measured = [a.cosine for a in known if a.cosine is not None]
    return [math.fsum(measured), len(measured), len(known)]


_POOLED: Mapping[str, Callable[[Mapping[str, Floats]], Floats]] = {
    "accuracy": lambda s: over(s["hits"] + s["quiet"], s["positive"] + s["negative"]),
    "precision": lambda s: over(s["hits"], s["hits"] + s["false"]),
    "recall": lambda s: over(s["hits"], s["positive"]),
    "F1": lambda s: np.where(s["positive"] > 0, over(2 * s["hits"], s["hits"] + s["false"] + s["positive"]), np.nan),
    "trigger_rate": lambda s: over(s["yes"], s["positive"] + s["negative"]),
    "intention_accuracy": lambda s: over(s["right"], s["named"]),
    "intention_accuracy_given_help": lambda s: over(s["right"], s["named_yes"]),
    "unparsed": lambda s: s["unparsed"],
    "failed": lambda s: s["failed"],
}

_SHOWN = ("accuracy", "precision", "recall", "F1", "trigger_rate", "intention_accuracy")


def _reference_answer(moment: Moment, yes: bool, intention: str | None) -> Answer:
    right = yes and moment.intention is not None and (intention == "true" or intention == key(moment.intention))
    return Answer(moment, "yes" if yes else "no", right=right)


def pair(log: RunLog, truth: Truth) -> tuple[list[Answer], int]:
    """The answer to each moment, in order of time; and how many an interrupted run never asked.

    A decision answers the moment at which its snapshot was released, to the nanosecond; the first such counts. In a
    whole run a moment without a decision is ``unanswered`` and wrong.
    """
    moments = sorted(truth.moments, key=lambda m: m.t_ns)
    rows: dict[int, int] = {}
    for row, released_ns in enumerate(log.released_ns.tolist()):
        rows.setdefault(released_ns, row)
    answers, not_asked = [], 0
    for moment in moments:
        if moment.t_ns in rows:
            answers.append(_answer(moment, log, rows[moment.t_ns]))
        elif log.complete:
            answers.append(Answer(moment, "unanswered"))
        else:
            not_asked += 1
    return answers, not_asked


def _answer(moment: Moment, log: RunLog, row: int) -> Answer:
    kind = Kind(int(log.kind[row]))
    if kind is Kind.OFFER:
        first = log.full[int(log.seq[row])]["offers"][0]
        intention = str(first["intention"])
        right = moment.intention is not None and key(intention) == key(moment.intention)
        return Answer(moment, "yes", intention, first.get("text") or "", right)
    return Answer(moment, {Kind.SILENT: "no", Kind.UNPARSED: "unparsed"}.get(kind, "failed"))


def _with_cosines(answers: Sequence[Answer], embedder: Embedder) -> list[Answer]:
    asked = {i for i, a in enumerate(answers) if a.kind == "yes" and a.moment.positive and a.moment.query}
    texts = sorted({t for i in asked for t in (answers[i].text, answers[i].moment.query or "")})
    if not texts:
        return list(answers)
    vectors = dict(zip(texts, embedder.embed(texts).astype(np.float64), strict=True))

    def cosine(a: Answer) -> float:
        x, y = vectors[a.text], vectors[a.moment.query or ""]
        length = math.sqrt(float(x @ x) * float(y @ y))
        return float(x @ y) / length if length else 0.0

    return [
        Answer(a.moment, a.kind, a.intention, a.text, a.right, cosine(a)) if i in asked else a
        for i, a in enumerate(answers)
    ]


def _put_similarity(sheet: Sheet, positive: Sequence[Answer], embedder: str | None) -> None:
    known = [a for a in positive if a.moment.query]
    measured = [a.cosine for a in known if a.cosine is not None]
    extra: dict[str, Any] = {"embedder": embedder, "n_without_query": len(positive) - len(known)}
    for name, whole, of in (
        ("semantic_similarity", len(measured), "positives with a query answered yes"),
        ("semantic_similarity@all", len(known), "positive moments with a query"),
    ):
        if embedder is None:
            sheet.put(name, None, 0, _NO_EMBEDDER)
        else:
            sheet.put(name, ratio(math.fsum(measured), whole, of), **extra)
