"""Annotation by rules: which windows are assistants, how long is long enough, and a list that others can change."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.annotate.rules import ASSISTANTS, RuleBook
from simulator.annotate.sample import Target
from simulator.core.errors import InputError
from simulator.core.types import SECOND

BOOK = RuleBook()


@pytest.mark.parametrize(
    ("app", "title", "platform"),
    [
        ("chromium", "Claude - Chromium", "Claude"),
        ("chromium", "Fix the parser \\ Claude - Chromium", None),
        ("chromium", "Fix the parser - Claude - Chromium", "Claude"),
        ("chromium", "Claude Monet - Wikipedia - Chromium", None),
        ("msedge.exe", "(3) ChatGPT - Personal - Microsoft\u200b Edge", "ChatGPT"),
        ("ChatGPT.exe", None, "ChatGPT"),
        ("豆包", None, "Doubao"),
        ("chrome", "DeepSeek - 探索未至之境 - Google Chrome", "DeepSeek"),
        ("firefox", "Kimi Räikkönen wins — Mozilla Firefox", None),
        ("chrome", "Gemini - your horoscope - Google Chrome", None),
        ("chrome", "Trip - Google Gemini - Google Chrome", "Gemini"),
        ("code", "ChatGPT notes.md - Visual Studio Code", None),
        ("xterm", "ollama", None),
        (None, "ChatGPT", None),
    ],
)
def test_a_window_is_an_assistant_by_application_or_in_browsers_by_title(
    app: str | None, title: str | None, platform: str | None
) -> None:
    assert BOOK.platform(app, title) == platform


def day(*stays: tuple[str | None, str | None, int]) -> list[Target]:
    found, now = [], 0
    for n, (app, title, seconds) in enumerate(stays, 1):
        found.append(Target(n, now, now + seconds * SECOND, app, title))
        now += seconds * SECOND
    return found


def verdicts(*stays: tuple[str | None, str | None, int]) -> list[tuple[str, bool | None, str | None]]:
    return [(said.status, said.assistance, said.platform) for _, said in BOOK.annotate(day(*stays))]


def test_thirty_seconds_are_an_assistance_event_and_less_is_a_glance() -> None:
    assert verdicts(("chatgpt", None, 30)) == [("annotated", True, "ChatGPT")]
    ((_, glance),) = BOOK.annotate(day(("chatgpt", None, 29)))
    assert (glance.assistance, glance.platform, glance.reason) == (False, None, "under 30 s")


def test_windows_of_one_assistant_that_follow_each_other_count_together() -> None:
    chat = ("chrome", "ChatGPT", 12), ("chrome", "Parser errors | ChatGPT", 20)
    assert [a for _, a, _ in verdicts(*chat)] == [True, True]
    assert [a for _, a, _ in verdicts(chat[0], ("code", "x", 5), chat[1])] == [False, False, False]
    assert [a for _, a, _ in verdicts(("chatgpt", None, 20), ("claude", None, 20))] == [False, False]


def test_a_gap_ends_a_stay() -> None:
    first, second = day(("chatgpt", None, 20), ("chatgpt", None, 20))
    second.start_ns += 10 * SECOND
    second.end_ns += 10 * SECOND
    assert [said.assistance for _, said in BOOK.annotate([first, second])] == [False, False]


def test_rules_say_nothing_of_what_they_cannot_see() -> None:
    assert verdicts((None, None, 60)) == [("unannotated", None, None)]
    ((_, said),) = BOOK.annotate(day(("chatgpt", None, 60)))
    assert (said.summary, said.query, said.intention, said.confidence) == (None, None, None, None)
    assert said.source == "rules"
    assert said.annotator == f"rules {BOOK.hash}"


def test_a_list_of_ones_own_is_another_annotator(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("least_s: 5\nplatforms:\n  - {name: Helper, apps: [acme], titles: ['acme help']}\n")
    book = RuleBook(own)
    assert book.annotator != BOOK.annotator
    assert book.platform("Acme.exe", None) == "Helper"
    assert book.platform("firefox", "The ACME help desk") == "Helper"
    assert book.platform("chatgpt", None) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "keys least_s and platforms"),
        ("least_s: soon\nplatforms: []", "a number of seconds"),
        ("least_s: 5\nplatforms: x", "must be a list"),
        ("least_s: 5\nplatforms: [{apps: [x]}]", r"platforms\[0\]"),
        ("least_s: 5\nplatforms: [{name: x, apps: y}]", "a list of texts"),
        ("least_s: 5\nplatforms: [{name: x, titles: ['(']}]", "not a regular expression"),
        ("least_s: 5\nplatforms: [{name: x, titles: ['(a+)+b']}]", "too long"),
        ("least_s: 5\nplatforms: [{name: x, urls: []}]", "mapping with name"),
    ],
)
def test_a_list_that_cannot_be_meant_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(text)
    with pytest.raises(InputError, match=said):
        RuleBook(own)


def test_our_own_list_names_each_platform_once() -> None:
    names = [line.split("name: ")[1].split(",")[0].rstrip("}") for line in ASSISTANTS.read_text().splitlines()
             if "name: " in line]  # fmt: skip
    assert len(names) == len(set(names)) > 20
