"""Which window is in front and which are to be seen: the values, the protocol, the choice for this desktop.

The backends (``windows_x11``, ``windows_sway``, ``windows_win``, ``windows_mac``) are imported when chosen, so this
module loads anywhere. What a desktop does not tell is None and never guessed: a recorder that does not know which
windows are visible must be able to say so, since exclusions then cannot be kept.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

__all__ = ["TITLE_LIMIT", "NoWindows", "Window", "Windows", "choose", "one_line", "session_is_wayland"]

TITLE_LIMIT = 10_240
"""Characters of a title that are kept; a longer one is cut and says so (``Window.title_cut``)."""

_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Window:
    """One window as the desktop describes it; None where the desktop does not say.

    Args:
        app: the application's name: class on X11, app id on sway, process file name on Windows, application on macOS.
        title: what the title bar says, on one line, at most ``TITLE_LIMIT`` characters.
        window_class: the platform's class of the window, where there is one.
        pid: the process, only where it runs on this machine.
        x: left edge of the frame, decoration included, in pixels of the virtual desktop; may be negative.
        y: top edge.
        width: of the frame, in pixels.
        height: of the frame, in pixels.
        private: a private or incognito window as far as the platform tells; False is no proof of the contrary.
        key: the platform's handle, for comparing two looks; never stored.
        title_cut: the title was longer than ``TITLE_LIMIT``.
        kind: what sort of window, in the words of EWMH: ``normal``, ``dialog``, ``dock`` (panels and task bars, which
            show the titles of other windows), ``desktop``, ``notification``, ``menu`` …, or ``popup`` for one that no
            window manager looks after. ``tab`` is the mere title bar of a window that lies behind others, ``listed`` a
            window at the place of a panel, or of a bar of the window manager's, that may show its title.
        owner: the ``key`` of the window that this one belongs to, as menus and dialogs do, where the desktop says so;
            it may be that of nothing that is shown.
    """

    app: str | None
    title: str | None
    window_class: str | None = None
    pid: int | None = None
    x: int | None = None
    y: int | None = None
    width: int | None = None
    height: int | None = None
    private: bool = False
    key: int | str | None = None
    title_cut: bool = False
    kind: str | None = None
    owner: int | str | None = None


class Windows(Protocol):
    """The windows of one desktop. Every method blocks, belongs in one worker thread, and never raises."""

    name: str
    """Which backend this is, in a word."""

    def foreground(self) -> Window | None:
        """The window that has the focus, or None: nothing has it, or it cannot be told."""
        ...

    def visible(self) -> list[Window] | None:
        """Windows that are mapped and not minimised, front to back, on all monitors.

        Covered windows are among them, and so are menus and pop-ups, and titles of others where the desktop shows them
        (kinds ``tab`` and ``listed``). None where it cannot be told, which is not the
        same as an empty list; a window that cannot be asked is listed with None in its fields.
        """
        ...

    def locked(self) -> bool | None:
        """Whether the screen is locked, as last sampled; None where it cannot be told."""
        ...

    def close(self) -> None:
        """Let the connection go. Later calls may open it again."""
        ...


class NoWindows:
    """Knows nothing: for desktops that do not tell which windows they show.

    Args:
        why: the end of a sentence for the user, or empty.
    """

    name = "none"

    def __init__(self, why: str = "") -> None:
        self.why = why

    def foreground(self) -> Window | None:
        """Always None."""
        return None

    def visible(self) -> list[Window] | None:
        """Always None."""
        return None

    def locked(self) -> bool | None:
        """Always None."""
        return None

    def close(self) -> None:
        """Nothing to let go."""


def one_line(text: str) -> tuple[str, bool]:
    """A title as it is kept, and whether it had to be cut.

    Control characters and line ends become spaces, halves of surrogate pairs ``U+FFFD``, so that every title can be
    stored as UTF-8 and printed on one line. Nothing else is changed.
    """
    cut = len(text) > TITLE_LIMIT
    return _SURROGATES.sub("\ufffd", _BREAKS.sub(" ", text[:TITLE_LIMIT])), cut


def session_is_wayland(env: Mapping[str, str]) -> bool:
    """Whether this is a Wayland session by its environment: X clients then see only one another, through Xwayland."""
    return bool(env.get("WAYLAND_DISPLAY")) or env.get("XDG_SESSION_TYPE", "").lower() == "wayland"


def choose(env: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Windows:
    """The backend for this desktop; ``NoWindows`` where none fits.

    Args:
        env: the environment of the session.
        platform: as ``sys.platform``.
    """
    if platform == "win32":
        from simulator.recorder.windows_win import WinWindows

        return WinWindows()
    if platform == "darwin":
        from simulator.recorder.windows_mac import MacWindows

        return MacWindows()
    if session_is_wayland(env) or not env.get("DISPLAY"):
        if env.get("SWAYSOCK"):
            from simulator.recorder.windows_sway import SwayWindows

            return SwayWindows(env["SWAYSOCK"])
        if session_is_wayland(env):
            return NoWindows("this Wayland desktop does not tell programs which windows it shows")
        return NoWindows("there is no display: DISPLAY is not set")
    from simulator.recorder.windows_x11 import X11Windows

    return X11Windows(env["DISPLAY"])
