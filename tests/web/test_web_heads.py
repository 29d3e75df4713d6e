"""The heads of all pages agree. They are written out in each file, so that each is a whole page that any tool reads and
that the server sends as it lies there, with its own tag for what a browser keeps.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simulator.web.pages import STATIC

PAGES = sorted(STATIC.glob("*.html"))
HEAD = re.compile(
    r"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    r"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>[^<>]+ · proact</title>\n"
    r"<link rel=\"icon\" href=\"data:image/svg\+xml,[^\"]+\">\n<link rel=\"stylesheet\" href=\"/static/base\.css\">\n"
    r"(?:<link rel=\"stylesheet\" href=\"/[\w/]+\.css\">\n)*"
    r"<script type=\"module\" src=\"/static/(\w+)\.js\"></script>\n"
    r"</head>\n<body>\n<main id=\"main\" tabindex=\"-1\">\n(<noscript>.+</noscript>)\n"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_head_of_all_pages_and_its_own_script(page: Path) -> None:
    found = HEAD.match(page.read_text(encoding="utf-8"))
    assert found is not None
    assert found[1] == page.stem


def test_all_pages_say_the_same_where_scripts_are_off_and_but_the_live_page_have_one_sign() -> None:
    texts = {page.stem: page.read_text(encoding="utf-8") for page in PAGES}
    assert len(texts) > 8
    assert len({re.search(r"<noscript>.+</noscript>", text)[0] for text in texts.values()}) == 1  # type: ignore[index]
    signs = {name: re.search(r"<link rel=\"icon\".+>", text)[0] for name, text in texts.items()}  # type: ignore[index]
    red = signs.pop("live")
    assert len(set(signs.values())) == 1
    assert red not in signs.values()
