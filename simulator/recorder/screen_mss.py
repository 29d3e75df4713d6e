"""The screen through ``mss``: X11, Windows, macOS.

What was learnt of it, version 10.2, and holds this module together:

* a dead X server raises a bare ``AssertionError`` from ``grab``, and ``close`` raises too;
* the list of monitors is cached for ever by an instance, and its buffer has the size the desktop had when it was made;
* under Xwayland capture succeeds, and every frame is black;
* while the arrangement changes, an X server may list no monitor but the desktop as a whole.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simulator.core.types import SECOND
from simulator.recorder.frames import Frame, Monitor, ScreenLost

__all__ = ["ScreenMss", "Xwayland", "open_mss"]


class Xwayland(ScreenLost):
    """The X server is a guest on a Wayland desktop: it shows it nothing, and its frames are black."""

    def __init__(self) -> None:
        super().__init__("blank", "the X server is Xwayland: its captures are black")


def open_mss(display: str | None) -> Any:
    """An ``mss.MSS``; imported late, since it loads what the platform has to have."""
    import mss

    return mss.MSS(display=display) if sys.platform.startswith("linux") else mss.MSS()


class ScreenMss:
    """One ``mss.MSS`` kept open (3 ms a grab at 1080p; one made anew for each costs five times that).

    Args:
        display: of X, None for what the environment says; means nothing elsewhere.
        whole: take the desktop as one monitor where the system lists none (X servers without RandR 1.2). Otherwise
            that counts as a lost screen: while monitors come and go it lasts an instant, and would record all of them
            when one was asked for.
        make: how an instance is opened, ``(display) -> mss.MSS``; tests hand in others.

    Raises:
        ScreenLost: the screen cannot be reached (``Xwayland`` when the server is one).
    """

    name = "mss"
    fits_windows = True
    # 0.3 ms on X11, where a list out of date means a screen cut off; elsewhere a new instance is dear, and in older
    # versions leaked a handle.
    reread_ns = SECOND if sys.platform.startswith("linux") else 10 * SECOND

    def __init__(
        self, display: str | None = None, *, whole: bool = False, make: Callable[[str | None], Any] = open_mss
    ) -> None:
        self._display, self._whole, self._make = display, whole, make
        self._open, self._listed = self._fresh()

    @property
    def lists_monitors(self) -> bool:
        """Whether the system tells its monitors apart (see ``whole``)."""
        return len(self._listed) > 1

    def monitors(self) -> Sequence[Monitor]:
        """See ``Screen``: asked of a new instance, which stays only if anything differs."""
        other, listed = self._fresh()
        if listed == self._listed:
            _close(other)
        else:
            _close(self._open)
            self._open, self._listed = other, listed
        if self.lists_monitors:
            return [_monitor(number, found) for number, found in enumerate(listed[1:], 1)]
        if not self._whole:
            raise ScreenLost("display_lost", "the system lists no monitor")
        return [_monitor(1, listed[0])]

    def grab(self, monitor: Monitor) -> Frame:
        """See ``Screen``."""
        x, y = monitor.x, monitor.y
        try:
            shot = self._open.grab((x, y, x + monitor.width, y + monitor.height))
        except Exception as error:
            raise _lost(error) from error
        raw = getattr(shot, "raw", None)  # gone in mss 11, which has a view instead
        return Frame(monitor, raw if isinstance(raw, bytearray) else bytearray(shot.bgra), *shot.size)

    def close(self) -> None:
        """See ``Screen``; never raises."""
        _close(self._open)

    def _fresh(self) -> tuple[Any, list[Mapping[str, Any]]]:
        """A new instance, and what it lists: the whole desktop, then the monitors."""
        try:
            opened = self._make(self._display)
            try:
                listed: list[Mapping[str, Any]] = list(opened.monitors)
            except Exception:
                _close(opened)
                raise
        except Exception as error:
            raise _lost(error) from error
        if any(str(_of(found, "output") or "").startswith("XWAYLAND") for found in listed):
            _close(opened)
            raise Xwayland
        return opened, listed


def _monitor(number: int, found: Mapping[str, Any]) -> Monitor:
    name = _of(found, "output") or _of(found, "unique_id") or _of(found, "name")
    return Monitor(number, found["left"], found["top"], found["width"], found["height"], name)


def _of(found: Mapping[str, Any], key: str) -> Any:
    """A part that not every platform gives."""
    with contextlib.suppress(KeyError):
        return found[key]
    return None


def _close(opened: Any) -> None:
    with contextlib.suppress(Exception):  # of a server that is gone: XError, AssertionError
        opened.close()


def _lost(error: Exception) -> ScreenLost:
    """What an error of ``mss`` means. It is not always a ``ScreenShotError``; see the head of the module."""
    said = str(error)
    # Windows while the screen is locked or asks for elevation; macOS without the right to record the screen.
    refused = "denied" in said.lower() or (sys.platform == "darwin" and "CGWindowListCreateImage" in said)
    return ScreenLost("permission" if refused else "display_lost", f"{type(error).__name__}: {said[:200]}")
