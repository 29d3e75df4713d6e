"""``proact dataset annotate``: what recorded events were about, by a model or by rules."""

from __future__ import annotations

import json as json_
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from simulator.cli.bars import bar
from simulator.cli.parameters import AsJson, ModelUrl, switch
from simulator.cli.speak import Voice, facts, plain
from simulator.core.errors import Exit, InputError, UsageError

if TYPE_CHECKING:
    from simulator.annotate.ask import Annotator, Tally

__all__ = ["annotate", "sessions_at"]

_Modality = Literal["text", "image", "both"]


def annotate(
    sessions: Annotated[list[Path], Parameter(help="Recorded sessions, or folders of many.")],
    /,
    *,
    model: Annotated[str | None, Parameter(help="The model to ask, as its server calls it.")] = None,
    rules: Annotated[bool, switch("No model: assistants known by application and title, for 30 s.")] = False,
    base_url: ModelUrl = None,
    modality: Annotated[
        _Modality, Parameter(help="What is shown of a screenshot: its text (recorded, or by OCR), the image, or both.")
    ] = "text",
    ocr: Annotated[
        str, Parameter(help="Reads texts that were not recorded: tesseract, tesserocr, rapidocr, none.")
    ] = "tesseract",
    temperature: Annotated[float | None, Parameter(help="Default: the provider's.")] = None,
    max_tokens: Annotated[int | None, Parameter(help="Of one answer; default: the provider's.")] = None,
    extra_body: Annotated[str | None, Parameter(help="JSON that is sent along with each question.")] = None,
    timeout: Annotated[str, Parameter(help="Of one answer, with all retries.")] = "5min",
    at_once: Annotated[int, Parameter(help="Questions at a time.")] = 4,
    prompts: Annotated[Path | None, Parameter(help="A folder with an event.md and intent.md of your own.")] = None,
    rules_file: Annotated[Path | None, Parameter(help="For --rules: an assistants.yaml of your own.")] = None,
    cassette: Annotated[Path | None, Parameter(help="Replay the answers kept in this file, without a server.")] = None,
    record: Annotated[bool, switch("Ask the server, and keep its answers in --cassette.")] = False,
    again: Annotated[bool, switch("Ask again about events that could not be read.")] = False,
    apply: Annotated[
        bool, switch("Copy what is said into empty columns of the events, so that it becomes the truth of runs.")
    ] = False,
    json: AsJson = False,
) -> int:
    """Say what events were about, by a model or rules.

    That is, whether an assistant was used in them and for what. Annotations go into a side table of each session,
    marked with model and prompt hash; the recording stays as it is. What was annotated before is not asked again.
    Answers that cannot be read leave an event unannotated; where a server failed, call again.
    """
    model = (model or "").strip() or None
    if (model is not None) == rules:
        raise UsageError("say who annotates: --model NAME, or --rules")
    voice = Voice(as_json=json)
    if rules:
        return _by_rules(voice, sessions_at(sessions), rules_file, apply=apply)
    assert model is not None
    from simulator.annotate.ask import PROMPTS, Annotator
    from simulator.core.durations import duration
    from simulator.endpoint import Endpoint, ModelChoice
    from simulator.screen.readers import READERS, reader

    if ocr != "none" and ocr.partition(":")[0] not in READERS:
        reader(ocr)  # says what there is
    choice = ModelChoice(
        model=model,
        base_url=base_url,
        temperature=temperature,
        max_tokens=max_tokens,
        extra_body=_extra(extra_body),
        timeout_ns=duration("timeout", timeout),
        idle_timeout_ns=duration("timeout", timeout),
        concurrency=at_once,
        cassette=cassette,
        record=record,
    )
    endpoint = Endpoint(choice, scope="annotate")
    asking = Annotator(
        endpoint,
        model,
        sent={**choice.decoding, "image_side": choice.image_side, "image_quality": choice.image_quality},
        modality=modality,
        ocr=None if modality == "image" or ocr == "none" else partial(reader, ocr),
        ocr_name=ocr,
        prompts=prompts or PROMPTS,
        at_once=at_once,
    )
    return _by_model(voice, sessions_at(sessions), asking, endpoint, again=again, apply=apply)


def _by_rules(voice: Voice, sessions: Sequence[Path], file: Path | None, *, apply: bool) -> int:
    from simulator.annotate.ask import Tally
    from simulator.annotate.rules import ASSISTANTS, RuleBook
    from simulator.annotate.sample import targets
    from simulator.annotate.store import Store

    book = RuleBook(file or ASSISTANTS)
    for session in sessions:
        _, events, n_left = targets(session)
        tally = Tally(n_events=len(events), n_left_out=n_left)
        with Store(session) as store:
            before = store.said_by(book.annotator)
            for event, said in book.annotate(events):
                if before.get(event.start_ns) == said:
                    tally.n_known += 1
                else:
                    store.put(event, said)
                    tally.take(said)
            filled = store.apply(events, book.annotator) if apply else {}
        _tell(voice, session, book.annotator, tally, filled)
    voice.record("done", annotator=book.annotator, sessions=len(sessions), failed=0)
    return Exit.DONE


def _by_model(voice: Voice, sessions: Sequence[Path], asking: Annotator, endpoint: Any, *, again: bool,
              apply: bool) -> int:  # fmt: skip
    import anyio

    from simulator.annotate.ask import Tally
    from simulator.annotate.sample import targets
    from simulator.annotate.store import Store
    from simulator.endpoint import EndpointError

    failed = 0

    async def work() -> None:
        nonlocal failed
        async with endpoint:
            for session in sessions:
                _, events, n_left = targets(session)
                tally = Tally(n_events=len(events), n_left_out=n_left)
                filled: dict[str, int] = {}
                try:
                    with Store(session) as store, bar(voice, session.name, len(events)) as done:
                        await asking.annotate(store, events, tally, again=again, done=done)
                        filled = store.apply(events, asking.annotator) if apply else {}
                finally:
                    _tell(voice, session, asking.annotator, tally, filled)
                    failed += tally.failed.total()

    try:
        anyio.run(work)
    except EndpointError as error:
        raise UsageError(
            f"no annotation: {error.sentence}; what came before is kept, the same command goes on"
        ) from error
    if failed:
        voice.tell(f"{failed} events without an answer, since the server failed; the same command asks again", "yellow")
    voice.record("done", annotator=asking.annotator, sessions=len(sessions), failed=failed)
    return Exit.SOME_UNITS_ERRED if failed else Exit.DONE


def sessions_at(paths: Sequence[Path]) -> list[Path]:
    """The sessions at or below the paths, each once.

    Raises:
        UsageError: no path, or one with no session.
    """
    from simulator.session.scenario import find

    if not paths:
        raise UsageError("name a recorded session, or a folder of many")
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise InputError(path, "there is no such file or folder")
        here = find(path).sessions
        if not here:
            raise InputError(path, "there is no session (session.db) here")
        found |= {session.resolve(): session for session in here}
    return list(found.values())


def _extra(text: str | None) -> Mapping[str, Any]:
    try:
        value = {} if text is None else json_.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError('--extra-body: a JSON object is wanted, such as {"top_k": 20}')
    return value


def _tell(voice: Voice, session: Path, annotator: str, tally: Tally, filled: Mapping[str, int]) -> None:
    voice.record("annotated", path=str(session), annotator=annotator, official=False, **tally.as_dict(), filled=filled)
    if voice.as_json:
        return
    table = facts(session)
    table.add_row("annotator", plain(f"{annotator} (not official)"))
    left = f", {tally.n_left_out} more left out (excluded, or without start or end)" if tally.n_left_out else ""
    table.add_row("events", plain(f"{tally.n_events}{left}"))
    now = ", ".join(f"{n} {status}" for status, n in sorted(tally.by_status.items())) or "nothing new"
    known = f"; {tally.n_known} known from before" if tally.n_known else ""
    table.add_row("now", plain(f"{now}{known}"))
    table.add_row("assistance", plain(f"{tally.n_assistance} of those annotated now"))
    for name in ("reasons", "mended", "failed"):
        if counted := getattr(tally, name):
            table.add_row(name, plain(", ".join(f"{n} {what}" for what, n in sorted(counted.items()))))
    if tally.tokens_in:
        table.add_row("tokens", plain(f"{tally.tokens_in} in, {tally.tokens_out} out"))
    if filled:
        table.add_row("filled", plain(", ".join(f"{n} {column}" for column, n in filled.items())))
    voice.say(table)
