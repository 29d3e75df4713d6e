"""The windows of macOS, from what its script prints."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.types import MS
from simulator.recorder.windows import TITLE_LIMIT, Window
from simulator.recorder.windows_mac import SCRIPT, MacWindows, front, on_screen


def item(number: int, app: str, title: str | None, layer: int = 0, **more: Any) -> dict[str, Any]:
    bounds = {"X": 0, "Y": 25, "Width": 800, "Height": 600}
    found = {"number": number, "pid": 100, "app": app, "layer": layer, "alpha": 1, "bounds": bounds, **more}
    return found if title is None else {**found, "title": title}


# Of the shape that the script prints: a menu bar of the window server's, a notification, two windows, desktop icons.
SCREEN = {
    "front": 501,
    "locked": False,
    "windows": [
        item(3, "Window Server", "Menubar", 24, pid=88, bounds={"X": 0, "Y": 0, "Width": 1440, "Height": 25}),
        item(9, "Notification Center", "", 23, pid=90),
        item(8, "Overlay", "unseen", 3, pid=501, alpha=0),
        item(7, "Safari", "Items – “Shop”", 0, pid=501, bounds={"X": -100.5, "Y": 25, "Width": 800.4, "Height": 600}),
        item(6, "Terminal", "sam — -zsh", 0, pid=502),
        item(2, "Finder", "", -2147483603, pid=300),
    ],
}


def test_the_front_applications_front_window_is_the_foreground() -> None:
    seen = Window("Safari", "Items – “Shop”", None, 501, -100, 25, 800, 600, key=7, kind="normal")
    assert front(SCREEN) == seen
    shown = on_screen(SCREEN)
    assert [window.app for window in shown] == ["Window Server", "Notification Center", "Safari", "Terminal", "Finder"]
    assert [window.kind for window in shown] == ["dock", "popup", "normal", "normal", "desktop"]
    assert shown[2] == seen


def test_without_leave_to_record_the_screen_titles_are_none() -> None:
    seen = front({"front": 501, "windows": [item(7, "Safari", None, pid=501)]})
    assert seen is not None
    assert (seen.app, seen.title) == ("Safari", None)


@pytest.mark.parametrize(
    ("found", "seen"),
    [
        ({"front": None, "windows": []}, None),
        ({"front": 7, "windows": []}, Window(None, None, pid=7)),
        ({"front": 88, "windows": SCREEN["windows"]}, Window("Window Server", None, pid=88)),
        ({}, None),
    ],
)
def test_an_application_without_a_window_is_told_alone(found: dict[str, Any], seen: Window | None) -> None:
    assert front(found) == seen


def test_titles_are_one_line_and_bounded() -> None:
    shown = on_screen({"windows": [item(1, "a", "a\nb"), item(2, "a", "x" * (TITLE_LIMIT + 1))]})
    assert [(window.title, window.title_cut) for window in shown] == [("a b", False), ("x" * TITLE_LIMIT, True)]


def test_a_tick_takes_two_runs_of_the_script() -> None:
    now, runs = [0], [0]

    def run() -> str:
        runs[0] += 1
        return json.dumps({**SCREEN, "locked": runs[0] > 1})

    windows = MacWindows(run, now=lambda: now[0])
    assert windows.foreground() == front(SCREEN)
    assert windows.visible() == on_screen(SCREEN)
    assert windows.locked() is False
    assert runs[0] == 1
    windows.foreground()
    assert runs[0] == 2
    now[0] += 600 * MS
    assert windows.locked() is True
    assert runs[0] == 3


@pytest.mark.parametrize(
    "says", ["", "null", "[]", "{", '{"windows": 3, "front": "x"}', "[" * 100_000, "execution error"]
)
def test_a_script_that_prints_nonsense_is_no_error(says: str) -> None:
    windows = MacWindows(lambda: says)
    assert windows.foreground() is None
    assert windows.visible() in (None, [])
    assert windows.locked() is None


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError("osascript"),
        subprocess.TimeoutExpired("osascript", 2),
        subprocess.CalledProcessError(1, "osascript"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    ],
)
def test_a_script_that_fails_or_hangs_is_no_error(error: Exception) -> None:
    def run() -> str:
        raise error

    windows = MacWindows(run)
    assert windows.foreground() is None
    assert windows.visible() is None
    assert windows.locked() is None
    windows.close()


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.lists(st.integers())
ITEMS = st.dictionaries(st.sampled_from([*item(0, "", "")]), VALUES | st.fixed_dictionaries({"X": VALUES}))


@given(VALUES | st.lists(ITEMS | VALUES, max_size=4), VALUES)
def test_no_answer_is_an_error(windows: object, pid: object) -> None:
    found = {"windows": windows, "front": pid}
    front(found)
    for window in on_screen(found):
        assert window.x is None or type(window.x) is int


def test_the_script_asks_for_what_is_read() -> None:
    for word in ("number:", "pid:", "app:", "title:", "layer:", "alpha:", "bounds:", "front:", "locked:", "windows:"):
        assert word in SCRIPT
