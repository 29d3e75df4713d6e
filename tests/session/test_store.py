"""Writing a session, surviving a crash, and reading without leaving a trace."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from PIL import Image

from simulator.core.errors import InputError
from simulator.core.types import SECOND
from simulator.screen import pixels
from simulator.session.check import check
from simulator.session.reader import Reader
from simulator.session.schema import APPLICATION_ID, FILE_NAME, VERSION
from simulator.session.store import Writer

RED, BLUE = (Image.new("RGB", (8, 6), colour) for colour in ("red", "blue"))


def _record(folder: Path) -> Writer:
    writer = Writer(folder, session="monday", user="ada", zone="Europe/Berlin", utc_anchor_ns=1_760_000_000 * SECOND)
    for tick, image in enumerate([RED, RED, BLUE, RED]):
        writer.add(tick=tick, captured_ns=tick * SECOND, app_name="Code.exe", window_title="k.py", image=image)
    return writer


def _files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_one_file_a_distinct_picture_and_one_row_a_tick(tmp_path: Path) -> None:
    with _record(tmp_path / "s") as writer:
        writer.gap(4, 9, "suspend")
        writer.set_profile({"job": "engineer"})
    with Reader(tmp_path / "s") as reader:
        header = reader.header
        rows = list(reader.rows(("file_path", "pixels_hash", "width", "file_hash")))
    assert (header.session, header.user, header.zone, header.state, header.n_rows) == (
        "monday",
        "ada",
        "Europe/Berlin",
        "closed",
        4,
    )
    assert header.profile == {"job": "engineer"}
    assert [(g.start_ns, g.end_ns) for g in header.gaps] == [(4 * SECOND, 10 * SECOND)]
    assert len({path for path, *_ in rows}) == 2
    path, digest, width, _ = rows[0]
    assert path == f"screenshots/{digest[:2]}/{digest}.webp"
    assert width == 8
    assert pixels.pixels_hash(pixels.decode(tmp_path / "s" / path)) == digest == pixels.pixels_hash(RED)
    assert check(tmp_path / "s") == []


def test_a_closed_session_is_one_plain_file_marked_as_ours(tmp_path: Path) -> None:
    _record(tmp_path / "s").close()
    assert not list((tmp_path / "s").glob("session.db-*"))
    head = (tmp_path / "s" / FILE_NAME).read_bytes()[:100]
    assert int.from_bytes(head[68:72], "big") == APPLICATION_ID
    assert int.from_bytes(head[60:64], "big") == VERSION


def test_reading_changes_nothing_and_needs_no_write_permission(tmp_path: Path) -> None:
    _record(tmp_path / "s").close()
    before = _files(tmp_path / "s")
    (tmp_path / "s").chmod(0o500)
    try:
        with Reader(tmp_path / "s") as reader:
            assert len(list(reader.rows())) == 4
        check(tmp_path / "s")
    finally:
        (tmp_path / "s").chmod(0o700)
    assert _files(tmp_path / "s") == before


def test_a_session_can_be_read_while_it_is_recorded(tmp_path: Path) -> None:
    writer = _record(tmp_path / "s")
    with Reader(tmp_path / "s") as reader:
        assert (reader.header.state, reader.header.n_rows) == ("recording", 4)
    writer.close()


def _crash(tmp_path: Path) -> Path:
    """A copy of a session as a killed recorder leaves it: log not folded in, state recording."""
    writer = _record(tmp_path / "live")
    shutil.copytree(tmp_path / "live", tmp_path / "dead")
    writer.close()
    return tmp_path / "dead"


def test_after_a_crash_everything_acknowledged_is_there(tmp_path: Path) -> None:
    dead = _crash(tmp_path)
    with Writer(dead) as writer:
        assert writer.recovery is not None
        assert writer.recovery.n_rows_kept == 4
        assert "4 rows kept, 0 dropped" in writer.recovery.sentence
        writer.add(tick=9, captured_ns=9 * SECOND, image=BLUE)
    with Reader(dead) as reader:
        assert (reader.header.state, reader.header.n_rows, reader.header.user) == ("recovered", 5, "ada")


def test_recovery_drops_rows_without_their_picture_and_pictures_without_a_row_and_says_so(tmp_path: Path) -> None:
    dead = _crash(tmp_path)
    red = dead / f"screenshots/{(d := pixels.pixels_hash(RED))[:2]}/{d}.webp"
    blue = dead / f"screenshots/{(d := pixels.pixels_hash(BLUE))[:2]}/{d}.webp"
    blue.write_bytes(blue.read_bytes()[:-5])
    (red.parent / "orphan.webp").write_bytes(b"x")
    (red.parent / "new.webp.part").write_bytes(b"x")
    with Writer(dead) as writer:
        found = writer.recovery
    assert found is not None
    assert (found.n_rows_kept, found.n_rows_without_image, found.n_rows_with_damaged_image) == (3, 0, 1)
    assert (found.n_orphans_removed, found.n_parts_removed) == (2, 1), "the damaged picture has no row left either"
    assert found.examples == [f"{blue.relative_to(dead).as_posix()}: damaged"]
    assert [p for p in (dead / "screenshots").rglob("*") if p.is_file()] == [red]
    assert [f.kind for f in check(dead)] == ["recovered"]


def test_a_closed_session_is_not_written_to(tmp_path: Path) -> None:
    _record(tmp_path / "s").close()
    before = _files(tmp_path / "s")
    with pytest.raises(InputError, match="this session is closed"):
        Writer(tmp_path / "s")
    assert _files(tmp_path / "s") == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no such file"),
        (b"", r"the file is empty \(0 bytes\)"),
        (b"hello", "not an SQLite database"),
        (b"SQLite format 3\x00" + b"\x01" * 30, "its head is damaged"),
    ],
)
def test_what_is_no_database_is_told_in_a_sentence(tmp_path: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(InputError, match=said):
        Reader(tmp_path)


def test_a_foreign_database_and_a_newer_version_are_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / FILE_NAME
    db = sqlite3.connect(file)
    db.execute("CREATE TABLE screenshots (id INTEGER)")
    db.commit()
    with pytest.raises(InputError, match="proact dataset import"):
        Reader(tmp_path)
    with pytest.raises(InputError, match="not a session of proact"):
        Writer(tmp_path)
    db.execute(f"PRAGMA application_id={APPLICATION_ID}")
    db.execute(f"PRAGMA user_version={VERSION + 1}")
    db.commit()
    db.close()
    with pytest.raises(InputError, match="written by a newer proact"):
        Reader(tmp_path)


def test_an_empty_session_and_a_torn_database_are_told_in_a_sentence(tmp_path: Path) -> None:
    Writer(tmp_path / "empty").close()
    with pytest.raises(InputError, match="it holds no snapshot"):
        Reader(tmp_path / "empty")
    with Writer(tmp_path / "torn") as writer:
        writer.add_rows(("tick", "captured_ns", "window_title"), [(t, t * SECOND, "x" * 200) for t in range(500)])
    file = tmp_path / "torn" / FILE_NAME
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(InputError, match="damaged"), Reader(tmp_path / "torn") as reader:
        list(reader.rows())
    assert next(f.severity for f in check(tmp_path / "torn")) == "damage"
