"""How figures look: colours, marks, letters and names; matplotlib is loaded here.

The same numbers make the same bytes, with one version of matplotlib: ids come from a fixed salt, no date is written, no
font file is looked for (text stays text). Colours are of the palette of Okabe & Ito, told apart by people who see fewer
colours, and nothing is told by colour alone: lines differ in their dashes, bars in their hatching. What others
published stands in grey.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from typing import Any

from simulator.core.errors import UsageError
from simulator.core.extras import install_extra

__all__ = [
    "BLUE", "COLOURS", "DASHES", "GREEN", "GREY", "MARKS", "ORANGE", "OTHERS", "STYLE", "arms", "library", "short",
    "shorts",
]  # fmt: skip

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8C8C8C"
COLOURS = (BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
DASHES = ("solid", "dashed", "dotted", "dashdot")
STYLE: dict[str, Any] = {
    "svg.hashsalt": "proact", "svg.fonttype": "none", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"],
    "font.size": 7, "axes.titlesize": 7.5, "axes.labelsize": 7, "xtick.labelsize": 6.5, "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5, "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4, "ytick.minor.width": 0.4, "lines.linewidth": 1.2, "hatch.linewidth": 0.5,
    "axes.spines.top": False, "axes.spines.right": False, "axes.titlelocation": "left", "legend.frameon": False,
}  # fmt: skip
"""For matplotlib, while a sheet is drawn."""
OTHERS: dict[str, Any] = {"color": "#D9D9D9", "edgecolor": GREY, "linewidth": 0.4, "hatch": "////"}
"""Of bars: what others published."""


def library(name: str) -> Any:
    """A module of matplotlib, loaded when something is drawn.

    Raises:
        UsageError: the extra ``figures`` is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(
            f"figures are drawn with the package matplotlib, which is not installed: {install_extra('figures')}"
        ) from error


def arms(value: float, ends: tuple[float, float] | None) -> list[list[float]] | None:
    """Whiskers as lengths: an interval may lie a little beside its figure, and no length is below zero."""
    return None if ends is None else [[max(0.0, value - ends[0])], [max(0.0, ends[1] - value)]]


def short(name: str, most: int = 26) -> str:
    """What is drawn of a name: one may be long, and hold what cannot be drawn or would mean mathematics."""
    plain = "".join(c for c in name if c.isprintable()).replace("$", r"\$")
    return plain if len(plain) <= most else plain[: most - 1] + "…"


_PARAMETERS = re.compile(r":(?=\w+=)[^+]*")


def shorts(names: Sequence[str], most: int = 26) -> list[str]:
    """What is drawn of names beside each other: without parameters, where one is too long and none is needed.

    >>> shorts(["none", "rag:documents=help,template=paper", "rag:documents=help,template=paper+graph"], 18)
    ['none', 'rag', 'rag+graph']
    """
    plain = [_PARAMETERS.sub("", name) for name in names]
    told_apart = len(set(plain)) == len(set(names))
    return [short(name, most) for name in (plain if told_apart and max(map(len, names), default=0) > most else names)]
