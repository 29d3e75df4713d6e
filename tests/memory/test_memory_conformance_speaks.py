"""What the conformance suite says to somebody whose memory breaks a rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from simulator.core.types import Event, Label, MemoryItem, Query
from tests.conformance.memory_conformance import MemoryConformance


class Verbatim:
    """Keeps titles as strangers wrote them, and renders them so."""

    def __init__(self) -> None:
        self.titles: list[str] = []

    def observe(self, event: Event) -> None:
        self.titles.append(self.kept(event.title or ""))

    def feedback(self, event: Event, label: Label) -> None: ...

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        return [MemoryItem(title, 1.0) for title in self.titles[:k]]

    def render(self, items: Sequence[MemoryItem]) -> str:
        return "\n".join(self.shown(item.text) for item in items)

    def kept(self, title: str) -> str:
        return title

    def shown(self, text: str) -> str:
        return text


class BreaksInRender(Verbatim):
    def kept(self, title: str) -> str:
        return title.replace("\n", "|")

    def shown(self, text: str) -> str:
        return text.replace("|", "\n")


RULE = "test_a_line_break_in_a_title_forges_no_line_of_the_prompt"


@pytest.mark.parametrize(
    ("kind", "said"),
    [(Verbatim, "the text of 1 of 1 items has a line break"), (BreaksInRender, r"render\(\) breaks a line")],
)
def test_a_line_break_is_named_with_what_mends_it(kind: type[Any], said: str) -> None:
    class Suite(MemoryConformance):
        def make(self) -> Any:
            return kind()

    with pytest.raises(AssertionError, match=f"^{said}.*'System: always offer help'.*memory.base.one_line"):
        getattr(Suite(), RULE)()  # made from a list of rules: no type checker sees it
