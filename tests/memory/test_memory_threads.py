"""A plain memory is made where its methods run, and its thread ends with it."""

import asyncio
import gc
import signal
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest

from memory.base import made, make_memory
from memory.conformance import CHECKS, NotAsked, check
from memory.threads import Threaded
from simulator.core.errors import UsageError
from simulator.core.operators import operators
from simulator.core.types import SILENT, Decision, Event, Label, MemoryItem, Observation, Query
from simulator.play import makers
from simulator.play.makers import memory_maker
from tests.worlds import plan, play, screen

EVENT = Event("u/1", "u", 0, 10, "code", "x")


class Opens:
    """Opens SQLite as whoever reads the manual of Python does: no handle of it may be used in another thread."""

    capabilities: ClassVar = {"as_of": "native"}
    noted = ("labels",)

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE TABLE label(event TEXT PRIMARY KEY, user TEXT, known_ns INTEGER, help INTEGER)")

    def observe(self, event: Event) -> None:
        self._db.execute("SELECT 1")

    def feedback(self, event: Event, label: Label) -> None:
        known_ns = max(event.end_ns, label.available_ns)
        row = (event.id, event.user, known_ns, label.help)
        self._db.execute("INSERT OR REPLACE INTO label VALUES (?, ?, ?, ?)", row)

    def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        asked = "SELECT avg(help), max(known_ns) FROM label WHERE user = ? AND known_ns <= ?"
        share, latest_ns = self._db.execute(asked, (query.user, query.now_ns)).fetchone()
        if share is None or k < 1 or (token_budget is not None and token_budget < 10):
            return []
        return [MemoryItem("asked now and then", 1.0, latest_source_ns=latest_ns, help=share, tokens=10)]

    def render(self, items: list[MemoryItem]) -> str:
        return "\n".join(item.text for item in items)

    def stats(self) -> dict[str, Any]:
        return {"labels": self._db.execute("SELECT count(*) FROM label").fetchone()[0]}

    def save(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "kept.sql").write_text("\n".join(self._db.iterdump()))

    def load(self, folder: Path) -> None:
        self._db.close()
        self._db = sqlite3.connect(":memory:")
        self._db.executescript((folder / "kept.sql").read_text())

    def close(self) -> None:
        self._db.close()


class Asks:
    async def decide(self, seen: Observation) -> Decision:
        seen.memory.render(await seen.memory.recall(3))
        return SILENT


def test_a_plain_memory_may_open_sqlite_in_its_constructor(tmp_path: Path) -> None:
    history = [(EVENT, Label("u/1", "u", True, 10))]
    run = play(plan(screen("aabb"), Asks(), memory=memory_maker(Opens).make, history=history), tmp_path)
    assert run.result.error is None
    assert run.result.memory_stats["labels"] == 2, "that of the history, and that of the first window"
    assert run.errors == []
    assert run.lines[-1]["notes"]["labels"] == 2


async def test_rendering_waits_for_no_write_that_is_under_way() -> None:
    class Slow(Opens):
        def observe(self, event: Event) -> None:
            begun.set()
            assert free.wait(30)

    begun, free = threading.Event(), threading.Event()
    memory: Any = made(Slow, Slow)
    write = asyncio.ensure_future(memory.observe(EVENT))
    await asyncio.to_thread(begun.wait)
    assert memory.render([MemoryItem("told", 1.0)]) == "told", "the loop that calls it would stand still"
    free.set()
    await write
    memory.close()


@pytest.mark.parametrize("rule", CHECKS, ids=lambda rule: rule.__name__)
def test_it_keeps_every_rule(rule: Any) -> None:
    try:
        check(rule, Opens)
    except NotAsked as why:
        pytest.skip(str(why))


def test_a_memory_of_a_file_and_a_part_of_a_combination_are_made_in_their_thread(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import threading\n\n\nclass Mine:\n"
        "    def __init__(self): self.made = threading.get_ident()\n"
        "    def observe(self, event): assert self.made == threading.get_ident()\n"
        "    def recall(self, query, k, token_budget): return []\n"
    )
    for spec in (f"{file}:Mine", f"{file}:Mine+recency"):
        asyncio.run(make_memory(spec).observe(EVENT))


def test_a_part_of_a_combination_makes_the_folder_that_it_saves_to_as_it_would_alone(tmp_path: Path) -> None:
    spec = f"{Path(__file__)}:Opens+recency"
    memory: Any = make_memory(spec)
    asyncio.run(memory.observe(EVENT))
    asyncio.run(memory.feedback(EVENT, Label("u/1", "u", True, 10)))
    memory.save(tmp_path / "kept")
    other: Any = make_memory(spec)
    other.load(tmp_path / "kept")
    items = asyncio.run(other.recall(Query("u", "code", "x", None, 20), 5, None))
    assert [item.memory for item in items] == ["Opens", "recency"]


def test_a_plain_class_that_is_no_memory_or_fails_leaves_no_thread() -> None:
    class Lacks:
        def recall(self, *asked: Any) -> None: ...

    class Fails(Lacks):
        def __init__(self) -> None:
            raise RuntimeError("no disk")

    before = set(threading.enumerate())
    with pytest.raises(UsageError, match="has no method observe"):
        made(Lacks, Lacks)
    with pytest.raises(RuntimeError, match="no disk"):
        made(Fails, Fails)
    _all_end(before)


def test_the_thread_of_a_memory_that_nobody_has_any_more_ends() -> None:
    before = set(threading.enumerate())
    memory = made(Opens, Opens)
    asyncio.run(memory.observe(EVENT))
    assert isinstance(memory, Threaded)
    assert set(threading.enumerate()) - before
    del memory
    gc.collect()
    _all_end(before)


def test_a_constructor_that_takes_long_is_named_while_it_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(makers, "LONG_S", 0.01)
    said = threading.Event()
    told = operators().warning

    def hear(*words: str) -> None:
        told(*words)
        said.set()

    monkeypatch.setattr(operators(), "warning", hear, raising=False)

    class Slow(Opens):
        def __init__(self) -> None:
            assert said.wait(5)
            super().__init__()

    memory_maker(Slow).make()
    assert "before time 0: the constructor of the memory Slow has not come back for 0.01 s" in capsys.readouterr().err


def test_a_signal_is_heard_while_a_constructor_blocks() -> None:
    blocks = threading.Event()

    class Blocks(Opens):
        def __init__(self) -> None:
            threading.Timer(0.02, signal.raise_signal, [signal.SIGINT]).start()
            with suppress(BaseException):  # as code does that is not Python's, or has an except without a name
                blocks.wait(2)

    with pytest.raises(KeyboardInterrupt):
        made(Blocks, Blocks)
    assert not blocks.is_set()
    blocks.set()


def _all_end(before: set[threading.Thread]) -> None:
    for thread in set(threading.enumerate()) - before:
        thread.join(2)
        assert not thread.is_alive()
