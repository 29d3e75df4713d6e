"""What a rule says of one window: by application, class, words or patterns of its title, or a private window.

Rules err on the side of excluding: a window whose application is unknown is in every class, and a title is examined in
more than one spelling.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING

from simulator.core.patterns import folded, pieces
from simulator.core.taxonomy import category, spellings

if TYPE_CHECKING:
    from simulator.recorder.windows import Window

__all__ = ["Rule", "first_of", "plain"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason to leave a window out. Any of its parts is enough.

    Args:
        name: stands in the session for what was left out; never a title.
        apps: names of applications or classes of windows, any spelling, ``*`` for anything.
        classes: the platform's classes of windows, ``*`` for anything.
        kinds: kinds of windows (``Window.kind``), such as ``notification``.
        words: words and phrases of titles, whole ones, case and accents ignored; ``*`` at an end joins: ``*sparkasse``.
        titles: patterns of titles, from ``compile_pattern``.
        private: windows that the platform calls private.
        remember: a window that was excluded once stays so for as long as it exists, whatever its title becomes.
        only_in: classes of applications (``simulator.core.taxonomy``) to which words and titles are restricted;
            applications that are unknown, or of no class, stay within.
    """

    name: str
    apps: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    titles: tuple[re.Pattern[str], ...] = ()
    private: bool = False
    remember: bool = False
    only_in: tuple[str, ...] = ()

    def matches(self, window: Window) -> bool:
        """Whether the rule excludes this window."""
        return window.kind in self.kinds or _matches(
            self, window.app, window.title, window.window_class, window.private
        )


def first_of(rules: Sequence[Rule], window: Window) -> str | None:
    """The name of the first rule that excludes a window, or None."""
    return next((rule.name for rule in rules if rule.matches(window)), None)


@lru_cache(maxsize=4096)  # the same few windows are asked about every second
def _matches(rule: Rule, app: str | None, title: str | None, window_class: str | None, private: bool) -> bool:
    names = (*spellings(app or ""), *spellings(window_class or ""))
    return (
        (rule.private and private)
        or any(_glob(pattern).match(name) for pattern in rule.apps for name in names)
        or any(_glob(pattern).match((window_class or "").casefold()) for pattern in rule.classes)
        or (bool(title) and _within(rule, app) and _titled(rule, title or ""))
    )


def _within(rule: Rule, app: str | None) -> bool:
    return not rule.only_in or category(app) in (*rule.only_in, "other", None)


def _titled(rule: Rule, title: str) -> bool:
    if rule.words and any(map(_speaks_of, rule.words, [plain(title)] * len(rule.words))):
        return True
    said = (title, folded(title), unicodedata.normalize("NFKC", folded(title)))
    return any(p.search(piece) for text in dict.fromkeys(said) for piece in pieces(text) for p in rule.titles)


def _speaks_of(word: str, text: str) -> bool:
    """Whether a text in plain spelling holds a word that is not part of a longer one."""
    sought = plain(word.strip("*"))
    at = text.find(sought)
    while at >= 0:
        end = at + len(sought)
        starts = word.startswith("*") or at == 0 or not _one_word(text[at - 1], sought[0])
        ends = word.endswith("*") or end == len(text) or not _one_word(sought[-1], text[end])
        if starts and ends:
            return True
        at = text.find(sought, at + 1)
    return False


def _one_word(left: str, right: str) -> bool:
    """Whether two neighbours belong to one word; in scripts without spaces (Chinese, Japanese, Thai) none do."""
    return left.isalnum() and right.isalnum() and not (_spaceless(left) or _spaceless(right))


def _spaceless(character: str) -> bool:
    return "\u0e00" <= character <= "\u0eff" or "\u1100" <= character <= "\u11ff" or character >= "\u2e80"


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """A text without case, accents, invisible characters, width of letters."""
    apart = unicodedata.normalize("NFKD", folded(text).casefold())
    return "".join(c for c in apart if not unicodedata.combining(c))


@lru_cache(maxsize=1024)
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.casefold()))
