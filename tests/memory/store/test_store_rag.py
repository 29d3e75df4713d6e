"""rag against a hand that knows no index: every event looked at, for every moment, after every sort of write."""

import asyncio
import json
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory import journal_vectors as cached
from memory.embed import HashEmbedder, likeness
from memory.embedders.base import make_embedder
from memory.journal import Journal
from memory.past import Remembered
from memory.rag import RagMemory
from simulator.core.types import Event, Label, MemoryItem, Query
from tests.memory.blocks import small_blocks

TITLES = ("main parser", "parser test", "letter mail", "", None)
USERS = ("ada", "bob")


@dataclass(frozen=True)
class Write:
    """One thing that happens to a memory; its numbers are drawn."""

    what: str
    user: str
    n: int
    at: int
    title: str | None
    help: bool


def some_writes(*whats: str, at_least: int = 0) -> st.SearchStrategy[list[Write]]:
    what, number, at = st.sampled_from(whats), st.integers(0, 9), st.integers(0, 30)
    one = st.builds(Write, what, st.sampled_from(USERS), number, at, st.sampled_from(TITLES), st.booleans())
    return st.lists(one, min_size=at_least, max_size=30)


WRITES = some_writes("observe", "observe", "observe", "feedback", "feedback", "forget")
GROWING = some_writes("observe", "observe", "feedback", at_least=10)
KINDS = st.sampled_from(
    [(documents, template) for documents in ("labelled", "help", "all") for template in ("window", "paper")]
)

INDEXES = st.sampled_from(["auto", "exact", *(["hnsw"] if find_spec("faiss") else [])])


def event_of(write: Write) -> Event:
    title = write.title
    return Event(f"s/{write.n}", write.user, write.at - 2, write.at, "code", title, assistance=write.n == 9)


def label_of(write: Write) -> Label:
    return Label(f"s/{write.n}", write.user, write.help, write.at, "Translation" if write.help else None)


class ByHand:
    """The past as plain lists."""

    def __init__(self, documents: str, template: str) -> None:
        self.documents, self.template = documents, template
        self.events: dict[tuple[str, str], Event] = {}
        self.labels: dict[tuple[str, str], Label] = {}

    def write(self, write: Write) -> None:
        key = (write.user, f"s/{write.n}")
        if write.what == "observe":
            self.events.setdefault(key, event_of(write))
        elif write.what == "feedback":
            self.labels[key] = label_of(write)
        else:
            a, b = write.at, write.at + 3
            gone = [k for k, e in self.events.items() if k[0] == write.user and e.start_ns < b and e.end_ns > a]
            for k in gone:
                del self.events[k]
                self.labels.pop(k, None)
            self.labels = {
                k: lb for k, lb in self.labels.items() if not (k[0] == write.user and a <= lb.available_ns < b)
            }

    def recall(self, user: str, title: str, k: int, now_ns: int) -> list[tuple[str, float, float | None]]:
        embedder, found = HashEmbedder(), []
        asked, norm = embedder.counts(f"code | {title}")
        for n, (key, event) in enumerate(self.events.items()):
            label = self.labels.get(key)
            if label is not None and max(label.available_ns, event.end_ns) > now_ns:
                label = None
            hidden = label is None or event.assistance or (self.documents == "help" and not label.help)
            if key[0] != user or event.end_ns > now_ns or (hidden and self.documents != "all"):
                continue
            text = f"code | {event.title or ''}"
            if self.template == "paper":
                text += " | " + ("" if label is None else (label.intention or "" if label.help else "no help needed"))
            elif self.template == "window":
                text += " | "
            row, length = embedder.counts(text)
            score = float(likeness(row[None], np.array([length]), asked, norm)[0])
            if score > 0:
                found.append((score, event.end_ns, n, event.id, None if label is None else float(label.help)))
        found.sort(key=lambda f: f[:3], reverse=True)
        return [(event_id, score, needed) for score, _, _, event_id, needed in found[:k]]


async def apply(memory: Remembered, writes: list[Write]) -> None:
    for write in writes:
        if write.what == "observe":
            await memory.observe(event_of(write))
        elif write.what == "feedback":
            await memory.feedback(event_of(write), label_of(write))
        else:
            await memory.forget(write.user, write.at, write.at + 3)


async def said(memory: Any, k: int, instants: range) -> list[list[tuple[str, float, float | None]]]:
    out = []
    for now_ns in instants:
        for user in USERS:
            for title in ("main parser", "mail"):
                items: list[MemoryItem] = await memory.recall(Query(user, "code", title, None, now_ns), k, None)
                assert all(i.latest_source_ns is not None and i.latest_source_ns <= now_ns for i in items)
                out.append([(i.source_event_ids[0], i.score, i.help) for i in items])
    return out


def wanted(hand: ByHand, k: int, instants: range) -> list[list[tuple[str, float, float | None]]]:
    return [hand.recall(u, title, k, now) for now in instants for u in USERS for title in ("main parser", "mail")]


@settings(deadline=None, max_examples=120)
@given(WRITES, KINDS, st.integers(1, 4), INDEXES)
def test_answers_as_of_any_instant_are_those_of_a_rebuild_by_hand(
    writes: list[Write], kind: tuple[str, str], k: int, index: str
) -> None:
    async def work() -> None:
        memory, hand = RagMemory(*kind, index=index), ByHand(*kind)
        for write in writes:
            hand.write(write)
        await apply(memory, writes)
        instants = range(-1, 34, 4)
        assert await said(memory, k, instants) == wanted(hand, k, instants)
        await memory.maintain(0)
        assert await said(memory, k, instants) == wanted(hand, k, instants)

    with small_blocks():
        asyncio.run(work())


@settings(deadline=None, max_examples=30)
@given(WRITES | GROWING, GROWING | WRITES, WRITES, KINDS, st.integers(1, 4), INDEXES)
def test_a_store_answers_as_the_memory_that_wrote_it_and_as_one_that_never_stopped(
    first: list[Write], second: list[Write], third: list[Write], kind: tuple[str, str], k: int, index: str
) -> None:
    """Written in two sittings, with vectors stored in between; a run then adds its own and leaves the store alone."""

    async def work(folder: Path) -> None:
        hand, instants = ByHand(*kind), range(-1, 34, 6)
        for writes in (first, second):
            memory = RagMemory(*kind, index=index)
            memory.open_store(folder, keep=True)
            assert await said(memory, k, instants) == wanted(hand, k, instants)
            await apply(memory, writes)
            for write in writes:
                hand.write(write)
            assert await said(memory, k, instants) == wanted(hand, k, instants)
            await memory.close()
        before = (folder / "journal.sqlite").read_bytes()
        for few in (1_000, 0):  # with vectors of before the second sitting, then with those of all
            monkey.setattr(cached, "_FEW", few)
            run = RagMemory(*kind, store=str(folder), index=index)
            assert await said(run, k, instants) == wanted(hand, k, instants)
            then = ByHand(*kind)
            then.events, then.labels = dict(hand.events), dict(hand.labels)
            await apply(run, third)
            for write in third:
                then.write(write)
            assert await said(run, k, instants) == wanted(then, k, instants)
            await run.close()
        assert (folder / "journal.sqlite").read_bytes() == before

    with small_blocks() as monkey, TemporaryDirectory() as place:
        asyncio.run(work(Path(place)))


async def test_what_was_replaced_leaves_room_for_what_is_less_near() -> None:
    memory = RagMemory("all", "paper")
    for i in range(6):
        event = Event(f"s/{i}", "ada", i, i + 1, "code", f"parser {i}")
        await memory.observe(event)
        await memory.feedback(event, Label(event.id, "ada", True, 50, "Translation"))
    for k, now_ns in ((1, 40), (1, 60), (3, 60)):  # at 60 the texts without an intention are nearest, and old
        items = await memory.recall(Query("ada", "code", "parser 3", None, now_ns), k, None)
        assert (len(items), items[0].source_event_ids) == (k, ("s/3",))
        assert items[0].help == (None if now_ns == 40 else 1.0)


async def test_the_order_in_which_events_arrive_changes_nothing_but_ties() -> None:
    events = [Event(f"s/{i}", "ada", i * 10, i * 10 + 10, "code", f"parser number {i % 7}") for i in range(40)]
    one, two = RagMemory("all"), RagMemory("all")
    for event in events:
        await one.observe(event)
    for event in sorted(events, key=lambda e: (e.end_ns * 7) % 41):
        await two.observe(event)
    for now_ns in (5, 100, 255, 400):
        query = Query("ada", "code", "parser number 3", None, now_ns)
        assert await one.recall(query, 5, None) == await two.recall(query, 5, None)
    await two.maintain(0)
    query = Query("ada", "code", "parser number 3", None, 400)
    assert await one.recall(query, 5, None) == await two.recall(query, 5, None)


async def test_the_text_of_a_title_is_scanned_once_however_often_it_was_in_front() -> None:
    memory: Any = RagMemory("all")
    for i in range(50):
        await memory.observe(Event(f"s/{i}", "ada", i, i + 1, "code", f"parser {i % 3}"))
    assert len(memory._users["ada"].index) == 3
    items = await memory.recall(Query("ada", "code", "parser 2", None, 40), 4, None)
    assert [i.source_event_ids[0] for i in items] == ["s/38", "s/35", "s/32", "s/29"]


async def test_stored_vectors_of_another_embedder_or_log_are_not_used(tmp_path: Path) -> None:
    with small_blocks():
        journal = Journal(tmp_path)
        for i in range(6):
            journal.observe(Event(f"s/{i}", "ada", i, i + 1, "code", f"parser {i}"))
        journal.close()
        query = Query("ada", "code", "parser 3", None, 100)

        async def answers(**options: Any) -> list[str]:
            memory = RagMemory("all", store=str(tmp_path), **options)
            items = await memory.recall(query, 3, None)
            await memory.close()
            return [i.text for i in items]

        def found(what: str) -> list[Path]:
            return list((tmp_path / "vectors").glob(what))

        first = await answers()
        (about,) = found("*/*/about.json")
        assert '"hash512-v1"' in about.read_text()
        rows = about.parent / "1" / "rows.npy"
        content = rows.read_bytes()
        rows.write_bytes(content[:-2048] + bytes(2048))  # the last row says nothing: seen if these files are used
        said = json.loads(about.read_text())
        about.write_text(json.dumps(said | {"crc32": {"1": cached._sums(rows.parent)}}))
        assert len(await answers()) == 3

        class Other(HashEmbedder):
            identity = "other"

        assert await answers(embedder=Other()) == first
        assert len(found("*")) == 2
        (tmp_path / "journal.sqlite").unlink()
        journal = Journal(tmp_path)
        journal.observe(Event("s/0", "ada", 0, 1, "code", "parser of another log"))
        journal.close()
        assert [t for t in await answers() if "another log" in t]


async def test_vectors_of_an_embedder_whose_code_changed_are_not_used(tmp_path: Path) -> None:
    code = tmp_path / "mine.py"
    spec = f"{code}:Mine"

    async def told() -> list[float]:
        memory = RagMemory("all", store=str(tmp_path / "store"), embedder=make_embedder(spec))
        items = await memory.recall(Query("ada", "code", "parser 3", None, 100), 3, None)
        await memory.close()
        return [item.score for item in items]

    def write(how: str) -> None:
        code.write_text(
            "import numpy as np\n\nclass Mine:\n    identity, dimension = 'mine', 4\n\n"
            "    def embed(self, texts):\n"
            f"        return np.array([[1.0 * ({how} == i) for i in range(4)] for t in texts], dtype=np.float32)\n"
        )

    with small_blocks():
        (tmp_path / "store").mkdir()
        journal = Journal(tmp_path / "store")
        for i in range(6):
            journal.observe(Event(f"s/{i}", "ada", i, i + 1, "code", f"parser {i}"))
        journal.close()
        write("0")
        assert await told() == [1.0, 1.0, 1.0]
        write("('3' in t)")
        assert await told() == [1.0]
        assert len(list((tmp_path / "store" / "vectors").iterdir())) == 2


@pytest.mark.parametrize("name", ["1/rows.npy", "1/columns.npz", "about.json"])
@pytest.mark.parametrize("damage", ["zeroed", "garbage", "truncated", "missing", "no object"])
async def test_damaged_vectors_are_found_on_opening_and_made_anew(tmp_path: Path, name: str, damage: str) -> None:
    async def told() -> list[MemoryItem]:
        memory = RagMemory("all", store=str(tmp_path))
        items = await memory.recall(Query("ada", "code", "parser 3", None, 100), 3, None)
        await memory.close()
        return items

    with small_blocks():
        journal = Journal(tmp_path)
        for i in range(6):
            journal.observe(Event(f"s/{i}", "ada", i, i + 1, "code", f"parser {i}"))
        journal.close()
        first = await told()
        (about,) = (tmp_path / "vectors").glob("*/*/about.json")
        file = about.parent / name
        whole = file.read_bytes()
        half = len(whole) // 2
        if damage == "missing":
            file.unlink()
        else:
            file.write_bytes({"zeroed": whole[:half] + bytes(len(whole) - half), "garbage": b"x" * 100 + whole[100:],
                              "truncated": whole[:half], "no object": b"[]"}[damage])  # fmt: skip
        assert await told() == first
        assert len(first) == 3
        assert file.read_bytes() == whole


@pytest.mark.parametrize("correct", [False, True])
async def test_what_was_written_since_vectors_were_stored_is_told_once(tmp_path: Path, correct: bool) -> None:
    events = [Event(f"s/{i}", "ada", i, i + 1, "code", f"parser {i}") for i in range(8)]
    labels = [Label(event.id, "ada", True, event.end_ns + 10, "Translation") for event in events]

    async def sitting(few: int, *writes: tuple[Event, Label | None]) -> None:
        monkey.setattr(cached, "_FEW", few)
        memory = RagMemory("all")
        memory.open_store(tmp_path, keep=True)
        for event, label in writes:
            await (memory.observe(event) if label is None else memory.feedback(event, label))
        await memory.close()

    with small_blocks() as monkey:
        await sitting(0, *((event, None) for event in events[:6]), (events[0], labels[0]))
        await sitting(0)  # stores vectors
        await sitting(1_000, (events[6], None), (events[1], labels[1]), (events[6], labels[6]))
        if correct:
            await sitting(1_000, (events[0], replace(labels[0], help=False, intention=None)))
        monkey.setattr(cached, "_FEW", 1_000)
        run = RagMemory("all", store=str(tmp_path))
        assert bool(run._shelves) != correct
        for now_ns, told in ((7, set()), (12, {0, 1}), (30, {0, 1, 6})):
            items = await run.recall(Query("ada", "code", "parser", None, now_ns), 50, None)
            assert sorted(i.source_event_ids[0] for i in items) == [f"s/{i}" for i in range(7)]
            assert {int(i.source_event_ids[0][2:]) for i in items if i.help is not None} == told
            assert all(i.help == (0.0 if correct and i.source_event_ids == ("s/0",) else 1.0) for i in items if i.help)
            if correct and told:
                assert {i.help for i in items if i.source_event_ids == ("s/0",)} == {0.0}


async def test_a_store_of_another_calendar_counts_from_the_session_that_asks(tmp_path: Path) -> None:
    day = 86_400 * 10**9
    keeper = RagMemory("all")
    keeper.open_store(tmp_path, utc_anchor_ns=100 * day, keep=True)
    await keeper.observe(Event("mon/1", "ada", 0, 10, "code", "parser"))
    await keeper.close()
    later = RagMemory("all", store=str(tmp_path), utc_anchor_ns=101 * day)
    (item,) = await later.recall(Query("ada", "code", "parser", None, 0), 5, None)
    assert item.latest_source_ns == 10 - day
    earlier = RagMemory("all", store=str(tmp_path), utc_anchor_ns=99 * day)
    assert await earlier.recall(Query("ada", "code", "parser", None, day - 1), 5, None) == []


@pytest.mark.parametrize("spec", ["graph", "personas", "window", "rag"])
async def test_every_memory_of_ours_can_open_a_store(tmp_path: Path, spec: str) -> None:
    from memory.base import make_memory
    from tests.conformance.memory_conformance import past, query

    pairs = past(20)
    keeper, run, fed = (make_memory(spec) for _ in range(3))
    assert isinstance(keeper, Remembered)
    assert isinstance(run, Remembered)
    keeper.open_store(tmp_path, keep=True)
    for memory in (keeper, fed):
        for event, label in pairs:
            await memory.observe(event)
            await memory.feedback(event, label)
    await keeper.close()
    run.open_store(tmp_path)
    now_ns = pairs[-1][0].end_ns
    asked = [query(event, now_ns) for event, _ in pairs[:5]]
    assert [await run.recall(q, 5, None) for q in asked] == [await fed.recall(q, 5, None) for q in asked]
    await run.observe(replace(pairs[0][0], title="again"))
    assert run.stats()["duplicate_events"] == 1
