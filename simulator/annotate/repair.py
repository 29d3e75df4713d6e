"""From a model's text to the fields of an annotation: mended where there is one reading, refused where there is none.

Nothing is defaulted: a yes or no that cannot be read is no answer, an intention that is none of the list is unknown.
What was mended is said.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simulator.annotate.sample import squeezed
from simulator.core.intentions import canonical
from simulator.core.loose_json import find_object

__all__ = ["KINDS", "MOST_WORDS", "EventPart", "IntentPart", "Unreadable", "read_event", "read_intent"]

KINDS = ("chat", "editor", "answer_engine", "other")
MOST_WORDS = 20
_NOTHING = frozenset({"", "null", "none", "n/a", "na", "unknown", "-", "…", "...", "无", "未知"})
_YES = frozenset({"true", "yes", "y", "1", "是", "有"})
_NO = frozenset({"false", "no", "n", "0", "否", "不是", "没有"})
_LONGEST = 4000


class Unreadable(ValueError):
    """Why an answer is none; in words of ours."""


@dataclass(slots=True)
class EventPart:
    """The first answer. ``mended``: what was not as asked for."""

    assistance: bool
    platform: str | None = None
    kind: str | None = None
    summary: str | None = None
    conversation: str | None = None
    mended: list[str] = field(default_factory=list)


@dataclass(slots=True)
class IntentPart:
    """The second answer, on assistance events only."""

    query: str | None = None
    intention: str | None = None
    confidence: float | None = None
    rationale: str | None = None
    mended: list[str] = field(default_factory=list)


def read_event(text: str) -> EventPart:
    """The answer to the first question.

    Raises:
        Unreadable: there is no object, or it does not say whether it is an assistance event.
    """
    found = find_object(text, lambda value: "assistance" in value)
    if found is None:
        raise Unreadable('there is no JSON object with the field "assistance" in it')
    said, mended = found.value, [] if found.rule == "json" else [found.rule]
    part = EventPart(_boolean(said["assistance"], mended), mended=mended)
    part.summary = _summary(said.get("summary"), mended)
    if part.summary is None:
        raise Unreadable('"summary" is to be a text')
    if part.assistance:
        part.platform = _text(said.get("platform"), 60)
        part.kind = _kind(said.get("type"), mended)
        part.conversation = _conversation(said.get("conversation"), mended)
    return part


def read_intent(text: str, intentions: Sequence[str]) -> IntentPart:
    """The answer to the second question.

    Raises:
        Unreadable: there is no object, or what it calls an intention is none of the list.
    """
    found = find_object(text, lambda value: "intention" in value)
    if found is None:
        raise Unreadable('there is no JSON object with the field "intention" in it')
    said, mended = found.value, [] if found.rule == "json" else [found.rule]
    part = IntentPart(_text(said.get("query"), _LONGEST), mended=mended)
    part.rationale = _text(said.get("rationale"), 400)
    named = _text(said["intention"], 80)
    if named is not None:
        part.intention = _intention(named, intentions, mended)
        part.confidence = _confidence(said.get("confidence"), mended)
    return part


def _boolean(value: Any, mended: list[str]) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().casefold() if isinstance(value, str | int) else ""
    if word in _YES or word in _NO:
        mended.append("assistance_word")
        return word in _YES
    raise Unreadable('"assistance" is neither true nor false')


def _text(value: Any, limit: int) -> str | None:
    flat = squeezed(value, limit) if isinstance(value, str) else None
    return None if flat is None or flat.casefold() in _NOTHING else flat


def _summary(value: Any, mended: list[str]) -> str | None:
    """At most 20 words, or as many pairs of letters where words are not spaced."""
    text = _text(value, _LONGEST)
    if text is None:
        return None
    words = text.split(" ")
    cut = " ".join(words[:MOST_WORDS])
    wide = [i for i, c in enumerate(cut) if ord(c) >= 0x2E80]
    if len(wide) > 2 * MOST_WORDS:
        cut = cut[: wide[2 * MOST_WORDS]]
    if cut != text:
        mended.append("summary_cut")
        return cut.rstrip(" ,;:，、") + "…"
    return text


def _kind(value: Any, mended: list[str]) -> str | None:
    text = _text(value, 40)
    if text is None:
        return None
    word = text.casefold().replace(" ", "_").replace("-", "_")
    if word in KINDS:
        return word
    mended.append("type_unknown")
    return None


def _conversation(value: Any, mended: list[str]) -> str | None:
    """JSON as ProAgentBench keeps it; None where nothing of it could be read."""
    if isinstance(value, str) and _text(value, _LONGEST) is not None:
        found = find_object(value)
        value = found.value if found is not None else {"user_queries": [value]}
        mended.append("conversation_text")
    if not isinstance(value, Mapping):
        return None
    made = {}
    for name in ("user_queries", "llm_responses"):
        said = value.get(name)
        said = [said] if isinstance(said, str) else said
        texts = [_text(one, _LONGEST) for one in said] if isinstance(said, list) else []
        made[name] = [text for text in texts if text is not None]
    return json.dumps(made, ensure_ascii=False) if any(made.values()) else None


def _intention(named: str, intentions: Sequence[str], mended: list[str]) -> str:
    if named in intentions:
        return named
    folded = {one.casefold(): one for one in intentions}
    known = folded.get(named.casefold()) or canonical(named)
    if known is None or known not in intentions:
        raise Unreadable('"intention" is none of the list')
    mended.append("intention_alias")
    return known


def _confidence(value: Any, mended: list[str]) -> float | None:
    """In [0, 1]; what is written as percent becomes a share. What is no such number is unknown."""
    percent = isinstance(value, str) and value.strip().endswith("%")
    try:
        number = float(str(value).strip().rstrip("% ")) if not isinstance(value, bool) else math.nan
    except ValueError:
        number = math.nan
    if 0 <= number <= 100 and (percent or number >= 2):
        mended.append("confidence_percent")
        return number / 100
    if 0 <= number <= 1 and not percent:
        if isinstance(value, str):
            mended.append("confidence_text")
        return number
    if value is not None:
        mended.append("confidence_unknown")
    return None
