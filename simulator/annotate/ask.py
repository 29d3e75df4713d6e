"""Annotation by a language or vision model: two questions an event, the second on assistance events only.

What cannot be read is asked for once more with the reason, then the event is marked ``unannotated`` (or ``partial``). A
server that fails is no answer: nothing is written, and the next call asks again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeVar

from simulator.annotate.repair import KINDS, EventPart, IntentPart, Unreadable, read_event, read_intent
from simulator.annotate.sample import LETTERS, Sample, Shot, Target, squeezed
from simulator.annotate.store import Annotation, Store
from simulator.core.errors import InputError, ProactError
from simulator.core.files import read_text
from simulator.core.intentions import INTENTIONS
from simulator.core.types import SECOND, ImageRef
from simulator.endpoint.types import EndpointError, Message, Model
from simulator.screen.ocr import Ocr, OcrFailed
from simulator.screen.pixels import decode
from simulator.screen.readers import as_text
from simulator.timing.tasks import task_group

__all__ = ["PROMPTS", "Annotator", "Modality", "Tally"]

Modality = Literal["text", "image", "both"]
PROMPTS = Path(__file__).parent / "prompts"
_FILES = ("event.md", "intent.md")
_HOPELESS = ("unauthorized", "not_found", "connection")
_FAULTS = ("timeout", "idle_timeout", "rate_limited", "server", "truncated", "bad_json", "connection", "unauthorized",
           "not_found")  # fmt: skip
_IN_A_ROW = 5
_KEPT_READINGS = 512

P = TypeVar("P", EventPart, IntentPart)


def _nullable(kind: str) -> dict[str, Any]:
    return {"type": [kind, "null"]}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXTS = {"type": "array", "items": {"type": "string"}}
_CONVERSATION = _object({"user_queries": _TEXTS, "llm_responses": _TEXTS})
_EVENT = _object({
    "assistance": {"type": "boolean"},
    "platform": _nullable("string"),
    "type": {"enum": [*KINDS, None]},
    "summary": {"type": "string"},
    "conversation": {"anyOf": [_CONVERSATION, {"type": "null"}]},
})  # fmt: skip


def _intent(intentions: Sequence[str]) -> dict[str, Any]:
    return _object({
        "query": _nullable("string"),
        "intention": {"enum": [*intentions, None]},
        "confidence": {"type": "number"},
        "rationale": {"type": "string"},
    })  # fmt: skip


@dataclass(slots=True)
class Tally:
    """What came of a session's events.

    Attributes:
        n_events: all that could be annotated; ``n_left_out``: excluded, or without start or end.
        n_known: annotated before, as they are now; ``n_alike``: the same as another event, so not asked twice.
        by_status: of those annotated now.
        reasons: why events are not, or not wholly, annotated.
        mended: how answers had to be mended.
        failed: events without an answer, by what went wrong; the next call asks again.
        tokens_in: as the server counts, like ``tokens_out``.
    """

    n_events: int = 0
    n_left_out: int = 0
    n_known: int = 0
    n_alike: int = 0
    n_assistance: int = 0
    by_status: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    mended: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    tokens_in: int = 0
    tokens_out: int = 0

    def take(self, annotation: Annotation) -> None:
        """Count an annotation that was made now."""
        self.by_status[annotation.status] += 1
        self.n_assistance += bool(annotation.assistance)
        if annotation.reason is not None:
            self.reasons[annotation.reason] += 1
        self.mended.update((annotation.repaired or "").split())

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        plain = {name: getattr(self, name) for name in ("n_events", "n_left_out", "n_known", "n_alike", "n_assistance",
                                                        "tokens_in", "tokens_out")}  # fmt: skip
        counted = ("by_status", "reasons", "mended", "failed")
        return plain | {name: dict(sorted(getattr(self, name).items())) for name in counted}


class Annotator:
    """Asks a model about events.

    Args:
        model: what is asked; to be closed by whoever made it.
        name: what it is called.
        sent: decoding and whatever else bears on its answers: with other settings it is asked anew.
        modality: ``text`` (recorded, else read by OCR), ``image``, or ``both``.
        ocr: makes what reads texts, when one is first needed; None: only recorded texts are shown.
        ocr_name: what it is called: by another one it is asked anew.
        prompts: a folder with ``event.md`` and ``intent.md``.
        intentions: the categories to choose from.
        at_once: questions at a time.

    Raises:
        InputError: a prompt is missing.
    """

    def __init__(self, model: Model, name: str, *, sent: Mapping[str, Any] | None = None, modality: Modality = "text",
                 ocr: Callable[[], Ocr] | None = None, ocr_name: str = "", prompts: Path = PROMPTS,
                 intentions: Sequence[str] = INTENTIONS, at_once: int = 4) -> None:  # fmt: skip
        self._model, self._name, self._sent, self._modality = model, name, dict(sent or {}), modality
        self._event, intent = (read_text(prompts / file) for file in _FILES)
        self._intentions = tuple(intentions)
        self._intent = intent.replace("{intentions}", "\n".join(f"- {one}" for one in intentions))
        self._intent_schema = _intent(self._intentions)
        self.prompt_hash = sha256(f"{self._event}\0{intent}".encode()).hexdigest()[:12]
        self.annotator = f"{name}, prompt {self.prompt_hash}"
        self._ocr_name, self._ocr = ocr_name if ocr is not None else "none", None if ocr is None else _Readings(ocr)
        self._at_once = at_once
        self._lame = 0

    async def annotate(self, store: Store, events: Sequence[Target], tally: Tally, *, again: bool = False,
                       done: Callable[[], None] = lambda: None) -> None:  # fmt: skip
        """Ask about all events of a session that were not annotated as they are now, and keep what comes.

        Args:
            store: the session.
            events: see ``sample.targets``.
            tally: counts.
            again: ask again about those that could not be read, or not wholly.
            done: called after each event.

        Raises:
            EndpointError: nobody can be asked, or too many calls in a row have failed.
            ProactError: whatever else ends it: a cassette without the answer, a session that cannot be written.
        """
        before = store.said_by(self.annotator)
        known = {said.asked: said for said in before.values() if not again or said.status == "annotated"}
        asking: dict[str, asyncio.Future[Annotation | None]] = {}
        coming = iter(events)
        faults: list[ProactError] = []

        async def worker() -> None:
            try:
                for event in coming:  # shared: each takes the next
                    await self._one(store, event, before, known, asking, tally)
                    done()
            except ProactError as fault:  # of several at once the first is told, and not a group of them
                faults.append(fault)
                group.cancel_scope.cancel()

        async with task_group() as group:
            for _ in range(min(self._at_once, len(events))):
                group.start_soon(worker)
        if faults:
            raise faults[0]

    async def _one(self, store: Store, event: Target, before: Mapping[int, Annotation],
                   known: Mapping[str | None, Annotation], asking: dict[str, asyncio.Future[Annotation | None]],
                   tally: Tally) -> None:  # fmt: skip
        sample = store.sample(event)
        asked = self._asked(sample)
        said = before.get(event.start_ns)
        if said is not None and said.asked == asked and asked in known:
            tally.n_known += 1
            return
        if asked in known:
            made: Annotation | None = known[asked]
            tally.n_alike += 1
        elif asked in asking:
            made = await asyncio.shield(asking[asked])
            tally.n_alike += 1
            if made is None:
                tally.failed["as another event"] += 1
        else:
            answer = asking[asked] = asyncio.get_running_loop().create_future()
            try:
                made = await self._ask(sample, asked, tally)
            except BaseException:
                answer.cancel()
                raise
            answer.set_result(made)
        if made is not None:
            store.put(event, made)
            tally.take(made)

    def _asked(self, sample: Sample) -> str:
        said = [self.annotator, sorted(self._sent.items()), self._modality, self._ocr_name, self._intentions]
        return sha256(f"{said!r} {sample.digest}".encode()).hexdigest()

    async def _ask(self, sample: Sample, asked: str, tally: Tally) -> Annotation | None:
        """The annotation; None where the server failed, which is counted and written nowhere."""
        made = Annotation(self.annotator, "model", "unannotated", model=self._name, prompt_hash=self.prompt_hash,
                          asked=asked)  # fmt: skip
        try:
            shown = await self._shown(sample)
            if len(shown) == 1 and not sample.target.app and not sample.target.title:
                return replace(made, reason="nothing of it can be seen")
            part = await self._part(self._event, shown, _EVENT, read_event, tally)
            if isinstance(part, str):
                return replace(made, reason=part)
            made = replace(made, status="annotated", assistance=part.assistance, platform=part.platform, kind=part.kind,
                           summary=part.summary, conversation=part.conversation,
                           repaired=" ".join(part.mended) or None)  # fmt: skip
            return await self._wanted(made, shown, part, tally) if part.assistance else made
        except EndpointError as error:
            tally.failed[error.kind] += 1
            self._lame += 1
            if error.kind in _HOPELESS or self._lame >= _IN_A_ROW:
                raise
            return None

    async def _wanted(self, made: Annotation, shown: Sequence[str | ImageRef], part: EventPart,
                      tally: Tally) -> Annotation:  # fmt: skip
        """What the person wanted of the assistant."""
        more = [f"Platform: {part.platform or 'unknown'}", f"What happened: {part.summary}"]
        more.append(f"What was read of the conversation: {part.conversation or 'nothing'}")

        def read(text: str) -> IntentPart:
            return read_intent(text, self._intentions)

        wanted = await self._part(self._intent, [*shown, "\n".join(more)], self._intent_schema, read, tally)
        if isinstance(wanted, str):
            return replace(made, status="partial", reason=f"intention: {wanted}")
        mended = " ".join(dict.fromkeys([*part.mended, *wanted.mended])) or None
        made = replace(made, query=wanted.query, intention=wanted.intention, confidence=wanted.confidence,
                       rationale=wanted.rationale, repaired=mended)  # fmt: skip
        return made if wanted.intention is not None else replace(made, status="partial", reason="intention: not told")

    async def _part(self, prompt: str, shown: Sequence[str | ImageRef], schema: Mapping[str, Any],
                    read: Callable[[str], P], tally: Tally) -> P | str:  # fmt: skip
        """One question; what came of it, or why nothing did.

        Raises:
            EndpointError: the server failed.
        """
        messages: list[Message] = [Message("system", (prompt,)), Message("user", tuple(shown))]
        why = ""
        for _ in range(2):
            try:
                reply = await self._model.chat(messages, schema=schema)
            except EndpointError as error:
                if error.kind in _FAULTS or (error.kind == "refused" and error.status is not None):
                    raise  # with a status it is the request that is wrong, without one the model declined
                return f"no answer ({error.kind})"
            self._lame = 0
            tally.tokens_in += reply.usage.tokens_in
            tally.tokens_out += reply.usage.tokens_out + reply.usage.reasoning
            try:
                return read(reply.text)
            except Unreadable as error:
                why = str(error)
            again = f"That cannot be used: {why}. Answer with the JSON object alone, with all of its fields."
            messages = [*messages[:2], Message("assistant", (reply.text[:4000],)), Message("user", (again,))]
        return why

    async def _shown(self, sample: Sample) -> list[str | ImageRef]:
        """The user's part of a question: the window, then the screenshots in order."""
        target = sample.target
        head = [
            f"Application: {squeezed(target.app, 200) or 'unknown'}",
            f"Title: {squeezed(target.title, 300) or 'unknown'}",
        ]
        head.append(f"Length: {target.seconds:.0f} s")
        parts: list[str | ImageRef] = ["\n".join(head)]
        for n, shot in enumerate(sample.shots, 1):
            said = f"Screenshot {n} of {len(sample.shots)}, after {shot.at_ns / SECOND:.0f} s"
            text = await self._text(shot) if self._modality != "image" else None
            if self._modality != "text" and shot.picture is not None:
                parts += [said if text is None else f"{said}. Text on it: {text}", shot.picture]
            elif text is not None:
                parts.append(f"{said}. Text on it: {text}")
            elif shot.scene is not None:
                parts.append(f"{said}. It is described so: {shot.scene}")
        return parts

    async def _text(self, shot: Shot) -> str | None:
        if shot.text is not None or shot.picture is None or self._ocr is None:
            return shot.text
        return await self._ocr.read(shot.picture)


class _Readings:
    """Texts of pictures by OCR, each picture once."""

    def __init__(self, make: Callable[[], Ocr]) -> None:
        self._make = make
        self._ocr: Ocr | None = None
        self._known: dict[str, str | None] = {}
        self._one = asyncio.Lock()

    async def read(self, picture: ImageRef) -> str | None:
        """The first letters of what stands on a picture; None for nothing, or where it cannot be read."""
        name = picture.pixels_hash or str(picture.path)
        async with self._one:  # a processor's worth of work: one at a time
            if name not in self._known:
                if len(self._known) >= _KEPT_READINGS:
                    del self._known[next(iter(self._known))]
                self._known[name] = await asyncio.to_thread(self._read, picture)
            return self._known[name]

    def _read(self, picture: ImageRef) -> str | None:
        if self._ocr is None:
            self._ocr = self._make()
        try:
            words = self._ocr.words(decode(picture.path))
        except (InputError, OcrFailed):
            return None
        return squeezed(as_text(words), LETTERS)
