"""What a memory recalls is looked through before an agent reads it, and a wrong item is told as the memory's fault."""

from typing import Any

import numpy as np
import pytest

from memory.answered import check_items
from memory.base import LabelBook, View, as_memory
from simulator.core.errors import InputError
from simulator.core.types import Event, MemoryItem, Query
from simulator.runs.blame import said
from simulator.timing.meter import SilentMeter


class Mine:
    """Recalls what it was made with."""

    def __init__(self, found: Any) -> None:
        self._found = found

    def observe(self, event: Event) -> None: ...
    def recall(self, query: Query, k: int, token_budget: int | None) -> Any:
        return self._found


class Awaited(Mine):
    async def observe(self, event: Event) -> None: ...  # type: ignore[override]
    async def feedback(self, event: Event, label: Any) -> None: ...
    async def recall(self, query: Query, k: int, token_budget: int | None) -> Any:
        return self._found

    def render(self, items: Any) -> Any:
        return None


def item(**fields: Any) -> MemoryItem:
    told: dict[str, Any] = {"text": "a title", "score": 1.0} | fields
    return MemoryItem(**told)


def view(made: Any) -> View:
    return View(as_memory(made), LabelBook(), "u", 0, None, None, None, SilentMeter())


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        (["a title"], "recall gives a list with a str: a MemoryItem"),
        ([item(text=None)], "text is None"),
        ([item(text=b"a title")], "text is a bytes"),
        ([item(score="high")], "score is a str: a finite number"),
        ([item(score=float("nan"))], "score is nan"),
        ([item(score=float("inf"))], "score is inf"),
        ([item(), item(help=1.7)], "help is 1.7: a share from 0 to 1 is wanted, or None"),
        ([item(help="often")], "help is a str"),
        ([item(help=float("nan"))], "help is nan"),
        ([item(latest_source_ns=float("nan"))], "latest_source_ns is nan: whole nanoseconds"),
        ([item(latest_source_ns="now")], "latest_source_ns is a str"),
        ([item(tokens=None)], "tokens is None"),
        ([item(source_event_ids="s/1")], "source_event_ids is a str"),
        ([item(source_event_ids=(["s/1"],))], "source_event_ids holds a list"),
        ([item(intention=3)], "intention is 3"),
        ([item(query=("a title",))], "query is a tuple"),
    ],
)
async def test_a_wrong_item_is_the_memorys_fault_by_class_and_field(found: Any, wrong: str) -> None:
    for cls in (Mine, Awaited):
        with pytest.raises(InputError) as caught:
            await view(cls(found)).recall()
        kind, text = said(caught.value)
        assert (kind, text.startswith(f"the memory's recall(): InputError: memory {cls.__name__}: {wrong}")) == (
            "agent_error",
            True,
        ), text
        assert "a title" not in text


@pytest.mark.parametrize("found", [None, "a title", {}, 5])
async def test_no_list_at_all_is_told_too(found: Any) -> None:
    with pytest.raises(InputError, match="memory Awaited: recall gives"):
        await view(Awaited(found)).recall()


def test_numbers_of_numpy_and_lists_of_ids_are_as_good() -> None:
    check_items(
        None, [item(score=np.float32(0.5), help=np.float64(1), tokens=np.int64(3), latest_source_ns=np.int64(1))]
    )
    check_items(None, (item(score=3, help=True, source_event_ids=["s/1"]),))
    check_items(None, [])


async def test_a_rendering_that_is_no_text_is_the_memorys_fault() -> None:
    with pytest.raises(TypeError, match="render gives a NoneType, not a text") as caught:
        view(Awaited([])).render([item()])
    assert said(caught.value)[1].startswith("the memory's render(): TypeError")
