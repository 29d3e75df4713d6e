import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory.journal import Journal
from simulator.core.types import SECOND, Event, Label
from simulator.privacy.forget import plan
from simulator.privacy.items import Item
from simulator.privacy.span import Span


def stored(folder: Path, utc: bool = True) -> Path:
    journal = Journal(folder, utc_anchor_ns=0 if utc else None)
    for user in ("ada", "bob"):
        for i in range(4):
            event = Event(f"s/{i}", user, i * SECOND, (i + 1) * SECOND, "code", f"TITLE{user}{i}")
            journal.observe(event)
            journal.feedback(Label(event.id, user, True, event.end_ns, "Translation", f"QUERY{user}{i}"))
    journal.close()
    (folder / "vectors").mkdir()
    return folder


def held(folder: Path) -> list[tuple[str, str]]:
    journal = Journal(folder, read_only=True, utc_anchor_ns=0)
    found = [(e.event.user, e.event.id) for e in journal.entries()]
    journal.close()
    return found


def test_a_users_part_of_a_store_goes_and_nobody_elses(tmp_path: Path) -> None:
    folder = stored(tmp_path / "store")
    found = plan("ada", [tmp_path])
    assert [(item.kind, item.said) for item in found.items] == [("memory", "4 remembered events and 4 labels")]
    assert {"TITLEada1", "QUERYada1"} <= found.items[0].texts
    found.carry_out()
    assert held(folder) == [("bob", f"s/{i}") for i in range(4)]
    assert not (folder / "vectors").exists()
    content = b"".join(p.read_bytes() for p in folder.iterdir() if p.is_file())
    assert b"ada" not in content
    assert b"TITLEbob" in content
    assert not plan("ada", [tmp_path]).items


def test_a_stretch_goes_where_the_store_knows_the_calendar_else_all(tmp_path: Path) -> None:
    span = Span(2 * SECOND + 1, 3 * SECOND)
    for utc, stays in ((True, {"s/0", "s/1", "s/3"}), (False, set[str]())):
        folder = stored(tmp_path / str(utc), utc)
        plan("ada", [folder], span).carry_out()
        assert {event_id for user, event_id in held(folder) if user == "ada"} == stays
        assert len(held(folder)) == 4 + len(stays)


def test_events_and_labels_are_counted_apart(tmp_path: Path) -> None:
    journal = Journal(tmp_path, utc_anchor_ns=0)
    for i in range(3):
        journal.observe(Event(f"s/{i}", "ada", i * SECOND, (i + 1) * SECOND, "code", "x"))
    journal.feedback(Label("s/0", "ada", True, 5 * SECOND))  # told late
    journal.feedback(Label("s/9", "ada", True, 5 * SECOND))  # of an event that never came
    journal.close()
    for span, told in ((Span(), "3 remembered events and 2 labels"),
                       (Span(SECOND, 2 * SECOND), "1 remembered event and 0 labels"),
                       (Span(4 * SECOND, 6 * SECOND), "0 remembered events and 2 labels")):  # fmt: skip
        assert [item.said for item in plan("ada", [tmp_path], span).items] == [told]
    plan("ada", [tmp_path], Span(4 * SECOND, 6 * SECOND)).carry_out()
    assert [item.said for item in plan("ada", [tmp_path]).items] == ["3 remembered events and 0 labels"]


def test_what_is_made_of_a_store_goes_before_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a kill the rows still say that there is something to forget: nothing else would have it removed."""
    folder = stored(tmp_path / "store")
    (folder / "vectors" / "words.bin").write_bytes(b"TITLEada1")
    assert plan("ada", [tmp_path]).foreseen() == []

    class Kill(BaseException):
        pass

    def kill(*_: object, **__: object) -> None:
        raise Kill

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "_write_anew", kill)
        with pytest.raises(Kill):
            plan("ada", [tmp_path]).carry_out()
    assert not (folder / "vectors").exists()
    with monkeypatch.context() as patch:
        patch.setattr("memory.journal.shutil.rmtree", kill)
        with pytest.raises(Kill):
            plan("bob", [tmp_path]).carry_out()
    assert len(held(folder)) == 4


def test_a_store_that_is_being_written_is_left_and_told(tmp_path: Path) -> None:
    folder = stored(tmp_path / "store")
    found, writer = plan("ada", [tmp_path]), Journal(folder, utc_anchor_ns=0)
    forgotten: list[Item] = []
    left = found.carry_out(forgotten.append)
    assert [one.path.name for one in left] == ["journal.sqlite"]
    assert "another proact writes" in left[0].why
    assert forgotten == []  # nobody is told that it went
    writer.close()
    assert len(held(folder)) == 8


def test_a_store_is_written_anew_when_somebody_went(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "store", utc_anchor_ns=0)
    for i in range(300):
        journal.observe(Event(f"s/{i}", "ada", i * SECOND, (i + 1) * SECOND, "code", f"title {i} " * 40))
    journal.observe(Event("s/0", "bob", 0, SECOND, "code", "his"))
    assert journal.forget("ada", 0, 10**18) == 300
    journal.close()
    with closing(sqlite3.connect(tmp_path / "store" / "journal.sqlite")) as db:
        assert db.execute("PRAGMA freelist_count").fetchone() == (0,)
    assert held(tmp_path / "store") == [("bob", "s/0")]
