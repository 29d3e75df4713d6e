"""Forgetting by command: sessions, scenarios, histories, memories, runs, caches; what cannot be reached is told."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from scorers.feedback import Feedback, add, read
from simulator.cli import _call
from simulator.core.types import SECOND
from simulator.privacy.forget import plan
from simulator.privacy.span import Span
from simulator.runs.folder import digest, read_run, read_units
from simulator.session.ignored import hide_file
from simulator.session.scenario import plays
from tests.privacy.study import START, WORD, Home, make

AGENT = '''
from simulator.core.types import Decision, Offer, SILENT


class Parrot:
    """Says what it sees."""

    n = 0

    async def decide(self, observation):
        self.n += 1
        shown = observation.snapshot
        word = shown.title.split()[0]
        observation.meter.note(f"{word} as a note, not a word")
        observation.meter.note("plain_note")
        if self.n == 4:
            raise ValueError(f"cannot stand {shown.title}")
        if self.n % 3 == 0:
            return Decision((Offer("Translation", f"about {shown.title}", 0.5, f"thread of {shown.app}"),
                             Offer(f"{word} wish", "own intention", None, f"{word} thread")))
        if self.n % 5 == 0:
            return Decision(retracted=(f"{word} thread", "Translation"))
        return SILENT
'''


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("template")
    make(root)
    (root / "parrot.py").write_text(AGENT)
    words = ["--agent", f"{root / 'parrot.py'}:Parrot", "--clock", "modelled", "--latency", "fixed:100ms", "--twin"]
    assert _call(["run", str(root / "data"), *words, "--memory", "rag", "--out", str(root / "runs" / "both")]) in (0, 3)
    (root / "parrot.py").unlink()
    return root


@pytest.fixture
def home(tmp_path: Path, template: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    shutil.copytree(template, tmp_path / "home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "cache"))
    return Home(tmp_path / "home")


def _forget(home: Home, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = _call(["forget", "sam", "--in", str(home.root), "--json", *words])
    return code, json.loads(capsys.readouterr().out.splitlines()[-1])


def _unit(run: Path, user: str) -> Any:
    return next((key, log, truth) for key, log, truth in read_units(run) if log.header["user"] == user)


def test_a_planted_text_is_found_in_no_remaining_file(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    cached = home.root / "cache" / "proact" / "vectors.bin"
    cached.parent.mkdir(parents=True)
    cached.write_text(f"{WORD} cached")
    stored = home.root / "memory" / "past.jsonl"
    stored.parent.mkdir()
    lines = [{"event": {"user": u, "title": f"{w} stored"}, "label": None} for u, w in (("sam", WORD), ("kim", "fine"))]
    stored.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert len(home.files_with(WORD)) > 8
    assert home.files_with("sam", alone=True)
    code, done = _forget(home, capsys)
    assert (code, done["left"]) == (0, [])
    assert home.files_with(WORD) == []
    assert home.files_with("sam", alone=True) == []
    assert stored.read_text() == json.dumps(lines[1]) + "\n"
    assert {item["kind"] for item in done["items"]} == {
        "session", "history", "scenario", "run", "memory", "account", "cache"}  # fmt: skip


def test_what_is_not_theirs_stays_to_the_byte(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    kims = [p for p in home.root.rglob("*") if p.is_file() and ("kim" in p.parts or "tuesday" in p.parts)]
    before = {path: path.read_bytes() for path in kims}
    assert len(before) > 8
    _forget(home, capsys)
    assert {path: path.read_bytes() for path in kims} == before
    assert len(plays([home.root / "data"])) == 1


def test_numbers_of_a_forgotten_unit_stay_and_are_scored_as_before(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    run = home.root / "runs" / "both"
    _, log, truth = _unit(run, "sam")
    before = json.loads((run / "scores.json").read_text())["scores"]
    assert before["F1_rt"] is not None
    _forget(home, capsys)
    after = json.loads((run / "scores.json").read_text())["scores"]
    assert after == before
    key, kept, sparse = _unit(run, "forgotten")
    assert key.startswith("forgotten-")
    assert (kept.started_ns == log.started_ns).all()
    assert (kept.kind == log.kind).all()
    assert [o.opens_ns for o in sparse.opportunities] == [o.opens_ns for o in truth.opportunities]
    assert {o.query for o in sparse.opportunities} == {None}
    told = read_run(run)
    assert told["identity"] == digest(told["resolved"])
    assert _call(["score", str(run)]) == 0


def test_a_name_that_somebody_gave_a_recording_goes_and_a_hash_stays(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    run = home.root / "runs" / "both"
    key, log, _ = _unit(run, "sam")
    other = _unit(run, "kim")[1].header["recording"]
    file, said = run / "units" / key / "decisions.jsonl", log.header["recording"]
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(f'"{said}"', '"Monday of January","person":"one of us"'), encoding="utf-8")
    _forget(home, capsys)
    key, log, _ = _unit(run, "forgotten")
    assert (log.header["recording"], log.header["person"]) == (key, "forgotten")
    assert _unit(run, "kim")[1].header["recording"] == other
    assert not home.files_with("january")


def test_the_words_that_the_gate_goes_by_keep_their_sense(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    run = home.root / "runs" / "both"
    _, log, _ = _unit(run, "sam")
    _forget(home, capsys)
    _, kept, _ = _unit(run, "forgotten")
    threads = {o.thread: k.thread for o, k in zip(log.offers(), kept.offers(), strict=True)}
    assert len(set(threads.values())) == len(threads) == 2
    wishes = {(o.intention, k.intention) for o, k in zip(log.offers(), kept.offers(), strict=True)}
    assert ("Translation", "Translation") in wishes
    retracted = [set(kept.full[seq]["retracted"]) for seq, r in log.full.items() if r.get("retracted")]
    assert retracted[0] == {threads[f"{WORD} thread"], "Translation"}
    assert kept.end is not None
    assert kept.end["notes"]["plain_note"] > 1


def test_a_second_call_finds_nothing(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    _forget(home, capsys)
    code, done = _forget(home, capsys)
    assert (code, done["items"]) == (0, [])
    assert _call(["forget", "sam", "--in", str(home.root)]) == 0
    assert "nothing of 'sam' was found; there is something of kim" in capsys.readouterr().out


def test_a_dry_run_changes_nothing(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    before = {p: p.read_bytes() for p in home.root.rglob("*") if p.is_file()}
    code, done = _forget(home, capsys, "--dry-run")
    assert code == 0
    assert len(done["items"]) == 5
    assert {p: p.read_bytes() for p in home.root.rglob("*") if p.is_file()} == before


def test_a_stretch_goes_everywhere_and_the_rest_stays(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--from", "2026-10-26T07:33:29Z", "--to", "2026-10-26T07:33:31+00:00")
    span = Span(START + 9 * SECOND, START + 11 * SECOND)
    assert plan("sam", [home.root], span).items
    run = home.root / "runs" / "both"
    before = json.loads((run / "scores.json").read_text())["scores"]
    code, done = _forget(home, capsys, *words)
    assert (code, done["left"]) == (0, [])
    assert home.files_with(f"{WORD} ocr of 1")  # seconds 5 to 8
    session = json.loads(json.dumps([p.name for p in home.session.rglob("*.webp")]))
    assert len(session) == 4
    key, log, truth = _unit(run, "sam")
    said = {o.text: o.actionable_ns for o in log.offers()}
    assert all(at < 9 * SECOND for text, at in said.items() if WORD in text)
    assert any(text == "(forgotten)" for text in said)
    assert [o.query for o in truth.opportunities] == [f"{WORD} said", f"{WORD} said later"]
    assert json.loads((run / "scores.json").read_text())["scores"] == before
    assert not (run / "units" / key / "errors.txt").exists()
    assert plan("sam", [home.root], span).items == []


def test_what_was_said_of_offers_goes_with_them(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    run = home.root / "runs" / "both"
    key, log, _ = _unit(run, "sam")
    file = run / "units" / key / "feedback.jsonl"
    early, late = log.offers()[0], log.offers()[-1]
    assert early.actionable_ns < 9 * SECOND <= late.actionable_ns
    for offer, word in ((early, "kept"), (late, WORD)):
        add(file, Feedback(offer.seq, "accepted", "sam", None, f"{word} intention"))
    with file.open("a") as stream:
        stream.write(f'{{"seq": 1, "{WORD}')  # torn
    words = ("--from", "2026-10-26T07:33:29Z", "--to", "2026-10-26T07:33:31+00:00")
    assert _forget(home, capsys, *words)[0] == 0
    assert [said.seq for said in read(file) or ()] == [early.seq]
    assert WORD not in file.read_text()
    assert plan("sam", [home.root], Span(START + 9 * SECOND, START + 11 * SECOND)).items == []
    assert _forget(home, capsys)[0] == 0
    assert home.files_with("kept intention") == []


@pytest.mark.parametrize("words", [(), ("--from", "2026-10-26T07:33:29Z", "--to", "2026-10-26T07:33:31+00:00")])
def test_a_report_in_the_run_goes_and_what_keeps_it_out_of_git_is_proacts(
    home: Home, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    run = home.root / "runs" / "both"
    assert _call(["report", str(run)]) == 0
    assert hide_file(run / "report.html")  # as the command does where the recording is kept out of git
    code, done = _forget(home, capsys, *words)
    assert (code, done["left"]) == (0, [])
    assert not (run / "report.html").exists()


def test_needs_and_history_of_a_stretch_go(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    stretches = (Span(START + 2 * SECOND, START + 4 * SECOND), Span(START - 25 * SECOND, START - 15 * SECOND))
    for span in stretches:
        for item in plan("sam", [home.root], span).items:
            item.apply()
    assert home.files_with(f"{WORD} later title") == []
    assert home.files_with(f"{WORD} past title")
    (play,) = [p for p in plays([home.root / "data"]) if p.user == "sam"]
    assert [o.query for o in play.truth.opportunities] == [f"{WORD} said later"]
    _, _, truth = _unit(home.root / "runs" / "both", "sam")
    assert [o.query for o in truth.opportunities] == [None, f"{WORD} said later"]
    assert home.files_with(f"{WORD} in a comment") == []
    assert home.files_with(f"{WORD} profile")


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("span", [None, Span(START + 3 * SECOND, START + 12 * SECOND)])
def test_however_often_it_is_cut_short_the_last_call_ends_it(
    home: Home, span: Span | None, backwards: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call dies at a later replacement or removal of a file; the runs can be read in between. In which order a
    folder names its files is the file system's affair.
    """
    walk = os.walk
    monkeypatch.setattr(
        os,
        "walk",
        lambda *a, **k: ((at, inner, sorted(files, reverse=backwards)) for at, inner, files in walk(*a, **k)),
    )
    run = home.root / "runs" / "both"
    before = json.loads((run / "scores.json").read_text())["scores"]
    steps = 0
    while True:
        with monkeypatch.context() as patch:
            finished = _dies_at(patch, home, span, steps)
        steps += 1
        assert steps < 200
        if finished:
            break
    assert steps > 5
    words = () if span is None else ("--from", "2026-10-26T07:33:23Z", "--to", "2026-10-26T07:33:32Z")
    code, done = _forget(home, capsys, *words)
    assert (code, done["left"], done["items"]) == (0, [], [])
    assert _call(["score", str(run)]) == 0
    assert json.loads((run / "scores.json").read_text())["scores"] == before
    if span is None:
        assert home.files_with(WORD) == []
        assert len(read_units(run)) == 2


class _Kill(BaseException):
    pass


def _dies_at(patch: pytest.MonkeyPatch, home: Home, span: Span | None, step: int) -> bool:
    left = step
    for name in ("unlink", "replace"):
        done = getattr(Path, name)

        def counted(path: Path, *args: Any, done: Any = done, **more: Any) -> Any:
            nonlocal left
            if left == 0:
                raise _Kill
            left -= 1
            return done(path, *args, **more)

        patch.setattr(Path, name, counted)
    try:
        plan("sam", [home.root], span).carry_out()
    except _Kill:
        return False
    return True


def test_copies_in_files_of_others_are_told(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    (home.root / "export.txt").write_text(f"seen: {WORD} past query\n")
    (home.root / "export.json").write_text(json.dumps({"seen": f"{WORD} past query"}))
    (home.root / "clean.txt").write_text("nothing here")
    code, done = _forget(home, capsys)
    assert code == 2
    assert {Path(u["path"]).name for u in done["left"]} == {"export.txt", "export.json"}
    assert "holds 1 of the forgotten texts" in done["left"][0]["why"]


def test_a_history_that_others_share_is_told_and_left(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = home.other / "scenario.yaml"
    scenario.write_text("session: .\nhistory: [../../sam/history.jsonl]\ntruth: none\n")
    code, done = _forget(home, capsys)
    assert code == 2
    assert [Path(u["path"]).name for u in done["left"]] == ["history.jsonl"]
    assert "scenarios of kim name" in done["left"][0]["why"]


def test_a_history_that_nobody_names_is_told_of(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the account of an import it is that user's; elsewhere nobody can tell."""
    (home.session / "scenario.yaml").unlink()
    (home.root / "stray.csv").write_text("start,end,title\n-9,-8,somebody was here\n")
    code, done = _forget(home, capsys)
    assert not (home.root / "data" / "sam").exists()
    assert [Path(u["path"]).name for u in done["left"]] == ["stray.csv"]
    assert code == 0


def test_rows_of_a_shared_table_go_by_their_own_user(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    table = home.root / "data" / "both.csv"
    table.write_text(
        'start,end,title,user\r\n-9,-8,"zanzibar, quoted\nover two lines",sam\r\n-7,-6,"keeps, its ""quotes""",kim\r\n',
        newline="",
    )
    _forget(home, capsys)
    assert table.read_bytes() == b'start,end,title,user\r\n-7,-6,"keeps, its ""quotes""",kim\r\n'


def test_a_profile_among_several_goes_with_its_intents(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    (home.other / "scenario.yaml").write_text(
        "session: .\nprotocol: trajectory\nprofiles:\n  sam: {job: zanzibar}\n  kim: {job: fine}\n"
        "truth:\n  intents:\n    sam: [zanzibar wish]\n    kim: []\n"
    )
    code, _ = _forget(home, capsys)
    assert code == 0
    (play,) = plays([home.root / "data"])
    assert (play.key, play.profile["job"]) == ("tuesday@kim", "fine")


def test_a_run_that_is_being_played_is_told_and_left(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    from simulator.runs.lock import Lock

    lock = Lock(home.root / "runs" / "both")
    code, done = _forget(home, capsys)
    lock.release()
    assert code == 2
    assert "is being played" in next(one["why"] for one in done["left"] if one["path"].endswith("runs/both"))
    assert {item["kind"] for item in done["items"]} == {"account"}  # what it is played from stays, and what names that
    code, done = _forget(home, capsys)
    assert (code, done["left"]) == (0, [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from", "yesterday"), "--from: 'yesterday': a time with its zone"),
        (("--from", "2026-10-26T07:33:23"), "a time with its zone"),
        (("--from", "1min", "--to", "2min"), "--to is not after --from"),
        (("--in", "/no/such/folder"), "there is no such folder"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _call(["forget", "sam", "--in", str(tmp_path), *words]) == 2
    assert said in capsys.readouterr().err


def test_nothing_forgotten_is_printed(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert _call(["forget", "sam", "--in", str(home.root)]) == 0
    out, err = capsys.readouterr()
    assert WORD not in out + err
    assert "backups" in err


def test_a_log_that_cannot_be_read_goes_whole(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    run = home.root / "runs" / "both"
    log = run / "units" / "monday" / "decisions.jsonl"
    log.write_bytes(log.read_bytes() + b'{"kind": zanzibar\n{}\n')
    code, done = _forget(home, capsys)
    assert (code, done["left"]) == (0, [])
    assert home.files_with(WORD) == []
    assert [key for key, *_ in read_units(run)] == ["tuesday"]


def test_an_interrupted_run_is_forgotten_as_far_as_it_came(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    run = home.root / "runs" / "both"
    log = run / "units" / "monday" / "decisions.jsonl"
    log.write_bytes(log.read_bytes()[:-40])
    code, _ = _forget(home, capsys)
    assert code == 0
    assert home.files_with(WORD) == []
    assert not _unit(run, "forgotten")[1].complete


def test_a_recording_that_somebody_else_was_played_with_goes_from_their_run_too(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kim's agent looked at Sam's screen: what it said is of Sam."""
    twin = home.root / "twin.yaml"
    twin.write_text("session: data/sam/monday\nuser: kim\nname: twin\ntruth: none\n")
    (home.root / "parrot.py").write_text(AGENT)
    words = ["--agent", f"{home.root / 'parrot.py'}:Parrot", "--clock", "modelled", "--latency", "fixed:100ms"]
    assert _call(["run", str(twin), *words, "--memory", "none", "--out", str(home.root / "runs" / "twin")]) in (0, 3)
    (home.root / "parrot.py").unlink()
    assert any("runs/twin" in name for name in home.files_with(WORD))
    code, done = _forget(home, capsys)
    assert (code, done["left"]) == (0, [])
    assert home.files_with(WORD) == []
    assert not twin.exists()


def test_a_scenario_in_toml_is_told_and_left_where_it_would_have_to_be_changed(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    (home.root / "t.toml").write_text(
        'session = "data/kim/tuesday"\n[profiles]\nsam = {job = "x"}\nkim = {job = "y"}\n'
    )
    code, done = _forget(home, capsys)
    assert code == 2
    assert "proact writes no TOML" in done["left"][0]["why"]


def test_who_may_read_a_file_stays_as_it_was(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    table = home.root / "data" / "both.csv"
    table.write_text("start,end,title,user\n-9,-8,gone,sam\n-7,-6,stays,kim\n")
    table.chmod(0o640)
    _forget(home, capsys)
    assert table.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("words", [(), ("--from", "2026-10-26T07:33:29Z")])
def test_the_account_of_an_import_is_forgotten_as_imports_write_it(
    home: Home, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    shots = home.root / "shots"
    shots.mkdir()
    for n in range(2):
        Image.new("RGB", (8, 8), (n, 0, 0)).save(shots / f"2026-10-26_10-0{n}-00.png")
    there = ["--format", "folder", "--timezone", "UTC"]
    assert _call(["dataset", "import", str(shots), str(home.root / "new"), *there, "--user", "sam"]) in (0, 1)
    shutil.rmtree(shots)
    (file,) = (home.root / "new").rglob("import.json")
    told = json.loads(file.read_text())
    told["account"][0]["examples"] = [f"{WORD}.png"]
    file.write_text(json.dumps(told))
    _forget(home, capsys, *words)
    assert not any(name.startswith("new/") for name in home.files_with(f"{WORD}.png"))
    assert file.exists() == bool(words)
    if words:
        assert json.loads(file.read_text())["source"] == told["source"]


def test_the_account_of_a_split_goes_with_its_user(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    for user in ("sam", "kim"):
        (home.root / "parts" / user).mkdir(parents=True)
        told = {"source": "0", "user": user, "cuts_utc_ns": [1], "scenarios": []}
        (home.root / "parts" / user / "split.json").write_text(json.dumps(told))
    assert _forget(home, capsys)[0] == 0
    assert [path.name for path in (home.root / "parts").iterdir()] == ["kim"]
