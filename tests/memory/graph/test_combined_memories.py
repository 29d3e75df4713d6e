"""Several memories as one: names, writes, one budget, each under its own heading, one voice each."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.evidence import LabelReader, weigh
from memory.base import make_memory, memories
from memory.combined import RULE, Combined, parted, share_out
from memory.wording import MARK, PAST, estimate_tokens
from simulator.core.errors import InputError, UsageError
from simulator.core.types import Event, Label, MemoryItem, Query
from simulator.play.makers import memory_maker


def item(text: str, tokens: int = 10, score: float = 0.5, **more: Any) -> MemoryItem:
    return MemoryItem(text, score, tokens=tokens, **more)


async def filled(spec: str) -> Any:
    memory: Any = make_memory(spec, seed=1)
    for n in range(12):
        event = Event(f"u/{n}", "u", n * 10, n * 10 + 10, "code", f"parser part{n}")
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, "u", bool(n % 2), event.end_ns, "Translation" if n % 2 else None))
    return memory


ASKED = Query("u", "code", "parser part3", None, 1000)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("rag", ["rag"]),
        ("rag+graph", ["rag", "graph"]),
        ("rag:documents=all+graph:scope=backoff", ["rag:documents=all", "graph:scope=backoff"]),
        ("personas:alpha=1e+1+rag", ["personas:alpha=1e+1", "rag"]),
        ("./c++/mine.py:Mine", ["./c++/mine.py:Mine"]),
        ("rag+./c++/mine.py:Mine:k=3+graph", ["rag", "./c++/mine.py:Mine:k=3", "graph"]),
        ("raag+graph", ["raag", "graph"]),
        ("rag+", ["rag", ""]),
    ],
)
def test_a_plus_joins_memories_and_not_what_stands_in_a_path_or_a_number(text: str, wanted: list[str]) -> None:
    assert parted(text, {"rag", "graph", "personas"}) == wanted


def test_a_combination_is_named_canonically_in_the_order_given() -> None:
    maker = memory_maker("kg:scope=global+cluster")
    assert (maker.text, maker.name) == ("graph:scope=global+personas",) * 2
    assert memory_maker("rag+oracle").sees_truth
    assert memory_maker("rag+shuffled-user").wants_others
    assert memory_maker("personas+rag").wants_model == memory_maker("personas").wants_model


async def test_of_what_a_part_gives_that_are_no_items_the_part_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def observe(self, event): pass\n    def recall(self, query, k, token_budget): return None\n"
    )
    memory: Any = make_memory(f"rag+{tmp_path}/mine.py:Mine")
    with pytest.raises(InputError, match="memory Mine: recall gives None: a list of MemoryItem is wanted"):
        await memory.recall(ASKED, 5, None)
    await memory.close()


@pytest.mark.parametrize("wrong", ["raag+graph", "rag+", "+rag", "rag+graph:scop=user"])
def test_a_wrong_part_is_refused_like_a_wrong_memory(wrong: str) -> None:
    with pytest.raises(UsageError):
        memories.make(wrong)


def test_a_memory_of_somebody_elses_can_be_a_part(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def observe(self, event): pass\n    def recall(self, query, k, token_budget): return []\n"
    )
    maker = memory_maker(f"{tmp_path}/mine.py:Mine+graph")
    assert maker.name == "Mine+graph"
    assert maker.code is not None, "a run of changed code is another run"
    assert not maker.make(seed=1).inline


async def test_every_part_is_written_to_and_asked_and_items_name_their_memory() -> None:
    memory = await filled("rag+graph+recency")
    items = await memory.recall(ASKED, 9, None)
    assert {i.memory for i in items} == {"rag", "graph", "recency"}
    assert [i.score for i in items] == sorted((i.score for i in items), reverse=True)
    stats = memory.stats()
    assert (stats["rag.events"], stats["graph.labels"]) == (12, 12)


async def test_that_one_part_is_always_empty_is_counted() -> None:
    memory = await filled("rag+window:span_s=1")
    for k in (9, 9, 0):
        await memory.recall(replace(ASKED, now_ns=ASKED.now_ns + 10**12), k, None)
    told = memory.stats()
    counts = [told[f"{part}.{n}"] for part in ("rag", "window:span_s=1") for n in ("recalls", "empty_return")]
    assert counts == [3, 0, 3, 2]


async def test_each_speaks_under_its_own_heading_in_the_order_in_which_they_were_named() -> None:
    for spec in ("rag+graph", "graph+rag"):
        memory = await filled(spec)
        said = memory.render(await memory.recall(ASKED, 6, None))
        rag, graph = said.index("From the user's past:"), said.index("Statistics of the user's past")
        assert (rag < graph) == (spec == "rag+graph")
        assert "\n\n" in said
    assert memory.render([]) == ""
    assert memory.render([item("of nobody")]) == "From the user's past:\n- of nobody"


async def test_twice_the_same_memory_keeps_its_two_voices_apart() -> None:
    memory = await filled("rag:documents=help+rag:documents=help")
    assert {i.memory for i in await memory.recall(ASKED, 6, None)} == {"rag:documents=help", "rag:documents=help#2"}


async def test_one_that_remembers_nothing_takes_no_part_of_the_budget() -> None:
    with_none, alone = await filled("none+graph"), await filled("graph")
    assert [i.text for i in await with_none.recall(ASKED, 5, 50)] == [i.text for i in await alone.recall(ASKED, 5, 50)]
    assert make_memory("none+none").inert  # type: ignore[attr-defined]


async def test_what_fits_is_not_kept_back_behind_an_item_that_does_not() -> None:
    """The nearest one fits into the whole budget and into no share of it: those behind it are to have their chance."""
    memory: Any = make_memory("rag+class-prior")
    titles = ["parser part3 " + "and more words of it " * 5, *(f"parser part3 {n}" for n in "abcd")]
    for n, title in enumerate(titles):
        event = Event(f"u/{n}", "u", n * 10, n * 10 + 10, "code", title)
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, "u", True, event.end_ns, "Translation"))
    asked = Query("u", "code", titles[0], None, 1000)
    items, every = await memory.recall(asked, 5, 84), await memory.recall(asked, 9, None)
    rag = [i for i in every if i.memory == "rag"]
    head = estimate_tokens(PAST) + 1
    assert 84 // 2 < rag[0].tokens + MARK + head <= 84
    waiting = [i for i in rag if i.text not in {one.text for one in items}]
    spent = sum(i.tokens + MARK for i in items)
    spent += sum(estimate_tokens(memory.parts[name].heading) + 1 for name in {str(i.memory) for i in items})
    assert estimate_tokens(memory.render(items)) <= spent <= 84 < spent + min(i.tokens + MARK for i in waiting)
    assert sum(i.memory == "rag" for i in items) >= 2


def test_the_budget_is_shared_evenly_in_turns_and_what_is_left_goes_on() -> None:
    assert RULE == "even-parts-in-turns/3"
    a, b = [item("a1", 29), item("a2", 29), item("a3", 9)], [item("b1", 19)]
    # An item costs its mark. 50 each: a1 30, b1 20, then a3 10 (a2 does not fit into 20); the 40 left pay for a2 too.
    kept, left_out = share_out([a, b], 9, 100)
    assert [i.text for i in kept] == ["a1", "b1", "a3", "a2"]
    assert left_out == 0
    kept, left_out = share_out([a, b], 9, 80)  # 40 each: a1, b1, a3; 20 left do not pay for a2
    assert ([i.text for i in kept], left_out) == (["a1", "b1", "a3"], 1)
    kept, left_out = share_out([a, b], 9, 80, [11, 0])  # 40 each: a's heading and a3 (a1 does not fit), b1
    assert ([i.text for i in kept], left_out) == (["a3", "b1", "a1"], 1)  # 39 left: no second heading
    kept, _ = share_out([a, b], 2, None)
    assert [i.text for i in kept] == ["a1", "b1"]


_LISTS = st.lists(st.lists(st.integers(1, 40), max_size=6), min_size=1, max_size=4)


@given(
    _LISTS, st.integers(0, 12), st.none() | st.integers(0, 150), st.lists(st.integers(0, 20), min_size=4, max_size=4)
)
def test_k_and_budget_hold_together_and_nothing_that_fits_is_wasted(
    sizes: list[list[int]], k: int, budget: int | None, heads: list[int]
) -> None:
    found = [[item(f"{m}/{n}", tokens, memory=str(m)) for n, tokens in enumerate(own)] for m, own in enumerate(sizes)]
    kept, left_out = share_out(found, k, budget, heads[: len(sizes)])
    assert len(kept) <= k
    told = {int(str(i.memory)) for i in kept}
    spent = sum(i.tokens + MARK for i in kept) + sum(heads[m] for m in told)
    assert budget is None or spent <= budget
    rest = [i for own in found for i in own if i not in kept]
    if len(kept) < k:
        assert left_out == len(rest)
        assert budget is not None or not rest
        for i in rest if budget is not None else ():
            m = int(str(i.memory))
            assert spent + i.tokens + MARK + (0 if m in told else heads[m]) > budget  # type: ignore[operator]
    if budget is not None:
        share = budget // len(sizes)
        for m, own in enumerate(found):  # nobody's first item is squeezed out by somebody else's many, with turns left
            if own and own[0].tokens + MARK + heads[m] <= share and k >= len(sizes):
                assert own[0] in kept


ASKED_OF = [
    "rag", "graph", "personas:refresh=1,lag_s=0", "recency", "window", "class-prior", "threads:idle_s=0",
    "shuffled-user:of=graph", "rag+graph", "graph+personas:refresh=1,lag_s=0+rag",
    "rag+class-prior+shuffled-user:of=rag",
]  # fmt: skip


@pytest.mark.parametrize("spec", ASKED_OF)
async def test_what_stands_in_a_prompt_keeps_to_the_budget_with_headings_and_marks(spec: str) -> None:
    memory: Any = make_memory(spec, seed=1)
    for n in range(60):
        user, need = ("u", "v")[n % 4 == 0], "Translation" if n % 3 else None
        event = Event(
            f"{user}/{n}", user, n * 10, n * 10 + 10, "code", f"parser {'deep ' * (n % 7)}part{n % 9} 报告{n}"
        )
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, user, need is not None, event.end_ns, need))
    seen = 0
    for budget in range(0, 400, 7):
        items = await memory.recall(Query("u", "code", "parser part3 报告", None, 600), 8, budget)
        seen += len(items)
        assert estimate_tokens(memory.render(items)) <= budget
    assert seen


async def test_what_is_stored_comes_back_part_by_part(tmp_path: Path) -> None:
    memory, other = await filled("rag+graph"), make_memory("rag+graph", seed=1)
    memory.save(tmp_path / "kept")
    other.load(tmp_path / "kept")  # type: ignore[attr-defined]
    assert await other.recall(ASKED, 6, None) == await memory.recall(ASKED, 6, None)


async def test_none_forgets_where_one_of_them_cannot() -> None:
    class Stubborn:
        def observe(self, event: Event) -> None: ...
        def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
            return []

    from memory.base import as_memory

    graph: Any = await filled("graph")
    memory = Combined([("graph", graph), ("stubborn", as_memory(Stubborn()))])
    with pytest.raises(NotImplementedError, match="stubborn has no forget"):
        await memory.forget("u", 0, 1000)
    assert graph.stats()["events"] == 12
    await memory.close()


def test_a_combination_declares_what_the_weakest_part_does() -> None:
    told: Any = make_memory("rag+graph:scope=global+none")
    assert told.capabilities["isolation"] == "none"
    assert told.capabilities["as_of"] == "native"
    assert told.inline


def test_evidence_gives_each_memory_one_voice() -> None:
    many = [item("…", score=0.9, help=1.0, intention="Translation", memory="rag") for _ in range(8)]
    one = [item("…", score=0.1, help=0.0, memory="graph")]
    found, reader = weigh([*many, *one], LabelReader()), LabelReader()
    assert found is not None
    assert found.share == pytest.approx(0.5)
    assert (found.intention, found.n_items) == ("Translation", 9)
    scales = [item("…", score=17.0, help=1.0, memory="mine"), item("…", score=0.2, help=0.0, memory="rag")]
    mixed = weigh(scales, reader)
    assert mixed is not None
    assert mixed.share == pytest.approx(0.5)
    silent = weigh([item("zebra", memory="mine"), item("…", help=0.75, memory="rag")], reader)
    assert silent is not None
    assert silent.share == 0.75  # who says nothing has no voice
