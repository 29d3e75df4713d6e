"""The studies of docs/results.md: played with ``proact sweep``, and every figure on the page made of their summaries.

``python -m bench.results OUT``, in the repository, plays bench/studies/*.yaml into OUT (called again: what is missing),
keeps of each summary what the page needs in docs/results, with the figures, and fills the page's tables.
``--page`` only makes the page and its figures, of the summaries that are kept.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from simulator.core.errors import UsageError
from simulator.sweep.draw import draw

__all__ = ["FIGURES", "KEPT", "PAGE", "STUDIES", "command", "drawn", "filled", "kept", "kept_summaries", "table"]

ROOT = Path(__file__).resolve().parent.parent
PAGE, KEPT = ROOT / "docs" / "results.md", ROOT / "docs" / "results"
STUDIES = ("memories-moments", "memories-stream", "latencies", "policies", "utility")
FIGURES = {"memories-moments": "heatmap", "latencies": "deadline"}
"""By study the figure of it that stands on the page."""
SHOWN_P = 0.05

Summary = Mapping[str, Any]
_OF_CELL = ("id", "values", "n_sessions", "n_users", "units", "latency_ms", "metrics")
_OF_CURVE = "deadline"
_OF_FIGURE = ("value", "low", "high", "n", "reason", "best", "gain")


def command(study: str, out: Path | str, workers: int = 2) -> list[str]:
    """The words of the ``proact`` command that plays a study."""
    return ["sweep", f"bench/studies/{study}.yaml", "--out", f"{out}/{study}", "--workers", str(workers)]


def play(study: str, out: Path, workers: int) -> None:
    """Play a study in a process of its own, and keep its summary; ends where it fails."""
    words = command(study, out, workers)
    print(f"$ proact {shlex.join(words)}", file=sys.stderr, flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "simulator.cli", *words], cwd=ROOT, stdout=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        sys.exit(f"proact ended with {done.returncode}")
    KEPT.mkdir(exist_ok=True)
    told = kept(json.loads((out / study / "summary.json").read_bytes()))
    (KEPT / f"{study}.json").write_text(written(told), encoding="utf-8")


def drawn(study: str, summary: Summary) -> bytes:
    """The figure of a study, of what is kept of its summary.

    Raises:
        UsageError: the extra ``figures`` is not installed.
    """
    with tempfile.TemporaryDirectory() as folder:
        found = draw(Path(folder), summary, [FIGURES[study]])
        if found.left is not None:
            raise UsageError(found.left)
        return found.files[0].read_bytes()


def kept(summary: Summary) -> dict[str, Any]:
    """What of a study's summary the page is made of."""
    shown = (*_OF_CELL, _OF_CURVE) if FIGURES.get(summary["study"]["name"]) == _OF_CURVE else _OF_CELL
    cells = []
    for cell in summary["cells"]:
        figures = {m: {k: f[k] for k in _OF_FIGURE if k in f} for m, f in cell["metrics"].items()}
        cells.append({k: cell[k] for k in shown} | {"metrics": figures})
    return {k: summary[k] for k in ("study", "axes", "baseline", "metrics", "caveats", "effects")} | {"cells": cells}


def written(told: Mapping[str, Any]) -> str:
    """A summary as it is kept: a cell and an effect a line, so that a change can be read."""
    lists = ("cells", "effects")
    parts = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in told.items() if k not in lists]
    for name in lists:
        rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in told[name])
        parts.append(f"{json.dumps(name)}: [\n{rows}\n]")
    return "{" + ",\n".join(parts) + "}\n"


def kept_summaries() -> dict[str, Summary]:
    """By study, what is kept of its summary."""
    return {study: json.loads((KEPT / f"{study}.json").read_bytes()) for study in STUDIES}


_MARK = re.compile(r"<!-- table: ([\w-]+) (\w+) ?([\w@ ,]*?) ?-->\n.*?<!-- end -->", re.DOTALL)


def filled(page: str, summaries: Mapping[str, Summary]) -> str:
    """The page with its tables made anew, each between ``<!-- table: STUDY KIND METRIC… -->`` and ``<!-- end -->``."""

    def made(mark: re.Match[str]) -> str:
        study, kind, metrics = mark.groups()
        lines = "\n".join(table(summaries[study], kind, metrics.split()))
        return f"<!-- table: {study} {kind} {metrics} -->\n\n{lines}\n\n<!-- end -->"

    return _MARK.sub(made, page)


def table(summary: Summary, kind: str, metrics: Sequence[str]) -> Iterator[str]:
    """A table, line by line.

    Args:
        summary: of a study, as kept.
        kind: ``by_data`` (one metric: a row a memory, the data sets side by side), ``cells`` (a row a cell, the metrics
            side by side, the gains of the first two) or ``effects`` (a row a value of an axis).
        metrics: which.
    """
    kinds = {"by_data": _by_data, "cells": _cells, "effects": _effects}
    return kinds[kind](summary, metrics)


def _by_data(summary: Summary, metrics: Sequence[str]) -> Iterator[str]:
    (metric,) = metrics
    (down,) = (a["name"] for a in summary["axes"] if a["varies"] and a["name"] != "data")
    sets = _values(summary, "data")
    at = {(c["values"]["data"], c["values"][down]): c for c in summary["cells"]}
    base = summary["baseline"][down]
    yield _row([down, *(cell for name in sets for cell in (_head(at[name, base], name), f"gain on {base}"))])
    yield "|---|" + "---:|" * (2 * len(sets))
    for value in _values(summary, down):
        figures = [at[name, value]["metrics"][metric] for name in sets]
        yield _row([value, *(cell for f in figures for cell in (_figure(f), _gain(f)))])
    least: list[str] = []
    for name in sets:
        gains = [at[name, value]["metrics"][metric].get("gain") or {} for value in _values(summary, down)]
        shows = [g["detectable"] for g in gains if g.get("detectable") is not None]
        least += ["", f"from {_number(max(shows))}" if shows else "-"]
    yield _row(["*would show*", *least])


def _cells(summary: Summary, metrics: Sequence[str]) -> Iterator[str]:
    varying = [a["name"] for a in summary["axes"] if a["varies"]]
    against = " ".join(summary["baseline"].values())
    with_gain = [m for m in metrics[:2] if any(c["metrics"][m].get("gain") for c in summary["cells"])]
    heads = [h for m in metrics for h in ([m, f"gain on {against}"] if m in with_gain else [m])]
    yield _row([*varying, *heads, "p95 ms", "n"])
    yield "|---" * len(varying) + "|" + "---:|" * (len(heads) + 2)
    for cell in summary["cells"]:
        told = [t for m in metrics for t in _told(cell["metrics"][m], gain=m in with_gain)]
        yield _row(
            [*(cell["values"][a] for a in varying), *told, _number(cell["latency_ms"]["p95"]), str(cell["n_sessions"])]
        )


def _told(figure: Mapping[str, Any], *, gain: bool) -> list[str]:
    return [_figure(figure), _gain(figure)] if gain else [_figure(figure)]


def _effects(summary: Summary, metrics: Sequence[str]) -> Iterator[str]:
    shown = [e for e in summary["effects"] if e["gain"] is not None and e["metric"] in metrics]
    keys = dict.fromkeys((e["axis"], e["value"], e["against"]) for e in shown)
    at = {(e["axis"], e["value"], e["metric"]): e for e in shown}
    yield _row(["axis", "value", "instead of", *metrics, "n", "pairs of cells"])
    yield "|---|---|---|" + "---:|" * (len(metrics) + 2)
    for axis, value, against in keys:
        of = [at.get((axis, value, m)) for m in metrics]
        some = next(e for e in of if e is not None)
        gains = [_gain({"gain": e and {**e, "value": e["gain"]}}) for e in of]
        yield _row([axis, value, against, *gains, str(some["n"]), str(some["n_cells"])])


def _values(summary: Summary, axis: str) -> list[str]:
    return next(list(a["values"]) for a in summary["axes"] if a["name"] == axis)


def _head(cell: Mapping[str, Any], name: str) -> str:
    return f"{name}, n {cell['n_sessions']}"


def _figure(figure: Mapping[str, Any]) -> str:
    return _number(figure["value"]) + _between(figure)


def _gain(figure: Mapping[str, Any]) -> str:
    """With its sign; bold where p by Holm is at most 5 %."""
    gain = figure.get("gain")
    if not gain:
        return "-"
    said = f"{'+' if gain['value'] > 0 else ''}{_number(gain['value'])}{_between(gain)}"
    shown = gain.get("adjusted") is not None and gain["adjusted"] <= SHOWN_P
    return f"**{said}**" if shown else said


def _between(of: Mapping[str, Any]) -> str:
    ends = of.get("low"), of.get("high")
    return "" if None in ends or ends[0] == ends[1] else f" [{_number(ends[0])}, {_number(ends[1])}]"


def _number(x: float | None) -> str:
    """Three decimals, of large ones one; no minus before a zero."""
    if x is None:
        return "-"
    said = f"{x:.3f}" if abs(x) < 2 else f"{x:.1f}"
    return said.removeprefix("-") if not said.strip("-0.") else said


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    told = argparse.ArgumentParser(prog="python -m bench.results", description=(__doc__ or "").splitlines()[0])
    told.add_argument("out", type=Path, nargs="?", default=Path("runs/results"), help="folder for data and runs")
    told.add_argument("--workers", type=int, default=2)
    told.add_argument("--page", action="store_true", help="play nothing, make the page of what is kept")
    given = told.parse_args(words)
    if not given.page:
        for study in STUDIES:
            play(study, given.out.absolute(), given.workers)
    summaries = kept_summaries()
    PAGE.write_text(filled(PAGE.read_text("utf-8"), summaries), encoding="utf-8")
    for study in FIGURES:
        (KEPT / f"{study}.svg").write_bytes(drawn(study, summaries[study]))


if __name__ == "__main__":
    main()
