from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.evidence import LabelReader, weigh
from agents.prior import FALLBACK_THRESHOLD, LEAST_REHEARSED, Prior, best_threshold
from agents.testing import FakeMemoryView, FakeMeter, observe
from memory.base import LabelBook, View, as_memory, make_memory
from simulator.core.types import SECOND, Decision, Event, Label, MemoryItem, Observation, Query, Setup

NEEDED = MemoryItem("…", 0.9, help=1.0, intention="Coding/Programming", query="why does it fail?")
NOT = MemoryItem("…", 0.9, help=0.0)


def labelled(n: int, title: str, need: str | None, query: str | None = None) -> tuple[Event, Label]:
    event = Event(f"h/{n}", "user", n, n + 1, "code", title)
    return event, Label(event.id, "user", need is not None, n + 1, need, query)


def reader(*labels: tuple[Event, Label]) -> LabelReader:
    made = LabelReader()
    made.read(labels)
    return made


def test_an_items_own_fields_are_evidence_weighted_by_score() -> None:
    found = weigh([NEEDED, MemoryItem("…", 0.3, help=0.0)], reader())
    assert found is not None
    assert found.share == pytest.approx(0.75)
    assert (found.intention, found.query, found.n_items) == ("Coding/Programming", "why does it fail?", 2)


def test_else_the_labels_of_its_source_events_are() -> None:
    known = reader(labelled(1, "x", "Translation", "what is this"), labelled(2, "y", None))
    found = weigh([MemoryItem("a summary", 0.5, ("h/1", "h/2", "h/unknown"))], known)
    assert found is not None
    assert (found.share, found.intention, found.query) == (0.5, "Translation", "what is this")


def test_else_the_nearest_labels_vote_over_its_text() -> None:
    known = reader(labelled(1, "train times Berlin", "Information Lookup"), labelled(2, "quarterly budget", None))
    found = weigh([MemoryItem("the user looked at train times to Berlin", 0.5)], known)
    assert found is not None
    assert (found.share, found.intention) == (1.0, "Information Lookup")
    assert weigh([MemoryItem("季度报告", 0.5)], known) is None
    assert weigh([], known) is None


async def test_what_usually_comes_next_is_told_and_changes_no_evidence() -> None:
    past = [labelled(n, "parser", "Coding/Programming") for n in range(0, 12, 2)]
    mail = [
        (Event(f"m/{n}", "user", n, n + 1, "mail", "code"), Label(f"m/{n}", "user", False, n + 1))
        for n in range(1, 13, 2)
    ]
    known = reader(*past, *mail)
    found, told = [], []
    for spec in ("graph", "graph:show_next=true"):
        memory = as_memory(make_memory(spec))
        for pair in zip(past, mail, strict=True):
            for event, label in pair:
                await memory.observe(event)
                await memory.feedback(event, label)
        items = await memory.recall(Query("user", "code", "parser", None, 100), 10, None)
        told.append(sum("usually comes" in item.text for item in items))
        found.append(weigh(items, known))
        # Alone, as with k=1 or a small budget, it is no evidence either, though it reads like mail's windows.
        assert all(weigh([item], known) is None for item in items if "usually comes" in item.text)
    assert told == [0, 1]
    assert found[0] == found[1]


def test_scores_on_a_foreign_scale_give_way_to_ranks() -> None:
    items = [MemoryItem("…", -3.5, help=1.0), MemoryItem("…", -9.0, help=0.0)]
    found = weigh(items, reader())
    assert found is not None
    assert found.share == pytest.approx(2 / 3)


async def decide(agent: Prior, *observations: Observation) -> list[Decision]:
    return [await agent.decide(o) for o in observations]


async def test_it_offers_once_in_an_open_event_with_the_earlier_question() -> None:
    agent = Prior()
    seconds = [observe(i, app="code", title="a", since_ns=0, items=[NEEDED]) for i in range(3)]
    first, *rest = await decide(agent, *seconds)
    (offer,) = first.offers
    assert (offer.intention, offer.confidence) == ("Coding/Programming", 1.0)
    assert "why does it fail?" in offer.text
    assert rest == [Decision(), Decision()]
    (again,) = await decide(agent, observe(9, app="code", title="a", since_ns=9 * SECOND, items=[NEEDED]))
    assert again.offers


async def test_it_stays_silent_below_the_threshold() -> None:
    half = MemoryItem("…", 0.9, help=0.4, intention="Translation")
    assert await decide(Prior(), observe(0, app="code", items=[half])) == [Decision()]
    assert (await decide(Prior(threshold=0.4), observe(0, app="code", items=[half])))[0].offers
    assert await decide(Prior(threshold=0.0), observe(0, app="code", items=[NOT])) == [Decision()]


async def test_without_usable_evidence_it_says_so_and_stays_silent() -> None:
    meter = FakeMeter()
    agent = Prior()
    seen = [observe(i, app="code", since_ns=0, items=[MemoryItem("?", 1.0)], meter=meter) for i in range(5)]
    assert await decide(agent, *seen) == [Decision()] * 5
    assert meter.notes == {"no_usable_evidence": 1}


async def test_memory_is_asked_again_only_when_something_changed() -> None:
    agent = Prior()
    memory = FakeMemoryView([NOT])
    await decide(agent, *(observe(i, app="code", title="a", since_ns=0, memory=memory) for i in range(59)))
    assert memory.asked == 1
    await decide(agent, observe(59, app="code", title="b", memory=memory))
    assert memory.asked == 2
    memory.labels = [labelled(1, "x", None)]
    await decide(agent, observe(59, app="code", title="b", memory=memory))
    assert memory.asked == 3
    await decide(agent, observe(60, app="code", title="b", memory=memory))
    assert memory.asked == 4


async def test_the_threshold_is_learned_from_rehearsals_only() -> None:
    agent = Prior()
    for n in range(40):
        share, needed = (0.3, True) if n % 4 == 0 else (0.2, False)
        item = MemoryItem("…", 1.0, help=share, intention="Translation")
        seen = observe(n, app="code", items=[item])
        await agent.rehearse(seen, Label("e", "user", needed, seen.now_ns, "Translation" if needed else None))
    low, high = (MemoryItem("…", 1.0, help=s, intention="Translation") for s in (0.2, 0.3))
    assert (await decide(agent, observe(50, title="a", items=[low]))) == [Decision()]
    assert (await decide(agent, observe(51, title="b", items=[high])))[0].offers


async def test_it_waits_where_the_user_usually_asked_late() -> None:
    agent = Prior(threshold=0.5, lead_s=60)
    for n, asked_s in enumerate((10, 90, 90)):  # half the first decile is 5 s, a lead before the median 30 s
        seen = observe(n, items=[NEEDED])
        await agent.rehearse(seen, Label("e", "user", True, seen.now_ns + asked_s * SECOND, "Translation"))
    early, late = (observe(i, app="code", since_ns=0, items=[NEEDED]) for i in (29, 30))
    assert [bool(d.offers) for d in await decide(agent, early, late)] == [False, True]
    alone = Prior(threshold=0.5)
    await alone.open(Setup("s", "user", {}, (), 0, protocol="moments"))
    assert all(d.offers for d in await decide(alone, early, early))


async def test_it_lets_a_need_show_and_leaves_time_for_the_answer() -> None:
    agent = Prior(threshold=0.5)
    for n in range(10, 30):
        seen = observe(n, items=[NEEDED])
        await agent.rehearse(seen, Label("e", "user", True, seen.now_ns + n * SECOND, "Translation"))
    early, late = (observe(i, app="code", since_ns=0, items=[NEEDED]) for i in (5, 6))
    assert [bool(d.offers) for d in await decide(agent, early, late)] == [False, True]


Pairs = st.lists(st.tuples(st.none() | st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]), st.booleans()), max_size=60)


@given(Pairs)
def test_no_threshold_has_a_better_f1_than_the_learned_one(pairs: list[tuple[float | None, bool]]) -> None:
    def f1(threshold: float) -> float:
        said = [needed for s, needed in pairs if s is not None and s > 0 and s >= threshold]
        out_of = len(said) + sum(needed for _, needed in pairs)
        return 2 * sum(said) / out_of if out_of else 0.0

    chosen = best_threshold(pairs)
    if len(pairs) < LEAST_REHEARSED:
        assert chosen == FALLBACK_THRESHOLD
        return
    grid = [0.05, 0.1, 0.2, 0.25, 0.3, 0.5, 0.8, 1.0]
    assert f1(chosen) == max(f1(t) for t in grid)
    assert all(f1(t) < f1(chosen) for t in grid if t > chosen) or f1(chosen) == 0


class TextOnly:
    """Somebody else's memory: texts, no labels, no source events."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def observe(self, event: Event) -> None:
        self.texts.append(f"The user was in {event.app} at {event.title}.")

    def recall(self, query: Any, k: int, token_budget: int | None) -> list[MemoryItem]:
        return [MemoryItem(t, 1.0) for t in self.texts if query.title in t][:k]


@pytest.mark.parametrize("spec", ["rag", "graph", "personas:refresh=10", "window", "text only", "none"])
async def test_it_finds_the_needs_of_a_made_up_user_with_every_memory(spec: str) -> None:
    """Help is always needed in one window and never in the other; the agent learns it from the history alone."""
    memory = as_memory(TextOnly()) if spec == "text only" else make_memory(spec)
    book, agent, meter = LabelBook(), Prior(), FakeMeter()
    windows = (("code", "parser traceback", "Coding/Programming"), ("photos", "holiday pictures", None))
    for n in range(-60, 0):
        app, title, need = windows[n % 2]
        event = Event(f"h/{n}", "user", n * 10 * SECOND, (n + 1) * 10 * SECOND, app, title)
        label = Label(event.id, "user", need is not None, event.end_ns, need, need and "why this traceback?")
        seen = observe(0, app=app, title=title, now_ns=event.start_ns, memory=_view(memory, book, event, meter))
        await agent.rehearse(seen, label)
        await memory.observe(event)
        book.add(event, label)
        await memory.feedback(event, label)
    if hasattr(memory, "maintain"):
        await memory.maintain(0)
    said = []
    for n in range(2):
        app, title, _ = windows[n]
        event = Event(f"s/{n}", "user", n * SECOND, n * SECOND, app, title)
        view = _view(memory, book, event, meter)
        seen = observe(n, app=app, title=title, since_ns=(n - 5) * SECOND, memory=view, meter=meter)
        said.append([o.intention for o in (await agent.decide(seen)).offers])
    if spec == "none":
        assert said == [[], []]
        assert meter.notes["no_usable_evidence"] == 2
    elif spec == "window":  # it cannot tell windows apart, only that help was needed lately
        assert said[0] == ["Coding/Programming"]
    else:
        assert said == [["Coding/Programming"], []]


def _view(memory: Any, book: LabelBook, event: Event, meter: FakeMeter) -> Any:
    return View(memory, book, "user", event.start_ns, event.app, event.title, None, meter)
