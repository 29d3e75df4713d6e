"""``proact doctor memory``: every rule that a memory must keep to, tried on one, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from simulator.cli.doctor import Finding, tell
from simulator.cli.options import ModelOptions
from simulator.cli.speak import Voice, plain
from simulator.core.errors import UsageError

if TYPE_CHECKING:
    from simulator.endpoint.types import ModelChoice

__all__ = ["memory"]


def memory(
    spec: Annotated[str, Parameter(help="As for `proact run --memory`: mine.py:Mine, or a name such as rag.")],
    /,
    *,
    limit: Annotated[str, Parameter(help="How long one rule may take to try; one call, a sixth of it.")] = "60s",
    embedder: Annotated[
        str | None, Parameter(help="Of rag and personas: hash, minilm, wordllama, endpoint:model=NAME.")
    ] = None,
    model: Annotated[str | None, Parameter(help="Of personas:writer=model: as the server calls it.")] = None,
    base_url: Annotated[
        str | None, Parameter(help="Of the model's server, such as http://localhost:8000/v1; or OPENAI_BASE_URL.")
    ] = None,
    json: Annotated[
        bool, Parameter(help="One JSON record a line on stdout, the last one 'done'.", negative="")
    ] = False,
) -> int:
    """Try a memory on every rule that a memory must keep to.

    It is made anew for each rule and told a made-up past of two users. Each rule says in a sentence what is wrong: a
    leak from the future or from another user, answers that change, a budget that is exceeded, a title that forges a
    line of a prompt, a past that is not forgotten. `note` is what it does without. Exit code 1 if something is wrong.
    """
    from simulator.core.durations import parse_duration
    from simulator.core.types import SECOND
    from simulator.play.makers import memory_maker

    try:
        limit_s = parse_duration(limit) / SECOND
    except ValueError as error:
        raise UsageError(f"--limit: {error}") from error
    if limit_s <= 0:
        raise UsageError(f"--limit {limit}: a duration above 0 is wanted, such as 60s")
    voice = Voice(as_json=json)
    choice = ModelOptions(model=model, base_url=base_url).choice()
    return tell(_shown(memory_maker(spec), limit_s, embedder, choice, voice), voice)


def _shown(
    maker: Any, limit_s: float, embedder: str | None, choice: ModelChoice | None, voice: Voice
) -> Iterator[Finding]:
    """The findings; on a terminal the rule that is being tried stands on stderr until the last of them."""
    with voice.progress.status("") as line:
        yield from _findings(maker, limit_s, embedder, choice, lambda rule: line.update(plain(f"trying: {rule}")))


def _findings(maker: Any, limit_s: float, embedder: str | None, choice: ModelChoice | None,
              told: Callable[[str], None]) -> Iterator[Finding]:  # fmt: skip
    """One after the other, as they are made."""
    from memory.conformance import examine
    from memory.conformance.subject import USER, Subject
    from simulator.core.intentions import INTENTIONS
    from simulator.core.types import SECOND
    from simulator.play.models import given_by_hand
    from simulator.session.truth import Truth

    given: dict[str, Any] = {"seed": 7, "intentions": INTENTIONS, "utc_anchor_ns": 0}
    if maker.sees_truth:
        given["truth"] = Truth("doctor", USER, SECOND)

    def make() -> Any:
        return maker.make(**given, **given_by_hand(maker, choice, embedder, "doctor"))

    first = make()  # what cannot be made at all is a fault of the call
    Subject.let_go(first)
    yield Finding("made", "ok", f"{maker.text} is a memory: {type(getattr(first, 'plain', first)).__name__}")
    firsts: dict[str, str] = {}
    again: dict[str, int] = {}
    for checked in examine(make, limit_s, told):
        first_rule = firsts.setdefault(checked.said, checked.name)
        if checked.state != "wrong" or first_rule == checked.name:
            yield Finding(checked.name, checked.state, checked.said)
        else:  # one fault may break every rule: it is told once, and counted
            again[first_rule] = again.get(first_rule, 0) + 1
    for rule, n in again.items():
        yield Finding(f"{n} more rules" if n > 1 else "1 more rule", "wrong", f"the same as in “{rule}”")
