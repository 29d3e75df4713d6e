"""What each memory computes, checked against small pasts counted by hand."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from memory import threads
from memory.base import make_memory
from memory.threads import Threaded
from simulator.core.errors import InputError
from simulator.core.types import SECOND, Event, Label, MemoryItem, Query

Row = tuple[str, str, str | None]


async def remembering(spec: str, rows: list[Row], user: str = "u") -> Any:
    """A memory of events of 10 ns, one for each (app, title, need or None)."""
    memory = make_memory(spec)
    await add(memory, rows, user)
    return memory


async def add(memory: Any, rows: list[Row], user: str = "u", start: int = 0) -> None:
    for n, (app, title, need) in enumerate(rows, start):
        event = Event(f"{user}/{n}", user, n * 10, n * 10 + 10, app, title)
        question = None if need is None else f"{need} in {title}?"
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, user, need is not None, event.end_ns, need, question))


async def ask(memory: Any, app: str, title: str, now_ns: int = 10_000, k: int = 5, user: str = "u") -> list[MemoryItem]:
    items: list[MemoryItem] = await memory.recall(Query(user, app, title, None, now_ns), k, None)
    return items


PAST: list[Row] = [
    ("code", "parser main", "Coding/Programming"),
    ("code", "parser test", "Coding/Programming"),
    ("code", "readme", None),
    ("code", "parser main", "Translation"),
    ("mail", "invoice", None),
]


async def test_the_graph_counts_help_by_app_and_by_word_as_the_paper_prints_it() -> None:
    memory = await remembering("graph", PAST)
    app, words = sorted(await ask(memory, "code", "parser invoice"), key=lambda i: not i.text.startswith("In code"))
    assert app.text == (
        "In code help was needed in 75 % of 4 moments, then for: Coding/Programming 67 %, Translation 33 %"
    )
    assert (app.help, app.intention, app.latest_source_ns) == (0.75, "Coding/Programming", 40)
    assert app.query == "Coding/Programming in parser test?"
    # parser: 3 moments, all with help, 2/3 and 1/3; invoice: 1 moment, none. The means are 1/3 and 1/6.
    assert words.help == 0.5
    assert "Coding/Programming 33 %, Translation 17 %" in words.text


async def test_a_keyword_prior_can_be_conditioned_on_help() -> None:
    memory = await remembering("graph:keyword_conditional=help_only", PAST)
    (words,) = [i for i in await ask(memory, "?", "parser invoice") if "title" in i.text]
    assert "Coding/Programming 67 %, Translation 33 %" in words.text


async def test_graph_shares_below_the_thresholds_are_left_out() -> None:
    rows: list[Row] = [*[("code", "parser", "Coding/Programming")] * 39, ("code", "parser", "Translation")]
    memory = await remembering("graph", rows)
    assert all("Translation" not in i.text for i in await ask(memory, "code", "parser"))


async def test_the_scope_of_the_graph_decides_whose_past_is_read() -> None:
    for scope, mine, theirs in (("user", 0.0, None), ("global", 0.5, 0.5), ("backoff", 0.0, 1.0)):
        memory = make_memory(f"graph:scope={scope}")
        await add(memory, [("code", "x", None)], "u")
        await add(memory, [("code", "x", "Translation"), ("mail", "y", "Translation")], "other")
        (app, *_) = [i for i in await ask(memory, "code", "") if i.text.startswith("In code")]
        assert app.help == (0.0 if mine == 0.0 else mine)
        mail = [i for i in await ask(memory, "mail", "") if i.text.startswith("In mail")]
        want = None if theirs is None else 1.0
        assert [i.help for i in mail] == ([] if want is None else [want])


async def test_the_graph_can_tell_what_comes_next() -> None:
    memory = await remembering("graph:show_next=true", PAST)
    assert "After code usually comes: mail 100 %" in [i.text for i in await ask(memory, "code", "")]


async def test_the_graph_answers_as_of_the_moment_asked_about() -> None:
    memory = await remembering("graph", PAST)
    (early,) = [i for i in await ask(memory, "code", "", now_ns=20) if i.text.startswith("In code")]
    assert (early.help, early.latest_source_ns, early.query) == (1.0, 20, "Coding/Programming in parser test?")


async def test_forgetting_takes_counts_back() -> None:
    memory = await remembering("graph", PAST)
    assert await memory.forget("u", 0, 20) == 2
    (app,) = [i for i in await ask(memory, "code", "") if i.text.startswith("In code")]
    assert app.help == 0.5


async def test_rag_recalls_the_nearest_documents_newest_first_among_equals() -> None:
    memory = await remembering("rag", PAST)
    items = await ask(memory, "code", "parser main", k=2)
    assert [i.source_event_ids[0] for i in items] == ["u/3", "u/0"]
    assert (
        items[0].text
        == "In code, “parser main”: help needed: Translation, the user asked “Translation in parser main?”"
    )
    assert items[0].score == pytest.approx(1.0)


async def test_rag_documents_are_the_labelled_events_unless_told_otherwise() -> None:
    sizes = {}
    for documents in ("labelled", "help", "all"):
        memory = await remembering(f"rag:documents={documents}", PAST)
        await memory.observe(Event("u/9", "u", 90, 100, "code", "parser open"))
        sizes[documents] = len(await ask(memory, "code", "parser readme invoice mail", k=50))
    assert sizes == {"labelled": 5, "help": 3, "all": 6}


async def test_rag_embeds_a_document_anew_when_its_label_becomes_known() -> None:
    memory = make_memory("rag:documents=all,template=paper")
    event = Event("s/1", "u", 0, 10, "code", "main")
    await memory.observe(event)
    assert [i.help for i in await ask(memory, "code", "main")] == [None]
    await memory.feedback(event, Label("s/1", "u", True, 30, "Translation"))
    (item,) = await ask(memory, "code", "main")
    assert (item.help, item.latest_source_ns) == (1.0, 30)
    assert item.score < 1.0  # the intention is part of what is embedded now
    (then,) = await ask(memory, "code", "main", now_ns=20)
    assert (then.help, then.latest_source_ns, then.score) == (None, 10, 1.0)  # as it was known before


async def test_the_window_holds_the_last_minutes_only() -> None:
    memory = make_memory("window:span_s=60")
    for n in range(100):
        event = Event(f"s/{n}", "u", n * 10 * SECOND, (n + 1) * 10 * SECOND, "code", f"file {n}")
        await memory.observe(event)
    items = await memory.recall(Query("u", "code", "", None, 1000 * SECOND), 50, None)
    assert [i.source_event_ids[0] for i in items] == [f"s/{n}" for n in range(99, 93, -1)]
    assert items[1].text.startswith("10 s ago, in code, “file 98”: not known")


async def test_the_window_counts_and_drops_a_label_of_an_event_that_is_out_of_it() -> None:
    memory: Any = make_memory("window:span_s=60")
    events = [Event(f"s/{n}", "u", n * 100 * SECOND, (n + 1) * 100 * SECOND, "code", "x") for n in range(4)]
    for event in events:
        await memory.observe(event)
    await memory.feedback(events[0], Label("s/0", "u", True, 400 * SECOND))
    await memory.feedback(events[3], Label("s/3", "u", True, 400 * SECOND))
    assert (memory.stats()["labels_out_of_window"], memory.stats()["labels"]) == (1, 1)
    assert memory._early == {}


def test_a_stored_memory_with_a_broken_line_is_refused_with_its_number(tmp_path: Path) -> None:
    (tmp_path / "past.jsonl").write_text('{"event": {"id": 1}, "label": null}\n', encoding="utf-8")
    memory: Any = make_memory("rag")
    with pytest.raises(InputError, match=r"past\.jsonl, line 1: not an event"):
        memory.load(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        memory.load(tmp_path / "nowhere")


def test_a_render_that_gives_no_text_is_refused_and_not_told_as_one() -> None:
    class Mute:
        def observe(self, event: Event) -> None: ...
        def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
            return []

        def render(self, items: list[MemoryItem]) -> None: ...

    with pytest.raises(TypeError, match="render gives a NoneType, not a text"):
        Threaded(Mute()).render([MemoryItem("x", 1.0)])


class Waits:
    """Its writes wait for a word, as one does that is on its way to a server."""

    def __init__(self) -> None:
        self.begun, self.word, self.closed = threading.Event(), threading.Event(), False

    def observe(self, event: Event) -> None:
        self.begun.set()
        self.word.wait(10)

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        return []

    def close(self) -> None:
        self.closed = True


async def _cut_off(plain: Waits) -> Threaded:
    """A write is on its way, and given up as by an interrupt."""
    memory = Threaded(plain)
    write = asyncio.create_task(memory.observe(Event("u/1", "u", 0, 10, "code", "x")))
    await asyncio.to_thread(plain.begun.wait, 10)
    write.cancel()
    await asyncio.wait([write])
    return memory


async def test_a_memory_is_closed_also_behind_a_write_that_an_interrupt_cut_off() -> None:
    plain = Waits()
    memory = await _cut_off(plain)
    threading.Timer(0.03, plain.word.set).start()
    memory.close()
    assert plain.closed


async def test_a_write_that_never_returns_is_waited_for_a_little_and_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CLOSE_S", 0.02)
    plain = Waits()
    (await _cut_off(plain)).close()
    assert not plain.closed
    plain.word.set()
