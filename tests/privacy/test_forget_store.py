from pathlib import Path

from memory.journal import Journal
from simulator.core.types import SECOND, Event, Label
from simulator.privacy.forget import plan
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
    assert [(item.kind, item.said) for item in found.items] == [("memory", "4 remembered events and labels")]
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


def test_a_store_that_is_being_written_is_left_and_told(tmp_path: Path) -> None:
    folder = stored(tmp_path / "store")
    found, writer = plan("ada", [tmp_path]), Journal(folder, utc_anchor_ns=0)
    left = found.carry_out()
    assert [one.path.name for one in left] == ["journal.sqlite"]
    writer.close()
    assert len(held(folder)) == 8
