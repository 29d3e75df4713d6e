import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from memory.base import CausalityError, LabelBook, View, as_memory, make_memory
from memory.view import Recalls, mostly_empty
from simulator.core.errors import UsageError
from simulator.core.protocols import MemoryView
from simulator.core.types import Event, Label, MemoryItem, Offer, Query


class Counting:
    """A meter that counts stages and notes."""

    def __init__(self) -> None:
        self.stages: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self.stages[name] += 1
        yield

    def note(self, key: str) -> None:
        self.notes[key] += 1

    def hits(self, n: int) -> None:
        self.notes["hits"] += n

    def usage(self, **used: Any) -> None: ...
    def first_token(self) -> None: ...
    def emit(self, offer: Offer) -> None: ...
    def waited(self, ns: int, *, retries: int = 0) -> None: ...
    def reported(self, within: str, stages: Mapping[str, int]) -> None: ...


def moment(n: int, known_ns: int, user: str = "u") -> tuple[Event, Label]:
    event = Event(f"s/{n}", user, n * 10, n * 10 + 10, "code", f"file {n}")
    return event, Label(event.id, user, True, known_ns, "Translation")


def test_a_view_sees_the_labels_of_its_moment_and_no_later_ones() -> None:
    book = LabelBook()
    book.add(*moment(0, 10))
    view = View(make_memory("none"), book, "u", 15, None, None, None, Counting())
    before = view.labels
    book.add(*moment(1, 20))
    assert [lb.event_id for _, lb in before] == ["s/0"]
    assert [lb.event_id for _, lb in view.labels] == ["s/0"]
    assert len(book.upto("u", 20)) == 2
    assert len(book.upto("somebody else", 20)) == 0
    assert before[-1] == before[0]
    with pytest.raises(IndexError):
        before[1]


def test_labels_that_arrive_late_keep_the_order_of_arrival() -> None:
    book = LabelBook()
    book.add(*moment(0, 30))
    book.add(*moment(1, 20))
    assert [e.id for e, _ in book.upto("u", 30)] == ["s/0", "s/1"]
    assert len(book.upto("u", 25)) == 0


def test_a_label_is_not_known_before_its_event_has_closed() -> None:
    book = LabelBook()
    event = Event("s/0", "u", 90, 200, "code", "file")
    book.add(event, Label(event.id, "u", True, 100, "Translation"))
    assert [len(book.upto("u", now_ns)) for now_ns in (100, 150, 199, 200)] == [0, 0, 0, 1]


def test_the_book_forgets_a_span_and_older_views_stay_whole() -> None:
    book = LabelBook()
    for n in range(5):
        book.add(*moment(n, n * 10 + 10))
    old = book.upto("u", 100)
    assert book.forget("u", 10, 30) == 3  # two events, and a label that became known at 10
    assert len(old) == 5
    assert [e.id for e, _ in book.upto("u", 100)] == ["s/3", "s/4"]


class Prophet:
    """Recalls what it cannot know."""

    inline = True

    async def observe(self, event: Event) -> None: ...
    async def feedback(self, event: Event, label: Label) -> None: ...
    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        return [MemoryItem("past", 1.0, latest_source_ns=5), MemoryItem("future", 1.0, latest_source_ns=50)]

    def render(self, items: Any) -> str:
        return ""


async def test_an_item_from_the_future_is_an_error_and_is_counted() -> None:
    meter = Counting()
    view = View(Prophet(), LabelBook(), "u", 10, None, None, None, meter)
    with pytest.raises(CausalityError, match="Prophet recalled 1 item"):
        await view.recall()
    assert meter.notes == {"memory_from_the_future": 1}
    assert view.hits == 0


async def test_an_item_that_cannot_be_checked_for_the_future_is_counted() -> None:
    class Vague(Prophet):
        async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
            return [MemoryItem("past", 1.0, latest_source_ns=5), MemoryItem("of when?", 1.0)]

    meter = Counting()
    assert len(await View(Vague(), LabelBook(), "u", 10, None, None, None, meter).recall()) == 2
    assert meter.notes["memory_items_unchecked"] == 1


async def test_a_plain_memory_that_looks_ahead_is_named_and_not_the_thread_around_it() -> None:
    class Seer:
        def observe(self, event: Event) -> None:
            """Nothing."""

        def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
            return [MemoryItem("future", 1.0, latest_source_ns=50)]

    memory = as_memory(Seer())
    view = View(memory, LabelBook(), "u", 10, None, None, None, Counting())
    with pytest.raises(CausalityError, match=r"^memory Seer recalled 1 item"):
        await view.recall()
    memory.close()  # type: ignore[attr-defined]


async def test_recall_is_timed_counted_and_asked_with_the_current_window() -> None:
    meter = Counting()
    memory = make_memory("rag")
    event, label = moment(1, 20)
    await memory.observe(event)
    await memory.feedback(event, label)
    view: MemoryView = View(memory, LabelBook(), "u", 20, "code", "file 1", None, meter)
    items = await view.recall(3)
    assert [i.source_event_ids for i in items] == [("s/1",)]
    assert meter.stages == {"retrieve": 1}
    assert isinstance(view, View)
    assert (view.hits, view.recalls, meter.notes["hits"]) == (1, 1, 1)
    assert "help needed: Translation" in view.render(items)
    assert view.render([]) == ""
    assert await view.recall(text="nothing alike 预算") == []


class Plain:
    """An ordinary class that must be called in one thread."""

    def __init__(self) -> None:
        self.threads: set[str] = set()

    def observe(self, event: Event) -> None:
        self.threads.add(threading.current_thread().name)
        if event.app == "crash":
            raise KeyError("its own mistake")

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        self.threads.add(threading.current_thread().name)
        return [MemoryItem("noted", 1.0)]


async def test_a_plain_class_runs_in_one_thread_of_its_own_and_its_errors_come_back() -> None:
    plain = Plain()
    memory = as_memory(plain)
    event, label = moment(1, 20)
    await memory.observe(event)
    await memory.feedback(event, label)  # it has no use for labels
    items = await memory.recall(Query("u", None, None, None, 20), 5, None)
    assert memory.render(items).endswith("- noted")
    with pytest.raises(KeyError, match="its own mistake"):
        await memory.observe(Event("s/9", "u", 0, 1, "crash"))
    assert plain.threads == {"memory"}
    with pytest.raises(NotImplementedError, match="Plain has no forget"):
        await memory.forget("u", 0, 1)  # type: ignore[attr-defined]
    memory.close()  # type: ignore[attr-defined]
    await asyncio.to_thread(lambda: None)


def test_unknown_options_of_a_memory_are_refused_with_a_hint() -> None:
    with pytest.raises(UsageError, match="did you mean 'scope'"):
        make_memory("graph:scop=user")
    with pytest.raises(UsageError, match="scope must be one of user, global, backoff"):
        make_memory("graph:scope=mine")
    with pytest.raises(UsageError, match="did you mean 'graph'"):
        make_memory("graf")


def test_a_plain_class_is_closed_in_its_own_thread() -> None:
    """Where it was used: an SQLite handle may be closed by no other. One that never was has no thread."""

    class Holding:
        closed: str | None = None

        def observe(self, event: Event) -> None:
            self.at = threading.current_thread().name

        def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
            return []

        def close(self) -> None:
            self.closed = threading.current_thread().name

    for used in (True, False):
        plain = Holding()
        memory = as_memory(plain)
        if used:
            asyncio.run(memory.observe(Event("s/1", "u", 0, 1)))
        memory.close()  # type: ignore[attr-defined]
        assert plain.closed == (plain.at if used else "MainThread")


class Some:
    """A memory of somebody else's: as many items as it has, and no word of how often it had none."""

    def __init__(self, n_items: int) -> None:
        self.items = [MemoryItem(f"note {n}", 1.0) for n in range(n_items)]

    def observe(self, event: Event) -> None: ...

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        return self.items[:k]


async def test_short_and_empty_answers_are_counted_whosever_memory_it_is() -> None:
    counts = Recalls()
    for n_items, k in ((0, 5), (3, 5), (5, 5), (9, 5), (0, 0)):
        view = View(as_memory(Some(n_items)), LabelBook(), "u", 15, None, None, None, Counting(), counts)
        await view.recall(k)
    assert counts.told() == {"recalls": 5, "empty_return": 1, "short_return": 1}


async def test_a_recall_that_brought_no_answer_is_none() -> None:
    class Broken(Some):
        def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
            raise KeyError("gone")

    class Ahead(Some):
        def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
            return [MemoryItem("of tomorrow", 1.0, latest_source_ns=99)]

    for kind, error in ((Broken, KeyError), (Ahead, CausalityError)):
        counts = Recalls()
        view = View(as_memory(kind(0)), LabelBook(), "u", 15, None, None, None, Counting(), counts)
        with pytest.raises(error):
            await view.recall()
        assert counts.n == 0


@pytest.mark.parametrize(("recalls", "empty", "said"), [
    (9, 5, "recalled nothing in 5 of 9 recalls"), (10, 5, None), (0, 0, None)
])  # fmt: skip
def test_mostly_empty_is_more_than_half(recalls: int, empty: int, said: str | None) -> None:
    assert mostly_empty(recalls, empty) == said
