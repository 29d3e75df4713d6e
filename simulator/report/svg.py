"""A small writer of SVG: elements, a pair of axes, ticks. No library, and the same figures make the same bytes.

Colours are classes of ``figures.css``, so that one picture is light, dark or printed; nothing is told by colour alone.
Everything that is text is escaped here, and characters that would not print or turn the line around are replaced.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["LONG", "Axes", "Canvas", "Element", "Scale", "clean", "cut", "escaped", "figure", "short"]

LONG = 300
"""Characters of a text that is shown; what follows is told by its number."""


def clean(value: object, most: int = LONG) -> str:
    r"""A text that nobody vouches for, as it may be shown: one line, printable, not endless.

    >>> clean("a\nb\x1b[31m"), clean("x" * 9, most=4)
    ('a b�[31m', 'xxxx… (5 more)')
    """
    text = str(value)
    shown = "".join(c if c.isprintable() else (" " if c.isspace() else "�") for c in text[:most])
    return shown if len(text) <= most else f"{shown}… ({len(text) - most} more)"


def cut(value: object, most: int) -> str:
    """A name that has to fit; ``tip`` tells the whole of it.

    >>> cut("personas", 8), cut("personas+rag", 8)
    ('personas', 'persona…')
    """
    text = clean(value, 10 * most)
    return text if len(text) <= most else text[: most - 1] + "…"


def escaped(value: object, most: int = LONG) -> str:
    """``clean``, and fit for HTML and SVG, in text and in attributes.

    >>> escaped('<b a="x">')
    '&lt;b a=&quot;x&quot;&gt;'
    """
    return html.escape(clean(value, most), quote=True)


@dataclass(slots=True)
class Element:
    """A piece of a picture: its tag, its attributes as they will stand there, and what it holds."""

    tag: str
    attributes: dict[str, str]
    text: str | None = None
    tip: str | None = None
    inner: list[Element] = field(default_factory=list)

    def __str__(self) -> str:
        """As SVG, escaped."""
        head = "".join(f' {name}="{html.escape(value, quote=True)}"' for name, value in self.attributes.items())
        inner = f"<title>{html.escape(self.tip)}</title>" if self.tip is not None else ""
        inner += html.escape(self.text) if self.text is not None else ""
        inner += "".join(map(str, self.inner))
        return f"<{self.tag}{head}>{inner}</{self.tag}>" if inner else f"<{self.tag}{head}/>"

    def told(self) -> list[Any]:
        """For a page, which makes elements of it and writes no HTML: tag, attributes, text, tip, what it holds."""
        return [self.tag, self.attributes, self.text, self.tip, [e.told() for e in self.inner]]


def _shown(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


class Canvas:
    """Elements, one after the other.

    Args:
        width: in user units, which are pixels at full size; the picture is scaled to the room there is.
        height: likewise.
        label: what the picture shows, for those who do not see it.
    """

    def __init__(self, width: float, height: float, label: str) -> None:
        self.width, self.height, self._label = width, height, clean(label)
        self._all: list[Element] = []

    def add(self, tag: str, text: object = None, tip: object = None, **attributes: Any) -> None:
        """One element. ``text`` is its content, ``tip`` what is told where the pointer rests; ``of`` is its class, and
        an underscore in a name stands for a hyphen.
        """
        given = {("class" if k == "of" else k.replace("_", "-")): v for k, v in attributes.items() if v is not None}
        shown = {name: _shown(value) for name, value in given.items()}
        said, told = (None if value is None else clean(value) for value in (text, tip))
        self._all.append(Element(tag, shown, said, told))

    def text(self, x: float, y: float, text: object, of: str = "t", anchor: str | None = None, **more: Any) -> None:
        """A word; ``anchor`` is ``middle`` or ``end``."""
        self.add("text", text, x=x, y=y, of=of, text_anchor=anchor, **more)

    def line(self, x1: float, y1: float, x2: float, y2: float, of: str) -> None:
        """A straight line."""
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, of=of)

    def path(self, points: Sequence[tuple[float, float]], of: str, *, steps: bool = False, tip: object = None) -> None:
        """A line through points; with ``steps`` level up to the next one."""
        words, last = [], None
        for x, y in points:
            px, py = _shown(float(x)), _shown(float(y))
            if last is None:
                words.append(f"M{px} {py}")
            else:
                words.append(f"H{px}V{py}" if steps else f"L{px} {py}")
            last = y
        self.add("path", d="".join(words), of=of, fill="none", tip=tip)

    def sign(self, kind: str, x: float, y: float, r: float = 5, tip: object = None, of: str | None = None) -> None:
        """A sign with a shape of its own: ``hit`` a dot, ``late`` a hollow diamond, ``miss`` a cross, ``false`` a
        triangle; ``dot square diamond triangle cross plus`` for points of a plot.
        """
        of = of or f"s-{kind}"
        if kind in ("hit", "dot"):
            self.add("circle", cx=x, cy=y, r=r, of=of, tip=tip)
            return
        if kind == "square":
            self.add("rect", x=x - r, y=y - r, width=2 * r, height=2 * r, of=of, tip=tip)
            return
        shapes = {
            "late": [(0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)],
            "diamond": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
            "false": [(0, -1.1), (1.1, 0.9), (-1.1, 0.9)],
            "triangle": [(0, -1.2), (1.2, 1), (-1.2, 1)],
            "inverted": [(0, 1.2), (1.2, -1), (-1.2, -1)],
        }
        if kind in shapes:
            corners = " ".join(f"{_shown(float(x + dx * r))},{_shown(float(y + dy * r))}" for dx, dy in shapes[kind])
            self.add("polygon", points=corners, of=of, tip=tip)
            return
        ends = ((-1, -1, 1, 1), (-1, 1, 1, -1)) if kind in ("miss", "cross") else ((-1, 0, 1, 0), (0, -1, 0, 1))
        places = ([_shown(float(p + e * r)) for p, e in zip((x, y, x, y), arm, strict=True)] for arm in ends)
        self.add("path", d="".join(f"M{a} {b}L{c} {e}" for a, b, c, e in places), of=of, fill="none", tip=tip)

    @property
    def whole(self) -> Element:
        """The picture as one element."""
        wide, high = _shown(float(self.width)), _shown(float(self.height))
        attributes = {"class": "figure", "role": "img", "aria-label": self._label, "viewBox": f"0 0 {wide} {high}",
                      "width": wide}  # fmt: skip
        return Element("svg", attributes, inner=self._all)

    def told(self) -> list[Any]:
        """See ``Element.told``."""
        return self.whole.told()

    def __str__(self) -> str:
        """As SVG, fit to be part of an HTML page."""
        return str(self.whole)


def figure(picture: object, caption: str) -> str:
    """A picture with what it shows below it, as HTML; the caption is plain text."""
    return f"<figure>{picture}<figcaption>{html.escape(caption)}</figcaption></figure>"


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places: linear, or logarithmic (values above 0)."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value; what lies beyond the ends is put at them."""
        low, high, v = (math.log(max(x, 1e-300)) if self.log else x for x in (self.low, self.high, value))
        share = 0.5 if high == low else (v - low) / (high - low)
        return self.start + (self.end - self.start) * min(1.0, max(0.0, share))

    def ticks(self, most: int = 6) -> list[float]:
        """Round values within, ascending: at most about so many."""
        if self.log:
            low, high = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            parts = (1, 2, 5) if high - low <= most // 2 else (1,)
            found = [part * 10.0**n for n in range(low, high + 1) for part in parts]
            step = max(1, math.ceil(sum(self.low <= v <= self.high for v in found) / most / 1.5))
            return [v for v in found if self.low * 0.999 <= v <= self.high * 1.001][::step]
        raw = (self.high - self.low) / max(1, most)
        if raw <= 0:
            return [self.low]
        size = 10.0 ** math.floor(math.log10(raw))
        step_ = next(s * size for s in (1, 2, 5, 10) if s * size >= raw * 0.999)
        first = math.ceil(self.low / step_ - 1e-9)
        last = math.floor(self.high / step_ + 1e-9)
        return [n * step_ for n in range(first, last + 1)]


def short(value: float) -> str:
    """A number of a tick, as short as it goes.

    >>> short(0.25), short(11114.0), short(0.00002), short(0.0), short(-0.0)
    ('0.25', '11114', '2e-05', '0', '0')
    """
    return f"{value:.0f}" if 1000 <= abs(value) < 1e7 else f"{value or 0.0:.4g}"


class Axes(Canvas):
    """A canvas with a frame of x and y, ticks and names."""

    def __init__(self, label: str, x: tuple[float, float], y: tuple[float, float], names: tuple[str, str], *,
                 log_x: bool = False, width: float = 520, height: float = 300, legend: int = 0) -> None:  # fmt: skip
        super().__init__(width, height + 18 * legend + 6, label)
        self._left, self._top, self._right, self._bottom = 58.0, 12.0, width - 14, height - 44.0
        self.x = Scale(*x, self._left, self._right, log_x)
        self.y = Scale(*y, self._bottom, self._top)
        self._below = height
        for v in self.y.ticks(5):
            self.line(self._left, self.y(v), self._right, self.y(v), "grid")
            self.text(self._left - 6, self.y(v) + 4, short(v), "t small", "end")
        for v in self.x.ticks():
            self.line(self.x(v), self._bottom, self.x(v), self._bottom + 4, "axis")
            self.text(self.x(v), self._bottom + 17, short(v), "t small", "middle")
        self.line(self._left, self._bottom, self._right, self._bottom, "axis")
        self.text((self._left + self._right) / 2, self._bottom + 36, names[0], "t", "middle")
        mid = (self._top + self._bottom) / 2
        self.text(14, mid, names[1], "t", "middle", transform=f"rotate(-90 14 {mid:g})")

    def upright(self, value: float, name: str) -> None:
        """A dashed line at x, named at its head."""
        self.line(self.x(value), self._top, self.x(value), self._bottom, "budget")
        self.text(self.x(value) + 4, self._top + 10, name, "t small")

    def explain(self, row: int, of: str, kind: str, name: str) -> None:
        """A line of the legend below: the sign and what it stands for."""
        y = self._below + 18 * row + 10
        if kind == "line":
            self.line(self._left, y - 4, self._left + 26, y - 4, of)
        else:
            self.sign(kind, self._left + 13, y - 4, 4, of=of)
        self.text(self._left + 34, y, cut(name, 66), "t", tip=name)
