"""The windows of a Windows desktop, by user32 through ctypes.

What is asked of the system stands in ``Api``, so that tests answer in its place; ``Win32`` is the real one.
"""

from __future__ import annotations

import ctypes
import ntpath
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from simulator.core.operators import operators
from simulator.recorder.windows import TITLE_LIMIT, Window, one_line

__all__ = ["Api", "Rect", "Win32", "WinWindows"]

Rect = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels of the virtual desktop."""

_T = TypeVar("_T")

_STORE_FRAME, _STORE_CORE = "applicationframehost.exe", "Windows.UI.Core.CoreWindow"
_DESKTOP_CLASSES = ("Progman", "WorkerW")
_BAR_CLASSES = ("Shell_TrayWnd", "Shell_SecondaryTrayWnd")


class Api(Protocol):
    """What is asked of Windows; a handle of a window that is gone gives None, 0 or False, never an exception."""

    def foreground(self) -> int:
        """The window with the focus, 0 for none (lock screen, a question for administrators)."""
        ...

    def windows(self) -> list[int]:
        """Top-level windows, front to back."""
        ...

    def children(self, window: int) -> list[int]:
        """Windows within a window."""
        ...

    def shown(self, window: int) -> bool:
        """Visible, not minimised and not cloaked (of another virtual desktop, or a suspended store app)."""
        ...

    def title(self, window: int) -> str | None:
        """The text of the title bar, at most ``TITLE_LIMIT`` + 1 characters."""
        ...

    def class_name(self, window: int) -> str | None:
        """The name of its class."""
        ...

    def pid(self, window: int) -> int:
        """Its process, or 0."""
        ...

    def owner(self, window: int) -> int:
        """The window that it belongs to (dialogs, palettes), or 0."""
        ...

    def program(self, pid: int) -> str | None:
        """The path of a process's program; None where we may not ask."""
        ...

    def rect(self, window: int) -> Rect | None:
        """Its frame as it is drawn."""
        ...

    def input_desktop(self) -> str | None:
        """The name of the desktop that gets the keys: ``Default``; ``Winlogon`` or None while locked."""
        ...


class WinWindows:
    """The windows of this Windows session.

    Args:
        api: what is asked; the real system when None.
    """

    name = "windows"

    def __init__(self, api: Api | None = None) -> None:
        self._api = api
        self._broken = False

    def foreground(self) -> Window | None:
        """The window with the focus; None at the lock screen and while an administrator is asked for."""
        return self._try(lambda api: _window(api, handle) if (handle := api.foreground()) else None)

    def visible(self) -> list[Window] | None:
        """The top-level windows that are shown, front to back, the task bar and the desktop among them."""
        return self._try(lambda api: [_window(api, handle) for handle in api.windows() if api.shown(handle)])

    def locked(self) -> bool | None:
        """Whether the keys go to another desktop than the user's: lock screen, sign-in, administrator's question."""
        return self._try(lambda api: api.input_desktop() != "Default")

    def close(self) -> None:
        """Nothing is kept."""

    def _try(self, look: Callable[[Api], _T]) -> _T | None:
        try:
            if self._api is None:
                self._api = Win32()
            return look(self._api)
        except Exception as error:  # noqa: BLE001 - a recorder goes on without titles, and excluded windows are then unknown
            if not self._broken:
                operators().warning("Windows does not tell of its windows", error=type(error).__name__)
            self._broken = True
            return None


def _window(api: Api, handle: int) -> Window:
    text = api.title(handle)
    title, cut = one_line(text) if text is not None else (None, False)
    pid = api.pid(handle) or None
    app = _program(api, pid)
    if app is not None and app.casefold() == _STORE_FRAME:  # a store app draws in a window of its own within
        for child in api.children(handle):
            if api.class_name(child) == _STORE_CORE and (inner := api.pid(child)):
                pid, app = inner, _program(api, inner) or app
                break
    class_name, rect = api.class_name(handle), api.rect(handle)
    x, y, right, bottom = rect if rect is not None else (None, None, None, None)
    return Window(
        app=app,
        title=title,
        window_class=class_name,
        pid=pid,
        x=x,
        y=y,
        width=right - x if right is not None and x is not None else None,
        height=bottom - y if bottom is not None and y is not None else None,
        key=handle,
        title_cut=cut,
        kind="desktop" if class_name in _DESKTOP_CLASSES else "dock" if class_name in _BAR_CLASSES else "normal",
        owner=api.owner(handle) or None,
    )


def _program(api: Api, pid: int | None) -> str | None:
    path = api.program(pid) if pid else None
    return ntpath.basename(path) or None if path else None


class Win32:
    """The real system: user32, dwmapi, kernel32. Loads on Windows only."""

    _CLOAKED, _FRAME, _QUERY_LIMITED, _READ_OBJECTS, _NAME, _OWNER = 14, 9, 0x1000, 0x0001, 2, 4

    def __init__(self) -> None:
        load: Any = vars(ctypes)["WinDLL"]
        self._user, self._dwm, self._kernel = load("user32"), load("dwmapi"), load("kernel32")
        wide, handle, number = ctypes.c_wchar_p, ctypes.c_void_p, ctypes.c_int
        pointer = ctypes.c_void_p
        for function, answer, takes in [
            (self._user.GetForegroundWindow, handle, []),
            (self._user.IsWindowVisible, number, [handle]),
            (self._user.IsIconic, number, [handle]),
            (self._user.GetWindow, handle, [handle, ctypes.c_uint32]),
            (self._user.GetWindowTextW, number, [handle, wide, number]),
            (self._user.GetClassNameW, number, [handle, wide, number]),
            (self._user.GetWindowThreadProcessId, ctypes.c_uint32, [handle, pointer]),
            (self._user.GetWindowRect, number, [handle, pointer]),
            (self._user.EnumWindows, number, [pointer, pointer]),
            (self._user.EnumChildWindows, number, [handle, pointer, pointer]),
            (self._user.OpenInputDesktop, handle, [ctypes.c_uint32, number, ctypes.c_uint32]),
            (self._user.CloseDesktop, number, [handle]),
            (self._user.GetUserObjectInformationW, number, [handle, number, pointer, ctypes.c_uint32, pointer]),
            (self._dwm.DwmGetWindowAttribute, ctypes.c_long, [handle, ctypes.c_uint32, pointer, ctypes.c_uint32]),
            (self._kernel.OpenProcess, handle, [ctypes.c_uint32, number, ctypes.c_uint32]),
            (self._kernel.CloseHandle, number, [handle]),
            (self._kernel.QueryFullProcessImageNameW, number, [handle, ctypes.c_uint32, wide, pointer]),
        ]:
            function.restype, function.argtypes = answer, takes
        # The callback of both enumerations; Windows' convention of calling differs from C's on 32 bits.
        self._visit: Any = vars(ctypes)["WINFUNCTYPE"](number, handle, pointer)

    def foreground(self) -> int:
        """See ``Api``."""
        return self._user.GetForegroundWindow() or 0

    def windows(self) -> list[int]:
        """See ``Api``."""
        return self._collect(lambda visit: self._user.EnumWindows(visit, None))

    def children(self, window: int) -> list[int]:
        """See ``Api``."""
        return self._collect(lambda visit: self._user.EnumChildWindows(window, visit, None))

    def shown(self, window: int) -> bool:
        """See ``Api``."""
        if not self._user.IsWindowVisible(window) or self._user.IsIconic(window):
            return False
        cloaked = ctypes.c_int(0)
        failed = self._dwm.DwmGetWindowAttribute(window, self._CLOAKED, ctypes.byref(cloaked), 4)
        return bool(failed) or cloaked.value == 0

    def title(self, window: int) -> str | None:
        """See ``Api``."""
        # GetWindowText asks no other process: a program that hangs does not hang us, as WM_GETTEXT would.
        text = ctypes.create_unicode_buffer(TITLE_LIMIT + 2)
        self._user.GetWindowTextW(window, text, len(text))
        return text.value

    def class_name(self, window: int) -> str | None:
        """See ``Api``."""
        text = ctypes.create_unicode_buffer(257)
        return text.value if self._user.GetClassNameW(window, text, len(text)) else None

    def pid(self, window: int) -> int:
        """See ``Api``."""
        number = ctypes.c_uint32(0)
        self._user.GetWindowThreadProcessId(window, ctypes.byref(number))
        return number.value

    def owner(self, window: int) -> int:
        """See ``Api``."""
        return self._user.GetWindow(window, self._OWNER) or 0

    def program(self, pid: int) -> str | None:
        """See ``Api``."""
        process = self._kernel.OpenProcess(self._QUERY_LIMITED, False, pid)
        if not process:
            return None
        try:
            text = ctypes.create_unicode_buffer(32768)
            size = ctypes.c_uint32(len(text))
            done = self._kernel.QueryFullProcessImageNameW(process, 0, text, ctypes.byref(size))
            return text.value if done else None
        finally:
            self._kernel.CloseHandle(process)

    def rect(self, window: int) -> Rect | None:
        """See ``Api``."""
        sides = (ctypes.c_int32 * 4)()
        # The frame without the invisible borders that GetWindowRect counts in.
        if self._dwm.DwmGetWindowAttribute(window, self._FRAME, ctypes.byref(sides), ctypes.sizeof(sides)) != 0 and (
            not self._user.GetWindowRect(window, ctypes.byref(sides))
        ):
            return None
        return sides[0], sides[1], sides[2], sides[3]

    def input_desktop(self) -> str | None:
        """See ``Api``."""
        desktop = self._user.OpenInputDesktop(0, False, self._READ_OBJECTS)
        if not desktop:
            return None
        try:
            text = ctypes.create_unicode_buffer(256)
            done = self._user.GetUserObjectInformationW(desktop, self._NAME, text, ctypes.sizeof(text), None)
            return text.value if done else None
        finally:
            self._user.CloseDesktop(desktop)

    def _collect(self, enumerate_: Any) -> list[int]:
        found: list[int] = []

        def visit(window: int | None, _: object) -> int:
            found.append(window or 0)
            return 1

        enumerate_(self._visit(visit))
        return found
