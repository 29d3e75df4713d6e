"""Classes of applications."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.core.errors import InputError
from simulator.core.taxonomy import _APPS, CLASSES, category, load


@pytest.mark.parametrize(
    ("app", "kind"),
    [
        ("msedge.exe", "browser"),
        ("Microsoft\u200b Edge", "browser"),
        ("Firefox 128", "browser"),
        ("Code.exe", "ide"),
        ("Trae.exe", "ide"),
        ("pycharm64.exe", "ide"),
        ("org.gnome.Nautilus", "file_manager"),
        ("文件资源管理器", "file_manager"),
        ("C:\\Program Files\\Office\\EXCEL.EXE", "office"),
        ("微信", "chat"),
        ("Notepad.exe", "notes"),
        ("iTerm2", "terminal"),
        ("gimp-2.10", "design"),
        ("zoom.us", "meeting"),
        ("acme-crm.exe", "other"),
        ("未知应用", None),
        ("", None),
        (None, None),
    ],
)
def test_an_application_has_a_class_whatever_system_named_it(app: str | None, kind: str | None) -> None:
    assert category(app) == kind


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("ChatGPT - Google Chrome", "assistant"),
        ("Inbox (3) - a@b.c - Gmail", "mail"),
        ("Budget - Google Sheets", "office"),
        ("cats - YouTube", "media"),
        ("asyncio streaming guide", "browser"),
        (None, "browser"),
    ],
)
def test_a_browser_is_classed_by_the_web_application_it_shows(title: str | None, kind: str) -> None:
    assert category("chrome.exe", title) == kind


def test_a_title_decides_nothing_outside_browsers() -> None:
    assert category("Notepad.exe", "ChatGPT.txt") == "notes"


def test_no_application_is_listed_twice_and_every_class_is_known() -> None:
    names = [name for names in _APPS.values() for name in names.split(", ")]
    assert len(names) == len(set(names))
    assert set(_APPS) <= set(CLASSES)


def test_people_extend_the_mapping(tmp_path: Path) -> None:
    file = tmp_path / "more.yaml"
    file.write_text("apps: {acme-crm.exe: office}\ntitles: [{match: acme wiki, class: notes}]\n", encoding="utf-8")
    more = load(file)
    assert more.category("Acme-CRM.exe") == "office"
    assert more.category("firefox", "Acme Wiki - Home") == "notes"
    assert more.category("msedge.exe") == "browser"
    assert category("Acme-CRM.exe") == "other", "the built-in mapping stays as it is"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("apps: {x: ofice}", "apps.x: 'ofice': unknown class; did you mean 'office'?"),
        ("aps: {}", "'aps': unknown key; did you mean 'apps'?"),
        ("titles: [{match: '(', class: ide}]", r"titles\[0\].match: '\(': not a regular expression"),
        ("- a", "a mapping with the keys"),
        ("a: [", "cannot be read as YAML: line 1"),
        ("apps: {x: [ide]}", "apps.x: .*unknown class"),
        ("apps: {[x]: ide}", "line 1: found unhashable key"),
        ("apps: {2020-13-45: ide}", "line 1: this is no number and no date"),
        ("apps: " + "[" * 100_000, "nested too deeply"),
        ("titles: [{match: [a], class: ide}]", "match .a text."),
        ("titles: [{match: 'a{9999999999999}', class: ide}]", "not a regular expression .too large"),
        ("titles: [{match: '(a+)+$', class: ide}]", "could take too long over some titles"),
        ("titles: [{match: '(a|aa)+b', class: ide}]", "could take too long over some titles"),
    ],
)
def test_a_faulty_mapping_is_told_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "more.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        load(file)


def test_a_long_title_is_classed_by_its_ends() -> None:
    assert category("chromium", "x" * 5000 + " - Outlook") == "mail"
    assert category("chromium", "Meet - " + "x" * 5000) == "meeting"
