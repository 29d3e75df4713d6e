"""Write the `--help` of each command and the files of `examples/` into the pages: `make docs`.

A block to fill stands between a marker, `<!-- help: dataset check -->` or `<!-- file: examples/stuck.py -->`, and the
end of the fence that follows. `docs/scoring.md` lists all metrics between `<!-- metrics -->` and `<!-- /metrics -->`,
and what offers cost between the same of `costs`. Tests fail while a page is out of date.
"""

from __future__ import annotations

import inspect
import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from simulator.cli import app

if TYPE_CHECKING:
    from scorers.base import Metric

__all__ = ["PAGE", "SCORING", "commands", "filled", "help_of", "with_files", "with_metrics"]

DOCS = Path(__file__).parent
PAGE = DOCS / "cli.md"
SCORING = DOCS / "scoring.md"
_BLOCK = re.compile(r"(<!-- help:(?P<words>[^>]*)-->\n```text\n).*?(```\n)", re.DOTALL)
_FILE = re.compile(r"(<!-- file: (?P<name>\S+) -->\n```[a-z]+\n).*?(^```\n)", re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    """Every command in full, as `dataset check`; the empty string is `proact` itself."""
    tree = app()
    found = [""]
    for name in tree:
        if not name.startswith("-"):
            found.append(name)
            found += [f"{name} {inner}" for inner in tree[name] if not inner.startswith("-")]
    return found


def help_of(command: str) -> str:
    """What `proact COMMAND --help` prints on 80 columns, without trailing spaces."""
    out = io.StringIO()
    words = command.split()
    app(words).help_print(words, console=Console(file=out, width=80, color_system=None, legacy_windows=False))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines()) + "\n"


def filled(page: str) -> str:
    """The page with every block as it is now."""
    return _BLOCK.sub(lambda block: block[1] + help_of(block["words"].strip()) + block[3], page)


def with_files(page: str) -> str:
    """The page with every file that it shows as that file is now."""
    return _FILE.sub(lambda block: block[1] + (DOCS / block["name"]).read_text(encoding="utf-8") + block[3], page)


def with_metrics(page: str) -> str:
    """The page with the tables of metrics and of costs as the scorers say them."""
    for name, made in (("metrics", _metrics()), ("costs", _costs())):
        start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, found, rest = page.partition(start)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"the page has no block {name}")
        page = before + start + made + end + after
    return page


def _metrics() -> str:
    """A section a scorer, an entry a metric; those that differ in nothing but their ending are told together."""
    from scorers.base import catalogue, scorers

    listed: dict[str, list[Metric]] = {}
    for name, metric in catalogue():
        listed.setdefault(name, []).append(metric)
    parts = []
    for name, metrics in listed.items():
        about = " ".join((inspect.getdoc(scorers.get(name)) or "").split("\n\n")[0].split()).replace("``", "`")
        protocols = ", ".join(dict.fromkeys(p for m in metrics for p in m.protocols))
        entries, endings = _entries(metrics)
        told = "".join(f"* `{ending}`: {says}\n" for ending, says in endings.items())
        parts.append(f"### Scorer `{name}` ({protocols})\n\n{about}\n\n{told}{entries}")
    return "\n" + "\n".join(parts) + "\n"


def _entries(metrics: Sequence[Metric]) -> tuple[str, dict[str, str]]:
    """An entry for each metric, and what the endings mean that several names have."""
    by_name = {m.name: m for m in metrics}
    groups: dict[tuple[Any, ...], list[str]] = {}
    endings: dict[str, str] = {}
    for metric in metrics:
        base, at, tag = metric.name.rpartition("@")
        plain = by_name.get(base)
        if plain is not None and metric.formula.startswith(f"{plain.formula}; @{tag}: "):
            endings[f"@{tag}"] = metric.formula.removeprefix(f"{plain.formula}; @{tag}: ")
            next(names for names in groups.values() if base in names).append(metric.name)
            continue
        same = metric.formula.removeprefix(f"{tag} of ") if at and metric.formula.startswith(f"{tag} of ") else None
        facts = (metric.unit, metric.range, metric.direction, metric.version)
        groups.setdefault((base if same else metric.name, same or metric.formula, *facts), []).append(metric.name)
    lines = []
    for (base, formula, unit, span, direction, version), names in groups.items():
        shown = [f"`{names[0]}`", *(f"`{n.removeprefix(base)}`" for n in names[1:])]
        told = formula if base in names else f"that of {formula}"
        lines.append(f"* {', '.join(shown)} [{unit}] {span}, {direction}, version {version}: {_escaped(told)}\n")
    return "".join(lines), endings


def _escaped(formula: str) -> str:
    """A formula as plain words of Markdown."""
    return re.sub(r"([*_<`])", r"\\\1", formula)


def _costs() -> str:
    from scorers.realtime_metrics import PRICED, PROFILES

    heads = [", ".join(f"`{v.value}`" for v in group) for group in PRICED]
    rows = [f"| `{name}` | {' | '.join(f'{c:g}' for c in costs)} |\n" for name, costs in PROFILES.items()]
    return f"\n| profile | {' | '.join(heads)} |\n|---{'|---' * len(heads)}|\n" + "".join(rows) + "\n"


if __name__ == "__main__":
    for path in sorted(DOCS.glob("*.md")):
        old = path.read_text(encoding="utf-8")
        new = with_files(filled(old) if path == PAGE else with_metrics(old) if path == SCORING else old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            sys.stdout.write(f"{path} written anew\n")
