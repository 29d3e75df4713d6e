"""Words of window titles: English, Chinese and mixed, and which of them tell most.

Chinese, Japanese and Korean text has no spaces: its runs are read as overlapping pairs of characters. The embedder
reads by ``fold``, ``runs`` and ``pairs`` too; the choice of keywords (``RULE``) is the graph's own.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Self

from simulator.core.titles import INVISIBLE, clean

__all__ = ["RULE", "STOP_WORDS", "Piece", "Tally", "WordCounts", "fold", "is_wide", "pairs", "pieces", "runs", "tokens"]

RULE = "clean-fold-pairs-tfidf5/2"
"""How the keywords of a title are chosen: ``pieces``, then the five with the highest streaming tf-idf."""
NOISE, STOP, NUMBER, SINGLE, ID, LONG = (
    "a mark, count or browser's name", "a word that says nothing", "a number", "a single letter", "an id", "too long"
)  # fmt: skip
_LIMIT, _LONGEST = 1_000, 40
_ID = re.compile(
    r"(?<![^\W_])(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,})(?![^\W_])"
)
_DIGIT = re.compile("[0-9]")

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
"""Function words of English, words of window frames, and the commonest pairs of Chinese function characters. They
belong to ``hash512-v1`` and stay as they are.
"""
_MORE_STOP = """
after again also because been before being could did does doing done during each had having he her here hers him his
just may might more most must nor only other over own same shall she should so some such than them then there these
they those through too under until very were whom whose would
一些 以下 以上 这些 那些 自己 已经 可能 通过 其他 为了 对于 关于 进行 使用 它们 她们 怎样 哪些 多少 如果 虽然 而且 并且
"""
_STOPS = STOP_WORDS | frozenset(_MORE_STOP.split())
_FUNCTION = re.compile("([的吗呢]|" + "|".join(sorted(word for word in _STOPS if word[0] >= "\u3040")) + ")")
"""What parts a run of Chinese characters: no pair reaches across it."""


def fold(text: str) -> str:
    """Compatibility-normalised and case-folded: ``Ｗord`` and ``WORD`` are ``word``."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def runs(text: str) -> list[str]:
    """Runs of letters and digits of one kind of script, in order; marks and underscores part them."""
    return _RUN.findall(text)


def is_wide(run: str) -> bool:
    """Whether a run is of a script that is written without spaces."""
    return "\u3040" <= run[0] <= "\u30ff" or "\u3400" <= run[0] <= "\u9fff" or "\uac00" <= run[0] <= "\ufaff"


def pairs(run: str) -> list[str]:
    """The overlapping pairs of characters of a run; a single character stands for itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


@dataclass(frozen=True, slots=True)
class Piece:
    """A token of a title; ``why`` says why it is passed over, None where it is taken."""

    token: str
    why: str | None = None


def pieces(title: str) -> list[Piece]:
    """All tokens of a title: noise and ids first, then the others in order; those passed over have a reason.

    What ``simulator.core.titles.clean`` takes away (``●``, zero-width marks, counts such as ``(3)``, a browser's own
    name at the end with channel, private mark and profile) is noise. The rest is folded and parted into words; scripts
    without spaces into overlapping pairs of characters, which do not reach across function words. Passed over are
    function words, numbers, single letters, ids (they would be the rarest words of all and never come again) and what
    is too long for a word.
    """
    shown = title[:_LIMIT]
    cleaned = fold(clean(shown))
    rest = Counter(runs(cleaned))
    found = []
    for run in runs(fold(shown.translate(INVISIBLE))):
        if rest[run]:
            rest[run] -= 1
        else:
            found.append(Piece(run, NOISE))
    found += [Piece(named, ID) for named in _ID.findall(cleaned)]
    for run in runs(_ID.sub(" ", cleaned)):
        if is_wide(run):
            for place, part in enumerate(_FUNCTION.split(run)):
                if place % 2:
                    found.append(Piece(part, STOP))
                elif part:
                    found += [Piece(p, SINGLE if len(p) == 1 else None) for p in pairs(part)]
        else:
            found.append(Piece(run, _why(run)))
    return found


def _why(token: str) -> str | None:
    """Why a token tells nothing; None if it does."""
    if len(token) == 1:
        return SINGLE
    if token.isdecimal():
        return NUMBER
    if token in _STOPS:
        return STOP
    if len(token) > _LONGEST:
        return LONG
    return None


def tokens(title: str) -> list[str]:
    """The tokens of a title that are taken, in order: those of ``pieces`` that have no reason against them."""
    cleaned = fold(clean(title[:_LIMIT]))
    out: list[str] = []
    for run in runs(_ID.sub(" ", cleaned) if _DIGIT.search(cleaned) else cleaned):
        if is_wide(run):
            out += [p for part in _FUNCTION.split(run)[::2] if len(part) > 1 for p in pairs(part)]
        elif _why(run) is None:
            out.append(run)
    return out


@lru_cache(maxsize=1 << 15)
def _counted(title: str) -> tuple[tuple[str, int], ...]:
    """Each token of a title with how often it stands there, in order of first occurrence; titles repeat heavily."""
    return tuple(Counter(tokens(title)).items())


if TYPE_CHECKING:
    _Instants = array[int]
else:  # no subscript before Python 3.12
    _Instants = array


class Tally(_Instants):
    """A count that remembers when it grew (instants in order), so that it can be read as of any instant.

    It is the array itself: there are hundreds of thousands of them, and a wrapper would double their number.
    """

    __slots__ = ()

    def __new__(cls) -> Self:
        """An empty one."""
        return super().__new__(cls, "q")  # type: ignore[return-value]  # typeshed knows plain arrays only

    def add(self, ns: int) -> None:
        """One more, known from ``ns`` on; what comes late takes its place in order of time, so the order of telling
        does not matter.
        """
        if not self or ns >= self[-1]:
            self.append(ns)
        else:
            self.insert(bisect_right(self, ns), ns)

    def upto(self, now_ns: int) -> int:
        """The count as of ``now_ns``."""
        return len(self) if not self or self[-1] <= now_ns else bisect_right(self, now_ns)

    def latest(self, now_ns: int) -> int | None:
        """The instant of the last addition by ``now_ns``, None if there was none."""
        n = self.upto(now_ns)
        return self[n - 1] if n else None


class WordCounts:
    """In how many titles each word occurred so far; picks the words of a title that tell most (streaming tf-idf).

    Attributes:
        titles: how many there were.
        holding: in how many of them each word stood.
    """

    def __init__(self) -> None:
        self.titles = Tally()
        self.holding: dict[str, Tally] = {}

    def __len__(self) -> int:
        return len(self.holding)

    def instants(self) -> int:
        """How many instants it keeps."""
        return len(self.titles) + sum(map(len, self.holding.values()))

    def add(self, title: str, ns: int) -> None:
        """Count a title, known from ``ns`` on; a word twice in it counts once."""
        titles, holding = self.titles, self.holding
        grow = Tally.append if not titles or ns >= titles[-1] else Tally.add  # no word is newer than the newest title
        grow(titles, ns)
        for word, _ in _counted(title):
            tally = holding.get(word)
            if tally is None:
                tally = holding[word] = Tally()
            grow(tally, ns)

    def top(self, title: str, now_ns: int, n: int = 5) -> tuple[str, ...]:
        """The n words of the title with the highest tf-idf as of ``now_ns``; ties go to the earlier word."""
        rank = self.weights(title, now_ns)
        return tuple(sorted(rank, key=rank.__getitem__, reverse=True)[:n])  # stable: among equals the earlier word

    def weights(self, title: str, now_ns: int) -> dict[str, int]:
        """The tf-idf of the title's words as of ``now_ns``, in 1/65536ths, in order of first occurrence."""
        n, holding = self.titles.upto(now_ns), self.holding
        total, upto = n + 1, len if n == len(self.titles) else partial(Tally.upto, now_ns=now_ns)
        found: dict[str, int] = {}
        for word, times in _counted(title):
            tally = holding.get(word)
            found[word] = times * _log2(total, 1 if tally is None else upto(tally) + 1)
        return found


def _log2(whole: int, part: int) -> int:
    """1 + log2(whole / part) in 1/65536ths, straight between powers of two.

    Integers only: a library's logarithm may differ in the last bit from machine to machine, and flip a tie.
    """
    ratio = max((whole << 16) // part, 1 << 16)
    exponent = ratio.bit_length() - 1
    mantissa = ((ratio << 16) >> exponent) - (1 << 16)
    return ((exponent - 15) << 16) + mantissa
