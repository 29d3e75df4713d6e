"""Texts of a session that people or models wrote, and how they are changed so that JSON stays JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

__all__ = ["TEXTS", "rewritten", "said_in"]

TEXTS = (
    ("screenshots", "window_title"), ("screenshots", "scene_description"), ("events", "window_title"),
    ("events", "event_summary"), ("events", "detailed_description"), ("events", "conversation"),
    ("opportunities", "query"), ("labels", "query"), ("labels", "note"), ("profile", "value"),
    ("annotations", "summary"), ("annotations", "conversation"), ("annotations", "query"), ("annotations", "rationale"),
)  # fmt: skip
"""Columns with what people wrote, besides the OCR text: rules are applied to them too."""


def rewritten(text: str, change: Callable[[str], str]) -> str:
    """A text put through a function; of one that is JSON, the texts in it, so that it stays JSON."""
    if text[:1] in "[{":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return change(text)
        new = _inner(value, change)
        return text if new == value else json.dumps(new, ensure_ascii=False)
    return change(text)


def said_in(text: str) -> list[str]:
    """The text, or of one that is JSON the texts in it.

    >>> said_in('{"user_queries": ["why", "how"]}'), said_in("[draft]")
    (['why', 'how'], ['[draft]'])
    """
    found: list[str] = []

    def take(one: str) -> str:
        found.append(one)
        return one

    rewritten(text, take)
    return found


def _inner(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case list():
            return [_inner(one, change) for one in value]
        case dict():
            return {key: _inner(one, change) for key, one in value.items()}
    return value
