"""Stores that are damaged, somebody else's, or on a disk without room: one sentence, and no word of what they hold."""

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory import journal_file
from memory.graph import GraphMemory
from memory.journal import NAME, Journal
from memory.rag import RagMemory
from simulator.cli import _run
from simulator.core.errors import InputError, NoRoom, UsageError
from simulator.core.rng import below
from simulator.core.types import SECOND, Event, Label
from simulator.privacy.forget import plan

ROOT = Path(__file__).parents[3]
SECRET = "verysecret"


def stored(folder: Path, n: int = 40) -> Path:
    journal = Journal(folder, utc_anchor_ns=0)
    with journal.batch():
        for i in range(n):
            event = Event(f"s/{i}", f"ada {i % 2}", i * SECOND, (i + 1) * SECOND, "xterm", f"{SECRET} {i} of a diary")
            journal.observe(event)
            journal.feedback(Label(event.id, event.user, True, event.end_ns, "Translation", f"{SECRET} question {i}"))
    journal.close()
    return folder


def one_bit(folder: Path) -> None:
    content = bytearray((folder / NAME).read_bytes())
    at = content.index(f"{SECRET} 7 of a diary".encode())
    content[at] ^= 128
    (folder / NAME).write_bytes(content)


def test_a_bit_of_a_title_is_told_without_the_title(tmp_path: Path) -> None:
    one_bit(stored(tmp_path))
    journal = Journal(tmp_path, read_only=True, utc_anchor_ns=0)
    with pytest.raises(InputError, match="a text in column said is not UTF-8") as told:
        list(journal.entries())
    assert SECRET[1:] not in str(told.value)
    assert journal.find("ada 0", "s/8") is not None
    journal.close()


def test_a_damaged_store_is_left_and_told_and_the_one_beside_it_is_forgotten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one_bit(stored(tmp_path / "bit"))
    stored(tmp_path / "whole")
    assert _run(["forget", "ada 1", "--in", str(tmp_path), "--yes"]) == 2
    said = capsys.readouterr()
    assert "bit/journal.sqlite: the database is damaged (a text in column said is not UTF-8)" in said.out + said.err
    assert SECRET not in said.out + said.err
    assert plan("ada 1", [tmp_path / "whole"]).items == []
    assert len(plan("ada 0", [tmp_path / "whole"]).items) == 1


@pytest.mark.parametrize("make", [RagMemory, GraphMemory])
def test_a_memory_that_cannot_be_made_lets_go_of_its_store(make: Callable[..., Any], tmp_path: Path) -> None:
    """Whoever holds it keeps what is forgotten in the file."""
    one_bit(stored(tmp_path))
    with pytest.raises(InputError) as held:
        make(store=str(tmp_path), utc_anchor_ns=0)
    with closing(Journal(tmp_path, utc_anchor_ns=0)) as writer:
        assert writer.forget("ada 0", 0, 10**18) == 20
        assert writer.left is None
    assert held.value is not None


def damaged(content: bytes, how: int, seed: int) -> bytes:
    """A file as a disk or a copy may leave it."""
    out = bytearray(content)

    def place(n: int, of: int) -> int:
        return below(of, seed, how, n)

    match how:
        case 0:
            out[place(0, len(out))] ^= 1 << place(1, 8)
        case 1:
            for i in range(60):
                out[place(i, len(out))] ^= 1 << place(i, 8)
        case 2:
            out = out[: place(0, len(out))]
        case 3:
            page = place(0, len(out) // 4096) * 4096
            out[page : page + 4096] = bytes(4096)
        case 4:
            a = place(0, len(out))
            out[a : a + 1000] = bytes(place(i, 256) for i in range(len(out[a : a + 1000])))
        case _:
            texts = [i for i in range(len(out) - 1) if out[i : i + 2] == b'["']
            for i in range(40):
                out[texts[place(i, len(texts))] + place(i, 12)] = place(-i - 1, 256)
    return bytes(out)


@pytest.mark.parametrize("how", range(6))
def test_whatever_is_damaged_in_a_store_ends_in_one_sentence(how: int, tmp_path: Path) -> None:
    content = (stored(tmp_path / "whole") / NAME).read_bytes()
    told: list[UsageError] = []
    for seed in range(12):
        for act in (_read, _remembered, _written, _forgotten):
            folder = tmp_path / "damaged"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            (folder / NAME).write_bytes(damaged(content, how, seed))
            try:
                act(folder)
            except UsageError as error:
                told.append(error)
    assert told
    assert not any(SECRET[:4] in str(error) or error.__cause__ is not None for error in told)


def _read(folder: Path) -> None:
    journal = Journal(folder, read_only=True, utc_anchor_ns=0)
    with closing(journal):
        found = [*journal.entries(), *journal.labelled(0, 99)]
        [journal.find(e.event.user, e.event.id) for e in found[:3]]
        journal.sizes(), journal.counts(), journal.epoch, journal.identity, journal.chain(3), list(journal.early())


def _remembered(folder: Path) -> None:
    for make in (RagMemory, GraphMemory):
        asyncio.run(make(store=str(folder), utc_anchor_ns=0).close())


def _written(folder: Path) -> None:
    with closing(Journal(folder, utc_anchor_ns=0)) as journal, journal.batch():
        for i in range(30, 60):
            journal.observe(Event(f"s/{i}", "ada 0", i, i + 1, "xterm", "more"))
            journal.feedback(Label(f"s/{i}", "ada 0", False, i))


def _forgotten(folder: Path) -> None:
    for left in plan("ada 1", [folder]).carry_out():
        assert SECRET[:4] not in left.why


def _session(place: Path) -> None:
    shutil.copy(ROOT / "scenarios" / "desktop" / "session" / "session.db", place)


def _alike(place: Path) -> None:
    with closing(sqlite3.connect(place)) as db:
        db.executescript("CREATE TABLE about (key TEXT, value TEXT); PRAGMA user_version=1;")


def _no_clock(place: Path) -> None:
    Journal(place.parent).close()
    with closing(sqlite3.connect(place)) as db:
        db.executescript("DELETE FROM about")


def _no_database(place: Path) -> None:
    place.write_bytes(b"nothing of the kind" * 999)


@pytest.mark.parametrize("make", [_session, _alike, _no_database, _no_clock])
def test_a_file_of_somebody_else_is_refused_and_left_as_it_is(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / NAME)
    (tmp_path / ".lock").unlink(missing_ok=True)
    before = (tmp_path / NAME).read_bytes()
    for read_only in (True, False):
        with pytest.raises(InputError, match="not a memory's journal"):
            Journal(tmp_path, read_only=read_only, utc_anchor_ns=0)
    assert _run(["memory", "keep", str(tmp_path), str(ROOT / "docs" / "examples" / "desk.yaml")]) == 2
    assert make is _no_clock or (tmp_path / NAME).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def _fault(code: int, said: str) -> sqlite3.OperationalError:
    fault = sqlite3.OperationalError(said)
    fault.sqlite_errorcode = code
    return fault


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        (sqlite3.SQLITE_IOERR_SHMSIZE, "the disk is full, or it fails"),
        (sqlite3.SQLITE_CANTOPEN, "nothing can be written in its folder"),
        (sqlite3.SQLITE_READONLY_CANTINIT, "nothing can be written in its folder"),
        (sqlite3.SQLITE_CORRUPT, "the database is damaged"),
    ],
)
def test_what_is_no_damage_is_not_called_so(code: int, wanted: str) -> None:
    with pytest.raises(InputError, match=wanted), journal_file.faults(Path("x")):
        raise _fault(code, "as SQLite says it")


def test_a_full_disk_is_said_of_keeping(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settled = journal_file.to_write

    def small(db: sqlite3.Connection) -> None:
        settled(db)
        db.execute("PRAGMA max_page_count=12")

    monkeypatch.setattr(journal_file, "to_write", small)
    assert _run(["memory", "keep", str(tmp_path / "store"), str(ROOT / "scenarios" / "desktop")]) == 2
    assert "no room left on the disk" in capsys.readouterr().err
    with pytest.raises(NoRoom), journal_file.faults(tmp_path):
        raise _fault(sqlite3.SQLITE_FULL, "database or disk is full")


def test_an_instant_that_no_file_can_hold_is_told(tmp_path: Path) -> None:
    far: Any = Event("s/1", "ada", -(2**63) + 5, -(2**63) + 6)
    with closing(Journal(tmp_path, utc_anchor_ns=-SECOND)) as journal:
        with pytest.raises(InputError, match="292 years"):
            journal.observe(far)
        with pytest.raises(InputError, match="292 years"):
            journal.feedback(Label("s/1", "ada", False, -(2**63)))
        journal.observe(Event("s/1", "ada", 0, 1))
        assert journal.forget("ada", -(2**70), 2**70) == 1
        assert journal.left is None
