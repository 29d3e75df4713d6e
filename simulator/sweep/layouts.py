"""Tables as papers print them: their rows, their columns, their units, and theirs in grey below ours.

A layout says which axes go down and which goes across. ``metric`` stands for the metrics themselves, as if it were an
axis: ProAgentBench's Table 2 has it across, its Table 6 down, with memories across.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

from simulator.figures.summary import Summary
from simulator.sweep.papers import NAME, PLAYED, SCALE, Published, published

__all__ = ["LAYOUTS", "METRIC", "Entry", "Layout", "Line", "Table", "table"]

METRIC = "metric"
_AXES = {
    "agent": "method",
    "model": "model",
    "memory": "memory",
    "modality": "input",
    "window": "history",
    "data": "data",
}
_MEMORIES = {PLAYED["rag"]: "RAG", PLAYED["graph"]: "KG", PLAYED["personas"]: "Cluster"}
_LABELS: Mapping[str, Mapping[str, str]] = {
    "agent": {"zero-shot": "Zero-Shot", "cot": "CoT", "self-consistency": "Self-Consistency", "naive": "Naive",
              "pirf": "PIRF", "people": "Human"},
    "memory": {"none": "None", **_MEMORIES,
               **{f"{a}+{b}": f"{_MEMORIES[a]}+{_MEMORIES[b]}" for a, b in permutations(_MEMORIES, 2)}},
    "modality": {"text": "text-only", "image": "multi-modal"},
    "window": {"10s": "10 s", "30s": "30 s", "1min": "1 min", "2min": "2 min", "5min": "5 min", "10min": "10 min"},
    "data": {"clean": "clean", "noise": "with noise"},
    METRIC: {"accuracy": "Acc", "precision": "P", "recall": "R", "F1": "F1", "intention_accuracy": "Int. Acc",
             "semantic_similarity": "Sem. Sim", "service_time@mean": "mean latency (s)", "F1_avg": "F1_avg",
             "FPS_norm": "FPS_norm", "S_final": "S_final", "P": "P", "R": "R"},
}  # fmt: skip
"""By axis: our value, and the word of the papers. Memories are theirs only as their presets play them."""
_DIGITS = {"semantic_similarity": 3, "service_time@mean": 1, "P": 2, "R": 2, "F1_avg": 2, "FPS_norm": 2, "S_final": 2}
_HERE = "here"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a paper lays out a table or a figure.

    Attributes:
        title: of the table.
        down: axes whose values make the rows, in order.
        across: the axis whose values make the columns.
        metrics: that are shown, in the order of the paper.
    """

    title: str
    down: tuple[str, ...]
    across: str
    metrics: tuple[str, ...]


_WHEN = ("accuracy", "precision", "recall", "F1", "intention_accuracy", "semantic_similarity")
_OF_TRAJECTORIES = ("P", "R", "F1_avg", "FPS_norm", "S_final")
LAYOUTS: Mapping[str, Layout] = {
    "paper:table2": Layout("ProAgentBench, Table 2: prompting strategies", ("model", "agent"), METRIC, _WHEN),
    "paper:fig5": Layout("ProAgentBench, Figure 5: length of the history", ("model", METRIC), "window",
                         ("accuracy", "F1", "intention_accuracy")),
    "paper:fig7": Layout("ProAgentBench, Figure 7: memories and input", ("modality", "model"), "memory", ("accuracy",)),
    "paper:table6": Layout("ProAgentBench, Table 6: memories", ("modality", "model", METRIC), "memory",
                           ("accuracy", "F1", "intention_accuracy", "semantic_similarity")),
    "paper:fig9": Layout("ProAgentBench, Figure 9: time of an answer", ("model", "agent", "memory"), METRIC,
                         ("service_time@mean",)),
    "pira:naive-vs-pirf": Layout("PIRA-Bench: naive and PIRF", ("agent", "model"), METRIC, _OF_TRAJECTORIES),
    "clean-vs-noise": Layout("PIRA-Bench: clean trajectories and noise", ("model", "agent", "data"), METRIC,
                             _OF_TRAJECTORIES),
}  # fmt: skip
"""By preset. Presets of our own have none: the tables of every sweep are theirs."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A figure of a table, in the unit that the paper prints.

    Attributes:
        said: without interval, as printed.
        low: end of the interval here, of a range there; ``high`` the other one. None where there is none.
        place: 1 for the best here, 2 for the second; None for others, and for all that is published.
        like_best: not significantly worse than the best.
    """

    value: float | None
    said: str
    low: float | None = None
    high: float | None = None
    place: int | None = None
    like_best: bool = False
    digits: int = 1


@dataclass(frozen=True, slots=True)
class Line:
    """A row: the labels at its head, and its entries by column; ``source`` where others published it."""

    head: tuple[str, ...]
    entries: tuple[Entry | None, ...]
    n: int | None = None
    erred: int = 0
    source: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a paper's layout: ours first, then what was published.

    Attributes:
        down: the axes of the heads of rows; ``across``: the axis of the columns.
        only: the metric of all entries, where neither goes over metrics.
    """

    title: str
    down: tuple[str, ...]
    across: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...]
    only: str

    @property
    def head(self) -> tuple[str, ...]:
        """The words over the heads of rows."""
        return tuple(_AXES.get(axis, axis) for axis in self.down)


def table(preset: str, summary: Summary) -> Table | None:
    """A study's figures in the layout of its preset; None for a preset that has none.

    Axes that vary in the study and are not in the paper's layout become further heads of rows, so that no cell is
    left out.
    """
    layout = LAYOUTS.get(preset)
    if layout is None:
        return None
    source, theirs = published(preset)
    others = [a for a in summary.varying if a not in (*layout.down, layout.across) and a != METRIC]
    down = (*layout.down, *others)
    columns = [*layout.metrics] if layout.across == METRIC else _values(summary, layout.across)
    columns += [v for v in dict.fromkeys(p.place.get(layout.across, "") for p in theirs) if v and v not in columns]
    ours = _ours(summary, layout, down, columns)
    grey = _theirs(theirs, layout, down, columns)
    notes = [
        *_units(layout),
        *summary.notes(),
        f"{NAME}: {source}" if theirs else f"published: no number of it is known here ({source})",
    ]
    return Table(
        layout.title,
        down,
        layout.across,
        tuple(label(layout.across, column) for column in columns),
        (*ours, *grey),
        tuple(notes),
        label(METRIC, layout.metrics[0]),
    )


def _units(layout: Layout) -> list[str]:
    """In what figures are, where their columns do not say it."""
    shares = [m for m in layout.metrics if SCALE.get(m) == 100.0 or m in _OF_TRAJECTORIES]
    rest = [label(METRIC, m) for m in layout.metrics if m not in shares]
    return [f"in percent{f', but for {rest[0]}' if rest else ''}"] if shares else []


def label(axis: str, value: str) -> str:
    """The papers' word for a value of ours, which may have parameters behind it."""
    words = _LABELS.get(axis, {})
    name, colon, rest = value.partition(":")
    return words.get(value) or (f"{words[name]} ({rest})" if colon and name in words else value)


def _values(summary: Summary, axis: str) -> list[str]:
    """Values of an axis that cells have, in the study's order."""
    there = [_value(summary, cell, axis) for cell in summary.cells]
    return [value for value in dict.fromkeys([*summary.values(axis), *there]) if value in there]


def _value(summary: Summary, cell: Mapping[str, Any], axis: str) -> str:
    """A cell's value of an axis; of a model that no axis names the one that was asked, "here" if nobody said."""
    return summary.at(cell, axis) or (cell.get("model") or _HERE if axis == "model" else "")


def _ours(summary: Summary, layout: Layout, down: Sequence[str], columns: Sequence[str]) -> list[Line]:
    at: dict[tuple[str, ...], Mapping[str, Any]] = {}
    axes = [axis for axis in (*down, layout.across) if axis != METRIC]
    for cell in summary.cells:
        at[tuple(_value(summary, cell, axis) for axis in axes)] = cell
    lines = []
    heads = (layout.metrics if axis == METRIC else _values(summary, axis) for axis in down)
    for head in product(*heads):
        found = [_cell(at, axes, layout, down, head, column) for column in columns]
        if all(cell is None for cell, _ in found):
            continue
        entries = tuple(None if cell is None else _entry(cell, metric) for cell, metric in found)
        cells = [cell for cell, _ in found if cell is not None]
        said = tuple(label(axis, value) for axis, value in zip(down, head, strict=True))
        n = min(cell["n_sessions"] for cell in cells)
        lines.append(Line(said, entries, n, sum(_erred(cell) for cell in cells)))
    return lines


def _cell(at: Mapping[tuple[str, ...], Mapping[str, Any]], axes: Sequence[str], layout: Layout, down: Sequence[str],
          head: Sequence[str], column: str) -> tuple[Mapping[str, Any] | None, str]:  # fmt: skip
    place = dict(zip(down, head, strict=True)) | {layout.across: column}
    return at.get(tuple(place[axis] for axis in axes)), place[METRIC] if METRIC in place else layout.metrics[0]


def _theirs(numbers: Iterable[Published], layout: Layout, down: Sequence[str], columns: Sequence[str]) -> list[Line]:
    """What was published, a row each, in the paper's order."""
    rows: dict[tuple[str, ...], dict[str, Published]] = {}
    for number in numbers:
        place = {METRIC: number.metric} | dict(number.place)
        if METRIC not in (*down, layout.across) and number.metric != layout.metrics[0]:
            continue
        head = tuple(label(axis, place.get(axis, "")) for axis in down)
        rows.setdefault(head, {})[place[layout.across]] = number
    return [
        Line(head, tuple(_grey(found[c]) if c in found else None for c in columns), source=number.source)
        for head, found in rows.items()
        for number in list(found.values())[:1]
    ]


def _grey(number: Published) -> Entry:
    digits = _DIGITS.get(number.metric, 1)
    if number.value is None:
        return Entry(None, number.said, number.low, number.high, digits=digits)
    return Entry(number.value, f"{number.value:.{digits}f}", digits=digits)


def _entry(cell: Mapping[str, Any], metric: str) -> Entry | None:
    figure = Summary.figure(cell, metric)
    if figure is None:
        return None
    scale, digits = SCALE.get(metric, 1.0), _DIGITS.get(metric, 1)
    told = cell["metrics"][metric]
    low, high = (None if end is None else end * scale for end in (figure.low, figure.high))
    rank = told.get("rank")
    value = figure.value * scale
    return Entry(value, f"{value:.{digits}f}", low, high, rank if rank in (1, 2) else None,
                 bool(told.get("like_best")), digits)  # fmt: skip


def _erred(cell: Mapping[str, Any]) -> int:
    return int(cell["units"].get("erred", 0)) + int(cell["units"].get("missing", 0))
