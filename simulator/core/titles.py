r"""Normal forms of window titles: what stays the same while one works in one window.

Titles carry marks that change without the work changing: ``●`` or ``*`` for unsaved text, ``(3)`` for unread mail,
zero-width characters that browsers plant (``Microsoft\u200b Edge``), and the browser's own name at the end.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["INVISIBLE", "clean"]

INVISIBLE = dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF, 0xAD])
_SPACES = re.compile(r"\s+")
_UNSAVED = re.compile(r"^(?:[●•○◦*＊✱✳]+\s*)+|\s*[●•*＊]+(?=\s+[-–—]\s|$)")
_COUNT = re.compile(r"^[(（\[]\s*\d{1,4}\+?\s*[)）\]]\s*|\s[(（]\d{1,4}\+?[)）](?=\s+[-–—|]\s|$)")
_PAGES = re.compile(r"\s*(?:and \d+ more pages?|和另外 \d+ 个页面)(?=\s+[-–—]|$)", re.IGNORECASE)
_BROWSERS = (
    "google chrome|chromium|mozilla firefox(?: private browsing)?|firefox|microsoft edge(?: (?:beta|dev|canary))?|"
    "safari|opera|brave|vivaldi|arc|qq浏览器|360安全浏览器|360极速浏览器|搜狗高速浏览器"
)
_SUFFIX = re.compile(
    rf"\s+[-–—]\s+(?:(?:personal|work|个人|工作|用户配置 \d+|profile \d+)\s+[-–—]\s+)?(?:{_BROWSERS})$", re.IGNORECASE
)


@lru_cache(maxsize=8192)
def clean(title: str) -> str:
    """The title without marks, counts, invisible characters and browser suffix, spaces folded, case kept.

    A title that consists of nothing else is returned merely stripped, so a window called ``Firefox`` keeps a name.
    ``clean(clean(t)) == clean(t)`` for every text.
    """
    shown = title if title.isascii() else unicodedata.normalize("NFC", title).translate(INVISIBLE)
    plain = _SPACES.sub(" ", shown).strip()
    text = plain
    while True:  # marks nest, as in "● (3) Inbox - Google Chrome"; each turn shortens the text, so it ends
        before = text
        for pattern in (_UNSAVED, _COUNT, _PAGES, _SUFFIX):
            text = pattern.sub("", text).strip()
        if text == before:
            return text or plain
        if not text:
            return plain
