"""``naive``: PIRA-Bench's baseline. It looks at the whole trajectory and names the intents once, at the end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from agents.base import agents
from agents.llm.aliases import read_intention
from agents.llm.ask import UNREAD, Asking, captioned, strategy
from agents.llm.history import cleaned, duration, shortened
from agents.llm.modality import distinct
from agents.llm.parse import json_objects
from memory.base import estimate_tokens, one_line
from simulator.core.errors import UsageError
from simulator.core.protocols import Meter
from simulator.core.types import SILENT, Decision, Observation, Offer, Snapshot

__all__ = ["MOST_INTENTS", "Naive", "read_intents"]

MOST_INTENTS = 50
_LINE_TOKENS = 40
_BULLET = re.compile(
    r"^ ?(?:[-•·]|\*(?!\*)|\(?\d{1,2}[.)、])[ *]{0,4}(?:[\[(【](?P<category>[^\])】\n]{1,60})[\])】])?"
    r"[ :：]{0,4}(?P<intent>[^\n]+)$",
    re.MULTILINE,
)
_OF_INTENTS = re.compile(r"\b(?:intents?|intentions?|goals?|needs?)\b|意图|需求", re.IGNORECASE)
_NOTHING = re.compile(r"\b(?:no intents?|none|empty list|nothing)\b|没有意图|无意图|无", re.IGNORECASE)


@agents.register("naive")
@strategy
class Naive(Asking):
    """Says nothing until the trajectory has ended, then names all intents that it showed (protocol ``trajectory``
    only).

    Args:
        frames: pictures, or lines of text, of the trajectory at most; of more an even choice is shown, and that is
            noted.
        modality: see ``Asking``.
        common: see ``Asking``.
    """

    PARTS: ClassVar[tuple[str, ...]] = ("task_naive",)
    protocols = ("trajectory",)
    asks_once = True
    """It asks once a session, whatever its length: what a study is about to cost rests on it."""

    def __init__(self, *, modality: str = "image", frames: int = 40, **common: Any) -> None:
        if not 1 <= frames <= 1000:
            raise UsageError(f"frames: from 1 to 1000 of a trajectory can be shown, not {frames}")
        super().__init__(modality=modality, frames=0, **common)
        self._most = frames
        self._seen: list[Snapshot] = []

    async def decide(self, observation: Observation) -> Decision:
        """Keep the frame; say nothing."""
        snapshot = observation.snapshot
        if not self._seen or not _alike(self._seen[-1], snapshot):
            self._seen.append(snapshot)
        return SILENT

    async def finish(self, observation: Observation) -> Decision:
        """Name the intents of the whole trajectory."""
        meter = observation.meter
        shown = spread(self._seen, self._most)
        if len(shown) < len(self._seen):
            meter.note("frames_left_out")
        texts = [await self.eyes.text(s, meter) if self.eyes.reads else None for s in shown]
        remembered = await self.remembered(observation)
        with meter.stage("build"):
            context = self._trajectory(observation, shown, texts)
            pictures = [
                (observation.snapshot.captured_ns - s.captured_ns, s.image)
                for s in distinct(shown)
                if s.image is not None
            ]
            shots = captioned(pictures, last="The last screen:") if self.eyes.shows else []
            question = self.composed(context, shots, remembered)
            messages = question.messages(self.prompts.fill("task_naive", {"intentions": self.named}))
        reply = await self.chat(messages, meter, schema=_schema(self.intentions))
        with meter.stage("parse"):
            return self._answer(reply.text, meter)

    def _trajectory(self, observation: Observation, shown: Sequence[Snapshot],
                    texts: Sequence[str | None]) -> Mapping[str, str]:  # fmt: skip
        """The whole trajectory in the place of the recent past; each frame's text gets an equal share of the budget."""
        facts = [f"- {one_line(k, 60)}: {one_line(v, 1000)}" for k, v in observation.profile.items()]
        profile = "\n".join(facts) or "nothing is known"
        each = max((self.budget - estimate_tokens(profile)) // max(len(shown), 1) - _LINE_TOKENS, 0)
        cut, lines = list[str](), list[str]()
        for snapshot, text in zip(shown, texts, strict=True):
            where = f"{one_line(snapshot.app) or 'unknown'}, “{one_line(snapshot.title, 200)}”"
            lines.append(f"- {duration(observation.snapshot.captured_ns - snapshot.captured_ns)} ago: {where}")
            if text and (said := shortened(cleaned(text), each, cut, "screen_cut")):
                lines.append(said)
        for note in dict.fromkeys(cut):
            observation.meter.note(note)
        return {
            "profile": profile,
            "window": duration(observation.snapshot.captured_ns),
            "events": "\n".join(lines) or "- nothing",
            "current": "the recording has ended",
            "screen": "(see above)",
        }

    def _answer(self, text: str, meter: Meter) -> Decision:
        found = read_intents(text, self.intentions)
        if found is None:
            return Decision(unparsed=True)
        rule, intents = found
        if len(intents) > MOST_INTENTS:
            meter.note("intents_left_out")
        offers = []
        for n, (intent, category) in enumerate(intents[:MOST_INTENTS], 1):
            if category is None:
                meter.note("category_unread")
            offers.append(Offer(category or UNREAD, intent, thread=f"intent-{n}"))
        return Decision(tuple(offers), parse_rule=rule)


def _alike(one: Snapshot, other: Snapshot) -> bool:
    """Whether nobody could tell the two apart."""
    if (one.app, one.title, one.text) != (other.app, other.title, other.text):
        return False
    a, b = one.image, other.image
    return a is b or (a is not None and b is not None and (a.path == b.path or (a.pixels_hash or "") == b.pixels_hash))


def spread(seen: Sequence[Snapshot], most: int) -> list[Snapshot]:
    """At most so many, evenly chosen, the first and the last among them."""
    if len(seen) <= most:
        return list(seen)
    if most == 1:
        return [seen[-1]]
    return [seen[i * (len(seen) - 1) // (most - 1)] for i in range(most)]


def _schema(intentions: Sequence[str]) -> Mapping[str, Any]:
    one = {"intent": {"type": "string"}, "category": {"type": "string", "enum": list(intentions)}}
    item = {"type": "object", "properties": one, "required": list(one), "additionalProperties": False}
    listed = {"intents": {"type": "array", "items": item}}
    return {"type": "object", "properties": listed, "required": ["intents"], "additionalProperties": False}


def read_intents(text: str, intentions: Sequence[str]) -> tuple[str, list[tuple[str, str | None]]] | None:
    """The intents that an answer lists, each with its category as far as that can be read, and the rule by which:
    ``json``, ``lines`` (one bullet an intent, see ``_listed``), or ``none`` (it says in words that there are none).
    None where nothing can be read.
    """
    text = text[-50_000:]
    listed: list[Any] | None = None
    for found in json_objects(text):
        said = next((found[k] for k in ("intents", "intentions", "意图") if isinstance(found.get(k), list)), None)
        listed = said if said is not None else listed
    if listed is not None:
        return "json", [one for item in listed if (one := _intent(item, intentions)) is not None]
    alone = [one for item in json_objects(text) if (one := _intent(item, intentions)) is not None]
    if alone:  # a bare list, or objects one after the other
        return "json", alone
    if text.strip() in ("[]", "```json\n[]\n```"):
        return "json", []
    lines = _listed(text, intentions)
    if lines:
        return "lines", lines
    return ("none", []) if len(text) < 400 and _NOTHING.search(text) else None


def _intent(item: Any, intentions: Sequence[str]) -> tuple[str, str | None] | None:
    if isinstance(item, str):
        return (one_line(item, 500), None) if item.strip() else None
    if not isinstance(item, Mapping):
        return None
    said = next((item[k] for k in ("intent", "description", "text", "意图") if isinstance(item.get(k), str)), "")
    category = next((item[k] for k in ("category", "intention", "类别") if isinstance(item.get(k), str)), "")
    if not one_line(said, 500):
        return None
    return one_line(said, 500), read_intention(category, intentions)


def _listed(text: str, intentions: Sequence[str]) -> list[tuple[str, str | None]]:
    """The bullets of a list of intents. Models number what they saw, too, so a list counts only where it says that it
    is one: by a category in brackets, or by the line above it; the last such one. Or where it is all of the answer.
    """
    blocks, others = _blocks(text)
    told = [list(_lines(block, intentions)) for _, block in blocks]
    of_intents = [
        lines
        for (head, _), lines in zip(blocks, told, strict=True)
        if _OF_INTENTS.search(head) or any(category is not None for _, category in lines)
    ]
    if of_intents:
        return of_intents[-1]
    return told[0] if len(told) == 1 and not others else []


def _blocks(text: str) -> tuple[list[tuple[str, str]], int]:
    """Each list with the line above it, and how many lines are of no list; an indented line goes on with its bullet."""
    blocks: list[tuple[str, list[str]]] = []
    head, others, inside = "", 0, False
    for line in text.splitlines():
        if not line.strip():
            continue
        if _BULLET.match(line):
            if not inside:
                blocks.append((head, []))
            blocks[-1][1].append(line)
            inside = True
        elif not (inside and line.startswith("  ")):
            head, others, inside = line, others + 1, False
    return [(above, "\n".join(lines)) for above, lines in blocks], others


def _lines(text: str, intentions: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    for match in _BULLET.finditer(text):
        intent = one_line(match["intent"].strip(" *"), 500)
        if intent and not _NOTHING.fullmatch(intent.rstrip(".")):
            yield intent, read_intention(match["category"] or "", intentions)
