"""What is clustered apart, and what a question is compared to: the published reading beside ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.evidence import LabelReader, weigh
from memory.embed import HashEmbedder
from memory.persona_writer import PersonaWriter
from memory.personas import PersonaMemory
from simulator.core.types import SECOND, Event, Label, MemoryItem, Query
from tests.answering import Answering

PUBLISHED: dict[str, Any] = {"kinds": "assistance", "match": "text"}
GOOD = "The user looks after costs in long tables, adds them up by month and is glad of a formula that does it at once."


def past(n_asked: int = 10) -> list[tuple[Event, Label | None]]:
    """Three moments in a table and then one with an assistant, so many times. Help was needed in the third of them,
    which was known at the instant at which the assistant was opened.
    """
    out: list[tuple[Event, Label | None]] = []
    for n in range(n_asked):
        for i in range(3):
            start_ns, known_ns = (4 * n + i) * 10 * SECOND, (4 * n + i + 1) * 10 * SECOND
            event = Event(f"e{n}{i}", "u", start_ns, known_ns, "calc", f"Budget {i}.ods")
            asked = ("Data Analysis" if n else "Translation", "how do I add these up?") if i == 2 else ()
            out.append((event, Label(event.id, "u", i == 2, known_ns, *asked)))
        start_ns = (4 * n + 3) * 10 * SECOND
        title = "Assistant - new chat"
        out.append((Event(f"a{n}", "u", start_ns, start_ns + 10 * SECOND, "chrome", title, assistance=True), None))
    return out


async def filled(pairs: list[tuple[Event, Label | None]], **options: Any) -> PersonaMemory:
    memory = PersonaMemory(**options)
    for event, label in pairs:
        await memory.observe(event)
        if label is not None:
            await memory.feedback(event, label)
    await memory.maintain(10_000 * SECOND)
    return memory


async def ask(memory: PersonaMemory, app: str, title: str) -> list[MemoryItem]:
    return await memory.recall(Query("u", app, title, None, 10_000 * SECOND), 5, None)


async def test_events_with_an_assistant_are_clustered_apart_where_that_is_asked_for() -> None:
    alone = [(event, label) for event, label in past() if event.assistance]
    assert await ask(await filled(alone), "chrome", "Assistant - new chat") == []
    (only,) = await ask(await filled(alone, kinds="assistance"), "chrome", "Assistant - new chat")
    assert only.text.startswith(
        "Moments with an assistant (10): chrome, “Assistant - new chat”. The user had turned to an assistant. "
    )
    assert "These 10 are 100 % of all moments with an assistant, under 1 title." in only.text


async def test_they_tell_what_was_asked_there_and_count_in_no_share_of_help() -> None:
    memory = await filled(past(), kinds="assistance")
    assisted, *_ = await ask(memory, "chrome", "Assistant - new chat")
    assert (assisted.neutral, assisted.help, assisted.intention, assisted.query) == (True, None, None, None)
    assert (
        "The user had turned to an assistant, most often for Data Analysis (90 % of 10 known needs); an earlier "
        "question: “how do I add these up?”. Other needs of these: Translation 10 %."
    ) in assisted.text
    other, *_ = await ask(memory, "calc", "Budget.ods")
    assert other.text.startswith("Moments without an assistant (30): calc, “Budget")
    assert "Help was needed in 10 of 30 (33 %), most often for Data Analysis (90 % of 10)" in other.text
    assert (other.neutral, other.help, other.intention) == (False, 10 / 30, "Data Analysis")
    assert weigh([assisted], LabelReader()) is None
    found = weigh([assisted, other], LabelReader())
    assert found is not None
    assert found.share == pytest.approx(1 / 3)


async def test_a_share_of_help_is_of_the_moments_that_the_text_says() -> None:
    """30 moments in tables (10 with help), and 20 with none in another table of like words.

    Where help parts moments, a cluster's own share would be 1 or 0: it tells that of all moments near it, and says so.
    Where an assistant parts them, no text tells more than what its own moments needed.
    """
    pairs = past()
    for n in range(20):
        start_ns, end_ns = (100 + n) * 10 * SECOND, (101 + n) * 10 * SECOND
        event = Event(f"b{n}", "u", start_ns, end_ns, "calc", "Budget year plan costs.ods")
        pairs.append((event, Label(event.id, "u", False, event.end_ns)))
    theirs = await ask(await filled(pairs, kinds="assistance", threshold=0.3), "calc", "Budget.ods")
    own = {item.text.partition(":")[0]: (item.help, item.text) for item in theirs if not item.neutral}
    share, text = own["Moments without an assistant (30)"]
    assert share == 10 / 30
    assert "Help was needed in 10 of 30 (33 %), most often for Data Analysis (90 % of 10)" in text
    share, text = own["Moments without an assistant (20)"]
    assert share == 0
    assert "Help was needed in 0 of 20 (0 %). " in text
    ours = await ask(await filled(pairs), "calc", "Budget.ods")
    near = {item.text.partition(":")[0]: (item.help, item.text) for item in ours}
    share, text = near["Moments with help needed (10)"]
    assert share == 10 / 50
    assert "Main need: Data Analysis (90 % of these); an earlier question: “how do I add these up?”. " in text
    assert "Of the 50 moments nearest these 20 % needed help. " in text


async def test_by_default_moments_with_and_without_help_are_apart() -> None:
    texts = [item.text for item in await ask(await filled(past()), "calc", "Budget.ods")]
    assert sorted(text.partition(":")[0] for text in texts) == [
        "Moments with help needed (10)", "Moments without help needed (20)",
    ]  # fmt: skip


async def test_one_with_an_assistant_is_known_when_it_has_closed() -> None:
    memory = PersonaMemory(kinds="assistance", refresh=1, lag_s=0)
    (event, _) = next(one for one in past() if one[0].assistance)
    await memory.observe(event)
    asked = [await memory.recall(Query("u", "chrome", "Assistant", None, t), 5, None)
             for t in (event.end_ns - 1, event.end_ns)]  # fmt: skip
    assert [[item.latest_source_ns for item in items] for items in asked] == [[], [event.end_ns]]


def cosine(one: str, other: str) -> float:
    a, b = HashEmbedder().embed([one, other])
    return float(np.dot(a, b))


@pytest.mark.parametrize("written", [False, True])
async def test_what_a_question_is_compared_to_is_a_choice(written: bool) -> None:
    model = {"model": PersonaWriter(Answering(GOOD), "m")} if written else {}
    for options in ({}, {"match": "text"}):
        memory = await filled(past(), **model, **options)
        items = await ask(memory, "calc", "Budget costs by month.ods")
        assert any(GOOD[:40] in item.text for item in items) == written
        for item in items:
            near = cosine("calc Budget costs by month.ods", item.text)
            assert (item.score == pytest.approx(near, abs=1e-6)) == bool(options)


async def test_a_model_is_told_what_kind_of_moments_it_writes_of() -> None:
    model = Answering(GOOD)
    await filled(past(), **PUBLISHED, model=PersonaWriter(model, "m"))
    told = [model.texts(n) for n in range(len(model.asked))]
    assert sum("Moments in which the user worked with an assistant\n" in text for text in told) == 1
    assert sum("Moments in which the user worked without an assistant\n" in text for text in told) == 1
