"""Looking through a damaged session ends in one sentence, and leaves the session as it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from simulator.cli import _call
from simulator.privacy import scan
from simulator.privacy.states import Shelf
from tests.privacy.study import WORD, record


class _Blind:
    name = "blind"

    def words(self, image: Image.Image) -> list[Any]:
        return []


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(scan, "readings", lambda language: [_Blind(), _Blind()])
    record(tmp_path / "s", "sam", n=12)
    return tmp_path / "s"


def _looked_through(session: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What scan, queue and closing of a review say of copies of a session; each has to end with 2."""
    said = []
    for n, words in enumerate((["scan"], ["review"], ["review", "--close"], ["status"])):
        copy = session.parent / str(n) / "s"
        shutil.copytree(session, copy)
        before = (copy / "session.db").read_bytes()
        code = _call(["dataset", "privacy", words[0], str(copy), *words[1:], "--json"])
        out, err = capsys.readouterr()
        if words != ["status"] or code:  # it counts, and need not look at all
            assert code == 2, words
            said.append(" ".join(err.split()))
        assert WORD not in out + err
        assert (copy / "session.db").read_bytes() == before
        assert not [p.name for p in copy.iterdir() if p.name not in ("session.db", "screenshots")]
    return said


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("tick", "'zanzibar'", "an integer, and it is a text"),
        ("captured_ns", "x'ff00'", "an integer, and it is a blob"),
        ("monitor", "1.5", "an integer, and it is a number with a fraction"),
        ("file_path", "x'ff00'", "a text, and it is a blob"),
        ("window_title", "CAST('zanzibar' AS BLOB)", "a text, and it is a blob"),
        ("scene_description", "x'00'", "a text, and it is a blob"),
    ],
)
def test_a_value_of_another_kind_is_one_sentence_with_its_row(
    session: Path, column: str, value: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    db = sqlite3.connect(session / "session.db")
    db.execute(f"UPDATE screenshots SET {column} = {value} WHERE id = 3")
    db.commit()
    db.close()
    for sentence in _looked_through(session, capsys):
        assert f"screenshots row 3, {column}: must be {words}" in sentence


def test_what_a_review_has_noted_is_looked_at_too(session: Path) -> None:
    with Shelf(session) as shelf:
        (path, *_) = [picture.path for picture in shelf.pictures()]
        shelf.decide(path, "blur", [(1, 2, 3, 4)])
    db = sqlite3.connect(session / "session.db")
    db.execute("UPDATE privacy_decisions SET boxes = '[[['")
    db.commit()
    db.close()
    assert _call(["dataset", "privacy", "review", str(session), "--json"]) == 2
    assert _call(["dataset", "privacy", "review", str(session), "--close"]) == 2


@pytest.mark.parametrize("length", [100, 5000, 9000, 16000])
def test_a_file_cut_short_is_one_sentence(session: Path, length: int, capsys: pytest.CaptureFixture[str]) -> None:
    os.truncate(session / "session.db", length)
    assert all("damaged" in sentence for sentence in _looked_through(session, capsys))


def test_pages_of_noise_are_told_wherever_they_lie(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Or do not matter; none ends in a traceback."""
    sound = (session / "session.db").read_bytes()
    for page in range(1, len(sound) // 4096):
        copy = session.parent / "noise" / str(page)
        shutil.copytree(session, copy)
        (copy / "session.db").write_bytes(sound[: page * 4096] + b"\xa5" * 4096 + sound[(page + 1) * 4096 :])
        codes = [_call(["dataset", "privacy", *w, str(copy)]) for w in (["scan"], ["review", "--close"])]
        assert set(codes) <= {0, 2}, page
        assert WORD not in capsys.readouterr().err
