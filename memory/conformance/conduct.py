"""Rules on how it behaves: what it declares holds, its numbers are plain, nobody has to wait for it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Coroutine
from typing import Any

from memory.conformance.subject import NotAsked, Subject, ensure, past, query
from simulator.core.traits import declares
from simulator.core.types import MS
from simulator.timing.clock import real_ns

__all__ = ["CHECKS", "every_call_comes_back"]

_WORDS: dict[str, set[Any]] = {
    "as_of": {"native", "stream_order_only"},
    "isolation": {"native", "collection", "none"},
    "mutates_past": {True, False},
    "llm_per_write": {True, False},
}
_INLINE_NS = 100 * MS


def every_call_comes_back(s: Subject) -> None:
    """The first of all rules: with a memory that blocks, no other can be tried."""
    pairs = past(6)
    memory = s.filled(pairs)
    items = s.ask_all(memory, pairs, pairs[-1][0].end_ns)
    text = memory.render(items)
    ensure(isinstance(text, str), f"render() gives a {type(text).__name__}, not a text")


def closing_raises_nothing(s: Subject) -> None:
    memory: Any = s.filled(past(6))
    if not s.has(memory, "close"):
        raise NotAsked("it has no close()")
    ended = memory.close()
    if inspect.isawaitable(ended):
        s.run(_awaited(ended))


async def _awaited(ended: Any) -> None:
    await ended


def an_inline_memory_never_suspends_or_blocks(s: Subject) -> None:
    memory: Any = s.memory()
    if not declares(memory, "inline"):
        raise NotAsked("it does not declare to be inline")
    event, label = past()[1]
    for _ in range(3):  # a machine that is busy elsewhere is slow once, a memory that blocks always
        works: list[Coroutine[Any, Any, Any]] = [
            memory.observe(event),
            memory.feedback(event, label),
            s.upkeep(memory, event.end_ns),
            memory.recall(query(event, event.end_ns), 5, None),
        ]
        begun, waits = real_ns(), False
        for work in works:
            try:
                work.send(None)
                waits = True
            except StopIteration:
                continue
            finally:
                work.close()
        ensure(not waits, "it declares inline = True and waits for something: without the declaration it gets a thread")
        if real_ns() - begun < _INLINE_NS:
            return
    ensure(False, "it declares inline = True and blocks for over 100 ms: without the declaration it gets a thread")


def statistics_are_plain_numbers(s: Subject) -> None:
    memory: Any = s.filled(past())
    if not hasattr(memory, "stats"):
        raise NotAsked("it has no stats()")
    try:
        json.dumps(dict(memory.stats()), allow_nan=False)
    except (TypeError, ValueError) as error:
        ensure(False, f"stats() must be a mapping of names to plain numbers and texts: {error}")


def capabilities_use_the_known_words(s: Subject) -> None:
    for key, value in getattr(s.memory(), "capabilities", {}).items():
        if key in _WORDS:
            known = ", ".join(sorted(map(str, _WORDS[key])))
            ensure(value in _WORDS[key], f"capabilities: {key} is {value!r}, and a result knows {known}")


CHECKS = (
    an_inline_memory_never_suspends_or_blocks,
    statistics_are_plain_numbers,
    capabilities_use_the_known_words,
    closing_raises_nothing,
)
