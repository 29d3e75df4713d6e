"""When personas are rebuilt, from what, and who sees them: causal as of any instant, per user, the same everywhere."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memory.persona_writer import PersonaWriter
from memory.personas import PersonaMemory
from simulator.core.types import SECOND, Event, Label, MemoryItem, Query
from simulator.endpoint.types import EndpointError
from tests.answering import Answering

Pair = tuple[Event, Label]
TITLES = ("parser main", "holiday photos Rome", "会议记录 草稿", "train to Berlin", "budget report.xlsx")


def pair(
    n: int, user: str = "u", title: str | None = None, mark: str = "", late_s: int = 0, assistance: bool = False
) -> Pair:
    """An event of a second, and its label, which comes with its end or so many seconds later."""
    title = TITLES[n % len(TITLES)] if title is None else title
    event = Event(
        f"{user}/{n}", user, n * SECOND, (n + 1) * SECOND, f"app{n % len(TITLES)}", f"{title}{mark}",
        assistance=assistance,
    )  # fmt: skip
    helped = n % 3 == 0
    known_ns = event.end_ns + late_s * SECOND
    return event, Label(event.id, user, helped, known_ns, "Translation" if helped else None, f"why {n}?{mark}")


async def add(memory: PersonaMemory, pairs: Sequence[Pair]) -> None:
    for event, label in pairs:
        await memory.observe(event)
        await memory.feedback(event, label)


async def ask(memory: PersonaMemory, now_s: float, user: str = "u", k: int = 50) -> list[MemoryItem]:
    return await memory.recall(Query(user, None, None, None, round(now_s * SECOND), " ".join(TITLES)), k, None)


async def test_before_time_0_all_that_is_known_is_built_and_seen_at_once() -> None:
    memory = PersonaMemory()
    await add(memory, [pair(n) for n in range(-20, -1)])
    assert await ask(memory, 0) == []
    assert memory.stats().get("builds") is None
    await memory.maintain(0)
    items = await ask(memory, 0)
    assert {i.latest_source_ns for i in items} == {-SECOND}
    assert memory.stats()["builds"] == 1


async def test_rebuilds_are_due_by_labels_and_seen_after_a_lag() -> None:
    memory = PersonaMemory(refresh=4, lag_s=10)
    await add(memory, [pair(n) for n in range(-8, 0)])
    await memory.maintain(0)
    before = await ask(memory, 0)
    await add(memory, [pair(n) for n in range(3)])
    assert not memory.needs_upkeep()
    await add(memory, [pair(3)])  # the fourth new one, known at 4 s
    assert memory.needs_upkeep()
    assert await ask(memory, 5) == before
    assert memory.stats()["builds"] == 1, "nobody has asked for the new ones yet"
    await memory.maintain(4 * SECOND)
    assert (memory.needs_upkeep(), memory.stats()["builds"]) == (False, 2)
    assert await ask(memory, 13.9) == before
    after = await ask(memory, 14)
    assert {i.latest_source_ns for i in after} == {4 * SECOND}
    assert "late_builds" not in memory.stats()
    assert await ask(memory, 5) == before, "what was seen then is what is seen of then"


async def test_a_rebuild_that_nobody_made_is_made_by_who_needs_it_and_counted() -> None:
    early, late = PersonaMemory(refresh=4, lag_s=10), PersonaMemory(refresh=4, lag_s=10)
    for memory in (early, late):
        await memory.maintain(0)
        await add(memory, [pair(n) for n in range(9)])
    await early.maintain(9 * SECOND)
    assert await ask(early, 30) == await ask(late, 30) != []
    assert (early.stats().get("late_builds"), late.stats()["late_builds"]) == (None, 1)


async def test_rebuilds_come_with_simulated_time_too_and_never_faster_than_the_past_grows() -> None:
    memory = PersonaMemory(refresh=100, every_s=20, lag_s=0)
    await add(memory, [pair(n) for n in range(-40, 0)])
    await memory.maintain(0)
    due = []
    for n in range(60):
        await add(memory, [pair(n)])
        if memory.needs_upkeep():
            due.append(n + 1)
            await memory.maintain((n + 1) * SECOND)
    assert due == [20, 40, 60]
    memory = PersonaMemory(refresh=10, every_s=0)
    await add(memory, [pair(n) for n in range(1_000)])
    plan = memory._plans["u"]
    assert [d.n for d in plan.due][:4] == [10, 20, 30, 40]
    assert all(b.n - a.n >= a.n // 4 for a, b in zip(plan.due, plan.due[1:], strict=False))
    assert len(plan.due) < 25


async def test_a_user_without_a_history_gets_personas_too() -> None:
    memory = PersonaMemory(refresh=5, lag_s=0)
    await memory.maintain(0)
    await add(memory, [pair(n) for n in range(6)])
    assert memory.needs_upkeep()
    assert await ask(memory, 4) == []
    assert {i.latest_source_ns for i in await ask(memory, 6)} == {5 * SECOND}


@st.composite
def streams(draw: st.DrawFn) -> list[Pair]:
    """Events of two users in order of their labels, some labels late, titles repeating."""
    out = []
    for n in range(draw(st.integers(1, 30))):
        title = draw(st.sampled_from([*TITLES, "", "…"]))
        late_s, assistance = draw(st.sampled_from([0, 0, 0, 3, 9])), draw(st.sampled_from([False, False, True]))
        out.append(pair(n, draw(st.sampled_from(["u", "v"])), title, late_s=late_s, assistance=assistance))
    return out


def in_order(pairs: Sequence[Pair]) -> list[tuple[int, int, Event, Label | None]]:
    steps: list[tuple[int, int, Event, Label | None]] = []
    for i, (event, label) in enumerate(pairs):
        steps.append((event.end_ns, 2 * i, event, None))
        steps.append((label.available_ns, 2 * i + 1, event, label))
    return sorted(steps, key=lambda s: s[:2])


WAYS = st.sampled_from([{}, {"kinds": "assistance"}, {"kinds": "assistance", "match": "text"}])


@given(streams(), st.integers(1, 6), st.integers(0, 5), st.booleans(), WAYS)
@settings(max_examples=60, deadline=None)
def test_what_comes_later_changes_no_answer_of_before(
    pairs: list[Pair], refresh: int, lag_s: int, tended: bool, way: dict[str, Any]
) -> None:
    """One memory is asked while it fills, the other when all is in; whether upkeep was made makes no difference."""

    async def play() -> None:
        memory, other = (PersonaMemory(refresh=refresh, lag_s=lag_s, every_s=4, **way) for _ in range(2))
        asked = []
        for at_ns, _, event, label in in_order(pairs):
            if label is None:
                await memory.observe(event)
            else:
                await memory.feedback(event, label)
            if tended and memory.needs_upkeep():
                await memory.maintain(at_ns)
            for user in ("u", "v"):
                items = await ask(memory, at_ns / SECOND - 0.5, user)
                assert all(i.latest_source_ns is not None and i.latest_source_ns < at_ns for i in items)
                asked.append((at_ns, user, items))
        if tended:
            return  # the first upkeep gives the first personas
        for _, _, event, label in in_order(pairs):
            await (other.observe(event) if label is None else other.feedback(event, label))
        for at_ns, user, items in asked:
            assert await ask(other, at_ns / SECOND - 0.5, user) == items

    asyncio.run(play())


@given(streams(), st.integers(0, 29), st.integers(1, 6), WAYS)
@settings(max_examples=40, deadline=None)
def test_forgetting_is_never_having_known(pairs: list[Pair], at: int, length: int, way: dict[str, Any]) -> None:
    async def play() -> None:
        memory, other = (PersonaMemory(refresh=3, lag_s=0, **way) for _ in range(2))
        start_ns, end_ns = at * SECOND, (at + length) * SECOND
        for _, _, event, label in in_order(pairs):
            await (memory.observe(event) if label is None else memory.feedback(event, label))
            if event.user == "u" and event.start_ns < end_ns and event.end_ns > start_ns:
                continue
            if label is None:
                await other.observe(event)
            elif event.user != "u" or not start_ns <= label.available_ns < end_ns:
                await other.feedback(event, label)
        await memory.maintain(100 * SECOND)
        await other.maintain(100 * SECOND)
        await memory.forget("u", start_ns, end_ns)
        for user in ("u", "v"):
            for now_s in (5, 20, 100):
                assert await ask(memory, now_s, user) == await ask(other, now_s, user)

    asyncio.run(play())


async def test_a_corrected_label_is_in_no_persona_of_any_time() -> None:
    memory = PersonaMemory(refresh=4, lag_s=0)
    await add(memory, [pair(n, mark=" CANARY" if n == 6 else "") for n in range(12)])
    await memory.maintain(12 * SECOND)
    event, label = pair(6, mark=" CANARY")
    assert any("CANARY" in f"{i.text}{i.query}" for i in await ask(memory, 20))
    await memory.feedback(event, Label(event.id, "u", False, label.available_ns))
    assert memory.needs_upkeep()
    for now_s in (7, 8, 20):
        assert not any(f"why 6?{' CANARY'}" in f"{i.text}{i.query}" for i in await ask(memory, now_s))
    assert {i.help for i in await ask(memory, 20)} != set()


async def test_nothing_of_another_user_is_in_a_persona() -> None:
    memory = PersonaMemory(refresh=2, lag_s=0)
    await add(memory, [p for n in range(10) for p in (pair(n), pair(n, "v", mark=" CANARY"))])
    await memory.maintain(10 * SECOND)
    assert not any("CANARY" in f"{i.text}{i.query}{i.source_event_ids}" for i in await ask(memory, 20))
    records = memory.records("u", 20 * SECOND)
    assert all(one.startswith("u/") for r in records for one in r.persona.event_ids)
    assert await ask(memory, 20, "w") == []
    assert memory.records("w", 0) == []


async def test_records_tell_what_a_persona_was_built_from_and_when() -> None:
    memory = PersonaMemory(refresh=5, lag_s=7)
    await add(memory, [pair(n) for n in range(-10, 0)])
    await memory.maintain(0)
    await add(memory, [pair(n) for n in range(5)])
    await memory.maintain(5 * SECOND)
    for now_s, times in ((5, (0, 0, 0)), (12, (5, 12, 5))):
        records = memory.records("u", now_s * SECOND)
        told = {(r.t_built_ns // SECOND, r.visible_ns // SECOND, r.latest_source_ns // SECOND) for r in records}
        assert told == {times}
        known = [i for r in records for i in r.persona.event_ids]
        assert sorted(known) == sorted(f"u/{n}" for n in range(-10, times[2]))
        assert {r.persona.item.text for r in records} == {i.text for i in await ask(memory, now_s)}


def digest() -> str:
    """Of all answers over a past with ties, repeats and three writings."""

    async def play() -> str:
        memory = PersonaMemory(refresh=10, lag_s=0, max_texts=40, groups=12, cap=3)
        await add(memory, [pair(n, title=f"{TITLES[n * 7 % 5]} {n % 61}") for n in range(200)])
        await memory.maintain(200 * SECOND)
        items = [item for now_s in (50, 100, 200) for item in await ask(memory, now_s)]
        assert memory.stats()["preclustered"] > 0
        return hashlib.sha256(repr(items).encode()).hexdigest()

    return asyncio.run(play())


def test_personas_are_the_same_in_every_process_and_with_any_number_of_threads() -> None:
    found = {digest()}
    for hashing, threads in (("0", "1"), ("7", "2")):
        env = {**os.environ, "PYTHONHASHSEED": hashing, "OPENBLAS_NUM_THREADS": threads}
        code = f"import runpy; print(runpy.run_path({__file__!r})['digest']())"
        made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
        found.add(made.stdout.strip())
    assert len(found) == 1


@pytest.mark.parametrize("linkage", ["average", "ward"])
@pytest.mark.parametrize("titles", [["one"], ["same"] * 30, ["…", "!!", "", "🙂"] * 3, ["…"], ["x" * 9_000, "x"] * 2])
async def test_odd_pasts_have_personas(linkage: str, titles: list[str]) -> None:
    memory = PersonaMemory(linkage=linkage, max_texts=2, groups=2)
    for n, title in enumerate(titles):
        event = Event(f"u/{n}", "u", n, n + 1, None, title)
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, "u", n % 2 == 1, n + 1))
    await memory.maintain(100)
    records = memory.records("u", 100)
    assert sum(len(r.persona.event_ids) for r in records) == len(titles)
    await ask(memory, 1)
    json.dumps(dict(memory.stats()))


async def test_ten_thousand_equal_titles_are_one_text() -> None:
    memory = PersonaMemory()
    for n in range(10_000):
        event = Event(f"u/{n}", "u", n, n + 1, "code", "parser main")
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, "u", n % 2 == 1, n + 1))
    await memory.maintain(20_000)
    without, with_help = sorted(
        (r.persona.item for r in memory.records("u", 20_000)), key=lambda i: "with help needed" in i.text
    )
    assert with_help.text.startswith(
        "Moments with help needed (5000): code, “parser main”. Of the 10000 moments nearest"
    )
    assert without.help == with_help.help == 0.5


class Nothing:
    """An embedder to which every text says nothing."""

    identity, dimension = "nothing", 8

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.zeros((len(texts), 8), dtype=np.float32)


async def test_where_an_embedder_gives_zero_vectors_there_are_personas_and_none_is_near() -> None:
    for most in (100, 3):
        memory = PersonaMemory(embedder=Nothing(), max_texts=most, groups=2)
        await add(memory, [pair(n) for n in range(12)])
        await memory.maintain(12 * SECOND)
        assert memory.records("u", 12 * SECOND)
        assert await ask(memory, 20) == []
        assert memory.stats()["embedder"] == "nothing"


@pytest.mark.parametrize("policy", ["recut_maxclust", "keep_largest", "merge_small"])
async def test_the_cap_holds_and_says_that_it_bound_and_at_what_cost(policy: str) -> None:
    words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet"]
    memory = PersonaMemory(cap=4, cap_policy=policy)
    for n, word in enumerate(words):
        event = Event(f"u/{n}", "u", n, n + 1, word, word * 2)
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, "u", True, n + 1, "Translation"))
    await memory.maintain(100)
    records, told = memory.records("u", 100), memory.stats()
    assert len(records) == 4
    assert told["bound_by_cap"] == 1
    kept = sum(len(r.persona.event_ids) for r in records)
    assert (kept, told.get("dropped_clusters"), told.get("merged_clusters")) == {
        "recut_maxclust": (10, None, None), "keep_largest": (4, 6, None), "merge_small": (10, None, 6),
    }[policy]  # fmt: skip


async def test_a_model_that_fails_later_leaves_what_it_wrote() -> None:
    good = "The user writes a parser and looks at photographs of Rome in between, and is glad of a short hint there."
    memory = PersonaMemory(refresh=5, lag_s=0, model=PersonaWriter(Answering(good), "m"))
    await add(memory, [pair(n) for n in range(-10, 0)])
    await memory.maintain(0)
    before = await ask(memory, 0)
    assert all(good[:40] in i.text for i in before)
    memory._writer = PersonaWriter(Answering(EndpointError("connection", "gone")), "m")
    await add(memory, [pair(n, title=f"quite another {n}") for n in range(5)])
    with pytest.raises(EndpointError):
        await memory.maintain(5 * SECOND)
    assert memory.needs_upkeep(), "it is tried again"
    assert await ask(memory, 10) == before


def test_upkeep_beside_recalls_is_safe() -> None:
    memory = PersonaMemory(refresh=20, lag_s=0)
    asyncio.run(memory.maintain(0))
    faults: list[BaseException] = []
    ended = threading.Event()

    def tend() -> None:
        try:
            while not ended.is_set():
                if memory.needs_upkeep():
                    asyncio.run(memory.maintain(0))
        except BaseException as error:
            faults.append(error)

    async def live() -> None:
        for n in range(300):
            await add(memory, [pair(n, title=f"title {n % 40}")])
            await ask(memory, n)
            if n % 50 == 49:
                await memory.forget("u", (n - 1) * SECOND, n * SECOND)

    thread = threading.Thread(target=tend)
    thread.start()
    try:
        asyncio.run(live())
    finally:
        ended.set()
        thread.join()
    assert faults == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"linkage": "single"}, "linkage must be one of average, ward, personax"),
        ({"cap_policy": "none"}, "cap_policy must be one of recut_maxclust, keep_largest, merge_small"),
        ({"scoring": "mine"}, "scoring must be one of paper, code"),
        ({"kinds": "app"}, "kinds must be one of help, assistance"),
        ({"match": "title"}, "match must be one of key, text"),
        ({"groups": 0}, "must be 1 or more"),
        ({"ratio": 0.0}, "ratio must be in"),
        ({"lag_s": -1.0}, "lag_s 0 or more"),
    ],
)
def test_what_is_no_option_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        PersonaMemory(**options)
