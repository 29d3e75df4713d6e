"""Releases: a new session of chosen columns that passes the check, and in which nothing private is found."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from simulator.cli import _call
from simulator.core.errors import InputError, UsageError
from simulator.core.types import SECOND
from simulator.privacy.release import SIDE_FILE, Options, _only_pixels, release
from simulator.screen.pixels import decode
from simulator.session.check import check
from simulator.session.reader import Reader
from simulator.session.schema import DDL
from simulator.session.store import Writer
from simulator.sources.side_files import load
from tests.privacy.study import START, WORD, record

STATES = {0: "passed", 1: "redacted", 2: None, 3: "passed"}


def _session(tmp_path: Path, states: dict[int, str | None] | None = None) -> Path:
    folder = tmp_path / "monday"
    record(folder, "sam", recorder="proact")
    db = sqlite3.connect(folder / "session.db")
    for part, state in (states or dict.fromkeys(range(4), "passed")).items():
        db.execute("UPDATE screenshots SET privacy_action = ? WHERE tick / 5 = ?", (state, part))
    db.commit()
    db.close()
    return folder


def _bytes(folder: Path) -> bytes:
    return b"".join(p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file())


@pytest.mark.parametrize("tier", ["public", "restricted"])
@pytest.mark.parametrize("titles", [None, "keep", "number", "drop"])
def test_a_release_is_sound_and_holds_no_text_read_from_pictures(tmp_path: Path, tier: Any, titles: Any) -> None:
    session = _session(tmp_path)
    before = _bytes(session)
    release(session, tmp_path / "out", Options(tier, titles))
    assert _bytes(session) == before
    assert [f for f in check(tmp_path / "out") if f.severity != "note"] == []
    assert f"{WORD} ocr".encode() not in _bytes(tmp_path / "out")
    assert (f"{WORD} title".encode() in _bytes(tmp_path / "out")) == (
        titles == "keep" or (tier, titles) == ("restricted", None)
    )
    assert not list(tmp_path.glob(".*"))


def test_a_public_release_holds_no_sentence_no_date_and_no_picture(tmp_path: Path) -> None:
    session = _session(tmp_path)
    db = sqlite3.connect(session / "session.db")
    db.execute("UPDATE screenshots SET scene_description = 'a form is filled in'")
    db.commit()
    db.close()
    made = release(session, tmp_path / "out", Options())
    content = _bytes(tmp_path / "out")
    for gone in (WORD, "sam", "monday", "dealer"):
        assert gone.encode() not in content.replace(b"same", b""), gone
    assert b"a form is filled in" in content
    assert not (tmp_path / "out" / "screenshots").exists()
    with Reader(tmp_path / "out") as reader:
        assert reader.header.utc_anchor_ns is None
        assert (reader.header.user, reader.header.session) == ("participant", "out")
        assert reader.fetch("SELECT COUNT(*) FROM screenshots WHERE wall_utc_ms NOT NULL OR pid NOT NULL") == [(0,)]
        assert reader.fetch("SELECT COUNT(*) FROM screenshots WHERE pixels_hash NOT NULL") == [(0,)]
        numbers = [t for (t,) in reader.rows(("window_title",))]
        assert numbers == [f"title {1 + i // 5}" for i in range(20)]
    assert made.removed["rows with OCR text"] == 20
    assert made.removed["texts: query"] == 2
    assert made.kept["rows"] == 20


def test_a_restricted_release_holds_the_reviewed_pictures_pixel_by_pixel(tmp_path: Path) -> None:
    session = _session(tmp_path, STATES)
    made = release(session, tmp_path / "out", Options("restricted", unreviewed="leave-out"))
    assert made.kept["pictures"] == 3
    assert made.removed["rows whose picture was left out"] == 5
    assert made.pictures == {"unreviewed": 1, "passed": 2, "redacted": 1}
    with Reader(session) as old, Reader(tmp_path / "out") as new:
        rows = zip(old.rows(("tick", "file_path")), new.rows(("tick", "file_path")), strict=True)
        for (tick, path), (same, copy) in rows:
            assert tick == same
            assert (copy is None) == (10 <= tick < 15)
            if copy is not None:
                assert decode(session / path).tobytes() == decode(tmp_path / "out" / copy).tobytes()
        assert new.header.utc_anchor_ns == START
        assert new.header.profile == {"occupation": f"{WORD} dealer"}
    assert check(tmp_path / "out") == [f for f in check(tmp_path / "out") if f.severity == "note"]


@pytest.mark.parametrize("tier", ["public", "restricted"])
def test_unreviewed_pictures_are_refused_unless_told(tmp_path: Path, tier: Any) -> None:
    session = _session(tmp_path, STATES)
    with pytest.raises(InputError, match="1 picture is not reviewed"):
        release(session, tmp_path / "out", Options(tier))
    assert not (tmp_path / "out").exists()
    release(session, tmp_path / "out", Options(tier, unreviewed="leave-out"))
    assert (tmp_path / "out" / "DATASHEET.md").exists()


def test_they_can_be_accepted_but_never_in_public(tmp_path: Path) -> None:
    session = _session(tmp_path, STATES)
    with pytest.raises(UsageError, match="never public"):
        release(session, tmp_path / "out", Options("public", unreviewed="accept"))
    made = release(session, tmp_path / "out", Options("restricted", unreviewed="accept"))
    assert made.kept["pictures"] == 4


def test_what_a_file_of_a_picture_holds_besides_pixels_does_not_come_along(tmp_path: Path) -> None:
    session = _session(tmp_path)
    with Reader(session) as reader:
        (path,) = next(reader.rows(("file_path",)))
    with Image.open(session / path) as image:
        exif = image.getexif()
        exif[0x010E] = "pemba exif"
        image.save(session / "x.webp", lossless=True, exif=exif)
    content = (session / "x.webp").read_bytes()
    assert not _only_pixels((session / "x.webp").read_bytes())
    assert _only_pixels((session / path).read_bytes())
    assert not _only_pixels((session / path).read_bytes() + b"pemba")
    (session / "x.webp").replace(session / path)
    assert b"pemba" in content
    db = sqlite3.connect(session / "session.db")
    db.execute("UPDATE screenshots SET file_hash = NULL, file_size = ? WHERE file_path = ?", (len(content), path))
    db.commit()
    db.close()
    release(session, tmp_path / "out", Options("restricted"))
    assert b"pemba" not in _bytes(tmp_path / "out")


def test_texts_that_are_kept_go_through_the_rules(tmp_path: Path) -> None:
    session = _session(tmp_path)
    db = sqlite3.connect(session / "session.db")
    said = json.dumps({"user_queries": ["write to jane.doe@example.org please"]})
    db.execute("UPDATE events SET conversation = ? WHERE id = 2", (said,))
    db.execute("UPDATE screenshots SET window_title = 'Mail to jane.doe@example.org - Mail' WHERE tick = 3")
    db.execute("UPDATE screenshots SET window_title = 'Sam@host: ~/sample' WHERE tick = 4")
    db.commit()
    db.close()
    made = release(session, tmp_path / "out", Options("restricted"))
    assert b"jane.doe" not in _bytes(tmp_path / "out")
    assert sum(made.found.values()) >= 2
    with Reader(tmp_path / "out") as reader:
        assert ("participant@host: ~/sample",) in list(reader.rows(("window_title",)))
        ((conversation,),) = reader.fetch("SELECT conversation FROM events WHERE id = 2")
    assert json.loads(conversation)["user_queries"][0].startswith("write to [")


def test_only_columns_that_are_named_come_along(tmp_path: Path) -> None:
    """A column of a later version, filled with a private text in every table, is in no release."""
    session = _session(tmp_path)
    db = sqlite3.connect(session / "session.db")
    for table in ("screenshots", "events", "opportunities", "labels", "gaps", "masks", "notes"):
        db.execute(f"ALTER TABLE {table} ADD COLUMN later TEXT DEFAULT 'pemba'")
    db.execute("CREATE TABLE later (words TEXT)")
    db.execute("INSERT INTO later VALUES ('pemba')")
    db.execute("INSERT INTO gaps (from_tick, to_tick, reason, detail) VALUES (20, 21, 'locked', 'pemba')")
    db.execute("INSERT INTO meta VALUES ('later', 'pemba')")
    db.commit()
    db.close()
    for tier in ("public", "restricted"):
        release(session, tmp_path / tier, Options(tier))
        assert b"pemba" not in _bytes(tmp_path / tier)
    assert "CREATE TABLE masks" in DDL


def test_the_side_file_is_one_that_import_reads(tmp_path: Path) -> None:
    release(_session(tmp_path), tmp_path / "out", Options(user="p7"))
    remarks = load([tmp_path / "out" / SIDE_FILE])
    assert [(r.user, r.event, r.intention) for r in remarks] == [
        ("p7", 1, None), ("p7", 2, "Translation"), ("p7", 3, None)]  # fmt: skip


def test_the_datasheet_says_what_was_taken_out(tmp_path: Path) -> None:
    release(_session(tmp_path, STATES), tmp_path / "out", Options(unreviewed="leave-out"))
    page = (tmp_path / "out" / "DATASHEET.md").read_text()
    for said in ("Tier: public", "| rows | 20 |", "| rows with OCR text | 20 |", "| terminal | 20 |",
                 "| unreviewed | 1 |", "cannot find names and faces"):  # fmt: skip
        assert said in page
    assert "Terms of use" in (tmp_path / "out" / "LICENSE.txt").read_text()


def test_a_session_that_is_not_closed_or_is_damaged_is_refused(tmp_path: Path) -> None:
    with Writer(tmp_path / "live") as writer:
        writer.add(tick=0, captured_ns=0)
        with pytest.raises(InputError, match="being recorded"):
            release(tmp_path / "live", tmp_path / "out", Options())
    session = _session(tmp_path)
    next(session.rglob("*.webp")).unlink()
    with pytest.raises(InputError, match="it is damaged"):
        release(session, tmp_path / "out", Options())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["live", "monday"]


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    session = _session(tmp_path)
    with pytest.raises(UsageError, match="is not empty"):
        release(session, session, Options())


def test_a_release_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = _session(tmp_path)

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("simulator.privacy.release.datasheet", full)
        with pytest.raises(UsageError, match="there is no room left on the disk"):
            release(session, tmp_path / "out", Options("restricted"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["monday"]
    release(session, tmp_path / "out", Options("restricted"))


def test_the_command_releases_and_the_result_plays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = _session(tmp_path)
    licence = tmp_path / "terms.txt"
    licence.write_text("Only on Sundays.")
    words = ["dataset", "release", str(session), str(tmp_path / "out"), "--tier", "restricted", "--json"]
    assert _call([*words, "--licence", str(licence)]) == 0
    out = capsys.readouterr().out
    assert WORD not in out
    done = json.loads(out.splitlines()[-1])
    assert (done["tier"], done["kept"]["rows"]) == ("restricted", 20)
    assert (tmp_path / "out" / "LICENSE.txt").read_text() == "Only on Sundays."
    assert _call(["dataset", "check", str(tmp_path / "out")]) == 0
    with Reader(tmp_path / "out") as reader:
        assert reader.header.end_ns == 20 * SECOND
