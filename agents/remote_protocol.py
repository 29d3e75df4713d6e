"""What is said to an agent in another process, and what it may answer: protocol 1, the same over HTTP and stdio.

Instants and durations are seconds on the wire. What is sent is always valid UTF-8 JSON without NaN; unknown is
``null``. What comes back is read strictly: a wrong type is an error with a sentence, never a silence. Fields that this
version does not know are counted. No sentence repeats a value, since an answer may hold what was on the screen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from simulator.core.errors import ProactError
from simulator.core.types import SECOND, Decision, Event, MemoryItem, Observation, Offer, Setup
from simulator.endpoint.redact import shown

__all__ = ["KINDS", "MOST_BYTES", "PROTOCOL", "Answer", "Health", "Needs", "Opened", "RemoteError", "encoded",
           "observation_body", "read", "read_json", "setup_body", "unknown_fields", "unwrapped"]  # fmt: skip

PROTOCOL = 1
MOST_BYTES = 10_000_000
"""Of one answer."""
KINDS = ("connection", "timeout", "unauthorized", "refused", "agent", "bad_json", "bad_answer", "too_large", "protocol",
         "ended")  # fmt: skip
"""Of errors: ``agent`` is one of its own, ``protocol`` another version, ``ended`` a process that is gone."""
M = TypeVar("M", bound=BaseModel)


class RemoteError(ProactError):
    """A call to an agent in another process that brought no answer; in a run it becomes a record of kind ``error``.

    Args:
        kind: one of ``KINDS``.
        sentence: what happened, without tokens and without what an answer held.
    """

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(f"{kind}: {sentence}")
        self.kind, self.sentence = kind, sentence


class _Read(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False, extra="allow")


Short = Annotated[str, Field(max_length=200)]
_Count = Annotated[int, Field(ge=0, le=10**12)]
_Stage = Literal["wait", "ocr", "embed", "retrieve", "build", "model", "parse", "write"]


class Needs(_Read):
    """What an agent wants to be sent. ``path`` works on the same machine only; ``memory`` is how many items."""

    images: Literal["none", "path", "jpeg"] = "none"
    image_side: Annotated[int, Field(ge=16, le=16384)] = 1280
    memory: Annotated[int, Field(ge=0, le=100)] = 5


class Health(_Read):
    """Who answers, and in which protocol. ``finish``: it wants the last question of a trajectory."""

    protocol: int
    name: Annotated[str, Field(min_length=1, max_length=200)]
    version: Short
    needs: Needs = Needs()
    finish: bool = False


class Opened(_Read):
    """``id`` is sent back with every call of this session: for agents that serve several at a time."""

    id: Short | None = None


class _Offer(_Read):
    intention: Annotated[str, Field(min_length=1)]
    text: str = ""
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    thread: str | None = None


class _Usage(_Read):
    tokens_in: _Count = 0
    tokens_out: _Count = 0
    reasoning: _Count = 0
    cached: _Count = 0
    images: _Count = 0
    cost: Annotated[float, Field(ge=0, le=1e12)] | None = None


class Answer(_Read):
    """A decision as it is sent. ``offers`` must be there, so that a misspelt word is no silence."""

    offers: Annotated[list[_Offer], Field(max_length=1000)]
    retracted: Annotated[list[str], Field(max_length=1000)] = []
    parse_rule: Short | None = None
    unparsed: bool = False
    usage: _Usage | None = None
    stages_s: dict[_Stage, Annotated[float, Field(ge=0, le=1e6)]] = {}
    waited_s: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    retries: _Count = 0

    @property
    def decision(self) -> Decision:
        """As the simulator takes it."""
        offers = tuple(Offer(o.intention, o.text, o.confidence, o.thread) for o in self.offers)
        return Decision(offers, tuple(self.retracted), self.parse_rule, self.unparsed)


def unknown_fields(model: BaseModel) -> list[str]:
    """Names in an answer that this version does not know, in their order, also those further in."""
    found = list(model.model_extra or {})
    for name in type(model).model_fields:
        value = getattr(model, name)
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, BaseModel):
                found += [f"{name}.{word}" for word in unknown_fields(inner)]
    return found


def read_json(data: bytes) -> Any:
    """What bytes hold.

    Raises:
        RemoteError: ``bad_json``.
    """
    if not data.strip():
        raise RemoteError("bad_json", "the answer is empty; a JSON object is wanted, such as {}")
    try:
        return from_json(data, allow_inf_nan=False)
    except ValueError:  # its words quote the answer
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            raise RemoteError("bad_json", "the answer is not UTF-8") from None
        raise RemoteError("bad_json", "the answer is no valid JSON") from None


def unwrapped(said: Any, token: str | None = None) -> Mapping[str, Any]:
    """The answer itself, where it is one.

    Raises:
        RemoteError: ``agent`` where it is an error (``{"error": {"kind": …, "text": …}}``), ``bad_answer`` where it is
            no object.
    """
    if not isinstance(said, dict):
        raise RemoteError("bad_answer", f"a JSON object is wanted, not {_word(said)}")
    error = said.get("error")
    if error is None:
        return said
    kind, text = (error.get("kind"), error.get("text")) if isinstance(error, dict) else (None, error)
    words = ": ".join(shown(word, token) for word in (kind, text) if isinstance(word, str) and word)
    raise RemoteError("agent", f"the agent answered with an error of its own: {words or 'it says no more'}")


def read(model: type[M], said: Mapping[str, Any], what: str) -> M:
    """An answer as the protocol wants it.

    Args:
        model: its form.
        said: the answer.
        what: the call, for the sentence.

    Raises:
        RemoteError: ``bad_answer``, with the field and what is wanted.
    """
    try:
        return model.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = shown(".".join(str(piece) for piece in first["loc"]), None, 80)
        more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
        wants = f"{first['msg'][:1].lower()}{first['msg'][1:200]}"
        raise RemoteError("bad_answer", f"in the answer to {what}: {field}: {wants}{more}") from None
    except (ValueError, OverflowError, RecursionError):
        raise RemoteError("bad_answer", f"the answer to {what} holds a value that cannot be read") from None


def _word(value: Any) -> str:
    words = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return words.get(type(value), "a number")


def encoded(body: Mapping[str, Any]) -> bytes:
    """A body as bytes; half a surrogate pair, which UTF-8 cannot hold, is sent as a question mark."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def setup_body(setup: Setup) -> dict[str, Any]:
    """The body of ``open``."""
    return {
        "protocol": PROTOCOL,
        "setup": {
            "session": setup.session,
            "user": setup.user,
            "profile": dict(setup.profile),
            "intentions": list(setup.intentions),
            "seed": setup.seed,
            "period_s": setup.period_ns / SECOND,
            "protocol": setup.protocol,
        },
    }


def observation_body(seen: Observation, items: Sequence[MemoryItem], remembered: str,
                     image: Mapping[str, Any] | None) -> dict[str, Any]:  # fmt: skip
    """The body of ``decide`` and ``finish`` but for the session's id.

    Args:
        seen: what is to be decided on.
        items: what memory recalled.
        remembered: the same as a piece of a prompt.
        image: the picture as the agent needs it, None without one.
    """
    s, current = seen.snapshot, seen.history.current
    return {
        "observation": {
            "snapshot": {
                "index": s.index,
                "captured_s": s.captured_ns / SECOND,
                "content_s": s.content_ns / SECOND,
                "app": s.app,
                "title": s.title,
                "category": s.category,
                "text": s.text,
                "held": s.held,
                "image": image,
            },
            "now_s": seen.now_ns / SECOND,
            "user": seen.user,
            "profile": dict(seen.profile),
            "history": {
                "events": [_event(event) for event in seen.history.events],
                "current": None if current is None else _event(current),
            },
            "memory": {"text": remembered, "items": [_item(item) for item in items]},
        }
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "id": event.id,
        "start_s": event.start_ns / SECOND,
        "end_s": event.end_ns / SECOND,
        "app": event.app,
        "title": event.title,
        "category": event.category,
        "summary": event.summary,
        "assistance": event.assistance,
    }


def _item(item: MemoryItem) -> dict[str, Any]:
    latest = item.latest_source_ns
    return {
        "text": item.text,
        "score": _finite(item.score),
        "help": _finite(item.help),
        "intention": item.intention,
        "query": item.query,
        "latest_source_s": None if latest is None else latest / SECOND,
        "neutral": item.neutral,
    }


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
