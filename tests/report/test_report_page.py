"""One HTML file that holds a run."""

from __future__ import annotations

import json
import re
import shutil
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import _call
from simulator.core.errors import InputError
from simulator.play.comparing import Comparison, compare
from simulator.play.player import run
from simulator.play.scoring import open_folder, score_folder
from simulator.privacy.review import Decision, close, decide
from simulator.privacy.states import Shelf
from simulator.report import against, page
from simulator.report.facts import read_facts
from simulator.report.naming import name_of, told_by_name, without_folders
from simulator.report.page import make
from simulator.report.telling import telling
from simulator.session.ignored import hide
from simulator.session.reader import Reader

ROOT = Path(__file__).resolve().parents[2]
DESK = ROOT / "scenarios" / "desktop"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for memory in ("rag", "personas"):
        run([DESK], memory=memory, out=folder / memory, clock="modelled", latency="fixed:3s")
    return {memory: folder / memory for memory in ("rag", "personas")}


class _Strict(HTMLParser):
    """Collects tags and attributes, and checks that what opens is closed."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _parsed(html: str) -> _Strict:
    parser = _Strict()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


def test_a_report_is_one_small_file_that_asks_for_nothing(runs: dict[str, Path]) -> None:
    made = make([runs["rag"]])
    tags = _parsed(made.html).tags
    assert len(made.html.encode()) < 1_000_000
    assert made.n_frames == 0
    assert not [t for t, _ in tags if t in ("script", "link", "iframe", "object", "img")]
    assert not [a for _, a in tags for name in a if name in ("src", "href", "action") or name.startswith("on")]
    assert "url(" not in made.html


def test_it_holds_figures_timeline_configuration_and_caveats(runs: dict[str, Path]) -> None:
    html = make([runs["rag"]]).html
    told = json.loads((runs["rag"] / "run.json").read_text(encoding="utf-8"))
    for words in ("F1_rt", "timeline of desktop", "fixed:3s", told["identity"], told["host"]["python"], "modelled",
                  told["resolved"]["desktop"]["dataset"], "n: events a figure rests on"):  # fmt: skip
        assert words in html, words
    assert html.count("<svg") == 4  # latency, deadline, shares, one session


def test_few_are_few_events_and_an_interval_over_few_sessions_is_too_narrow(runs: dict[str, Path]) -> None:
    html = make([runs["rag"]]).html
    assert "n 4, few<" in html
    assert "few where under 10" in html
    interval = {"low": 0.1, "high": 0.9, "few": True}
    said = str(page._figure({"value": 0.5, "n": 334, "interval": interval}))
    assert ("(too narrow)" in said, "few" in said) == (True, False)


def test_the_same_runs_give_the_same_file(runs: dict[str, Path]) -> None:
    assert make([runs["rag"]], frames=2).html == make([runs["rag"]], frames=2).html


def test_several_runs_are_held_against_the_first(runs: dict[str, Path]) -> None:
    html = make(list(runs.values())).html
    assert "who got which right" in html
    assert "timeline of desktop, personas" in html


def test_what_can_be_compared_is_compared_at_once_as_p_is_over_all(
    runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    third = run([DESK], memory="none", out=tmp_path / "none", clock="modelled", latency="fixed:3s").folder
    elsewhere = run([ROOT / "scenarios" / "document"], memory="rag", out=tmp_path / "other").folder
    asked: list[list[Path]] = []

    def spied(paths: list[Path], *, force: bool) -> list[Comparison]:
        asked.append(paths)
        return compare(paths, force=force)

    monkeypatch.setattr(against, "compare", spied)
    html = make([*runs.values(), third]).html
    assert asked == [[*runs.values(), third]]
    assert "Holm over all 2 comparisons" in html
    html = make([*runs.values(), elsewhere, third]).html
    assert asked[-1] == [*runs.values(), third]
    assert html.count("Not compared:") == 1
    assert html.count(", paired over ") == 2


def test_what_cannot_be_compared_is_said_with_the_sentence_of_compare(runs: dict[str, Path], tmp_path: Path) -> None:
    other = run([ROOT / "scenarios" / "document"], memory="rag", out=tmp_path / "other").folder
    html = make([runs["rag"], other]).html
    assert "Not compared:" in html
    assert "they have no session in common" in html


def test_telling_moments_come_with_their_screens_and_their_story(runs: dict[str, Path]) -> None:
    made = make([runs["rag"]], frames=5)
    images = [a["src"] or "" for t, a in _parsed(made.html).tags if t == "img"]
    assert len(images) == made.n_frames == 5
    assert all(src.startswith("data:image/webp;base64,") for src in images)
    assert "a missed need" in made.html
    assert "the worst latency" in made.html
    assert "This report holds 5 pictures of a screen." in made.html


@pytest.fixture
def own(tmp_path: Path) -> tuple[Path, Path]:
    """A scenario of its own that may be changed, and a run over it."""
    shutil.copytree(DESK, tmp_path / "desk")
    found = run([tmp_path / "desk"], memory="none", out=tmp_path / "run", clock="modelled", latency="fixed:1s")
    return tmp_path / "desk", found.folder


def _pictures(html: str) -> set[str]:
    return {sha256(found.encode()).hexdigest() for found in re.findall(r"data:image/webp;base64,[^\"]+", html)}


def test_a_picture_that_is_to_be_deleted_does_not_come_back(own: tuple[Path, Path]) -> None:
    desk, folder = own
    assert _pictures(make([folder], frames=1).html)
    (first,) = telling(open_folder(folder), 1)
    with Reader(desk / "session") as reader:
        until = (reader.header.zero_ns + first.t_ns + reader.header.period_ns // 2,)
        ((path,),) = reader.stream(
            "SELECT file_path FROM screenshots WHERE captured_ns <= ? ORDER BY id DESC LIMIT 1", until
        )
    with Shelf(desk / "session") as shelf:
        decide(shelf, [Decision(path, "delete")])
    decided = make([folder], frames=1)
    assert not _pictures(decided.html)
    assert "a person decided that this picture is not shown" in decided.html
    with Shelf(desk / "session") as shelf:
        close(shelf)
    assert not _pictures(make([folder], frames=1).html)


def test_a_recording_that_is_gone_leaves_its_stories(own: tuple[Path, Path]) -> None:
    desk, folder = own
    shutil.rmtree(desk)
    made = make([folder], frames=3)
    assert made.n_frames == 0
    assert "the recording is not where the run had it" in made.html
    assert "a missed need" in made.html


def test_who_is_forgotten_leaves_no_report_in_a_run_folder(
    own: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    _, folder = own
    assert _call(["report", str(folder), "--with-frames", "1"]) == 0
    assert (folder / "report.html").exists()
    user = json.loads((folder / "run.json").read_text(encoding="utf-8"))["resolved"]["desktop"]["user"]
    assert _call(["forget", user, "--in", str(tmp_path), "--yes"]) in (0, 2)
    assert not (folder / "report.html").exists()
    assert not list(tmp_path.rglob("report.html"))


def test_a_report_of_a_hidden_recording_is_hidden_and_says_that_it_holds_pictures(
    own: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk, folder = own
    hide(desk / "session")
    assert _call(["report", str(folder), "--with-frames", "2", "--out", str(tmp_path / "out" / "r.html")]) == 0
    ignored = (tmp_path / "out" / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "/r.html" in ignored
    assert "This report holds 2 pictures of a screen." in capsys.readouterr().err
    (tmp_path / "out" / ".gitignore").write_text("*.pyc\n", encoding="utf-8")
    assert _call(["report", str(folder), "--with-frames", "2", "--out", str(tmp_path / "out" / "r.html")]) == 0
    assert "see to that yourself" in capsys.readouterr().err


def test_a_report_is_hidden_as_its_run_is_wherever_the_recording_went(own: tuple[Path, Path], tmp_path: Path) -> None:
    desk, folder = own
    assert not make([folder]).private
    shutil.rmtree(desk)
    hide(folder)
    assert make([folder]).private, "the run's own mark"
    (folder / ".gitignore").unlink()
    hide(tmp_path)
    assert make([folder]).private, "the mark of what it lies in, as of a sweep"


def test_a_report_tells_names_and_no_path(own: tuple[Path, Path], tmp_path: Path) -> None:
    _, folder = own
    file = folder / "run.json"
    told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    told["given"] |= {"agent": f"{tmp_path}/my agents/mine.py:Mine", "journal": "../anna/calls.jsonl"}
    told["resolved"]["desktop"]["latency"] = f"profile:{tmp_path}/slow.csv"
    told["identity"] = _digest(told["resolved"])
    file.write_text(json.dumps(told), encoding="utf-8")
    (folder / "scores.json").unlink()
    other = run([ROOT / "scenarios" / "document"], memory="rag", out=tmp_path / "other").folder
    for made in (make([folder]), make([folder, other], frames=1)):
        text = re.sub(r"data:image/webp;base64,[^\"]+", "", made.html)
        assert str(tmp_path) not in text
        assert tmp_path.name not in text
        assert str(ROOT) not in text
        assert "anna" not in text
        for name in ("mine.py:Mine", "calls.jsonl", "profile:slow.csv", "<td>desk</td>", "proact report run"):
            assert name in text, name
    score_folder(folder)
    shutil.rmtree(folder / "units")
    html = make([folder]).html
    assert "its logs cannot be read" in html
    assert tmp_path.name not in html


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("/home/anna/day", "day"),
        ("~/day and ~anna/x/day", "day and day"),
        ("'../a/b/log.jsonl', line 3", "'log.jsonl', line 3"),
        ("C:\\Users\\anna\\x.csv", "x.csv"),
        ("\\\\server\\share\\x.csv", "x.csv"),
        ("mine/agents.d/mine.py:Mine", "mine.py:Mine"),
        ("file:/srv/anna/x, file:///srv/anna/y", "file:x, file:///srv/anna/y"),
        ("org/model-1.5 at http://host:8000/v1", "org/model-1.5 at http://host:8000/v1"),
        ("F1 [0-1/h], 2 on_time / (surfaced + n), n/a, and/or", "F1 [0-1/h], 2 on_time / (surfaced + n), n/a, and/or"),
        ("<b>x</b> </script>, </think >", "<b>x</b> </script>, </think >"),
        ("in </home/anna/day>", "in <day>"),
        ("", ""),
    ],
)
def test_paths_become_names_and_what_is_no_path_stays(said: str, told: str) -> None:
    assert without_folders(said) == told


def test_a_file_at_fault_is_told_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "anna's own day" / "scenario.yaml"
    assert told_by_name(InputError(file, "a list is wanted", field="needs")) == (
        "anna's own day/scenario.yaml: needs: a list is wanted"
    )
    assert name_of(file.parent) == "anna's own day"


HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script>\x1b[31m\u202e\ud800" + "A" * 10_000


def test_hostile_words_are_words(own: tuple[Path, Path]) -> None:
    _, folder = own
    log = folder / "units" / "desktop" / "decisions.jsonl"
    run_file = folder / "run.json"
    text = log.read_text(encoding="utf-8")
    lines = text.splitlines()
    header = json.loads(lines[0])
    header["user"] = header["agent"] = HOSTILE
    lines[0] = json.dumps(header)
    spoiled = [re.sub(r'"text":"[^"]*"', lambda _: '"text":' + json.dumps(HOSTILE), line) for line in lines[1:]]
    log.write_text("\n".join([lines[0], *spoiled]) + "\n", encoding="utf-8")
    told: dict[str, Any] = json.loads(run_file.read_text(encoding="utf-8"))
    told["resolved"]["desktop"]["agent"] = told["given"]["agent"] = HOSTILE
    told["units"]["desktop"]["log_sha256"] = sha256(log.read_bytes()).hexdigest()
    told["identity"] = _digest(told["resolved"])
    run_file.write_text(json.dumps(told), encoding="utf-8")
    made = make([folder], frames=6)
    tags = _parsed(made.html).tags
    assert not [t for t, _ in tags if t == "script"]
    assert not [a for t, a in tags if t == "img" and not (a["src"] or "").startswith("data:")]
    assert "alert(1)" in made.html
    assert not {"\x1b", "\u202e", "\ud800"} & set(made.html)
    assert "A" * 2000 not in made.html


def _digest(resolved: Any) -> str:
    from simulator.runs.folder import digest

    return digest(resolved)


def test_two_hundred_sessions_stay_under_a_megabyte(runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    (facts,) = read_facts([runs["rag"]])
    assert facts.opened is not None
    unit, scores = facts.opened.units[0], dict(facts.scores)
    keys = [f"session-{i:03}" for i in range(200)]
    scores["units"] = dict.fromkeys(keys, scores["units"]["desktop"])
    told = {**facts.told, "resolved": dict.fromkeys(keys, facts.told["resolved"]["desktop"])}
    opened = replace(facts.opened, units=tuple(replace(unit, key=key) for key in keys))
    many = replace(facts, scores=scores, told=told, opened=opened)
    monkeypatch.setattr(page, "read_facts", lambda runs: [many])
    assert len(make([runs["rag"]]).html.encode()) < 1_000_000


def test_a_run_named_twice_and_a_folder_that_is_no_run_are_refused(
    runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _call(["report", str(runs["rag"]), str(runs["rag"])]) == 2
    assert _call(["report", str(tmp_path)]) == 2
    assert "not a run folder" in capsys.readouterr().err


def _row(html: str, name: str) -> str:
    return html.partition(f'<th scope="row">{name}</th>')[2].partition("</tr>")[0]


def test_counts_that_are_not_known_are_dashes_in_the_report_of_a_trajectory_and_of_a_killed_run(
    runs: dict[str, Path], own: tuple[Path, Path], tmp_path: Path
) -> None:
    walked = run([DESK / "trajectory.yaml"], memory="none", protocol="trajectory", out=tmp_path / "walked").folder
    assert _row(make([walked]).html, "opportunities") == "<td>–</td>"
    _, folder = own
    log = folder / "units" / "desktop" / "decisions.jsonl"
    log.write_text("".join(log.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    (folder / "scores.json").unlink(missing_ok=True)
    told: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    told["units"]["desktop"] = {}
    (folder / "run.json").write_text(json.dumps(told), encoding="utf-8")
    html = make([runs["rag"], folder]).html
    assert _row(html, "interrupted") == "<td>0</td><td>1</td>"
    assert re.fullmatch(r"<td>\d+</td><td>–</td>", _row(html, "never_seen"))


def test_a_run_that_was_killed_is_not_running(own: tuple[Path, Path]) -> None:
    _, folder = own
    file = folder / "run.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"status": "done"', '"status": "running"'), "utf-8")
    html = make([folder]).html
    assert "did not come to its end (status killed)" in html
    assert "status running" not in html
