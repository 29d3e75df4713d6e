"""Rules on who may know what, and when: canaries of the future, of other users, and of the moment's own label."""

from __future__ import annotations

from dataclasses import replace

from memory.conformance.subject import FIGURES, USER, NotAsked, Subject, ensure, items_of, past, query, said
from simulator.core.types import SECOND, Label, MemoryItem

__all__ = ["CHECKS"]

_NEWEST_ONLY = "it declares that it can only be asked about the newest moment"
_TOO_SOON = (
    "asked a second before an event closed, it tells the label of that event: one that is available sooner counts as "
    "known from the event's end on"
)


def nothing_of_another_user_is_recalled(s: Subject) -> None:
    if s.capability("isolation") == "none":
        raise NotAsked("it declares that users are not kept apart", worth=True)
    mine, theirs = past(), past(user="bob", mark=" CANARYBOB")
    memory = s.filled([*theirs, *mine])
    items = s.ask_all(memory, mine, mine[-1][0].end_ns)
    told = sum("CANARYBOB" in said(i) or any(one.startswith("bob-") for one in i.source_event_ids) for i in items)
    ensure(not told, f"another user's past was recalled: {told} of {len(items)} items are of somebody else")
    stranger = s.ask_all(memory, mine, mine[-1][0].end_ns, user="eve")
    ensure(stranger == [], f"a user without a past was given somebody's: {len(stranger)} items in five windows")


def what_another_user_does_changes_no_answer(s: Subject) -> None:
    """A share over everybody, or the newest need of anybody, tells of others without a word of theirs."""
    if s.capability("isolation") == "none":
        raise NotAsked("it declares that users are not kept apart", worth=True)
    mine = past()
    theirs = [
        (event, replace(label, help=True, intention="Mathematical Calculation", query="how much is it"))
        for event, label in past(user="bob", start_ns=30 * SECOND)
    ]
    now_ns = theirs[-1][0].end_ns
    memory = s.filled(mine)
    before = s.ask_all(memory, mine, now_ns)
    s.tell(memory, theirs)
    after = s.ask_all(memory, mine, now_ns)
    fields = [f for f in FIGURES if [getattr(i, f) for i in before] != [getattr(i, f) for i in after]]
    ensure(
        before == after,
        f"an answer changes with another user's past ({', '.join(fields) or 'other fields'} of its items): it counts "
        "over users that it declares to keep apart",
    )


def a_label_is_unknown_until_it_is_told(s: Subject) -> None:
    pairs = past()
    event = pairs[-1][0]
    label = Label(event.id, USER, True, event.end_ns, "Mathematical Calculation", "CANARYQUESTION")
    memory = s.filled(pairs[:-1])
    s.run(memory.observe(event))
    s.run(s.upkeep(memory, event.end_ns))
    for item in s.ask_all(memory, pairs, event.end_ns):
        ensure("CANARYQUESTION" not in said(item), "a question is recalled that nobody has told it")
        ensure(item.intention != label.intention, "an intention is recalled that nobody has told it")
        if tuple(item.source_event_ids) == (event.id,):
            _without_label(item)


def nothing_is_made_up_where_no_label_was_ever_told(s: Subject) -> None:
    pairs = past(10)
    memory = s.memory()

    async def see() -> None:
        for event, _ in pairs:
            await memory.observe(event)
        await s.upkeep(memory, pairs[-1][0].end_ns)

    s.run(see())
    for item in s.ask_all(memory, pairs, pairs[-1][0].end_ns):
        _without_label(item)


def _without_label(item: MemoryItem) -> None:
    """An item that rests on nothing labelled: what is unknown is None."""
    for field in ("help", "intention", "query"):
        ensure(
            getattr(item, field) is None,
            f"an item has a value of {field} and rests on events whose label nobody has told it: a label must not be "
            "guessed before feedback",
        )


def a_label_is_unknown_before_it_became_available(s: Subject) -> None:
    """The moment's own label: written by now, and asked about as of before, also where it is available before its
    event has closed: a run tells it then, and an answer as of in between must not have changed since.
    """
    if s.capability("as_of") != "native":
        raise NotAsked(_NEWEST_ONLY)
    pairs = past()
    event = pairs[-1][0]
    late = Label(event.id, USER, True, event.end_ns + 60 * SECOND, "Mathematical Calculation", "CANARYLABEL")
    memory = s.filled([*pairs[:-1], (event, late)])
    for item in s.ask_all(memory, [pairs[-1], *pairs], event.end_ns + 59 * SECOND):
        ensure("CANARYLABEL" not in said(item), "asked a second before a label became available, it tells the label")
        ensure(item.intention != late.intention, "a second before a label became available, it tells the intention")
    sooner = replace(late, available_ns=event.end_ns - 10 * SECOND)  # a run tells it when the event has closed
    memory = s.filled([*pairs[:-1], (event, sooner)])
    for item in s.ask_all(memory, [pairs[-1], *pairs], event.end_ns - SECOND):
        ensure("CANARYLABEL" not in said(item) and item.intention != late.intention, _TOO_SOON)


def no_item_has_a_source_later_than_the_moment_of_asking(s: Subject) -> None:
    pairs = past()
    memory = s.memory()

    async def play() -> None:
        for event, label in pairs:
            for item in items_of(await memory.recall(query(event, event.start_ns), 50, None)):
                latest_ns = item.latest_source_ns
                ensure(
                    latest_ns is None or latest_ns <= event.start_ns,
                    f"an item is from the future: latest_source_ns {latest_ns}, asked at {event.start_ns}",
                )
            await memory.observe(event)
            await memory.feedback(event, label)
            await s.upkeep(memory, event.end_ns)

    s.run(play())


def asked_as_of_earlier_it_answers_from_what_was_known_then(s: Subject) -> None:
    if s.capability("as_of") != "native":
        raise NotAsked(_NEWEST_ONLY)
    pairs = past(20)
    now_ns = pairs[-1][0].end_ns
    later = past(20, start_ns=now_ns + SECOND * 30, mark=" CANARYFUTURE")
    memory = s.filled([*pairs, *later])
    future = {event.id for event, _ in later}
    windows = [*pairs[:3], *later[:2]]
    for item in s.ask_all(memory, windows, now_ns):
        ensure("CANARYFUTURE" not in said(item), "asked as of earlier, it tells words that were only written later")
        ensure(not future & set(item.source_event_ids), "asked as of earlier, it names events that came later")
        ensure(item.latest_source_ns is not None, "an item needs latest_source_ns: without it nobody can check it")
        ensure((item.latest_source_ns or 0) <= now_ns, "asked as of earlier, an item is from the future")


def what_becomes_known_later_changes_no_earlier_answer(s: Subject) -> None:
    """A count, a summary or a cluster that takes the future in leaks it without a word of it."""
    if s.capability("as_of") != "native":
        raise NotAsked(_NEWEST_ONLY)
    pairs = past(20)
    now_ns = pairs[-1][0].end_ns
    memory = s.filled(pairs)
    before = s.ask_all(memory, pairs, now_ns)
    swapped = [(e, replace(lb, help=not lb.help)) for e, lb in past(5, start_ns=now_ns + 30 * SECOND)]
    s.tell(memory, swapped)
    after = s.ask_all(memory, pairs, now_ns)
    ensure(before == after, "an answer as of a moment changes with what is told later: what it knows leaks backwards")


CHECKS = (
    nothing_of_another_user_is_recalled,
    what_another_user_does_changes_no_answer,
    a_label_is_unknown_until_it_is_told,
    nothing_is_made_up_where_no_label_was_ever_told,
    a_label_is_unknown_before_it_became_available,
    no_item_has_a_source_later_than_the_moment_of_asking,
    asked_as_of_earlier_it_answers_from_what_was_known_then,
    what_becomes_known_later_changes_no_earlier_answer,
)
