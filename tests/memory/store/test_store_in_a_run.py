from pathlib import Path
from typing import Any

import pytest

from memory.journal import Journal
from memory.rag import RagMemory
from simulator.core.errors import InputError
from simulator.core.types import SECOND, Event, Label, Query
from simulator.play.assemble import Choice, assemble

DESK = Path(__file__).resolve().parents[3] / "docs" / "examples" / "desk.yaml"
LONG_AGO_S = 1_600_000_000


async def keep(folder: Path, n: int) -> None:
    keeper = RagMemory()
    keeper.open_store(folder, utc_anchor_ns=LONG_AGO_S * SECOND, keep=True)
    for i in range(n):
        event = Event(f"past/{i}", "sam", i * SECOND, (i + 1) * SECOND, "xterm", "a title of long ago")
        await keeper.observe(event)
        await keeper.feedback(event, Label(event.id, "sam", True, event.end_ns, "Translation"))
    await keeper.close()


async def test_a_run_writes_down_what_its_store_holds_and_leaves_it_alone(tmp_path: Path) -> None:
    await keep(tmp_path / "store", 3)
    before = (tmp_path / "store" / "journal.sqlite").read_bytes()
    choice = Choice(
        scenarios=(str(DESK),), memory=f"rag:store={tmp_path / 'store'}", clock="modelled", latency="fixed:200ms"
    )
    (plan,) = await assemble(choice)
    facts = plan.header()["memory_facts"]
    memory: Any = plan.memory()
    ask = Query("sam", "xterm", "a title of long ago", None, 0)
    (newest, *_) = await memory.recall(ask, 5, None)
    anchor_ns = plan.header()["utc_anchor_ns"]
    assert newest.source_event_ids == ("past/2",)
    assert newest.latest_source_ns == (LONG_AGO_S + 3) * SECOND - anchor_ns
    event = Event("desk/1", "sam", 0, SECOND, "xterm", "a title of long ago")
    await memory.observe(event)
    await memory.feedback(event, Label("desk/1", "sam", True, SECOND, "Translation"))
    assert (await memory.recall(Query("sam", "xterm", event.title, None, SECOND), 1, None))[0].source_event_ids == (
        "desk/1",
    )
    await memory.close()
    assert (tmp_path / "store" / "journal.sqlite").read_bytes() == before
    (again,) = await assemble(choice)
    assert again.header() == plan.header()
    await keep(tmp_path / "store", 4)
    (other,) = await assemble(choice)
    assert other.header()["memory_facts"] != facts


@pytest.mark.parametrize("name", ["rag", "graph"])
async def test_a_unit_opens_its_store_as_the_header_names_it(tmp_path: Path, name: str) -> None:
    """Units of one run begin hours after another, and somebody keeps the day meanwhile."""
    for folder, n in (("a", 3), ("b", 5)):
        await keep(tmp_path / folder, n)
    spec = f"{name}:store={tmp_path / 'a'}+{name}:store={tmp_path / 'b'}"
    (alone,) = await assemble(Choice(scenarios=(str(DESK),), memory=spec.partition("+")[0]))
    (both,) = await assemble(Choice(scenarios=(str(DESK),), memory=spec))
    facts = both.header()["memory_facts"]
    first, second = (facts[f"{part}.store"] for part in spec.split("+"))
    assert first == alone.header()["memory_facts"]["store"] != second
    for folder, n in (("a", 4), ("b", 7)):
        await keep(tmp_path / folder, n)
    for plan, held in ((alone, [3]), (both, [3, 5])):
        memory: Any = plan.memory()
        parts = getattr(memory, "parts", {"": memory}).values()
        assert [part.stats()["stored_events"] for part in parts] == held
        await memory.close()
    journal = Journal(tmp_path / "a", utc_anchor_ns=0)
    journal.forget("sam", LONG_AGO_S * SECOND, LONG_AGO_S * SECOND + 1)
    journal.close()
    with pytest.raises(InputError, match="start that anew"):
        alone.memory()


async def test_a_store_that_is_not_there_is_said_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no memory is stored there"):
        await assemble(Choice(scenarios=(str(DESK),), memory=f"rag:store={tmp_path}"))


@pytest.mark.parametrize("name", ["rag", "graph", "window+rag", "graph+rag"])
async def test_a_frozen_memory_learns_nothing_of_the_played_day_from_its_store(tmp_path: Path, name: str) -> None:
    """A store may hold the very day that is played: its labels would come back by and by."""
    (plan,) = await assemble(Choice(scenarios=(str(DESK),)))
    keeper = RagMemory()
    keeper.open_store(tmp_path / "store", utc_anchor_ns=plan.header()["utc_anchor_ns"], keep=True)
    for i, start_s in enumerate((-40, 20)):
        event = Event(f"d/{i}", "sam", start_s * SECOND, (start_s + 1) * SECOND, "xterm", "errors of a build")
        await keeper.observe(event)
        await keeper.feedback(event, Label(event.id, "sam", True, event.end_ns, "Translation"))
    await keeper.close()
    newest: dict[str, int] = {}
    for mode in ("online", "frozen"):
        choice = Choice(
            scenarios=(str(DESK),), memory=f"{name}:store={tmp_path / 'store'}", protocol="moments", memory_mode=mode
        )
        (plan,) = await assemble(choice)
        memory: Any = plan.memory()
        items = await memory.recall(Query("sam", "xterm", "errors of a build", None, 30 * SECOND), 5, None)
        newest[mode] = max(item.latest_source_ns for item in items)
        await memory.close()
    assert newest == {"online": 21 * SECOND, "frozen": -39 * SECOND}
