"""What was made of a forgotten user's data and lies anywhere is named: releases, exports, cassettes, reports."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from memory.persona_writer import Material, PersonaWriter
from simulator.cli import _call
from simulator.privacy.forget import plan
from simulator.privacy.leftovers import Traces, search
from simulator.privacy.span import Span
from tests.answering import Answering
from tests.privacy.study import WORD, Home, make, record

AGENT = """
from simulator.core.types import Decision, Offer


class Quoting:
    inline = True

    async def decide(self, seen):
        said = Offer("Translation", f"you look at <{seen.snapshot.title}> & more")
        return Decision((said,) if seen.snapshot.index % 7 == 3 else ())
"""
SECOND_OF_10 = ("--from", "2026-10-26T07:33:29Z", "--to", "2026-10-26T07:33:31Z")
CALLS = (
    {"kind": "cassette", "schema": 1},
    {"kind": "call", "key": "a", "scope": "monday", "nth": 0, "asked": {}, "answer": {"text": f"{WORD} it is"}},
    {"kind": "call", "key": "b", "scope": "monday/memory", "nth": 0, "asked": {}, "answer": {}},
    {"kind": "call", "key": "c", "scope": "tuesday", "nth": 0, "asked": {}, "answer": {"text": "harmless"}},
)


def _cassette(file: Path, *calls: dict[str, object]) -> Path:
    file.write_text("".join(json.dumps(call, separators=(",", ":")) + "\n" for call in calls), encoding="utf-8")
    return file


def _do(*words: object) -> None:
    assert _call([str(word) for word in words]) in (0, 3), words


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, and everything that commands make of it in places of one's own."""
    root = tmp_path_factory.mktemp("template")
    home = make(root)
    (root / "quoting.py").write_text(AGENT, encoding="utf-8")
    played = ["--agent", f"{root}/quoting.py:Quoting", "--clock", "modelled", "--latency", "fixed:100ms"]
    _do("run", home.session, *played, "--memory", "none", "--out", root / "runs" / "mine")
    _do("run", home.other, *played, "--memory", "none", "--out", root / "runs" / "kim")
    _do("run", home.session, *played, "--memory", "none", "--out", home.session / "run")
    (root / "quoting.py").unlink()
    _do("report", root / "runs" / "mine", "--out", root / "page.html")
    _do("report", root / "runs" / "kim", root / "runs" / "mine", "--force")
    for name in ("g.graphml", "g.json", "g.cypher", "g.svg", "g"):
        form = ["--format", "csv"] if name == "g" else []
        _do("memory", "export", home.session, root / "exports" / name, "--whole", *form)
    _do("dataset", "release", home.session, root / "restricted", "--tier", "restricted", "--unreviewed", "accept")
    _do("dataset", "release", home.session, root / "public", "--unreviewed", "leave-out")
    _do("dataset", "annotate", home.session, "--rules")
    _do("dataset", "audit", home.session, "--questions", root / "questions.csv")
    _cassette(root / "calls.jsonl", *CALLS)
    return root


@pytest.fixture
def home(tmp_path: Path, template: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    shutil.copytree(template, tmp_path / "home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "cache"))
    return Home(tmp_path / "home")


def _left(home: Home, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, str]:
    """What a call left, and why; it is to end with code 2."""
    capsys.readouterr()
    assert _call(["forget", "sam", "--in", str(home.root), "--json", *words]) == 2
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {
        Path(one["path"]).relative_to(home.root).as_posix(): one["why"] for one in records if one["event"] == "left"
    }


def test_a_planted_text_is_found_in_no_remaining_file_that_is_not_named(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    made = {
        "calls.jsonl", "exports/g.graphml", "exports/g.json", "exports/g.cypher", "exports/g.svg",
        "exports/g/edges.csv", "exports/g/nodes.csv", "page.html", "public", "questions.csv", "restricted",
        "runs/kim/report.html",
    }  # fmt: skip
    foreseen = _left_of(home)
    left = _left(home, capsys)
    assert set(left) == made
    assert foreseen == made
    holding = set(home.files_with(WORD))
    assert holding >= {name for name in made if "exports" in name} | {"calls.jsonl", "restricted/session.db"}
    assert {name.removesuffix("/session.db") for name in holding} <= made
    assert all(WORD not in why for why in left.values())


def _left_of(home: Home) -> set[str]:
    """What is told before anything is done."""
    return {one.path.relative_to(home.root).as_posix() for one in plan("sam", [home.root]).foreseen()}


def test_a_release_is_told_with_the_command_that_forgets_it(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    why = _left(home, capsys)["restricted"]
    assert why.startswith("a restricted release of 'monday': `proact forget participant --in ")
    assert _call(shlex.split(why.split("`")[1])[1:]) == 0
    assert not (home.root / "restricted").exists()


def test_of_a_release_the_command_names_the_stretch_where_it_has_a_calendar(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    left = _left(home, capsys, *SECOND_OF_10)
    assert "--from 2026-10-26T07:33:29+00:00 --to 2026-10-26T07:33:31+00:00` forgets it" in left["restricted"]
    assert "--from" not in left["public"]


def test_a_release_of_somebody_else_is_left_in_peace(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    other = home.root / "data" / "lee" / "friday"
    record(other, "lee", n=25, word="something")
    _do("dataset", "release", other, home.root / "theirs", "--tier", "restricted", "--unreviewed", "accept")
    assert "theirs" not in _left(home, capsys)


def test_a_release_of_what_was_changed_since_is_told_by_its_texts(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    for item in plan("sam", [home.root], Span(None, 1_793_000_003 * 10**9)).items:
        item.apply()
    assert "forgotten texts" in _left(home, capsys)["restricted/session.db"]


def test_a_cassette_is_told_with_the_option_that_removes_it(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    why = _left(home, capsys, *SECOND_OF_10)["calls.jsonl"]
    assert why.startswith("a cassette with 2 calls of the sessions that go: call again with --also ")
    _left(home, capsys, "--also", shlex.split(why.split("--also ")[1])[0].rstrip(","))
    assert not (home.root / "calls.jsonl").exists()


def test_a_cassette_of_others_is_none_of_theirs(tmp_path: Path) -> None:
    file = _cassette(tmp_path / "calls.jsonl", CALLS[0], CALLS[3])
    assert search([file], Traces("sam", {"monday"}, set())) == []
    file.write_bytes(b'{"kind":"cassette","schema":1}\n[]\nno json\n{"scope":7}\n')
    assert search([file], Traces("sam", {"monday"}, set())) == []


async def test_personas_that_a_model_wrote_are_told_whoever_they_are_of(tmp_path: Path) -> None:
    """In a model's words nothing tells whose past it was, and they are about nothing else."""
    kept = tmp_path / "personas.jsonl"
    writer = PersonaWriter(Answering("The user keeps a shop and asks often how things are done. " * 5), "m", kept=kept)
    assert await writer.write([Material("Moments", "Moments", "In all", (f"{WORD} title",))]) != [None]
    (found,) = search([kept], Traces("sam", {"monday"}, set()))
    assert "personas that a model wrote" in found.why
    assert not found.only_maybe


def test_a_run_in_the_sessions_folder_is_forgotten_as_runs_are(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    run = home.session / "run"
    assert any(name.startswith("data/sam/monday/run/") for name in home.files_with(WORD))
    assert not any(name.startswith("data/") for name in _left(home, capsys))
    assert list((run / "units").glob("forgotten-*"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.html", "<p>zanzibar &amp; &quot;so on&quot; for ever</p>"),
        ("page.xml", '<p>zanzibar &amp; "so on" for ever</p>'),
        ("table.csv", 'a,"zanzibar & ""so on"" for ever"'),
        ("lines.jsonl", json.dumps({"a": 'zanzibar & "so on" for ever'})),
        ("plain.txt", 'zanzibar &  "so on" for ever'),
    ],
)
def test_a_text_is_found_as_each_kind_of_file_quotes_it(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    (found,) = search([tmp_path / name], Traces("sam", set(), {'zanzibar &  "so on" for ever'}))
    assert (found.why, found.only_maybe) == ("it holds 1 of the forgotten texts", False)


def test_the_name_alone_is_told_and_no_fault(tmp_path: Path) -> None:
    for n in range(14):
        (tmp_path / f"{n:02}.txt").write_text("see you, sam.", encoding="utf-8")
    (tmp_path / "other.txt").write_text("samuel, the same", encoding="utf-8")
    files = sorted(tmp_path.iterdir())
    found = search(files, Traces("sam", {"monday"}, set()))
    assert [one.path for one in found] == files[:11]
    assert all(one.only_maybe and "holds the name 'sam'" in one.why for one in found)
    assert found[-1].why.endswith("so it is with 3 more files")
    (tmp_path / "00.txt").write_text("the user of it", encoding="utf-8")
    assert search(files[:1], Traces("user", {"monday"}, set())) == []


def test_what_is_packed_is_told_and_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / "copy.parquet").write_bytes(b"PAR1")
    (found,) = search([tmp_path / "copy.parquet"], Traces("sam", {"monday"}, set()))
    assert (found.only_maybe, found.why) == (True, "packed, not searched for copies")


def test_a_graph_of_other_words_is_not_taken_for_theirs(home: Home) -> None:
    svg = home.root / "exports" / "g.svg"
    assert search([svg], Traces("sam", set(), {f"{WORD} title of 1"}))
    assert search([svg], Traces("sam", set(), {"something else"})) == []
