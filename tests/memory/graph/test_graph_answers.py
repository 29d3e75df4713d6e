"""Priors, thresholds and transitions against counts made by hand."""

from collections.abc import Sequence
from typing import Any

import pytest

from memory.base import make_memory
from memory.graph_counts import Node, above
from memory.keywords import Tally
from simulator.core.errors import UsageError
from simulator.core.types import SECOND, Event, Label, MemoryItem, Query

# Ten moments, in order: app, title, need. Counted by hand below.
PAST: list[tuple[str, str, str | None]] = [
    ("code", "parser main", "Coding/Programming"),
    ("code", "parser test", "Coding/Programming"),
    ("mail", "invoice march", None),
    ("code", "parser main", None),
    ("code", "readme draft", "Translation"),
    ("mail", "invoice april", "Data Analysis"),
    ("browser", "parser forum", None),
    ("code", "parser main", "Coding/Programming"),
    ("mail", "holiday", None),
    ("code", "readme draft", None),
]


async def remembering(spec: str, rows: Any = PAST, user: str = "u") -> Any:
    memory: Any = make_memory(spec)
    await add(memory, rows, user)
    return memory


async def add(memory: Any, rows: Any, user: str = "u") -> None:
    for n, (app, title, need) in enumerate(rows):
        event = Event(f"{user}/{n}", user, n * 10, n * 10 + 10, app, title)
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, user, need is not None, event.end_ns, need))


async def said(memory: Any, app: str | None, title: str | None, now_ns: int = 1000, user: str = "u") -> list[str]:
    items: list[MemoryItem] = await memory.recall(Query(user, app, title, None, now_ns), 9, None)
    return [item.text for item in items]


async def test_the_app_prior_is_the_share_of_its_moments_and_its_intentions_are_those_of_help() -> None:
    # code: 6 moments, 4 with help: 3 coding, 1 translation.
    (text,) = await said(await remembering("graph"), "code", None)
    assert text == "In code help was needed in 67 % of 6 moments, then for: Coding/Programming 75 %, Translation 25 %"


async def test_the_keyword_prior_is_the_mean_over_the_words_of_shares_of_all_their_moments() -> None:
    # parser: 5 moments, 3 with help, all coding (3/5); readme: 2 moments, 1 with help (translation, 1/2).
    memory = await remembering("graph")
    (text,) = await said(memory, None, "parser readme")
    assert text.endswith("55 % of moments (the mean of these words): Coding/Programming 30 %, Translation 25 %")
    (item,) = await memory.recall(Query("u", None, "parser readme", None, 1000), 5, None)
    assert item.help == pytest.approx((3 / 5 + 1 / 2) / 2)
    assert (item.intention, item.score, item.latest_source_ns) == ("Coding/Programming", 5 / 9, 100)


HELP_ONLY = "graph:keyword_conditional=help_only"


async def test_conditioned_on_help_the_shares_of_a_keyword_are_of_moments_with_help() -> None:
    # parser: 3 of 3; readme: 1 of 1; holiday was never seen with help and has no such shares.
    (text,) = await said(await remembering(HELP_ONLY), None, "parser readme holiday")
    assert text.endswith("of moments (the mean of these words), then for: Coding/Programming 50 %, Translation 50 %")


@pytest.mark.parametrize("mean", ["known", "all"])
async def test_how_often_help_was_needed_is_the_same_under_both_conditionals(mean: str) -> None:
    # parser 3/5, readme 1/2, holiday 0/1; an unknown word counts where the mean goes over all.
    over = {"known": 3, "all": 4}[mean]
    for conditional in ("paper", "help_only"):
        memory = await remembering(f"graph:keyword_conditional={conditional},keyword_mean={mean}")
        (item,) = await memory.recall(Query("u", None, "parser readme holiday zebra", None, 1000), 5, None)
        assert item.help == 11 / (10 * over)
        assert all(word in item.text for word in ("“parser”", "“readme”", "“holiday”"))
        assert f"help was needed in {round(110 / over)} % of moments" in item.text


async def test_words_never_seen_with_help_tell_that_none_was_needed() -> None:
    (item,) = await (await remembering(HELP_ONLY)).recall(Query("u", None, "holiday", None, 1000), 5, None)
    assert item.text == "With “holiday” in the title help was needed in 0 % of moments"
    assert (item.help, item.intention, item.score) == (0.0, None, 1 / 5)


@pytest.mark.parametrize("conditional", ["paper", "help_only"])
async def test_a_word_that_the_user_knows_is_not_read_from_everybodys_counts(conditional: str) -> None:
    memory = await remembering(
        f"graph:scope=backoff,keyword_conditional={conditional}", [("code", "holiday", None)] * 10
    )
    await add(memory, [("code", "holiday", "Translation")] * 5, "v")
    (item,) = await memory.recall(Query("u", None, "holiday", None, 1000), 5, None)
    assert (item.help, item.intention) == (0.0, None)
    assert "Translation" not in item.text


async def test_a_word_that_is_not_known_is_left_out_of_the_mean_or_counts_as_nothing() -> None:
    # parser alone: 3/5 of its moments. With an unknown word beside it, the mean over all of the title is half of that.
    memory, all_ = await remembering("graph"), await remembering("graph:keyword_mean=all")
    for made, share in ((memory, 3 / 5), (all_, 3 / 10)):
        (item,) = await made.recall(Query("u", None, "parser zebra", None, 1000), 5, None)
        assert item.help == pytest.approx(share)


@pytest.mark.parametrize(("n_other", "told"), [(18, True), (19, False)])
async def test_an_intention_of_an_app_is_told_above_five_in_a_hundred(n_other: int, told: bool) -> None:
    # 1 of 19 is .0526; 1 of 20 is exactly .05, which is not above it.
    rows = [("code", "", "Translation"), *[("code", "", "Data Analysis")] * n_other]
    (text,) = await said(await remembering("graph", rows), "code", None)
    assert ("Translation" in text) is told


@pytest.mark.parametrize(("n_other", "told"), [(8, True), (9, False)])
async def test_an_intention_of_a_word_is_told_above_ten_in_a_hundred(n_other: int, told: bool) -> None:
    # 1 of 9 is .111; 1 of 10 is exactly .1, which is not above it.
    rows = [("code", "parser", "Translation"), *[("code", "parser", None)] * n_other]
    (text,) = await said(await remembering("graph", rows), None, "parser")
    assert ("Translation" in text) is told


@pytest.mark.parametrize("spec", ["graph", "graph:keyword_mean=all", HELP_ONLY, "class-prior"])
async def test_an_item_claims_no_intention_that_its_text_does_not_tell(spec: str) -> None:
    # Translation in 1 of 20: of all moments, or, where shares are of those with help, of 20 with help.
    always = spec in (HELP_ONLY, "class-prior")
    memory: Any = make_memory(spec)
    for n in range(20):
        event = Event(f"u/{n}", "u", n * 10, n * 10 + 10, None, "parser")
        need = ("Translation", "how?") if n == 0 else (None, None)
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, "u", always or n == 0, event.end_ns, *need))
    (item,) = await memory.recall(Query("u", None, "parser", None, 1000), 5, None)
    assert "Translation" not in item.text
    assert (item.help, item.intention, item.query) == (1.0 if always else 1 / 20, None, None)


async def test_a_mean_of_exactly_ten_in_a_hundred_is_not_above_it_however_it_is_made_up() -> None:
    """1/10, 2/10 and 0/10 have a mean of .1, and as binary fractions of a little more."""
    rows = [
        ("", word, "T" if n < times else None) for word, times in (("ab", 1), ("cd", 2), ("ef", 0)) for n in range(10)
    ]
    memory = await remembering("graph", rows)
    (text,) = await said(memory, None, "ab cd ef")
    assert text == "With “ab”, “cd”, “ef” in the title help was needed in 10 % of moments (the mean of these words)"
    assert (1 / 10 + 2 / 10 + 0 / 10) / 3 > 0.1
    await add(memory, [("", "ef", "T")], "v")  # another user's changes nothing
    await memory.observe(Event("u/x", "u", 300, 310, "", "ef"))
    await memory.feedback(Event("u/x", "u", 300, 310, "", "ef"), Label("u/x", "u", True, 310, "T"))
    (text,) = await said(memory, None, "ab cd ef")
    assert text.endswith("13 % of moments (the mean of these words): T 13 %")


async def test_intentions_of_equal_means_come_by_name_however_they_are_made_up() -> None:
    """1/10 + 2/10 of one and 3/10 + 0/10 of another are the same; as binary fractions the first is more."""
    rows = [("", "ab", "Z"), *[("", "ab", "A")] * 3, *[("", "ab", None)] * 6]
    rows += [*[("", "cd", "Z")] * 2, *[("", "cd", None)] * 8]
    (item,) = await (await remembering("graph", rows)).recall(Query("u", None, "ab cd", None, 1000), 5, None)
    assert item.text.endswith(": A 15 %, Z 15 %")
    assert item.intention == "A"


async def test_transitions_are_counted_between_apps_that_follow_each_other_and_are_told_if_asked_for() -> None:
    # Apps in order: code code mail code code mail browser code mail code. From code: mail 3 times; from mail: code
    # twice, browser once. Staying in an app is none.
    memory = await remembering("graph:show_next=true")
    assert "After code usually comes: mail 100 %" in await said(memory, "code", None)
    assert "After mail usually comes: code 67 %, browser 33 %" in await said(memory, "mail", None)
    assert not any("usually comes" in text for text in await said(await remembering("graph"), "mail", None))


async def test_transitions_are_read_as_of_the_moment_too() -> None:
    memory = await remembering("graph:show_next=true")
    assert "After mail usually comes: code 100 %" in await said(memory, "mail", None, now_ns=45)
    assert not any("usually" in text for text in await said(memory, "mail", None, now_ns=35))


Spell = tuple[str | None, int, int]  # app, start, end in seconds


async def edges(spells: Sequence[Spell], spec: str = "graph", **more: Any) -> dict[tuple[str, str], int]:
    """The transitions that are counted when one user's events are told in this order."""
    memory: Any = make_memory(spec)
    for n, (app, start, end) in enumerate(spells):
        await memory.observe(Event(f"u/{n}", "u", start * SECOND, end * SECOND, app, "", **more))
    return transitions(memory)


def transitions(memory: Any) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for table in memory.tables("u"):
        found |= {(app, after): len(tally) for app, all_ in table.following.items() for after, tally in all_.items()}
    return found


async def test_a_gap_is_no_transition_unless_it_is_asked_for() -> None:
    """A pause of the recording, a night: what was done in it is not known."""
    days = 3 * 86_400
    spells: list[Spell] = [("code", 0, 10), ("mail", 11, 20), ("browser", 20 + days, 30 + days)]
    assert await edges(spells) == {}
    assert await edges(spells, "graph:next_gap_s=1") == {("code", "mail"): 1}
    assert await edges(spells, "graph:next_gap_s=300") == {("code", "mail"): 1}
    assert await edges([("code", 0, 10), ("mail", 10, 20)]) == {("code", "mail"): 1}


async def test_an_unnamed_window_parts_and_one_that_took_no_time_does_not() -> None:
    assert await edges([("code", 0, 10), (None, 10, 20), ("mail", 20, 30)], "graph:next_gap_s=60") == {}
    assert await edges([("code", 0, 10), ("flash", 10, 10), ("mail", 10, 20)]) == {("code", "mail"): 1}


async def test_apps_in_which_an_assistant_was_asked_follow_and_are_followed_as_others() -> None:
    spells: list[Spell] = [("code", 0, 10), ("chat", 10, 20), ("mail", 20, 30)]
    for assistance in (False, True):
        assert await edges(spells, assistance=assistance) == {("code", "chat"): 1, ("chat", "mail"): 1}


async def test_to_forget_what_lay_between_joins_nobody() -> None:
    memory: Any = make_memory("graph:show_next=true")
    for n, app in enumerate(["code", "bank", "mail", "code"]):
        await memory.observe(Event(f"u/{n}", "u", n * SECOND, (n + 1) * SECOND, app, ""))
    assert set(transitions(memory)) == {("code", "bank"), ("bank", "mail"), ("mail", "code")}
    await memory.forget("u", 1 * SECOND, 2 * SECOND)
    assert transitions(memory) == {("mail", "code"): 1}
    assert await said(memory, "code", None, now_ns=9 * SECOND) == []


async def test_an_event_told_late_counts_as_every_other_and_makes_no_transition() -> None:
    """Told in order of their ends there would be two. None is made up in either order."""
    spells: list[Spell] = [("code", 0, 10), ("mail", 10, 20), ("browser", 20, 30), ("code", 30, 40)]
    last = {("browser", "code"): 1}
    assert await edges(spells) == {("code", "mail"): 1, ("mail", "browser"): 1} | last
    assert await edges([spells[0], spells[2], spells[1], spells[3]]) == last
    assert await edges([spells[0], ("mail", 5, 8), spells[1]]) == {("code", "mail"): 1}


async def test_each_user_has_transitions_of_their_own_in_shared_counts() -> None:
    memory: Any = make_memory("graph:scope=global,show_next=true")
    for n, (user, app) in enumerate([("u", "code"), ("v", "mail"), ("u", "code"), ("v", "mail"), ("u", "browser")]):
        start_ns = n // 2 * 10 + (5 if user == "v" else 0)
        await memory.observe(Event(f"{user}/{n}", user, start_ns, start_ns + 10, app, ""))
    assert await said(memory, "code", None) == ["After code usually comes: browser 100 %"]  # u never went to mail


async def test_backoff_asks_everybody_only_about_what_the_user_does_not_know() -> None:
    memory: Any = make_memory("graph:scope=backoff")
    await add(memory, [("code", "parser", None)], "u")
    await add(memory, [("code", "parser", "Translation"), ("mail", "invoice", "Translation")], "v")
    assert "In code help was needed in 0 % of 1 moments" in await said(memory, "code", None)
    assert "In mail help was needed in 100 % of 1 moments, then for: Translation 100 %" in await said(
        memory, "mail", None
    )


async def test_labels_told_in_any_order_give_the_same_counts_as_of_any_instant() -> None:
    events = [Event(f"u/{n}", "u", n * 10, n * 10 + 10, "code", "parser") for n in range(4)]
    labels = [Label(e.id, "u", n != 1, 100 + n, "Translation" if n != 1 else None) for n, e in enumerate(events)]
    made: list[Any] = [make_memory("graph"), make_memory("graph")]
    for memory, order in zip(made, ([0, 1, 2, 3], [3, 1, 0, 2]), strict=True):
        for event in events:
            await memory.observe(event)
        for n in order:
            await memory.feedback(events[n], labels[n])
    for now_ns in range(99, 105):
        assert await said(made[0], "code", "parser", now_ns) == await said(made[1], "code", "parser", now_ns)
    assert (await said(made[1], "code", None, 101))[0].startswith("In code help was needed in 50 % of 2 moments")


async def test_the_latest_question_for_the_intention_is_told_as_of_the_moment() -> None:
    node = Node()
    for ns, asked in ((30, "third"), (10, "first"), (20, "second")):
        node.add(ns, True, "Translation", (ns, asked))
    assert [node.question("Translation", ns) for ns in (5, 10, 25, 99)] == [
        None, (10, "first"), (20, "second"), (30, "third")
    ]  # fmt: skip
    assert node.upto(20) == (2, 2, {"Translation": 2}, 20)
    assert node.upto(9)[0] == 0


def test_shares_come_largest_first_and_equal_ones_by_name() -> None:
    assert list(above({"b": 2, "a": 2, "c": 5, "d": 1}, 10, 10)) == ["c", "a", "b"]


def test_a_tally_takes_late_additions_into_their_place() -> None:
    tally = Tally()
    for ns in (10, 30, 20, 20, 5):
        tally.add(ns)
    assert [tally.upto(ns) for ns in (4, 5, 10, 20, 30)] == [0, 1, 2, 4, 5]
    assert (len(tally), tally.latest(25), tally.latest(0)) == (5, 20, None)


async def test_the_names_of_the_papers_are_names_here() -> None:
    assert type(make_memory("kg:scope=global")).__name__ == "GraphMemory"
    assert type(make_memory("cluster")) is type(make_memory("clusters")) is type(make_memory("personas"))


def test_a_gap_is_a_number_of_seconds() -> None:
    for wrong in ("-1", "nan", "inf"):
        with pytest.raises(UsageError, match="next_gap_s"):
            make_memory(f"graph:next_gap_s={wrong}")


@pytest.mark.parametrize("wrong", ["scope=mine", "keyword_conditional=none", "keyword_mean=some"])
def test_a_word_that_is_no_option_is_refused_with_those_that_are(wrong: str) -> None:
    with pytest.raises(UsageError, match=r"must be one of"):
        make_memory(f"graph:{wrong}")


async def test_the_graph_counts_its_nodes_and_edges() -> None:
    stats = (await remembering("graph")).stats()
    # apps code mail browser; words parser main test invoice march readme draft april forum holiday
    assert (stats["apps"], stats["keywords"]) == (3, 10)
