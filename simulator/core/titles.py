r"""Normal forms of window titles: what stays the same while one works in one window.

Titles carry marks that change without the work changing: ``●`` or ``*`` for unsaved text, ``(3)`` for unread mail,
zero-width characters that browsers plant (``Microsoft\u200b Edge``), and the browser's own name at the end with its
channel, the mark of a private window and the profile (``Google Chrome Beta (Incognito)``).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["INVISIBLE", "clean"]

INVISIBLE = dict.fromkeys(
    [0xAD, 0x61C, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFE0E, 0xFE0F, 0xFEFF]
)
"""Characters without a shape of their own: zero-width ones, marks of direction, and which form of a sign is wanted."""
_SPACES = re.compile(r"\s+")
_UNSAVED = re.compile(r"^(?:[●•○◦*＊✱✳]+\s*)+|\s*[●•*＊]+(?=\s+[-–—]\s|$)")
_COUNT = re.compile(r"^[(（\[]\s*\d{1,4}\+?\s*[)）\]]\s*|\s[(（]\d{1,4}\+?[)）](?=\s+[-–—|]\s|$)")
_PAGES = re.compile(r"\s*(?:and \d+ more pages?|和另外 \d+ 个页面)(?=\s+[-–—]|$)", re.IGNORECASE)
_CHANNEL = "beta|dev|canary|nightly|snapshot|developer edition|for testing"
_BROWSERS = (
    f"(?:google chrome|chromium|(?:mozilla )?firefox|microsoft edge|safari|opera|brave|vivaldi)(?: (?:{_CHANNEL}))?|"
    "opera gx|arc|tor browser|librewolf|waterfox|yandex browser|яндекс[ .]браузер|"
    "(?:qq|uc|360安全|360极速|搜狗高速|猎豹安全|百度|2345加速)浏览器"
)
_PRIVATE = (
    r"\s*(?:private browsing|隐私浏览|隐私窗口)|"
    r"\s*[(（](?:incognito|inprivate|guest|private|private browsing|private with tor|"
    r"无痕|无痕模式|无痕浏览|隐身|隐身模式|隐私浏览|隐私模式|隐私窗口|访客|访客模式)[)）]"
)
_PROFILE = r"personal|work|guest|个人|工作|来宾|访客|(?:profile|person|用户|用户配置) ?\d+|\[inprivate\]"
_OF_SOMEBODY = r"[^-–—|()（）]{1,40}[(（][^()（）]{1,40}[)）]"  # "Sam (Person 1)"; a bare name could be a site's
_SUFFIX = re.compile(
    rf"\s+[-–—]\s+(?:(?:{_PROFILE})\s+[-–—]\s+)?(?:{_BROWSERS})(?:{_PRIVATE})?"
    rf"(?:\s+[-–—]\s+(?:{_PROFILE}|{_OF_SOMEBODY}))?$",
    re.IGNORECASE,
)
"""A browser's name at the end, with its channel, its mark of a private window and the profile before or behind it."""


@lru_cache(maxsize=8192)
def clean(title: str) -> str:
    """The title without marks, counts, invisible characters and browser suffix, spaces folded, case kept.

    A title that consists of nothing else is returned merely stripped, so a window called ``Firefox`` keeps a name.
    ``clean(clean(t)) == clean(t)`` for every text.
    """
    shown = title if title.isascii() else unicodedata.normalize("NFC", title.translate(INVISIBLE))
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
