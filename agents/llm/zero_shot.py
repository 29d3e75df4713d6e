"""``zero-shot``: one question, one answer; in two stages first when, then how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from agents.base import agents
from agents.llm.ask import Asking, Question, strategy
from agents.llm.parse import Said, read_answer
from simulator.core.errors import UsageError
from simulator.core.protocols import Meter
from simulator.core.types import Decision, Observation
from simulator.endpoint.types import NO_PARAMS

__all__ = ["OneQuestion", "ZeroShot", "answer_schema"]


@strategy
class OneQuestion(Asking):
    """A strategy that asks whether, with what and how in one question, or in two.

    Args:
        stages: 1: all in one; 2: first whether help is wanted, and only then with what.
        common: see ``Asking``.
    """

    TASK: ClassVar[str] = ""
    concurrent = "stateless"

    def __init__(self, *, stages: int = 1, **common: Any) -> None:
        if stages not in (1, 2):
            raise UsageError(f"stages: 1 or 2 is wanted, not {stages}")
        super().__init__(**common)
        self._stages = stages

    @classmethod
    def parts(cls, form: str) -> tuple[str, ...]:
        """See ``Asking``."""
        answers = (f"answer_{form}", f"answer_when_{form}", f"answer_how_{form}")
        return ("system", "context", "memory", cls.TASK, "task_when", "task_how", *answers)

    async def decide(self, observation: Observation) -> Decision:
        """Ask, and read the answer."""
        question = await self.question(observation)
        return self.decision(await self.ask(question, observation.meter), observation.meter)

    async def ask(self, question: Question, meter: Meter, params: Mapping[str, Any] = NO_PARAMS) -> Said | None:
        """One answer to a question; None where it cannot be read."""
        if self._stages == 1:
            return await self._asked(question, self.TASK, "both", meter, params)
        when = await self._asked(question, self.when_task(), "when", meter, params)
        if when is None or not when.help:
            return when
        how = await self._asked(question, "task_how", "how", meter, params)
        if how is None:  # whether is known, with what is not
            return Said(True, when.rule)
        return Said(True, f"{when.rule}, {how.rule}", how.intention, how.text, how.confidence)

    def when_task(self) -> str:
        """The first question of two."""
        return "task_when"

    async def _asked(self, question: Question, task: str, what: str, meter: Meter,
                     params: Mapping[str, Any]) -> Said | None:  # fmt: skip
        with meter.stage("build"):
            form = {"both": "", "when": "when_", "how": "how_"}[what]
            values = {"intentions": self.named}
            values["answer"] = self.prompts.fill(f"answer_{form}{self.form}", values)
            messages = question.messages(self.prompts.fill(task, values))
        reply = await self.chat(messages, meter, schema=self.schema(what), params=params)
        with meter.stage("parse"):
            return read_answer(reply.text, self.intentions, asked=what)

    def schema(self, what: str) -> Mapping[str, Any] | None:
        """Of the answer in JSON."""
        return answer_schema(self.intentions, what)


def answer_schema(intentions: Sequence[str], what: str = "both") -> Mapping[str, Any]:
    """The JSON schema of an answer: strict, so every field is required and may be null where it has no meaning."""
    need: dict[str, Any] = {"need_help": {"type": "boolean"}}
    named = {"type": "string", "enum": list(intentions)}
    null = {"type": "null"}
    how = {"intention": named, "offer": {"type": "string"}}
    maybe = {"intention": {"anyOf": [named, null]}, "offer": {"anyOf": [{"type": "string"}, null]}}
    fields = {"both": need | maybe, "when": need, "how": how}[what]
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


@agents.register("zero-shot")
class ZeroShot(OneQuestion):
    """Asks a model once a decision: is help wanted, of which category, in which words."""

    TASK = "task_zero_shot"
