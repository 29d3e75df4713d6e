"""Was the help right when it arrived? The stream protocol's own score.

Offers are matched at arrival, in two strengths: ``timing`` (any content) and ``full`` (the intention right; the
headline). Names without ``@timing`` are ``full``. Read ``F1_rt``, ``timely_utility``, ``unwanted_per_hour`` and the
scheduled latency together: recall and deadlines reward spam, restraint rewards silence, precision rewards slowness.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scorers.base import Context, Score, Unit, scorers
from scorers.figures import Sheet, ratio
from scorers.judge import JudgeFailed
from scorers.matching import AnyContent, Content, Right, Windows, content, match
from scorers.offers import Verdict, judge, stamps
from scorers.pacing import pace
from scorers.pooling import Pooled
from scorers.realtime_figures import put_full, put_pace, put_said, put_strength
from scorers.realtime_metrics import KAPPAS, Rules, metrics_of, rests_on_content
from scorers.realtime_pooled import NOT_POOLED, pooled
from scorers.realtime_tally import Seeds, Strength, Tally
from scorers.samples import Sample
from scorers.spending import spent, usage
from scorers.streaming import stream_ticks
from simulator.core.types import SECOND
from simulator.runs.gate import surface
from simulator.runs.records import Ints, LoggedOffer
from simulator.session.truth import Opportunity, Truth, active_spans

__all__ = ["Realtime", "Tally", "scored"]


@scorers.register("realtime")
class Realtime:
    """All real-time figures of a stream run.

    Args:
        matcher: what makes content right in strength ``full``: ``category``, ``embedding>=0.8``, or ``judge``: a
            language model, see ``scorers.judge``. Where that left a session unjudged no figure that rests on content is
            given: scoring again asks for what is missing, and for nothing else.
        slo_s: the latency that ``assist_goodput`` allows.
        rules: all spans of time at once; then ``slo_s`` is not used.
    """

    protocols = ("stream",)
    needs_truth = True
    not_pooled = NOT_POOLED

    def __init__(self, matcher: str = "category", slo_s: float = 5, rules: Rules | None = None) -> None:
        self.matcher = matcher
        self.rules = rules or Rules(slo_ns=round(slo_s * SECOND))
        self.metrics = metrics_of(self.rules)

    def tally(self, unit: Unit, context: Context) -> Tally:
        """Judge one session's surfaced offers."""
        truth = unit.truth
        needs = scored(truth)
        offers, raw = surface(unit.log, truth, context.gate), unit.log.offers()
        kind = self.content(unit.key, context)
        strengths: dict[str, Strength] = {}
        seeds, unjudged = None, None
        try:
            strengths[""] = self._strength(unit, raw, offers, needs, kind, context)
            seeds = _seeds(needs, offers, kind, context, unit)
        except JudgeFailed as failed:
            unjudged = str(failed)
            strengths.clear()
        strengths["@timing"] = self._strength(unit, raw, offers, needs, AnyContent(), context)
        between = np.diff(stamps(offers)[0]).astype(object)
        return Tally(
            strengths=strengths,
            unjudged=unjudged,
            matcher=kind.name,
            n_delivered=len(raw),
            n_surfaced=len(offers),
            needs=needs,
            ceiling=_ceiling(truth, needs),
            active_ns=truth.active_ns,
            pace=pace(unit.log, truth, offers, self.rules.restraint_ns, self.rules.breakpoint_ns),
            between=(len(between), int(between.sum()), int((between * between).sum())),
            seeds=seeds,
            money=spent(unit.log),
            used=usage(unit.log),
        )

    def content(self, key: str, context: Context) -> Content:
        """The matcher of strength ``full`` for the unit of that key.

        Raises:
            UsageError: unknown, or it needs an embedder or a judge that was not given.
        """
        judge = context.judge(key).in_time() if context.judge is not None and self.matcher == "judge" else None
        return content(self.matcher, context.embedder, judge)

    def _strength(
        self,
        unit: Unit,
        raw: Sequence[LoggedOffer],
        offers: Sequence[LoggedOffer],
        needs: Sequence[Opportunity],
        kind: Content,
        context: Context,
    ) -> Strength:
        judged = judge(offers, needs, kind, self.rules.early_ns)
        arrived, captured = stamps(offers)
        right = kind.right(offers, needs)
        windows = Windows.of(needs)

        def hits(times: Ints, deadline_ns: int | None = None) -> int:
            over = windows if deadline_ns is None else Windows.of(needs, deadline_ns)
            return sum(j is not None for j in match(over, times, right))

        served = {
            j.need.id: (j.offer.actionable_ns, j.offer.seq) for j in judged if j.verdict is Verdict.ON_TIME and j.need
        }
        at_once = None
        if (twin := context.twins.get(unit.key)) is not None:
            instant = surface(twin.log, unit.truth, context.gate)
            found = match(windows, stamps(instant)[0], kind.right(instant, needs))
            at_once = sum(j is not None for j in found), len(instant)
        deadlines = sorted({*self.rules.deadlines_ns, *self.rules.curve_ns})
        return Strength(
            judged=tuple(judged),
            n_needs=len(needs),
            seen=hits(captured),
            instant=at_once,
            weights=tuple(n.weight for n in needs),
            by_deadline={d: hits(arrived, d) for d in deadlines},
            by_kappa={k: hits(captured + (arrived - captured) * k.numerator // k.denominator) for k in KAPPAS},
            samples=self._samples(unit.truth, arrived, needs, right),
            ticks=stream_ticks(unit.log, raw, unit.truth, needs, served, kind),
        )

    def _samples(self, truth: Truth, arrived: Ints, needs: Sequence[Opportunity], right: Right) -> tuple[Sample, ...]:
        """One sample a block; the last may be short, and takes what arrives after the end.

        A block wholly inside gaps is none: nothing could be said in it, so its silence is no merit. It stays where it
        holds an offer that came late, or a need.
        """
        size = self.rules.block_ns
        n_blocks = max(1, -(-truth.end_ns // size))
        block_of_offer = np.minimum(arrived // size, n_blocks - 1)
        block_of_need = [min(n.opens_ns // size, n_blocks - 1) for n in needs]
        found = match(Windows.of(needs), arrived, lambda i, js: right(i, js) & (block_of_offer[js] == block_of_need[i]))
        matched = Counter(block for block, j in zip(block_of_need, found, strict=True) if j is not None)
        said, true = Counter(block_of_offer.tolist()), Counter(block_of_need)
        live = {b for start, end in active_spans(truth) for b in range(start // size, -(-end // size))}
        return tuple(Sample(said[b], true[b], matched[b]) for b in sorted(live | said.keys() | true.keys()))

    def figures(self, tallies: Sequence[Tally]) -> list[Score]:
        """Pool counts over sessions and divide."""
        sheet = Sheet(self.metrics)
        active = sum(t.active_ns for t in tallies)
        weights = [n.weight for t in tallies for n in t.needs]
        ceiling = ratio(100 * math.fsum(t.ceiling for t in tallies), math.fsum(weights), "opportunities", len(weights))
        sheet.put("timely_utility@ceiling", ceiling)
        put_said(sheet, tallies)
        put_pace(sheet, tallies)
        put_strength(sheet, "@timing", [t.strengths["@timing"] for t in tallies], active, ceiling)
        if unjudged := [t.unjudged for t in tallies if t.unjudged is not None]:
            sheet.rest(
                f"{len(unjudged)} of {len(tallies)} sessions unjudged: {unjudged[0]}; score again to ask for them"
            )
        else:
            put_strength(sheet, "", [t.strengths[""] for t in tallies], active, ceiling)
            put_full(sheet, tallies, self.rules)
        return self._marked(sheet.scores(), tallies)

    def pooled(self, tallies: Sequence[Tally]) -> list[Pooled]:
        """See ``scorers.pooling.Pools``."""
        return pooled(tallies, self.rules)

    def _marked(self, scores: Sequence[Score], tallies: Sequence[Tally]) -> list[Score]:
        """Figures that rest on another matcher than the headline's say so."""
        if self.matcher == "category":
            return list(scores)
        names = list(dict.fromkeys(t.matcher for t in tallies)) or [self.matcher]
        said = {"matcher": f"matcher={' and '.join(names)}" + (", not official" if self.matcher == "judge" else "")}
        return [replace(s, extra={**s.extra, **said}) if rests_on_content(s.metric.name) else s for s in scores]

    def explain(self, tally: Tally) -> Mapping[str, Any]:
        """Each offer with its class in both strengths, and each opportunity with the offer that served it."""
        if tally.unjudged is not None:
            return {"unjudged": tally.unjudged}
        full, timing = tally.strengths[""], tally.strengths["@timing"]
        served = {j.need.id: j.offer for j in full.on_time if j.need}
        return {
            "offers": [
                {
                    "seq": j.offer.seq,
                    "captured_ns": j.offer.captured_ns,
                    "actionable_ns": j.offer.actionable_ns,
                    "intention": j.offer.intention,
                    **j.told(),
                    "timing": other.told(),
                }
                for j, other in zip(full.judged, timing.judged, strict=True)
            ],
            "opportunities": [
                {
                    "id": n.id,
                    "opens_ns": n.opens_ns,
                    "closes_ns": n.closes_ns,
                    "intention": n.intention,
                    "served_by": served[n.id].seq if n.id in served else None,
                    "served_ns": served[n.id].actionable_ns if n.id in served else None,
                }
                for n in tally.needs
            ],
        }

    def reference(self, tallies: Sequence[Tally]) -> Mapping[str, Any]:
        """Silence is 0 utility by construction, the ceiling is a metric: no further rows."""
        return {}


def scored(truth: Truth) -> tuple[Opportunity, ...]:
    """The needs that are scored, in order of opening."""
    return tuple(sorted(truth.servable, key=lambda n: (n.opens_ns, n.id)))


def _seeds(
    needs: Sequence[Opportunity], offers: Sequence[LoggedOffer], kind: Content, context: Context, unit: Unit
) -> Seeds | None:
    """Which needs are served in this run and in its companions, each matched by itself; None without companions."""
    companions = context.companions.get(unit.key, ())
    if not companions:
        return None
    runs = [offers, *(surface(c.log, unit.truth, context.gate) for c in companions)]
    found = [match(Windows.of(needs), stamps(said)[0], kind.right(said, needs)) for said in runs]
    served = [[j is not None for j in of_need] for of_need in zip(*found, strict=True)]
    return Seeds(len(runs), sum(map(all, served)), sum(map(any, served)))


def _ceiling(truth: Truth, needs: Sequence[Opportunity]) -> float:
    """``Σ w·g`` for an offer at the first tick of each window; a window that holds none gives 0.

    Ticks are multiples of the period outside gaps: a log does not say when the snapshots were released that no decision
    saw. An agent on an irregular recording can come in before the tick, and above this.
    """
    spans, total = active_spans(truth), []
    for need in needs:
        length = need.closes_ns - need.opens_ns
        ticks = ((-(-max(need.opens_ns, start) // truth.period_ns) * truth.period_ns, end) for start, end in spans)
        tick = next((tick for tick, end in ticks if tick < end), need.closes_ns)
        if tick < need.closes_ns:
            total.append(need.weight * (2 * length - (tick - need.opens_ns)) / (2 * length))
    return math.fsum(total)
