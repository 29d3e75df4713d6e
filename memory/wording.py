"""How remembered things become words of a prompt: one line a thing, with an estimate of its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from simulator.core.types import Event, Label, MemoryItem

__all__ = [
    "MARK",
    "PAST",
    "estimate_tokens",
    "event_words",
    "label_words",
    "one_line",
    "percent",
    "render_lines",
    "within_budget",
]


MARK = 1
"""Tokens that an item costs beside its text: the mark before it and the end of the line."""
PAST = "From the user's past:"
"""The heading of a memory that has none of its own."""
_BEYOND_LATIN = re.compile("[\u2e80-\U0010ffff]")


def estimate_tokens(text: str) -> int:
    """About how many tokens a text costs: a quarter of a token a character, a whole one beyond Latin script.

    An estimate with integers only: budgets must not depend on whose tokenizer is installed.
    """
    wide = 0 if text.isascii() else len(_BEYOND_LATIN.findall(text))
    return wide + (len(text) - wide + 3) // 4


def one_line(text: str | None, limit: int = 120) -> str:
    """A title or question on one line, cut at ``limit`` characters.

    Window titles are written by strangers: a line break in one must not forge a new line of a prompt.
    """
    if not text:
        return ""
    plain = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    flat = " ".join(plain.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def event_words(event: Event) -> str:
    """Where an event took place: app and title as far as they are known."""
    app, title = one_line(event.app), one_line(event.title)
    if app and title:
        return f"{app}, “{title}”"
    return app or (f"“{title}”" if title else "an unnamed window")


def label_words(label: Label | None) -> str:
    """What became known of an event, as half a sentence."""
    if label is None:
        return "not known whether help was needed"
    if not label.help:
        return "no help needed"
    asked = f", the user asked “{one_line(label.query)}”" if label.query else ""
    return f"help needed: {one_line(label.intention) or 'kind unknown'}{asked}"


def percent(part: int | float, whole: int | float = 1) -> str:
    """A share in whole percent."""
    return f"{round(100 * part / whole)} %"


def render_lines(items: Sequence[MemoryItem], heading: str) -> str:
    """A heading and one line an item; the empty string when there are none."""
    return "\n".join([heading, *(f"- {one_line(i.text, 2000)}" for i in items)]) if items else ""


def within_budget(
    items: Iterable[MemoryItem], k: int, token_budget: int | None, heading: str = ""
) -> tuple[list[MemoryItem], int]:
    """The first k items that fit the budget together, and how many were left out because they did not.

    The budget covers what ``render_lines`` makes of them: a heading, and a mark and a line end for each. An item that
    does not fit is passed over; a shorter one after it may still fit.
    """
    kept: list[MemoryItem] = []
    spent, left_out = estimate_tokens(heading), 0
    for item in items:
        if len(kept) >= k:
            break
        if token_budget is not None and spent + item.tokens + MARK > token_budget:
            left_out += 1
            continue
        kept.append(item)
        spent += item.tokens + MARK
    return kept, left_out
