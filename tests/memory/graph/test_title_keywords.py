"""Which words of a title are taken: a table of titles as they are, each with what is expected of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.keywords import RULE, pieces, tokens

TITLES: list[tuple[str, str]] = [
    # What editors, browsers and mail programs add.
    ("main.py - proact - Visual Studio Code", "main py proact visual studio code"),
    ("● main.py - proact - Visual Studio Code", "main py proact visual studio code"),
    ("*notes.txt", "notes txt"),
    ("* report.docx - LibreOffice Writer", "report docx libreoffice writer"),
    ("(3) Inbox — Mozilla Firefox", "inbox"),
    ("(99+) Slack | general", "slack general"),
    ("[12] Team chat", "team chat"),
    ("Inbox (14) - ada@example.org - Google Chrome", "inbox ada example"),
    ("pandas merge on index - Stack Overflow - Google Chrome", "pandas merge index stack overflow"),
    ("Quarterly budget - Work - Microsoft​ Edge", "quarterly budget"),
    ("Quarterly budget and 3 more pages - Personal - Microsoft​ Edge", "quarterly budget"),
    ("Trip to Lisbon — Mozilla Firefox Private Browsing", "trip lisbon"),
    ("Trip to Lisbon — Mozilla Firefox (Private Browsing)", "trip lisbon"),
    ("Trip to Lisbon - Google Chrome (Incognito)", "trip lisbon"),
    ("Trip to Lisbon - Google Chrome - Sam (Person 1)", "trip lisbon"),
    ("Trip to Lisbon - Google Chrome Beta", "trip lisbon"),
    ("Trip to Lisbon - [InPrivate] - Microsoft\u200b Edge", "trip lisbon"),
    ("Trip to Lisbon — Tor Browser", "trip lisbon"),
    ("季度报告 - Google Chrome（无痕模式）", "季度 度报 报告"),
    ("季度报告 — Mozilla Firefox 隐私浏览", "季度 度报 报告"),
    ("●\ufe0f Foo.py", "foo py"),
    ("\u2068Ada\u2069 | chat", "ada chat"),
    ("New Tab - Google Chrome", ""),
    ("Untitled - Notepad", "notepad"),
    ("Firefox", "firefox"),
    ("Microsoft​ Edge", "microsoft edge"),
    ("​Budget﻿ 2026", "budget"),
    ("par­ser", "parser"),
    # Words, numbers, letters.
    ("The asyncio Guide (2) — Local Docs", "asyncio guide local docs"),
    ("How to fix a broken pipe", "fix broken pipe"),
    ("12:45 — 100 %", ""),
    ("Q3 report v2", "q3 report v2"),
    ("a b c", ""),
    ("C:\\Users\\ada\\thesis.tex", "users ada thesis tex"),
    ("snake_case_name", "snake case name"),
    ("kebab-case-name", "kebab case name"),
    ("user@host: ~/src/parser", "user host src parser"),
    ("https://www.example.com/path/to/page?id=7", "example path id"),
    ("ＷＯＲＤ Ｄｏｃｕｍｅｎｔ", "word document"),
    ("STRASSE straße", "strasse strasse"),
    ("Müller & Söhne – Angebot", "müller söhne angebot"),
    ("don't panic", "don panic"),
    ("résumé.pdf", "résumé pdf"),
    ("Отчёт за квартал", "отчёт за квартал"),
    ("νέο έγγραφο", "νέο έγγραφο"),
    ("budget budget draft", "budget budget draft"),
    ("should would could these those", ""),
    # Ids: they would be rarest of all, and never come again.
    ("commit a8f3c2d9e1 fix parser", "commit fix parser"),
    ("550e8400-e29b-41d4-a716-446655440000 trace", "trace"),
    ("deadbeef facade", "deadbeef facade"),
    ("sha256 sums", "sha256 sums"),
    ("report2024 final", "report2024 final"),
    ("x" * 41 + " readable", "readable"),
    # Chinese, alone and mixed.
    ("季度报告", "季度 度报 报告"),
    ("季度报告终稿 - Google Chrome", "季度 度报 报告 告终 终稿"),
    ("我的文档", "文档"),
    ("我们的预算", "预算"),
    ("打开 report终稿_v2.docx", "report 终稿 v2 docx"),
    ("新建文件", ""),
    ("如何安装 Python 3", "安装 python"),
    ("（3）收件箱 - QQ浏览器", "收件 件箱"),
    ("Q3报表.xlsx", "q3 报表 xlsx"),
    ("微信", "微信"),
    ("的", ""),
    ("书", ""),
    ("今天天气怎么样？", "今天 天天 天气"),
    ("项目计划 和另外 2 个页面 - 个人 - Microsoft​ Edge", "项目 目计 计划"),
    ("用户手册 第3章", "用户 户手 手册"),
    ("Photoshop 教程：图层", "photoshop 教程 图层"),
    ("ﾃｽﾄ", "テス スト"),
    ("ドキュメント", "ドキ キュ ュメ メン ント"),
    ("보고서 초안", "보고 고서 초안"),
    # Strangers.
    ("", ""),
    ("   ", ""),
    ("……", ""),
    ("🙂🙂", ""),
    ("\x00\x1b[31mred\x1b[0m alert", "31mred 0m alert"),
    ("\ud800 half a pair", "half pair"),
    ("'; DROP TABLE users; --", "drop table users"),
    ("<script>alert(1)</script>", "script alert script"),
]


@pytest.mark.parametrize(("title", "wanted"), TITLES, ids=range(len(TITLES)))
def test_the_words_of_a_title_are_these(title: str, wanted: str) -> None:
    assert tokens(title) == wanted.split()


def test_the_table_is_long_enough_and_the_rule_has_a_name_and_a_version() -> None:
    assert len(TITLES) >= 60
    assert RULE == "clean-fold-pairs-tfidf5/2"


@pytest.mark.parametrize(
    ("title", "token", "why"),
    [
        ("(3) Inbox", "3", "a mark, count or browser's name"),
        ("Inbox - Google Chrome", "chrome", "a mark, count or browser's name"),
        ("Inbox - Google Chrome (Incognito)", "incognito", "a mark, count or browser's name"),
        ("the parser", "the", "a word that says nothing"),
        ("part 12", "12", "a number"),
        ("x marks", "x", "a single letter"),
        ("commit a8f3c2d9e1", "a8f3c2d9e1", "an id"),
        ("y" * 41, "y" * 41, "too long"),
        ("inbox", "inbox", None),
    ],
)
def test_each_word_that_is_passed_over_has_its_reason(title: str, token: str, why: str | None) -> None:
    assert {piece.token: piece.why for piece in pieces(title)}[token] == why


@given(st.text(max_size=120) | st.sampled_from([title for title, _ in TITLES]))
def test_what_is_explained_is_what_is_taken(title: str) -> None:
    assert [piece.token for piece in pieces(title) if piece.why is None] == tokens(title)


@given(st.text(max_size=200))
def test_a_word_holds_letters_and_digits_only_so_it_breaks_no_line_of_a_prompt(title: str) -> None:
    assert all(c.isalnum() for token in tokens(title) for c in token)
