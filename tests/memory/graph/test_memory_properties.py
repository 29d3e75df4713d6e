"""What holds of every memory of ours and every combination, on made-up pasts of two users."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.base import make_memory
from simulator.core.types import SECOND, Event, Label, MemoryItem, Query
from simulator.session.truth import Opportunity, Truth

NEEDS = ("Translation", "Coding/Programming", "Data Analysis")
OWN = ["graph", "graph:keyword_conditional=help_only,show_next=true,keyword_mean=all", "class-prior", "recency",
       "random", "oracle", "threads", "rag", "rag+graph", "graph:show_next=true+threads+recency"]  # fmt: skip
SHARED = ["graph:scope=global", "graph:scope=backoff", "class-prior:scope=backoff", "shuffled-user:of=graph",
          "rag+graph:scope=global"]  # fmt: skip
TRUTH = Truth("s", "ada", 10**12, opportunities=(Opportunity("o", 0, 10**12, "Translation"),))

Pair = tuple[Event, Label | None]
_WORDS = st.sampled_from(["parser", "budget", "draft", "预算报告", "inbox (3)", "mail — Mozilla Firefox", ""])
_MOMENT = st.tuples(
    st.sampled_from(["ada", "bob"]),
    st.sampled_from(["code", "mail", None]),
    st.lists(_WORDS, max_size=3).map(" ".join),
    st.integers(1, 40),  # seconds it lasts
    st.sampled_from([None, "no", "early", "late"]),  # whether and when it is known if help was needed
    st.sampled_from(NEEDS),
    st.booleans(),  # work with an assistant
)


def _past(drawn: Iterable[Any]) -> list[Pair]:
    pairs: list[Pair] = []
    at: dict[str, int] = {}
    for n, (user, app, title, lasts, known, need, assisted) in enumerate(drawn):
        start = at.get(user, 0)
        at[user] = end = start + lasts * SECOND
        event = Event(f"{user}/{n}", user, start, end, app, title, assistance=assisted and known is None)
        label = None
        if known is not None:
            when = {"no": end, "early": start + SECOND // 2, "late": end + 90 * SECOND}[known]
            helped = known != "no"
            label = Label(event.id, user, helped, when, need if helped else None, f"{need} {n}?" if helped else None)
        pairs.append((event, label))
    return pairs


pasts = st.lists(_MOMENT, min_size=1, max_size=14).map(_past)


def _steps(pairs: Iterable[Pair]) -> list[tuple[int, int, int, Event, Label | None]]:
    """As a run writes them: at each instant first what closed, then what became known."""
    steps: list[tuple[int, int, int, Event, Label | None]] = []
    for n, (event, label) in enumerate(pairs):
        steps.append((event.end_ns, 0, n, event, None))
        if label is not None:
            steps.append((max(event.end_ns, label.available_ns), 1, n, event, label))
    return sorted(steps, key=lambda step: step[:3])


async def _fed(spec: str, pairs: Iterable[Pair], until_ns: int = 10**15) -> Any:
    memory = make_memory(spec, seed=3, truth=TRUTH)
    for at_ns, _, _, event, label in _steps(pairs):
        if at_ns > until_ns:
            break
        await (memory.observe(event) if label is None else memory.feedback(event, label))
    return memory


async def _answers(memory: Any, now_ns: int, user: str = "ada") -> list[list[MemoryItem]]:
    windows = [("code", "parser budget"), ("mail", "预算报告 inbox"), (None, "draft"), ("code", "")]
    return [await memory.recall(Query(user, app, title, None, now_ns), 7, None) for app, title in windows]


def _later(pairs: list[Pair]) -> int:
    return max(event.end_ns for event, _ in pairs) + 100 * SECOND


@pytest.mark.parametrize("spec", [*OWN, *SHARED])
@given(pairs=pasts, share=st.floats(0, 1))
@settings(max_examples=25, deadline=None)
def test_as_of_an_instant_it_answers_as_one_that_never_saw_more(spec: str, pairs: list[Pair], share: float) -> None:
    async def check() -> None:
        now_ns = int(_later(pairs) * share)
        whole, prefix = await _fed(spec, pairs), await _fed(spec, pairs, now_ns)
        assert await _answers(whole, now_ns) == await _answers(prefix, now_ns)

    asyncio.run(check())


@pytest.mark.parametrize("spec", [*OWN, *SHARED])
@given(pairs=pasts, span=st.tuples(st.integers(0, 300), st.integers(1, 100)))
@settings(max_examples=25, deadline=None)
def test_what_is_forgotten_was_never_there(spec: str, pairs: list[Pair], span: tuple[int, int]) -> None:
    start_ns, end_ns = span[0] * SECOND, (span[0] + span[1]) * SECOND

    def kept(event: Event, label: Label | None) -> Pair:
        return event, None if label is not None and start_ns <= label.available_ns < end_ns else label

    async def check() -> None:
        memory = await _fed(spec, pairs)
        await memory.forget("ada", start_ns, end_ns)
        rest = [kept(*p) if p[0].user == "ada" else p for p in pairs
                if p[0].user != "ada" or not (p[0].start_ns < end_ns and p[0].end_ns > start_ns)]  # fmt: skip
        never = await _fed(spec, rest)
        for now_ns in (_later(pairs), _later(pairs) // 2):
            if not spec.startswith("shuffled"):  # which partner there is, is not forgotten
                assert await _answers(memory, now_ns) == await _answers(never, now_ns)
        said = [i.source_event_ids for items in await _answers(memory, _later(pairs)) for i in items]
        gone = {e.id for e, _ in pairs} - {e.id for e, _ in rest}
        assert gone.isdisjoint(i for ids in said for i in ids)

    asyncio.run(check())


@pytest.mark.parametrize("spec", [*OWN, *SHARED])
@given(pairs=pasts, which=st.integers(0, 13), need=st.sampled_from(NEEDS))
@settings(max_examples=15, deadline=None)
def test_a_corrected_label_is_as_if_it_had_been_told_first(spec: str, pairs: list[Pair], which: int, need: str) -> None:
    event, label = pairs[which % len(pairs)]
    if label is None:
        return
    right = Label(event.id, event.user, True, label.available_ns, need, "the right question")

    async def check() -> None:
        corrected = await _fed(spec, pairs)
        await corrected.feedback(event, right)
        first = await _fed(spec, [(e, right if e.id == event.id else known) for e, known in pairs])
        assert await _answers(corrected, _later(pairs)) == await _answers(first, _later(pairs))

    asyncio.run(check())


@pytest.mark.parametrize("spec", OWN)
@given(pairs=pasts)
@settings(max_examples=25, deadline=None)
def test_another_users_past_changes_nothing(spec: str, pairs: list[Pair]) -> None:
    async def check() -> None:
        alone = await _fed(spec, [pair for pair in pairs if pair[0].user == "ada"])
        beside = await _fed(spec, pairs)
        for now_ns in (_later(pairs), _later(pairs) // 2):
            assert await _answers(alone, now_ns) == await _answers(beside, now_ns)

    asyncio.run(check())


@pytest.mark.parametrize("spec", [*OWN, *SHARED])
@given(title=st.text(max_size=300), question=st.text(max_size=300), app=st.text(max_size=60))
@settings(max_examples=15, deadline=None)
def test_strangers_words_forge_no_line_and_keep_to_the_budget(spec: str, title: str, question: str, app: str) -> None:
    async def check() -> None:
        pairs: list[Pair] = []
        for n in range(3):
            for user in ("ada", "bob"):
                event = Event(f"{user}/{n}", user, n * 9 * SECOND, (n + 1) * 9 * SECOND, app, title)
                pairs.append((event, Label(event.id, user, True, event.end_ns, "Translation", question)))
        memory = await _fed(spec, pairs)
        items = await memory.recall(Query("ada", app, title, None, 100 * SECOND), 9, 200)
        assert sum(item.tokens for item in items) <= 200
        assert all(item.tokens > 0 for item in items)
        lines = memory.render(items).splitlines()
        assert sum(line.startswith("- ") for line in lines) == len(items)
        headings = [line for line in lines if line and not line.startswith("- ")]
        assert all(line.endswith(":") for line in headings)
        assert len(headings) <= spec.count("+") + 1

    asyncio.run(check())


@pytest.mark.parametrize("spec", [spec for spec in [*OWN, *SHARED] if spec.startswith(("graph", "class"))])
@given(pairs=pasts)
@settings(max_examples=25, deadline=None)
def test_an_intention_that_an_item_claims_stands_in_its_text(spec: str, pairs: list[Pair]) -> None:
    async def check() -> None:
        for items in await _answers(await _fed(spec, pairs), _later(pairs)):
            assert all(item.intention is None or item.intention in item.text for item in items)

    asyncio.run(check())
