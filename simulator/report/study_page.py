"""A study as one HTML file: heat maps of its figures, curves, what each value of an axis is worth, all cells."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simulator.figures.summary import Summary
from simulator.report.page import Made
from simulator.report.parts import Html, beside, document, listed, number, section, table
from simulator.report.study import View, axes_of, cells_of, curves_of, effects_of, maps_of, marks_of
from simulator.report.summary_file import FILE, read_summary
from simulator.report.svg import clean, figure
from simulator.runs.stored import stored
from simulator.session.ignored import is_within_hidden

__all__ = ["make_study"]

_MOST_FIGURES, _MOST_MAPS, _MOST_CELLS = 8, 12, 400


def make_study(sweep: Path) -> Made:
    """Report a sweep, from its ``summary.json`` alone.

    Raises:
        InputError: it has not been summed up yet, or that file is damaged.
    """
    with stored(sweep / FILE):
        return _made(sweep, read_summary(sweep))


def _made(sweep: Path, summary: Summary) -> Made:
    raw = summary.raw
    names = [str(m["name"]) for m in raw["metrics"]]
    lead = summary.quality or names[0]
    rows, columns = axes_of(summary, View())
    parts = [
        Html(f"<header><h1>proact report</h1>{_study(raw)}</header>"),
        section("What must be known", listed(raw["caveats"])),
        *(
            section(name, beside(_maps(summary, name, rows, columns, every=name == lead)))
            for name in names[:_MOST_FIGURES]
        ),
        section("Curves", beside(figure(d, f"{caption}.") for caption, d in _curves(summary, lead, rows, columns))),
        section("Marginal effects", *_effects(summary, names)),
        section("All cells", _cells(summary, lead)),
        section("Published", _published(raw)),
        section("About this report", listed(_about(names))),
    ]
    title = clean(raw["study"]["name"], 80)
    return Made(document(title, "".join(parts)), 0, is_within_hidden(sweep), ("This report holds no pictures.",))


def _study(raw: Mapping[str, Any]) -> Html:
    axes = [(a["name"], ", ".join(map(str, a["values"]))) for a in raw["axes"]]
    baseline = ", ".join(f"{axis} {value}" for axis, value in raw["baseline"].items())
    rows = [("study", raw["study"]["name"]), ("preset", raw["study"].get("preset")),
            ("identity", raw["study"]["identity"]), *axes, ("baseline", baseline or None)]  # fmt: skip
    return table(("setting", "value"), rows, "Study and its axes")


def _maps(summary: Summary, metric: str, rows: str, columns: str, *, every: bool) -> Iterator[str]:
    """The map at each combination of the axes that it does not show; of figures but the first only at one."""
    others = [axis for axis in summary.varying if axis not in (rows, columns)]
    combinations = list(itertools.product(*(summary.places(axis) for axis in others)))
    for place in combinations[: _MOST_MAPS if every else 1]:
        fixed = dict(zip(others, place, strict=True))
        at = ", ".join(f"{axis} {value}" for axis, value in fixed.items())
        maps = maps_of(summary, metric, rows, columns, fixed)
        less = summary.metric(metric)["direction"] == "down"
        said = [
            f"{metric} by {rows} and {columns}" + (f" at {at}" if at else ""),
            "darker: " + ("less" if less else "more") + ", in every map of it alike",
        ]
        if maps.hatched:
            said.append("hatched: the interval of the difference to the baseline holds 0, or no session differs")
        yield figure(maps.picture, f"{'; '.join([*said, marks_of(summary, metric)])}.")
        if every:
            for title, picture in maps.beside.items():
                yield figure(picture, f"{title}{f' at {at}' if at else ''}; darker: less.")
    if (not every and len(combinations) > 1) or len(combinations) > _MOST_MAPS:
        yield '<p class="soft">Other values of the axes that are not shown: proact view, or summary.csv.</p>'


def _curves(summary: Summary, metric: str, rows: str, columns: str) -> Iterator[tuple[str, Any]]:
    others = [axis for axis in summary.varying if axis not in (rows, columns)]
    fixed = {axis: summary.baseline.get(axis, summary.places(axis)[0]) for axis in others}
    yield from curves_of(summary, metric, rows, columns, fixed).items()


def _effects(summary: Summary, names: list[str]) -> Iterator[str]:
    for metric in names[:_MOST_FIGURES]:
        found, picture = effects_of(summary, metric)
        if picture is not None:
            yield figure(
                picture,
                f"{metric}: what each value is worth against the baseline's, all else the same; all rows on one scale.",
            )
            yield table(
                ("data", "axis", "value", "against", "gain", "95 % interval", "p (Holm)", "sessions"),
                [(e.get("data"), e["axis"], e["value"], e["against"], number(e["gain"]), _ends(e),
                  number(e["adjusted"]), e["n"])
                 for e in found],
                f"Effects on {metric}",
            )  # fmt: skip


def _ends(row: Mapping[str, Any]) -> str | None:
    return None if row["low"] is None else f"{number(row['low'])} … {number(row['high'])}"


def _cells(summary: Summary, metric: str) -> str:
    found = cells_of(summary, metric)
    rows = [
        (c["name"], number(c["value"]) + (" ★" if c["best"] else " †" if c["like_best"] else ""), _ends(c), c["n"],
         number(c["p50"]), number(c["p95"]), number(c["cost"]), c["units"]["done"], c["units"]["erred"],
         c["units"]["missing"], c["latency_source"])
        for c in found[:_MOST_CELLS]
    ]  # fmt: skip
    head = ("cell", metric, "95 % interval", "sessions", "p50 (ms)", "p95 (ms)", "cost", "done", "erred", "missing",
            "latency")  # fmt: skip
    left = f"<p>{len(found) - len(rows)} more cells are in summary.csv.</p>" if len(found) > len(rows) else ""
    return table(head, rows, "Cells; erred and missing units are no zeros") + left


def _published(raw: Mapping[str, Any]) -> str:
    rows = [(p["row"], p["column"], p["value"], p["source"]) for p in raw.get("published", ())][:_MOST_CELLS]
    return table(("row", "column", "value", "source"), rows, "What others published, on other data")


def _about(names: list[str]) -> Iterator[str]:
    if len(names) > _MOST_FIGURES:
        yield f"{len(names) - _MOST_FIGURES} more figures are in summary.csv."
    yield "Figures are those of the study's summary.json; what each means: docs/scores.md."
