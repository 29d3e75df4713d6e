"""From words on a picture to the boxes of what is private: the words are read in the orders in which people read them.

OCR cuts a screen into blocks of its own. A number that wraps lies in one paragraph and two rows, a label and its field
in one row and two blocks, a label above its field in two rows; so the rules look at all of these texts, and what they
find is the union.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from simulator.privacy.rules import Finding, Rules
from simulator.screen.ocr import Word

__all__ = ["Box", "boxes"]

_WRAP = 8  # words on each side of a line's end: a card number has four, an IBAN up to nine
_PAD = 3  # pixels above and below the words: the edges of letters are grey
_LEAST_ASIDE, _MOST_ASIDE = 4, 8  # and at their sides, half a letter: OCR cuts into first and last ones


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of a picture, in pixels, and what lies in it."""

    x: int
    y: int
    width: int
    height: int
    kind: str
    sure: bool = True

    def covers(self, other: Box) -> bool:
        """Whether the other one lies inside."""
        return (
            self.x <= other.x
            and self.y <= other.y
            and other.x + other.width <= self.x + self.width
            and other.y + other.height <= self.y + self.height
        )


@dataclass(frozen=True, slots=True)
class _Text:
    """A text made of words: for each letter the number of its word, -1 for blanks between."""

    text: str
    owner: Sequence[int]
    joined: bool = False


def boxes(words: Sequence[Word], rules: Rules) -> list[Box]:
    """The boxes of everything private among the words of one reading; one a line, gaps between words included."""
    found: dict[Box, None] = {}
    rows = _rows(words)
    texts = (*_paragraphs(words), *_row_texts(words, rows), *_wrapped(words, rows), *_cells_below(words, rows, rules))
    for text in texts:
        for finding in rules.find(text.text, joined=text.joined):
            for box in _placed(words, text, finding):
                found[box] = None
    return [b for b in found if not any(o.covers(b) and (o.sure or not b.sure) and o != b for o in found)]


def _placed(words: Sequence[Word], text: _Text, finding: Finding) -> Iterator[Box]:
    """A finding's words, line by line, as boxes."""
    touched = dict.fromkeys(i for i in text.owner[finding.start : finding.end] if i >= 0)
    lines: dict[int, list[Word]] = {}
    for i in touched:
        lines.setdefault(words[i].line, []).append(words[i])
    for line in lines.values():
        left, top = min(w.x for w in line), min(w.y for w in line)
        right, bottom = max(w.x + w.width for w in line), max(w.y + w.height for w in line)
        aside = min(_MOST_ASIDE, max(_LEAST_ASIDE, min(w.height for w in line) // 2))
        x, y = max(0, left - aside), max(0, top - _PAD)
        yield Box(x, y, right + aside - x, bottom + _PAD - y, finding.kind, finding.sure)


def _text(words: Sequence[Word], lines: Iterable[Sequence[int]], *, between: str = "\n") -> _Text:
    letters: list[str] = []
    owner: list[int] = []
    for line in lines:
        if letters:
            letters.append(between)
            owner += [-1] * len(between)
        for k, i in enumerate(line):
            if k:
                letters.append(" ")
                owner.append(-1)
            letters.append(words[i].text)
            owner += [i] * len(words[i].text)
    return _Text("".join(letters), owner, joined=between == "")


def _paragraphs(words: Sequence[Word]) -> Iterator[_Text]:
    by_paragraph: dict[int, dict[int, list[int]]] = {}
    for i, word in enumerate(words):
        by_paragraph.setdefault(word.paragraph, {}).setdefault(word.line, []).append(i)
    for lines in by_paragraph.values():
        yield _text(words, lines.values())
        if len(lines) > 1:
            yield _text(words, lines.values(), between="")


def _rows(words: Sequence[Word]) -> list[list[int]]:
    """Words whose middles lie at one height, over all blocks, from left to right; rows from top to bottom."""
    rows: list[list[int]] = []
    reach: list[tuple[float, float]] = []  # top and bottom of the row's first word
    for i in sorted(range(len(words)), key=lambda i: (words[i].y + words[i].height / 2, words[i].x, i)):
        middle = words[i].y + words[i].height / 2
        for row, (top, bottom) in zip(reversed(rows[-3:]), reversed(reach[-3:]), strict=True):
            if top <= middle < bottom:
                row.append(i)
                break
        else:
            rows.append([i])
            reach.append((words[i].y, words[i].y + words[i].height))
    return [sorted(row, key=lambda i: (words[i].x, i)) for row in rows]


def _cells(words: Sequence[Word], row: Sequence[int]) -> list[list[int]]:
    """A row cut where the gap between two words is wider than two letters are high."""
    cells: list[list[int]] = []
    for i in row:
        last = words[cells[-1][-1]] if cells else None
        if last is not None and words[i].x - (last.x + last.width) <= 2 * max(8, last.height):
            cells[-1].append(i)
        else:
            cells.append([i])
    return cells


def _row_texts(words: Sequence[Word], rows: Sequence[Sequence[int]]) -> Iterator[_Text]:
    for row in rows:
        yield _text(words, [row])


def _wrapped(words: Sequence[Word], rows: Sequence[Sequence[int]]) -> Iterator[_Text]:
    """The end of each cell with the beginning of the one below: OCR often makes two paragraphs of two lines."""
    cut = [_cells(words, row) for row in rows]
    for n, row in enumerate(cut):
        for cell in row:
            below = _below(words, cell, cut[n + 1 : n + 3])
            if below is not None and words[below[0]].x <= words[cell[-1]].x:
                ends = (cell[-_WRAP:], below[:_WRAP])
                yield _text(words, ends)
                yield _text(words, ends, between="")


def _cells_below(words: Sequence[Word], rows: Sequence[Sequence[int]], rules: Rules) -> Iterator[_Text]:
    """``label: value`` for every cell that is nothing but a label, with the cell right below it."""
    cut = [_cells(words, row) for row in rows]
    for n, row in enumerate(cut):
        for label in row:
            said = " ".join(words[i].text for i in label)
            if len(said) > 40 or not rules.is_label(said):
                continue
            below = _below(words, label, cut[n + 1 : n + 4])
            if below is not None:
                head = said.rstrip(": *") + ": "
                made = _text(words, [below])
                yield _Text(head + made.text, [-1] * len(head) + list(made.owner))


def _below(words: Sequence[Word], label: Sequence[int], rows: Sequence[Sequence[list[int]]]) -> list[int] | None:
    left, right = words[label[0]].x, words[label[-1]].x + words[label[-1]].width
    bottom, height = max(words[i].y + words[i].height for i in label), max(words[i].height for i in label)
    for row in rows:
        for cell in row:
            first, last = words[cell[0]], words[cell[-1]]
            beside = first.x > right or last.x + last.width < left
            if not beside and 0 <= first.y - bottom + 2 <= 4 * height:
                return list(cell)
    return None
