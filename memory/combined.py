"""Several memories as one, as in ``rag+graph``: each is written to, each is asked, one budget is shared.

``RULE`` names how: of the token budget every memory has an even part of its own, spent in turns, one item each, best
first, until k items are taken; what is then left of the budget goes to whoever has an item that fits, again in turns.
An item costs its tokens and its mark, a memory's first one also the memory's heading (``heading``, where it has one).
Where there is a budget, ours are asked for three times k items without one: what would fit is then not kept back behind
an item that does not. Others are told the whole budget, since they may write their items to measure.

Items keep their own scores and name the memory that told them (``MemoryItem.memory``); in a prompt each memory speaks
under its own heading, in the order in which they were named.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memory.answered import check_items
from memory.past import Remembered
from memory.wording import MARK, PAST, estimate_tokens, render_lines
from simulator.core.errors import UsageError, quote
from simulator.core.protocols import Memory
from simulator.core.registry import model_wanted
from simulator.core.traits import declares, trait
from simulator.core.types import Event, Label, MemoryItem, Query

__all__ = ["RULE", "Combined", "Mixer", "Part", "parted", "share_out"]

RULE = "even-parts-in-turns/3"
_WIDER = 3  # times k items of which to take those that fit
_PLUS = re.compile(r"\+(?!\d)")  # 1e+5 is a number
_ISOLATION = {"native": 0, "collection": 1, "none": 2}


def parted(text: str, known: Collection[str]) -> list[str]:
    """The specs that a text joins by ``+``; one where it joins none.

    A plus within a path or a number joins nothing: what stands before it has to be a name of ``known``, or a
    ``path.py:Class``, unless no path follows it.

    >>> parted("rag:documents=all+graph", {"rag", "graph"}), parted("./c++/mine.py:Mine", {"rag"})
    (['rag:documents=all', 'graph'], ['./c++/mine.py:Mine'])
    """
    found, begun = [], 0
    for plus in _PLUS.finditer(text):
        piece = text[begun : plus.start()]
        if ".py:" in piece or piece.partition(":")[0] in known or ".py:" not in text[plus.end() :]:
            found.append(piece)
            begun = plus.end()
    return [*found, text[begun:]]


@dataclass(frozen=True, slots=True)
class Part:
    """One memory of a combination: its short name, its class, what was written of it, and what makes one."""

    name: str
    cls: Callable[..., Any]
    params: Mapping[str, Any]
    make: Callable[..., Memory]


class Mixer:
    """Makes a combination; to a registry it looks like a class whose parameters are those of its parts.

    Args:
        parts: in the order in which they speak.

    Raises:
        UsageError: two parts want the run's model in different forms.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = tuple(parts)
        self.classes = tuple(part.cls for part in parts)
        self.__doc__ = "Several memories as one."
        self.__name__ = "+".join(part.name for part in parts)
        if len({wanted for cls in self.classes if (wanted := model_wanted(cls)) is not None}) > 1:
            raise UsageError(f"memory {quote(self.__name__)}: its parts want the run's model in different forms")
        self.sees_truth = any(declares(cls, "sees_truth") for cls in self.classes)
        self.__signature__ = self._signature()

    def _signature(self) -> inspect.Signature:
        takes: dict[str, inspect.Parameter] = {}
        for cls in self.classes:
            for name, param in inspect.signature(cls).parameters.items():
                if param.kind in (param.POSITIONAL_OR_KEYWORD, param.KEYWORD_ONLY):
                    takes.setdefault(name, param.replace(kind=param.KEYWORD_ONLY, default=None))
        return inspect.Signature(list(takes.values()))

    def header_facts(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """What the parts say of themselves for the log's header."""
        told: dict[str, Any] = {"combination": RULE}
        for part in self._parts:
            facts = trait(part.cls, "header_facts")
            if callable(facts):
                told |= {f"{part.name}.{key}": value for key, value in facts(part.params).items()}
        return told

    def asks_model(self, params: Mapping[str, Any]) -> bool:
        """Whether a part asks the run's model with its parameters."""
        told = [(trait(part.cls, "asks_model"), part.params) for part in self._parts]
        return any(callable(asks) and asks(of) for asks, of in told)

    def asks_before(self, params: Mapping[str, Any]) -> int | None:
        """How often they ask it before time 0, at most; None where one of them cannot tell."""
        total = 0
        for part in self._parts:
            asks, before = trait(part.cls, "asks_model"), trait(part.cls, "asks_before")
            if callable(asks) and asks(part.params):
                if not callable(before):
                    return None
                total += before(part.params)
        return total

    def __call__(self, **given: Any) -> Combined:
        """One that nobody else has; each part takes what it knows of what is given."""
        told: Mapping[str, Any] = given.pop("header_facts", None) or {}
        parts = []
        for part in self._parts:
            of_it = {key.removeprefix(f"{part.name}."): told[key] for key in told if key.startswith(f"{part.name}.")}
            parts.append((part.name, part.make(**given, header_facts=of_it)))
        return Combined(parts)


class Combined:
    """Implements ``Memory`` over several.

    Args:
        parts: their names and the memories, in the order in which they speak; a name that repeats gets a number. One
            that remembers nothing is left out, unless all do.
    """

    def __init__(self, parts: Sequence[tuple[str, Memory]]) -> None:
        seen: Counter[str] = Counter()
        self._parts: dict[str, Any] = {}
        for name, memory in [(n, m) for n, m in parts if not declares(m, "inert")] or parts:
            seen[name] += 1
            self._parts[name if seen[name] == 1 else f"{name}#{seen[name]}"] = memory
        memories = list(self._parts.values())
        self.inline = all(declares(m, "inline") for m in memories)
        self.inert = all(declares(m, "inert") for m in memories)
        self.noted = tuple(dict.fromkeys(name for m in memories for name in trait(m, "noted", ())))
        lags = [ns for m in memories if isinstance(ns := trait(m, "upkeep_lag_ns"), int)]
        self.upkeep_lag_ns = min(lags) if lags else None
        told: list[Mapping[str, Any]] = [trait(m, "capabilities", {}) for m in memories]
        self.capabilities: Mapping[str, Any] = {
            "as_of": "native" if all(c.get("as_of") == "native" for c in told) else "stream_order_only",
            "isolation": max((c.get("isolation", "none") for c in told), key=lambda w: _ISOLATION.get(w, 2)),
            "mutates_past": any(c.get("mutates_past", False) for c in told),
            "llm_per_write": any(c.get("llm_per_write", False) for c in told),
        }
        self._heads = [estimate_tokens(_heading(m)) + MARK for m in memories]  # and the empty line between two
        self._n: Counter[str] = Counter()

    @property
    def parts(self) -> Mapping[str, Any]:
        """The memories by their names."""
        return self._parts

    async def observe(self, event: Event) -> None:
        """Each takes it in; all of that is one write, and charged as one."""
        for memory in self._parts.values():
            await memory.observe(event)

    async def feedback(self, event: Event, label: Label) -> None:
        """Likewise."""
        for memory in self._parts.values():
            await memory.feedback(event, label)

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        """At most k items of all, by their own scores, best first; see ``RULE``.

        Raises:
            InputError: what one of them gave are no items, see ``answered``.
        """
        found = []
        for name, memory in self._parts.items():
            whole = token_budget is not None and isinstance(memory, Remembered)
            items = await (memory.recall(query, _WIDER * k, None) if whole else memory.recall(query, k, token_budget))
            check_items(memory, items)
            self._n[f"{name}.recalls"] += 1
            self._n[f"{name}.empty_return"] += k > 0 and not items
            found.append([replace(item, memory=name) for item in items])
        kept, left_out = share_out(found, k, token_budget, self._heads)
        self._n["over_budget"] += left_out
        return sorted(kept, key=lambda item: -item.score)

    def render(self, items: Sequence[MemoryItem]) -> str:
        """Each memory's items in its own words; those that name none of ours come last, a line each."""
        said = []
        for name, memory in self._parts.items():
            own = [item for item in items if item.memory == name]
            said.append(memory.render(own) if own else "")
        others = [item for item in items if item.memory not in self._parts]
        said.append(render_lines(others, PAST))
        return "\n\n".join(text for text in said if text)

    def needs_upkeep(self) -> bool:
        """Whether one of them has something heavy to do."""
        asked = [needs for memory in self._parts.values() if (needs := trait(memory, "needs_upkeep")) is not None]
        return any(needs() for needs in asked)

    async def maintain(self, now_ns: int) -> None:
        """Upkeep of those that know any."""
        for memory in self._parts.values():
            upkeep = trait(memory, "maintain")
            if upkeep is not None:
                await upkeep(now_ns)

    async def forget(self, user: str, start_ns: int, end_ns: int) -> int:
        """Each forgets; how much is gone of the one that held most.

        Raises:
            NotImplementedError: one of them cannot, and then none does.
        """
        for name, memory in self._parts.items():
            if trait(trait(memory, "plain", memory), "forget") is None:  # a thread has the method for all
                raise NotImplementedError(f"{name} has no forget()")
        gone = [await memory.forget(user, start_ns, end_ns) for memory in self._parts.values()]
        return max((n for n in gone if isinstance(n, int)), default=0)

    def stats(self) -> dict[str, Any]:
        """What a budget left out of the whole, and each memory's counts, its name before them, with how often it was
        asked and had nothing: that one part is always empty would not be seen otherwise.
        """
        told: dict[str, Any] = dict(sorted(self._n.items()))
        for name, memory in self._parts.items():
            own = trait(memory, "stats")
            told |= {f"{name}.{key}": value for key, value in (own() if own is not None else {}).items()}
        return told

    def save(self, folder: Path) -> None:
        """Each into a folder of its own, by its place."""
        folder.mkdir(parents=True, exist_ok=True)
        for n, memory in enumerate(self._parts.values(), 1):
            _stored(memory, "save")(folder / str(n))

    def load(self, folder: Path) -> None:
        """Read back what ``save`` stored."""
        for n, memory in enumerate(self._parts.values(), 1):
            _stored(memory, "load")(folder / str(n))

    async def close(self) -> None:
        """Let those go that hold something."""
        for memory in self._parts.values():
            close = trait(memory, "close")
            ended = close() if close is not None else None
            if inspect.isawaitable(ended):
                await ended


def _stored(memory: Any, name: str) -> Callable[[Path], None]:
    method: Callable[[Path], None] | None = trait(memory, name)
    if method is None:
        raise NotImplementedError(f"{type(memory).__name__} has no {name}()")
    return method


def _heading(memory: Any) -> str:
    """What a memory writes above its items; empty where that is not known."""
    plain = trait(memory, "plain", memory)  # a thread speaks for what has no words of its own
    said = trait(plain, "heading", "" if callable(trait(plain, "render")) else PAST)
    return said if isinstance(said, str) else ""


def share_out(found: Sequence[Sequence[MemoryItem]], k: int, token_budget: int | None,
              heads: Sequence[int] = ()) -> tuple[list[MemoryItem], int]:  # fmt: skip
    """At most k items of several lists within one budget, by ``RULE``.

    Args:
        found: each memory's items, best first.
        k: how many in all.
        token_budget: tokens for all of them, with marks and headings; None for no limit.
        heads: tokens of each memory's heading; none by default.

    Returns:
        The items in the order of taking, and how many were passed over because they did not fit.
    """
    kept: list[MemoryItem] = []
    waiting = [_Waiting(list(items), head) for items, head in zip(found, heads or [0] * len(found), strict=True)]
    if token_budget is None:
        _in_turns(waiting, k, kept, [None] * len(found))
        return kept, 0
    share = token_budget // max(len(found), 1)
    own = [[share] for _ in found]
    _in_turns(waiting, k, kept, own)
    rest = [token_budget - sum(share - purse[0] for purse in own)]  # one purse, held by all
    _in_turns(waiting, k, kept, [rest] * len(found))
    left_out = sum(len(one.items) for one in waiting) if len(kept) < k else 0
    return kept, left_out


@dataclass(slots=True)
class _Waiting:
    """A memory's items that were not taken yet, and what its heading costs, 0 once that is paid."""

    items: list[MemoryItem]
    head: int


def _in_turns(waiting: Sequence[_Waiting], k: int, kept: list[MemoryItem],
              purses: Sequence[list[int] | None]) -> None:  # fmt: skip
    """Take the best item that each purse can pay, turn by turn, out of ``waiting`` into ``kept``."""
    while len(kept) < k:
        before = len(kept)
        for one, purse in zip(waiting, purses, strict=True):
            most = None if purse is None else purse[0] - one.head - MARK
            place = next((i for i, item in enumerate(one.items) if most is None or item.tokens <= most), None)
            if place is None or len(kept) >= k:
                continue
            item = one.items.pop(place)
            kept.append(item)
            if purse is not None:
                purse[0] -= item.tokens + MARK + one.head
                one.head = 0
        if len(kept) == before:
            return
