"""kill -9 while a memory writes its store: at most the event in hand is lost, and it answers as a rebuild does."""

import asyncio
import subprocess
import sys
from pathlib import Path

from memory.journal import Journal
from memory.rag import RagMemory
from simulator.core.rng import below
from simulator.core.types import Event, Label, Query
from simulator.timing.clock import real_ns

ROOT = Path(__file__).resolve().parents[3]
CHILD = """
import asyncio, sys
from pathlib import Path
from memory.rag import RagMemory
import importlib.util
spec = importlib.util.spec_from_file_location("kills", sys.argv.pop())
kills = importlib.util.module_from_spec(spec); spec.loader.exec_module(kills); nth = kills.nth
async def write(folder, first):
    memory = RagMemory("all")
    memory.open_store(Path(folder), keep=True)
    print("ready", flush=True)
    for i in range(int(first), 10**9):
        event, label = nth(i)
        await memory.observe(event)
        if label is not None:
            await memory.feedback(event, label)
        print(i, flush=True)
asyncio.run(write(*sys.argv[1:]))
"""


def nth(i: int) -> tuple[Event, Label | None]:
    """Event i, of one of three users, and its label if it gets one."""
    user = f"user {i % 3}"
    event = Event(f"s/{i}", user, i * 10, i * 10 + 10, "code", f"parser number {i % 17}")
    label = Label(event.id, user, i % 4 == 0, event.end_ns + 1, "Translation" if i % 4 == 0 else None)
    return event, label if i % 5 else None


def kills(folder: Path, n: int, seed: int) -> dict[str, float]:
    """Kill a writer n times at random; asserts that nothing acknowledged is lost.

    Returns:
        How many events there are at the end, and by how many there was at most more than acknowledged.
    """
    first, ahead = 0, 0
    for kill in range(n):
        command = [sys.executable, "-c", CHILD, str(folder), str(first), __file__]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        end_ns = real_ns() + 1_000_000 + below(60_000_000, seed, kill)
        told = first - 1
        while real_ns() < end_ns:
            told = int(process.stdout.readline())
        process.kill()
        rest = process.stdout.read()
        process.wait()
        process.stdout.close()
        whole = rest[: rest.rfind(b"\n") + 1].split()
        acknowledged = int(whole[-1]) if whole else told
        ahead = max(ahead, _checked(folder, acknowledged) - 1 - acknowledged)
        first = acknowledged + 1  # what was in hand is fed again: an event that is known already is left out
    return {"kills": n, "events": first, "ahead": ahead}


def _checked(folder: Path, acknowledged: int) -> int:
    """Whether what was acknowledged is there, and is answered as by a memory that was fed it; how many events it is."""
    journal = Journal(folder, read_only=True)
    held = {entry.event.id: entry for entry in journal.entries()}
    journal.close()
    assert len(held) - 1 in (acknowledged, acknowledged + 1), "more than the event in hand was lost"
    for i in range(len(held)):
        event, label = nth(i)
        assert held[event.id].event == event
        assert held[event.id].label == label or i == len(held) - 1
    asyncio.run(_compared(folder, list(held)))
    return len(held)


async def _compared(folder: Path, ids: list[str]) -> None:
    stored, fed = RagMemory("all", store=str(folder)), RagMemory("all")
    journal = Journal(folder, read_only=True)
    for entry in journal.entries():
        await fed.observe(entry.event)
        if entry.label is not None:
            await fed.feedback(entry.event, entry.label)
    journal.close()
    for user in ("user 0", "user 1", "user 2"):
        for now_ns in (len(ids) * 5, len(ids) * 10 + 1):
            query = Query(user, "code", "parser number 3", None, now_ns)
            assert await stored.recall(query, 5, None) == await fed.recall(query, 5, None)
    await stored.close()


def test_a_killed_writer_loses_at_most_the_event_in_hand(tmp_path: Path) -> None:
    found = kills(tmp_path / "store", 5, seed=1)
    assert found["events"] > 5
