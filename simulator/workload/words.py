"""Titles, questions and screen texts of made-up people, out of ``words.yaml``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from simulator.core.rng import draw_u64
from simulator.core.taxonomy import category

__all__ = [
    "N_NUMBERS",
    "Assistant",
    "assistant",
    "occupation",
    "questions",
    "screen_lines",
    "shuffled",
    "titles",
    "topics",
]

N_NUMBERS = 12
"""How many numbers may stand in a title: a window has a few names, and they come back."""


@dataclass(frozen=True, slots=True)
class Assistant:
    """The window in which a user asks."""

    app: str
    title: str


@cache
def _words() -> dict[str, Any]:
    with Path(__file__).with_name("words.yaml").open(encoding="utf-8") as file:
        read: dict[str, Any] = yaml.safe_load(file)
    return read


def shuffled(items: Sequence[str], seed: int, *names: str | int) -> list[str]:
    """The items in an order fixed by seed and names."""
    return sorted(items, key=lambda item: draw_u64(seed, *names, item))


def topics(n: int, chinese: float, seed: int, *names: str | int) -> list[str]:
    """Different things to work on, a share of them Chinese; where the words run out, joined ones."""
    found: list[str] = []
    n_chinese = round(n * chinese)
    for key, wanted in (("topics_zh", n_chinese), ("topics", n - n_chinese)):
        pool = shuffled(_words()[key], seed, *names, key)
        for i in range(wanted):
            turn, place = divmod(i, len(pool))
            join = "" if key == "topics_zh" else " "
            joined = pool[place] if not turn else f"{pool[place]}{join}{pool[(place + turn) % len(pool)]}"
            found.append(joined if turn < len(pool) else f"{joined} {turn}")
    return shuffled(found, seed, *names, "order")


def titles(app: str, topic: str) -> list[str]:
    """What a window of an application may be called while one works on a topic; two or more different ones."""
    words = _words()
    kind = category(app, None)
    suffix = words["suffixes"].get(app, f" - {app}")
    patterns = words["kinds"].get(kind, words["kinds"]["other"])
    made: list[str] = []
    for pattern in patterns:
        made += [_fill(pattern, topic, n) + suffix for n in range(1, N_NUMBERS + 1)] if "{n}" in pattern else [
            _fill(pattern, topic, 0) + suffix
        ]  # fmt: skip
    return made


def questions(intention: str, topic: str) -> list[str]:
    """What may be asked."""
    return [_fill(pattern, topic, 0) for pattern in _words()["questions"][intention]]


def screen_lines(app: str, title: str, topic: str, n: int) -> list[str]:
    """The text on a screen: the window's bar, its title, some lines."""
    patterns = _words()["screen"]
    return [app, title, *(_fill(patterns[(n + i) % len(patterns)], topic, 1 + (n + 7 * i) % 40) for i in range(4))]


def assistant(seed: int, *names: str | int) -> Assistant:
    """The assistant of a user."""
    given = _words()["assistant"]
    return Assistant(given["app"], given["titles"][draw_u64(seed, *names, "assistant") % len(given["titles"])])


def occupation(seed: int, *names: str | int) -> str:
    """What a user does, for the profile."""
    known = _words()["occupations"]
    return str(known[draw_u64(seed, *names, "occupation") % len(known)])


def _fill(pattern: str, topic: str, n: int) -> str:
    slug = re.sub(r"\W+", "_", topic)
    return pattern.format(topic=topic, Topic=topic[:1].upper() + topic[1:], slug=slug, n=n)
