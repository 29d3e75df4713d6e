"""The two figures of a corpus: when help is asked for, and what the corpus holds.

Drawn from the numbers of ``proact dataset describe --json`` and nothing else. They follow Figures 2 and 3 of
ProAgentBench in what they show; of their layout only 2c (time to event of the most similar screenshots) is theirs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simulator.figures import published
from simulator.figures.palette import BLUE, GREEN, GREY, ORANGE
from simulator.figures.panel import Line, Panel
from simulator.figures.rows import bars
from simulator.figures.shades import heat
from simulator.figures.sheet import Sheet

__all__ = ["draw_corpus"]

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_N_POINTS = 60
_WITHOUT_PICTURES = "not looked at (--pictures)"


def draw_corpus(numbers: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write ``figure-2.svg`` and ``figure-3.svg`` into a folder.

    Args:
        numbers: one record ``pooled``, as ``simulator.session.describe_corpus.pooled`` makes it, with what
            ``LookBack.as_dict`` says under ``time_to_event`` if pictures were looked at.
        folder: made if it is not there.

    Raises:
        UsageError: the extra ``figures`` is not installed.
    """
    looked_at = numbers.get("time_to_event")
    similar = looked_at if looked_at and looked_at["times_to_event_s"] else None
    rows, height_mm = ([["a", "b"]], 62) if similar is None else ([["a", "b"], ["c", "c"]], 110)
    with Sheet(rows, height_mm=height_mm) as sheet:
        _times_between(sheet["a"], numbers["rhythm"]["along_the_calendar"])
        _burstiness(sheet["b"], numbers["rhythm"])
        notes = _synthetic(numbers)
        if similar is not None:
            _time_to_event(sheet["c"], similar)
        else:
            why = _WITHOUT_PICTURES if looked_at is None else "no request has pictures before it"
            notes.append(f"(c) time to event of similar screens: {why}")
        sheet.note(notes)
        second = sheet.save(folder / "figure-2.svg")
    with Sheet([["a", "b"], ["c", "c"]], height_mm=125) as sheet:
        _intentions(sheet["a"], numbers["requests"])
        _classes(sheet["b"], numbers)
        _week(sheet["c"], numbers["by_hour"])
        sheet.note(_synthetic(numbers))
        third = sheet.save(folder / "figure-3.svg")
    return [second, third]


def _synthetic(numbers: Mapping[str, Any]) -> list[str]:
    """The word without which figures of made-up users are not to be shown."""
    n, of = numbers.get("synthetic_users", 0), numbers["users"]
    return [f"SYNTHETIC: {n} of {of} users made up by proact dataset generate; nobody in it exists"] if n else []


def _times_between(panel: Panel, rhythm: Mapping[str, Any]) -> None:
    """How many of the times between requests are longer than x, with both laws and the published exponent."""
    times = sorted(t for t in rhythm["times_between_s"] if t > 0)
    if len(times) < 2:
        panel.nothing(f"(a) times between requests:\n{len(times)} of them, 2 needed")
        return
    n = len(times)
    lines = [Line("requests", times, [(n - i) / n for i in range(n)], BLUE, steps=True)]
    law = rhythm["power_law_cut"]
    if law["exponent"] is not None:
        lines += _laws(times, law)
    start = law["xmin"] or times[0]
    head = sum(t >= start for t in times) / n
    lines.append(_straight(f"α = {published.EXPONENT:.2f} ({published.NAME})", start, times[-1], head))
    panel.lines(lines, log_x=True, log_y=True)
    panel.title(f"(a) times between requests, n = {n}")
    panel.labels("time between requests (s)", "share that is longer")


def _laws(times: Sequence[float], law: Mapping[str, Any]) -> list[Line]:
    """The cut power law and the cut exponential, from their lower end on, as shares of all times."""
    low, high, slope = law["xmin"], law["xmax"], law["exponent"] - 1
    head = law["n_tail"] / len(times)
    xs = [low * (high / low) ** (i / _N_POINTS) for i in range(_N_POINTS)]
    power = [head * _left(slope, math.log(x / low), math.log(high / low)) for x in xs]
    decay = [head * _left(law["rate"], x - low, high - low) for x in xs]
    floor = 0.5 / len(times)
    return [
        Line(f"power law, α = {law['exponent']:.2f}", *_above(xs, power, floor), ORANGE, "dashed"),
        Line("exponential", *_above(xs, decay, floor), GREEN, "dotted"),
    ]


def _left(rate: float, y: float, end: float) -> float:
    """The share of an exponential on ``[0, end]`` beyond y."""
    if abs(rate * end) < 1e-9:
        return 1 - y / end
    if rate < 0:
        return math.expm1(rate * (end - y)) / math.expm1(rate * end)
    return (math.exp(-rate * y) - math.exp(-rate * end)) / -math.expm1(-rate * end)


def _above(xs: Sequence[float], ys: Sequence[float], floor: float) -> tuple[list[float], list[float]]:
    kept = [(x, y) for x, y in zip(xs, ys, strict=True) if y > floor]
    return [x for x, _ in kept], [y for _, y in kept]


def _straight(name: str, low: float, high: float, head: float) -> Line:
    xs = [low, max(high, low * 1.01)]
    return Line(name, xs, [head * (x / low) ** (1 - published.EXPONENT) for x in xs], GREY)


def _burstiness(panel: Panel, rhythm: Mapping[str, Any]) -> None:
    """B of this corpus along the calendar and within sessions, between the published two."""
    own = [("along the calendar", rhythm["along_the_calendar"]), ("within sessions", rhythm["within_sessions"])]
    known = [(name, r["burstiness"], r["n"]) for name, r in own if r["burstiness"] is not None]
    if not known:
        panel.nothing("(b) burstiness:\n3 requests needed")
        return
    others = [("people, published", published.BURSTINESS), ("models, published", published.BURSTINESS_OF_MODELS)]
    bars(
        panel,
        [*(name for name, _, _ in known), *(name for name, _ in others)],
        [*(b for _, b, _ in known), *(b for _, b in others)],
        told=[*(f"{b:.2f} (n = {n})" for _, b, n in known), *(f"{b} (other data)" for _, b in others)],
        n_grey=len(others),
    )
    panel.title("(b) burstiness of requests")
    panel.labels("B = (σ - μ) / (σ + μ), from -1 (regular) to 1 (bursts)", "")


def _time_to_event(panel: Panel, found: Mapping[str, Any]) -> None:
    """How long before a request the most similar pictures were last shown."""
    times, window = found["times_to_event_s"], found["window_s"]
    edges = [window * i / 15 for i in range(16)]
    counts = [0] * 15
    for t in times:
        counts[min(14, int(t / window * 15))] += 1
    panel.columns(edges, counts)
    panel.mark(found["median_time_to_event_s"], f"median {found['median_time_to_event_s']:.0f} s", colour=ORANGE)
    panel.title(f"(c) similar screens before, n = {len(times)} of {found['requests_looked_at']} requests")
    panel.labels(f"time to the request (s); {found['embedder']}", "screenshots")


def _intentions(panel: Panel, requests: Mapping[str, Any]) -> None:
    n = requests["n"] - requests["intention_unknown"]
    if not n:
        panel.nothing("(a) intentions: none is known")
        return
    total = sum(published.INTENTION_COUNTS.values())
    names = list(requests["intentions"])
    beside = [None if (c := published.INTENTION_COUNTS.get(name)) is None else 100 * c / total for name in names]
    bars(panel, names, [100 * requests["intentions"][name]["share"] for name in names], beside=beside)
    panel.title(f"(a) intentions of requests, n = {n}")
    panel.labels("share (%)", "")


def _classes(panel: Panel, numbers: Mapping[str, Any]) -> None:
    hours: Mapping[str, float] = numbers["classes_hours"]
    if not hours:
        panel.nothing("(b) applications: no events")
        return
    top = list(hours.items())[:16]
    bars(panel, [name for name, _ in top], [h for _, h in top], told=[f"{h:.2g}" for _, h in top])
    panel.title(f"(b) classes of applications, n = {numbers['events']} events")
    panel.labels("time (h)", "")


def _week(panel: Panel, by_hour: Mapping[str, Any]) -> None:
    n = sum(map(sum, by_hour["events"]))
    if not n:
        panel.nothing("(c) the week: no event has a calendar time")
        return
    table = [
        [100 * a / e if e else None for e, a in zip(events, asked, strict=True)]
        for events, asked in zip(by_hour["events"], by_hour["assistance"], strict=True)
    ]
    heat(panel, table, _DAYS, [str(h) for h in range(24)], "assistance events (%)")
    left_out = by_hour["left_out_without_calendar"]
    panel.title(f"(c) share of assistance events by weekday and hour, n = {n} events"
                + (f", {left_out} without calendar left out" if left_out else ""))  # fmt: skip
    panel.labels("hour of the day (local)", "")
