"""Memories, each with one fault planted: the rule that is for it says so, in a sentence that names the fault."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from memory.base import estimate_tokens, one_line
from memory.conformance import CHECKS, Check, NotAsked, examine
from memory.conformance.elsewhere import answers_elsewhere
from simulator.core.types import Event, Label, MemoryItem, Query
from simulator.timing.clock import pause

NATIVE: Mapping[str, Any] = {"as_of": "native", "isolation": "native", "mutates_past": False}


class Sound:
    """A small memory without a fault: the newest labelled events of the user, as of the moment of asking."""

    capabilities = NATIVE

    def __init__(self) -> None:
        self.past: dict[str, dict[str, tuple[Event, Label | None]]] = {}

    def observe(self, event: Event) -> None:
        self.past.setdefault(event.user, {}).setdefault(event.id, (event, None))

    def feedback(self, event: Event, label: Label) -> None:
        label = replace(label, available_ns=max(event.end_ns, label.available_ns))
        self.past.setdefault(event.user, {})[event.id] = (event, label)

    def known(self, query: Query) -> list[tuple[Event, Label]]:
        pairs = [(e, lb) for e, lb in self.past.get(query.user, {}).values() if lb is not None]
        return [(e, lb) for e, lb in pairs if lb.available_ns <= query.now_ns]

    def item(self, event: Event, label: Label) -> MemoryItem:
        text = f"{one_line(event.app)} {one_line(event.title)}: {label.help} {one_line(label.query)}"
        return MemoryItem(
            text, 1.0, (event.id,), label.available_ns, label.intention, float(label.help), label.query, len(text)
        )

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        items: list[MemoryItem] = []
        for pair in reversed(self.known(query)):
            item = self.item(*pair)
            if len(items) < k and (token_budget is None or sum(i.tokens for i in [*items, item]) <= token_budget):
                items.append(item)
        return items

    def render(self, items: Sequence[MemoryItem]) -> str:
        return "\n".join(i.text for i in items)

    def forget(self, user: str, start_ns: int, end_ns: int) -> None:
        kept = {k: p for k, p in self.past.get(user, {}).items() if p[0].start_ns >= end_ns or p[0].end_ns <= start_ns}
        self.past[user] = kept


class LeaksTheFuture(Sound):
    def known(self, query: Query) -> list[tuple[Event, Label]]:
        return [(e, lb) for e, lb in self.past.get(query.user, {}).values() if lb is not None]


class TellsTheLabelOfAnOpenEvent(Sound):
    """A label that is available before its event has closed, as of in between: a run tells of it afterwards."""

    def feedback(self, event: Event, label: Label) -> None:
        self.past.setdefault(event.user, {})[event.id] = (event, label)


class LeaksTheFutureWithAClockOfItsOwn(LeaksTheFuture):
    """The instant it tells is made up to please the view; the words are from the future all the same."""

    def item(self, event: Event, label: Label) -> MemoryItem:
        return replace(super().item(event, label), latest_source_ns=0)


class CountsTheFuture(Sound):
    """Not a word of the future, but a number."""

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        n = len(self.past.get(query.user, {}))
        return [replace(i, score=float(n)) for i in super().recall(query, k, token_budget)]


class LeaksAnotherUser(Sound):
    def known(self, query: Query) -> list[tuple[Event, Label]]:
        return [pair for user in sorted(self.past) for pair in super(LeaksAnotherUser, self).known(_as(query, user))]


class CountsEverybody(Sound):
    """Not a word of another user's past, but a share."""

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        labels = [lb for past in self.past.values() for _, lb in past.values() if lb is not None]
        share = sum(lb.help for lb in labels) / max(len(labels), 1)
        return [replace(i, help=share) for i in super().recall(query, k, token_budget)]


class TellsTheNewestNeedOfAnybody(Sound):
    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        labels = [lb for past in self.past.values() for _, lb in past.values() if lb is not None and lb.help]
        newest = max(labels, key=lambda lb: lb.available_ns, default=None)
        need = None if newest is None else newest.intention
        return [replace(i, intention=need) for i in super().recall(query, k, token_budget)]


class GuessesLabels(Sound):
    def observe(self, event: Event) -> None:
        guess = Label(event.id, event.user, True, event.end_ns, "Translation")
        self.past.setdefault(event.user, {}).setdefault(event.id, (event, guess))


class GivesNone(Sound):
    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        return super().recall(query, k, token_budget) or None  # type: ignore[return-value]


class GivesADict(Sound):
    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        return {"items": []}  # type: ignore[return-value]


class GivesWhatIsNoItem(Sound):
    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        return [{"text": "words"}]  # type: ignore[list-item]


class GivesADictAtOnce(Sound):
    """An async class whose recall forgot to be."""

    async def observe(self, event: Event) -> None:  # type: ignore[override]
        super().observe(event)

    async def feedback(self, event: Event, label: Label) -> None:  # type: ignore[override]
        super().feedback(event, label)

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:  # type: ignore[override]
        return {"items": []}  # type: ignore[return-value]

    async def forget(self, user: str, start_ns: int, end_ns: int) -> None:  # type: ignore[override]
        super().forget(user, start_ns, end_ns)


class LeaksItsOwnLabel(Sound):
    def known(self, query: Query) -> list[tuple[Event, Label]]:
        pairs = [(e, lb) for e, lb in self.past.get(query.user, {}).values() if lb is not None]
        return [(e, lb) for e, lb in pairs if e.end_ns <= query.now_ns]

    def item(self, event: Event, label: Label) -> MemoryItem:
        return replace(super().item(event, label), latest_source_ns=event.end_ns)


class SharedByAll(Sound):
    shared: dict[str, dict[str, tuple[Event, Label | None]]] = {}  # noqa: RUF012 - that is the fault

    def __init__(self) -> None:
        self.past = self.shared


class GivesAnotherAnswerEachTime(Sound):
    n = 0

    def item(self, event: Event, label: Label) -> MemoryItem:
        GivesAnotherAnswerEachTime.n += 1
        return replace(super().item(event, label), query=f"asked {self.n} times")


class Raises(Sound):
    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        return [] if query.app else [self.item(self.none_such, self.none_such)]  # type: ignore[attr-defined]


class TooLong(Sound):
    def item(self, event: Event, label: Label) -> MemoryItem:
        text = " ".join((event.title or "").split())
        return replace(super().item(event, label), text=text, tokens=estimate_tokens(text) or 1)


class TooMany(Sound):
    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        return [self.item(*pair) for pair in self.known(query)]


class OverBudget(Sound):
    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        return super().recall(query, k, None)


class SaysItIsCheap(Sound):
    def item(self, event: Event, label: Label) -> MemoryItem:
        return replace(super().item(event, label), tokens=1)


class NeverComesBack(Sound):
    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        threading.Event().wait()
        return []


class BlocksOnAnOddTitle(Sound):
    def observe(self, event: Event) -> None:
        if event.title == "的":
            threading.Event().wait()
        super().observe(event)


class GivesAText(Sound):
    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        return "what I know"  # type: ignore[return-value]


class FailsToClose(Sound):
    def close(self) -> None:
        raise OSError("disk gone")


class MutatesWhatItGave(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.given: list[MemoryItem] = []

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        items = super().recall(query, k, token_budget)
        for one in self.given:
            object.__setattr__(one, "text", "overwritten")
        self.given = items
        return items


class Duplicates(Sound):
    def known(self, query: Query) -> list[tuple[Event, Label]]:
        return [pair for pair in super().known(query) for _ in range(2)]


class CountsTwice(Sound):
    def __init__(self) -> None:
        super().__init__()
        self.n = 0

    def observe(self, event: Event) -> None:
        self.n += event.user == "ada"
        super().observe(event)

    def item(self, event: Event, label: Label) -> MemoryItem:
        return replace(super().item(event, label), score=float(self.n))


class IgnoresForget(Sound):
    def forget(self, user: str, start_ns: int, end_ns: int) -> None:
        return None


class ForgetsAll(Sound):
    def forget(self, user: str, start_ns: int, end_ns: int) -> None:
        self.past.clear()


class ForgesALine(Sound):
    def item(self, event: Event, label: Label) -> MemoryItem:
        text = (event.title or "")[:200]
        return replace(super().item(event, label), text=text, tokens=len(text) or 1)


class KeepsTheFirstLabel(Sound):
    def feedback(self, event: Event, label: Label) -> None:
        if self.past.get(event.user, {}).get(event.id, (event, None))[1] is None:
            super().feedback(event, label)


class InventsSources(Sound):
    def item(self, event: Event, label: Label) -> MemoryItem:
        return replace(super().item(event, label), source_event_ids=("imagined/1",))


class TellsATextOfSources(Sound):
    def item(self, event: Event, label: Label) -> MemoryItem:
        return replace(super().item(event, label), source_event_ids="abc")  # type: ignore[arg-type]


class BlocksWhereItIsMadeAgain(Sound):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        cls = type(self)
        cls.made += 1
        if cls.made > 1:
            threading.Event().wait(5)


class SavesNothing(Sound):
    def save(self, folder: Path) -> None:
        folder.mkdir()

    def load(self, folder: Path) -> None: ...


class DiffersByInstance(Sound):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        DiffersByInstance.made += 1
        self.nth = self.made

    def item(self, event: Event, label: Label) -> MemoryItem:
        return replace(super().item(event, label), score=float(self.nth))


class Chatty(Sound):
    def observe(self, event: Event) -> None:
        print("I saw it")  # noqa: T201 - that is the point
        super().observe(event)


class GoesByHash(Sound):
    """In an order that is the same within a process, and another in the next."""

    def known(self, query: Query) -> list[tuple[Event, Label]]:
        return sorted(super().known(query), key=lambda pair: hash(pair[0].id))


class HelpsMoreThanAlways(Sound):
    def item(self, event: Event, label: Label) -> MemoryItem:
        return replace(super().item(event, label), help=1.5)


class ScoresNothingFinite(Sound):
    def item(self, event: Event, label: Label) -> MemoryItem:
        return replace(super().item(event, label), score=float("nan"))


class TellsInstantsAsFloats(Sound):
    def item(self, event: Event, label: Label) -> MemoryItem:
        return replace(super().item(event, label), latest_source_ns=float(label.available_ns))  # type: ignore[arg-type]


class TellsNeedsByNumber(Sound):
    def item(self, event: Event, label: Label) -> MemoryItem:
        return replace(super().item(event, label), intention=3)  # type: ignore[arg-type]


class CountsItsUpkeep(Sound):
    n = 0

    def maintain(self, now_ns: int) -> None:
        self.n += 1

    def item(self, event: Event, label: Label) -> MemoryItem:
        return replace(super().item(event, label), score=float(self.n))


class Inline:
    """Async, and so fast that it needs no thread: it has no fault."""

    inline = True
    capabilities = NATIVE

    def __init__(self) -> None:
        self.sound = Sound()

    async def observe(self, event: Event) -> None:
        self.sound.observe(event)

    async def feedback(self, event: Event, label: Label) -> None:
        self.sound.feedback(event, label)

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        return self.sound.recall(query, k, token_budget)

    def render(self, items: Sequence[MemoryItem]) -> str:
        return self.sound.render(items)

    async def forget(self, user: str, start_ns: int, end_ns: int) -> None:
        self.sound.forget(user, start_ns, end_ns)


class WaitsInline(Inline):
    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        await pause(0)
        return await super().recall(query, k, token_budget)


class BlocksInline(Inline):
    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        threading.Event().wait(0.003)
        return await super().recall(query, k, token_budget)


class TellsNoNumber(Sound):
    def stats(self) -> Mapping[str, Any]:
        return {"events": 3, "share": float("nan")}


class TellsAnObject(Sound):
    def stats(self) -> Mapping[str, Any]:
        return {"users": {"ada"}}


class DeclaresInItsOwnWords(Sound):
    capabilities = {**NATIVE, "isolation": "per user"}  # noqa: RUF012


class Counting(Sound):
    """Quotes nothing: how often help was needed in an app, and for what last. It has no fault."""

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        seen = self.counted(query)
        if not seen or k < 1:
            return []
        helped = [label for label in seen if label.help]
        text = f"help was needed {len(helped)} of {len(seen)} times"
        item = MemoryItem(text, 0.5, latest_source_ns=max(label.available_ns for label in seen), tokens=8,
                          help=len(helped) / len(seen), intention=helped[-1].intention if helped else None)  # fmt: skip
        return [item] if token_budget is None or item.tokens <= token_budget else []

    def counted(self, query: Query) -> list[Label]:
        return [label for event, label in self.known(query) if event.app == query.app]


class CountsWhatWasForgotten(Counting):
    """Its words are gone, its counts are not."""

    def forget(self, user: str, start_ns: int, end_ns: int) -> None:
        return None


class CountsACorrectionTwice(Counting):
    """The first label and the second; the same one again counts once."""

    def __init__(self) -> None:
        super().__init__()
        self.labels: dict[tuple[str, str | None], dict[tuple[Any, ...], Label]] = {}

    def feedback(self, event: Event, label: Label) -> None:
        told = replace(label, available_ns=max(event.end_ns, label.available_ns))
        key = (label.event_id, label.help, label.intention, label.query)
        self.labels.setdefault((event.user, event.app), {})[key] = told

    def counted(self, query: Query) -> list[Label]:
        labels = self.labels.get((query.user, query.app), {}).values()
        return [label for label in labels if label.available_ns <= query.now_ns]

    def forget(self, user: str, start_ns: int, end_ns: int) -> None:
        for app, labels in self.labels.items():
            if app[0] == user:
                kept = {k: lb for k, lb in labels.items() if not start_ns <= lb.available_ns <= end_ns}
                self.labels[app] = kept


class CountsTheNeedTakenBack(CountsACorrectionTwice):
    """Another need takes the place of the first; that there was none after all does not."""

    def feedback(self, event: Event, label: Label) -> None:
        told = replace(label, available_ns=max(event.end_ns, label.available_ns))
        self.labels.setdefault((event.user, event.app), {})[label.event_id, label.help] = told


def _as(query: Query, user: str) -> Query:
    return replace(query, user=user)


PLANTED: list[tuple[Callable[[], Any], str, str]] = [
    (LeaksTheFuture, "asked as of earlier it answers", "words that were only written later"),
    (LeaksTheFutureWithAClockOfItsOwn, "asked as of earlier it answers", "words that were only written later"),
    (CountsTheFuture, "what becomes known later", "leaks backwards"),
    (LeaksAnotherUser, "nothing of another user", "another user's past was recalled"),
    (CountsEverybody, "what another user does", "(help of its items)"),
    (TellsTheNewestNeedOfAnybody, "what another user does", "(intention of its items)"),
    (GuessesLabels, "a label is unknown until", "must not be guessed"),
    (GuessesLabels, "nothing is made up", "must not be guessed"),
    (GivesNone, "an empty memory", "recall gives None: a list of MemoryItem is wanted (an empty list for nothing)"),
    (GivesADict, "every call comes back", "recall gives a dict: a list of MemoryItem"),
    (GivesWhatIsNoItem, "no item has a source", "recall gives a list with a dict: a MemoryItem"),
    (GivesADictAtOnce, "every call comes back", "recall gives a dict: a list of MemoryItem"),
    (LeaksItsOwnLabel, "a label is unknown before", "a second before a label became available"),
    (TellsTheLabelOfAnOpenEvent, "a label is unknown before", "a second before an event closed"),
    (SharedByAll, "an empty memory", "recalls up to 6 items in one answer: is it shared between instances"),
    (GivesAnotherAnswerEachTime, "asking changes nothing", "has two answers"),
    (Raises, "odd windows", "raised AttributeError at test_conformance_catches.py"),
    (TooLong, "a long title", "too long"),
    (TooMany, "items come best first", "asked for 0 items"),
    (OverBudget, "items fit the token budget", "budget is exceeded"),
    (SaysItIsCheap, "an item says honestly", "says it costs 1"),
    (NeverComesBack, "every call comes back", "recall() did not come back within 0.05 s"),
    (BlocksOnAnOddTitle, "odd windows", "observe() did not come back within 0.05 s"),
    (GivesAText, "every call comes back", "recall gives a str: a list of MemoryItem"),
    (FailsToClose, "closing raises nothing", "raised OSError at test_conformance_catches.py"),
    (MutatesWhatItGave, "an answer once given", "change when more is told"),
    (Duplicates, "nothing is recalled twice", "more than once"),
    (CountsTwice, "an event told twice", "count twice"),
    (DiffersByInstance, "the same past", "runs with it cannot be repeated"),
    (GoesByHash, "another process", "does it go by hash()"),
    (HelpsMoreThanAlways, "every field of an item", "help is 1.5: a share from 0 to 1"),
    (ScoresNothingFinite, "every field of an item", "score is nan: a finite number is wanted"),
    (TellsInstantsAsFloats, "every field of an item", "whole nanoseconds are wanted, or None"),
    (TellsNeedsByNumber, "every field of an item", "intention is 3: a text is wanted"),
    (CountsItsUpkeep, "maintenance can be repeated", "changes the answers"),
    (WaitsInline, "an inline memory", "waits for something"),
    (TellsNoNumber, "statistics are plain", "a mapping of names to plain numbers"),
    (TellsAnObject, "statistics are plain", "a mapping of names to plain numbers"),
    (DeclaresInItsOwnWords, "capabilities use", "isolation is 'per user', and a result knows collection, native, none"),
    (IgnoresForget, "what is forgotten", "still tell what was to be forgotten"),
    (CountsWhatWasForgotten, "what is forgotten", "never told (text, help, intention"),
    (CountsACorrectionTwice, "a corrected label", "the first label still counts (text, help"),
    (CountsTheNeedTakenBack, "a corrected label", "the first label still counts (text, help"),
    (ForgetsAll, "what is forgotten", "took all the others"),
    (ForgesALine, "a line break in a title", "line of its own in the prompt"),
    (KeepsTheFirstLabel, "a corrected label", "corrected is still told"),
    (InventsSources, "sources are events", "never told of"),
    (TellsATextOfSources, "sources are events", "source_event_ids is a str: a tuple of the ids of events is wanted"),
    (BlocksWhereItIsMadeAgain, "the same past", "its constructor did not come back within 0.05 s"),
    (SavesNothing, "what is saved", "answers differently"),
]


@pytest.mark.parametrize("made", [Sound, Counting, Inline])
def test_a_memory_without_a_fault_passes_every_rule(made: Callable[[], Any]) -> None:
    found = list(examine(made))
    assert [c for c in found if c.state != "ok"] == []
    assert len(found) >= 25


@pytest.mark.parametrize(("made", "rule", "sentence"), PLANTED, ids=lambda x: getattr(x, "__name__", None))
def test_a_planted_fault_is_named(made: Callable[[], Any], rule: str, sentence: str) -> None:
    limit_s = 0.3 if made in (NeverComesBack, BlocksOnAnOddTitle, BlocksWhereItIsMadeAgain) else 30.0
    (found,) = islice(examine(made, limit_s, rules=[_rule(rule)]), 1)
    assert found.state == "wrong"
    assert sentence in found.said


def test_every_rule_finds_a_fault_that_was_planted_for_it() -> None:
    found = {_rule(rule).__name__ for _, rule, _ in PLANTED}
    assert [rule.__name__ for rule in CHECKS if rule.__name__ not in found] == []


def test_an_inline_memory_that_blocks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.conformance.conduct._INLINE_NS", 10**6)
    (found,) = examine(BlocksInline, rules=[_rule("an inline memory")])
    assert (found.state, "declares inline = True and blocks" in found.said) == ("wrong", True)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: GoesByHash(), "what makes it cannot be sent there"),
        (partial(getattr, GoesByHash, "no_such"), "AttributeError there"),
    ],
)
def test_what_cannot_be_made_in_another_process_is_said_and_no_fault(made: Callable[[], Any], said: str) -> None:
    with pytest.raises(NotAsked, match=f"could not be tried in another process: {said}"):
        answers_elsewhere(made)
    if said.startswith("what makes"):
        (found,) = examine(made, rules=[_rule("another process")])
        assert (found.state, said in found.said) == ("ok", True)


def test_what_a_memory_prints_in_another_process_is_none_of_its_answers() -> None:
    assert answers_elsewhere(Chatty) == answers_elsewhere(Sound) != []


def _rule(begins: str) -> Check:
    (rule,) = [one for one in CHECKS if one.__name__.replace("_", " ").startswith(begins)]
    return rule


def test_of_a_memory_that_writes_its_past_anew_words_and_sources_must_be_gone_and_no_more() -> None:
    class Anew(CountsWhatWasForgotten):
        capabilities = {**NATIVE, "mutates_past": True}  # noqa: RUF012

    for rule in ("what is forgotten", "a corrected label"):
        (found,) = examine(Anew, rules=[_rule(rule)])
        assert (found.state, "figures were not compared" in found.said) == ("ok", True)


def test_a_memory_that_cannot_forget_is_noted_and_no_fault() -> None:
    class Elephant(Sound):
        forget = None  # type: ignore[assignment]

    (found,) = examine(Elephant, rules=[_rule("what is forgotten")])
    assert (found.state, "cannot be" in found.said) == ("note", True)


def test_a_memory_that_blocks_is_told_after_one_call_and_no_other_rule_waits_for_it() -> None:
    tried: list[str] = []
    first, rest = examine(NeverComesBack, 0.3, tried.append)
    assert (first.state, rest.state, tried) == ("wrong", "note", ["every call comes back"])
    assert rest.name == f"{len(CHECKS) - 1} more rules"
