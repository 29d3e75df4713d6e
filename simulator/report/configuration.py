"""What was asked for and what was played, of a run in a report: paths by their names alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.report.facts import RunFacts
from simulator.report.naming import name_of, without_folders
from simulator.report.parts import Html, flat, section, table
from simulator.report.sessions import MOST_ROWS
from simulator.report.svg import escaped

__all__ = ["configuration"]

_OF_A_UNIT = ("session", "user", "dataset", "truth", "recording", "person", "end_ns", "utc_anchor_ns", "period_ns")


def configuration(f: RunFacts) -> Html:
    """What was asked for, what held for every unit, on what machine, and of which data."""
    units = f.told["resolved"]
    first: Mapping[str, Any] = next(iter(units.values()), {})
    shared = {k: v for k, v in first.items() if k not in _OF_A_UNIT and all(u.get(k) == v for u in units.values())}
    asked = [(f"given: {k}", without_folders(v)) for k, v in flat(_by_name(f.told.get("given", {})))]
    about = [("folder", f.name), ("identity", f.told["identity"]), ("proact", f.told.get("proact")),
             ("seed", f.told.get("seed"))]  # fmt: skip
    data = [(key, u.get("session"), _hash(u.get("dataset")), _hash(u.get("truth")), _hash(u.get("recording")))
            for key, u in sorted(units.items())[:MOST_ROWS]]  # fmt: skip
    parts = [
        table(
            ("setting", "value"),
            [*about, *asked, *((k, without_folders(v)) for k, v in flat(shared))],
            f"Configuration of {f.name}",
        ),
        table(("fact", "value"), flat(f.told.get("host", {})), "Machine that played it"),
        table(("unit", "session", "data set (SHA-256)", "truth (SHA-256)", "recording"), data, "Data"),
    ]
    return section(f"Configuration: {f.name}", *parts)


def _hash(value: object) -> Html | None:
    return None if value is None else Html(f'<code title="{escaped(value)}">{escaped(str(value)[:16])}</code>')


def _by_name(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for, with the names of recordings and scenarios in place of their paths."""
    said = dict(given)
    if "scenarios" in said:
        said["scenarios"] = [name_of(path) for path in said["scenarios"]]
    if isinstance(said.get("live"), str):
        said["live"] = name_of(said["live"])
    return said
