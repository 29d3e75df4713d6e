"""Window titles without what changes while the work does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.titles import clean


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("● kernel.py - proact - Visual Studio Code", "kernel.py - proact - Visual Studio Code"),
        ("*Untitled - Notepad", "Untitled - Notepad"),
        ("x.txt * - Kate", "x.txt - Kate"),
        ("(3) Inbox - Gmail - Google Chrome", "Inbox - Gmail"),
        ("● (12) a — Mozilla Firefox", "a"),
        ("Docs and 3 more pages - Work - Microsoft\u200b Edge", "Docs"),
        ("微信 (5)", "微信"),
        ("heartbeat - 文件资源管理器", "heartbeat - 文件资源管理器"),
        ("  a \t b  ", "a b"),
        ("Firefox", "Firefox"),
        ("●", "●"),
        ("", ""),
        ("Results (2024) of f(3)", "Results (2024) of f(3)"),
    ],
)
def test_marks_counts_and_browsers_go_and_the_work_stays(title: str, plain: str) -> None:
    assert clean(title) == plain


@given(st.text() | st.text(alphabet="●*()0123456789 -—aFirefox\u200b"))
def test_cleaning_twice_changes_nothing_more(title: str) -> None:
    assert clean(clean(title)) == clean(title)
