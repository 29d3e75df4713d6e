"""Nothing planted is found in a prompt: every memory of ours alone, over a store, and in every pair."""

from __future__ import annotations

import asyncio
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from memory.base import memories
from memory.combined import Combined
from memory.rag import RagMemory
from simulator.core.types import SECOND
from tests.memory.blocks import small_blocks
from tests.memory.canaries import ALONE, Told, ensure_nothing_leaks, made, planted, told_by

ADAPTERS = {"graphiti", "http", "letta", "mem0"}  # tests/memory/adapters
OURS = sorted({*memories.names()} - ADAPTERS)
SOONER = {"personas": "personas:refresh=3,lag_s=1"}  # so that personas are rebuilt all along
OPTIONS = [
    "rag:documents=all", "rag:documents=help,template=paper", "rag:index=exact",
    "personas", "personas:linkage=ward,refresh=3", "personas:kinds=assistance,match=text,refresh=3,lag_s=1",
    "personas:refresh=2,cap=2,cap_policy=merge_small,max_texts=3,groups=2", "threads:likeness=0.9,idle_s=0",
    "graph:keyword_conditional=help_only,show_next=true,keyword_mean=all", "graph:scope=global",
    "graph:scope=backoff,show_next=true", "class-prior:scope=global", "class-prior:scope=backoff",
    "shuffled-user:of=graph", "shuffled-user:of=personas", "shuffled-user:of=recency",
]  # fmt: skip
MORE = [
    "rag+graph:scope=global", "threads+window+rag:documents=all+kg", "graph+personas:refresh=3+rag",
    "oracle+shuffled-user+graph:scope=global", "recency+random+class-prior:scope=backoff", "rag+rag:documents=all+rag",
]  # fmt: skip
STORED = ["rag", "rag:documents=all", "graph", "graph:scope=global", "graph:scope=backoff,show_next=true"]
UNSEEN = ("none", "oracle", "shuffled-user:of=personas")
"""They tell nothing here: each need is new to the oracle, and the others' personas are built when they have ended."""
ANCHOR_NS = 1_796_000_000 * SECOND
SHORT, LONG = 10, 40
EARLY_NS = 6 * 30 * SECOND  # while an intention that was needed once is still a share that the graph tells of


def sharing(spec: str, memory: Any) -> list[str]:
    """The parts that say that they read other users' pasts, as items name them."""
    parts = memory.parts if isinstance(memory, Combined) else {ALONE: memory}
    found = [name for name, part in parts.items() if part.capabilities["isolation"] == "none"]
    assert bool(found) == ("scope=global" in spec or "scope=backoff" in spec or "shuffled" in spec)
    return found


def looked_through(spec: str, n_events: int, until_ns: int | None = None, **given: Any) -> list[Told]:
    """What a memory told, in which nothing was found."""
    memory = made(spec, n_events, **given)
    told = asyncio.run(told_by(memory, n_events))
    ensure_nothing_leaks(told, n_events, sharing(spec, memory), until_ns)
    return told


@pytest.mark.parametrize("spec", [*(SOONER.get(name, name) for name in OURS), *OPTIONS, *MORE])
def test_nothing_planted_stands_in_a_prompt(spec: str) -> None:
    told = looked_through(spec, LONG)
    if spec not in UNSEEN:
        assert any("canary" in one.text for one in told), "the canaries can be seen at all"


@pytest.mark.parametrize("pair", [*permutations(OURS, 2)], ids="+".join)
def test_nothing_planted_stands_in_a_prompt_of_two_memories(pair: tuple[str, str]) -> None:
    told = looked_through("+".join(SOONER.get(name, name) for name in pair), SHORT)
    named = {one.memory.partition(":")[0] for one in told if "canary" in one.text}
    assert {*pair} - {*UNSEEN} <= named, "the canaries of each part can be seen"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A past that holds both users' whole sessions: what is to come in them, too."""
    folder = tmp_path_factory.mktemp("canaries") / "store"

    async def keep() -> None:
        keeper = RagMemory()
        keeper.open_store(folder, utc_anchor_ns=ANCHOR_NS, keep=True)
        for event, label in [*planted("bob", LONG), *planted("ada", LONG)]:
            await keeper.observe(event)
            await keeper.feedback(event, label)
        await keeper.close()

    asyncio.run(keep())
    return folder


@pytest.mark.parametrize("until_ns", [None, EARLY_NS], ids=["all along", "frozen early"])
@pytest.mark.parametrize("spec", [*STORED, "rag+graph"])
def test_nothing_planted_in_a_store_stands_in_a_prompt(spec: str, until_ns: int | None, store: Path) -> None:
    over = "+".join(f"{part}{',' if ':' in part else ':'}store={store}" for part in spec.split("+"))
    told = looked_through(over, LONG, until_ns, utc_anchor_ns=ANCHOR_NS, store_until_ns=until_ns)
    assert any("canary" in one.text for one in told), "the canaries can be seen at all"


OPENED = [
    "rag", "graph", "window:span_s=900", "recency", "random", "threads", "personas:refresh=3,lag_s=1",
    "personas:kinds=assistance,match=text,refresh=3,lag_s=0", "class-prior", "class-prior:scope=global", "oracle",
]  # fmt: skip


@pytest.mark.parametrize("until_ns", [None, EARLY_NS], ids=["all along", "frozen early"])
@pytest.mark.parametrize("spec", OPENED)
def test_nothing_planted_stands_in_a_prompt_of_a_memory_whose_store_is_opened_from_python(
    spec: str, until_ns: int | None, store: Path
) -> None:
    memory = made(spec, LONG)
    memory.open_store(store, utc_anchor_ns=ANCHOR_NS, until_ns=until_ns)
    told = asyncio.run(told_by(memory, LONG))
    ensure_nothing_leaks(told, LONG, sharing(spec, memory), until_ns)
    if spec not in UNSEEN:
        assert any("canary" in one.text for one in told), "the canaries can be seen at all"


@pytest.mark.parametrize("index", ["auto", "hnsw"])
@pytest.mark.parametrize("until_ns", [None, EARLY_NS], ids=["all along", "frozen early"])
def test_nothing_planted_stands_in_a_prompt_when_a_past_is_searched_as_years_are(
    index: str, until_ns: int | None, store: Path, tmp_path: Path
) -> None:
    if index == "hnsw":
        pytest.importorskip("faiss", reason="the extra faiss is not installed")
    (tmp_path / "journal.sqlite").write_bytes((store / "journal.sqlite").read_bytes())
    options = f"documents=all,index={index}"
    with small_blocks():
        if until_ns is None:
            assert looked_through(f"rag:{options}", LONG)
        spec = f"rag:{options},store={tmp_path}"
        told = looked_through(spec, LONG, until_ns, utc_anchor_ns=ANCHOR_NS, store_until_ns=until_ns)
    assert bool([*tmp_path.glob("vectors/*/hnsw/*/*.faiss")]) == (index == "hnsw"), "graphs were walked"
    assert any("canary" in one.text for one in told), "the canaries can be seen at all"


def test_every_memory_that_takes_a_store_is_tried_over_one() -> None:
    from inspect import signature

    takes = {name for name in OURS if "store" in signature(memories.get(name)).parameters}
    assert takes == {spec.partition(":")[0] for spec in STORED}
    opens = {name for name in OURS if hasattr(memories.get(name), "open_store")}
    assert opens == {spec.partition(":")[0] for spec in OPENED}
