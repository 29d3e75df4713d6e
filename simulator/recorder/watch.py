"""Exclusions over time: two looks at the windows around each picture, and a mask that outlives what it hid.

A picture is not taken in an instant, and it lags: a window that is closed stays on the screen until what lies behind
has drawn itself, and a browser says that it left a page before it shows another one. And some marks are seen only once:
Chrome says that a window is private in the title of its first, empty page and never again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from simulator.recorder.exclusions import Exclusions, Handle, Mask, Verdict, handle

if TYPE_CHECKING:
    from simulator.recorder.windows import Window

__all__ = ["Look", "Watch"]


class Look(NamedTuple):
    """What the desktop said of its windows at one instant; see ``Exclusions.judge``."""

    foreground: Window | None
    visible: Sequence[Window] | None


class Watch:
    """Judges the ticks of one recording, in order. Not for several threads.

    Args:
        rules: what is excluded.
    """

    def __init__(self, rules: Exclusions) -> None:
        self._rules = rules
        self._masks: dict[Mask, int] = {}  # when each was last needed
        self._skips: dict[str, int] = {}
        self._last_ns = 0
        self._remembered: dict[Handle, str] = {}

    def judge(self, before: Look, after: Look, *, fits_windows: bool, now_ns: int) -> Verdict:
        """What may be recorded of a picture taken between two looks.

        What was masked (or cost the tick) is treated so once more at the next tick, and within ``linger_ns`` after it
        was last seen. Only the window of the first look is stored.

        Args:
            before: just before the picture was taken.
            after: just after it.
            fits_windows: whether coordinates of windows are those of the picture.
            now_ns: of any clock that does not run backwards.
        """
        for look in (before, after):
            self._remember(look)
        first, second = (
            self._rules.judge(*look, fits_windows=fits_windows, remembered=self._remembered) for look in (before, after)
        )
        seen = first.joined(second)
        seen = replace(seen, masks=(*seen.masks, *_swept(first.masks, second.masks)))
        if not self._rules.linger_ns:
            return seen
        oldest_ns = min(now_ns - self._rules.linger_ns, self._last_ns)
        self._masks = {mask: at_ns for mask, at_ns in self._masks.items() if at_ns >= oldest_ns}
        self._skips = {why: at_ns for why, at_ns in self._skips.items() if at_ns >= oldest_ns}
        lingering = Verdict(masks=tuple(self._masks), skip=next(iter(self._skips), None), own_missing=True)
        self._masks.update(dict.fromkeys(seen.masks, now_ns))
        if seen.skip is not None:
            self._skips[seen.skip] = now_ns
        self._last_ns = now_ns
        return seen.joined(lingering)

    def _remember(self, look: Look) -> None:
        for window in (look.foreground, *(look.visible or ())):
            if window is not None and window.key is not None and (why := self._rules.lasting(window)) is not None:
                self._remembered[handle(window)] = why


def _swept(before: Sequence[Mask], after: Sequence[Mask]) -> list[Mask]:
    """Where something that moved between the looks may have been meanwhile: the rectangle around both its places.

    What is excluded by one rule is taken as one thing: more may be covered than need be, never less.
    """
    moved = {*before} ^ {*after}
    swept = []
    for reason in dict.fromkeys(mask.reason for mask in (*before, *after)):
        parts = [mask for mask in (*before, *after) if mask.reason == reason and mask in moved]
        if any(mask in before for mask in parts) and any(mask in after for mask in parts):
            x, y = min(m.x for m in parts), min(m.y for m in parts)
            right, bottom = max(m.x + m.width for m in parts), max(m.y + m.height for m in parts)
            swept.append(Mask(x, y, right - x, bottom - y, reason))
    return swept
