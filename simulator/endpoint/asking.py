"""A question as it is sent, and as it is known by: the body of the request, and a fingerprint without anybody's texts.

A fingerprint holds hashes of texts and of source pixels (with the recipe by which they are encoded, never the encoded
bytes: encoders differ by version), so it is the same on any machine, and a cassette tells nothing of the screen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from simulator.core.types import ImageRef
from simulator.endpoint.images import Pictures
from simulator.endpoint.types import Message, ModelChoice

__all__ = ["Question", "body_of", "canonical", "chat_question", "digest_of", "embed_question", "with_schema"]

_ENOUGH = 16  # hex digits, 64 bits: of one text or picture among those of a cassette


@dataclass(frozen=True, slots=True)
class Question:
    """What a call asks, as a fingerprint in JSON."""

    asked: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """SHA-256 of the fingerprint, in hex."""
        return digest_of(self.asked)


async def chat_question(choice: ModelChoice, messages: Sequence[Message], schema: Mapping[str, Any] | None,
                        params: Mapping[str, Any], pictures: Pictures) -> Question:  # fmt: skip
    """Of ``Endpoint.chat``; ``params`` are all that are sent."""
    said: list[dict[str, Any]] = []
    images = None
    for message in messages:
        parts: list[dict[str, Any]] = []
        for part in message.parts:
            if isinstance(part, ImageRef):
                images = {"side": choice.image_side, "quality": choice.image_quality}
                name = await pictures.name(part)
                parts.append({"image": None if name is None else sha256(name.encode()).hexdigest()[:_ENOUGH]})
            else:
                parts.append(_text(part))
        said.append({"role": message.role, "parts": parts})
    schema_name = None if schema is None else digest_of(schema)[:_ENOUGH]
    return Question({"what": "chat", "model": choice.model, "params": dict(params), "images": images,
                     "schema": schema_name, "messages": said})  # fmt: skip


def embed_question(choice: ModelChoice, texts: Sequence[str]) -> Question:
    """Of ``Endpoint.embed``."""
    extra = dict(choice.extra_body)
    asked = {"what": "embed", "model": choice.model, "params": extra, "texts": [_text(text) for text in texts]}
    return Question(asked)


def body_of(model: str, messages: Sequence[Message], urls: Sequence[str], params: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a streamed chat completion; a message of one text is sent as a plain string, as all servers know it.

    Args:
        model: as the server calls it.
        messages: in order.
        urls: of their pictures, in order.
        params: decoding and whatever else goes along; they win.
    """
    coming = iter(urls)
    said: list[dict[str, Any]] = []
    for message in messages:
        if len(message.parts) == 1 and isinstance(message.parts[0], str):
            said.append({"role": message.role, "content": message.parts[0]})
            continue
        parts: list[dict[str, Any]] = []
        for part in message.parts:
            if isinstance(part, str):
                parts.append({"type": "text", "text": part})
            else:
                parts.append({"type": "image_url", "image_url": {"url": next(coming)}})
        said.append({"role": message.role, "content": parts})
    return {"model": model, "stream": True, "stream_options": {"include_usage": True}, **params, "messages": said}


def with_schema(body: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The body with a JSON schema that the answer is to follow."""
    form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)}}
    return {**body, "response_format": form}


def digest_of(value: Any) -> str:
    """SHA-256 of a JSON value, in hex; the order of keys makes no difference."""
    return sha256(canonical(value)).hexdigest()


def canonical(value: Any) -> bytes:
    """A JSON value in the one form that is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=dict).encode("ascii")


def _text(text: str) -> dict[str, Any]:
    return {"text": sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_ENOUGH], "chars": len(text)}
