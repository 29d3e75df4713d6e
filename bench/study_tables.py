"""Tables of the study of memories, out of run folders: gains, and what an option changes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from scorers.statistics.interval import Interval
from simulator.play.comparing import Row, compare

CEILINGS = ("intention_floor", "intention_window", "intention_all", "balanced_accuracy", "f1_floor", "f1")


def gains(folder: Path, memories: Mapping[str, str], metric: str) -> Iterator[str]:
    """A table of one figure: each memory's, and its gains on none and on class-prior over the same sessions.

    Args:
        folder: of the runs.
        memories: what each is called, by its folder; those that were not played are left out.
        metric: which.
    """
    names = [name for name in memories if (folder / name / "scores.json").exists()]
    yield f"| memory | {metric} [95 %] | gain on none, p | gain on class-prior [95 %] | p | would show from |"
    yield "|---|---|---|---|---|---|"
    on = {base: _against(folder / base, [folder / n for n in names if n not in ("none", base)], metric)
          for base in ("none", "class-prior")}  # fmt: skip
    for name in names:
        silence, prior = (on[base].get(folder / name) for base in ("none", "class-prior"))
        silent = f"{_gain(silence)}, {_p(silence)}" if silence and silence.found else "-"
        yield f"| {' | '.join([memories[name], _figure(folder / name, metric), silent, *_tested(prior)])} |"


def varied(groups: Sequence[Mapping[str, Path]], metric: str) -> Iterator[str]:
    """A table of one figure: each option's, and its difference to the default of its group over the same sessions.

    Args:
        groups: run folders by what they are called, the default first; p is by Holm over one group.
        metric: which.
    """
    yield f"| option | {metric} [95 %] | difference to the default [95 %] | p | would show from |"
    yield "|---|---|---|---|---|"
    for group in groups:
        default, *options = group.values()
        found = _against(default, options, metric)
        for name, folder in group.items():
            yield f"| {' | '.join([name, _figure(folder, metric), *_tested(found.get(folder))])} |"


def _against(base: Path, others: Sequence[Path], metric: str) -> dict[Path, Row]:
    """Each against one, Holm over them all. Also a frozen memory against one online, which no user should mix up."""
    found = compare([base, *others], [metric], force=True)
    for comparison in found:
        if any(not fault.startswith("memory_mode") for fault in comparison.forced):
            raise ValueError(comparison.forced)
    return {folder: comparison.rows[0] for folder, comparison in zip(others, found, strict=True)}


def _figure(folder: Path, metric: str) -> str:
    scores = json.loads((folder / "scores.json").read_text("utf-8"))["details"][metric]
    ends = scores.get("interval")
    return shown(scores["value"]) + (f" [{shown(ends['low'])}, {shown(ends['high'])}]" if ends else "")


def _tested(row: Row | None) -> tuple[str, str, str]:
    """The difference with its interval, p, and the difference that would be found."""
    return _gain(row, ends=True), _p(row), shown(row.found.detectable if row and row.found else None)


def _gain(row: Row | None, *, ends: bool = False) -> str:
    if row is None or row.found is None or row.found.difference is None:
        return "-"
    interval = row.found.interval
    gain = f"{'+' if row.found.difference > 0 else ''}{shown(row.found.difference)}"
    if not ends or not isinstance(interval, Interval):
        return gain
    return f"{gain} [{shown(interval.low)}, {shown(interval.high)}]"


def _p(row: Row | None) -> str:
    return "-" if row is None or row.adjusted is None else f"{row.adjusted:.3f}"


def shown(x: float | None) -> str:
    """A figure as tables show it."""
    return "-" if x is None else f"{x:.3f}" if abs(x) < 2 else f"{x:.1f}"


def ceilings(data: Mapping[str, Path]) -> Iterator[str]:
    """What could be known at best, the mean of the users of each recipe."""
    yield f"| recipe | {' | '.join(CEILINGS)} | events of history |"
    yield "|---" * (len(CEILINGS) + 2) + "|"
    for recipe, where in data.items():
        users = json.loads((where / "generated.json").read_text("utf-8"))["users"]
        means = (fmean(user["ceilings"][name] for user in users) for name in CEILINGS)
        yield f"| {recipe} | {' | '.join(map(shown, means))} | {sum(user['n_history'] for user in users)} |"
