"""PIRA-Bench: the set of intents predicted for a trajectory under a profile, against the true set, which may be empty.

The official judge is closed, so every result says ``matcher=…, not official``. ``pira_card_approx`` is the recipe of a
skill card that differs from the paper; it is kept apart, for comparison only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scorers.base import Context, Metric, Score, Unit, scorers
from scorers.figures import Ratio, Sheet, harmonic
from scorers.judge import JudgeFailed
from scorers.matching import Content, content, maximum
from scorers.pooling import Floats, Pooled, Sums, over
from scorers.samples import SUMS, Sample, set_score, set_score_of, sums
from simulator.core.errors import UsageError, quote
from simulator.core.intentions import key
from simulator.runs.records import Kind, RunLog
from simulator.session.truth import Intent, Truth

__all__ = ["CardApprox", "Entry", "Pira", "predicted", "true_intents"]

_TRAJECTORY = ("trajectory",)
_SETS = ("retained", "ever")
_MERGED = "; near-duplicates are merged by the matcher in both sets"


@dataclass(frozen=True, slots=True)
class Entry:
    """One intent of a set: a thread as it was last offered, or a true one (its words where it has no category)."""

    intention: str
    text: str
    thread: str | None = None

    @property
    def query(self) -> str:
        """Its words, where a matcher holds others against it."""
        return self.text


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One (trajectory, profile) sample, for both sets; ``n_listed`` true intents before near-duplicates were merged."""

    samples: Mapping[str, Sample]
    n_listed: int
    shown: Mapping[str, Any]
    matcher: str
    unjudged: str | None = None  # why there are no samples


def _metrics() -> tuple[Metric, ...]:
    listed = []
    for kind in _SETS:
        end = "" if kind == "retained" else "@ever"
        which = "intents not retracted by the end" if kind == "retained" else "all intents ever offered"
        of = f"; predicted = {which}"
        for name, formula in (
            ("P", "mean over positive samples of matched / predicted (0 where nothing is predicted)"),
            ("R", "mean over positive samples of matched / true"),
            ("F1_avg", "mean over positive samples of 2 matched / (predicted + true)"),
        ):
            listed.append(Metric(name + end, formula + of + _MERGED, "%", "0-100", "up", _TRAJECTORY, version=2))
        listed.append(
            Metric(f"FPS{end}", "mean predicted over negative samples" + of, "count", ">= 0", "down", _TRAJECTORY)
        )
        listed.append(Metric(f"FPS_norm{end}", "1 / (1 + ln(1 + FPS))" + of, "%", "0-100", "up", _TRAJECTORY))
        listed.append(
            Metric(f"S_final{end}", "F1_avg x FPS_norm" + of + _MERGED, "%", "0-100", "up", _TRAJECTORY, version=2)
        )
    return tuple(listed)


@scorers.register("pira")
class Pira:
    """The paper's score.

    Args:
        matcher: ``category``, ``embedding>=0.8``, or ``judge``: a language model, see ``scorers.judge``. Where that
            left a sample unjudged there is no figure: scoring again asks for what is missing, and for nothing else.
    """

    protocols = _TRAJECTORY
    needs_truth = True
    metrics = _metrics()

    def __init__(self, matcher: str = "category") -> None:
        self.matcher = matcher

    def tally(self, unit: Unit, context: Context) -> Trajectory:
        """Match both predicted sets of one sample."""
        kind = self.content(unit.key, context)
        listed = true_intents(unit)
        try:
            return self._matched(unit, kind, listed)
        except JudgeFailed as failed:
            return Trajectory({}, len(listed), {"unjudged": str(failed)}, self._named(kind), str(failed))

    def content(self, key: str, context: Context) -> Content:
        """The matcher for the unit of that key.

        Raises:
            UsageError: unknown, or it needs an embedder or a judge that was not given.
        """
        judge = context.judge(key) if context.judge is not None and self.matcher == "judge" else None
        return content(self.matcher, context.embedder, judge)

    def _named(self, kind: Content) -> str:
        return kind.name if self.matcher == "judge" else self.matcher

    def _matched(self, unit: Unit, kind: Content, listed: Sequence[Intent]) -> Trajectory:
        true, same_as = merged(true_entries(listed), kind)
        samples, shown = {}, {}
        for name in _SETS:
            entries = predicted(unit.log, kind, ever=name == "ever")
            pairs = maximum(kind.right(entries, true), len(true), len(entries))
            samples[name] = Sample(len(entries), len(true), sum(j is not None for j in pairs))
            matched = {j: i for i, j in enumerate(pairs) if j is not None}
            shown[name] = [
                {
                    "intention": e.intention,
                    "text": e.text,
                    "thread": e.thread,
                    "matched": true[matched[j]].text if j in matched else None,
                }
                for j, e in enumerate(entries)
            ]
        told = [{"text": i.text, "counted_as": true[at].text} for i, at in zip(listed, same_as, strict=True)]
        return Trajectory(samples, len(listed), {"true": told, **shown}, self._named(kind))

    def figures(self, tallies: Sequence[Trajectory]) -> list[Score]:
        """Macro averages over samples, in percent."""
        sheet = Sheet(self.metrics)
        names = list(dict.fromkeys(t.matcher for t in tallies)) or [self.matcher]
        said: dict[str, Any] = {"matcher": f"matcher={' and '.join(names)}, not official"}
        if unjudged := [t.unjudged for t in tallies if t.unjudged is not None]:
            why = f"{len(unjudged)} of {len(tallies)} samples unjudged: {unjudged[0]}; score again to ask for them"
            for metric in self.metrics:
                sheet.put(metric.name, None, 0, why, **said)
            return sheet.scores()
        n_true: dict[str, Any] = {"n_true": sum(t.samples["retained"].true for t in tallies)}
        n_true["n_true_before_merging"] = sum(t.n_listed for t in tallies)
        for kind in _SETS:
            end = "" if kind == "retained" else "@ever"
            score = set_score([t.samples[kind] for t in tallies])
            sheet.put(f"P{end}", _percent(score.precision))
            sheet.put(f"R{end}", _percent(score.recall), **n_true)
            sheet.put(f"F1_avg{end}", _percent(score.f1), **said, **n_true)
            sheet.put(f"FPS{end}", score.false_positives)
            sheet.put(f"FPS_norm{end}", _percent(score.norm))
            sheet.put(f"S_final{end}", _percent(score.final), **said)
        return sheet.scores()

    def pooled(self, tallies: Sequence[Trajectory]) -> list[Pooled]:
        """See ``scorers.pooling.Pools``; macro averages are sums over samples too. None where a sample is unjudged."""
        if any(t.unjudged is not None for t in tallies):
            return []
        found = []
        for kind in _SETS:
            end = "" if kind == "retained" else "@ever"
            made = Sums(f"pira{end}", SUMS, [sums([t.samples[kind]]) for t in tallies])
            found += [made.metric(name + end, _scaled(field, scale)) for name, (field, scale) in _POOLED.items()]
        return found

    def explain(self, tally: Trajectory) -> Mapping[str, Any]:
        """True intents, and both predicted sets with what each matched."""
        return {"intents": tally.shown}

    def reference(self, tallies: Sequence[Trajectory]) -> Mapping[str, Any]:
        """None."""
        return {}


_POOLED = {
    "P": ("precision", 100.0),
    "R": ("recall", 100.0),
    "F1_avg": ("f1", 100.0),
    "FPS": ("false_positives", 1.0),
    "FPS_norm": ("norm", 100.0),
    "S_final": ("final", 100.0),
}
"""Which field of a set's score each metric is, and in what scale."""


def _scaled(field: str, scale: float) -> Callable[[Mapping[str, Floats]], Floats]:
    return lambda total: scale * set_score_of(total)[field]


def _percent(figure: Ratio) -> Ratio:
    return Ratio(None if figure.value is None else 100 * figure.value, figure.n, figure.reason)


def true_intents(unit: Unit) -> Sequence[Intent]:
    """The true intents of a sample; a unit is played for one profile, and its truth holds that one.

    Raises:
        UsageError: no intents in the truth, or those of several profiles.
    """
    intents = unit.truth.intents
    if intents is None:
        raise UsageError(f"session {quote(unit.key)} has no true intents: it cannot be scored as a trajectory")
    if len(intents) != 1:
        names = ", ".join(sorted(intents)) or "none"
        raise UsageError(f"session {quote(unit.key)}: true intents of one profile are needed, these are there: {names}")
    return next(iter(intents.values()))


def true_entries(listed: Sequence[Intent]) -> list[Entry]:
    """The true intents as a matcher takes them."""
    return [Entry(i.intention or i.text, i.text) for i in listed]


def predicted(log: RunLog, kind: Content, *, ever: bool) -> list[Entry]:
    """The set that an agent's decisions amount to, near-duplicates merged by the matcher; see ``unmerged``."""
    return merged(unmerged(log, ever=ever), kind)[0]


def unmerged(log: RunLog, *, ever: bool) -> list[Entry]:
    """The set that an agent's decisions amount to, in order of arrival.

    A thread is one entry and holds its last words; offers without a thread are entries of their own. A retraction names
    threads, else intentions, takes effect before the offers of its own decision, and counts unless ``ever``.
    """
    entries: dict[tuple[str, str | int], Entry] = {}
    said = [r for r in log.full.values() if r.get("kind") in ("offer", "silent")]
    for record in sorted(said, key=lambda r: (r["actionable_ns"], r["seq"])):
        for name in () if ever else record.get("retracted") or ():
            _retract(entries, str(name))
        for position, offer in enumerate(record.get("offers") or ()):
            thread = offer.get("thread")
            at: tuple[str, str | int] = ("thread", thread) if thread is not None else (str(record["seq"]), position)
            entries[at] = Entry(str(offer["intention"]), offer.get("text") or "", thread)
    return list(entries.values())


def merged(entries: Sequence[Entry], kind: Content) -> tuple[list[Entry], list[int]]:
    """The entries without near-duplicates of earlier ones, and for each entry the place of the one it counts as."""
    right = kind.right(entries, entries)
    same_as = np.full(len(entries), -1, np.int64)
    kept: list[Entry] = []
    for i, entry in enumerate(entries):
        if same_as[i] < 0:
            rest = np.flatnonzero(same_as < 0)
            same_as[rest[right(i, rest)]] = len(kept)
            same_as[i] = len(kept)
            kept.append(entry)
    return kept, same_as.tolist()


def _retract(entries: dict[tuple[str, str | int], Entry], name: str) -> None:
    if ("thread", name) in entries:
        del entries["thread", name]
        return
    for at in [at for at, entry in entries.items() if key(entry.intention) == key(name)]:
        del entries[at]


_CARD = "skill-card recipe, approximate, not PIRA-Bench's score: "


@dataclass(frozen=True, slots=True)
class Turns:
    """Per-turn label equality of one session, as the card counts it."""

    hits: int
    false: int
    missed: int
    noise: int


@scorers.register("pira_card_approx")
class CardApprox:
    """The card's recipe: one label a turn, pooled F1, ``1 - fp / max(1, noise turns)``.

    A turn's gold label is the intention of the window open at its last frame (the decision's newest snapshot), else
    noise; where a trajectory has no windows, every turn of it is noise. A wrong label on a turn with a need is false,
    and (as on the card) not missed.
    """

    protocols = _TRAJECTORY
    needs_truth = True
    metrics = (
        Metric("pira_card_approx", _CARD + "F1 x FPS_norm", "%", "<= 100", "up", _TRAJECTORY),
        Metric("pira_card_approx@F1", _CARD + "F1 of pooled per-turn P and R", "%", "0-100", "up", _TRAJECTORY),
        Metric("pira_card_approx@FPS_norm", _CARD + "1 - fp / max(1, noise turns)", "%", "<= 100", "up", _TRAJECTORY),
    )

    def tally(self, unit: Unit, context: Context) -> Turns:
        """Compare label by label."""
        log, truth = unit.log, unit.truth
        said = {r["seq"]: key(str(r["offers"][0]["intention"])) for r in log.full.values() if r.get("offers")}
        hits = false = missed = noise = 0
        for seq, captured, kind in zip(log.seq.tolist(), log.captured_ns.tolist(), log.kind.tolist(), strict=True):
            gold = _gold(truth, captured)
            label = said.get(seq) if kind == Kind.OFFER else None
            noise += gold is None
            hits += label is not None and label == gold
            false += label is not None and label != gold
            missed += label is None and gold is not None
        return Turns(hits, false, missed, noise)

    def figures(self, tallies: Sequence[Turns]) -> list[Score]:
        """Pooled over sessions, in percent."""
        sheet = Sheet(self.metrics)
        hits, false = sum(t.hits for t in tallies), sum(t.false for t in tallies)
        true, noise = hits + sum(t.missed for t in tallies), sum(t.noise for t in tallies)
        f1 = harmonic(hits, hits + false, true, said_of="turns with a label", true_of="turns with a need")[2]
        norm = 1 - false / max(1, noise)
        warned: dict[str, Any] = {}
        if norm < 0:
            warned["warning"] = "below 0: fp counts turns with a need, the denominator only noise"
        final = Ratio(None if f1.value is None else f1.value * norm, f1.n, f1.reason)
        sheet.put("pira_card_approx", _percent(final), **warned)
        sheet.put("pira_card_approx@F1", _percent(f1))
        sheet.put("pira_card_approx@FPS_norm", 100 * norm, noise, **warned)
        return sheet.scores()

    def pooled(self, tallies: Sequence[Turns]) -> list[Pooled]:
        """See ``scorers.pooling.Pools``."""
        rows = [[t.hits, t.false, t.missed, t.noise] for t in tallies]
        made = Sums("pira_card_approx", ("hits", "false", "missed", "noise"), rows)
        return [
            made.metric("pira_card_approx", lambda s: _card_f1(s) * _card_norm(s) / 100),
            made.metric("pira_card_approx@F1", _card_f1),
            made.metric("pira_card_approx@FPS_norm", _card_norm),
        ]

    def explain(self, tally: Turns) -> Mapping[str, Any]:
        """Nothing beyond the figures."""
        return {}

    def reference(self, tallies: Sequence[Turns]) -> Mapping[str, Any]:
        """None."""
        return {}


def _card_f1(s: Mapping[str, Floats]) -> Floats:
    true = s["hits"] + s["missed"]
    return np.where(true > 0, over(200 * s["hits"], s["hits"] + s["false"] + true), np.nan)


def _card_norm(s: Mapping[str, Floats]) -> Floats:
    return 100 * (1 - s["false"] / np.maximum(1, s["noise"]))


def _gold(truth: Truth, t_ns: int) -> str | None:
    return next((key(n.intention) for n in truth.servable if n.opens_ns <= t_ns < n.closes_ns), None)
