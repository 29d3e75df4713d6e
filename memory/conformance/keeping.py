"""Rules on what is kept: the same past gives the same answers, twice told is once told, forgotten is gone."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from memory.conformance.elsewhere import answers, answers_elsewhere
from memory.conformance.subject import USER, NotAsked, Subject, differing, ensure, past, query, said
from simulator.core.protocols import Memory
from simulator.core.types import SECOND, Event, Label

__all__ = ["CHECKS"]


def asking_changes_nothing(s: Subject) -> None:
    pairs = past()
    memory = s.filled(pairs)
    asked = query(pairs[3][0], pairs[-1][0].end_ns)
    ensure(s.ask(memory, asked) == s.ask(memory, asked), "the same question asked twice has two answers")


def the_same_past_gives_the_same_answers(s: Subject) -> None:
    pairs = past()
    now_ns = pairs[-1][0].end_ns
    one, two = s.filled(pairs), s.filled(pairs)
    same = s.ask_all(one, pairs, now_ns) == s.ask_all(two, pairs, now_ns)
    ensure(same, "two memories that were told the same give different answers: runs with it cannot be repeated")


def another_process_gives_the_same_answers(s: Subject) -> None:
    """What goes by ``hash()`` or by the order of a set is the same within a process, and nowhere else."""
    here, there = answers(s), answers_elsewhere(s.make)
    ensure(
        here == there,
        "told the same in another process it answers differently: does it go by hash(), the order of a set, a clock or "
        "random numbers without the run's seed?",
    )


def an_answer_once_given_stays_as_it_is(s: Subject) -> None:
    pairs = past()
    memory = s.filled(pairs[:-5])
    asked = query(pairs[3][0], pairs[-1][0].end_ns)
    items = s.ask(memory, asked)
    copy = [repr(item) for item in items]
    memory.render(items)
    ensure([repr(i) for i in items] == copy, "render() changes the items that it is given")
    s.tell(memory, pairs[-5:])
    s.ask(memory, asked)
    ensure([repr(i) for i in items] == copy, "items that were handed out change when more is told or asked")


def an_event_told_twice_counts_once(s: Subject) -> None:
    pairs = past(20)
    now_ns = pairs[-1][0].end_ns
    once, twice = s.filled(pairs), s.filled(pairs)
    s.tell(twice, pairs)
    same = s.ask_all(once, pairs, now_ns) == s.ask_all(twice, pairs, now_ns)
    ensure(same, "told the same events a second time (as after a crash), it answers differently: they count twice")


def a_corrected_label_takes_the_place_of_the_first(s: Subject) -> None:
    pairs = past()
    event = pairs[1][0]
    memory = s.filled([pairs[0], (event, replace(pairs[1][1], query="CANARYFIRST")), *pairs[2:]])
    second = replace(pairs[1][1], intention="Translation", query="the right question")
    _correct(s, memory, (event, second), pairs[-1][0].end_ns)
    asked = s.ask_all(memory, pairs, pairs[-1][0].end_ns)
    ensure(not any("CANARYFIRST" in said(i) for i in asked), "a label that was corrected is still told")
    _only_words_and_sources(s)
    _counts_a_correction_once(s)


def _counts_a_correction_once(s: Subject) -> None:
    """Not a word of the first label, but a number: of the newest event, so that the order of telling is the same."""
    *sooner, (event, first) = past(20)
    others = (replace(first, intention="Mathematical Calculation"), Label(event.id, USER, False, first.available_ns))
    for second in others:
        pairs = [*sooner, (event, second)]
        corrected, right = s.filled([*sooner, (event, first)]), s.filled(pairs)
        _correct(s, corrected, (event, second), event.end_ns)
        asked = [pairs[-1], *pairs[:4]]
        differs = differing(s.ask_all(corrected, asked, event.end_ns), s.ask_all(right, asked, event.end_ns))
        ensure(
            not differs,
            "after a correction it answers otherwise than a memory that was told the right label at once: the first "
            f"label still counts ({differs})",
        )


def _correct(s: Subject, memory: Memory, right: tuple[Event, Label], now_ns: int) -> None:
    s.run(memory.feedback(*right))
    s.run(s.upkeep(memory, now_ns))


def _only_words_and_sources(s: Subject) -> None:
    """No more is asked of a memory that says that it writes its past anew."""
    if s.capability("mutates_past") is True:
        raise NotAsked("words and sources are gone; it declares mutates_past, so figures were not compared")


def maintenance_can_be_repeated(s: Subject) -> None:
    pairs = past()
    now_ns = pairs[-1][0].end_ns
    memory = s.filled(pairs)
    before = s.ask_all(memory, pairs, now_ns)
    s.run(s.upkeep(memory, now_ns))
    ensure(s.ask_all(memory, pairs, now_ns) == before, "a second maintain() at the same instant changes the answers")


def what_is_forgotten_is_gone(s: Subject) -> None:
    kept, pairs = s.memory(), past()
    if not s.has(kept, "forget"):
        raise NotAsked("it has no forget(): a user who wants to be forgotten cannot be", worth=True)
    s.tell(kept, pairs)
    secret = past(n=5, start_ns=pairs[-1][0].end_ns + 60 * SECOND, mark=" CANARYSECRET")
    end_ns = secret[-1][0].end_ns
    before = s.ask_all(kept, pairs, end_ns)
    s.tell(kept, secret)
    try:
        s.run(kept.forget(USER, secret[0][0].start_ns, end_ns))  # type: ignore[attr-defined]
    except NotImplementedError:
        raise NotAsked("its forget() says that it cannot: a user who wants to be forgotten cannot be",
                       worth=True) from None  # fmt: skip
    s.run(s.upkeep(kept, end_ns))
    asked = [*s.ask_all(kept, secret, end_ns), *s.ask_all(kept, pairs, end_ns)]
    told = sum("CANARYSECRET" in said(i) for i in asked)
    ensure(not told, f"after forget() {told} of {len(asked)} items still tell what was to be forgotten")
    gone = {event.id for event, _ in secret}
    ensure(not any(gone & set(i.source_event_ids) for i in asked), "after forget() items still name events that went")
    left = {one for i in before for one in i.source_event_ids}
    still = {one for i in asked for one in i.source_event_ids}
    ensure(not left or still, "forget() of five events took all the others with them")
    _only_words_and_sources(s)
    never = s.filled(pairs)
    s.run(s.upkeep(never, end_ns))
    differs = differing(asked, [*s.ask_all(never, secret, end_ns), *s.ask_all(never, pairs, end_ns)])
    ensure(
        not differs,
        f"after forget() it answers otherwise than a memory that was never told ({differs}): what was to be forgotten "
        "is still counted",
    )


def what_is_saved_is_recalled_after_loading(s: Subject) -> None:
    pairs = past()
    now_ns = pairs[-1][0].end_ns
    memory, other = s.filled(pairs), s.memory()
    if not (s.has(memory, "save") and s.has(other, "load")):
        raise NotAsked("it has no save() and load(): it lives as long as its process")
    with tempfile.TemporaryDirectory(prefix="proact-memory-") as folder:
        try:
            memory.save(Path(folder) / "kept")  # type: ignore[attr-defined]
            other.load(Path(folder) / "kept")  # type: ignore[attr-defined]
        except NotImplementedError:
            raise NotAsked("its save() or load() says that it cannot") from None
    s.run(s.upkeep(other, now_ns))
    same = s.ask_all(other, pairs, now_ns) == s.ask_all(memory, pairs, now_ns)
    ensure(same, "what was saved and loaded again answers differently")


CHECKS = (
    asking_changes_nothing,
    the_same_past_gives_the_same_answers,
    another_process_gives_the_same_answers,
    an_answer_once_given_stays_as_it_is,
    an_event_told_twice_counts_once,
    a_corrected_label_takes_the_place_of_the_first,
    maintenance_can_be_repeated,
    what_is_forgotten_is_gone,
    what_is_saved_is_recalled_after_loading,
)
