"""From what a model wrote to what it meant: a cascade of rules, each with a name, and no default at its end.

In this order: ``format`` (the lines that were asked for), ``json``, ``json-mended``, ``keywords`` (the later mention
wins), ``cot-step-3`` (words that mean yes or no only where a decision was asked for). Source: ProAgentBench, App. D.3,
with the later-mention rule for answers that weigh both sides first. What no rule reads is unparsed: neither silence nor
an error.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.llm.aliases import last_mentioned, read_intention

__all__ = ["MOST_CHARS", "Said", "json_objects", "read_answer"]

MOST_CHARS = 50_000
"""Of an answer; what lies before its last so many characters is not read."""
_MOST_BRACES = 200
_BLANK = re.compile(r"[ \t\r\xa0\u3000]+")
_MOST_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class Said:
    """What an answer says. ``help`` None: it was asked how to help, not whether. ``rule`` is how it was read."""

    help: bool | None
    rule: str
    intention: str | None = None
    text: str = ""
    confidence: float | None = None


def read_answer(text: str, intentions: Sequence[str], *, asked: str = "both") -> Said | None:
    """Read an answer.

    Args:
        text: the answer, without reasoning.
        intentions: in use.
        asked: ``both``, or in two stages ``when`` (help or not) and ``how`` (which and what).

    Returns:
        What it says; None where no rule can read it.
    """
    text = _BLANK.sub(" ", text[-MOST_CHARS:])
    for rule in (_by_format, _by_json, _by_broken_json, _by_keywords, _by_step):
        said = rule(text, intentions, asked)
        if said is not None:
            return said
    return None


# ---------------------------------------------------------------------------------------------- format

# Every repetition has a bound: a model that writes 50,000 stars must not cost seconds.
_HEAD = r"^[ >*#_|\-•·]{0,12}(?:\(?\d{1,2}[.):、．）]?)?[ *_#]{0,8}"
_OPEN = r"[ *_\[【(\"“]{0,8}"
_COLON = rf"[ *_]{{0,8}}(?:[:：=|]|[?？]| [-–—] ){_OPEN}"
_LIKELY = r"(?:probably |most likely )?"
_YES = rf"(?:{_LIKELY}(?:yes|true)|是的|是|需要|有)"
_NO = rf"(?:{_LIKELY}(?:no|none|false|not(?! sure| clear| certain| known))|不是|不需要|无需|不用|否|没有|无|不)"
_OR = r"(?! ?(?:/|\||or\b|或) ?[\[(]?(?:yes|no|是|否))(?![A-Za-z])"
_LABEL = r"(?:needs?[ _]help|(?:help|assistance)[ _]needed|(?:是否)?需要(?:帮助|协助))"
_NEED = re.compile(
    rf"(?:{_HEAD}{_LABEL}{_COLON}|(?<![\w\"'“]){_LABEL}[ *_]{{0,8}}[:：=?？]{_OPEN})"
    rf"(?:(?P<no>{_NO})|(?P<yes>{_YES})){_OR}",
    re.IGNORECASE | re.MULTILINE,
)
_CATEGORY = re.compile(
    rf"{_HEAD}(?:(?:intention|intent)(?:[ _]category)?|category|意图类别|意图分类|意图|类别){_COLON}(?P<said>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_OFFER = re.compile(
    rf"{_HEAD}(?:offer|suggestion|message|建议内容|提议|建议|帮助内容)[ *_]{{0,8}}[:：](?P<said>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_SURE = re.compile(
    rf"{_HEAD}(?:confidence|置信度){_COLON}(?P<said>[\d.]{{1,12}}) ?(?P<percent>%?)", re.IGNORECASE | re.M
)


def _by_format(text: str, intentions: Sequence[str], asked: str) -> Said | None:
    needs = list(_NEED.finditer(text))
    if asked == "how":
        category = _last(_CATEGORY, text)
        intention = None if category is None else read_intention(category, intentions)
        return None if intention is None else Said(None, "format", intention, _offered(text), _sure(text))
    if not needs:
        return None
    help_ = needs[-1]["yes"] is not None
    if not help_ or asked == "when":
        return Said(help_, "format")
    category = _last(_CATEGORY, text)
    intention = None if category is None else read_intention(category, intentions)
    return Said(True, "format", intention, _offered(text), _sure(text))


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    found = None
    for match in pattern.finditer(text):
        found = match["said"].strip()
    return found


def _offered(text: str) -> str:
    """What the person is told: the rest of the text after its mark, which may go on for some lines."""
    at = None
    for match in _OFFER.finditer(text):
        at = match
    if at is None:
        return ""
    rest = text[at.start("said") : at.start("said") + _MOST_TEXT]
    rest = re.split(r"\n[ >*#_\-]{0,12}(?:confidence|置信度)|\n\s*\n|\n```", rest, maxsplit=1, flags=re.IGNORECASE)[0]
    return _words(rest)


def _sure(text: str) -> float | None:
    at = None
    for match in _SURE.finditer(text):
        at = match
    if at is None:
        return None
    try:
        value = float(at["said"]) / (100 if at["percent"] else 1)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def _words(text: str) -> str:
    """Text for a person: on one line, without marks around it; empty where it says that there is nothing."""
    flat = " ".join(text[:_MOST_TEXT].split()).strip("*_`").strip()
    if len(flat) > 1 and flat[0] in '"“「[' and flat[-1] in '"”」]':
        flat = flat[1:-1].strip()
    return "" if flat.casefold().rstrip(".") in ("none", "null", "n/a", "无", "没有") else flat


# ---------------------------------------------------------------------------------------------- JSON

_HELP_KEYS = ("need_help", "needs_help", "help_needed", "help", "needhelp", "需要帮助", "是否需要帮助")
_INTENTION_KEYS = (
    "intention",
    "intention_category",
    "category",
    "intent",
    "intent_category",
    "意图",
    "意图类别",
    "类别",
)
_TEXT_KEYS = ("offer", "text", "suggestion", "message", "suggested_text", "建议", "内容")


def json_objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects that stand in a text, inside others or not, in order of their beginnings."""
    decoder, at, tried = json.JSONDecoder(), text.find("{"), 0
    while at >= 0 and tried < _MOST_BRACES:
        tried += 1
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(found, dict):
                yield found
        at = text.find("{", end)


def _by_json(text: str, intentions: Sequence[str], asked: str) -> Said | None:
    said = None
    for found in json_objects(text):
        said = _from_json(found, intentions, asked) or said
    return said


_BROKEN = {
    "need_help": re.compile(
        rf"[\"']need[_ ]?help[\"']\s{{0,4}}:\s{{0,4}}[\"']?(?P<said>{_NO}|{_YES})(?![A-Za-z])", re.IGNORECASE
    ),
    "intention": re.compile(
        r"[\"'](?:intention|category)[\"']\s{0,4}:\s{0,4}[\"'](?P<said>[^\"'\n]{1,80})", re.IGNORECASE
    ),
    "offer": re.compile(
        r"[\"']offer[\"']\s{0,4}:\s{0,4}(?:\"(?P<said>[^\"\n]{1,2000})\"|'(?P<single>[^'\n]{1,2000})')", re.I
    ),
}


def _by_broken_json(text: str, intentions: Sequence[str], asked: str) -> Said | None:
    """Fields of what was meant as JSON and is none: single quotes, ``True``, an end that is missing."""
    found: dict[str, Any] = {}
    for name, pattern in _BROKEN.items():
        for match in pattern.finditer(text):
            found[name] = match["said"] or match.groupdict().get("single")
    said = _from_json(found, intentions, asked) if found else None
    return None if said is None else replace(said, rule="json-mended")


def _from_json(found: Mapping[str, Any], intentions: Sequence[str], asked: str) -> Said | None:
    keys = {str(k).strip().casefold().replace(" ", "_").replace("-", "_"): v for k, v in found.items()}
    help_ = _yes(_first(keys, _HELP_KEYS))
    named = _first(keys, _INTENTION_KEYS)
    intention = read_intention(named, intentions) if isinstance(named, str) else None
    offered = _first(keys, _TEXT_KEYS)
    text = _words(offered) if isinstance(offered, str) else ""
    said = Said(help_, "json", intention, text, _share(keys.get("confidence")))
    if asked == "how":
        return None if intention is None else replace(said, help=None)
    if help_ is None:
        return None
    return said if help_ and asked == "both" else Said(help_, "json")


def _first(keys: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((keys[name] for name in names if name in keys), None)


def _yes(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    if isinstance(value, str):
        word = value.strip().strip(".!。！").casefold()
        if re.fullmatch(_NO, word):
            return False
        if re.fullmatch(_YES, word):
            return True
    return None


def _share(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if value == value and not math.isinf(value) and 0 <= value <= 1 else None


# ---------------------------------------------------------------------------------------------- keywords

_HELP, _WANTED = r"(?:help|assistance)", r"(?:needed|required|necessary|wanted|welcome)"
_IS, _NOT = r"(?:is|was|would be|seems)", r"(?: not|n['’]t)"
_AGAINST = (
    rf"no (?:proactive )?{_HELP} (?:{_IS} )?(?:currently |really )?{_WANTED}",
    rf"no need (?:for|of) (?:any )?{_HELP}",
    rf"(?:does|do|did|would|will|is){_NOT} (?:currently |seem to |appear to |really |yet )*"
    rf"(?:need|require|want)(?:ing)? (?:any |proactive |some )*{_HELP}",
    rf"{_HELP} (?:is|was|would){_NOT}(?: be| currently| really)? {_WANTED}",
    rf"(?:not|without) (?:need|needing|require|requiring) (?:any )?{_HELP}",
    r"不需要(?:任何|主动)?(?:帮助|协助|帮忙)?",
    r"无需(?:任何)?(?:帮助|协助)?",
    r"没有?必要(?:提供)?帮助",
    r"不[用必]帮[助忙]",
)
_FOR = (
    r"(?:needs?|requires?|wants?|could use|(?:would|may|might|could) (?:benefit from|need))"
    rf" (?:some |proactive |my |your |any )*{_HELP}",
    rf"{_HELP} {_IS}(?: currently| clearly| indeed)? {_WANTED}",
    rf"{_HELP} needed",
    r"需要(?:主动|一些)?(?:帮助|协助|帮忙)",
    r"有必要(?:提供)?帮助",
)
_ALONE = (
    r"(?:^|(?<=[.!?。！？:：\n]))[ \n*\"“>#-]{0,8}(?:(?P<alone_no>no|否|不是)|(?P<alone_yes>yes|是的|是))"
    r"(?=[ *\"”]{0,8}(?:[.,;!?。，；！:：\n]|$))"
)
_ASKED = r"(?![ *\w]{0,40}[?？:：/|])"
"""A question, or the form of the answer said over again, is no answer."""
_KEYWORDS = re.compile(f"(?P<no>{'|'.join(_AGAINST)})|(?P<yes>{'|'.join(_FOR)}){_ASKED}|{_ALONE}", re.IGNORECASE)
_CONDITION = re.compile(r"(?:\bif|\bwhether|\bwhen|\bor|是否|如果|若)[^.!?。！？\n]{0,40}$", re.IGNORECASE)


def _by_keywords(text: str, intentions: Sequence[str], asked: str) -> Said | None:
    if asked == "how":
        intention = last_mentioned(text, intentions)
        return None if intention is None else Said(None, "keywords", intention, _offered(text))
    help_ = None
    for match in _KEYWORDS.finditer(text):
        if _CONDITION.search(text, max(0, match.start() - 60), match.start()):
            continue  # "whether the user needs help" says nothing
        help_ = match["yes"] is not None or match["alone_yes"] is not None
    if help_ is None:
        return None
    if not help_ or asked == "when":
        return Said(help_, "keywords")
    return Said(True, "keywords", last_mentioned(text, intentions), _offered(text))


# ---------------------------------------------------------------------------------------------- step 3

_STEP = re.compile(
    r"(?:^|\n)[ >*#_]{0,12}(?:step ?(?:3|three)|步骤 ?[3三]|第 ?[3三] ?步|3[.):、])(?P<said>.*?)"
    r"(?=\n[ >*#_]{0,12}(?:step ?(?:4|four)|步骤 ?[4四]|第 ?[4四] ?步|4[.):、])|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_LOOSE = re.compile(
    r"(?P<no>\bno\b|\bnot\b|n['’]t\b|\bunnecessary\b|\bnone\b|\bnothing\b|\bpremature\b|\bdisturb|\binterrupt|不|没|无需|否)"
    r"|(?P<yes>\byes\b|\bneeds?\b|\bneeded\b|\bwelcome\b|\bhelpful\b|\buseful\b|\bbeneficial\b|\bstuck\b|需要|是的|有用|有帮助)",
    re.IGNORECASE,
)


def _by_step(text: str, intentions: Sequence[str], asked: str) -> Said | None:
    if asked == "how":
        return None
    step = None
    for match in _STEP.finditer(text):
        step = match["said"]
    if step is None:
        return None
    votes = [match["no"] is None for match in _LOOSE.finditer(step)]
    if not votes:
        return None
    help_ = votes[0]  # "No, they need time" and "Yes, this is not going well": the first word is the verdict
    if not help_ or asked == "when":
        return Said(help_, "cot-step-3")
    return Said(True, "cot-step-3", last_mentioned(text, intentions), _offered(text))
