"""Each run of a report against the first: differences, who got which right; or the sentence why not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scorers.statistics.interval import Interval
from simulator.cli.speak import counted
from simulator.core.errors import ProactError
from simulator.play.comparing import Comparison, Row, compare
from simulator.report.charts import Change, forest
from simulator.report.facts import RunFacts
from simulator.report.naming import told_by_name
from simulator.report.parts import Html, paragraph, section, table
from simulator.report.svg import escaped, figure

__all__ = ["against", "changes_of"]


def against(facts: Sequence[RunFacts], force: bool) -> Html:
    """Each run against the first, or the sentence why not."""
    if len(facts) < 2:
        return Html("")
    found, refused = _compared(facts[0], facts[1:], force)
    parts: list[str] = [
        paragraph(Html(f"<b>Not compared:</b> {escaped(told_by_name(error), 900)}"), "warning") for error in refused
    ]
    for other, one in found:
        parts += _comparison(one, facts[0].name, other.name, n=len(found))
    return section("Compared", *parts, id_="compared")


def _compared(
    first: RunFacts, others: Sequence[RunFacts], force: bool
) -> tuple[list[tuple[RunFacts, Comparison]], list[ProactError]]:
    """All that can be held against the first, at once as ``proact compare`` does (Holm is over all); why others not."""

    def held(some: Sequence[RunFacts]) -> list[Comparison]:
        return compare([first.folder, *(f.folder for f in some)], force=force)

    try:
        return list(zip(others, held(others), strict=True)), []
    except ProactError as error:
        if len(others) == 1:
            return [], [error]
    fine, refused = list[RunFacts](), list[ProactError]()
    for other in others:
        try:
            held([other])
        except ProactError as error:
            refused.append(error)
        else:
            fine.append(other)
    return list(zip(fine, held(fine), strict=True)) if fine else [], refused


def _comparison(c: Comparison, first: str, second: str, n: int) -> Iterator[str]:
    for reason in c.forced:
        yield paragraph(Html(f"<b>Forced:</b> {escaped(reason)}"), "warning")
    label = f"differences of {second} from {first}, with 95 % intervals"
    said = f"{second} against {first}, paired over {counted(c.n_sessions, 'session')}; each row on its own scale. "
    said += "p by sign-flip over whole sessions, Holm over " + ("the table." if n == 1 else f"all {n} comparisons.")
    yield figure(forest(changes_of(c), label, first=first, second=second), said)
    if (f := c.flips) is not None:
        rows = [(f"right by {first}", f.both, len(f.only_first)), (f"wrong by {first}", len(f.only_second), f.neither)]
        yield table((f"{f.of}", f"right by {second}", f"wrong by {second}"), rows, f"{f.of}: who got which right")
        for name, items in ((first, f.only_first), (second, f.only_second)):
            if items:
                more = f", and {len(items) - 20} more" if len(items) > 20 else ""
                yield paragraph(f"Only {name}: {'; '.join(items[:20])}{more}")


def changes_of(c: Comparison) -> list[Change]:
    """The rows of a comparison as those of a forest plot."""
    return [_change(row) for row in c.rows]


def _change(row: Row) -> Change:
    name, found = f"{row.metric} [{row.unit}]", row.found
    if found is None or found.difference is None:
        return Change(name, row.direction, None, note=row.reason or "no difference can be told")
    ends = found.interval if isinstance(found.interval, Interval) else None
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    return Change(name, row.direction, found.difference, low, high, row.adjusted)
