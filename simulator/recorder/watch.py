"""Exclusions over time: two looks at the windows around each picture, and a mask that outlives what it hid.

A picture is not taken in an instant, and it lags: a window that is closed stays on the screen until what lies behind
has drawn itself, and a browser says that it left a page before it shows another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from simulator.recorder.exclusions import Exclusions, Mask, Verdict

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
        seen = self._rules.judge(*before, fits_windows=fits_windows)
        seen = seen.joined(self._rules.judge(*after, fits_windows=fits_windows))
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
