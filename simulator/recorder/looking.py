"""One look at the desktop: the windows, the pixels, what must be covered, and whether anything has changed.

Everything here blocks and belongs in one thread. The order matters: windows are read before and after the pixels (a
difference means that the picture may show either), what is excluded is filled before pixels are compared or hashed, and
pixels that equal the last ones cost no hash.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, floor
from typing import Protocol

import numpy as np
from PIL import Image

from simulator.core.types import SECOND
from simulator.recorder.exclusions import Exclusions, Mask, Verdict
from simulator.recorder.frames import Frame, Monitor, ScreenLost
from simulator.recorder.ticks import HUNG_NS
from simulator.recorder.watch import Look, Watch
from simulator.recorder.windows import Window, Windows
from simulator.screen.pixels import pixels_hash
from simulator.session.store import image_path

__all__ = ["SLOW_NS", "Eye", "Looker", "Seen", "Sight", "Unseen"]

SLOW_NS = 2 * SECOND
"""A screen that takes longer to answer (and longer than a period) shows nobody knows what instant."""

_BLOCK = 40  # pixels: the side of the squares that change_score counts


class Looker(Protocol):
    """What gives the pixels of all monitors: ``screens.KeptScreen``."""

    changed: bool

    @property
    def fits_windows(self) -> bool:
        """See ``frames.Screen``."""
        ...

    def look(self) -> Sequence[Frame]:
        """One frame a monitor.

        Raises:
            ScreenLost: there are none now.
        """
        ...

    def close(self) -> None:
        """Let go of the screen."""
        ...


@dataclass(frozen=True, slots=True)
class Seen:
    """One monitor's picture.

    Attributes:
        monitor: its number.
        image: RGB, masked; None where all pixels equal those of the look before.
        pixels_hash: of the picture.
        path: where it lies, or is going to.
        width: in pixels.
        height: in pixels.
        scale: pixels of the picture by pixels of the desktop.
        origin: where the monitor begins on the desktop, x and y; None where windows are placed on another one.
        change: share in [0, 1] of squares of 40 pixels that changed since the look before; None where there was none of
            this size.
        blank: all pixels have one colour, and not because they were covered.
        masks: what was covered, in pixels of the picture: x, y, width, height, reason.
    """

    monitor: int
    image: Image.Image | None
    pixels_hash: str
    path: str
    width: int
    height: int
    scale: float
    origin: tuple[int, int] | None
    change: float | None
    blank: bool
    masks: tuple[tuple[int, int, int, int, str], ...]


@dataclass(frozen=True, slots=True)
class Sight:
    """What one look saw.

    Attributes:
        captured_ns: just before the pixels were taken.
        window: the one in front as it may be stored; None where unknown or excluded.
        focus_changed: another window, or another title, was in front after the pixels were taken.
        seen: by monitor.
        monitors_changed: other monitors, or other sizes, than at the look before.
        own_missing: nothing with our own mark was there to be covered.
        page_missing: no page of a live run was.
    """

    captured_ns: int
    window: Window | None
    focus_changed: bool
    seen: tuple[Seen, ...]
    monitors_changed: bool
    own_missing: bool
    page_missing: bool = False


@dataclass(frozen=True, slots=True)
class Unseen:
    """Nothing was recorded, why (a word of ``schema.GAP_REASONS``), and a detail that tells nothing private."""

    reason: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class _Last:
    raw: bytearray
    width: int
    height: int
    digest: str
    blank: bool


class Eye:
    """Looks, and remembers the last pixels of each monitor.

    Args:
        screen: where pixels come from.
        windows: which windows there are.
        rules: what is left out; None: nothing is.
        now: the recording's time.
        slow_ns: how long pixels may take before their instant is unknown.
    """

    def __init__(
        self, screen: Looker, windows: Windows, rules: Exclusions | None, now: Callable[[], int], slow_ns: int = SLOW_NS
    ) -> None:
        self._screen, self._windows, self._now, self._slow_ns = screen, windows, now, slow_ns
        self._watch = None if rules is None else Watch(rules)
        self._last: dict[int, _Last] = {}

    def look(self) -> Sight | Unseen:
        """Look once."""
        if self._windows.locked():
            return Unseen("locked")
        before = self._windows_now()
        captured = self._now()
        try:
            frames = self._screen.look()
        except ScreenLost as lost:
            return Unseen(lost.reason, lost.detail or None)
        took = self._now() - captured
        after = self._windows_now()
        if took >= HUNG_NS:
            return Unseen("display_lost", f"the screen did not answer for {took / SECOND:.0f} s")
        if took > self._slow_ns:
            return Unseen("overload", "the screen took too long to answer")
        if not frames:
            return Unseen("display_lost", "there is no monitor")
        verdict = Verdict(window=before.foreground)
        if self._watch is not None:
            verdict = self._watch.judge(before, after, fits_windows=self._screen.fits_windows, now_ns=captured)
        if verdict.skip is not None:
            return Unseen("excluded", verdict.skip)
        return Sight(
            captured_ns=captured,
            window=verdict.window,
            focus_changed=_differ(before.foreground, after.foreground),
            seen=tuple(self._seen(frame, verdict.masks) for frame in frames),
            monitors_changed=self._screen.changed,
            own_missing=verdict.own_missing and self._watch is not None,
            page_missing=verdict.page_missing and self._watch is not None,
        )

    def warm(self) -> None:
        """Connect to everything, so that the first look is as quick as the others; what is seen is dropped."""
        self._windows.locked()
        self._windows_now()
        with suppress(ScreenLost):
            self._screen.look()

    def forget(self) -> None:
        """The last pictures were not kept: the next ones count as new."""
        self._last.clear()

    def close(self) -> None:
        """Let go of screen and windows."""
        self._screen.close()
        self._windows.close()

    def _windows_now(self) -> Look:
        # Without rules nobody asks which windows are to be seen, and asking takes longer than the pixels.
        foreground = self._windows.foreground()
        return Look(foreground, None if self._watch is None else self._windows.visible())

    def _seen(self, frame: Frame, masks: Sequence[Mask]) -> Seen:
        covered = tuple(part for mask in masks if (part := _within(mask, frame)) is not None)
        for mask in masks:
            frame.fill(mask.x, mask.y, mask.width, mask.height)
        number, last = frame.monitor.number, self._last.get(frame.monitor.number)
        if last is not None and (last.width, last.height) != (frame.width, frame.height):
            last = None
        image: Image.Image | None = None
        change: float | None = 0.0
        if last is None or last.raw != frame.raw:
            image = frame.image()
            change = None if last is None else _changed(last, frame)
            digest = pixels_hash(image)
            if last is not None and digest == last.digest:  # the fourth byte differs, which nobody sees
                image, change = None, 0.0
            last = _Last(frame.raw, frame.width, frame.height, digest, not covered and frame.constant())
            self._last[number] = last
        return Seen(
            number, image, last.digest, image_path(last.digest), frame.width, frame.height,
            frame.width / frame.monitor.width, self._origin(frame.monitor), change, last.blank, covered,
        )  # fmt: skip

    def _origin(self, monitor: Monitor) -> tuple[int, int] | None:
        return (monitor.x, monitor.y) if self._screen.fits_windows else None


def _differ(before: Window | None, after: Window | None) -> bool:
    """Whether the focus moved. A title that changes in the same window counts: the picture may show either."""
    if before is None or after is None:
        return before is not after
    return (before.key, before.app, before.title) != (after.key, after.app, after.title)


def _within(mask: Mask, frame: Frame) -> tuple[int, int, int, int, str] | None:
    """A rectangle of the desktop in pixels of a frame; None where it lies outside."""
    place: Monitor = frame.monitor
    left, right = max(mask.x, place.x), min(mask.x + mask.width, place.x + place.width)
    top, bottom = max(mask.y, place.y), min(mask.y + mask.height, place.y + place.height)
    if left >= right or top >= bottom:
        return None
    across, down = frame.width / place.width, frame.height / place.height
    x, y = floor((left - place.x) * across), floor((top - place.y) * down)
    return x, y, ceil((right - place.x) * across) - x, ceil((bottom - place.y) * down) - y, mask.reason


def _changed(last: _Last, frame: Frame) -> float:
    """The share of squares in which a pixel differs."""
    shape = frame.height, frame.width
    old, new = (np.frombuffer(raw, dtype="<u4").reshape(shape) for raw in (last.raw, frame.raw))
    differs = np.logical_or.reduceat(old != new, np.arange(0, frame.width, _BLOCK), axis=1)
    blocks = np.logical_or.reduceat(differs, np.arange(0, frame.height, _BLOCK), axis=0)
    return float(blocks.mean())
