"""A class whose methods are partly async is refused when it is made, with what to do about it."""

from typing import Any

import pytest

from memory.base import as_memory
from simulator.core.errors import UsageError


class Waits:
    async def observe(self, event: Any) -> None: ...
    async def feedback(self, event: Any, label: Any) -> None: ...
    async def recall(self, query: Any, k: int, token_budget: int | None) -> list[Any]:
        return []

    def render(self, items: Any) -> str:
        return ""


class Plain:
    def observe(self, event: Any) -> None: ...
    def recall(self, query: Any, k: int, token_budget: int | None) -> list[Any]:
        return []


def _plain(self: Any, *given: Any) -> None: ...
async def _waits(self: Any, *given: Any) -> None: ...


@pytest.mark.parametrize("name", ["observe", "feedback", "maintain", "forget"])
def test_one_plain_method_among_async_ones_and_the_other_way_round(name: str) -> None:
    mixed = type("Mixed", (Waits,), {name: _plain})
    with pytest.raises(UsageError, match=rf"the memory Mixed: recall\(\) is async and {name}\(\) is not: make .* all"):
        as_memory(mixed())
    mixed = type("Mixed", (Plain,), {name: _waits})
    with pytest.raises(UsageError, match=rf"the memory Mixed: {name}\(\) is async and recall\(\) is not: make .* all"):
        as_memory(mixed())


@pytest.mark.parametrize("name", ["render", "stats", "save", "load"])
def test_what_is_never_awaited_may_not_be_async(name: str) -> None:
    for base in (Waits, Plain):
        with pytest.raises(UsageError, match=rf"the memory Mixed: {name}\(\) is async: render, stats, save, load are"):
            as_memory(type("Mixed", (base,), {name: _waits})())


def test_those_that_are_alike_are_taken() -> None:
    made = type("Whole", (Waits,), {"maintain": _waits, "forget": _waits, "stats": _plain, "close": _plain})()
    assert as_memory(made) is made
    assert as_memory(type("Whole", (Plain,), {"forget": _plain, "close": _waits})()) is not None
