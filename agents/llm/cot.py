"""``cot``: the four steps of thought of ProAgentBench, written down before the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.base import agents
from agents.llm.zero_shot import OneQuestion

__all__ = ["Cot"]


@agents.register("cot")
class Cot(OneQuestion):
    """Asks a model to think in four steps before it answers."""

    TASK = "task_cot"

    def schema(self, what: str) -> Mapping[str, Any] | None:
        """None where the steps are to be written: a schema would leave no place for them."""
        return super().schema(what) if what == "how" else None

    @classmethod
    def parts(cls, form: str) -> tuple[str, ...]:
        """See ``Asking``; in two stages the steps belong to the first question."""
        return (*(p for p in super().parts(form) if p != "task_when"), "task_cot_when")

    def when_task(self) -> str:
        """The first question of two, with the steps."""
        return "task_cot_when"
