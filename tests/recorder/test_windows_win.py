"""The windows of Windows, from recorded answers of its functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from simulator.recorder.windows import TITLE_LIMIT, Window
from simulator.recorder.windows_win import Api, Rect, Win32, WinWindows


@dataclass
class Recorded:
    """What one window answered."""

    title: str | None = ""
    class_name: str | None = None
    pid: int = 0
    rect: Rect | None = None
    shown: bool = True
    children: list[int] = field(default_factory=list)
    owner: int = 0


class Answers:
    """Windows' side, played from what was recorded; windows that are gone answer as it does: with nothing."""

    def __init__(
        self,
        windows: dict[int, Recorded],
        *,
        order: list[int] | None = None,
        front: int = 0,
        programs: dict[int, str] | None = None,
        desktop: str | None = "Default",
    ) -> None:
        self.known, self.order = windows, list(windows) if order is None else order
        self.front, self.programs, self.desktop = front, programs or {}, desktop

    def _of(self, window: int) -> Recorded:
        return self.known.get(window, Recorded(None, shown=False))

    def foreground(self) -> int:
        return self.front

    def windows(self) -> list[int]:
        return self.order

    def children(self, window: int) -> list[int]:
        return self._of(window).children

    def shown(self, window: int) -> bool:
        return self._of(window).shown

    def title(self, window: int) -> str | None:
        return self._of(window).title

    def class_name(self, window: int) -> str | None:
        return self._of(window).class_name

    def pid(self, window: int) -> int:
        return self._of(window).pid

    def owner(self, window: int) -> int:
        return self._of(window).owner

    def program(self, pid: int) -> str | None:
        return self.programs.get(pid)

    def rect(self, window: int) -> Rect | None:
        return self._of(window).rect

    def input_desktop(self) -> str | None:
        return self.desktop


EDITOR = Recorded("● notes.md - Visual Studio Code", "Chrome_WidgetWin_1", 4120, (-8, -8, 1928, 1048))
TASK_BAR = Recorded("", "Shell_TrayWnd", 5000, (0, 1040, 1920, 1080))
DESKTOP = Recorded("Program Manager", "Progman", 5000, (0, 0, 1920, 1080))
HIDDEN = Recorded("Settings", "ApplicationFrameWindow", 6000, (0, 0, 800, 600), shown=False)
PROGRAMS = {4120: r"C:\Users\sam\AppData\Local\Programs\Microsoft VS Code\Code.exe", 5000: r"C:\Windows\explorer.exe"}


def test_the_foreground_is_told_with_program_and_frame() -> None:
    windows = WinWindows(Answers({65912: EDITOR}, front=65912, programs=PROGRAMS))
    assert windows.foreground() == Window(
        app="Code.exe",
        title="● notes.md - Visual Studio Code",
        window_class="Chrome_WidgetWin_1",
        pid=4120,
        x=-8,
        y=-8,
        width=1936,
        height=1056,
        key=65912,
        kind="normal",
    )


def test_shown_windows_are_listed_front_to_back_with_task_bar_and_desktop() -> None:
    api = Answers({1: TASK_BAR, 2: EDITOR, 3: HIDDEN, 4: DESKTOP}, programs=PROGRAMS)
    shown = WinWindows(api).visible()
    assert shown is not None
    assert [(window.key, window.kind) for window in shown] == [(1, "dock"), (2, "normal"), (4, "desktop")]
    assert [window.app for window in shown] == ["explorer.exe", "Code.exe", "explorer.exe"]


def test_a_dialog_says_to_which_window_it_belongs() -> None:
    dialog = Recorded("Save As", "#32770", 4120, (100, 100, 500, 400), owner=65912)
    shown = WinWindows(Answers({7: dialog, 65912: EDITOR})).visible()
    assert shown is not None
    assert [window.owner for window in shown] == [65912, None]


def test_a_store_app_is_named_by_the_window_within_its_frame() -> None:
    frame = Recorded("Photos", "ApplicationFrameWindow", 6000, (0, 0, 800, 600), children=[11, 12])
    api = Answers(
        {
            10: frame,
            11: Recorded("", "ApplicationFrameTitleBarWindow", 6000),
            12: Recorded("", "Windows.UI.Core.CoreWindow", 7777),
        },
        order=[10],
        front=10,
        programs={6000: r"C:\Windows\System32\ApplicationFrameHost.exe", 7777: r"C:\Apps\Photos.exe"},
    )
    seen = WinWindows(api).foreground()
    assert seen is not None
    assert (seen.app, seen.pid, seen.title) == ("Photos.exe", 7777, "Photos")
    api.known[10].children = []  # suspended: nothing within
    seen = WinWindows(api).foreground()
    assert seen is not None
    assert (seen.app, seen.pid) == ("ApplicationFrameHost.exe", 6000)


def test_an_elevated_program_is_a_window_without_a_name() -> None:
    seen = WinWindows(Answers({7: Recorded("Registry Editor", "RegEdit", 900)}, front=7)).foreground()
    assert seen == Window(app=None, title="Registry Editor", window_class="RegEdit", pid=900, key=7, kind="normal")


@pytest.mark.parametrize(
    ("desktop", "locked"), [("Default", False), ("Winlogon", True), ("Screen-saver", True), (None, True)]
)
def test_the_screen_is_locked_while_the_keys_go_to_another_desktop(desktop: str | None, locked: bool) -> None:
    windows = WinWindows(Answers({}, desktop=desktop))
    assert windows.locked() is locked
    assert windows.foreground() is None
    assert windows.visible() == []


def test_a_window_that_vanishes_between_two_questions_has_nothing_to_say() -> None:
    seen = WinWindows(Answers({}, front=99)).foreground()
    assert seen == Window(app=None, title=None, key=99, kind="normal")


def test_titles_are_one_line_bounded_and_free_of_half_signs() -> None:
    api = Answers({1: Recorded("a\r\nb\ud83d"), 2: Recorded("x" * (TITLE_LIMIT + 1))})
    shown = WinWindows(api).visible()
    assert shown is not None
    assert [(window.title, window.title_cut) for window in shown] == [("a  b\ufffd", False), ("x" * TITLE_LIMIT, True)]


def test_a_system_that_fails_is_none_and_never_an_error() -> None:
    class Broken(Answers):
        def rect(self, window: int) -> Rect | None:
            raise OSError("access denied")

        def input_desktop(self) -> str | None:
            raise OSError("access denied")

    windows = WinWindows(Broken({1: EDITOR}, front=1))
    assert windows.foreground() is None
    assert windows.visible() is None
    assert windows.locked() is None
    windows.close()


# -- the calls themselves: a stand-in for the libraries, since this is not Windows


class Function:
    """A function of a library: remembers its declaration, answers by a Python function."""

    def __init__(self, does: Any) -> None:
        self.does = does
        self.restype: Any = None
        self.argtypes: Any = None

    def __call__(self, *given: Any) -> Any:
        assert self.argtypes is not None, "called before its arguments were declared"
        assert len(given) == len(self.argtypes)
        return self.does(*given)


class Library:
    def __init__(self, **functions: Any) -> None:
        self._functions = {name: Function(does) for name, does in functions.items()}

    def __getattr__(self, name: str) -> Function:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._functions.setdefault(name, Function(lambda *_: 0))


def stand_in(monkeypatch: pytest.MonkeyPatch, **libraries: Library) -> Win32:
    import ctypes

    monkeypatch.setitem(vars(ctypes), "WinDLL", lambda name: libraries.get(name) or Library())
    monkeypatch.setitem(vars(ctypes), "WINFUNCTYPE", ctypes.CFUNCTYPE)
    return Win32()


def test_the_real_system_is_asked_with_declared_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    import ctypes

    def fill(text: Any, value: str) -> int:
        text.value = value
        return len(value)

    def attribute(_window: int, which: int, into: Any, size: int) -> int:
        target = into._obj
        if which == 14 and size == 4:
            target.value = 0
            return 0
        if which == 9 and size == 16:
            target[:] = (10, 20, 310, 220)
            return 0
        return -1

    def number(_window: int, into: Any) -> int:
        into._obj.value = 4120
        return 1

    def image(_process: int, _flags: int, text: Any, size: Any) -> int:
        size._obj.value = fill(text, r"C:\Tools\app.exe")
        return 1

    def desktop(_desktop: int, which: int, text: Any, size: int, _needed: None) -> int:
        assert (which, size) == (2, ctypes.sizeof(text))  # bytes, not letters
        return fill(text, "Default")

    api: Api = stand_in(
        monkeypatch,
        user32=Library(
            GetForegroundWindow=lambda: 5,
            EnumWindows=lambda visit, _: [visit(5, None), visit(6, None)] and 1,
            EnumChildWindows=lambda window, visit, _: visit(window + 100, None),
            IsWindowVisible=lambda window: int(window == 5),
            GetWindowTextW=lambda _window, text, _size: fill(text, "a title"),
            GetClassNameW=lambda _window, text, _size: fill(text, "AClass"),
            GetWindowThreadProcessId=number,
            GetWindow=lambda window, which: window + 200 if which == 4 else 0,
            OpenInputDesktop=lambda *_: 77,
            GetUserObjectInformationW=desktop,
        ),
        dwmapi=Library(DwmGetWindowAttribute=attribute),
        kernel32=Library(OpenProcess=lambda *_: 88, QueryFullProcessImageNameW=image),
    )
    windows = WinWindows(api)
    seen = Window("app.exe", "a title", "AClass", 4120, 10, 20, 300, 200, key=5, kind="normal", owner=205)
    assert windows.foreground() == seen
    assert windows.visible() == [seen]
    assert windows.locked() is False
    assert api.children(5) == [105]


def test_a_system_that_refuses_everything_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse = Library(DwmGetWindowAttribute=lambda *_: -1)
    api = stand_in(monkeypatch, dwmapi=refuse)
    windows = WinWindows(api)
    assert windows.foreground() is None
    assert windows.visible() == []
    assert windows.locked() is True  # the keys go to a desktop that we may not open
    assert [api.rect(1), api.program(1), api.class_name(1), api.pid(1), api.shown(1)] == [None, None, None, 0, False]


@pytest.mark.parametrize(
    ("visible", "iconic", "cloaked", "shown"),
    [(1, 0, 0, True), (0, 0, 0, False), (1, 1, 0, False), (1, 0, 2, False), (1, 0, None, True)],
)
def test_hidden_minimised_and_cloaked_windows_are_not_shown(
    monkeypatch: pytest.MonkeyPatch, visible: int, iconic: int, cloaked: int | None, shown: bool
) -> None:
    def attribute(_window: int, _which: int, into: Any, _size: int) -> int:
        if cloaked is None:  # Windows 7 knows no cloaking
            return -1
        into._obj.value = cloaked
        return 0

    api = stand_in(
        monkeypatch,
        user32=Library(IsWindowVisible=lambda _: visible, IsIconic=lambda _: iconic),
        dwmapi=Library(DwmGetWindowAttribute=attribute),
    )
    assert api.shown(1) is shown
