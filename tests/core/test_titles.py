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
        # A browser's channel, mark of a private window, profile before or behind its name, in two languages.
        ("Trip to Lisbon — Mozilla Firefox (Private Browsing)", "Trip to Lisbon"),
        ("Trip to Lisbon — Mozilla Firefox Private Browsing", "Trip to Lisbon"),
        ("里斯本 — Mozilla Firefox 隐私浏览", "里斯本"),
        ("里斯本 — Mozilla Firefox（隐私浏览）", "里斯本"),
        ("Docs — Firefox Developer Edition", "Docs"),
        ("Docs — Firefox Nightly", "Docs"),
        ("Docs - Google Chrome (Incognito)", "Docs"),
        ("Docs - Google Chrome (Guest)", "Docs"),
        ("季度报告 - Google Chrome（无痕模式）", "季度报告"),
        ("季度报告 - Google Chrome (隐身模式)", "季度报告"),
        ("Docs - Google Chrome Beta", "Docs"),
        ("Docs - Google Chrome for Testing", "Docs"),
        ("Docs - Google Chrome - Sam (Person 1)", "Docs"),
        ("Docs - Google Chrome - Person 2", "Docs"),
        ("季度报告 - Google Chrome - 用户 1", "季度报告"),
        ("Docs - Chromium (Incognito)", "Docs"),
        ("Docs - [InPrivate] - Microsoft\u200b Edge", "Docs"),
        ("Docs - Guest - Microsoft\u200b Edge Dev", "Docs"),
        ("季度报告 - 用户配置 1 - Microsoft\u200b Edge", "季度报告"),
        ("季度报告 和另外 2 个页面 - 来宾 - Microsoft\u200b Edge Beta", "季度报告"),
        ("Docs - Brave (Private with Tor)", "Docs"),
        ("Docs - Vivaldi Snapshot", "Docs"),
        ("Docs — Yandex Browser", "Docs"),
        ("Docs - Opera GX", "Docs"),
        ("Docs — Tor Browser", "Docs"),
        ("Docs — LibreWolf (Private Browsing)", "Docs"),
        ("文档 - UC浏览器", "文档"),
        # What only looks like it stays: a site's name behind a browser's, a page of which a browser is the matter.
        ("Tabs hang - Google Chrome - Super User — Mozilla Firefox", "Tabs hang - Google Chrome - Super User"),
        ("Google Chrome (Incognito)", "Google Chrome (Incognito)"),
        ("Incognito (2024 film) - Wiki", "Incognito (2024 film) - Wiki"),
        # Characters without a shape.
        ("●\ufe0f Foo.py", "Foo.py"),
        ("\u2068Ada\u2069 | chat", "Ada | chat"),
        ("a\u200b\u0301b", "\u00e1b"),
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
