"""What ``proact compare`` says: tables for people on 80 columns, records for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from scorers.statistics.interval import Interval
from scorers.statistics.paired import Difference
from simulator.cli.columns import Columns, Marked
from simulator.cli.show import number, said_of
from simulator.cli.speak import Voice, counted, plain
from simulator.core.errors import Exit
from simulator.play.comparing import Comparison, Row, compare
from simulator.play.flips import Flips
from simulator.play.sides import Side

__all__ = ["amiss", "missing", "tell"]

_MARK = "! "
_SHOWN = 5


def tell(runs: list[Path], metrics: list[str] | None, scorers: list[str] | None, *, force: bool, common: bool,
         as_json: bool) -> int:  # fmt: skip
    """Compare and say what came of it; the exit code. See ``simulator.play.comparing.compare``."""
    voice = Voice(as_json=as_json)
    found = compare(runs, metrics, scorers=scorers, force=force, common=common)
    for one in found:
        for reason in one.forced:
            voice.tell(f"forced: {reason}", "bold red")
    for one in found:
        said = Group(*_lines(one))
        voice.say(Marked(_MARK, said) if one.forced else said)
        _record(voice, one)
    voice.record("done", first=found[0].first.name, compared=[c.second.name for c in found],
                 forced=[r for c in found for r in c.forced],
                 differences={c.second.name: {r.metric: r.found.difference if r.found else None for r in c.rows}
                              for c in found})  # fmt: skip
    return Exit.DONE


def _record(voice: Voice, c: Comparison) -> None:
    """One record of what happened on both sides, one a metric, and one of the flips."""
    between: dict[str, Any] = {"first": c.first.name, "second": c.second.name, "forced": list(c.forced)}
    voice.record("sides", **between, counts_first=c.counts[0], counts_second=c.counts[1])
    for row in c.rows:
        voice.record("difference", **between, **_told(row))
    if c.flips is not None:
        f = c.flips
        test = {"name": "McNemar, continuity-corrected", "statistic": f.test.statistic, "p": f.test.p,
                "warning": "takes items for independent: too liberal"}  # fmt: skip
        voice.record("flips", **between, of=f.of, both=f.both, neither=f.neither, only_first=list(f.only_first),
                     only_second=list(f.only_second), test=test)  # fmt: skip


def _told(row: Row) -> dict[str, Any]:
    told: dict[str, Any] = {
        "metric": row.metric, "scorer": row.scorer, "unit": row.unit, "direction": row.direction,
    }  # fmt: skip
    if (d := row.found) is None:
        return {**told, "difference": None, "reason": row.reason}
    interval = d.interval
    told |= {"value_first": d.first, "value_second": d.second, "difference": d.difference}
    told |= {"interval": interval.told()} if isinstance(interval, Interval) else {"no_interval": interval}
    told |= {"p": d.p, "p_holm": row.adjusted, "test": "sign-flip by " + row.clusters.unit}
    told |= {"exact": d.exact} if d.p is not None else {"no_test": d.no_test}
    told |= {"detectable": d.detectable, "n_sessions": row.clusters.n_sessions, "n_users": row.clusters.n_users}
    return {**told, "standing": row.standing, "drivers": row.drivers()}


def _lines(c: Comparison) -> Iterator[RenderableType]:
    for letter, side, counts in zip("AB", (c.first, c.second), c.counts, strict=True):
        yield plain(f"{letter}  {side.name}: {_run(side)}")
        if said := "; ".join(amiss(counts)):
            yield Text(f"   {said}", "bold red" if counts["error"] or counts["unparsed"] else "")
    left = f"; {counted(c.left_out, 'unit')} of one side only left out" if c.left_out else ""
    yield plain(f"{counted(c.n_sessions, 'session')} of both{_seeds(c)}{left}")
    yield Text()
    yield _differences(c)
    yield Text()
    if any(r.found is not None and len(r.clusters) > 1 and r.standing for r in c.rows):
        yield _standings(c)
        yield Text()
    yield from map(plain, _words(c))
    yield Text()


def _run(side: Side) -> str:
    run = side.runs[0].scores.get("run", {})
    said = ", ".join(f"{key} {run[key]}" for key in ("agent", "memory", "latency") if key in run)
    return said + (" (was given the truth)" if side.runs[0].scores.get("sees_truth") else "")


def amiss(counts: Mapping[str, int]) -> Iterator[str]:
    """What a reader must know of a side before its figures: what it failed at, and what it never saw."""
    n, n_units, unread = counts["decisions"], counts["units"], counts["unparsed"]
    if failed := counts["error"] + unread:
        of = "every decision failed" if failed == n else f"{failed} of {counted(n, 'decision')} failed"
        total = f" ({failed} of {n})" if failed == n else ""
        yield f"{of}{total}" + (f", {unread} of them unparsed" if unread else "")
    for name, said in (("interrupted", "interrupted"), ("not_played", "not played")):
        if counts[name]:
            yield f"{counts[name]} of {counted(n_units, 'unit')} {said}"
    if unseen := counts["never_seen"]:
        yield f"{counted(unseen, 'snapshot')} never seen"


def _seeds(c: Comparison) -> str:
    """Which were compared, where it is not one and the same."""
    first, second = ([str(seed) for seed in seeds] for seeds in c.seeds)
    if first == second:
        return f", seeds {', '.join(first)}" if len(first) > 1 else ""
    told = (
        f"{letter} seed{'s' if len(of) > 1 else ''} {', '.join(of)}" for letter, of in (("A", first), ("B", second))
    )
    return f", {'; '.join(told)}"


def _differences(c: Comparison) -> Columns:
    rows = []
    for row in c.rows:
        d = row.found
        shown = Text.assemble(row.metric, (f" [{row.unit}]", "dim"), (said_of(row.scorer), "dim"))
        if d is None:
            rows.append((shown, [Text("-")] * 5))
            continue
        interval = d.interval
        ends = f"[{number(interval.low)}, {number(interval.high)}]" if isinstance(interval, Interval) else "-"
        few = isinstance(interval, Interval) and interval.few
        figures = [Text(_or_dash(x)) for x in (d.first, d.second, d.difference)]
        rows.append((shown, [*figures, Text(ends, "dim" if few else ""), _p(row.adjusted)]))
    return Columns("metric", ("A", "B", "B - A", "95 % interval", "p"), rows)


def _standings(c: Comparison) -> Columns:
    """In how many sessions B is better, and what so many sessions could have shown."""
    unit = next((r.clusters.unit for r in c.rows if r.found is not None), "session")
    rows = []
    for row in c.rows:
        if row.found is not None and (standing := row.standing):
            cells = [*map(str, standing.values()), _or_dash(row.found.detectable)]
            rows.append((Text(row.metric), [Text(cell) for cell in cells]))
    return Columns(f"{unit}s in which B is", ("better", "equal", "worse", "none", "would show from"), rows)


def _or_dash(value: float | None) -> str:
    return "-" if value is None else number(value)


def _p(p: float | None) -> Text:
    if p is None:
        return Text("-", "dim")
    return Text("<.001" if p < 0.001 else f"{p:.3f}", "bold" if p <= 0.05 else "")


def _words(c: Comparison) -> Iterator[str]:
    """What the tables mean, what makes the first difference, what flipped, what is missing."""
    compared_ = [r for r in c.rows if r.found is not None]
    if any(r.found is not None and r.found.p is not None for r in compared_):
        unit = compared_[0].clusters.unit
        yield f"p: whole {unit}s swapped (sign-flip), by Holm over the table; intervals: BCa"
        yield f"none: {unit}s in which a side has no such figure"
        yield "would show from: true difference that 4 of 5 such comparisons find (5 %)"
    yield from missing(c)
    if any(isinstance(r.found.interval, Interval) and r.found.interval.few for r in compared_ if r.found):
        yield "dim: fewer than 6 that differ, so the interval is too narrow; p holds"
    first = next((r for r in compared_ if r.drivers()), None)
    if first is not None:
        yield f"what {first.metric} would lose of its difference without a {first.clusters.unit}:"
        yield from (f"  {_driver(d, first.clusters.unit)}" for d in first.drivers(_SHOWN))
    if c.flips is not None:
        yield from _flips(c.flips)
    yield from (f"{r.metric}: {r.reason}" for r in c.rows if r.found is None)


def missing(c: Comparison) -> Iterator[str]:
    """Why figures that are compared have no test, or no interval."""
    rows = [r for r in c.rows if r.found is not None]
    yield from _without("test", rows, {r.metric: r.found.no_test for r in rows if r.found and r.found.no_test})
    yield from _without(
        "interval", rows, {r.metric: r.found.interval for r in rows if r.found and _has_no_interval(r.found)}
    )


def _has_no_interval(d: Difference) -> bool:
    """Where there is a difference that it would be of."""
    return d.difference is not None and isinstance(d.interval, str)


def _without(what: str, rows: list[Row], why: dict[str, Any]) -> Iterator[str]:
    """Which figures have no test or interval, by reason; not which, where all have none for one reason."""
    for reason in dict.fromkeys(why.values()):
        of = [metric for metric, said in why.items() if said == reason]
        yield f"no {what}: {reason}" if len(of) == len(rows) > 1 else f"no {what} for {', '.join(of)}: {reason}"


def _driver(d: dict[str, Any], unit: str) -> str:
    return f"{d[unit]}: {number(d['contribution'])} (A {_or_dash(d['first'])}, B {_or_dash(d['second'])})"


def _flips(f: Flips) -> Iterator[str]:
    alone = f"only A {len(f.only_first)}, only B {len(f.only_second)}"
    yield f"{f.of} got right by both {f.both}, {alone}, neither {f.neither}"
    for letter, names in (("A", f.only_first), ("B", f.only_second)):
        if names:
            more = f", and {len(names) - _SHOWN} more (--json)" if len(names) > _SHOWN else ""
            yield f"  only {letter}: {', '.join(names[:_SHOWN])}{more}"
    if f.only_first or f.only_second:
        yield f"  McNemar over them: p {f.test.p:.3f}, too liberal (not independent in a session)"
