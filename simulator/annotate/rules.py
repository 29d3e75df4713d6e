"""Annotation without a model: assistants known by application and title, and for how long they stay in front.

The list is data (``assistants.yaml``), its hash the annotator's name. Rules cannot see what was asked: they give no
summary, no query and no intention, and a page that merely lies open for half a minute fools them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from simulator.annotate.sample import Target
from simulator.annotate.store import Annotation
from simulator.core.errors import InputError
from simulator.core.patterns import PIECE, PatternError, compile_pattern
from simulator.core.taxonomy import category, spellings
from simulator.core.titles import clean
from simulator.core.types import SECOND
from simulator.core.yaml_files import read_yaml

__all__ = ["ASSISTANTS", "RuleBook"]

ASSISTANTS = Path(__file__).parent / "assistants.yaml"


class RuleBook:
    """The assistants that are known.

    Args:
        file: YAML with ``least_s`` and ``platforms``, each with ``name``, ``apps`` and ``titles``.

    Raises:
        InputError: it cannot be read, or something in it is not of the form.
    """

    def __init__(self, file: Path = ASSISTANTS) -> None:
        raw = read_yaml(file)
        if not isinstance(raw, dict) or set(raw) != {"least_s", "platforms"}:
            raise InputError(file, "must be a mapping with the keys least_s and platforms")
        least = raw["least_s"]
        if isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least < 1e6:
            raise InputError(file, "must be a number of seconds", field="least_s", value=least)
        if not isinstance(raw["platforms"], list):
            raise InputError(file, "must be a list", field="platforms")
        self.least_ns = round(least * SECOND)
        self._apps: dict[str, str] = {}
        self._titles: list[tuple[re.Pattern[str], str]] = []
        for i, platform in enumerate(raw["platforms"]):
            self._take(file, f"platforms[{i}]", platform)
        self.hash = sha256(file.read_bytes()).hexdigest()[:12]
        self.annotator = f"rules {self.hash}"

    def _take(self, file: Path, where: str, raw: Any) -> None:
        if (
            not isinstance(raw, dict)
            or not set(raw) <= {"name", "apps", "titles"}
            or not isinstance(raw.get("name"), str)
        ):
            raise InputError(file, "must be a mapping with name, and apps or titles", field=where)
        for app in _texts(file, f"{where}.apps", raw):
            self._apps.setdefault(app.casefold(), raw["name"])
        for pattern in _texts(file, f"{where}.titles", raw):
            try:
                self._titles.append((compile_pattern(pattern), raw["name"]))
            except PatternError as error:
                raise InputError(file, str(error), field=f"{where}.titles", value=pattern) from error

    def platform(self, app: str | None, title: str | None) -> str | None:
        """The assistant that a window is, None for none."""
        if app is None:
            return None
        known = next((self._apps[name] for name in spellings(app) if name in self._apps), None)
        if known is not None or title is None or category(app) != "browser":
            return known
        text = clean(title)
        if len(text) > PIECE:  # what names an application stands at its start or end
            text = f"{text[: PIECE // 2]} {text[-PIECE // 2 + 1 :]}"
        return next((name for pattern, name in self._titles if pattern.search(text)), None)

    def annotate(self, events: Sequence[Target]) -> Iterator[tuple[Target, Annotation]]:
        """Each event with what the rules say of it; events in order of time."""
        named = [self.platform(event.app, event.title) for event in events]
        for start, end in _stretches(events, named):
            stays_ns = sum(event.end_ns - event.start_ns for event in events[start:end])
            for event, platform in zip(events[start:end], named[start:end], strict=True):
                yield event, self._said(event, platform, long_enough=stays_ns >= self.least_ns)

    def _said(self, event: Target, platform: str | None, *, long_enough: bool) -> Annotation:
        if event.app is None:
            return Annotation(self.annotator, "rules", "unannotated", "no window is known", prompt_hash=self.hash)
        assistance = platform is not None and long_enough
        why = f"under {self.least_ns / SECOND:g} s" if platform is not None and not long_enough else None
        return Annotation(
            self.annotator,
            "rules",
            "annotated",
            why,
            assistance,
            platform if assistance else None,
            prompt_hash=self.hash,
        )


def _texts(file: Path, where: str, raw: Mapping[str, Any]) -> list[str]:
    found = raw.get(where.rpartition(".")[2]) or []
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InputError(file, "must be a list of texts", field=where)
    return found


def _stretches(events: Sequence[Target], named: Sequence[str | None]) -> Iterator[tuple[int, int]]:
    """Runs of events that follow each other at once in one assistant; others alone."""
    start = 0
    for i in range(1, len(events) + 1):
        goes_on = (
            i < len(events)
            and named[i] is not None
            and named[i] == named[start]
            and events[i].start_ns - events[i - 1].end_ns < SECOND
        )
        if not goes_on:
            yield start, i
            start = i
