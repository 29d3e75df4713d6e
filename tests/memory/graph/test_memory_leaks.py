"""Canaries: what is planted in the future, at another user's or in the moment's own label stands in no prompt."""

import asyncio
from typing import Any

import pytest

from agents.testing import FakeMeter
from memory.base import LabelBook, View, make_memory
from simulator.core.types import SECOND, Event, Label
from simulator.session.truth import Opportunity, Truth

MEMORIES = [
    "window", "rag", "rag:documents=all", "rag:documents=help,template=paper", "graph", "personas", "class-prior",
    "graph:keyword_conditional=help_only,show_next=true,keyword_mean=all", "recency", "random", "oracle", "threads",
    "rag+graph", "graph+personas", "threads+window+rag:documents=all+kg",
]  # fmt: skip
SHARED = ["graph:scope=global", "graph:scope=backoff,show_next=true", "class-prior:scope=global", "shuffled-user",
          "shuffled-user:of=graph", "rag+graph:scope=global"]  # fmt: skip
N, NEEDS = 40, ("Translation", "Coding/Programming")


def planted(user: str) -> list[tuple[Event, Label]]:
    """Events each of whose pieces has a word of its own: the title, the intention, the question."""
    out = []
    for n in range(N):
        title = f"parser draft {NEEDS[n % 2]} canary{user}title{n}x"
        event = Event(f"{user}/{n}", user, n * 30 * SECOND, (n + 1) * 30 * SECOND, "code", title)
        need = f"{NEEDS[n % 2]} canary{user}need{n}x"
        question = f"how is canary{user}question{n}x done"
        when = event.end_ns - 5 * SECOND if n % 3 else event.end_ns + 45 * SECOND
        out.append((event, Label(event.id, user, True, when, need, question)))
    return out


async def prompts(spec: str) -> list[tuple[int, int, str]]:
    """(index of the event in hand, instant, what a prompt would hold), asked all along and again when all is known."""
    mine, theirs = planted("ada"), planted("bob")
    needs = [Opportunity(f"o{n}", e.start_ns, lb.available_ns, str(lb.intention)) for n, (e, lb) in enumerate(mine)]
    truth = Truth("s", "ada", N * 30 * SECOND, opportunities=tuple(needs))
    memory: Any = make_memory(spec, seed=1, truth=truth, others={"bob": theirs})
    steps = []
    for event, label in [*mine, *([] if "shuffled" in spec else theirs)]:
        steps.append((event.end_ns, 0, event, label))
        steps.append((max(event.end_ns, label.available_ns), 1, event, label))
        if event.user == "ada":
            steps += [(event.start_ns + s * SECOND, 2, event, label) for s in (0, 10, 20)]
    found, asked = [], []
    for at_ns, what, event, label in sorted(steps, key=lambda step: step[:2]):
        if what == 0:
            await memory.observe(event)
        elif what == 1:
            await memory.feedback(event, label)
            if hasattr(memory, "maintain"):
                await memory.maintain(at_ns)
        else:
            found.append(await _prompt(memory, event, at_ns))
            asked.append((event, at_ns))
    found += [await _prompt(memory, event, at_ns) for event, at_ns in asked]  # as of then, when all is known
    return found


async def _prompt(memory: Any, event: Event, at_ns: int) -> tuple[int, int, str]:
    view = View(memory, LabelBook(), event.user, at_ns, event.app, event.title, None, FakeMeter())
    items = await view.recall(12)
    said = " ".join(f"{i.text} {i.query} {i.intention}" for i in items)
    return int(event.id.partition("/")[2]), at_ns, f"{view.render(items)} {said}"


@pytest.mark.parametrize("spec", [*MEMORIES, *SHARED])
def test_nothing_planted_stands_in_a_prompt_before_its_time_or_at_another_user(spec: str) -> None:
    told = asyncio.run(prompts(spec))
    mine = planted("ada")
    if spec != "oracle":  # each need is new here, so it has nothing to recall
        assert any("canary" in text for _, _, text in told), "the canaries can be seen at all"
    for n, at_ns, text in told:
        for later, (event, label) in enumerate(mine):
            if event.end_ns > at_ns and later != n:  # its own window's title is what is asked about
                assert f"title{later}x" not in text.replace("canarybob", "")
            if max(event.end_ns, label.available_ns) > at_ns:
                for piece in (f"canaryadaneed{later}x", f"canaryadaquestion{later}x"):
                    assert piece not in text, f"the label of event {later} was told at event {n}"
                for piece in (f"canarybobneed{later}x", f"canarybobquestion{later}x"):
                    assert piece not in text
        if spec in MEMORIES:
            assert "canarybob" not in text
