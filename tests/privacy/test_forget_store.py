import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from memory.graph_counts import Counts
from memory.graph_snapshot import keep_counts
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


def test_what_is_made_of_a_store_is_no_copy_that_stays(tmp_path: Path) -> None:
    folder = stored(tmp_path / "store")
    (folder / "vectors" / "words.bin").write_bytes(b"TITLEada1")
    assert plan("ada", [tmp_path]).foreseen() == []
    assert plan("ada", [tmp_path]).carry_out() == []
    assert not (folder / "vectors").exists()


def content(folder: Path) -> bytes:
    return b"".join(p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills what it forks")
def test_wherever_a_kill_comes_the_next_call_leaves_no_word(tmp_path: Path) -> None:
    """In a process of its own: before each statement there is a forgetting that is killed."""
    command = [sys.executable, "-c", KILLS, __file__, str(tmp_path)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 15


KILLS = """
import importlib.util, os, shutil, signal, sys
from pathlib import Path
import memory.journal_file as disk
spec = importlib.util.spec_from_file_location("stores", sys.argv[1])
stores = importlib.util.module_from_spec(spec); spec.loader.exec_module(stores)
whole = stores.stored(Path(sys.argv[2]) / "whole")
(whole / "vectors" / "words.bin").write_bytes(b"TITLEada1")
opened = disk.opened

def killed_at(n, folder):
    left = [n]
    def count(*_):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
    def watched(path, *, read_only):
        db = opened(path, read_only=read_only)
        db.set_trace_callback(count)
        return db
    disk.opened = watched
    rmtree = shutil.rmtree
    shutil.rmtree = lambda *a, **k: (count(), rmtree(*a, **k), count())
    stores.plan("ada", [folder]).carry_out()
    os._exit(0)

n = 0
while True:
    n += 1
    folder = Path(sys.argv[2]) / str(n)
    shutil.copytree(whole, folder)
    child = os.fork()
    if not child:
        killed_at(n, folder)
    if os.waitpid(child, 0)[1] == 0:
        break
    assert stores.plan("ada", [folder]).carry_out() == [], n
    assert b"ada" not in stores.content(folder), n
    assert stores.plan("ada", [folder]).items == [], n
    assert len(stores.held(folder)) == 4, n
print(n)
"""


def test_what_a_run_still_reads_is_told_and_the_next_call_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.journal_file._WAIT_S", 0.01)
    folder = stored(tmp_path / "store")
    found = plan("ada", [tmp_path])
    run = Journal(folder, read_only=True, utc_anchor_ns=0)
    (left,) = found.carry_out()
    assert left.path.name == "journal.sqlite"
    assert "a run reads it" in left.why
    assert [user for user, _ in held(folder)] == ["bob"] * 4  # who opens it now sees nothing of them
    assert len(list(run.entries("ada"))) == 4
    keep_counts(run, "user", 0, {"ada": Counts()})  # made of what the run sees, after the forgetting
    (again,) = plan("ada", [tmp_path]).items
    assert [one.why for one in again.apply()] == [left.why]
    keep_counts(run, "user", 0, {"ada": Counts()})
    run.close()
    assert b"TITLEada1" in content(folder)
    (again,) = plan("ada", [tmp_path]).items
    assert again.said == "what was forgotten earlier, out of its files"
    assert plan("ada", [tmp_path]).carry_out() == []
    assert b"ada" not in content(folder)
    assert not (folder / "counts").exists()
    assert plan("ada", [tmp_path]).items == []


def test_whoever_writes_next_finishes_what_was_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stored(tmp_path / "store")
    with monkeypatch.context() as patch:
        patch.setattr("memory.journal_file.cleaned", lambda *_: "there is no room")
        (left,) = plan("ada", [tmp_path]).carry_out()
        assert left.why == "deleted, but not yet out of its files: there is no room"
    reader = Journal(folder, read_only=True, utc_anchor_ns=0)
    assert reader.unfinished
    reader.close()
    writer = Journal(folder, utc_anchor_ns=0)
    assert not writer.unfinished
    writer.close()
    assert b"ada" not in content(folder)
    assert plan("ada", [tmp_path]).items == []


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
