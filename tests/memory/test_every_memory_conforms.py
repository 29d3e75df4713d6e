from typing import Any

import pytest

from memory.base import make_memory, memories, one_line
from simulator.core.types import Event, Label, MemoryItem, Query
from simulator.session.truth import Truth
from tests.conformance.memory_conformance import MemoryConformance

ADAPTERS = {"graphiti", "http", "letta", "mem0"}  # servers and libraries of others: tests/memory/adapters
OPTIONS = [
    "graph:scope=global",
    "graph:scope=backoff,keyword_conditional=help_only,show_next=true",
    "rag:documents=all",
    "rag:documents=help,template=paper",
    "personas:linkage=personax",
    "personas:cap=2,cap_policy=keep_largest,max_texts=3",
    "graph:scope=backoff,keyword_mean=all",
    "class-prior:scope=backoff",
    "shuffled-user:of=graph",
    "rag+graph",
    "graph+personas+window+recency",
    "rag:documents=all+graph:scope=backoff,show_next=true",
    "none+rag+rag:documents=help",
    "rag+oracle",
]


class TestEveryRegisteredMemoryConforms(MemoryConformance):
    @pytest.fixture(autouse=True, params=[*sorted({*memories.names()} - ADAPTERS), *OPTIONS])
    def _spec(self, request: pytest.FixtureRequest) -> None:
        self.spec: str = request.param

    def make(self) -> Any:
        return make_memory(self.spec, seed=1, intentions=("Coding/Programming",), truth=Truth("s", "ada", 10))


class PlainNotes:
    """A text-only memory of somebody else's: ordinary methods, no labels, no help shares."""

    capabilities = {"as_of": "stream_order_only", "isolation": "native", "mutates_past": False}  # noqa: RUF012

    def __init__(self) -> None:
        self.notes: dict[str, dict[str, Event]] = {}

    def observe(self, event: Event) -> None:
        self.notes.setdefault(event.user, {})[event.id] = event

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        newest = reversed(self.notes.get(query.user, {}).values())
        items = [MemoryItem(one_line(f"{e.app} {e.title}"), 1.0, latest_source_ns=e.end_ns, tokens=9) for e in newest]
        return items[: k if token_budget is None else min(k, token_budget // 9)]


class TestAPlainClassOfSomebodyElseConforms(MemoryConformance):
    def make(self) -> Any:
        return PlainNotes()


class Leaking(PlainNotes):
    """Breaks rules, to see that the suite notices."""

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        everybody = [e for events in self.notes.values() for e in events.values()]
        return [MemoryItem(f"{e.app} {e.title}", float(i), tokens=9) for i, e in enumerate(everybody)]


@pytest.mark.parametrize(
    "rule",
    [
        "test_items_come_best_first_and_at_most_k",
        "test_items_fit_the_token_budget_together",
        "test_nothing_of_another_user_is_recalled",
    ],
)
def test_the_suite_finds_a_memory_that_breaks_a_rule(rule: str) -> None:
    class Suite(MemoryConformance):
        def make(self) -> Any:
            return Leaking()

    with pytest.raises(AssertionError):
        getattr(Suite(), rule)()


def test_a_label_told_before_its_event_waits_for_it() -> None:
    suite = TestEveryRegisteredMemoryConforms()
    suite.spec = "rag"
    memory = suite.make()
    event = Event("s/1", "u", 0, 10, "code", "main.py")
    suite.run(memory.feedback(event, Label("s/1", "u", True, 5, "Translation")))
    assert suite.ask(memory, Query("u", "code", "main.py", None, 20)) == []
    suite.run(memory.observe(event))
    (item,) = suite.ask(memory, Query("u", "code", "main.py", None, 20))
    assert (item.help, item.intention, item.latest_source_ns) == (1.0, "Translation", 10)
