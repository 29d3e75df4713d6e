"""An answer as it comes, piece by piece, and the checks that make it a whole one. What was thought is kept apart."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simulator.core.errors import quote
from simulator.endpoint.types import EndpointError, Message, Usage

__all__ = ["Gathered", "Piece", "apart", "estimated", "usage_of"]

Piece = tuple[int, str, str]
"""When it came (ns since the call was made), ``t`` for text or ``r`` for reasoning, and what it says."""
_THOUGHT = re.compile(r"<(think|thinking)>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHT = re.compile(r"</(?:think|thinking)>", re.IGNORECASE)


class Gathered:
    """Collects what a stream says. Nothing is taken on trust: another type than the expected one is ``bad_json``.

    Args:
        fit: makes a server's own words fit to be shown.
    """

    def __init__(self, fit: Callable[[str], str] = quote) -> None:
        self._fit = fit
        self.pieces: list[Piece] = []
        self.finish: str | None = None
        self.model: str | None = None
        self.usage: Mapping[str, Any] | None = None
        self.ended = False

    def take(self, payload: bytes, at_ns: int) -> bool:
        """One event of the stream; whether it is the last.

        Raises:
            EndpointError: ``bad_json``, or the error that the server tells in its stream.
        """
        if payload == b"[DONE]":
            self.ended = True
            return True
        self.add(parsed(payload), at_ns)
        return False

    def add(self, said: Mapping[str, Any], at_ns: int) -> None:
        """A chunk, or a whole completion from a server that does not stream.

        Raises:
            EndpointError: see ``take``.
        """
        if said.get("error"):
            raise EndpointError("server", f"the server broke off: {self._fit(error_text(said))}")
        if isinstance(model := said.get("model"), str):
            self.model = model
        if isinstance(usage := said.get("usage"), Mapping):
            self.usage = usage
        choices = said.get("choices") or ()
        if not isinstance(choices, Sequence) or isinstance(choices, str):
            raise EndpointError("bad_json", "the answer's choices are no list")
        for choice in choices:
            if not isinstance(choice, Mapping):
                raise EndpointError("bad_json", "a choice of the answer is no object")
            if choice.get("index") in (0, None):
                self._choice(choice, at_ns)

    def _choice(self, choice: Mapping[str, Any], at_ns: int) -> None:
        delta = choice.get("delta") or choice.get("message") or {}
        if not isinstance(delta, Mapping):
            raise EndpointError("bad_json", "a piece of the answer is no object")
        for field in ("reasoning_content", "reasoning"):
            if delta.get(field):
                self._piece(at_ns, "r", delta[field])
                break  # some servers send both, with the same in them
        if delta.get("content"):
            self._content(at_ns, delta["content"])
        if delta.get("refusal"):
            raise EndpointError("refused", "the model declined to answer")
        if choice.get("finish_reason"):
            self.finish = str(choice["finish_reason"])

    def _content(self, at_ns: int, content: Any) -> None:
        if isinstance(content, str):
            self._piece(at_ns, "t", content)
            return
        if not isinstance(content, list):
            raise EndpointError("bad_json", "a piece of the answer is neither text nor a list of parts")
        for part in content:  # some send parts, thoughts among them
            if isinstance(part, Mapping) and isinstance(part.get("text"), str):
                self._piece(at_ns, "t", part["text"])
            elif isinstance(part, Mapping) and part.get("type") == "thinking":
                self._piece(at_ns, "r", json.dumps(part.get("thinking"), ensure_ascii=False))

    def _piece(self, at_ns: int, kind: str, text: Any) -> None:
        if not isinstance(text, str):
            raise EndpointError("bad_json", "a piece of the answer is no text")
        self.pieces.append((at_ns, kind, text))

    def check(self) -> None:
        """Whether a whole answer came.

        Raises:
            EndpointError: ``truncated``, ``empty``, ``length``, ``refused``.
        """
        text, reasoning = apart(self.pieces)
        if self.finish is None:
            if not self.pieces:
                raise EndpointError("empty", "the stream ended, and nothing was in it")
            raise EndpointError("truncated", "the stream ended before the answer did")
        if self.finish == "length":
            raise EndpointError("length", "the answer was cut at the limit of tokens")
        if self.finish in ("content_filter", "error"):
            raise EndpointError("refused", f"the provider ended the answer ({self.finish})")
        if not text.strip():
            thought = ", only reasoning" if reasoning else ""
            raise EndpointError("empty", f"the answer holds no text{thought}")


def apart(pieces: Sequence[Piece]) -> tuple[str, str]:
    """Text, and reasoning: what the server told apart, and what stands between ``<think>`` and ``</think>``.

    A block that is never closed is reasoning to its end. A closing mark alone ends reasoning too: many templates put
    the opening one into the prompt.

    >>> apart([(0, "t", "<think>hm"), (1, "t", "</think>Yes")])
    ('Yes', 'hm')
    """
    text = _whole("".join(said for _, kind, said in pieces if kind == "t"))
    thoughts = [_whole("".join(said for _, kind, said in pieces if kind == "r"))]
    if "<" in text:
        thoughts += [match[2] for match in _THOUGHT.finditer(text)]
        text = _THOUGHT.sub("", text)
        if ends := list(_END_OF_THOUGHT.finditer(text)):
            thoughts.append(text[: ends[-1].start()])
            text = text[ends[-1].end() :]
    return text.strip(), "\n".join(t.strip() for t in thoughts if t.strip())


def _whole(text: str) -> str:
    """Halves of characters that came in two pieces are joined, lone ones replaced: nothing else can write them."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parsed(payload: bytes) -> Mapping[str, Any]:
    """A JSON object.

    Raises:
        EndpointError: ``bad_json``.
    """
    try:
        said = json.loads(payload.decode("utf-8"))
    except UnicodeDecodeError:
        raise EndpointError("bad_json", "the answer is not UTF-8") from None
    except (ValueError, RecursionError):
        raise EndpointError("bad_json", "the answer is not JSON") from None
    if not isinstance(said, Mapping):
        raise EndpointError("bad_json", "the answer is JSON, but no object")
    return said


def error_text(said: Mapping[str, Any]) -> str:
    """The sentence in the many forms of an error object; still in the server's words."""
    error = said.get("error", said.get("detail", said.get("message", said)))
    for _ in range(4):
        if not isinstance(error, Mapping):
            break
        error = error.get("message") or error.get("error") or error.get("code") or json.dumps(error, default=str)
    return str(error)


def usage_of(
    said: Mapping[str, Any] | None, pieces: Sequence[Piece], messages: Sequence[Message], images: int
) -> Usage:
    """Tokens by the server's figures, else estimated. Servers count reasoning among the output: here it is apart."""
    tokens_in, out = _count(said, "prompt_tokens"), _count(said, "completion_tokens")
    if said is None or tokens_in is None or out is None:
        return estimated(pieces, messages, images)
    reasoning = _count(said.get("completion_tokens_details"), "reasoning_tokens")
    if reasoning is None:
        text, thought = apart(pieces)
        reasoning = out * len(thought) // max(1, len(thought) + len(text))
    reasoning = min(reasoning, out)
    cached = min(_count(said.get("prompt_tokens_details"), "cached_tokens") or 0, tokens_in)
    return Usage(tokens_in, out - reasoning, reasoning, cached, images)


def estimated(pieces: Sequence[Piece], messages: Sequence[Message], images: int) -> Usage:
    """A quarter of a token a byte of UTF-8, since no server told: right within some 30 % for English and Chinese.
    Pictures are counted as such, not in tokens.
    """
    text, thought = apart(pieces)
    asked = sum(_tokens(part) for message in messages for part in message.parts if isinstance(part, str))
    return Usage(asked, _tokens(text), _tokens(thought), 0, images, estimated=True)


def _tokens(text: str) -> int:
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


def _count(said: Any, name: str) -> int | None:
    value = said.get(name) if isinstance(said, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10**12 else None
