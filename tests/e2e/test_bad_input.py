"""Bad input: one clear sentence, the right exit code, no traceback, nothing lost; what is good is still played."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from simulator.cli import _call
from simulator.session.scenario import plays
from simulator.session.store import Writer

pytestmark = pytest.mark.e2e

LOOKS = '''"""An agent that looks at every picture."""

from simulator import SILENT
from simulator.screen.pixels import decode


class Looks:
    async def decide(self, observation):
        decode(observation.snapshot.image.path)
        return SILENT
'''


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "looks.py").write_text(LOOKS, encoding="utf-8")
    return tmp_path


def _pictured(folder: Path) -> list[Path]:
    """Four snapshots with two pictures."""
    with Writer(folder, session="s", user="u") as writer:
        for i in range(4):
            colour = (10, 20, 30) if i < 2 else (200, 100, 50)
            writer.add(tick=i, captured_ns=i * 10**9, app_name="x", image=Image.new("RGB", (8, 6), colour))
    return sorted((folder / "screenshots").rglob("*.webp"))


def _scenario(folder: Path, make_session: Callable[..., Path], opportunities: str, more: str = "") -> Path:
    make_session(folder / "session")
    text = f"session: session\n{more}truth:\n  opportunities:\n{opportunities}"
    (folder / "scenario.yaml").write_text(text, encoding="utf-8")
    return folder / "scenario.yaml"


def _bytes(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in folder.rglob("*")
        if p.is_file()
    }


def _said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = _call([str(word) for word in words])
    said = capsys.readouterr()
    assert "Traceback" not in said.err + said.out
    return code, said.out, said.err


RUN = ("--agent", "silent", "--memory", "none", "--out", "o", "--json")

WINDOWS = {
    "unknown intention": (
        "    - {opens_s: 1, closes_s: 5, intention: Translaton}\n",
        "truth.opportunities[0].intention: 'Translaton': unknown intention; did you mean 'Translation'?",
    ),
    "reversed": (
        "    - {opens_s: 5, closes_s: 1, intention: Translation}\n",
        "truth.opportunities[0]: '5 to 1 s': the window must close after it opens",
    ),
    "overlapping": (
        "    - {opens_s: 1, closes_s: 5, intention: Translation}\n"
        "    - {opens_s: 4, closes_s: 9, intention: Translation}\n",
        "truth.opportunities: two windows of Translation overlap: 1 to 5 s and 4 to 9 s; join them",
    ),
    "outside": (
        "    - {opens_s: 50, closes_s: 60, intention: Translation}\n",
        "truth.opportunities[0]: '50 to 60 s': the window must open within the session (0 to 20 s)",
    ),
    "beyond the end": (
        "    - {opens_s: 5, closes_s: 300, intention: Translation}\n",
        "truth.opportunities[0].closes_s: '300 s': this lies after the recording, which ends at 20 s",
    ),
    "NaN": (
        "    - {opens_s: .nan, closes_s: 5, intention: Translation}\n",
        "truth.opportunities[0].opens_s: 'nan': should be a finite number",
    ),
    "unknown key": (
        "    - {opens_s: 1, closes_s: 5, intention: Translation, wieght: 2}\n",
        "truth.opportunities[0].wieght: unknown key; did you mean 'weight'?",
    ),
}


@pytest.mark.parametrize("fault", list(WINDOWS))
def test_a_fault_of_a_scenario_is_one_sentence_that_names_file_field_and_value(
    here: Path, make_session: Callable[..., Path], capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    text, sentence = WINDOWS[fault]
    file = _scenario(here / "case", make_session, text)
    before = _bytes(here)
    assert _said(capsys, "run", "case", *RUN)[:2] == (2, "")
    code, _, err = _said(capsys, "run", "case", *RUN)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith(f"proact: {file.relative_to(here)}: {sentence}")
    code, out, _ = _said(capsys, "dataset", "check", "case", "--json")
    records = [json.loads(line) for line in out.splitlines()]
    assert (code, records[-1]) == (2, {"event": "done", "checked": 2, "damaged": 1})
    assert sentence in records[0]["findings"][0]["sentence"]
    assert _bytes(here) == before


def test_a_scenario_whose_needs_nobody_can_serve_is_played_and_warned_of(
    here: Path, make_session: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _scenario(here / "case", make_session, "    - {opens_s: 1, closes_s: 2, intention: Translation}\n")
    code, out, _ = _said(capsys, "dataset", "check", "case", "--json")
    (odd,) = json.loads(out.splitlines()[0])["findings"]
    assert (code, odd["severity"], odd["examples"]) == (0, "warning", ["'o0': 1 to 2 s, under 2 s"])
    code, out, _ = _said(capsys, "dataset", "check", "case")
    assert code == 0
    assert "warning  all needs are unservable" in out
    assert _said(capsys, "run", "case", *RUN)[0] == 0


def test_a_top_level_key_that_is_unknown_is_told_with_the_nearest(
    here: Path, make_session: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _scenario(
        here / "case", make_session, "    - {opens_s: 1, closes_s: 5, intention: Translation}\n", "polcy: latest_only\n"
    )
    code, _, err = _said(capsys, "run", "case", *RUN)
    assert (code, err.splitlines()[0].partition("; known")[0]) == (
        2,
        "proact: case/scenario.yaml: polcy: unknown key; did you mean 'policy'? known: "
        + err.partition("known: ")[2].splitlines()[0],
    )


def test_a_torn_last_line_of_a_history_names_the_line(
    here: Path, make_session: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _scenario(
        here / "case",
        make_session,
        "    - {opens_s: 1, closes_s: 5, intention: Translation}\n",
        "history: [history.jsonl]\n",
    )
    line = json.dumps({"start_s": -100, "end_s": -50, "app": "x", "title": "t"})
    (here / "case" / "history.jsonl").write_text(f"{line}\n{line[:20]}", encoding="utf-8")
    code, _, err = _said(capsys, "run", "case", *RUN)
    assert code == 2
    assert "history.jsonl" in err
    assert "line 2" in err
    assert err.count("\n") == 1


def test_a_database_of_0_bytes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "s").mkdir()
    (here / "s" / "session.db").write_bytes(b"")
    said = "s/session.db: the file is empty (0 bytes); nothing was recorded in it"
    assert _said(capsys, "run", "s", *RUN) == (2, "", f"proact: {said}\n")
    code, out, _ = _said(capsys, "dataset", "check", "s")
    assert code == 2
    assert said in " ".join(out.split())
    code, out, err = _said(capsys, "dataset", "describe", "s", "--json")
    assert (code, err) == (2, f"proact: {said}\n")
    assert [json.loads(line)["event"] for line in out.splitlines()] == ["unreadable", "done"]


def test_an_empty_session(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Writer(here / "s").close()
    assert _said(capsys, "run", "s", *RUN) == (
        2,
        "",
        "proact: s/session.db: the session is empty: it holds no snapshot\n",
    )
    assert _said(capsys, "dataset", "check", "s")[0] == 2


@pytest.mark.parametrize(
    ("value", "word"), [("1", "time runs backwards here"), ("'noon'", "integer"), ("4.5", "integer")]
)
def test_time_that_is_no_time_or_runs_backwards_ends_the_unit_and_keeps_what_came_before(
    here: Path, make_session: Callable[..., Path], capsys: pytest.CaptureFixture[str], value: str, word: str
) -> None:
    make_session(here / "s")
    db = sqlite3.connect(here / "s" / "session.db")
    db.execute(f"UPDATE screenshots SET captured_ns = {value} WHERE tick = 12")
    db.commit()
    db.close()
    code, _, err = _said(capsys, "run", "s", *RUN)
    assert code == 2
    told = [line for line in err.splitlines() if "screenshots row 13, captured_ns" in line]
    assert len(told) == 1
    assert word in told[0]
    assert json.loads((here / "o" / "run.json").read_text())["status"] == "some_units_erred"
    code, out, _ = _said(capsys, "dataset", "check", "s")
    assert code == 2
    assert "row 13" in out


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE screenshots SET window_title = CAST(x'6d792d7469746c65ff' AS TEXT) WHERE id = 12", "not UTF-8"),
        ("UPDATE screenshots SET window_title = CAST('my-title' AS BLOB) WHERE id = 12", "window_title"),
        ("UPDATE screenshots SET captured_ns = 1000000000000000000 WHERE id = 12", "over 7 days"),
        ("INSERT INTO gaps (from_tick, to_tick, reason) VALUES ('my-title', 3, 'locked')", "gaps row 1, from_tick"),
        ("PRAGMA user_version = -1", "version -1, which no proact wrote"),
    ],
)
def test_a_value_of_the_wrong_kind_is_one_sentence_and_no_title_is_printed(
    here: Path, make_session: Callable[..., Path], capsys: pytest.CaptureFixture[str], sql: str, said: str
) -> None:
    make_session(here / "s")
    db = sqlite3.connect(here / "s" / "session.db")
    db.execute(sql)
    db.commit()
    db.close()
    code, out, err = _said(capsys, "run", "s", *RUN)
    assert (code, said in err, "my-title" in out + err, "Exception ignored" in err) == (2, True, False, False)
    code, out, err = _said(capsys, "dataset", "check", "s", "--json")
    assert (code, err, "my-title" in out, "dataset check" in out) == (2, "", False, False)


def test_a_missing_picture_is_an_error_of_the_decision_that_looked_and_of_no_other(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pictures = _pictured(here / "s")
    pictures[0].unlink()
    assert _said(capsys, "run", "s", *RUN)[0] == 0  # nobody looked
    code, out, _ = _said(capsys, "run", "s", "--agent", "looks.py:Looks", "--memory", "none", "--out", "l", "--json")
    tally = json.loads(out.splitlines()[1])["tally"]
    assert (code, tally["decisions"], tally["errors"]) == (0, 4, 2)
    log = (here / "l" / "units" / "s" / "decisions.jsonl").read_text()
    assert "cannot be read" in log or "no such" in log or "there is no" in log
    code, out, _ = _said(capsys, "dataset", "check", "s")
    assert code == 2
    assert "rows name a picture that is not there (2)" in out


def _enormous(path: Path) -> None:
    """A PNG whose head claims 65,536 x 65,536 pixels of three bytes: 12 GiB, in some 60 bytes."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", 65536, 65536, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )


def test_a_picture_that_claims_to_be_enormous_is_never_decoded(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Writer(here / "s", session="s", user="u") as writer:
        (here / "s" / "screenshots").mkdir()
        _enormous(here / "s" / "screenshots" / "bomb.png")
        for i in range(3):
            writer.add(tick=i, captured_ns=i * 10**9, file_path="screenshots/bomb.png")
    code, out, _ = _said(capsys, "run", "s", "--agent", "looks.py:Looks", "--memory", "none", "--out", "l", "--json")
    tally = json.loads(out.splitlines()[1])["tally"]
    assert (code, tally["decisions"], tally["errors"]) == (0, 3, 3)
    code, out, _ = _said(capsys, "dataset", "check", "s")
    assert code == 2
    assert "a picture claims to be enormous (3)" in out
    bombs = here / "images"
    bombs.mkdir()
    _enormous(bombs / "a.png")
    Image.new("RGB", (8, 6)).save(bombs / "b.png")
    code, out, err = _said(
        capsys, "dataset", "import", "images", "imported", "--format", "folder", "--timezone", "UTC", "--json"
    )
    assert code == 0
    assert err == ""
    assert "the picture claims 65536 x 65536 pixels" in out


def test_a_damaged_database_is_told_and_not_changed(
    here: Path, make_session: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    file = make_session(here / "s", 400) / "session.db"
    whole = file.read_bytes()
    file.write_bytes(whole[:8192] + bytes(4096) + whole[12288:])
    before = _bytes(here)
    code, _, err = _said(capsys, "run", "s", *RUN)
    assert code == 2
    assert "damaged" in err
    assert _said(capsys, "dataset", "check", "s")[0] == 2
    assert {k: v for k, v in _bytes(here).items() if not k.startswith("o/")} == before
    file.write_bytes(b"not a database" * 20)
    assert _said(capsys, "run", "s", *RUN[:-3], "--out", "p")[2] == (
        "proact: s/session.db: this is not an SQLite database, or its head is damaged\n"
    )


def test_a_scenario_is_described_by_the_session_it_plays_and_a_faulty_one_keeps_no_other_from_it(
    here: Path, make_session: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    make_session(here / "s")
    (here / "case").mkdir()
    (here / "case" / "scenario.yaml").write_text("session: ../s\n", encoding="utf-8")
    (here / "bad.yaml").write_text("sesion: s\n", encoding="utf-8")
    for place in ("case", "case/scenario.yaml"):
        code, out, _ = _said(capsys, "dataset", "describe", place, "s", "--json")
        records = [json.loads(line) for line in out.splitlines()]
        assert (code, [r["event"] for r in records], records[0]["rows"]) == (0, ["described", "pooled", "done"], 20)
    code, out, err = _said(capsys, "dataset", "describe", "bad.yaml", "case", "--json")
    events = [json.loads(line)["event"] for line in out.splitlines()]
    assert (code, events) == (2, ["unreadable", "described", "pooled", "done"])
    assert "bad.yaml: sesion: unknown key; did you mean 'session'?" in err
    (here / "empty").mkdir()
    code, _, err = _said(capsys, "dataset", "describe", "empty")
    assert (code, "neither a session (session.db) nor a scenario (scenario.yaml)" in err) == (2, True)


def test_checking_many_tells_of_each(
    here: Path, make_session: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    make_session(here / "many" / "good")
    (here / "many" / "bad").mkdir()
    (here / "many" / "bad" / "session.db").write_bytes(b"")
    code, out, err = _said(capsys, "dataset", "check", "many", "--json")
    records = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (2, "")
    assert [(r["path"], r["damaged"]) for r in records[:-1]] == [("many/bad", True), ("many/good", False)]
    assert _said(capsys, "dataset", "check", "many/good")[0] == 0
    code, _, err = _said(capsys, "dataset", "check", "many/nothing")
    assert (code, err) == (2, "proact: many/nothing: there is no such file or folder\n")


def test_what_an_import_left_half_done_is_neither_checked_nor_described_nor_played(
    here: Path, make_session: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    make_session(here / "many" / "good")
    make_session(here / "many" / ".good.part")
    (here / "many" / "case").mkdir()
    (here / "many" / "case" / "scenario.yaml").write_text("sesion: s\n", encoding="utf-8")
    for command, told in (("check", {"many/good", "many/case/scenario.yaml"}), ("describe", {"many/good"})):
        _, out, _ = _said(capsys, "dataset", command, "many", "--json")
        records = [json.loads(line) for line in out.splitlines()]
        assert {r["path"] for r in records[:-1] if r["event"] in ("checked", "described")} == told
    (here / "many" / "case" / "scenario.yaml").unlink()
    assert [play.where for play in plays([here / "many"])] == [here / "many" / "good"]


def test_an_import_of_nothing_readable_is_one_sentence(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "lt.db").write_bytes(b"")
    code, out, err = _said(capsys, "dataset", "import", "lt.db", "imported", "--timezone", "Asia/Shanghai", "--json")
    assert (code, out) == (2, "")
    assert err == "proact: lt.db: the file is empty (0 bytes); nothing was recorded in it\n"
    assert not (here / "imported").exists()


@pytest.mark.parametrize(
    ("option", "value", "word"),
    [
        ("--timezone", "Mars/Olympus", "an IANA name"),
        ("--split", "1.5", "a share from 0 to below 1"),
        ("--split", "nan", "a share from 0 to below 1"),
        ("--rate", "0", "above 0"),
        ("--stretch-gap", "5", "not a duration"),
        ("--format", "lifetrac", 'Did you mean "lifetrace"?'),
        ("--times", "mtim", 'Did you mean "mtime"?'),
    ],
)
def test_an_impossible_option_of_an_import_is_one_sentence(
    here: Path, capsys: pytest.CaptureFixture[str], option: str, value: str, word: str
) -> None:
    (here / "images").mkdir()
    Image.new("RGB", (8, 6)).save(here / "images" / "a.png")
    zone = () if option == "--timezone" else ("--timezone", "UTC")
    code, out, err = _said(capsys, "dataset", "import", "images", "imported", *zone, option, value)
    assert (code, out) == (2, "")
    assert word in err
    assert err.count("\n") == 1


def test_no_control_sequence_of_a_file_reaches_the_terminal(proact: Any, tmp_path: Path) -> None:
    """What a file says of itself is not trusted on a terminal."""
    folder = tmp_path / "evil"
    with Writer(folder, session="\x1b[31mred\x1b[0m", user="u\x07") as writer:
        writer.add(tick=0, captured_ns=0, app_name="\x1b]0;title\x07", window_title="x")
    for words in (
        ("run", "evil", "--agent", "silent", "--memory", "none", "--out", "o"),
        ("dataset", "describe", "evil"),
    ):
        done = proact(*words)
        assert done.code == 0, done.err
        assert "\x1b" not in done.out + done.err
        assert "\x07" not in done.out + done.err
