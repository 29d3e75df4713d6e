"""Titles on one line, and which backend is taken for which desktop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.recorder.windows import TITLE_LIMIT, NoWindows, Windows, choose, one_line


@given(st.text(st.characters(exclude_categories=[]), max_size=200))
def test_any_title_can_be_stored_and_printed_on_one_line(text: str) -> None:
    title, cut = one_line(text)
    assert not cut
    assert len(title) == len(text)
    assert len(f"x{title}x".splitlines()) == 1
    assert title.encode().decode() == title
    assert "\0" not in title
    assert "\x1b" not in title


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=200))
def test_a_title_without_control_characters_is_kept_as_it_is(text: str) -> None:
    assert one_line(text) == (text, False)


def test_a_title_of_10_kb_is_kept_and_a_longer_one_says_that_it_was_cut() -> None:
    assert one_line("é" * TITLE_LIMIT) == ("é" * TITLE_LIMIT, False)
    assert one_line("é" * TITLE_LIMIT + "x") == ("é" * TITLE_LIMIT, True)


@pytest.mark.parametrize(
    ("platform", "env", "name"),
    [
        ("linux", {"DISPLAY": ":0"}, "x11"),
        ("linux", {"DISPLAY": ":0", "XDG_SESSION_TYPE": "x11"}, "x11"),
        ("freebsd14", {"DISPLAY": ":0"}, "x11"),
        ("linux", {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, "none"),
        ("linux", {"DISPLAY": ":0", "XDG_SESSION_TYPE": "Wayland"}, "none"),
        ("linux", {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-1", "SWAYSOCK": "/run/sway.sock"}, "sway"),
        ("linux", {"SWAYSOCK": "/run/sway.sock"}, "sway"),
        ("linux", {"DISPLAY": ":0", "SWAYSOCK": "/run/sway.sock"}, "x11"),  # an X server within sway's terminal
        ("linux", {"DISPLAY": ""}, "none"),
        ("linux", {}, "none"),
        ("win32", {}, "windows"),
        ("darwin", {"DISPLAY": "/private/tmp/com.apple.launchd.1/org.xquartz:0"}, "macos"),
    ],
)
def test_the_backend_follows_from_the_session(platform: str, env: dict[str, str], name: str) -> None:
    windows: Windows = choose(env, platform)
    assert windows.name == name
    windows.close()


def test_where_windows_cannot_be_told_nothing_is_made_up() -> None:
    windows = choose({"WAYLAND_DISPLAY": "wayland-0"}, "linux")
    assert isinstance(windows, NoWindows)
    assert "Wayland" in windows.why
    assert windows.foreground() is None
    assert windows.visible() is None
    assert windows.locked() is None
    windows.close()


@pytest.mark.parametrize("platform", ["win32", "darwin", "linux"])
def test_a_backend_on_a_machine_without_its_system_says_none(platform: str) -> None:
    windows = choose({"DISPLAY": ":63998"}, platform)
    assert windows.foreground() is None
    assert windows.visible() is None
    windows.close()
