"""``proact memory keep``: sessions of a calendar into a store that runs read."""

import json
from pathlib import Path

import pytest

from memory.journal import Journal
from simulator.cli import _run
from simulator.cli.memory_keep import keep

ROOT = Path(__file__).parents[2]
DESK = str(ROOT / "docs" / "examples" / "desk.yaml")


def done(out: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(out.splitlines()[-1])
    return found


def test_a_session_and_its_history_are_kept_once_and_read_by_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store"
    assert keep(store, [Path(DESK)], json=True) == 0
    first = done(capsys.readouterr().out)
    assert (first["event"], first["known"], first["other"]) == ("done", 0, 0)
    journal = Journal(store, read_only=True, utc_anchor_ns=0)
    assert journal.counts()["events"] == first["events"]
    assert min(entry.event.start_ns for entry in journal.entries()) > 10**18
    journal.close()
    assert keep(store, [Path(DESK)], json=True) == 0
    again = done(capsys.readouterr().out)
    assert (again["events"], again["labels"], again["known"]) == (0, 0, first["events"])
    words = ["run", DESK, "--memory", f"rag:store={store}", "--clock", "modelled", "--latency", "fixed:200ms"]
    assert _run([*words, "--out", str(tmp_path / "run")]) == 0
    header = json.loads((tmp_path / "run" / "units" / "desk" / "decisions.jsonl").read_text().splitlines()[0])
    assert len(header["memory_facts"]["store"]) == 32
    # The session is in the store itself: its events are known already, and none of them is seen before its time.
    (stats,) = [u["memory_stats"] for u in json.loads((tmp_path / "run" / "run.json").read_text())["units"].values()]
    assert stats["stored_events"] == first["events"]
    assert stats["duplicate_events"] > 0


def test_a_store_without_a_calendar_and_a_folder_with_something_else_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Journal(tmp_path / "session").close()
    assert _run(["memory", "keep", str(tmp_path / "session"), DESK]) == 2
    assert "does not count in calendar time" in capsys.readouterr().err
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "cli.md").write_text("words")
    assert _run(["memory", "keep", str(tmp_path / "pages"), DESK]) == 2
    assert "is not empty and holds no store" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "pages").iterdir()] == ["cli.md"]


@pytest.mark.parametrize(
    ("words", "memory"),
    [
        (["run", DESK, "--clock", "modelled", "--latency", "fixed:200ms", "--out", "OUT"], "rag:store=S,graph:store=S"),
        (["memory", "explain", "xterm", "proj: bash", "--scenario", DESK], "rag:store=S"),
        (["memory", "export", DESK, "OUT.json"], "graph:store=S"),
        (["doctor", "memory"], "rag:store=S"),
    ],
)
def test_whatever_opens_a_store_knows_the_calendar(
    words: list[str], memory: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert keep(Path("S"), [Path(DESK)]) == 0
    assert _run([*words, *([] if words[0] == "doctor" else ["--memory"]), memory]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["memory", "explain", "a", "b", "--scenario", DESK, "--memory"], ["doctor", "memory"]]
)
def test_the_embedder_of_the_environment_is_that_of_the_memory(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROACT_EMBEDDER", "nope")
    assert _run([*words, "rag"]) == 2
    assert "unknown embedder" in capsys.readouterr().err
    assert _run([*words, "rag", "--embedder", "hash"]) == 0


@pytest.mark.parametrize("where", ["file", "file/store"])
def test_a_store_where_a_file_is_is_refused(where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert _run(["memory", "keep", str(tmp_path / where), DESK]) == 2
    assert "no folder can be made there" in capsys.readouterr().err
