"""What is said to a model and what comes back: the choice of a model, messages, a reply with its stamps, errors.

An *endpoint* is an OpenAI-compatible HTTP server (vLLM, SGLang, llama.cpp, Ollama, LM Studio, a hosted API). Nothing
here holds a key: keys are read from the environment when a call is made.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args
from urllib.parse import urlsplit, urlunsplit

from simulator.core.errors import ProactError, UsageError, quote
from simulator.core.types import SECOND, ImageRef

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simulator.core.protocols import Meter

__all__ = [
    "ERROR_KINDS",
    "NO_PARAMS",
    "EndpointError",
    "ErrorKind",
    "Message",
    "Model",
    "ModelChoice",
    "Reply",
    "Stamps",
    "Usage",
    "shown_url",
]

NO_PARAMS: Mapping[str, Any] = MappingProxyType({})
ErrorKind = Literal[
    "refused", "unauthorized", "not_found", "rate_limited", "server", "timeout", "idle_timeout", "truncated", "empty",
    "bad_json", "length", "too_large", "connection",
]  # fmt: skip
ERROR_KINDS: tuple[str, ...] = get_args(ErrorKind)
_RECIPE = ("image_side", "image_quality")
_DECODING = ("temperature", "top_p", "max_tokens", "seed")
_PATIENCE = ("timeout_ns", "idle_timeout_ns", "max_retries", "concurrency")
_OURS = {
    "messages": "they are what is asked",
    "model": "name it with --model",
    "stream": "answers are always streamed",
}
"""What no extra field may replace, with the way out."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Everything that a run says about the model it asks. No key is in it: ``key_variable`` names where one is read.

    ``model`` None (or blank) asks the server for the one it serves; ``base_url`` None reads ``OPENAI_BASE_URL``.
    Decoding that is None is the provider's default: nothing is sent. ``image_side`` is the longest side of a picture in
    pixels, ``image_quality`` that of its JPEG. ``timeout_ns`` bounds a call with all its retries, ``idle_timeout_ns``
    the silence of a stream. ``cassette`` is a file to replay calls from, or, with ``record``, to keep them in.
    ``prices``: see ``endpoint.prices``; without, a cost is unknown unless the server tells it.
    """

    model: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    timeout_ns: int = 60 * SECOND
    idle_timeout_ns: int = 30 * SECOND
    max_retries: int = 2
    concurrency: int = 4
    image_side: int = 1280
    image_quality: int = 80
    cassette: Path | None = None
    record: bool = False
    key_variable: str = "OPENAI_API_KEY"
    prices: Path | None = None

    def __post_init__(self) -> None:
        if self.model is not None and not self.model.strip():
            object.__setattr__(self, "model", None)  # a variable of a script that was never set
        if self.model is not None and not self.model.isprintable():
            raise UsageError(f"the model's name {quote(self.model)} holds control characters")
        if self.record and self.cassette is None:
            raise UsageError("to record, name the cassette to record into (--cassette FILE)")
        _check_extra(self.extra_body)
        for name, least, most in (("timeout_ns", 1, None), ("idle_timeout_ns", 1, None), ("max_retries", 0, 100),
                                  ("concurrency", 1, 1000), ("image_side", 16, 16384), ("image_quality", 1, 100),
                                  ("temperature", 0, None), ("top_p", 0, 1), ("max_tokens", 1, None)):  # fmt: skip
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise UsageError(f"{name.removesuffix('_ns')} of the model must be a finite number, not {value}")
            if value is not None and not (least <= value and (most is None or value <= most)):
                bound = f"at least {least}" if most is None else f"from {least} to {most}"
                raise UsageError(f"{name.removesuffix('_ns')} of the model must be {bound}")

    @property
    def decoding(self) -> dict[str, Any]:
        """What is sent with each call besides the messages: what was chosen, never a default of ours."""
        chosen = {name: getattr(self, name) for name in _DECODING if getattr(self, name) is not None}
        return {**chosen, **dict(self.extra_body)}

    @property
    def replays(self) -> Path | None:
        """The cassette that answers instead of a server."""
        return None if self.record else self.cassette

    @property
    def header(self) -> dict[str, Any]:
        """For the header of a run log: all that bears on the answers or their time, in JSON; no key, no local path.

        Raises:
            InputError: the cassette cannot be read.
        """
        said: dict[str, Any] = {"model": self.model, "base_url": shown_url(self.base_url), "sent": self.decoding}
        said |= {name: getattr(self, name) for name in (*_RECIPE, *_PATIENCE)}
        if self.replays is not None:
            from simulator.endpoint.cassette import cassette_digest  # what most callers of this module never need

            said["cassette"] = cassette_digest(self.replays)
        return said

    @property
    def digest(self) -> str:
        """12 hex digits of ``header``, for the identity of a run."""
        return sha256(json.dumps(self.header, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Message:
    """One message: ``role`` is system, user or assistant; ``parts`` are texts and pictures, in order."""

    role: str
    parts: tuple[str | ImageRef, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. ``tokens_out`` does not hold ``reasoning``; ``cached`` is a part of ``tokens_in``.
    ``estimated``: the server gave no figures, these are characters / 4.
    """

    tokens_in: int = 0
    tokens_out: int = 0
    reasoning: int = 0
    cached: int = 0
    images: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Stamps:
    """When a call got where, in ns since ``built_ns`` (0: the call was made) of the attempt that was answered.

    ``built_ns``: pictures are encoded and the body is written; ``sent_ns``: the last attempt was handed to the socket;
    ``first_token_ns``: its first piece of text or reasoning (None: none came); ``chunks_ns``: each piece; ``done_ns``.
    ``waited_ns`` of it went to limits and back-off, over ``retries`` attempts beyond the first.
    """

    built_ns: int
    sent_ns: int
    first_token_ns: int | None
    chunks_ns: tuple[int, ...]
    done_ns: int
    waited_ns: int = 0
    retries: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer. ``text`` is never reasoning, ``reasoning`` never text. ``model`` is as served, ``sent`` what was
    sent but for messages and pictures; ``notes`` say what had to be done without (``no_json_schema``, …).
    """

    text: str
    reasoning: str
    finish_reason: str
    usage: Usage
    stamps: Stamps
    model: str | None
    sent: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    cost: float | None = None
    replayed: bool = False


class EndpointError(ProactError):
    """A call that brought no answer. Not fatal: left alone it becomes a record of kind ``error``.

    Args:
        kind: one of ``ERROR_KINDS``.
        sentence: what happened, without keys, and without the user's part of an address.
        status: the HTTP status, where one came.
        partial: the text that had come by then.
        waited_ns: how much of its time went to limits and back-off.
        retries: attempts beyond the first.
        again: it may go better next time: what the client looks at, and nobody else.
        retry_after_ns: how long the server asks to wait before.
        odd_wait: it asks to wait, and not for how long in any way that can be read.
        told: the server's own words, for the client; they may hold anything, and are never shown.
    """

    def __init__(self, kind: ErrorKind, sentence: str, *, status: int | None = None, partial: str = "",
                 waited_ns: int = 0, retries: int = 0, again: bool = False, retry_after_ns: int | None = None,
                 odd_wait: bool = False, told: str = "") -> None:  # fmt: skip
        super().__init__(sentence)
        self.kind, self.sentence, self.status, self.partial = kind, sentence, status, partial
        self.waited_ns, self.retries = waited_ns, retries
        self.again, self.retry_after_ns, self.odd_wait, self._told = again, retry_after_ns, odd_wait, told

    def names(self, *words: str) -> bool:
        """Whether the server's own words hold one of these."""
        return any(word in self._told for word in words)

    def __str__(self) -> str:
        return f"{self.kind}: {self.sentence}"


class Model(Protocol):
    """What strategies ask. ``simulator.endpoint.chat.Endpoint`` is the real one; tests write their own in ten lines."""

    async def chat(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None,
                   meter: Meter | None = None, params: Mapping[str, Any] = NO_PARAMS) -> Reply:  # fmt: skip
        """One answer. ``schema`` asks for JSON of that form where the server can; ``params`` go over the choice's."""
        ...

    async def embed(self, texts: Sequence[str], *, meter: Meter | None = None) -> NDArray[np.float32]:
        """Texts to rows of shape (n, d)."""
        ...

    async def close(self) -> None:
        """Free the connections."""
        ...


def _check_extra(extra: Mapping[str, Any]) -> None:
    if not isinstance(extra, Mapping) or not all(isinstance(name, str) for name in extra):
        raise UsageError("extra_body of the model must be a JSON object")
    for name, why in _OURS.items():
        if name in extra:
            raise UsageError(f"extra_body of the model must not hold '{name}': {why}")
    try:
        json.dumps(extra, allow_nan=False, default=dict)
    except (ValueError, TypeError, RecursionError):
        raise UsageError("extra_body of the model must be JSON, without NaN or Infinity") from None


def shown_url(url: str | None) -> str | None:
    """An address as it may be shown: without userinfo, query and fragment, where keys are kept by some."""
    if url is None:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(an address that cannot be read)"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
