"""Words of window titles: English, Chinese and mixed, and which of them tell most.

Chinese, Japanese and Korean text has no spaces: its runs are read as overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections import Counter

__all__ = ["STOP_WORDS", "Tally", "WordCounts", "fold", "is_wide", "pairs", "runs", "tokens"]

_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUN = re.compile(f"[{_WIDE}]+|[^\\W_{_WIDE}]+")

_STOP = """
a about all an and any are as at be but by can com do edit file for from get has have home how http https i if in
into is it its me my new no not of off on one open or org our out page so tab that the their this to unsaved
untitled up via view was we what when where which who why will window with www you your
的是 是不 不是 我们 你们 他们 这个 那个 一个 没有 什么 怎么 可以 如何 为什 以及 或者 还是 就是 但是 因为 所以
无标 标题 新建 打开 文件 窗口
"""
STOP_WORDS = frozenset(_STOP.split())
"""Function words of English, words of window frames, and the commonest pairs of Chinese function characters."""


def fold(text: str) -> str:
    """Compatibility-normalised and case-folded: ``Ｗord`` and ``WORD`` are ``word``."""
    return unicodedata.normalize("NFKC", text).casefold()


def runs(text: str) -> list[str]:
    """Runs of letters and digits of one kind of script, in order; marks and underscores part them."""
    return _RUN.findall(text)


def is_wide(run: str) -> bool:
    """Whether a run is of a script that is written without spaces."""
    return "\u3040" <= run[0] <= "\u30ff" or "\u3400" <= run[0] <= "\u9fff" or "\uac00" <= run[0] <= "\ufaff"


def pairs(run: str) -> list[str]:
    """The overlapping pairs of characters of a run; a single character stands for itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def tokens(title: str) -> list[str]:
    """The informative tokens of a title in order: no stop words, bare numbers or single Latin letters."""
    out: list[str] = []
    for run in runs(fold(title)):
        if is_wide(run):
            out.extend(p for p in pairs(run) if p not in STOP_WORDS)
        elif len(run) > 1 and not run.isdecimal() and run not in STOP_WORDS:
            out.append(run)
    return out


class Tally:
    """A count that remembers when it grew, so that it can be read as of any instant."""

    __slots__ = ("_at",)

    def __init__(self) -> None:
        self._at = array("q")

    def add(self, ns: int) -> None:
        """One more, known from ``ns`` on (or from the latest addition on, if that is later)."""
        at = self._at
        at.append(ns if not at or ns >= at[-1] else at[-1])

    def upto(self, now_ns: int) -> int:
        """The count as of ``now_ns``."""
        at = self._at
        return len(at) if not at or at[-1] <= now_ns else bisect_right(at, now_ns)

    def latest(self, now_ns: int) -> int | None:
        """The instant of the last addition by ``now_ns``, None if there was none."""
        n = self.upto(now_ns)
        return self._at[n - 1] if n else None


class WordCounts:
    """In how many titles each word occurred so far; picks the words of a title that tell most (streaming tf-idf)."""

    def __init__(self) -> None:
        self._titles = Tally()
        self._holding: dict[str, Tally] = {}

    def __len__(self) -> int:
        return len(self._holding)

    def add(self, title: str, ns: int) -> None:
        """Count a title, known from ``ns`` on."""
        self._titles.add(ns)
        for word in dict.fromkeys(tokens(title)):
            self._holding.setdefault(word, Tally()).add(ns)

    def top(self, title: str, now_ns: int, n: int = 5) -> tuple[str, ...]:
        """The n words of the title with the highest tf-idf as of ``now_ns``; ties go to the earlier word."""
        counts = Counter(tokens(title))  # in order of first occurrence
        total = self._titles.upto(now_ns) + 1
        none = Tally()
        rank = {w: tf * _log2(total, self._holding.get(w, none).upto(now_ns) + 1) for w, tf in counts.items()}
        return tuple(sorted(counts, key=lambda w: -rank[w])[:n])


def _log2(whole: int, part: int) -> int:
    """1 + log2(whole / part) in 1/65536ths, straight between powers of two.

    Integers only: a library's logarithm may differ in the last bit from machine to machine, and flip a tie.
    """
    ratio = max((whole << 16) // part, 1 << 16)
    exponent = ratio.bit_length() - 1
    mantissa = ((ratio << 16) >> exponent) - (1 << 16)
    return ((exponent - 15) << 16) + mantissa
