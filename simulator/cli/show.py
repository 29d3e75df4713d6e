"""Tables and progress for people."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from simulator.cli.speak import plain
from simulator.runs.engine import Engine
from simulator.runs.unit import UnitResult

__all__ = ["Progress", "score_table"]

HEADLINES = {
    "stream": ("F1_rt", "timely_utility", "unwanted_per_hour", "scheduled_latency@p95", "P_rt", "R_rt", "F1_seen",
               "F1_instant", "deadline_attainment@5", "lead_s", "S_rt", "restraint", "age_of_information", "coverage"),
    "moments": ("accuracy", "precision", "recall", "f1", "trigger_rate", "intention_accuracy", "semantic_similarity",
                "scheduled_latency@p95"),
    "trajectory": ("S_final", "F1_avg", "FPS_norm", "precision", "recall", "scheduled_latency@p95"),
}  # fmt: skip


def score_table(runs: Mapping[str, Mapping[str, Any]]) -> Group:
    """Scores side by side, one column a run: the headlines, with n, dim where a figure rests on few events."""
    table = Table(title=None, show_edge=False, pad_edge=False)
    table.add_column("metric")
    table.add_column("better", justify="center")
    for name in runs:
        table.add_column(plain(name), justify="right")
    protocols = list(dict.fromkeys(r["protocol"] for r in runs.values()))
    details = [r["details"] for r in runs.values()]
    wanted = [m for p in protocols for m in HEADLINES[p]]
    for metric in dict.fromkeys(wanted):
        found = [d.get(metric) for d in details]
        first = next((d for d in found if d is not None), None)
        if first is None:
            continue
        table.add_row(f"{metric} [{first['unit']}]".replace("[", "\\["), first["direction"], *map(_cell, found))
    counts = Table(show_edge=False, pad_edge=False, show_header=False)
    counts.add_column("counts")
    for r in runs.values():
        counts.add_column(justify="right", header=r["protocol"])
    for key in ("decisions", "offer", "error", "unparsed", "opportunities", "unservable", "interrupted"):
        counts.add_row(key, "", *(str(r["counts"].get(key, 0)) for r in runs.values()))
    sources = ", ".join(dict.fromkeys(str(r["latency_source"]) for r in runs.values()))
    note = Text(
        f"latency: {sources}; dim: rests on fewer than 10 events; -: no value, the reason is in scores.json", "dim"
    )
    return Group(table, Text(), counts, note)


def _cell(detail: Mapping[str, Any] | None) -> Text:
    if detail is None or detail["value"] is None:
        return Text("-", "dim")
    value = detail["value"]
    text = f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
    return Text(f"{text} (n {detail['n']})", "dim" if detail.get("few") else "")


class Progress:
    """Units done of all, and how far the running one is; silent where stderr is no terminal."""

    def __init__(self, console: Console, n_units: int, n_done: int) -> None:
        self._bar = Bar(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            TextColumn("{task.fields[said]}"), console=console, transient=True, disable=not console.is_terminal,
        )  # fmt: skip
        self._units = self._bar.add_task("units", total=n_units, completed=n_done, said="")
        self._errors = 0
        self._engine: Engine | None = None

    def watch(self, engine: Engine) -> None:
        """Follow a unit that starts."""
        self._engine = engine

    def unit_done(self, result: UnitResult) -> None:
        """A unit came to its end."""
        self._errors += result.error is not None
        offers = result.tally.get("offers", 0)
        said = f"{offers} offers, {result.tally.get('errors', 0)} errors in the last, {self._errors} units failed"
        self._bar.update(self._units, advance=1, said=said)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
