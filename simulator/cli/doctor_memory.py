"""``proact doctor memory``: every rule that a memory must keep to, tried on one, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from simulator.cli.doctor import Finding, tell
from simulator.cli.options import Embedder, MemoryModel, MemoryUrl, ModelOptions
from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, plain
from simulator.core.errors import UsageError

if TYPE_CHECKING:
    from simulator.endpoint.types import ModelChoice

__all__ = ["memory"]


def memory(
    spec: Annotated[str, Parameter(help="As for `proact run --memory`: mine.py:Mine, or a name such as rag.")],
    /,
    *,
    limit: Annotated[
        str, Parameter(help="How long making it, or trying one rule, may take; one call in a rule, a sixth of it.")
    ] = "60s",
    embedder: Embedder = None,
    model: MemoryModel = None,
    base_url: MemoryUrl = None,
    json: AsJson = False,
) -> int:
    """Try a memory on every rule that a memory must keep to.

    It is made anew for each rule and told a made-up past of two users. Each rule says in a sentence what is wrong: a
    leak from the future or from another user, answers that change, a budget that is exceeded, a title that forges a
    line of a prompt, a past that is not forgotten. `note` is what it does without. Exit code 1 if something is wrong.
    """
    from simulator.core.durations import parse_duration
    from simulator.core.types import SECOND

    try:
        limit_s = parse_duration(limit) / SECOND
    except ValueError as error:
        raise UsageError(f"--limit: {error}") from error
    if limit_s <= 0:
        raise UsageError(f"--limit {limit}: a duration above 0 is wanted, such as 60s")
    voice = Voice(as_json=json)
    choice = ModelOptions(model=model, base_url=base_url).choice()
    return tell(_shown(_Making(spec, embedder, choice), limit_s, voice), voice)


class _Making:
    """Makes the memory, again and again; it can be sent to another process, which makes it there.

    Args:
        spec: as for ``proact run --memory``.
        embedder: likewise.
        choice: likewise, of the model.
    """

    def __init__(self, spec: str, embedder: str | None, choice: ModelChoice | None) -> None:
        from simulator.play.makers import memory_maker

        self._asked = (spec, embedder, choice)
        self.maker = memory_maker(spec)

    def __reduce__(self) -> tuple[type[_Making], tuple[str, str | None, ModelChoice | None]]:
        return _Making, self._asked

    def __call__(self) -> Any:
        from memory.conformance.subject import USER
        from simulator.core.intentions import INTENTIONS
        from simulator.core.types import SECOND
        from simulator.play.models import given_by_hand
        from simulator.session.truth import Truth

        given: dict[str, Any] = {"seed": 7, "intentions": INTENTIONS, "utc_anchor_ns": 0}
        if self.maker.sees_truth:
            given["truth"] = Truth("doctor", USER, SECOND)
        _, embedder, choice = self._asked
        return self.maker.make(**given, **given_by_hand(self.maker, choice, embedder, "doctor"))


def _shown(make: _Making, limit_s: float, voice: Voice) -> Iterator[Finding]:
    """The findings; on a terminal the rule that is being tried stands on stderr until the last of them."""
    with voice.progress.status("") as line:
        yield from _findings(make, limit_s, lambda rule: line.update(plain(f"trying: {rule}")))


def _findings(make: _Making, limit_s: float, told: Callable[[str], None]) -> Iterator[Finding]:
    """One after the other, as they are made."""
    from memory.conformance.checking import NotBack, examine, within
    from memory.conformance.subject import Subject

    def named() -> str:
        first = make()  # what cannot be made at all is a fault of the call
        Subject.let_go(first)
        return type(getattr(first, "plain", first)).__name__

    try:
        name = within(limit_s, named)
    except NotBack:
        yield Finding("made", "wrong", f"its constructor did not come back within {limit_s:g} s: it blocks, or needs a "
                      "longer --limit; no rule can be tried")  # fmt: skip
        return
    yield Finding("made", "ok", f"{make.maker.text} is a memory: {name}")
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
