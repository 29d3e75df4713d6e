"""A scan redacts a session: what was private is gone from pictures, texts and disk, and the rest is as it was."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from simulator.core.errors import InputError, UsageError
from simulator.privacy.rules import load_rules
from simulator.privacy.scan import Options, Report, scan
from simulator.privacy.standing import standing
from simulator.privacy.states import Shelf, State
from simulator.screen.ocr import OcrFailed, Word
from simulator.screen.pixels import decode, pixels_hash
from simulator.session.check import check
from simulator.session.store import Writer
from tests.privacy.desk import CARD, CLEAN, EMAIL, IBAN, NOTE, SECRETS, Exact, readings, record, screen

ROOT = Path(__file__).resolve().parents[2]
RULES = load_rules()


def rows(folder: Path, columns: str = "file_path, privacy_action") -> list[tuple[object, ...]]:
    with sqlite3.connect(folder / "session.db") as db:
        return db.execute(f"SELECT {columns} FROM screenshots ORDER BY id").fetchall()


def pictures(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in (folder / "screenshots").rglob("*") if p.is_file()}


def assert_nothing_private_is_left(folder: Path) -> None:
    reader = Exact()
    for path in pictures(folder):
        read = " ".join(word.text for word in reader.words(decode(folder / path)))
        assert not any(secret in read for secret in SECRETS), path
    for file in folder.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert not any(secret.encode() in content for secret in SECRETS), file.name


def damage(folder: Path) -> list[str]:
    return [f"{f.sentence}: {f.examples}" for f in check(folder) if f.severity == "damage"]


def scanned(folder: Path, options: Options | None = None, **blind: tuple[str, ...]) -> Report:
    return scan(folder, readings(**blind), RULES, options)


def test_pictures_and_texts_hold_nothing_private_any_more(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    report = scanned(folder)
    assert_nothing_private_is_left(folder)
    assert check(folder) == [f for f in check(folder) if f.severity == "note"]
    assert pictures(folder) == {str(path) for path, _ in rows(folder)}
    assert (report.n_pictures, report.n_looked, report.n_redacted, report.n_passed, report.n_waiting) == (7, 7, 5, 2, 0)
    assert report.n_texts == 5
    assert report.n_ocr_texts == 3
    assert report.n_spread >= 1
    assert report.found["iban"] >= 3


def test_rows_stay_in_their_places_and_untouched_pictures_stay_as_they_were(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    before = rows(folder, "id, tick, captured_ns, app_name, file_path, file_hash, pixels_hash")
    scanned(folder)
    after = rows(folder, "id, tick, captured_ns, app_name, file_path, file_hash, pixels_hash")
    assert [row[:4] for row in before] == [row[:4] for row in after]
    for tick in (0, 7, 8, 9):
        assert before[tick] == after[tick]
    for tick in (1, 2, 3, 4, 5, 6):
        assert before[tick][4:] != after[tick][4:]


def test_a_redacted_picture_differs_in_its_boxes_only_and_its_row_says_what_it_is(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    scanned(folder)
    path, digest, size, width, height, action, text = rows(
        folder, "file_path, pixels_hash, file_size, width, height, privacy_action, text"
    )[2]
    image = decode(folder / str(path))
    assert pixels_hash(image) == digest
    assert (folder / str(path)).stat().st_size == size
    assert (image.width, image.height) == (width, height)
    assert (action, text) == (State.REDACTED, None)
    different = np.argwhere((np.asarray(image) != np.asarray(screen(IBAN, NOTE))).any(axis=2))
    assert different[:, 0].min() >= 50
    assert different[:, 0].max() <= 90


def test_what_one_reading_overlooks_the_other_finds(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    scanned(folder, first=(IBAN,), second=(EMAIL, CARD))
    assert_nothing_private_is_left(folder)


def test_half_a_number_is_found_by_the_letters_of_the_whole(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    scanned(folder)
    half = decode(folder / str(rows(folder)[1][0]))
    assert half.crop((40, 64, 100, 74)).getcolors() == [(60 * 10, (128, 128, 128))]


def test_a_dry_run_changes_no_picture_and_no_text_and_the_next_scan_need_not_look_again(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    before, files = rows(folder, "*"), pictures(folder)
    dry = scanned(folder, Options(dry=True))
    assert (rows(folder, "*"), pictures(folder)) == (before, files)
    assert dry.found["iban"] >= 2
    report = scanned(folder)
    assert (report.n_looked, report.n_known) == (0, 7)
    assert_nothing_private_is_left(folder)


@pytest.mark.parametrize("keep_text", [False, True])
def test_a_dry_run_counts_the_texts_that_a_scan_would_change(tmp_path: Path, keep_text: bool) -> None:
    folder = record(tmp_path / "s")
    with sqlite3.connect(folder / "session.db") as db:
        db.execute("UPDATE screenshots SET text = ? WHERE tick IN (7, 9)", (f"read elsewhere: {EMAIL}",))
    before = rows(folder, "*")
    dry = scanned(folder, Options(dry=True, keep_text=keep_text))
    assert rows(folder, "*") == before
    real = scanned(folder, Options(keep_text=keep_text))
    assert (dry.n_texts, dry.n_ocr_texts) == (real.n_texts, real.n_ocr_texts) == ((6, 3) if keep_text else (5, 5))


def test_a_second_scan_changes_nothing(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    scanned(folder)
    before = rows(folder, "*")
    report = scanned(folder)
    assert (report.n_looked, report.n_redacted) == (0, 0)
    again = scanned(folder, Options(again=True))
    assert again.n_looked == again.n_pictures == 6  # the half number and the whole one are the same when filled
    assert rows(folder, "*") == before


def test_a_picture_of_a_window_with_a_private_title_waits_for_a_person(tmp_path: Path) -> None:
    folder = record(tmp_path / "s", titles={7: "Online Banking - browser", 8: "Online Banking - browser"})
    report = scanned(folder)
    assert report.waiting == {"window: banking": 1}
    assert rows(folder)[7][1] == State.UNREVIEWED
    assert standing(folder)["waiting"] == {"window: banking": 1}


def test_what_a_screener_found_serious_waits_for_a_person(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    with sqlite3.connect(folder / "session.db") as db:
        db.execute("UPDATE screenshots SET privacy_level = 'high/retain: health' WHERE tick IN (7, 8)")
        db.execute("UPDATE screenshots SET privacy_level = 'low/retain' WHERE tick IN (0, 9)")
    assert scanned(folder).waiting == {"screener: high/retain: health": 1}


def test_only_what_is_sure_is_filled_when_asked_so_and_the_rest_waits(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    doubtful = load_rules(_own(tmp_path, "patterns: [{kind: place, pattern: 'nothing to see', sure: false}]"))
    report = scan(folder, readings(), doubtful, Options(only_sure=True))
    assert report.waiting["doubtful"] >= 1
    assert_nothing_private_is_left(folder)
    with Shelf(folder) as shelf:
        assert {box.kind for boxes in shelf.boxes(filled=False).values() for box in boxes} == {"place"}


def test_names_that_a_user_gives_are_filled(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    scan(folder, readings(), load_rules(_own(tmp_path, "words: [async noise]")))
    assert rows(folder)[7][1] == State.REDACTED
    assert not any(CLEAN in " ".join(w.text for w in Exact().words(decode(folder / p))) for p in pictures(folder))


def test_ocr_text_is_kept_clean_where_that_is_asked_for(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    scanned(folder, Options(keep_text=True))
    # a redacted picture's text goes with it; that of others is cleaned
    assert [row[0] for row in rows(folder, "text")] == [None] * 10
    assert_nothing_private_is_left(folder)


def test_a_conversation_stays_json(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    scanned(folder)
    with sqlite3.connect(folder / "session.db") as db:
        ((conversation, title),) = db.execute("SELECT conversation, window_title FROM events").fetchall()
    assert json.loads(conversation)["user_queries"] == ["is [iban] right"]
    assert title == "Inbox of [email]"


class Failing(Exact):
    def words(self, image: Image.Image) -> list[Word]:
        raise OcrFailed("cannot")


def test_a_picture_that_cannot_be_read_waits_and_is_tried_again(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    report = scan(folder, [Exact("first"), Failing("second")], RULES)
    assert report.waiting["could not be read"] == report.n_waiting == 7
    again = scan(folder, [Exact("first"), Exact("second")], RULES)
    assert (again.n_looked, again.n_waiting) == (7, 0)
    assert_nothing_private_is_left(folder)


def test_a_damaged_picture_waits_and_does_not_end_the_scan(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    path = str(rows(folder)[6][0])
    (folder / path).write_bytes(b"RIFF no picture")
    report = scanned(folder)
    assert report.waiting == {"could not be read": 1}
    assert report.n_redacted == 4


def test_pictures_outside_of_the_session_are_left_alone_and_rows_name_a_redacted_copy(tmp_path: Path) -> None:
    folder, other = tmp_path / "s", tmp_path / "elsewhere.png"
    screen(CARD).save(other)
    with Writer(folder) as writer:
        writer.add(tick=0, captured_ns=0, file_path="../elsewhere.png")
    before = other.read_bytes()
    assert scanned(folder).n_outside == 1
    assert other.read_bytes() == before
    ((path, action),) = rows(folder)
    assert action == State.REDACTED
    assert str(path).startswith("screenshots/")
    assert_nothing_private_is_left(folder)


def test_a_session_that_is_being_recorded_is_refused(tmp_path: Path) -> None:
    with Writer(tmp_path / "s") as writer:
        writer.add(image=screen(CARD), tick=0, captured_ns=0)
        with pytest.raises(InputError, match="being recorded"):
            scanned(tmp_path / "s")


def test_two_scans_at_once_are_refused(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    with Shelf(folder), pytest.raises(UsageError, match="another program has this session open"):
        scanned(folder)
    scanned(folder)


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    with pytest.raises(InputError, match="disk is full"), Shelf(folder):
        raise sqlite3.OperationalError("database or disk is full")
    scanned(folder)
    assert_nothing_private_is_left(folder)


def test_others_can_read_the_session_while_it_is_scanned(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    seen = []
    scan(folder, readings(), RULES, step=lambda word: seen.append(damage(folder)))
    assert seen
    assert not any(seen)
    assert {p.name for p in folder.iterdir()} == {"session.db", "screenshots"}


def test_an_error_names_no_text(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    (folder / "session.db").write_bytes((folder / "session.db").read_bytes()[:9000])
    with pytest.raises(InputError) as caught:
        scanned(folder)
    assert not any(secret in str(caught.value) for secret in SECRETS)


def test_a_picture_that_had_passed_is_filled_when_a_neighbour_says_later_what_it_shows(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    scanned(folder, first=(IBAN,), second=(IBAN,))
    assert rows(folder)[1][1] == State.PASSED
    with Shelf(folder) as shelf:
        for picture in shelf.pictures():
            if picture.tick in (2, 4):
                shelf.settle(picture.path, State.UNREVIEWED)
                shelf.keep_look(picture.path, "older", [])
    scanned(folder)
    assert rows(folder)[1][1] == State.REDACTED
    assert_nothing_private_is_left(folder)


def test_rules_leave_alone_what_a_person_has_retained(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")
    kept = rows(folder)[6][0]
    with Shelf(folder) as shelf:
        shelf.settle(str(kept), State.PASSED, by_person=True)
    scanned(folder, Options(again=True))
    assert rows(folder)[6] == (kept, State.PASSED)


class Killed(BaseException):
    pass


def _steps(folder: Path) -> int:
    n = 0

    def count(word: str) -> None:
        nonlocal n
        n += 1

    scan(folder, readings(), RULES, step=count)
    return n


def test_stopped_at_any_step_it_goes_on_and_ends_the_same(tmp_path: Path) -> None:
    whole = record(tmp_path / "whole", ticks=(1, 2, 6))
    steps = _steps(whole)
    expected = rows(whole, "tick, file_path, pixels_hash, privacy_action, window_title, text")
    assert steps == 12
    for stop in range(steps):
        folder = record(tmp_path / f"s{stop}", ticks=(1, 2, 6))
        left = stop

        def step(word: str) -> None:
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1

        with pytest.raises(Killed):
            scan(folder, readings(), RULES, step=step)
        assert damage(folder) == []
        scanned(folder)
        assert rows(folder, "tick, file_path, pixels_hash, privacy_action, window_title, text") == expected
        assert pictures(folder) == pictures(whole)
        assert damage(folder) == []
        assert_nothing_private_is_left(folder)


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from simulator.privacy.rules import load_rules
    from simulator.privacy.scan import scan
    from tests.privacy.desk import readings

    left = int(sys.argv[2])

    def step(word):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    scan(Path(sys.argv[1]), readings(), load_rules(), step=step)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
@pytest.mark.parametrize("stop", [1, 2, 3])
def test_killed_between_the_steps_nothing_is_lost_and_nothing_private_stays(tmp_path: Path, stop: int) -> None:
    folder = record(tmp_path / "s")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(folder), str(stop)], cwd=ROOT, check=False,
        capture_output=True,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert damage(folder) == []
    scanned(folder)
    assert damage(folder) == []
    assert pictures(folder) == {str(path) for path, _ in rows(folder)}
    assert_nothing_private_is_left(folder)


def test_status_tells_of_old_files_that_a_kill_has_left(tmp_path: Path) -> None:
    folder = record(tmp_path / "s")

    def step(word: str) -> None:
        if word == "committed":
            raise Killed

    with pytest.raises(Killed):
        scan(folder, readings(), RULES, step=step)
    assert standing(folder)["removals"] == 1
    with Shelf(folder) as shelf:
        assert shelf.n_removed == 1
    assert standing(folder)["removals"] == 0


def _own(folder: Path, text: str) -> Path:
    file = folder / "own.yaml"
    file.write_text(text, encoding="utf-8")
    return file
