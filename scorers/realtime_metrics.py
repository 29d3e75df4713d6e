"""The list of real-time metrics, with the costs and spans of time they use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from scorers.base import Metric
from scorers.offers import Verdict
from scorers.spending import TOKENS
from simulator.core.types import SECOND

__all__ = [
    "BINS",
    "KAPPAS",
    "PRICED",
    "PROFILES",
    "STRENGTHS",
    "USED",
    "Rules",
    "deadline_name",
    "metrics_of",
    "rests_on_content",
]

PROFILES: Mapping[str, tuple[float, float, float, float]] = {
    "standard": (0.25, 0.25, 0.25, 0.10),
    "quiet": (1.0, 1.0, 1.0, 0.5),
    "eager": (0.10, 0.25, 0.10, 0.05),
}
"""What an offer costs: false alarm or early, wrong content, stale, redundant."""
PRICED = (
    (Verdict.FALSE_ALARM, Verdict.EARLY),
    (Verdict.WRONG_CONTENT,),
    (Verdict.STALE,),
    (Verdict.REDUNDANT,),
)
"""What the four costs apply to."""

KAPPAS = tuple(Fraction(k) for k in ("0", "1/4", "1/2", "1", "2", "4"))
"""Factors by which every delay is multiplied to see how much latency the score bears."""
_CURVE_S = (0.5, 1, 2, 3, 5, 7.5, 10, 15, 20, 30, 45, 60)
BINS = 10
"""Bins of equal width of the expected calibration error."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The spans of time that the metrics use."""

    early_ns: int = 5 * SECOND
    slo_ns: int = 5 * SECOND
    restraint_ns: int = 60 * SECOND
    block_ns: int = 600 * SECOND
    breakpoint_ns: int = 3 * SECOND
    deadlines_ns: tuple[int, ...] = (SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND)
    curve_ns: tuple[int, ...] = tuple(int(s * SECOND) for s in _CURVE_S)


STRENGTHS = ("", "@timing")
"""Endings of names: ``full``, the headline, has none."""

USED = (*(f"tokens_{kind}" for kind in TOKENS), "images")
"""What help costs besides money."""

_WHATEVER_WAS_SAID = frozenset(
    {
        "at_breakpoint",
        "burstiness_of_offers",
        "held_back",
        "interruptions_per_hour",
        "restraint",
        "timely_utility@ceiling",
    }
)


def rests_on_content(name: str) -> bool:
    """Whether a metric asks if content was right, so that it depends on the matcher.

    >>> rests_on_content("F1_rt"), rests_on_content("F1_rt@timing"), rests_on_content("restraint")
    (True, False, False)
    """
    return not name.endswith("@timing") and name not in _WHATEVER_WAS_SAID


def metrics_of(rules: Rules) -> tuple[Metric, ...]:
    """All metrics of the real-time scorer under these rules, in order."""
    listed: list[Metric] = []

    def add(
        name: str, formula: str, unit: str, span: str, direction: str, both: bool = False, version: int = 1
    ) -> None:
        ends = STRENGTHS if both else ("",)
        for end in ends:
            said = f"{formula}; @timing: whatever was offered counts as right" if end else formula
            listed.append(Metric(name + end, said, unit, span, direction, version=version))

    for some in (_matched, _worth, _rates, _delays, _by_tick, _confidence_and_cost, _rhythm_and_seeds):
        some(add, rules)
    return tuple(listed)


_Add = Callable[..., None]
"""Enters a metric: name, formula, unit, range, direction, whether in both strengths, version."""


def _an_hour(verdict: str) -> str:
    return f"{verdict} / hour of active session"


def _matched(add: _Add, rules: Rules) -> None:
    add("P_rt", "on_time / surfaced", "0-1", "0-1", "up", True)
    add("R_rt", "on_time / opportunities", "0-1", "0-1", "up", True)
    add("F1_rt", "2 on_time / (surfaced + opportunities)", "0-1", "0-1", "up", True)
    add("F1_seen", "F1 of the same decisions matched at capture", "0-1", "0-1", "up", True)
    add("F1_instant", "F1_rt of a run of the same agent with zero charge", "0-1", "0-1", "up", True)
    add("latency_loss", "F1_seen - F1_rt", "0-1", "-1 to 1", "-", True)
    add("coverage_loss", "F1_instant - F1_seen", "0-1", "-1 to 1", "-", True)
    add("anticipated", "offers on time that were captured before the window opened", "count", ">= 0", "-", True)


def _worth(add: _Add, rules: Rules) -> None:
    for profile, costs in PROFILES.items():
        name = "timely_utility" if profile == "standard" else f"timely_utility@{profile}"
        priced = ", ".join(f"{c:g} {'/'.join(v)}" for c, v in zip(costs, PRICED, strict=True))
        formula = f"100 (sum w g(z) - costs) / sum w, g = 1 - z/2, z = (a - o)/(x - o); costs: {priced}"
        add(name, formula, "points", "<= 100", "up", True)
    ticks = "multiples of the period outside gaps, which snapshots of an irregular recording need not keep to"
    ceiling = f"the same for an offer at the first tick of every window; ticks: {ticks}"
    add("timely_utility@ceiling", ceiling, "points", "0-100", "-")
    blocks = (
        f"samples = blocks of {rules.block_ns / (60 * SECOND):g} min that hold active time, a need or an offer, "
        "truth = windows opening in it, predictions = offers arriving in it"
    )
    add("S_rt", f"F1_avg / (1 + ln(1 + FPS)); {blocks}", "%", "0-100", "up", True, version=2)


def _rates(add: _Add, rules: Rules) -> None:
    add("unwanted_per_hour", _an_hour("(surfaced - on_time)"), "1/h", ">= 0", "down", True)
    add("false_alarms_per_hour", _an_hour("false_alarm"), "1/h", ">= 0", "down", True)
    add("interruptions_per_hour", _an_hour("surfaced"), "1/h", ">= 0", "down")
    add("held_back", "delivered offers that the gate kept from surfacing", "count", ">= 0", "-")


def _delays(add: _Add, rules: Rules) -> None:
    add("lead_s", "median of user's act - arrival, over on_time", "s", "any", "up", True)
    add("seconds_saved_per_hour", _an_hour("sum of leads above 0"), "s/h", ">= 0", "up")
    for point in ("delay_s", "delay_s@p10", "delay_s@p90"):
        add(point, f"{point[8:] or 'p50'} of arrival - opening, over on_time", "s", ">= 0", "down")
    for deadline in rules.deadlines_ns:
        formula = "share of opportunities served by a matching of their own on o <= a <= o + D, a < x"
        add(deadline_name(deadline), formula, "0-1", "0-1", "up")
    add(
        "assist_goodput",
        _an_hour(f"on_time with scheduled latency <= {rules.slo_ns / SECOND:g} s"),
        "1/h",
        ">= 0",
        "up",
    )
    tumbling = f"tumbling windows of {rules.restraint_ns / SECOND:g} s"
    add("restraint", f"share of {tumbling} without opportunity in which nothing surfaced", "0-1", "0-1", "up")
    add("latency_tolerance", "area under F1_rt(k) over 0 <= k <= 4, a = c + k (a - c), / 4", "0-1", "0-1", "up")
    add(
        "latency_tolerance@half_life_s",
        "delay k median(a - c) at which F1_rt(k) is half of F1_rt(0)",
        "s",
        ">= 0",
        "up",
    )


def _by_tick(add: _Add, rules: Rules) -> None:
    for part in ("f1", "accuracy", "precision", "recall"):
        add(
            f"stream_{part}",
            f"{part} over ticks: newest delivered decision against open windows",
            "0-1",
            "0-1",
            "up",
            True,
        )


def _confidence_and_cost(add: _Add, rules: Rules) -> None:
    add("calibration@brier", "mean (confidence - on_time)^2 over surfaced with a confidence", "0-1", "0-1", "down")
    add("calibration@ece", f"sum over {BINS} bins of n/N |mean confidence - share on_time|", "0-1", "0-1", "down")
    near = f"{rules.breakpoint_ns / SECOND:g} s after a change of window as the run's segmentation sees it"
    add("at_breakpoint", f"share of surfaced offers that arrive within {near}", "0-1", "0-1", "up")
    add("cost@per_on_time", "money / on_time; unknown unless every model call has a price", "1", ">= 0", "down")
    for name in USED:
        what = "images" if name == "images" else f"tokens ({name.removeprefix('tokens_')})"
        add(f"cost@{name}_per_on_time", f"{what} / on_time, where reported", "count", ">= 0", "down")


def _rhythm_and_seeds(add: _Add, rules: Rules) -> None:
    between = "times between offers that surface one after the other in a session, all sessions together"
    add(
        "burstiness_of_offers", f"B = (s - m) / (s + m), s, m: deviation and mean of the {between}", "1", "-1 to 1", "-"
    )
    seeds = "k = number of seeds: this run and its companions"
    add("pass^k", f"opportunities served on time under every seed / opportunities; {seeds}", "0-1", "0-1", "up")
    add("pass@k", f"opportunities served on time under at least one seed / opportunities; {seeds}", "0-1", "0-1", "up")


def deadline_name(ns: int) -> str:
    """What the attainment of a deadline is called, in seconds."""
    return f"deadline_attainment@{ns / SECOND:g}"
