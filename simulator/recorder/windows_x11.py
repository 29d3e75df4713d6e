"""The windows of an X11 desktop: one connection that is opened when needed and given up when it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from simulator.core.operators import operators
from simulator.core.types import SECOND
from simulator.recorder import windows_x11_look as x11
from simulator.recorder.lockers import LockHint, is_locker
from simulator.recorder.windows import Window
from simulator.recorder.windows_x11_link import Link
from simulator.recorder.windows_x11_wire import TIMEOUT_S
from simulator.timing.clock import boot_ns

__all__ = ["X11Windows"]

_RETRY_NS = SECOND  # between attempts to reach a server that is not there

_T = TypeVar("_T")


class X11Windows:
    """The windows of one X display, on a connection of its own that is opened when first asked.

    Args:
        display: its name, such as ``:0``.
        now: nanoseconds, for the pauses between attempts to connect.
        hint: what the session manager says of the lock.
        timeout_s: the longest wait for an answer of the server.
    """

    name = "x11"

    def __init__(
        self,
        display: str,
        *,
        now: Callable[[], int] = boot_ns,
        hint: LockHint | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._name, self._now, self._timeout_s = display, now, timeout_s
        self._hint = LockHint(now=now) if hint is None else hint
        self._link: Link | None = None
        self._retry_ns: int | None = None
        self._foreign = False  # an X server within Wayland: what it shows is not what is on the screen
        self._locker: bool | None = None

    def foreground(self) -> Window | None:
        """The active window; without a window manager, the one that keys go to."""
        return self._ask(x11.foreground)

    def visible(self) -> list[Window] | None:
        """Frames that are mapped, front to back, with menus and pop-ups.

        First come titles that show elsewhere, of kind ``listed``: where there is a panel, those of windows that are
        iconified or on another desktop; where the window manager shows a window of its own (tab bar, list of windows),
        those of all that it manages.
        """
        found = self._ask(x11.visible)
        self._locker = None if found is None else found[1] or any(is_locker(window.app) for window in found[0])
        return None if found is None else found[0]

    def locked(self) -> bool | None:
        """Whether a locker that we know was seen at the last ``visible``, or logind says so.

        False without logind means only that no known locker was there.
        """
        if self._locker is None:
            self.visible()
        hint = self._hint.locked()
        return hint if self._locker is None else self._locker or bool(hint)

    def close(self) -> None:
        """Hang up."""
        self._hang_up()
        self._hint.close()

    def _ask(self, look: Callable[[Link], _T]) -> _T | None:
        for _ in range(2):  # a server that was restarted since the last tick costs none
            try:
                link = self._connect()
                if link is None or self._foreign:
                    return None
                return look(link)
            except TimeoutError:  # it hangs: asking again at once would only wait again
                self._hang_up()
                self._retry_ns = self._now() + _RETRY_NS
                return None
            except Exception as error:  # noqa: BLE001 - a server may answer anything, and a recorder goes on
                operators().info("the X server was lost", error=type(error).__name__)
                if self._link is None:  # it could not even be reached
                    self._retry_ns = self._now() + _RETRY_NS
                    return None
                self._hang_up()
        return None

    def _hang_up(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link = None

    def _connect(self) -> Link | None:
        if self._link is None:
            if self._retry_ns is not None and self._now() < self._retry_ns:
                return None
            self._link = Link(self._name, timeout_s=self._timeout_s)
            self._foreign, self._retry_ns = self._link.is_xwayland(), None
        return self._link
