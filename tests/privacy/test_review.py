"""People decide; nothing changes until the review is closed, and then everything that was decided does."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import InputError
from simulator.privacy.review import Closed, Decision, close, decide, queue, read_decisions, record
from simulator.privacy.rules import load_rules
from simulator.privacy.scan import Options, scan
from simulator.privacy.standing import standing
from simulator.privacy.states import Shelf, State
from simulator.screen.pixels import decode
from simulator.session.check import check
from tests.privacy import desk
from tests.privacy.desk import CARD, CLEAN, NOTE, Exact, readings

RULES = load_rules()


def rows(folder: Path, columns: str = "file_path, privacy_action, scene_description") -> list[tuple[Any, ...]]:
    with sqlite3.connect(folder / "session.db") as db:
        return db.execute(f"SELECT {columns} FROM screenshots ORDER BY id").fetchall()


def seen(folder: Path, path: str) -> str:
    return " ".join(word.text for word in Exact().words(decode(folder / path)))


def closed(folder: Path, decisions: Sequence[Decision], *, neighbours: bool = False) -> Closed:
    with Shelf(folder) as shelf:
        decide(shelf, decisions)
        return close(shelf, neighbours=neighbours)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return desk.record(tmp_path / "s")


def test_all_pictures_wait_before_a_scan_and_none_after_it(folder: Path) -> None:
    with Shelf(folder) as shelf:
        assert [one.why for one in queue(shelf)] == [("not looked at",)] * 7
    scan(folder, readings(), RULES)
    with Shelf(folder) as shelf:
        assert queue(shelf) == []
        assert len(queue(shelf, everything=True)) == 6


def test_what_a_screener_said_is_told_before_a_scan_too(folder: Path) -> None:
    with sqlite3.connect(folder / "session.db") as db:
        db.execute("UPDATE screenshots SET privacy_level = 'high/blur: financial' WHERE id = 1")
        db.execute("UPDATE screenshots SET privacy_level = 'low/retain' WHERE id = 2")
    with Shelf(folder) as shelf:
        assert queue(shelf)[0].why == ("not looked at", "screener: high/blur: financial")
        assert queue(shelf)[1].why == ("not looked at",)


def test_a_decision_changes_nothing_until_the_review_is_closed(folder: Path) -> None:
    before = rows(folder, "*")
    files = sorted(folder.rglob("*.webp"))
    paths = [row[0] for row in rows(folder)]
    with Shelf(folder) as shelf:
        decide(shelf, [Decision(paths[6], "delete"), Decision(paths[7], "retain")])
        assert {one.decision for one in queue(shelf)} == {None, "delete", "retain"}
    assert (rows(folder, "*"), sorted(folder.rglob("*.webp"))) == (before, files)
    with Shelf(folder) as shelf:
        shelf.undo([number for number, *_ in shelf.decisions()])
        assert close(shelf).n_deleted == 0
    assert (rows(folder, "*"), sorted(folder.rglob("*.webp"))) == (before, files)


def test_a_retained_picture_has_passed_in_all_its_rows(folder: Path) -> None:
    path = rows(folder)[7][0]
    assert closed(folder, [Decision(path, "retain")]).n_retained == 1
    assert [row[1] for row in rows(folder)][7:9] == [State.PASSED, State.PASSED]
    assert rows(folder)[7][0] == path


def test_the_last_decision_of_a_picture_counts(folder: Path) -> None:
    path = rows(folder)[7][0]
    done = closed(folder, [Decision(path, "delete"), Decision(path, "retain")])
    assert (done.n_deleted, done.n_retained) == (0, 1)


def test_a_deleted_picture_leaves_its_rows_with_a_scene_and_no_text(folder: Path) -> None:
    path = rows(folder)[2][0]
    assert closed(folder, [Decision(path, "delete")]).n_deleted == 1
    assert not (folder / path).exists()
    for tick in (2, 3):
        assert rows(folder)[tick] == (None, State.DELETED, "A window (browser); the picture was deleted for privacy.")
        assert rows(folder, "text, file_hash, pixels_hash, file_size")[tick] == (None, None, None, None)
        assert rows(folder, "app_name, tick")[tick] == ("chromium", tick)
    assert [f for f in check(folder) if f.severity == "damage"] == []
    assert standing(folder)["deleted_rows"] == 2


def test_a_screeners_description_of_a_deleted_picture_stays(folder: Path) -> None:
    with sqlite3.connect(folder / "session.db") as db:
        db.execute("UPDATE screenshots SET scene_description = 'a form in a browser' WHERE tick = 6")
    closed(folder, [Decision(rows(folder)[6][0], "delete")])
    assert rows(folder)[6][2] == "a form in a browser"


def test_the_title_goes_too_where_it_was_what_was_private(tmp_path: Path) -> None:
    folder = desk.record(tmp_path / "s", titles={7: "Online Banking of Roe", 8: "Online Banking of Roe"})
    scan(folder, readings(), RULES)
    closed(folder, [Decision(rows(folder)[7][0], "delete")])
    assert rows(folder, "window_title")[7] == (None,)
    assert b"Online Banking" not in (folder / "session.db").read_bytes()


def test_to_blur_is_to_fill_the_given_boxes(folder: Path) -> None:
    path = rows(folder)[7][0]
    assert closed(folder, [Decision(path, "blur", ((0, 170, 960, 40),))]).n_blurred == 1
    new = rows(folder)[7][0]
    assert rows(folder)[7][1] == State.REDACTED
    assert new != path
    assert not (folder / path).exists()
    assert seen(folder, new) == ""
    assert decode(folder / new).crop((0, 0, 960, 170)).getcolors() == [(960 * 170, (250, 250, 250))]


def test_without_boxes_what_was_found_is_filled_and_else_all_of_it(folder: Path) -> None:
    scan(folder, readings(), RULES, Options(dry=True))
    closed(folder, [Decision(rows(folder)[6][0], "blur"), Decision(rows(folder)[7][0], "blur")])
    card, clean = decode(folder / rows(folder)[6][0]), decode(folder / rows(folder)[7][0])
    assert len(card.getcolors() or ()) == 2
    assert clean.getcolors() == [(960 * 480, (128, 128, 128))]


def test_what_a_person_marks_is_filled_in_the_pictures_around_too(folder: Path) -> None:
    scan(folder, readings(), RULES)
    path = rows(folder)[0][0]  # the note, which stands in most pictures
    done = closed(folder, [Decision(path, "blur", ((36, 176, 180, 24),))])
    assert done.n_spread >= 2
    for new, *_ in rows(folder):
        assert NOTE not in seen(folder, new)
    assert CLEAN in seen(folder, rows(folder)[7][0])
    assert [f for f in check(folder) if f.severity == "damage"] == []


def test_a_person_who_retains_a_neighbour_has_the_last_word(folder: Path) -> None:
    kept = rows(folder)[1][0]
    closed(folder, [Decision(rows(folder)[0][0], "blur", ((36, 176, 180, 24),)), Decision(kept, "retain")])
    assert rows(folder)[1][0] == kept


def test_pictures_nearly_the_same_as_a_deleted_one_wait_again(folder: Path) -> None:
    scan(folder, readings(), RULES)
    first = rows(folder)[0][0]
    done = closed(folder, [Decision(first, "delete")])
    assert done.n_like == done.n_waiting > 0
    with Shelf(folder) as shelf:
        assert {one.why for one in queue(shelf)} == {("like a deleted one",)}


def test_or_go_with_it_when_asked_to(folder: Path) -> None:
    scan(folder, readings(), RULES)
    done = closed(folder, [Decision(rows(folder)[0][0], "delete")], neighbours=True)
    assert done.n_deleted == 1 + done.n_like > 1
    assert done.n_waiting == 0


class Killed(BaseException):
    pass


def test_a_closing_that_is_killed_goes_on_at_the_next_call(tmp_path: Path) -> None:
    def decided(folder: Path) -> None:
        paths = [row[0] for row in rows(folder)]
        with Shelf(folder) as shelf:
            decide(shelf, [Decision(paths[0], "blur", ((36, 176, 180, 24),)), Decision(paths[6], "delete"),
                           Decision(paths[7], "retain")])  # fmt: skip

    whole = desk.record(tmp_path / "whole")
    decided(whole)
    steps: list[str] = []
    with Shelf(whole, step=steps.append) as shelf:
        close(shelf)
    expected = rows(whole)
    for stop in range(0, len(steps), 4):
        folder = desk.record(tmp_path / f"s{stop}")
        decided(folder)
        left = stop

        def step(word: str) -> None:
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1

        with pytest.raises(Killed), Shelf(folder, step=step) as shelf:
            close(shelf)
        assert [f for f in check(folder) if f.severity == "damage"] == []
        with Shelf(folder) as shelf:
            close(shelf)
            assert shelf.decisions() == []
        assert rows(folder) == expected
        assert not any(CARD in seen(folder, row[0]) for row in rows(folder) if row[0])


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_queue_file_with_decisions_filled_in_is_read_back(folder: Path, tmp_path: Path, suffix: str) -> None:
    from simulator.cli.privacy import _write_queue

    file = tmp_path / f"queue.{suffix}"
    scan(folder, readings(), RULES, Options(dry=True))
    with Shelf(folder) as shelf:
        lines = [record(one) for one in queue(shelf)]
        lines[0]["decision"], lines[2]["decision"] = "retain", "blur"
        _write_queue(file, lines)
        found = read_decisions(file, shelf)
        boxes = tuple((b.x, b.y, b.width, b.height) for b in queue(shelf)[2].boxes)
    assert found == [Decision(lines[0]["picture"], "retain"), Decision(lines[2]["picture"], "blur", boxes)]
    assert "Inbox" not in file.read_text(encoding="utf-8")


def test_a_picture_may_be_named_by_the_beginning_of_its_name(folder: Path, tmp_path: Path) -> None:
    path = rows(folder)[7][0]
    file = tmp_path / "d.jsonl"
    file.write_text(json.dumps({"picture": path.rsplit("/", 1)[-1][:10], "decision": "retain"}), encoding="utf-8")
    with Shelf(folder) as shelf:
        assert read_decisions(file, shelf) == [Decision(path, "retain")]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"picture": "nothing", "decision": "retain"}, "no picture of the session"),
        ({"decision": "retain"}, "no picture of the session"),
        ({"picture": "*", "decision": "blurr"}, "did you mean 'blur'"),
        ({"picture": "*", "decision": "blur", "boxes": [[0, 0, 9999, 5]]}, "960 x 480"),
        ({"picture": "*", "decision": "blur", "boxes": [[0, 0, -1, 5]]}, "960 x 480"),
        ({"picture": "*", "decision": "blur", "boxes": [[0, 0, "1", 5]]}, "960 x 480"),
        ({"picture": "*", "decision": "blur", "boxes": 5}, "960 x 480"),
        ({"picture": ["*"], "decision": "retain"}, "no picture of the session"),
        ([], "an object such as"),
    ],
)
def test_a_wrong_decision_is_one_sentence_with_its_line(folder: Path, tmp_path: Path, row: object, said: str) -> None:
    file = tmp_path / "d.jsonl"
    text = json.dumps(row).replace('"*"', json.dumps(rows(folder)[7][0]))
    file.write_text(f"\n{text}\n", encoding="utf-8")
    with Shelf(folder) as shelf, pytest.raises(InputError, match="line 2") as caught:
        read_decisions(file, shelf)
    assert said in str(caught.value)
