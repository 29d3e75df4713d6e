"""A sweep's ``summary.json`` as its figures look at it: axes that vary, cells by place, figures with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

__all__ = ["NOTHING", "SECONDS", "Figure", "Part", "Summary", "seconds"]

NOTHING = "-"
"""The value of an axis in cells to which it says nothing: such a cell stands for each value of it."""

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_MOST_SENTENCES = 5


def seconds(text: str) -> float | None:
    """A length as axes have it (``10s``, ``5min``); None for any other word."""
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    try:
        return float(digits) * SECONDS[text[len(digits) :]]
    except (KeyError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Figure:
    """A metric of a cell; ``low`` and ``high`` are None where it has no interval."""

    value: float
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends of the interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class Part:
    """Cells that go into one panel: those with these values of the axes that the panel does not show."""

    name: str
    cells: tuple[Mapping[str, Any], ...]


class Summary:
    """What ``summary.json`` holds.

    Args:
        raw: the file, parsed.
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.cells: list[Mapping[str, Any]] = list(raw["cells"])
        self._axes = {axis["name"]: [str(v) for v in axis["values"]] for axis in raw["axes"]}
        self.varying = [axis["name"] for axis in raw["axes"] if axis["varies"]]
        self.baseline = {axis: str(value) for axis, value in (raw.get("baseline") or {}).items()}

    def values(self, axis: str) -> list[str]:
        """Those of an axis, in the study's order; what cells have besides (further cells) after them."""
        known = self._axes.get(axis, [])
        others = dict.fromkeys(self.at(cell, axis) for cell in self.cells)
        return [*known, *(value for value in others if value not in known and value)]

    @staticmethod
    def at(cell: Mapping[str, Any], axis: str) -> str:
        """A cell's value of an axis; empty where it has none."""
        return str(cell["values"].get(axis, ""))

    def metric(self, name: str) -> Mapping[str, Any]:
        """What is said of a metric."""
        found: Mapping[str, Any] = next((m for m in self.raw["metrics"] if m["name"] == name), {})
        return {"name": name, "title": name, "unit": "", "direction": "up"} | dict(found)

    @property
    def quality(self) -> str | None:
        """The first metric of which more is better: what studies lead with."""
        return next((m["name"] for m in self.raw["metrics"] if m["direction"] == "up"), None)

    @staticmethod
    def figure(cell: Mapping[str, Any], metric: str) -> Figure | None:
        """A metric of a cell; None where it has none."""
        found = cell["metrics"].get(metric)
        if not found or found["value"] is None:
            return None
        return Figure(found["value"], found.get("low"), found.get("high"))

    @staticmethod
    def undecided(cell: Mapping[str, Any], metric: str) -> bool:
        """Whether a cell is not told from the baseline, which is what maps hatch: the interval of its gain holds 0, or
        there is none because no session differs.
        """
        gain = (cell["metrics"].get(metric) or {}).get("gain") or {}
        low, high = gain.get("low"), gain.get("high")
        return bool(gain.get("value") == 0 if low is None or high is None else low <= 0 <= high)

    @staticmethod
    def p95_s(cell: Mapping[str, Any]) -> Figure | None:
        """The 95th percentile of scheduled latency, in seconds."""
        found = Summary.figure(cell, "scheduled_latency@p95")
        if found is not None:
            low, high = (None if end is None else end / 1e3 for end in (found.low, found.high))
            return Figure(found.value / 1e3, low, high)
        value = (cell.get("latency_ms") or {}).get("p95")
        return None if value is None else Figure(value / 1e3, None, None)

    def places(self, axis: str) -> list[str]:
        """The values of an axis at which a panel can stand: ``-`` is none beside others."""
        values = self.values(axis)
        return [value for value in values if value != NOTHING] or values

    def standing(self, wanted: Mapping[str, str]) -> list[Mapping[str, Any]]:
        """Cells that have these values, and those to which such an axis says nothing, which come first."""
        found = [c for c in self.cells if all(self.at(c, axis) in (v, NOTHING) for axis, v in wanted.items())]
        return sorted(found, key=lambda c: self._has(c, wanted))

    def _has(self, cell: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
        return all(self.at(cell, axis) == value for axis, value in wanted.items())

    def parts(self, shown: Sequence[str]) -> list[Part]:
        """Cells by the axes that vary and are not shown, in the study's order; a cell to which such an axis says
        nothing is in the part of each of its values. Parts without cells of their own are left out.
        """
        others = [axis for axis in self.varying if axis not in shown]
        wanted = [dict(zip(others, v, strict=True)) for v in product(*(self.places(axis) for axis in others))]
        found = [(of, self.standing(of)) for of in wanted]
        own = {c["id"] for of, cells in found if any(self._has(c, of) for c in cells) for c in cells}
        return [
            Part(", ".join(f"{axis} {value}" for axis, value in of.items()), tuple(cells))
            for of, cells in found
            if any(self._has(c, of) or c["id"] not in own for c in cells)
        ]

    def lines(self, cells: Iterable[Mapping[str, Any]], along: str) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
        """Cells that differ along one axis alone, with the name of what they share."""
        all_ = list(cells)
        others = [axis for axis in self.varying if axis != along]
        others = [axis for axis in others if len({self.at(cell, axis) for cell in all_}) > 1] or others
        found: dict[str, list[Mapping[str, Any]]] = {}
        for cell in all_:
            found.setdefault(" · ".join(filter(None, (self.at(cell, axis) for axis in others))), []).append(cell)
        yield from found.items()

    @property
    def studied(self) -> list[str]:
        """The axes that the study is about: those of its baseline that vary."""
        return [axis for axis in self.varying if axis in self.baseline]

    def groups(self, most: int, along: str) -> list[Part]:
        """Cells for panels of curves along an axis: all in one if no more curves than that, else by further axes, one
        after the other; what is studied stays together longest.
        """
        others = [axis for axis in self.varying if axis != along]
        others = [axis for axis in others if axis not in self.studied] + [a for a in others if a in self.studied]
        for n in range(len(others)):
            parts = self.parts([axis for axis in self.varying if axis not in others[:n]])
            if all(len(list(self.lines(part.cells, along))) <= most for part in parts):
                return parts
        return self.parts([axis for axis in self.varying if axis not in others[:-1]])

    def fixed(self) -> str:
        """The axes that do not vary, in words."""
        said = ((axis, values[0]) for axis, values in self._axes.items() if axis not in self.varying and values)
        return ", ".join(f"{axis} {value}" for axis, value in said)

    def notes(self) -> list[str]:
        """What must stand below every figure: the caveats of the summary, the first few of them."""
        said = [str(caveat) for caveat in self.raw.get("caveats") or ()]
        kept, left = said[:_MOST_SENTENCES], len(said) - _MOST_SENTENCES
        return [*kept, f"and {left} more caveats in summary.json"] if left > 0 else kept
