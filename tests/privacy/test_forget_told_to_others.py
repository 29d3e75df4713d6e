"""What an agent told somebody else of a forgotten user's past is named: some memories read the past of all users."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from simulator.cli import _call
from simulator.privacy.leftovers import Traces, search_units
from tests.privacy.study import WORD, Home, make

AGENT = """
from simulator.core.types import Decision, Offer


class Recalling:
    inline = True

    async def decide(self, seen):
        asked = [item.query for item in await seen.memory.recall(5) if item.query]
        said = Offer("Translation", f"you asked <{asked[0]}>, and here it is") if asked else None
        return Decision((said,) if said and seen.snapshot.index % 7 == 3 else ())
"""
TUESDAY = "runs/shuffled/units/tuesday"  # Kim's, whose agent was told of Sam's past


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of Sam and Kim: of a memory that tells each of the other's past, and of one that tells their own."""
    root = tmp_path_factory.mktemp("template")
    home = make(root)
    (root / "recalling.py").write_text(AGENT, encoding="utf-8")
    played = [str(home.session / "scenario.yaml"), str(home.other / "scenario.yaml"), "--clock", "modelled"]
    played += ["--agent", f"{root}/recalling.py:Recalling", "--latency", "fixed:100ms"]
    for name, memory in (("shuffled", "shuffled-user:of=recency"), ("alone", "recency")):
        assert _call(["run", *played, "--memory", memory, "--out", str(root / "runs" / name)]) in (0, 3)
    return root


@pytest.fixture
def home(tmp_path: Path, template: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    shutil.copytree(template, tmp_path / "home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no cache"))
    return Home(tmp_path / "home")


def _forget(home: Home, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, str]]:
    """The exit code, and what was left, and why."""
    capsys.readouterr()
    code = _call(["forget", "sam", "--in", str(home.root), "--json", *words])
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return code, {
        Path(one["path"]).relative_to(home.root).as_posix(): one["why"] for one in records if one["event"] == "left"
    }


def test_a_unit_of_somebody_else_whose_agent_told_of_the_past_is_named_and_left(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    log = home.root / TUESDAY / "decisions.jsonl"
    assert f"{WORD} past query" in log.read_text()
    code, left = _forget(home, capsys)
    assert code == 2
    assert list(left) == [TUESDAY]
    assert left[TUESDAY].startswith("it holds 1 of the forgotten texts, in a unit of somebody else: remove this run")
    assert WORD not in left[TUESDAY]
    assert home.files_with(WORD) == [f"{TUESDAY}/decisions.jsonl"]


def test_a_dry_run_names_the_same_units(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    before = home.files_with(WORD)
    _, left = _forget(home, capsys, "--dry-run")
    assert list(left) == [TUESDAY]
    assert home.files_with(WORD) == before


def test_a_stretch_of_the_past_is_looked_for_too(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    code, left = _forget(home, capsys, "--to", "2026-10-26T07:33:00Z")
    assert (code, list(left)) == (2, [TUESDAY])


def test_without_that_run_nothing_is_left(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where agents said the same sentences to both: those are the agents' own."""
    shutil.rmtree(home.root / "runs" / "shuffled")
    for unit in ("monday", "tuesday"):
        log = home.root / "runs" / "alone" / "units" / unit / "decisions.jsonl"
        assert "and here it is" in log.read_text()
        log.write_text(log.read_text().replace(WORD, "harmless"))
    assert _forget(home, capsys) == (0, {})


@pytest.mark.parametrize("name", ["decisions.jsonl", "errors.txt", "twin/decisions.jsonl"])
def test_all_files_of_a_unit_are_searched(tmp_path: Path, name: str) -> None:
    file = tmp_path / "unit" / name
    file.parent.mkdir(parents=True)
    file.write_text('you asked \\"what it costs\\" once', encoding="utf-8")
    traces = Traces("sam", set(), {'asked "what it costs"', "what it costs"})
    (found,) = search_units([tmp_path / "unit"], traces)
    assert (found.path, found.only_maybe) == (tmp_path / "unit", False)
    assert found.why.startswith("it holds 2 of the forgotten texts")


def test_what_its_own_user_asked_too_is_theirs(tmp_path: Path) -> None:
    (tmp_path / "decisions.jsonl").write_text('{"text": "you asked: what does it cost"}\n', encoding="utf-8")
    traces = Traces("sam", set(), {"what does it cost"})
    assert search_units([tmp_path], traces)
    (tmp_path / "truth.json").write_text('{"moments": [{"query": "what does it cost"}]}', encoding="utf-8")
    assert search_units([tmp_path], traces) == []


def test_links_are_not_followed_and_a_log_beyond_the_bound_is_told(tmp_path: Path) -> None:
    traces = Traces("sam", set(), {"what does it cost"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "decisions.jsonl").write_text("what does it cost", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert search_units([tmp_path / "link"], traces) == []
    with (tmp_path / "elsewhere" / "decisions.jsonl").open("r+b") as log:
        log.truncate(64 * 1024 * 1024 + 1)
    (found,) = search_units([tmp_path / "elsewhere"], traces)
    assert (found.path.name, found.only_maybe) == ("decisions.jsonl", True)
    assert found.why == "over 64 MB, not searched for copies"
