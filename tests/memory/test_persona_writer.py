"""Personas by a model: its words, our numbers, marked, kept by content, and never a silent stand-in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base import make_memory
from memory.persona_writer import Material, PersonaWriter
from memory.personas import PersonaMemory
from memory.wording import estimate_tokens
from simulator.core.errors import ProactError, UsageError
from simulator.core.types import Event, Label, MemoryItem, Query
from simulator.endpoint.types import EndpointError
from tests.answering import Answering, Said

GOOD = (
    "The user maintains a small compiler and keeps going back and forth between the parser and its tests in the "
    "editor, mostly to find out why one of them fails. Short explanations of grammar rules and a fitting line of code "
    "are welcome there; long tutorials are not."
)
IDENTITY = r"m1, prompt [0-9a-f]{12}"


def writing(*answers: Said, kept: Path | None = None, refresh: int = 50) -> tuple[PersonaMemory, Answering]:
    model = Answering(*answers)
    return PersonaMemory(refresh=refresh, lag_s=0, model=PersonaWriter(model, "m1", kept=kept)), model


async def add(memory: Any, n: int, start: int = 0) -> None:
    for i in range(start, start + n):
        helped = i % 2 == 0
        app, title = ("code", f"parser main {i % 4}") if helped else ("mail", f"holiday photos {i % 3}")
        event = Event(f"s/{i}", "u", i * 10, i * 10 + 10, app, title, summary="looked at a test" if helped else None)
        need = "Coding/Programming" if helped else None
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, "u", helped, event.end_ns, need, "why?" if helped else None))


async def personas(memory: PersonaMemory) -> list[MemoryItem]:
    return await memory.recall(Query("u", None, None, None, 10_000, "code parser main mail holiday photos"), 5, None)


async def test_a_persona_is_the_models_words_between_our_numbers() -> None:
    memory, model = writing(GOOD)
    await add(memory, 40)
    await memory.maintain(10_000)
    items = {item.help: item for item in await personas(memory)}
    assert items[1.0].text.startswith(f"Moments with help needed (20): {GOOD} Main need: Coding")
    assert items[1.0].tokens == estimate_tokens(items[1.0].text)
    assert 100 <= items[1.0].tokens <= 120
    assert items[1.0].intention == "Coding/Programming"
    assert len(model.asked) == len(items)
    told = model.texts(0)
    assert "Window: code, “parser main" in told
    assert "What happened: looked at a test" in told
    assert "A question the user asked: why?" in told
    assert "20" not in told.split("Moments in which")[1]


async def test_the_prompt_part_and_the_counts_say_who_wrote_it() -> None:
    memory, _ = writing(GOOD)
    await add(memory, 40)
    await memory.maintain(10_000)
    head = memory.render(await personas(memory)).splitlines()[0]
    assert re.fullmatch(rf"Kinds of moments in the user's past \(personas written by {IDENTITY}\):", head)
    stats = memory.stats()
    assert re.fullmatch(IDENTITY, str(stats["writer"]))
    assert stats["personas_written"] >= 2
    assert memory.inline is False
    assert memory.capabilities["llm_per_write"] is True
    assert "extractive" in PersonaMemory().heading
    assert PersonaMemory.inline is True


async def test_which_personas_are_near_is_the_same_by_whichever_writer() -> None:
    written, _ = writing(GOOD)
    extracted = PersonaMemory()
    for memory in (written, extracted):
        await add(memory, 40)
        await memory.maintain(10_000)
    ours, theirs = await personas(extracted), await personas(written)
    assert [(i.score, i.help, i.intention, i.source_event_ids) for i in ours] == [
        (i.score, i.help, i.intention, i.source_event_ids) for i in theirs
    ]


async def test_a_cluster_that_only_grew_is_not_asked_about_again() -> None:
    memory, model = writing(GOOD, refresh=12)
    await add(memory, 48)
    assert not model.asked  # the history comes in: nobody reads these texts yet
    await memory.maintain(10_000)
    asked = len(model.asked)
    await add(memory, 12, start=48)
    assert memory.needs_upkeep()
    await memory.maintain(10_000)
    assert memory.stats()["builds"] == 2
    assert len(model.asked) == asked
    assert memory.stats()["personas_known"] >= asked
    assert "(30): The user" in next(i.text for i in await personas(memory) if i.help == 1.0)


async def test_what_was_written_is_kept_in_a_file_for_the_next_run(tmp_path: Path) -> None:
    kept = tmp_path / "texts.jsonl"
    for n_asked in (2, 0):
        memory, model = writing(GOOD, kept=kept)
        await add(memory, 40)
        await memory.maintain(10_000)
        assert len(model.asked) == n_asked
        assert all(GOOD in item.text for item in await personas(memory))


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "No.",
        EndpointError("timeout", "no answer"),
        EndpointError("empty", "nothing"),
        EndpointError("refused", "no"),
    ],
)
async def test_where_the_model_fails_the_extractive_text_stays_and_says_so(answer: Said) -> None:
    memory, _ = writing(GOOD, answer)
    await add(memory, 40)
    await memory.maintain(10_000)
    items = await personas(memory)
    assert len(items) == 2
    assert sum(item.text.startswith("(extractive) Moments with") for item in items) == 1
    assert memory.stats()["personas_failed"] == 1
    assert memory.noted == ("personas_failed",)


@pytest.mark.parametrize("answer", ["", EndpointError("server", "status 500")])
async def test_a_model_that_never_gives_a_text_is_an_error(answer: Said) -> None:
    memory, _ = writing(answer)
    await add(memory, 40)
    with pytest.raises(ProactError, match="the model m1 gave no text that can be used, for any of 2 personas"):
        await memory.maintain(10_000)


@pytest.mark.parametrize(("kind", "status"), [("unauthorized", 401), ("connection", None), ("refused", 400)])
async def test_nobody_to_ask_is_an_error_and_no_extractive_memory(kind: Any, status: int | None) -> None:
    memory, _ = writing(EndpointError(kind, "it is no use", status=status))
    await add(memory, 40)
    with pytest.raises(EndpointError, match="it is no use"):
        await memory.maintain(10_000)


async def test_what_is_forgotten_is_in_no_persona() -> None:
    memory, _ = writing(GOOD)
    await add(memory, 40)
    await memory.maintain(10_000)
    await memory.forget("u", 0, 205)
    assert memory.stats()["events"] == 19
    assert all("(9)" in i.text or "(10)" in i.text for i in await personas(memory))


def test_a_writer_without_a_model_says_what_is_missing() -> None:
    with pytest.raises(UsageError, match="--model NAME"):
        make_memory("personas:writer=model")
    with pytest.raises(UsageError, match="writer must be one of extractive, model"):
        make_memory("personas:writer=poet")


MATERIAL = Material(
    "Moments in which the user needed help",
    "Moments with help needed (3)",
    "Of the 3 moments nearest these 100 % needed help",
    ("a",),
)


@pytest.mark.parametrize("unit", ["The user tries it again. ", "用户再次尝试。", "again "])
async def test_a_long_text_is_cut_behind_a_sentence_or_a_word(unit: str) -> None:
    writer = PersonaWriter(Answering(unit * 100), "m")
    (text,) = await writer.write([MATERIAL])
    assert text is not None
    assert MATERIAL.room * 0.6 <= estimate_tokens(text) <= MATERIAL.room + 20
    assert text.endswith((".", "。", "again…"))
    assert writer.n["personas_cut"] == 1


@given(st.text(max_size=900))
async def test_whatever_a_model_writes_becomes_one_line_that_fits_or_nothing(said: str) -> None:
    (text,) = await PersonaWriter(Answering(said), "m").write([MATERIAL])
    if text is not None:
        assert len(text.splitlines()) == 1
        assert 15 <= estimate_tokens(text) <= MATERIAL.room + 21


@given(st.text(max_size=80), st.text(max_size=80))
def test_titles_of_strangers_add_no_lines_to_the_question(summary: str, question: str) -> None:
    material = Material("o", "h", "t", ("w",), (summary,), ("n",), question)
    assert len(material.said.splitlines()) <= 5
