"""Was the help right when it arrived? The stream protocol's own score.

Offers are matched at arrival, in two strengths: ``timing`` (any content) and ``full`` (the intention right; the
headline). Names without ``@timing`` are ``full``. Read ``F1_rt``, ``timely_utility``, ``unwanted_per_hour`` and the
scheduled latency together: recall and deadlines reward spam, restraint rewards silence, precision rewards slowness.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from scorers.base import Context, Score, Unit, scorers
from scorers.figures import Ratio, Sheet, harmonic, percentile, ratio
from scorers.matching import AnyContent, Content, Windows, content, match
from scorers.offers import Judged, Verdict, judge, stamps
from scorers.pacing import Pace, pace
from scorers.realtime_metrics import BINS, KAPPAS, PRICED, PROFILES, STRENGTHS, Rules, deadline_name, metrics_of
from scorers.samples import Sample, set_score
from scorers.spending import spent
from scorers.streaming import Ticks, stream_ticks
from simulator.core.types import SECOND
from simulator.runs.gate import surface
from simulator.runs.records import Ints, LoggedOffer
from simulator.session.truth import Opportunity, Truth, active_spans

__all__ = ["Realtime", "Tally"]

HOUR = 3600 * SECOND


@dataclass(frozen=True, slots=True)
class Strength:
    """One session judged in one strength: counts, and lists where a figure needs a distribution."""

    judged: tuple[Judged, ...]
    n_needs: int
    seen: int
    instant: tuple[int, int] | None
    weights: tuple[float, ...]
    by_deadline: Mapping[int, int]
    by_kappa: Mapping[Fraction, int]
    samples: tuple[Sample, ...]
    ticks: Ticks

    @property
    def classes(self) -> Counter[Verdict]:
        """How many offers were what."""
        return Counter(j.verdict for j in self.judged)


@dataclass(frozen=True, slots=True)
class Tally:
    """One session: both strengths, and what does not depend on content.

    ``n_delivered`` offers left the agent; those that surfaced are judged.
    """

    strengths: Mapping[str, Strength]
    n_delivered: int
    needs: tuple[Opportunity, ...]
    ceiling: float
    active_ns: int
    pace: Pace
    money: tuple[float | None, str | None]


@scorers.register("realtime")
class Realtime:
    """All real-time figures of a stream run.

    Args:
        matcher: what makes content right in strength ``full``: ``category`` or ``embedding>=0.8``.
        slo_s: the latency that ``assist_goodput`` allows.
        rules: all spans of time at once; then ``slo_s`` is not used.
    """

    protocols = ("stream",)
    needs_truth = True

    def __init__(self, matcher: str = "category", slo_s: float = 5, rules: Rules | None = None) -> None:
        self.matcher = matcher
        self.rules = rules or Rules(slo_ns=round(slo_s * SECOND))
        self.metrics = metrics_of(self.rules)

    def tally(self, unit: Unit, context: Context) -> Tally:
        """Judge one session's surfaced offers."""
        truth = unit.truth
        needs = tuple(sorted(truth.servable, key=lambda n: (n.opens_ns, n.id)))
        offers, raw = surface(unit.log, truth, context.gate), unit.log.offers()
        twin = context.twins.get(unit.key)
        instant = None if twin is None else surface(twin.log, truth, context.gate)
        kinds: dict[str, Content] = {"": content(self.matcher, context.embedder), "@timing": AnyContent()}
        return Tally(
            strengths={end: self._strength(unit, raw, offers, needs, kind, instant) for end, kind in kinds.items()},
            n_delivered=len(raw),
            needs=needs,
            ceiling=_ceiling(truth, needs),
            active_ns=truth.active_ns,
            pace=pace(unit.log, truth, offers, self.rules.restraint_ns, self.rules.breakpoint_ns),
            money=spent(unit.log),
        )

    def _strength(
        self,
        unit: Unit,
        raw: Sequence[LoggedOffer],
        offers: Sequence[LoggedOffer],
        needs: Sequence[Opportunity],
        kind: Content,
        instant: Sequence[LoggedOffer] | None,
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
        if instant is not None:
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
            samples=self._samples(unit.truth, arrived, needs, kind, offers),
            ticks=stream_ticks(unit.log, raw, unit.truth, needs, served, kind),
        )

    def _samples(
        self, truth: Truth, arrived: Ints, needs: Sequence[Opportunity], kind: Content, offers: Sequence[LoggedOffer]
    ) -> tuple[Sample, ...]:
        """One sample a block; the last may be short, and takes what arrives after the end.

        A block wholly inside gaps is none: nothing could be said in it, so its silence is no merit. It stays where it
        holds an offer that came late, or a need.
        """
        size = self.rules.block_ns
        n_blocks = max(1, -(-truth.end_ns // size))
        block_of_offer = np.minimum(arrived // size, n_blocks - 1)
        block_of_need = [min(n.opens_ns // size, n_blocks - 1) for n in needs]
        right = kind.right(offers, needs)
        found = match(Windows.of(needs), arrived, lambda i, js: right(i, js) & (block_of_offer[js] == block_of_need[i]))
        matched = Counter(block for block, j in zip(block_of_need, found, strict=True) if j is not None)
        said, true = Counter(block_of_offer.tolist()), Counter(block_of_need)
        live = {b for start, end in active_spans(truth) for b in range(start // size, -(-end // size))}
        return tuple(Sample(said[b], true[b], matched[b]) for b in sorted(live | said.keys() | true.keys()))

    def figures(self, tallies: Sequence[Tally]) -> list[Score]:
        """Pool counts over sessions and divide."""
        sheet = Sheet(self.metrics)
        for end in STRENGTHS:
            _put_strength(sheet, end, [t.strengths[end] for t in tallies], sum(t.active_ns for t in tallies))
        full = [t.strengths[""] for t in tallies]
        weights = [w for s in full for w in s.weights]
        ceiling = ratio(100 * math.fsum(t.ceiling for t in tallies), math.fsum(weights), "opportunities", len(weights))
        sheet.put("timely_utility@ceiling", ceiling)
        self._put_times(sheet, tallies, full)
        _put_tolerance(sheet, full)
        _put_calibration(sheet, [j for s in full for j in s.judged])
        _put_pace(sheet, tallies)
        return sheet.scores()

    def _put_times(self, sheet: Sheet, tallies: Sequence[Tally], full: Sequence[Strength]) -> None:
        active = sum(t.active_ns for t in tallies)
        judged = [j for s in full for j in s.judged]
        n_needs = sum(s.n_needs for s in full)
        sheet.put("interruptions_per_hour", _per_hour(len(judged), active))
        delivered = sum(t.n_delivered for t in tallies)
        sheet.put("held_back", delivered - len(judged), delivered)
        on_time = [j for j in judged if j.verdict is Verdict.ON_TIME]
        saved = sum(max(0, lead) for lead in _leads(on_time))
        sheet.put("seconds_saved_per_hour", ratio(saved * 3600, active, "active time", len(on_time)))
        delays = np.sort([j.offer.actionable_ns - j.need.opens_ns for j in on_time if j.need]).astype(np.int64)
        for name, percent in (("delay_s", 50), ("delay_s@p10", 10), ("delay_s@p90", 90)):
            sheet.put(name, *_point(delays, percent, "offers on time"))
        for deadline in self.rules.deadlines_ns:
            served = sum(s.by_deadline[deadline] for s in full)
            sheet.put(deadline_name(deadline), ratio(served, n_needs, "opportunities"), **self._curve(full, n_needs))
        quick = sum(j.offer.actionable_ns - j.offer.released_ns <= self.rules.slo_ns for j in on_time)
        sheet.put("assist_goodput", _per_hour(quick, active))

    def _curve(self, full: Sequence[Strength], n_needs: int) -> dict[str, Any]:
        if not n_needs:
            return {}
        points = [[d / SECOND, sum(s.by_deadline[d] for s in full) / n_needs] for d in self.rules.curve_ns]
        return {"curve": points}

    def explain(self, tally: Tally) -> Mapping[str, Any]:
        """Each offer with its class in both strengths, and each opportunity with the offer that served it."""
        full, timing = tally.strengths[""], tally.strengths["@timing"]
        served = {j.need.id: j.offer for j in full.judged if j.verdict is Verdict.ON_TIME and j.need}
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


_BLOCKS = {
    "no negative samples": "no block of 10 min without a need, and it needs one",
    "no positive samples": "no block of 10 min in which a need opens, and it needs one",
}
"""Why there is no ``S_rt``, in words of the stream."""


def _put_strength(sheet: Sheet, end: str, parts: Sequence[Strength], active_ns: int) -> None:
    """Figures that exist in both strengths."""
    classes: Counter[Verdict] = sum((s.classes for s in parts), Counter())
    said, true, hit = classes.total(), sum(s.n_needs for s in parts), classes[Verdict.ON_TIME]

    def f1(hits: int, offers: int = said) -> tuple[Ratio, Ratio, Ratio]:
        return harmonic(hits, offers, true, said_of="surfaced offers", true_of="opportunities")

    precision, recall, now = f1(hit)
    sheet.put(f"P_rt{end}", precision, classes={v.value: classes[v] for v in Verdict})
    sheet.put(f"R_rt{end}", recall)
    sheet.put(f"F1_rt{end}", now)
    seen = f1(sum(s.seen for s in parts))[2]
    sheet.put(f"F1_seen{end}", seen)
    sheet.put(f"latency_loss{end}", _difference(seen, now))
    twins = [s.instant for s in parts if s.instant is not None]
    instant = Ratio(None, 0, "not computed: needs an instant twin of every session")
    if parts and len(twins) == len(parts):
        instant = f1(sum(h for h, _ in twins), sum(n for _, n in twins))[2]
    sheet.put(f"F1_instant{end}", instant)
    sheet.put(f"coverage_loss{end}", _difference(instant, seen))
    on_time = [j for s in parts for j in s.judged if j.verdict is Verdict.ON_TIME]
    ahead = sum(j.offer.captured_ns < j.need.opens_ns for j in on_time if j.need)
    sheet.put(f"anticipated{end}", ahead, len(on_time))
    weight = math.fsum(w for s in parts for w in s.weights)
    gain = math.fsum(j.gain for j in on_time)
    for profile, costs in PROFILES.items():
        cost = math.fsum(c * classes[v] for c, group in zip(costs, PRICED, strict=True) for v in group)
        name = "timely_utility" if profile == "standard" else f"timely_utility@{profile}"
        sheet.put(name + end, ratio(100 * (gain - cost), weight, "opportunities", true))
    final = set_score([sample for s in parts for sample in s.samples]).final
    reason = None if final.reason is None else _BLOCKS.get(final.reason, final.reason)
    sheet.put(f"S_rt{end}", Ratio(None if final.value is None else 100 * final.value, final.n, reason))
    sheet.put(f"unwanted_per_hour{end}", _per_hour(said - hit, active_ns))
    sheet.put(f"false_alarms_per_hour{end}", _per_hour(classes[Verdict.FALSE_ALARM], active_ns))
    leads = np.sort(np.array(_leads(on_time), np.int64))
    sheet.put(f"lead_s{end}", *_point(leads, 50, "offers on time with a known act of the user"))
    _put_stream(sheet, end, sum((s.ticks for s in parts), Ticks()))


def _put_stream(sheet: Sheet, end: str, ticks: Ticks) -> None:
    said, due = ticks.hit + ticks.wrong + ticks.vain, ticks.hit + ticks.wrong + ticks.missed
    precision, recall, f1 = harmonic(ticks.hit, said, due, said_of="ticks with an offer", true_of="ticks with a need")
    sheet.put(f"stream_f1{end}", f1, ticks_left_out=ticks.left_out)
    counted = said + ticks.missed + ticks.quiet
    sheet.put(f"stream_accuracy{end}", ratio(ticks.hit + ticks.quiet, counted, "ticks"))
    sheet.put(f"stream_precision{end}", precision)
    sheet.put(f"stream_recall{end}", recall)


def _difference(a: Ratio, b: Ratio) -> Ratio:
    if a.value is None or b.value is None:
        return Ratio(None, 0, a.reason if a.value is None else b.reason)
    return Ratio(a.value - b.value, min(a.n, b.n))


def _per_hour(count: int, active_ns: int) -> Ratio:
    return ratio(count * HOUR, active_ns, "active time", count)


def _leads(on_time: Sequence[Judged]) -> list[int]:
    return [j.need.acted_ns - j.offer.actionable_ns for j in on_time if j.need and j.need.acted_ns is not None]


def _point(ordered: Ints, percent: int, of: str) -> tuple[float | None, int, str | None]:
    if len(ordered) == 0:
        return None, 0, f"no {of}"
    return percentile(ordered, percent) / SECOND, len(ordered), None


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


def _put_tolerance(sheet: Sheet, full: Sequence[Strength]) -> None:
    """F1_rt of the fixed surfaced log with every delay multiplied; a re-simulated curve is a sweep, not this."""
    area, half_life = "latency_tolerance", "latency_tolerance@half_life_s"
    judged = [j for s in full for j in s.judged]
    true = sum(s.n_needs for s in full)
    if not judged or not true:
        reason = "no opportunities" if not true else "no surfaced offers"
        sheet.put(area, None, 0, reason)
        sheet.put(half_life, None, 0, reason)
        return
    curve = [2 * sum(s.by_kappa[k] for s in full) / (len(judged) + true) for k in KAPPAS]
    points = [[float(k), f1] for k, f1 in zip(KAPPAS, curve, strict=True)]
    under = math.fsum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in itertools.pairwise(points))
    sheet.put(area, under / float(KAPPAS[-1]), true, curve=points)
    age = percentile(np.sort([j.offer.actionable_ns - j.offer.captured_ns for j in judged]).astype(np.int64), 50)
    half = curve[0] / 2
    for (k, f1), (next_k, next_f1) in itertools.pairwise(points):
        if half > 0 and next_f1 <= half < f1:
            crossing = k + (next_k - k) * (f1 - half) / (f1 - next_f1)
            sheet.put(half_life, crossing * age / SECOND, true)
            return
    reason = "nothing was right even without delay" if half == 0 else f"beyond {4 * age / SECOND:g} s"
    sheet.put(half_life, None, 0, reason)


def _put_calibration(sheet: Sheet, judged: Sequence[Judged]) -> None:
    stated = [(j.offer.confidence, j.verdict is Verdict.ON_TIME) for j in judged if j.offer.confidence is not None]
    missing = len(judged) - len(stated)
    if not stated:
        for name in ("brier", "ece"):
            sheet.put(f"calibration@{name}", None, 0, "no offers with a confidence", n_without=missing)
        return
    n = len(stated)
    sheet.put("calibration@brier", math.fsum((c - hit) ** 2 for c, hit in stated) / n, n, n_without=missing)
    bins: dict[int, list[tuple[float, bool]]] = {}
    for c, hit in stated:
        bins.setdefault(min(BINS - 1, int(c * BINS)), []).append((c, hit))
    gaps = (abs(math.fsum(c for c, _ in b) - sum(hit for _, hit in b)) for _, b in sorted(bins.items()))
    sheet.put("calibration@ece", math.fsum(gaps) / n, n, n_without=missing)


def _put_pace(sheet: Sheet, tallies: Sequence[Tally]) -> None:
    paces = [t.pace for t in tallies]
    sheet.put(
        "restraint", ratio(sum(p.quiet for p in paces), sum(p.idle for p in paces), "whole minutes without a need")
    )
    if any(p.near is None for p in paces):
        sheet.put("at_breakpoint", None, 0, "interrupted: the changes of window are unknown")
    else:
        near = sum(p.near or 0 for p in paces)
        share = ratio(sum(p.near_ns for p in paces), sum(t.active_ns for t in tallies), "active time")
        offers = ratio(near, sum(p.surfaced for p in paces), "surfaced offers")
        sheet.put("at_breakpoint", offers, share_of_time=share.value)
    on_time = sum(t.strengths[""].classes[Verdict.ON_TIME] for t in tallies)
    unknown = next((reason for t in tallies if (reason := t.money[1])), None)
    if unknown:
        sheet.put("cost@per_on_time", None, 0, unknown)
    else:
        sheet.put("cost@per_on_time", ratio(math.fsum(t.money[0] or 0 for t in tallies), on_time, "offers on time"))
