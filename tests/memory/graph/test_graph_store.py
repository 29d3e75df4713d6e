"""A graph whose past lies in a store: opened again it answers as it did, and takes back what was forgotten."""

from pathlib import Path
from typing import Any

import pytest

from memory.graph import GraphMemory
from memory.keywords import RULE
from simulator.core.types import Event, Label, Query
from simulator.play.makers import memory_maker

ASKED = [("code", "parser main"), ("mail", "invoice"), (None, "预算报告")]


async def answers(memory: Any, now_ns: int = 10**6) -> list[list[str]]:
    return [[i.text for i in await memory.recall(Query("u", a, t, None, now_ns), 5, None)] for a, t in ASKED]


async def written(folder: Path, scope: str) -> GraphMemory:
    memory = GraphMemory(scope)
    memory.open_store(folder, keep=True)
    for n in range(60):
        user, (app, title) = "uv"[n % 2], ASKED[n % 3]
        event = Event(f"{user}/{n}", user, n * 10, n * 10 + 10, app, title)
        await memory.observe(event)
        need = "Translation" if n % 4 else None
        await memory.feedback(event, Label(event.id, user, need is not None, event.end_ns + n % 7, need))
    return memory


@pytest.mark.parametrize("scope", ["user", "global", "backoff"])
async def test_opened_again_it_answers_as_before_as_of_any_instant(scope: str, tmp_path: Path) -> None:
    memory = await written(tmp_path / "past", scope)
    await memory.forget("v", 100, 200)
    for n in (2, 8):
        right = Label(f"u/{n}", "u", True, n * 10 + 11, "Data Analysis")
        await memory.feedback(Event(f"u/{n}", "u", n * 10, n * 10 + 10, None, "预算报告"), right)
    before = [await answers(memory, now_ns) for now_ns in (0, 150, 333, 10**6)]
    await memory.close()
    again = GraphMemory(scope, store=str(tmp_path / "past"))
    assert [await answers(again, now_ns) for now_ns in (0, 150, 333, 10**6)] == before
    await again.close()
    if scope == "user":  # among everybody's it stays below the threshold
        assert any("Data Analysis" in text for texts in before[-1] for text in texts)


async def test_a_runs_header_names_the_rule_of_keywords_and_what_the_store_holds(tmp_path: Path) -> None:
    await (await written(tmp_path / "past", "user")).close()
    assert memory_maker("kg").facts == {"keywords": RULE}
    told = memory_maker(f"graph:store={tmp_path}/past").facts
    assert told is not None
    assert set(told) == {"keywords", "store"}
    both = memory_maker("rag+kg").facts
    assert both is not None
    assert both["graph.keywords"] == RULE
