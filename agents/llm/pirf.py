"""``pirf``: PIRA-Bench's framework. Intents are threads; at each frame the model takes one action on them.

One call a frame with the last K = 10 frames, the profile, the threads and what was done before: CREATE a thread, RESUME
a suspended one, UPDATE the active one, or IDLE (noise). Apart from that it may delete a thread that is done, dropped or
wrong: reflection. The paper calls that independent of the action, and counts one call a frame: so by default it is a
field of the same answer, and ``reflection=call`` asks for it in a call of its own, which costs a second call at each
frame that finds threads. Source: arXiv 2603.08013, as far as it is public; the prompts are ours.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from agents.base import agents
from agents.llm.aliases import read_intention
from agents.llm.ask import UNREAD, Asking, Question, strategy
from agents.llm.history import duration
from agents.llm.parse import json_objects
from memory.base import one_line
from simulator.core.errors import UsageError, nearest, quote
from simulator.core.protocols import Meter
from simulator.core.types import Decision, Observation, Offer

__all__ = ["ACTIONS", "REFLECTIONS", "Action", "Pirf", "Thread", "read_action", "read_reflection"]

REFLECTIONS = ("field", "call")
ACTIONS = ("CREATE", "RESUME", "UPDATE", "IDLE")
_DELETE = '"delete_intent_id": "an id, or null", '
_NO = {"reflection": "", "delete": ""}
_FIELD = {
    "action": re.compile(r"\baction\b[\"'*: ]{1,8}\W{0,4}(CREATE|RESUME|UPDATE|IDLE)\b", re.IGNORECASE),
    "intent_id": re.compile(r"(?<!delete_)\bintent[_ ]id\b[\"'*: ]{1,8}\W{0,4}(T?\d{1,6})\b", re.IGNORECASE),
    "intent": re.compile(r"\bintent\b[\"'*]{0,4}[:：] {0,4}\"?([^\n\"]{1,500})", re.IGNORECASE),
    "category": re.compile(r"\bcategory\b[\"'*]{0,4}[:：] {0,4}\"?([^\n\"]{1,80})", re.IGNORECASE),
    "delete_intent_id": re.compile(r"\bdelete_intent_id\b[\"'*: ]{1,8}\W{0,4}(T?\d{1,6})\b", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class Action:
    """What a model did at a frame."""

    what: str
    rule: str
    thread: str | None = None
    intent: str = ""
    category: str | None = None
    delete: str | None = None
    why: str = ""


@dataclass(slots=True)
class Thread:
    """An intent that is being followed."""

    name: str
    intent: str
    category: str | None


@agents.register("pirf")
@strategy
class Pirf(Asking):
    """Follows a person's intents as threads: at each frame it creates, resumes or updates one, or does nothing.

    A thread that is created, resumed or updated is an offer of that thread; one that is deleted is retracted.

    Args:
        frames: how many frames it is shown, with the one at hand.
        reflection: how it says which thread is over: as a ``field`` of the action's answer, or asked in a ``call`` of
            its own after the action's (none while there is no thread). Both calls are charged.
        modality: see ``Asking``.
        common: see ``Asking``.
    """

    PARTS: ClassVar[tuple[str, ...]] = ("task_pirf", "pirf_reflection", "task_pirf_reflect")

    def __init__(self, *, modality: str = "image", frames: int = 10, reflection: str = "field", **common: Any) -> None:
        if reflection not in REFLECTIONS:
            raise UsageError(f"reflection {quote(reflection)} is unknown; {nearest(reflection, REFLECTIONS)}")
        if not 1 <= frames <= 600:
            raise UsageError(f"frames: from 1 to 600 frames are wanted, not {frames}")
        super().__init__(modality=modality, frames=0 if modality == "text" else frames - 1, **common)
        self._in_field = reflection == "field"
        self._threads: dict[str, Thread] = {}
        self._active: str | None = None
        self._made = 0
        self._steps: deque[tuple[int, str]] = deque(maxlen=frames)

    async def decide(self, observation: Observation) -> Decision:
        """Take one action on the newest frame."""
        question, meter = await self.question(observation), observation.meter
        with meter.stage("build"):
            now_ns = observation.snapshot.captured_ns
            values = {"intentions": self.named, "threads": self._listed(), "steps": self._done(now_ns)}
            also = (
                {"reflection": self.prompts.fill("pirf_reflection", {}), "delete": _DELETE} if self._in_field else _NO
            )
            messages = question.messages(self.prompts.fill("task_pirf", {**values, **also}))
        reply = await self.chat(messages, meter, schema=_schema(self.intentions, delete=self._in_field))
        with meter.stage("parse"):
            action = read_action(reply.text, self.intentions)
            if action is None:
                return Decision(unparsed=True)
        if not self._in_field:  # the threads stay as they were until both are answered
            action = replace(action, delete=await self._reflection(question, values, meter) if self._threads else None)
        return self._act(action, now_ns, meter)

    async def _reflection(self, question: Question, values: Mapping[str, str], meter: Meter) -> str | None:
        """The thread that is over, asked for by itself; None for none, and for an answer that cannot be read."""
        with meter.stage("build"):
            messages = question.messages(self.prompts.fill("task_pirf_reflect", values))
        reply = await self.chat(messages, meter, schema=_REFLECTION_SCHEMA)
        with meter.stage("parse"):
            known, name = read_reflection(reply.text)
            if not known:
                meter.note("reflection_unread")
            return name

    async def finish(self, observation: Observation) -> Decision:
        """The threads that are left, once more in their last words; nobody is asked."""
        return Decision(tuple(_offer(thread) for thread in self._threads.values()))

    def _act(self, action: Action, now_ns: int, meter: Meter) -> Decision:
        retracted = self._reflect(action.delete, meter)
        thread = self._followed(action, now_ns, meter)
        at = "" if thread is None else f" {thread.name}"
        gone = f", deleted {', '.join(retracted)}" if retracted else ""
        self._steps.append((now_ns, f"{action.what}{at}{gone}" + (f": {action.why}" if action.why else "")))
        if thread is None:
            return Decision(retracted=retracted, parse_rule=action.rule)
        if thread.category is None:
            meter.note("category_unread")
        return Decision((_offer(thread),), retracted, parse_rule=action.rule)

    def _reflect(self, name: str | None, meter: Meter) -> tuple[str, ...]:
        if name is None:
            return ()
        if self._threads.pop(name, None) is None:
            meter.note("unknown_thread")
            return ()
        self._active = None if self._active == name else self._active
        return (name,)

    def _followed(self, action: Action, now_ns: int, meter: Meter) -> Thread | None:
        """The thread that an action leaves active and offered; None for IDLE, and for one that cannot be done."""
        if action.what == "IDLE":
            return None
        if action.what == "CREATE":
            if not action.intent:
                meter.note("intent_without_words")
                return None
            self._made += 1
            thread = Thread(f"T{self._made}", action.intent, action.category)
            self._threads[thread.name] = thread
        else:
            name = action.thread or (self._active if action.what == "UPDATE" else None)
            found = None if name is None else self._threads.get(name)
            if found is None:
                meter.note("unknown_thread")
                return None
            thread = found
            if action.what == "UPDATE":
                thread.intent = action.intent or thread.intent
                thread.category = action.category or thread.category
        self._active = thread.name
        return thread

    def _listed(self) -> str:
        lines = [
            f"- {t.name} ({'active' if t.name == self._active else 'suspended'}): {t.intent} [{t.category or UNREAD}]"
            for t in self._threads.values()
        ]
        return "\n".join(lines) or "- none so far"

    def _done(self, now_ns: int) -> str:
        return (
            "\n".join(f"- {duration(now_ns - at)} ago: {said}" for at, said in self._steps)
            or "- this is the first frame"
        )


def _offer(thread: Thread) -> Offer:
    return Offer(thread.category or UNREAD, thread.intent, thread=thread.name)


_TEXT: Mapping[str, Any] = {"type": "string"}
_MAYBE: Mapping[str, Any] = {"anyOf": [_TEXT, {"type": "null"}]}


def _object(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


_REFLECTION_SCHEMA = _object({"delete_intent_id": _MAYBE, "why": _TEXT})


def _schema(intentions: Sequence[str], *, delete: bool) -> Mapping[str, Any]:
    fields = {
        "action": {"type": "string", "enum": list(ACTIONS)},
        "intent_id": _MAYBE,
        "intent": _MAYBE,
        "category": {"anyOf": [{"type": "string", "enum": list(intentions)}, {"type": "null"}]},
        **({"delete_intent_id": _MAYBE} if delete else {}),
        "why": _TEXT,
    }
    return _object(fields)


def read_action(text: str, intentions: Sequence[str]) -> Action | None:
    """The action that an answer takes: the last JSON object with one (``json``), else fields in text (``fields``)."""
    text = text[-50_000:]
    found: Mapping[str, Any] | None = None
    for one in json_objects(text):
        if str(one.get("action", "")).strip().upper() in ACTIONS:
            found = one
    if found is not None:
        return _action(found, intentions, "json")
    fields = {name: match[1] for name, pattern in _FIELD.items() if (match := _last(pattern, text)) is not None}
    return _action(fields, intentions, "fields") if "action" in fields else None


def read_reflection(text: str) -> tuple[bool, str | None]:
    """Whether an answer says which thread is over, and which: the last JSON object that does, else a field in text."""
    text = text[-50_000:]
    found = [one["delete_intent_id"] for one in json_objects(text) if "delete_intent_id" in one]
    if found:
        return True, _name(found[-1])
    match = _last(_FIELD["delete_intent_id"], text)
    return match is not None, None if match is None else _name(match[1])


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(text):
        found = match
    return found


def _action(said: Mapping[str, Any], intentions: Sequence[str], rule: str) -> Action:
    category = said.get("category")
    return Action(
        str(said["action"]).strip().upper(),
        rule,
        _name(said.get("intent_id")),
        _text(said.get("intent")),
        read_intention(category, intentions) if isinstance(category, str) else None,
        _name(said.get("delete_intent_id")),
        _text(said.get("why"))[:200],
    )


def _name(value: Any) -> str | None:
    """A thread's name, however it is written: ``T3``, ``t3``, 3."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    digits = re.fullmatch(r"\s*[Tt]?(\d{1,6})\s*", str(value)[:40])
    return None if digits is None else f"T{int(digits[1])}"


def _text(value: Any) -> str:
    said = one_line(value, 500) if isinstance(value, str) else ""
    return "" if said.casefold() in ("null", "none", "n/a", "无") else said
