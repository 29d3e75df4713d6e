"""The timeline of one session as a picture: needs, what became of them and of every offer, how long decisions took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from scorers.explaining import seconds
from simulator.core.types import SECOND
from simulator.report.strips import Mark, Need, Strip
from simulator.report.svg import Canvas, Scale, clean, short
from simulator.runs.records import Kind, RunLog

__all__ = ["KEY", "MOST_SIGNS", "session_figure"]

T = TypeVar("T")
MOST_SIGNS = 2400
"""Signs of marks that one report draws, which are some 200 bytes each."""

KEY = "band: need served; dashed: need missed; ● hit; ✕ missed; ◇ late, from capture to arrival; ▲ false alarm or \
otherwise unwanted; | error or unread answer; bars: latency of decisions, logarithmic, dashed at 1 s"
"""What the signs mean, once a page."""

_WIDTH, _LEFT, _RIGHT = 960.0, 28.0, 950.0
_NEEDS, _LATENCY, _BOTTOM = (24.0, 64.0), (70.0, 106.0), 124.0
_COLUMNS = 320
"""Bars of the latency lane: each is the longest of its decisions."""
_TIP = 80  # characters of somebody's words in a tip
_LEAST_MS, _BUDGET_MS = 0.1, 1000.0


def session_figure(strip: Strip, log: RunLog | None, name: str | None = None, most: int = MOST_SIGNS) -> Canvas:
    """One session. Without a log the lane of latencies is left out.

    Args:
        strip: what happened when.
        log: of the unit.
        name: instead of the unit's key.
        most: signs of marks, and likewise of needs; where there are more, those near each other share one, with their
            number.
    """
    counts = ", ".join(f"{n} {_WORDS[kind]}" for kind, n in strip.counts.items() if n)
    height = _BOTTOM if log is not None and len(log) else _LATENCY[0] + 16
    label = f"timeline of {clean(name or strip.key, 80)}, {seconds(strip.end_ns)}: {counts or strip.note or 'nothing'}"
    canvas = Canvas(_WIDTH, height, label)
    end_ns = max(strip.end_ns, 1)
    if log is not None and len(log):
        end_ns = max(end_ns, int(log.captured_ns[-1]))
    x = Scale(0, end_ns / SECOND, _LEFT, _RIGHT)
    canvas.text(_LEFT, 14, clean(name or strip.key, 80), "t strong")
    canvas.text(_RIGHT, 14, strip.note or counts or "no need, no offer", "t small", "end")
    top, bottom = _NEEDS
    canvas.add("rect", x=_LEFT, y=top, width=_RIGHT - _LEFT, height=bottom - top, of="lane")
    needs = [(n.opens_ns, "served" if n.served else "missed", n) for n in strip.needs]
    for together in _together(needs, end_ns, most):
        _need(canvas, x, together)
    for marks in _together([(m.t_ns, m.kind, m) for m in strip.marks], end_ns, most):
        _mark(canvas, x, marks[0], len(marks), marks[-1].t_ns)
    if log is not None and len(log):
        _errors(canvas, x, log)
        _latencies(canvas, x, log)
    for t in x.ticks(8):
        canvas.line(x(t), height - 16, x(t), height - 12, "axis")
        canvas.text(min(x(t), _RIGHT - 14), height - 2, f"{short(t)} s", "t small", "middle" if t else None)
    return canvas


_WORDS = {"hit": "hit", "miss": "missed", "late": "late", "false": "unwanted"}


def _together(things: Sequence[tuple[int, str, T]], end_ns: int, most: int) -> list[list[T]]:
    """Things with their instant and their kind, each alone; where there are more than that, those of one kind and one
    of so many equal parts of the session together.
    """
    if len(things) <= most:
        return [[thing] for _, _, thing in things]
    parts = max(1, most // len({kind for _, kind, _ in things}))
    found: dict[tuple[str, int], list[T]] = {}
    for t_ns, kind, thing in things:
        found.setdefault((kind, min(max(t_ns, 0), end_ns - 1) * parts // end_ns), []).append(thing)
    return list(found.values())


def _need(canvas: Canvas, x: Scale, together: Sequence[Need]) -> None:
    top, bottom = _NEEDS
    first, said = together[0], "served" if together[0].served else "missed"
    ends_ns = max(need.closes_ns for need in together)
    a, b = x(first.opens_ns / SECOND), x(ends_ns / SECOND)
    what = f"{len(together)} needs"
    if len(together) == 1:
        what = f"need {clean(first.id, _TIP)}: {clean(first.intention, _TIP)}"
    tip = f"{what}, {seconds(first.opens_ns)} to {seconds(ends_ns)}, {said}"
    canvas.add("rect", x=a, y=top + 3, width=max(1.5, b - a), height=bottom - top - 6,
               of="need" if first.served else "need-missed", tip=tip)  # fmt: skip


def _mark(canvas: Canvas, x: Scale, mark: Mark, n: int, until_ns: int) -> None:
    top, bottom = _NEEDS
    at, middle = x(mark.t_ns / SECOND), (top + bottom) / 2
    y = {"hit": middle, "miss": middle, "late": middle - 9, "false": middle + 10}[mark.kind]
    if n > 1:
        canvas.sign(mark.kind, at, y, 5, tip=f"{n} {_WORDS[mark.kind]}, {seconds(mark.t_ns)} to {seconds(until_ns)}")
        return
    if mark.kind == "late" and mark.captured_ns is not None:
        canvas.line(x(mark.captured_ns / SECOND), y, at, y, "whisker")
    said = "" if mark.seq is None else f", decision {mark.seq}"
    tip = f"{mark.verdict.replace('_', ' ')} at {seconds(mark.t_ns)}: {clean(mark.what, _TIP)}" + said
    canvas.sign(mark.kind, at, y, 5, tip=tip)


def _errors(canvas: Canvas, x: Scale, log: RunLog) -> None:
    """One path for all: there can be thousands."""
    rows = np.flatnonzero((log.kind == Kind.ERROR) | (log.kind == Kind.UNPARSED))
    places = sorted({round(x(t / SECOND), 1) for t in log.actionable_ns[rows].tolist()})
    if len(places) > _COLUMNS:
        places = sorted({3.0 * round(place / 3) for place in places})
    if places:
        d = "".join(f"M{place:g} {_LATENCY[0] - 4:g}v5" for place in places)
        canvas.add("path", d=d, of="s-error", tip=f"{len(rows)} decisions failed or could not be read")


def _latencies(canvas: Canvas, x: Scale, log: RunLog) -> None:
    top, bottom = _LATENCY
    ms = (log.actionable_ns - log.released_ns) / 1e6
    y = Scale(_LEAST_MS, max(2 * _BUDGET_MS, float(ms.max())), bottom, top, log=True)
    share = np.clip(log.captured_ns / SECOND / max(x.high, 1e-9), 0, 1 - 1e-9)
    column = (share * _COLUMNS).astype(np.int64)
    longest = np.zeros(_COLUMNS)
    np.maximum.at(longest, column, ms)
    wide = (_RIGHT - _LEFT) / _COLUMNS
    d = []
    for i in np.flatnonzero(longest > _LEAST_MS).tolist():
        height = bottom - y(float(longest[i]))
        if height >= 0.5:
            d.append(f"M{_LEFT + i * wide:.0f} {bottom:g}v-{height:.0f}h{wide * 0.8:.1f}v{height:.0f}z")
    if d:
        canvas.add("path", d="".join(d), of="latency", tip=f"longest {short(float(ms.max()))} ms")
    canvas.line(_LEFT, y(_BUDGET_MS), _RIGHT, y(_BUDGET_MS), "budget")
    canvas.text(_LEFT - 4, y(_BUDGET_MS) + 4, "1 s", "t small", "end")  # beside the bars, not on them
