"""The counts of a stored past beside its journal: read instead of counted, equal to a rebuild, whole or not read."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.entry import Entry
from memory.graph import SCOPES, GraphMemory
from memory.journal import COUNTS, Journal
from simulator.core.rng import below
from simulator.core.types import Event, Label, Query
from simulator.timing.clock import real_ns

ROOT = Path(__file__).resolve().parents[3]
APPS = ("code", "mail", None, "\udc80 half")
TITLES = ("parser main", "invoice ● 7", "预算报告", None, "parser tests", "main invoice")
NEEDS = ("Translation", None, "Data Analysis")
Written = tuple[int, int, int, int]  # app, title, how late it came, what became of it
MANY = 700


def pair(i: int, what: Written) -> tuple[Event, Label | None]:
    """Event i with its label, if it has one."""
    app, title, late, known = what
    user, end_ns = "uv"[i % 2], (i - late) * 10
    event = Event(f"{user}/{i}", user, end_ns - 10, end_ns, APPS[app], TITLES[title], assistance=known == 5)
    if known == 4:
        return event, None
    need = NEEDS[known % 3]
    asked = None if need is None else f"how, {i % 5}?"
    return event, Label(event.id, user, known != 0, end_ns + 7 * known, need, asked)


def drawn(i: int) -> Written:
    """What event i is about, drawn by its number."""
    return below(4, 1, i), below(6, 2, i), below(3, 3, i), below(6, 4, i)


def keep(folder: Path, pairs: Sequence[tuple[Event, Label | None]], *, late: int = 0) -> None:
    """Write events into a store; the labels of every so many come after all events."""
    journal = Journal(folder)
    with journal.batch():
        for event, _ in pairs:
            journal.observe(event)
        for n, (_, label) in enumerate(pairs):
            if label is not None and not (late and n % late == 0):
                journal.feedback(label)
    journal.close()


async def answers(memory: Any, until: int) -> list[list[Any]]:
    """All there is to ask, as of several instants."""
    instants = (until * 3, until * 7, until * 10 + 100)
    asked = [Query(u, a, t, None, ns) for u in "uvw" for a in APPS for t in TITLES for ns in instants]
    return [await memory.recall(query, 5, None) for query in asked]


async def rebuilt(folder: Path, scope: str) -> GraphMemory:
    """What a memory answers that is told all that the store holds."""
    memory, journal = GraphMemory(scope, show_next=True), Journal(folder, read_only=True)
    for entry in journal.entries():
        await memory.observe(entry.event)
    for entry in journal.entries():
        if entry.label is not None:
            await memory.feedback(entry.event, entry.label)
    journal.close()
    return memory


def opened(folder: Path, scope: str, **given: Any) -> GraphMemory:
    return GraphMemory(scope, show_next=True, store=str(folder), **given)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the events that are counted from now on."""
    ids: list[str] = []
    count = GraphMemory._observe

    def noted(self: GraphMemory, entry: Entry) -> None:
        ids.append(entry.event.id)
        count(self, entry)

    monkeypatch.setattr(GraphMemory, "_observe", noted)
    return ids


@pytest.mark.parametrize("scope", SCOPES)
async def test_what_was_counted_once_is_read_and_only_what_is_new_is_counted(
    scope: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [pair(i, drawn(i)) for i in range(MANY)]
    keep(tmp_path, pairs, late=9)
    await opened(tmp_path, scope).close()
    ids = counted(monkeypatch)
    more = [pair(i, drawn(i)) for i in range(MANY, MANY + 40)]
    keep(tmp_path, more)
    keep(tmp_path, pairs)  # the late labels
    memory = opened(tmp_path, scope)
    assert ids == [event.id for event, _ in more]
    again = await rebuilt(tmp_path, scope)
    assert await answers(memory, MANY) == await answers(again, MANY)
    assert memory.stats()["edges"] == again.stats()["edges"]
    for one in (memory, again):  # and from there on they go the same way
        for event, label in (pair(i, drawn(i)) for i in range(MANY + 40, MANY + 60)):
            await one.observe(event)
            if label is not None:
                await one.feedback(event, label)
        await one.forget("v", 100, 900)
    assert await answers(memory, MANY) == await answers(again, MANY)
    await memory.close()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    past=st.lists(st.tuples(*(st.integers(0, n) for n in (1, 1, 2, 5))), max_size=30),
    cut=st.integers(0, 30),
    scope=st.sampled_from(SCOPES),
)
def test_wherever_the_counts_end_the_answers_are_those_of_a_rebuild(
    past: list[Written], cut: int, scope: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("past")

    async def tried() -> None:
        pairs = [pair(i, what) for i, what in enumerate(past)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("memory.graph._FEW", -1)
            keep(folder, pairs[:cut], late=3)
            await opened(folder, scope).close()
        keep(folder, pairs)
        memory = opened(folder, scope)
        assert await answers(memory, 30) == await answers(await rebuilt(folder, scope), 30)
        await memory.close()

    asyncio.run(tried())


async def test_of_two_questions_of_one_instant_the_same_is_told_in_whatever_order_they_were() -> None:
    told = []
    pairs = [(Event(f"u/{q}", "u", 0, 5, "code", None), Label(f"u/{q}", "u", True, 5, "Translation", q)) for q in "ab"]
    for order in (pairs, pairs[::-1]):
        memory = GraphMemory()
        for event, label in order:
            await memory.observe(event)
            await memory.feedback(event, label)
        told += [item.query for item in await memory.recall(Query("u", "code", None, None, 9), 5, None)]
    assert told == ["b", "b"]


async def test_counts_are_those_of_the_log_whatever_session_reads_it(tmp_path: Path) -> None:
    day = 86_400 * 10**9
    journal = Journal(tmp_path, utc_anchor_ns=100 * day)
    for event, label in (pair(i, drawn(i)) for i in range(MANY)):
        journal.observe(event)
        if label is not None:
            journal.feedback(label)
    journal.close()
    first = opened(tmp_path, "user", utc_anchor_ns=100 * day)
    later = opened(tmp_path, "user", utc_anchor_ns=101 * day)
    (item, *_) = await first.recall(Query("u", "code", None, None, 10**6), 5, None)
    (same, *_) = await later.recall(Query("u", "code", None, None, 10**6 - day), 5, None)
    assert item.text == same.text
    assert item.latest_source_ns is not None
    assert item.latest_source_ns - day == same.latest_source_ns
    await first.close()
    await later.close()


async def test_what_is_damaged_or_of_another_log_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(tmp_path, [pair(i, drawn(i)) for i in range(MANY)])
    await opened(tmp_path, "user").close()
    (path,) = (tmp_path / COUNTS).iterdir()
    whole, ids = path.read_bytes(), counted(monkeypatch)
    middle = len(whole) // 2
    for damage in (b"", whole[:middle], whole[:-8], whole[:middle] + b"\x01" + whole[middle + 1 :], whole + b"more",
                   b"[]\n" + whole, whole.replace(b'"format": 2', b'"format": 1')):  # fmt: skip
        ids.clear()
        path.write_bytes(damage)
        await opened(tmp_path, "user").close()
        assert len(ids) == MANY
        assert path.read_bytes() == whole, "and is written anew"
    ids.clear()
    journal = Journal(tmp_path)
    journal.feedback(Label("u/0", "u", True, 5, "Translation"))  # one of the two, at least, corrects what was known
    journal.feedback(Label("u/0", "u", True, 6, "Data Analysis"))
    journal.close()
    memory = opened(tmp_path, "user")
    assert len(ids) == MANY
    assert await answers(memory, MANY) == await answers(await rebuilt(tmp_path, "user"), MANY)
    await memory.close()


async def test_counts_of_another_rule_of_transitions_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path, [pair(i, drawn(i)) for i in range(MANY)])
    await opened(tmp_path, "user").close()
    ids = counted(monkeypatch)
    for gap_s, want in ((0, 0), (5, MANY), (5, 0)):
        ids.clear()
        await opened(tmp_path, "user", next_gap_s=gap_s).close()
        assert len(ids) == want


async def test_what_is_forgotten_is_not_left_in_the_counts(tmp_path: Path) -> None:
    secret = Event("u/s", "u", 0, 5, "code", "plutonium parser")
    pairs = [(secret, Label("u/s", "u", True, 6, "Translation", "where is it"))]
    keep(tmp_path, pairs + [pair(i, drawn(i)) for i in range(MANY)])
    await opened(tmp_path, "backoff").close()
    (path,) = (tmp_path / COUNTS).iterdir()
    assert b"plutonium" in path.read_bytes()
    journal = Journal(tmp_path)
    journal.forget("u", 0, 6)
    journal.close()
    assert not (tmp_path / COUNTS).exists()
    memory = opened(tmp_path, "backoff")
    assert b"plutonium" not in path.read_bytes()
    await memory.close()


async def test_where_nothing_can_be_written_it_counts_and_says_nothing(tmp_path: Path) -> None:
    keep(tmp_path, [pair(i, drawn(i)) for i in range(MANY)])
    (tmp_path / COUNTS).write_text("in the way")
    memory = opened(tmp_path, "user")
    assert await answers(memory, MANY) == await answers(await rebuilt(tmp_path, "user"), MANY)
    await memory.close()


_CHILD = """
import sys
from pathlib import Path
from memory.graph import GraphMemory
from memory.graph_snapshot import keep_counts
from memory.journal import Journal
folder = sys.argv[1]
memory, journal = GraphMemory("user", store=folder), Journal(Path(folder), read_only=True)
print("ready", flush=True)
while True:
    keep_counts(journal, "user", 0, dict(memory._users))
"""


def kills(folder: Path, n: int, seed: int) -> dict[str, int]:
    """Kill a process that writes the counts of a store n times at random; asserts that answers are a rebuild's.

    Returns:
        How often it was killed, and how often amid a file.
    """
    amid = 0
    keep(folder, [pair(i, drawn(i)) for i in range(MANY)])
    for kill in range(n):
        command = [sys.executable, "-c", _CHILD, str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        end_ns = real_ns() + below(20_000_000, seed, kill)
        while real_ns() < end_ns or not any((folder / COUNTS).glob("*.new")):  # most of its time it counts
            pass
        process.kill()
        process.wait()
        process.stdout.close()
        amid += any((folder / COUNTS).glob("*.new"))
        asyncio.run(_as_rebuilt(folder))
    return {"kills": n, "amid": amid}


async def _as_rebuilt(folder: Path) -> None:
    memory = opened(folder, "user")
    assert await answers(memory, MANY) == await answers(await rebuilt(folder, "user"), MANY)
    await memory.close()


def test_a_kill_while_counts_are_written_leaves_the_answers_of_a_rebuild(tmp_path: Path) -> None:
    assert kills(tmp_path, 4, seed=1)["kills"] == 4
