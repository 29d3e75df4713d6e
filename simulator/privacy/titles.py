"""Title bars: the title of the window in front is known, and where it stands, whether OCR reads it there or not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simulator.privacy.layout import Box
from simulator.privacy.picture import TITLE, Grey, grounds
from simulator.privacy.rules import Rules

__all__ = ["FLAG", "STRIP", "Titled", "bars", "kind_of", "overlaps", "still_marked", "strip"]

STRIP = "title strip"
"""The kind of what is filled for a title bar: as high as the highest ones are, since its lower edge is a guess.

The guess itself (``picture.TITLE``) is what is looked for in the pictures around.
"""

FLAG = "title: "
"""How a flag begins that says that a private title may stand on the picture, nobody knows where; its kind follows."""

_HIGH = 48  # points: header bars have 46, the tabs of Chrome 41, common title bars 20 to 32
_SHARE = 0.045  # of the picture, where that is more: large screens with large letters tell no scale
_LEAST_HIGH = 14  # pixels: what changes above is a border, a gradient, the edge of a tab
_LEAST_SEEN = 8  # pixels of a strip: less is the rim of a window on another screen
_STEP = 24  # levels of grey from row to row: where another part of the window begins


@dataclass(frozen=True, slots=True)
class Titled:
    """A title, and the window that bore it while a picture was taken: its frame in pixels of the desktop, and where on
    the desktop the picture begins; None where that is unknown.
    """

    title: str
    monitor: int
    x: float | None = None
    y: float | None = None
    width: float | None = None
    height: float | None = None
    scale: float | None = None
    left: float | None = None
    top: float | None = None

    @property
    def is_placed(self) -> bool:
        """Whether it is known where on the desktop the picture begins."""
        return self.left is not None and self.top is not None


def kind_of(title: str, rules: Rules) -> str | None:
    """What the rules find in a title, or None."""
    found = rules.find(title)
    return found[0].kind if found else None


def strip(window: Titled, size: tuple[int, int]) -> Box | None:
    """Where a window's title bar lies in a picture of this size; None where its place is unknown, or elsewhere.

    A picture of which nobody knows where it begins counts as beginning where the desktop does.
    """
    x, y, width, height = window.x, window.y, window.width, window.height
    if x is None or y is None or width is None or height is None:
        return None
    x, y = x - (window.left or 0), y - (window.top or 0)
    scale = window.scale or 1.0
    left, top, right = round(x * scale), round(y * scale), round((x + width) * scale)
    high = min(max(round(_HIGH * scale), round(_SHARE * size[1])), round(height * scale))
    bottom = min(size[1], top + high)
    left, top, right = max(0, left), max(0, top), min(size[0], right)
    if right - left < _LEAST_SEEN or bottom - top < _LEAST_SEEN:
        return None
    return Box(left, top, right - left, bottom - top, STRIP)


def overlaps(window: Titled, monitor: tuple[float, float, float, float]) -> bool:
    """Whether the top of a window, in which its title stands, lies on a monitor, by its place on the desktop."""
    x, y, width, height = window.x, window.y, window.width, window.height
    if x is None or y is None or width is None or height is None:
        return True  # nobody knows
    left, top, across, down = monitor
    high = min(max(_HIGH, _SHARE * down), height)
    return x < left + across and left < x + width and y < top + down and top < y + high


def bars(picture: Grey, strips: Iterable[Box]) -> list[Box]:
    """The title bars at the top of the strips, down to where most of a row is of another grey."""
    made = []
    for box in strips:
        cut = picture[box.y : box.y + box.height, box.x : box.x + box.width]
        ground = grounds(cut)
        ends = (y for y in range(_LEAST_HIGH, len(ground)) if abs(int(ground[y]) - int(ground[y - 1])) > _STEP)
        made.append(Box(box.x, box.y, box.width, next(ends, box.height), TITLE))
    return made


def still_marked(flags: Iterable[str], titles: Sequence[str]) -> list[str]:
    """The flags whose private title an earlier scan has cleaned: rules find nothing in it any more."""
    marks = {mark for title in titles for mark in re.findall(r"\[([^][]+)\]", title)}
    return [flag for flag in flags if flag.startswith(FLAG) and flag.removeprefix(FLAG) in marks]
