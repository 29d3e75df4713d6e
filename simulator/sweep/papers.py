"""What papers published, number by number with its source: to stand in grey beside what is found here.

One file a preset, ``published/NAME.yaml``: a source, what all rows share, the metrics, and rows of a place and numbers
as printed. Nothing is computed from them but the unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from simulator.core.yaml_files import read_yaml

__all__ = ["NAME", "PLAYED", "SCALE", "Published", "file_name", "published", "published_of"]

NAME = "published, other data"
"""How every number of others is marked."""
_FOLDER = Path(__file__).with_name("published")
_SHARES = ("accuracy", "precision", "recall", "F1", "intention_accuracy")
SCALE: Mapping[str, float] = {**dict.fromkeys(_SHARES, 100.0), "service_time@mean": 0.001}
"""What a metric of ours is multiplied with to be printed as papers do: shares in percent, latencies in seconds."""

PLAYED: Mapping[str, str] = {
    "rag": "rag:documents=help,template=paper",
    "graph": "graph",
    "personas": "personas:kinds=assistance,match=text,writer=model",
}
"""By the word of these files, a memory of ProAgentBench as its presets play it (docs/presets.md)."""


@dataclass(frozen=True, slots=True)
class Published:
    """A number that a paper gives.

    Attributes:
        place: value by axis, as cells have them; ``model`` is the paper's.
        row: what tells its row from the others of the table.
        metric: what it is of, by our name.
        low: the number, as printed; the lower end where a range is given, 0 where only a bound is.
        high: the number again, or the upper end.
        said: as printed.
        source: paper and table.
    """

    place: Mapping[str, str]
    row: str
    metric: str
    low: float
    high: float
    said: str
    source: str

    @property
    def value(self) -> float | None:
        """The number; None of a range."""
        return self.low if self.low == self.high else None

    def told(self, preset: str) -> dict[str, Any]:
        """For ``summary.json``, in the unit of our metric."""
        low, high = (round(end / SCALE.get(self.metric, 1.0), 9) for end in (self.low, self.high))
        return {
            "preset": preset,
            "row": self.row,
            "column": self.metric,
            "value": low if low == high else None,
            "low": low,
            "high": high,
            "said": self.said,
            "place": dict(self.place),
            "source": self.source,
            "mark": NAME,
        }


def file_name(preset: str) -> str:
    """What a preset's files are called: ``paper:table2`` is ``paper-table2``."""
    return preset.replace(":", "-")


@cache
def published(preset: str) -> tuple[str, tuple[Published, ...]]:
    """The source that a preset follows, and its numbers in the paper's order; empty for a preset of our own."""
    file = _FOLDER / f"{file_name(preset)}.yaml"
    if not file.is_file():
        return "", ()
    raw = read_yaml(file)
    found = []
    for place, *numbers in raw["rows"]:
        row = ", ".join(str(value) for value in place.values() if value)
        whole = {axis: str(value or "") for axis, value in {**raw["place"], **place}.items()}
        if "memory" in whole:
            whole["memory"] = PLAYED.get(whole["memory"], whole["memory"])
        for metric, said in zip(raw["metrics"], numbers, strict=True):
            if said is not None:
                low, high = _ends(said)
                found.append(Published(whole, row, metric, low, high, str(said), raw["source"]))
    return raw["source"], tuple(found)


def published_of(preset: str | None) -> list[dict[str, Any]]:
    """What ``summary.json`` holds of them; nothing without a preset."""
    return [] if preset is None else [number.told(preset) for number in published(preset)[1]]


def _ends(said: float | str) -> tuple[float, float]:
    """Both ends of a number (22), a range (13-14) or a bound (< 5)."""
    if not isinstance(said, str):
        return float(said), float(said)
    if said.startswith("<"):
        return 0.0, float(said[1:])
    low, _, high = said.partition("-")
    return float(low), float(high)
