"""The memories to compare with, against pasts small enough to see through."""

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memory.base import make_memory
from simulator.core.errors import UsageError
from simulator.core.types import SECOND, Event, Label, MemoryItem, Query
from simulator.play.makers import memory_maker
from simulator.session.truth import Moment, Opportunity, Truth

NEEDS = ["Translation", None, "Data Analysis", None, "Translation"]


async def told(memory: Any, needs: list[str | None], user: str = "u", start: int = 0) -> None:
    for n, need in enumerate(needs, start):
        event = Event(f"{user}/{n}", user, n * 10, n * 10 + 10, "code", f"window {n}")
        await memory.observe(event)
        label = Label(event.id, user, need is not None, event.end_ns, need, None if need is None else f"{need} {n}?")
        await memory.feedback(event, label)


async def ask(memory: Any, now_ns: int = 1000, k: int = 5, user: str = "u", title: str = "any") -> list[MemoryItem]:
    items: list[MemoryItem] = await memory.recall(Query(user, "any", title, None, now_ns), k, None)
    return items


def ids(items: list[MemoryItem]) -> list[str]:
    return [i.source_event_ids[0] for i in items]


async def test_the_class_prior_tells_shares_whatever_the_window() -> None:
    memory = make_memory("class-prior")
    await told(memory, NEEDS)
    (item,) = await ask(memory)
    want = "Help was needed in 60 % of 5 moments, then for: Translation 67 %, Data Analysis 33 %"
    assert (item.text, item.help, item.intention, item.query) == (want, 0.6, "Translation", "Translation 4?")
    (early,) = await ask(memory, 20)
    assert early.text == "Help was needed in 50 % of 2 moments, then for: Translation 100 %"


async def test_the_class_prior_may_be_everybodys() -> None:
    shares = {}
    for scope in ("user", "global", "backoff"):
        memory = make_memory(f"class-prior:scope={scope}")
        await told(memory, [None], "u")
        await told(memory, ["Translation"] * 3, "v")
        shares[scope] = [(await ask(memory))[0].help, [i.help for i in await ask(memory, user="new")]]
    assert shares == {"user": [0.0, []], "global": [0.75, [0.75]], "backoff": [0.0, [0.75]]}


async def test_recency_is_the_last_that_were_known_by_then_each_counting_the_same() -> None:
    memory = make_memory("recency")
    await told(memory, NEEDS)
    assert ids(await ask(memory, k=3)) == ["u/4", "u/3", "u/2"]
    assert ids(await ask(memory, 30, k=2)) == ["u/2", "u/1"]
    assert {i.score for i in await ask(memory)} == {1.0}


async def test_random_draws_by_key_without_repeats_and_evenly() -> None:
    memory = make_memory("random", seed=7)
    await told(memory, NEEDS * 4)
    first = ids(await ask(memory))
    assert first == ids(await ask(memory))
    assert len(set(first)) == 5
    assert first != ids(await ask(memory, title="other")) or first != ids(await ask(memory, 999))
    other = make_memory("random", seed=8)
    await told(other, NEEDS * 4)
    assert first != ids(await ask(other))
    drawn: Counter[str] = Counter()
    for n in range(400):
        drawn.update(ids(await ask(memory, 1000 + n)))
    assert set(drawn) == {f"u/{n}" for n in range(20)}
    assert min(drawn.values()) > 60  # of 100 expected each
    assert max(drawn.values()) < 150
    assert sorted(ids(await ask(memory, k=99))) == sorted(drawn)


async def test_the_oracle_recalls_the_open_need_and_else_moments_without_one() -> None:
    needs = (Opportunity("a", 100, 200, "translation"), Opportunity("b", 300, 400, "Creative Design"))
    memory = make_memory("oracle", truth=Truth("s", "u", 1000, opportunities=needs))
    await told(memory, NEEDS)
    assert ids(await ask(memory, 99)) == ["u/3", "u/1"]
    assert ids(await ask(memory, 100)) == ["u/4", "u/0"]
    assert ids(await ask(memory, 200)) == ["u/3", "u/1"]
    assert await ask(memory, 350) == []  # it never arose before
    await told(memory, ["Translation"], "v")
    assert ids(await ask(memory, 150, user="v")) == []  # the truth is of u's session


async def test_the_oracle_knows_the_moments_of_protocol_moments() -> None:
    moments = (Moment(100, True, "Data Analysis"), Moment(110, False))
    memory = make_memory("oracle", truth=Truth("s", "u", 1000, moments=moments))
    await told(memory, NEEDS)
    assert ids(await ask(memory, 100)) == ["u/2"]
    assert ids(await ask(memory, 110)) == ["u/3", "u/1"]


def test_the_oracle_cannot_be_without_the_truth() -> None:
    with pytest.raises(UsageError, match="it needs the truth of a session"):
        make_memory("oracle")
    assert make_memory("oracle", truth=Truth("s", "u", 1)).sees_truth  # type: ignore[attr-defined]


async def test_shuffled_user_reads_another_past_at_the_same_instants() -> None:
    theirs = [(Event(f"v/{n}", "v", n * 10, n * 10 + 10, "code", f"theirs {n}"),
               Label(f"v/{n}", "v", True, n * 10 + 10, "Translation")) for n in range(5)]  # fmt: skip
    memory: Any = make_memory("shuffled-user:of=recency", seed=1, others={"v": theirs})
    await told(memory, NEEDS)
    assert ids(await ask(memory, 30, k=9)) == ["v/2", "v/1", "v/0"]
    assert await ask(memory, 5) == []
    assert ids(await ask(memory, 30, k=9, user="v")) == ["u/2", "u/1", "u/0"]
    assert memory.stats()["without_other_user"] == 1
    assert memory.capabilities["isolation"] == "none"


async def test_shuffled_user_reads_with_the_embedder_that_the_run_has() -> None:
    class Same:
        identity, dimension = "same/2", 2

        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.array([[0.6, 0.8]] * len(texts), dtype=np.float32)

    memory: Any = make_memory("shuffled-user", embedder=Same())
    await told(memory, NEEDS, "v")
    assert [item.score for item in await ask(memory)] == pytest.approx([1.0] * 5)  # nothing is alike by spelling
    assert memory.embedder == "same/2"
    assert make_memory("shuffled-user").embedder == "hash512-v1"  # type: ignore[attr-defined]
    assert make_memory("shuffled-user:of=recency").embedder is None  # type: ignore[attr-defined]
    assert memory_maker("shuffled-user").wants_embedder


async def test_shuffled_user_wants_the_upkeep_of_the_memory_inside() -> None:
    memory: Any = make_memory("shuffled-user:of=personas")
    assert (memory.noted, memory.upkeep_lag_ns) == (("personas_failed",), 60 * SECOND)
    await told(memory, ["Translation"], "v")
    await memory.maintain(10)
    assert not memory.needs_upkeep()
    await told(memory, ["Translation", None] * 30, "v", start=1)
    assert memory.needs_upkeep()
    await memory.maintain(1000)
    assert not memory.needs_upkeep()
    assert not make_memory("shuffled-user:of=rag").needs_upkeep()  # type: ignore[attr-defined]


async def test_a_user_keeps_the_partner_whoever_else_is_there_first() -> None:
    partners = []
    for order in ("abcdef", "fedcba"):
        memory: Any = make_memory("shuffled-user", seed=3)
        for user in order:
            await told(memory, ["Translation"], user)
        partners.append([memory.partner(user, 1000) for user in "abcdef"])
    assert partners[0] == partners[1]
    assert all(partner != user for partner, user in zip(partners[0], "abcdef", strict=True))


def test_shuffled_user_controls_memories_of_ours_only() -> None:
    with pytest.raises(UsageError, match="of must be one of"):
        make_memory("shuffled-user:of=shuffled-user")


async def visits(memory: Any, rows: list[tuple[str, int, int]]) -> None:
    for n, (title, start, end) in enumerate(rows):
        event = Event(f"u/{n}", "u", start * SECOND, end * SECOND, "code", title)
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, "u", n == 0, event.end_ns, "Translation" if n == 0 else None))


async def test_the_thread_at_hand_comes_before_the_one_that_was_left_this_very_moment() -> None:
    memory: Any = make_memory("threads")
    for n, (app, title) in enumerate([("code", "parser main"), ("mail", "letter to Bob")]):
        await memory.observe(Event(f"s/{n}", "ada", n * 60 * SECOND, (n + 1) * 60 * SECOND, app, title))
    for now_ns in (120 * SECOND, 121 * SECOND):
        items = await memory.recall(Query("ada", "code", "parser main", None, now_ns), 5, None)
        assert [item.text.partition(":")[0] for item in items] == [
            "At hand",
            f"Suspended for {now_ns // SECOND - 120} s",
        ]


async def test_threads_are_created_updated_resumed_passed_over_and_given_up() -> None:
    memory: Any = make_memory("threads:drop_s=600")
    rows = [("parser main", 0, 60), ("parser main", 60, 90), ("holiday photos", 90, 150), ("glance", 150, 151),
            ("parser main", 151, 200)]  # fmt: skip
    await visits(memory, rows)
    stats = memory.stats()
    assert {k: stats[k] for k in ("created", "updated", "resumed", "idle")} == {
        "created": 2, "updated": 1, "resumed": 1, "idle": 1
    }  # fmt: skip
    items = await memory.recall(Query("u", "code", "parser main", None, 260 * SECOND), 5, None)
    assert items[0].text == (
        "At hand: code, “parser main”, 2 min in all, taken up again 1 time; help needed in 1 of 3 moments: Translation"
    )
    assert items[1].text.startswith("Suspended for 1 min: code, “holiday photos”")
    assert [round(i.score, 3) for i in items] == [1.0, round(1 - 110 / 600, 3)]
    assert (items[0].help, items[0].intention) == (pytest.approx(1 / 3), "Translation")
    late = await memory.recall(Query("u", "code", "other", None, 780 * SECOND), 5, None)
    assert [i.source_event_ids[0] for i in late] == ["u/0"]  # the photos were given up after 10 minutes
    assert await memory.recall(Query("u", "code", "", None, 900 * SECOND), 5, None) == []


async def test_a_thread_that_was_given_up_is_not_resumed() -> None:
    memory: Any = make_memory("threads:drop_s=100")
    await visits(memory, [("parser main", 0, 60), ("parser main", 1000, 1060)])
    assert memory.stats()["created"] == 2


async def test_a_thread_of_many_visits_is_told_in_as_many_steps_as_one_of_few() -> None:
    """A past of years has few threads: what each took may not grow with its visits."""
    steps: list[int] = []
    for n in (60, 1200):
        memory: Any = make_memory("threads:idle_s=0")
        for i in range(n):
            event = Event(f"u/{i}", "u", i * 10, i * 10 + 10, "code", "parser main")
            await memory.observe(event)
            await memory.feedback(event, Label(event.id, "u", bool(i % 2), event.end_ns, "Translation", "what is it?"))
        await ask(memory, n * 10, title="parser main")  # the embedder keeps what it has read
        asked = memory.recall(Query("u", "any", "parser main", None, n * 10), 5, None)
        steps.append(0)

        def count(frame: Any, event: str, what: Any) -> None:
            steps[-1] += event == "call"

        sys.setprofile(count)
        try:
            items = await asked
        finally:
            sys.setprofile(None)
        assert sum(item.help is not None for item in items) == len(items) > 0
    assert steps[1] < 2 * steps[0]
