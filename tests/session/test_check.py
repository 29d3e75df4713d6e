"""Every fault of a session is found, counted and shown by example."""

from __future__ import annotations

import asyncio
import sqlite3
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from PIL import Image

from simulator.core.errors import InputError
from simulator.core.types import SECOND
from simulator.session.check import Finding, check, check_needs
from simulator.session.describe import describe
from simulator.session.reader import Reader
from simulator.session.scenario import plays
from simulator.session.schema import FILE_NAME
from simulator.session.store import Writer
from simulator.session.truth import Opportunity, Truth

S = SECOND
Spoil = Callable[[Path, sqlite3.Connection], object]


def _sound(folder: Path) -> Path:
    with Writer(folder, utc_anchor_ns=0) as writer:
        for tick in range(10):
            image = Image.new("RGB", (8, 6), (tick // 2, 0, 0))
            writer.add(
                tick=tick, captured_ns=tick * S, app_name="a", window_title="t", image=image, event_id=tick // 5 + 1
            )
        for n, llm in ((1, 0), (2, 1)):
            start = (n - 1) * 5 * S
            writer.event(id=n, start_ns=start, end_ns=start + 5 * S, is_llm_event=llm, app_name="a",
                         user_intention="Translation" if llm else None)  # fmt: skip
        writer.opportunity(id="o", opens_ns=S, closes_ns=5 * S, acted_ns=5 * S, intention="Translation")
    return folder


def _sql(statement: str) -> Spoil:
    return lambda folder, db: db.execute(statement)


def _image_file(folder: Path) -> Path:
    return min(p for p in (folder / "screenshots").rglob("*") if p.is_file())


def _bomb(folder: Path, db: sqlite3.Connection) -> None:
    body = b"IHDR" + struct.pack(">IIBBBBB", 65535, 65535, 8, 2, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body)) + b"\x00" * 99
    (folder / "bomb.png").write_bytes(bomb)
    db.execute("UPDATE screenshots SET file_path = 'bomb.png', file_hash = ? WHERE id = 3", (sha256(bomb).hexdigest(),))


def _truncate(folder: Path, db: sqlite3.Connection) -> None:
    file = _image_file(folder)
    file.write_bytes(file.read_bytes()[:20])


def _swap(folder: Path, db: sqlite3.Connection) -> None:
    Image.new("RGB", (8, 6), "white").save(_image_file(folder), "WEBP", lossless=True)


SPOILS: list[tuple[str, str, Spoil]] = [
    ("image_missing", "damage", lambda folder, db: _image_file(folder).unlink()),
    ("image_damaged", "damage", _truncate),
    ("image_hash", "damage", _swap),
    ("image_too_large", "damage", _bomb),
    ("image_size", "damage", _sql("UPDATE screenshots SET width = 9")),
    ("path", "damage", _sql("UPDATE screenshots SET file_path = '../x.png' WHERE id = 3")),
    ("path", "damage", _sql(r"UPDATE screenshots SET file_path = 'C:\x\y.png' WHERE id = 3")),
    ("time_backwards", "damage", _sql("UPDATE screenshots SET captured_ns = 0 WHERE id = 5")),
    ("time", "damage", _sql("UPDATE screenshots SET captured_ns = 'x' WHERE id = 5")),
    ("tick_twice", "warning", _sql("UPDATE screenshots SET tick = 3 WHERE id = 5")),
    ("gap_reversed", "damage", _sql("INSERT INTO gaps (from_tick, to_tick, reason) VALUES (30, 20, 'blank')")),
    ("row_in_gap", "warning", _sql("INSERT INTO gaps (from_tick, to_tick, reason) VALUES (3, 4, 'blank')")),
    ("event_reversed", "damage", _sql("UPDATE events SET end_ns = start_ns - 1 WHERE id = 2")),
    ("event_overlap", "warning", _sql("UPDATE events SET end_ns = end_ns + 5 WHERE id = 1")),
    ("event_unknown", "warning", _sql("DELETE FROM events WHERE id = 2")),
    ("conversation", "warning", _sql("UPDATE events SET conversation = '{' WHERE id = 2")),
    ("quality: under 3 s", "note", _sql("UPDATE events SET start_ns = end_ns - 2900000000 WHERE id = 2")),
    ("quality: no valid screenshot", "note", _sql("UPDATE screenshots SET event_id = 1")),
    ("quality: over 1 h", "note", _sql("UPDATE events SET end_ns = start_ns + 3601000000000 WHERE id = 2")),
    ("quality: assistance event with fewer than 3 screenshots", "note",
     _sql("UPDATE screenshots SET event_id = 1 WHERE id < 9")),
    ("window_reversed", "damage", _sql("UPDATE opportunities SET closes_ns = opens_ns")),
    ("window_outside", "damage", _sql("UPDATE opportunities SET opens_ns = 9e10, closes_ns = 1e12, acted_ns = NULL")),
    ("window_beyond", "damage", _sql("UPDATE opportunities SET closes_ns = 12e9")),
    ("acted_beyond", "damage", _sql("UPDATE opportunities SET acted_ns = 12e9")),
    ("acted_before", "damage", _sql("UPDATE opportunities SET acted_ns = 0")),
    ("window_overlap", "damage",
     _sql("INSERT INTO opportunities (id, opens_ns, closes_ns, intention) VALUES ('p', 2e9, 3e9, 'Translation')")),
    ("intention", "damage", _sql("UPDATE opportunities SET intention = 'Transslation'")),
    ("intention", "damage", _sql("UPDATE events SET user_intention = 'Cooking' WHERE id = 2")),
    ("mistyped", "damage", _sql("UPDATE opportunities SET opens_ns = 'x'")),
    ("mistyped", "damage", _sql("UPDATE screenshots SET window_title = x'00ff' WHERE id = 3")),
    ("mistyped", "damage", _sql("UPDATE opportunities SET query = x'00'")),
    ("mistyped", "damage", _sql("UPDATE opportunities SET weight = 'much'")),
    ("mistyped", "damage", _sql("UPDATE events SET start_ns = 1.5 WHERE id = 2")),
    ("unreadable", "damage", _sql("INSERT INTO gaps (from_tick, to_tick, reason) VALUES ('x', 20, 'blank')")),
    ("unreadable", "damage", _sql("UPDATE meta SET value = '1180591620717411303424' WHERE key = 'utc_anchor_ns'")),
    ("unreadable", "damage", _sql("UPDATE meta SET value = '1' WHERE key = 'period_ns'")),
    ("unreadable", "damage", _sql("UPDATE screenshots SET captured_ns = 1000000000000000 WHERE id = 10")),
    ("unreadable", "damage", _sql("PRAGMA user_version = -1")),
    ("time_jump", "damage", _sql("UPDATE screenshots SET captured_ns = 1000000000000000 WHERE id = 5")),
    ("not_utf8", "damage", _sql("UPDATE screenshots SET app_name = CAST(x'ff53' AS TEXT) WHERE id = 3")),
    ("path", "damage", _sql("UPDATE screenshots SET file_path = printf('%.5000c', 'p') WHERE id = 3")),
    ("image_damaged", "damage", _sql("UPDATE screenshots SET file_path = printf('%.400c', 'p') WHERE id = 3")),
    ("conversation", "warning", _sql("UPDATE events SET conversation = printf('%.200000c', '[') WHERE id = 2")),
    ("not_closed", "warning", _sql("UPDATE meta SET value = 'recording' WHERE key = 'state'")),
    ("orphan", "warning", lambda folder, db: (folder / "screenshots/x.webp").write_bytes(b"x")),
    ("half_written", "warning", lambda folder, db: (folder / "screenshots/x.part").write_bytes(b"x")),
    ("unreadable", "damage", _sql("DELETE FROM screenshots")),
]  # fmt: skip


def test_a_sound_session_has_no_fault(tmp_path: Path) -> None:
    assert check(_sound(tmp_path / "s")) == []


@pytest.mark.parametrize(("kind", "severity", "spoil"), SPOILS, ids=[f"{k}-{i}" for i, (k, _, _) in enumerate(SPOILS)])
def test_each_fault_is_found_with_an_example(tmp_path: Path, kind: str, severity: str, spoil: Spoil) -> None:
    folder = _sound(tmp_path / "s")
    db = sqlite3.connect(folder / FILE_NAME)
    spoil(folder, db)
    db.commit()
    db.close()
    found = {f.kind: f for f in check(folder)}
    assert kind in found, found
    assert found[kind].severity == severity
    assert found[kind].count >= 1


SECRET = "my-title"
MISTYPED = [
    "UPDATE screenshots SET app_name = CAST('my-title' AS BLOB)",
    "UPDATE screenshots SET window_title = CAST(x'6d792d7469746c65ff' AS TEXT) WHERE id = 4",
    "UPDATE screenshots SET text = CAST('my-title' AS BLOB) WHERE id = 4",
    "UPDATE screenshots SET file_path = CAST('my-title' AS BLOB) WHERE id = 4",
    "UPDATE screenshots SET file_path = printf('%.5000c', 'p') WHERE id = 4",
    "UPDATE screenshots SET captured_ns = 1000000000000000 WHERE id = 4",
    "UPDATE screenshots SET captured_ns = 1000000000000000 WHERE id = 10",
    "UPDATE gaps SET to_tick = 'my-title'",
    "UPDATE gaps SET to_tick = 9223372036854775807",
    "UPDATE gaps SET reason = x'00'",
    "UPDATE events SET start_ns = 'my-title' WHERE id = 2",
    "UPDATE opportunities SET acted_ns = 'my-title'",
    "UPDATE opportunities SET weight = 'my-title'",
    "UPDATE opportunities SET query = CAST('my-title' AS BLOB)",
    "UPDATE opportunities SET id = NULL",
    "INSERT OR REPLACE INTO meta VALUES ('period_ns', '99999999999999999999999999')",
    "INSERT OR REPLACE INTO meta VALUES ('end_ns', '1000000000000000')",
    "INSERT OR REPLACE INTO meta VALUES ('utc_anchor_ns', '1180591620717411303424')",
]


@pytest.mark.parametrize("statement", MISTYPED)
def test_what_the_check_calls_damage_a_run_refuses_and_no_title_is_printed(tmp_path: Path, statement: str) -> None:
    folder = _sound(tmp_path / "s")
    db = sqlite3.connect(folder / FILE_NAME)
    if "gaps" in statement:
        db.execute("INSERT INTO gaps (from_tick, to_tick, reason) VALUES (30, 40, 'blank')")
    db.execute(statement)
    db.commit()
    db.close()

    async def play() -> None:
        for one in plays([folder]):
            async for _ in one.source.snapshots():
                pass

    with pytest.raises(InputError) as caught:
        asyncio.run(play())
    assert SECRET not in str(caught.value)
    assert str(folder / FILE_NAME) in str(caught.value)
    found = check(folder)
    assert [f for f in found if f.severity == "damage"], found
    assert SECRET not in str(found)
    assert "dataset check" not in str(found)


def test_a_conversation_that_is_no_json_is_played_without_its_question(tmp_path: Path) -> None:
    folder = _sound(tmp_path / "s")
    with sqlite3.connect(folder / FILE_NAME) as db:
        db.execute("UPDATE events SET conversation = printf('%.200000c', '[') WHERE id = 2")
    db.close()
    assert plays([folder])[0].truth.assists[0].query is None


def test_rows_days_apart_are_sound_with_a_gap_between_them(tmp_path: Path) -> None:
    with Writer(tmp_path / "s") as writer:
        writer.add(tick=0, captured_ns=0, app_name="a", window_title="t")
        writer.gap(1, 899_999, "suspend")
        writer.add(tick=900_000, captured_ns=900_000 * S, app_name="a", window_title="t")
    assert check(tmp_path / "s") == []


def test_a_reader_closed_in_the_middle_of_its_rows_says_nothing(tmp_path: Path) -> None:
    with Reader(_sound(tmp_path / "s")) as reader:
        rows = reader.rows(("id",))
        next(rows)
    rows.close()  # type: ignore[attr-defined]


def test_needs_of_which_none_can_be_served_are_a_warning_and_one_that_can_is_enough() -> None:
    served = Opportunity("a", S, 5 * S, "Translation")
    short, unseen = replace(served, id="b", unservable="under 2 s"), replace(served, id="c", unservable="no snapshot")
    (told,) = check_needs(Truth("s", "u", 10 * S, opportunities=(short, unseen)))
    assert (told.severity, told.count, told.examples[0]) == ("warning", 2, "'b': 1 to 5 s, under 2 s")
    for needs in ((), (served,), (short, served)):
        assert check_needs(Truth("s", "u", 10 * S, opportunities=needs)) == []


def test_damage_comes_first_and_is_counted_by_rows(tmp_path: Path) -> None:
    folder = _sound(tmp_path / "s")
    _image_file(folder).unlink()
    (folder / "screenshots/x.webp").write_bytes(b"x")
    first, second = check(folder)
    assert isinstance(first, Finding)
    assert (first.kind, first.count, len(first.examples)) == ("image_missing", 2, 1), "two rows named that picture"
    assert second.kind == "orphan"


def test_a_session_is_described_in_numbers(tmp_path: Path) -> None:
    said = describe(_sound(tmp_path / "s"))
    assert (said["rows"], said["distinct_images"], said["rate_hz"], said["hours"]) == (10, 5, 1.0, 10 / 3600)
    assert said["apps"] == {"a": 10}
    assert (said["events"]["n"], said["events"]["assistance"], said["events"]["intentions"]) == (
        2,
        1,
        {"Translation": 1},
    )
    assert said["events"]["burstiness"] is None, "one assistance event says nothing of bursts"
