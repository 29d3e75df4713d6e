"""What all strategies share: looking, remembering, putting the question together, reading the answer.

A question's parts come in the order context, memory, task (ProAgentBench, App. D); the profile is in the context of
every strategy. Pictures follow the context's text, oldest first, each with its age.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from agents.llm.history import RULE, duration, told
from agents.llm.modality import Eyes, Seen
from agents.llm.parse import Said
from agents.llm.prompts import Prompts
from simulator.core.errors import UsageError, nearest, quote
from simulator.core.intentions import INTENTIONS
from simulator.core.protocols import Meter
from simulator.core.types import Decision, ImageRef, Observation, Offer, Setup
from simulator.endpoint.types import NO_PARAMS, Message, Model, Reply

__all__ = ["FORMS", "Asking", "Question", "decided", "strategy"]

FORMS = ("lines", "json")
PLACES = ("memory", "system")
UNREAD = "Uncategorized"
"""The category of an offer whose own category could not be read, where it is in use."""
_NO_TEXT = {True: "(no text is known)", False: "(see the picture)"}

T = TypeVar("T", bound=type)


@dataclass(frozen=True, slots=True)
class Question:
    """All but the task: what the system part says, and what comes before the task."""

    system: str
    before: tuple[str | ImageRef, ...]

    def messages(self, task: str) -> tuple[Message, ...]:
        """Whole, with a task at its end."""
        parts: list[str | ImageRef] = []
        for part in (*self.before, task):
            if isinstance(part, str) and parts and isinstance(parts[-1], str):
                parts[-1] = f"{parts[-1]}\n\n{part}"
            else:
                parts.append(part)
        return Message("system", (self.system,)), Message("user", tuple(parts))


class Asking:
    """Base of the strategies.

    Args:
        modality: what is shown of the screen: ``text``, ``image`` or ``both``.
        frames: how many earlier pictures go along.
        recall: how many memory items are recalled.
        budget: tokens, as estimated, of profile, history and the screen's text together; ``history.RULE`` says what
            gives way.
        memory_budget: tokens of memory.
        personas: where memory stands: ``memory`` (the part after the context), or ``system`` (the system message).
        form: in which the answer is asked for: ``lines``, or ``json`` (with a schema where the server supports one).
        ocr: what reads pictures that carry no text: ``tesseract``, ``tesserocr``, ``rapidocr``, ``none``.
        prompts: a folder with prompts that come before ours.
        model: what is asked; the run gives it.

    Raises:
        UsageError: a parameter that is none.
    """

    PARTS: ClassVar[tuple[str, ...]] = ()
    """The prompts of the task."""

    def __init__(self, modality: str = "text", frames: int = 0, recall: int = 5, budget: int = 6000,
                 memory_budget: int = 1000, personas: str = "memory", form: str = "lines", ocr: str = "tesseract",
                 prompts: str = "", *, model: Model | None = None) -> None:  # fmt: skip
        _check_word("personas", personas, PLACES)
        _check_word("form", form, FORMS)
        for number, least, what in (
            (recall, 0, "recall"),
            (budget, 200, "budget"),
            (memory_budget, 0, "memory_budget"),
        ):
            if number < least:
                raise UsageError(f"{what}: a whole number from {least} is wanted, not {number}")
        self.eyes = Eyes(modality, frames, ocr)
        self.prompts = Prompts(self.parts(form), prompts)
        self.form = form
        self._recall, self.budget, self._memory_budget, self._in_system = (
            recall,
            budget,
            memory_budget,
            personas == "system",
        )
        self._model = model
        self.intentions: Sequence[str] = INTENTIONS

    @classmethod
    def parts(cls, form: str) -> tuple[str, ...]:
        """The prompts that are used with a form of answers."""
        return ("system", "context", "memory", *cls.PARTS)

    @classmethod
    def header_facts(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """For the header of a run's log: every parameter as it holds, defaults included, the hash of the prompts, and
        the rule by which too much is shortened.

        Args:
            given: the parameters that were written.

        Raises:
            UsageError: see ``Prompts``; or an unknown form.
        """
        params = inspect.signature(cls).parameters
        known = {k: p.default for k, p in params.items() if k != "model"}
        held = {k: given.get("value", v) if i == 0 else v for i, (k, v) in enumerate(known.items())}
        held |= {k: given[k] for k in known if k in given}
        folder, form = str(held.pop("prompts")), str(held.get("form", "lines"))
        _check_word("form", form, FORMS)
        return {**held, "truncation": RULE, "prompts": Prompts(cls.parts(form), folder).digest}

    @property
    def model(self) -> Model:
        """What is asked.

        Raises:
            UsageError: nothing was given.
        """
        if self._model is None:
            raise UsageError(f"{type(self).__name__} asks a model, and was given none")
        return self._model

    async def open(self, setup: Setup) -> None:
        """Take the intentions in use."""
        self.intentions = tuple(setup.intentions) or INTENTIONS

    async def close(self) -> None:
        """Let the connections go."""
        if self._model is not None:
            await self._model.close()

    async def question(self, observation: Observation) -> Question:
        """Look, remember, and put context and memory into words."""
        seen = await self.eyes.look(observation)
        remembered = await self.remembered(observation)
        with observation.meter.stage("build"):
            return self._built(observation, seen, remembered)

    async def remembered(self, observation: Observation) -> str:
        """What memory recalls, in words; empty where it recalls nothing."""
        if self._recall == 0 or self._memory_budget == 0:
            return ""
        memory = observation.memory
        return memory.render(await memory.recall(self._recall, token_budget=self._memory_budget)).strip()

    def _built(self, observation: Observation, seen: Seen, remembered: str) -> Question:
        past = told(observation, seen.text, self.budget, no_text=_NO_TEXT[not seen.pictures])
        for note in past.cut:
            observation.meter.note(note)
        return self.composed(past.values, captioned(seen.pictures), remembered)

    def composed(self, context: Mapping[str, str], pictures: Sequence[str | ImageRef], remembered: str) -> Question:
        """Context, pictures and memory in their order.

        Args:
            context: what is filled into ``context.md``.
            pictures: with their captions.
            remembered: memory in words; empty: that part is left out.
        """
        before: list[str | ImageRef] = [self.prompts.fill("context", context), *pictures]
        system = self.prompts.fill("system", {"intentions": self.named})
        if remembered:
            said = self.prompts.fill("memory", {"memory": _whole(remembered)})
            if self._in_system:
                system = f"{system}\n\n{said}"
            else:
                before.append(said)
        return Question(system, tuple(before))

    @property
    def named(self) -> str:
        """The intentions as prompts list them."""
        return "; ".join(self.intentions)

    async def chat(self, messages: Sequence[Message], meter: Meter, *, schema: Mapping[str, Any] | None = None,
                   params: Mapping[str, Any] = NO_PARAMS) -> Reply:  # fmt: skip
        """Ask. What goes wrong is an ``EndpointError``, and left alone: it becomes a record of kind ``error``."""
        return await self.model.chat(
            messages, schema=schema if self.form == "json" else None, meter=meter, params=params
        )

    def decision(self, said: Said | None, meter: Meter) -> Decision:
        """What an answer amounts to, see ``decided``."""
        return decided(said, self.intentions, meter)


def _check_word(what: str, word: str, known: Sequence[str]) -> None:
    if word not in known:
        raise UsageError(f"{what} {quote(word)} is unknown; {nearest(word, known)}")


def captioned(pictures: Sequence[tuple[int, ImageRef]], last: str = "The screen now:") -> list[str | ImageRef]:
    """Pictures with a word before each: how old it is; ``last`` before the last one."""
    parts: list[str | ImageRef] = []
    for i, (age_ns, picture) in enumerate(pictures):
        parts += [last if i == len(pictures) - 1 else f"The screen {duration(age_ns)} ago:", picture]
    return parts


def decided(said: Said | None, intentions: Sequence[str], meter: Meter, *, confidence: float | None = None) -> Decision:
    """A decision from what an answer says.

    Where help is offered and no category could be read, the offer is ``Uncategorized`` if that is in use (rule and note
    tell), else the answer is unparsed: whether to help was read, with what nobody can tell.
    """
    if said is None:
        return Decision(unparsed=True)
    if said.help is False:
        return Decision(parse_rule=said.rule)
    sure = said.confidence if confidence is None else confidence
    if said.intention is not None:
        return Decision((Offer(said.intention, said.text, sure),), parse_rule=said.rule)
    meter.note("category_unread")
    if UNREAD not in intentions:
        return Decision(unparsed=True, parse_rule=said.rule)
    return Decision((Offer(UNREAD, said.text, sure),), parse_rule=f"{said.rule}, category unread")


def _whole(text: str) -> str:
    """Text that can be sent: halves of characters are no text."""
    return text.encode("utf-8", "replace").decode("utf-8")


def strategy(cls: T) -> T:
    """Have a subclass with ``**common`` in its constructor show the parameters of ``Asking`` beside its own."""
    made = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
    own = [p for p in made if p.kind is not p.VAR_KEYWORD and p.name != "self"]
    common = [p for p in inspect.signature(Asking).parameters.values() if p.name not in {o.name for o in own}]
    # Keyword-only, since what is written without a name is a strategy's own first parameter.
    shown = [*own, *(p.replace(kind=p.KEYWORD_ONLY) for p in common)]
    cls.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return cls
