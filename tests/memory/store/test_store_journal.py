import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory.journal import NAME, VECTORS, Journal
from simulator.core.errors import InputError, NoRoom, UsageError
from simulator.core.types import Event, Label

EVENT = Event("s/1", "ada", -20, -10, "code", "half \ud800 a pair 会议", "ide", "wrote", assistance=True)
LABEL = Label("s/1", "ada", True, -5, "Translation", "why\n\x00")


class Stuck:
    """A connection that cannot commit."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def execute(self, ask: str, *args: Any) -> sqlite3.Cursor:
        if ask == "COMMIT":
            fault = sqlite3.OperationalError("database is locked")
            fault.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise fault
        return self._db.execute(ask, *args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


def test_what_is_written_is_read_back_by_whoever_opens_it_next(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    assert journal.observe(EVENT)
    assert not journal.observe(replace(EVENT, title="another"))
    assert journal.feedback(LABEL)
    assert not journal.feedback(LABEL)
    assert journal.observe(Event("s/1", "bob", 0, 1))
    name = journal.identity
    journal.close()
    assert os.listdir(tmp_path) in ([NAME, ".lock"], [".lock", NAME])
    again = Journal(tmp_path, read_only=True)
    assert [(e.event, e.label) for e in again.entries()] == [(EVENT, LABEL), (Event("s/1", "bob", 0, 1), None)]
    assert again.counts() == {"events": 2, "labels": 1, "early": 0}
    assert again.sizes() == {"ada": 1, "bob": 1}
    assert (again.identity, again.users()) == (name, ["ada", "bob"])
    assert again.find("ada", "s/1") is not None
    assert again.find("ada", "s/2") is None
    assert again.find("eve", "s/1") is None


def test_its_identity_says_what_was_written_and_in_what_order(tmp_path: Path) -> None:
    def name(*what: Event | Label) -> str:
        journal = Journal(tmp_path / str(len(list(tmp_path.iterdir()))))
        for one in what:
            journal.observe(one) if isinstance(one, Event) else journal.feedback(one)
        journal.close()
        return journal.identity

    other = replace(EVENT, id="s/2")
    assert name() == ""
    assert name(EVENT, LABEL) == name(EVENT, LABEL, EVENT)
    assert len({name(EVENT, LABEL), name(LABEL, EVENT), name(EVENT), name(EVENT, other), name(other, EVENT)}) == 5


def test_a_correction_takes_the_place_of_the_first_and_what_is_forgotten_is_not_in_the_file(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.observe(replace(EVENT, title="SECRETTITLE"))
    journal.observe(Event("s/2", "ada", 100, 110, "code", "stays"))
    journal.feedback(replace(LABEL, query="SECRETQUESTION"))
    assert journal.epoch == 0
    journal.feedback(LABEL)
    first = journal.epoch
    assert first == 4
    assert next(journal.entries()).label == LABEL
    (tmp_path / VECTORS).mkdir()
    assert journal.forget("ada", 0, 5) == 0
    assert journal.forget("eve", -100, 500) == 0
    assert journal.forget("ada", -20, -19) == 1
    assert journal.epoch > first
    assert not (tmp_path / VECTORS).exists()
    assert [e.event.id for e in journal.entries()] == ["s/2"]
    assert list(journal.early()) == []
    journal.close()
    held = b"".join(p.read_bytes() for p in tmp_path.iterdir() if p.is_file())
    assert b"SECRET" not in held
    assert b"stays" in held


def test_a_label_may_come_before_its_event(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.feedback(LABEL)
    assert list(journal.early()) == [LABEL]
    journal.observe(EVENT)
    assert list(journal.early()) == []
    assert next(journal.entries()).label == LABEL


def test_a_batch_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    journal = Journal(tmp_path)

    def cut_short() -> None:
        with journal.batch():
            journal.observe(EVENT)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        cut_short()
    assert (journal.identity, journal.seq, list(journal.entries())) == ("", 0, [])
    with journal.batch():
        journal.observe(EVENT)
        journal.feedback(LABEL)
    assert journal.seq == 2


def test_a_write_for_which_there_is_no_room_leaves_nothing_that_later_ones_go_on_from(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.observe(replace(EVENT, user="sam"))
    name, pages = journal.identity, journal._db.execute("PRAGMA page_count").fetchone()[0]
    long = "a long title " * 4_000
    for cut in range(4):  # wherever it fails: as a row is written, or as all of it is kept
        journal._db.execute(f"PRAGMA max_page_count={pages + cut}")
        with pytest.raises(NoRoom, match="no room left"):
            journal.observe(replace(EVENT, user="bob", title=long))
    assert (journal.identity, journal.users()) == (name, ["sam"])
    db, journal._db = journal._db, Stuck(journal._db)  # type: ignore[assignment]
    with pytest.raises(InputError, match="another program holds it"):
        journal.observe(replace(EVENT, user="bob"))
    journal._db = db
    assert (journal.identity, journal.seq, journal.users()) == (name, 1, ["sam"])
    journal._db.execute("PRAGMA max_page_count=100000")
    journal.observe(replace(EVENT, user="bob"))
    journal.observe(replace(EVENT, user="eve"))
    journal.close()
    again = Journal(tmp_path, read_only=True)
    assert [e.event.user for e in again.entries()] == ["sam", "bob", "eve"]
    assert again.identity == journal.identity


def test_instants_are_kept_in_utc_and_read_from_any_session(tmp_path: Path) -> None:
    journal = Journal(tmp_path, utc_anchor_ns=1_000)
    journal.observe(EVENT)
    journal.feedback(LABEL)
    journal.close()
    later = Journal(tmp_path, read_only=True, utc_anchor_ns=5_000)
    (entry,) = later.entries()
    assert (entry.event.start_ns, entry.event.end_ns, entry.known_ns) == (-4_020, -4_010, -4_005)
    with pytest.raises(InputError, match="does not know the calendar"):
        Journal(tmp_path, read_only=True)


def test_a_reader_sees_the_store_as_it_was_when_it_was_opened(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.observe(EVENT)
    reader = Journal(tmp_path, read_only=True)
    journal.observe(replace(EVENT, id="s/2"))
    assert [e.event.id for e in reader.entries()] == ["s/1"]
    assert reader.seq == 1
    with pytest.raises(InputError, match="readonly"):
        reader.observe(replace(EVENT, id="s/3"))


def test_a_reader_may_see_the_store_as_it_was_whatever_was_added_since(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    empty = journal.identity
    events = [replace(EVENT, id=f"s/{i}") for i in range(3)]
    journal.observe(events[0])
    journal.feedback(LABEL)
    journal.feedback(replace(LABEL, event_id="s/0"))
    name = journal.identity
    journal.observe(events[1])
    journal.feedback(replace(LABEL, event_id="s/2"))
    journal.observe(Event("b", "bob", 0, 1))

    def seen(identity: str) -> list[object]:
        with closing(Journal(tmp_path, read_only=True, identity=identity)) as reader:
            assert reader.identity == identity
            found = [
                [(e.event.id, e.label is not None) for e in reader.entries()],
                [e.event_id for e in reader.early()],
            ]
            return [*found, reader.sizes(), reader.counts()["events"], reader.knows("ada", "s/1")]

    assert seen(name) == [[("s/0", True)], ["s/1"], {"ada": 1}, 1, False]
    assert seen(empty) == [[], [], {}, 0, False]
    assert seen(journal.identity)[3:] == [3, True]
    journal.feedback(replace(LABEL, event_id="s/0", help=False))
    for gone in (name, empty, "ab" * 16):
        with pytest.raises(InputError, match="corrected, or forgotten in, since"):
            seen(gone)
    journal.close()


def test_only_one_process_writes(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with pytest.raises(UsageError, match="another proact writes"):
        Journal(tmp_path)
    journal.close()
    Journal(tmp_path).close()


def test_what_is_no_journal_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no memory is stored there"):
        Journal(tmp_path, read_only=True)
    (tmp_path / NAME).write_bytes(b"something else, and long enough to be looked at" * 99)
    for read_only in (True, False):
        with pytest.raises(InputError, match="not a memory's journal"):
            Journal(tmp_path, read_only=read_only)
    (tmp_path / NAME).unlink()
    Journal(tmp_path).close()
    with sqlite3.connect(tmp_path / NAME) as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(InputError, match="newer program"):
        Journal(tmp_path)


def test_a_store_on_a_disk_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "m")
    journal.observe(EVENT)
    journal.close()
    (tmp_path / "m").chmod(0o500)
    (tmp_path / "m" / NAME).chmod(0o400)
    try:
        assert [e.event for e in Journal(tmp_path / "m", read_only=True).entries()] == [EVENT]
    finally:
        (tmp_path / "m").chmod(0o700)
