"""What a screen is to the recorder: monitors, their pixels as raw frames, and the protocol of a capture backend.

Coordinates are those of the *virtual desktop*: the plane on which the system lays out all monitors, in its own pixels.
A frame may hold more pixels than its monitor has there (scaled desktops); ``fill`` converts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

__all__ = ["MASK_COLOUR", "Frame", "Monitor", "Screen", "ScreenLost"]

MASK_COLOUR = (128, 128, 128)
"""RGB of what is masked: neither the black of a dead screen nor a colour that a program is likely to have."""

_VISIBLE = np.uint32(0x00FFFFFF)  # the fourth byte of BGRX is whatever the system left there
_LOOK = 997  # pixels between those of the first look: prime, so no column of the screen is walked down


@dataclass(frozen=True, slots=True)
class Monitor:
    """One monitor, by where it lies.

    Attributes:
        number: from 1, in the order of the system.
        x: left edge on the virtual desktop.
        y: top edge.
        width: on the virtual desktop.
        height: on the virtual desktop.
        name: what the system calls it (``DP-1``), None where it has no name.
        scale: pixels of a frame by pixels of the virtual desktop, as far as known before a grab.
    """

    number: int
    x: int
    y: int
    width: int
    height: int
    name: str | None = None
    scale: float = 1.0


class Frame:
    """The pixels of one monitor at one instant, row by row as BGRX: 4 bytes a pixel, of which the fourth means nothing.

    Two frames of equal ``raw`` (and size) are the same picture; unequal ones may be too (see ``image``).

    Args:
        monitor: whose pixels.
        raw: ``width * height * 4`` bytes; kept, not copied, and written to by ``fill``.
        width: pixels a row.
        height: rows.

    Raises:
        ValueError: the bytes are more or fewer than width and height say, or there are none.
    """

    __slots__ = ("height", "monitor", "raw", "width")

    def __init__(self, monitor: Monitor, raw: bytearray, width: int, height: int) -> None:
        if len(raw) != width * height * 4 or not raw:
            raise ValueError(f"a frame of {width} x {height} pixels has {width * height * 4} bytes, not {len(raw)}")
        self.monitor, self.raw, self.width, self.height = monitor, raw, width, height

    def image(self) -> Image.Image:
        """The pixels as RGB, copied (under 1 ms at 1080p)."""
        return Image.frombytes("RGB", (self.width, self.height), self.raw, "raw", "BGRX")

    def fill(self, x: int, y: int, width: int, height: int) -> None:
        """Paint a rectangle of the virtual desktop in ``MASK_COLOUR``; what lies outside of this monitor is left out.

        Rounded outwards where the frame is scaled: no pixel that the rectangle touches keeps its colour.
        """
        left, right = _span(x - self.monitor.x, width, self.monitor.width, self.width)
        top, bottom = _span(y - self.monitor.y, height, self.monitor.height, self.height)
        red, green, blue = MASK_COLOUR
        self._pixels().reshape(self.height, self.width)[top:bottom, left:right] = red << 16 | green << 8 | blue

    def constant(self) -> bool:
        """Whether all pixels have one colour: a blank screen, or one that cannot be captured."""
        pixels = self._pixels()
        return all(bool((((some ^ pixels[0]) & _VISIBLE) == 0).all()) for some in (pixels[::_LOOK], pixels))

    def _pixels(self) -> NDArray[np.uint32]:
        """A flat view into ``raw``, little end first: 0xXXRRGGBB."""
        return np.frombuffer(self.raw, dtype="<u4")


class Screen(Protocol):
    """A way to get at the pixels of a desktop. All methods block, and are called from one thread."""

    @property
    def name(self) -> str:
        """Of the backend, for people."""
        ...

    @property
    def fits_windows(self) -> bool:
        """Whether the rectangles of windows, as ``recorder.windows`` gives them, lie on these pixels."""
        ...

    @property
    def reread_ns(self) -> int:
        """How old the list of monitors may become before it is read again: what reading costs decides."""
        ...

    def monitors(self) -> Sequence[Monitor]:
        """The monitors of this instant, asked of the system afresh.

        Raises:
            ScreenLost: or any other exception, when the screen cannot be reached.
        """
        ...

    def grab(self, monitor: Monitor) -> Frame:
        """The pixels of one monitor, now. The frame's own ``monitor`` counts where it differs from the one asked for.

        Raises:
            ScreenLost: or any other exception, when they cannot be had.
        """
        ...

    def close(self) -> None:
        """Let go of everything; may raise when the screen is gone already."""
        ...


class ScreenLost(Exception):
    """The screen cannot be captured now.

    Args:
        reason: why, a word of ``session.schema.GAP_REASONS``: display_lost, permission or blank.
        detail: for operators; nothing of what is on the screen.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.detail = reason, detail


def _span(start: int, length: int, size: int, pixels: int) -> tuple[int, int]:
    """From and to, in pixels of a frame, of a stretch in units of the desktop; an empty one is (n, n)."""
    first, last = max(0, start), min(size, start + length)
    if first >= last:
        return 0, 0
    return first * pixels // size, -(-last * pixels // size)
