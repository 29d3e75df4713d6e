"""The windows of macOS, as its window server tells a script.

Titles are there only once the user has granted Screen Recording; without it they are None, not an error.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simulator.core.operators import operators
from simulator.core.types import MS
from simulator.recorder.windows import Window, one_line
from simulator.timing.clock import boot_ns

__all__ = ["SCRIPT", "MacWindows", "front", "on_screen"]

SCRIPT = """
ObjC.import('AppKit'); ObjC.import('CoreGraphics');
const list = ObjC.deepUnwrap(ObjC.castRefToObject($.CGWindowListCopyWindowInfo(1, 0))) || [];
const session = ObjC.deepUnwrap(ObjC.castRefToObject($.CGSessionCopyCurrentDictionary())) || {};
const app = $.NSWorkspace.sharedWorkspace.frontmostApplication;
JSON.stringify({
  front: app.isNil() ? null : app.processIdentifier,
  locked: Boolean(session.CGSSessionScreenIsLocked),
  windows: list.map(w => ({
    number: w.kCGWindowNumber, pid: w.kCGWindowOwnerPID, app: w.kCGWindowOwnerName, title: w.kCGWindowName,
    layer: w.kCGWindowLayer, alpha: w.kCGWindowAlpha, bounds: w.kCGWindowBounds})),
});
"""
"""JavaScript for Automation. Option 1: windows on the screen, front to back, of all applications."""

_COMMAND = ("osascript", "-l", "JavaScript", "-e", SCRIPT)
_TIMEOUT_S = 2.0
_FRESH_NS = 500 * MS
# Layers of the window server (CGWindowLevel.h).
_KINDS = {0: "normal", 3: "utility", 8: "dialog", 20: "dock", 24: "dock", 25: "dock", 101: "menu"}
_BACKMOST = -1000  # desktop picture and icons lie far below


class MacWindows:
    """The windows of this macOS session; one look is one run of ``osascript`` (100 ms and more).

    ``foreground`` always looks; ``visible`` and ``locked`` use the same look when it is younger than half a second.

    Args:
        run: runs the script and gives what it printed; raises OSError or ``subprocess.SubprocessError``.
        now: nanoseconds.
    """

    name = "macos"

    def __init__(self, run: Callable[[], str] | None = None, *, now: Callable[[], int] = boot_ns) -> None:
        self._run = run or _osascript
        self._now = now
        self._seen: tuple[int, Mapping[str, Any] | None] | None = None

    def foreground(self) -> Window | None:
        """The front application's front window; the application alone where it has none."""
        found = self._look(0)
        return None if found is None else front(found)

    def visible(self) -> list[Window] | None:
        """The windows on the screen, front to back, menus, menu bar and dock among them."""
        found = self._look(_FRESH_NS)
        return None if found is None else on_screen(found)

    def locked(self) -> bool | None:
        """Whether the session says that its screen is locked."""
        found = self._look(_FRESH_NS)
        said = None if found is None else found.get("locked")
        return said if isinstance(said, bool) else None

    def close(self) -> None:
        """Nothing is kept."""

    def _look(self, fresh_ns: int) -> Mapping[str, Any] | None:
        now = self._now()
        if self._seen is not None and now - self._seen[0] < fresh_ns:
            return self._seen[1]
        try:
            said = json.loads(self._run())
        except (OSError, ValueError, RecursionError, subprocess.SubprocessError) as error:
            operators().info("macOS does not tell of its windows", error=type(error).__name__)
            said = None
        found = said if isinstance(said, dict) else None
        self._seen = self._now(), found
        return found


def front(found: Mapping[str, Any]) -> Window | None:
    """The foreground window of what the script printed."""
    pid = _int(found.get("front"))
    if pid is None:
        return None
    of_app = [item for item in _items(found) if item.get("pid") == pid]
    for item in of_app:
        if _int(item.get("layer")) == 0 and item.get("alpha") != 0:
            return _window(item)
    app = _text(of_app[0].get("app")) if of_app else None
    return Window(app=app, title=None, pid=pid)


def on_screen(found: Mapping[str, Any]) -> list[Window]:
    """The windows of what the script printed, front to back; wholly transparent ones are not to be seen."""
    return [_window(item) for item in _items(found) if item.get("alpha") != 0]


def _osascript(command: Sequence[str] = _COMMAND) -> str:
    done = subprocess.run(
        command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_TIMEOUT_S, check=True, encoding="utf-8"
    )
    return done.stdout


def _items(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    items = found.get("windows")
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _window(item: Mapping[str, Any]) -> Window:
    text = _text(item.get("title"))
    title, cut = one_line(text) if text is not None else (None, False)
    bounds = item.get("bounds")
    x, y, width, height = (_int(bounds.get(side)) if isinstance(bounds, dict) else None for side in _SIDES)
    layer = _int(item.get("layer"))
    kind = None if layer is None else "desktop" if layer < _BACKMOST else _KINDS.get(layer, "popup")
    return Window(
        app=_text(item.get("app")),
        title=title,
        pid=_int(item.get("pid")),
        x=x,
        y=y,
        width=width,
        height=height,
        key=_int(item.get("number")),
        title_cut=cut,
        kind=kind,
    )


_SIDES = ("X", "Y", "Width", "Height")


def _int(value: object) -> int | None:
    """Whole points: the window server gives fractions at times."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return round(value) if -(2**31) < value < 2**31 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
