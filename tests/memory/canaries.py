"""Canaries: what is planted in the future, at another user's or in the moment's own label, and looking for it in all
that an agent could put into a prompt.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from agents.testing import FakeMeter
from memory.base import LabelBook, View, make_memory
from simulator.core.types import SECOND, Event, Label
from simulator.session.truth import Opportunity, Truth

NEEDS = ("Translation", "Coding/Programming")
ALONE = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What could stand in a prompt: of the event in hand, at an instant, by one memory or (``ALONE``) as one text."""

    n: int
    at_ns: int
    memory: str
    text: str


def planted(user: str, n_events: int) -> list[tuple[Event, Label]]:
    """Events each of whose pieces has a word of its own: the title, the short description, the intention, the question.
    Two of three labels are known before their event closes, the third comes later.
    """
    out = []
    for n in range(n_events):
        title = f"parser draft {NEEDS[n % 2]} canary{user}title{n}x"
        what = f"canary{user}summary{n}x"
        event = Event(f"{user}/{n}", user, n * 30 * SECOND, (n + 1) * 30 * SECOND, "code", title, summary=what)
        need = f"{NEEDS[n % 2]} canary{user}need{n}x"
        question = f"how is canary{user}question{n}x done"
        when = event.end_ns - 5 * SECOND if n % 3 else event.end_ns + 45 * SECOND
        out.append((event, Label(event.id, user, True, when, need, question)))
    return out


def made(spec: str, n_events: int, **given: Any) -> Any:
    """A memory that is given what a run would give it."""
    needs = [
        Opportunity(f"o{n}", event.start_ns, label.available_ns, str(label.intention))
        for n, (event, label) in enumerate(planted("ada", n_events))
    ]
    truth = Truth("s", "ada", n_events * 30 * SECOND, opportunities=tuple(needs))
    return make_memory(spec, seed=1, truth=truth, others={"bob": planted("bob", n_events)}, **given)


async def told_by(memory: Any, n_events: int, again: bool = True) -> list[Told]:
    """Everything that a memory tells of ada beside bob, asked all along and, with ``again``, as of the same instants
    when all is known.
    """
    steps = []
    for event, label in [*planted("ada", n_events), *planted("bob", n_events)]:
        steps.append((event.end_ns, 0, event, label))
        steps.append((max(event.end_ns, label.available_ns), 1, event, label))
        if event.user == "ada":
            steps += [(event.start_ns + s * SECOND, 2, event, label) for s in (0, 10, 27)]
    found, asked = [], []
    for at_ns, what, event, label in sorted(steps, key=lambda step: step[:2]):
        if what == 0:
            await memory.observe(event)
        elif what == 1:
            await memory.feedback(event, label)
            if hasattr(memory, "maintain"):
                await memory.maintain(at_ns)
        else:
            found += await _ask(memory, event, at_ns)
            asked.append((event, at_ns))
    for event, at_ns in asked if again else ():
        found += await _ask(memory, event, at_ns)
    return found


async def _ask(memory: Any, event: Event, at_ns: int) -> list[Told]:
    view = View(memory, LabelBook(), event.user, at_ns, event.app, event.title, None, FakeMeter())
    items = await view.recall(12)
    n = int(event.id.partition("/")[2])
    said = [Told(n, at_ns, i.memory or ALONE, f"{i.text} {i.query} {i.intention}") for i in items]
    return [Told(n, at_ns, ALONE, view.render(items)), *said]


def ensure_nothing_leaks(told: list[Told], n_events: int, sharing: Collection[str] = (),
                         until_ns: int | None = None) -> None:  # fmt: skip
    """Assert that no canary stands where it must not.

    Args:
        told: of one memory, see ``told_by``.
        n_events: of each user.
        sharing: parts that may tell of other users, as items name them. A text of all parts may then tell of them too.
        until_ns: nothing later may be told, whenever the question is asked.
    """
    mine, theirs = planted("ada", n_events), planted("bob", n_events)
    for one in told:
        by_ns = one.at_ns if until_ns is None else min(one.at_ns, until_ns)
        if not sharing or (one.memory != ALONE and one.memory not in sharing):
            assert "canarybob" not in one.text, f"{one.memory or 'it'} told ada of bob"
        if "canary" not in one.text:
            continue
        for user, past in (("ada", mine), ("bob", theirs)):
            for n, (event, label) in enumerate(past):
                in_hand = user == "ada" and n == one.n  # its own window's title is what is asked about
                if event.end_ns > by_ns and not in_hand:
                    assert f"canary{user}title{n}x" not in one.text, f"a window of the future, {n}, was told at {one.n}"
                if event.end_ns > by_ns:
                    assert f"canary{user}summary{n}x" not in one.text, f"what happens in {n} was told at {one.n}"
                if max(event.end_ns, label.available_ns) > by_ns:
                    for piece in ("need", "question"):
                        found = f"canary{user}{piece}{n}x" in one.text
                        assert not found, f"the label of event {n} was told at event {one.n}"
