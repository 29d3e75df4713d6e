"""What is drawn of a study, and a preset's table in its paper's layout: of ``summary.json`` and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.core.errors import UsageError
from simulator.figures.ablation import draw_ablation
from simulator.figures.ablation import left_out as panels_left
from simulator.figures.curves import draw_context, draw_deadline
from simulator.figures.pareto import draw_pareto
from simulator.figures.summary import Summary
from simulator.sweep import layout_files
from simulator.sweep.layouts import table
from simulator.sweep.papers import file_name

__all__ = ["FOLDER", "Drawn", "draw", "left_out"]

FOLDER = "figures"


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was written; ``left`` says why there are no figures, where they cannot be drawn."""

    files: tuple[Path, ...]
    left: str | None = None


def left_out(summary: Mapping[str, Any], figures: Sequence[str]) -> list[str]:
    """What figures have no room for, in sentences for the summary; see ``draw``."""
    of, said = Summary(summary), []
    for name in dict.fromkeys(figures):
        kind, _, axes = name.partition(":")
        down, _, across = axes.partition(",")
        if kind == "heatmap" and of.quality is not None and (n := panels_left(of, (down, across) if axes else None)):
            said.append(
                f"{name} leaves out {n} of its panels, for which there is no room: all figures are in the tables"
            )
    return said


def draw(sweep: Path, summary: Mapping[str, Any], figures: Sequence[str]) -> Drawn:
    """Write the figures that a study asks for, and the table of its preset as Markdown, LaTeX, CSV and figure.

    Args:
        sweep: its folder.
        summary: as ``summary.json`` holds it.
        figures: of ``simulator.sweep.study.FIGURES``; a heat map with its axes, ``heatmap:DOWN,ACROSS``.
    """
    of = Summary(summary)
    preset = (summary["study"].get("preset") or "") if summary["study"] else ""
    laid = table(preset, of)
    files = []
    if laid is not None:
        written = {"md": layout_files.markdown, "tex": layout_files.latex, "csv": layout_files.csv_of}
        for suffix, write in written.items():
            file = sweep / f"{file_name(preset)}.{suffix}"
            part = file.with_name(f"{file.name}.part")
            part.write_bytes(write(laid).encode("utf-8", "backslashreplace"))
            files.append(part.replace(file))
    metric = of.quality
    try:
        for name in dict.fromkeys(figures):
            kind, _, axes = name.partition(":")
            file = sweep / FOLDER / f"{'-'.join([kind, *axes.split(',')]) if axes else kind}.svg"
            if axes and metric is not None:
                down, across = axes.split(",")
                files.append(draw_ablation(of, metric, file, (down, across)))
            elif name == "deadline":
                files.append(draw_deadline(of, file))
            elif metric is not None:
                files.append(
                    {"heatmap": draw_ablation, "context": draw_context, "pareto": draw_pareto}[name](of, metric, file)
                )
        if laid is not None:
            files.append(layout_files.draw(laid, sweep / FOLDER / f"{file_name(preset)}.svg"))
    except UsageError as error:  # matplotlib is an extra
        return Drawn(tuple(files), str(error))
    return Drawn(tuple(files))
