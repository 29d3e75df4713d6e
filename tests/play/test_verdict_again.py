"""The command for a verdict, given again: the memory whose code has changed is played anew, the others stay."""

import json
from pathlib import Path

import pytest

from simulator.cli.sweep import memories as command

ROOT = Path(__file__).resolve().parents[2]


def test_a_changed_memory_is_played_anew_and_the_others_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "mine.py"
    told, written = [], []
    for name, again in (("Random", False), ("Window", False), ("Window", True)):
        base = "memory.controls import RandomMemory" if name == "Random" else "memory.window import WindowMemory"
        mine.write_text(f"from {base} as Base\n\n\nclass Mine(Base): ...\n")
        desk = [ROOT / "docs" / "examples" / "desk.yaml"]
        assert command(desk, memory=f"{mine}:Mine", clock="modelled", latency="profile:instant", again=again) == 0
        told.append("Mine: the code of the memory has changed, played anew" in capsys.readouterr().err)
        (out,) = (tmp_path / "runs").iterdir()
        written.append([(out / "named" / who / "run.json").stat().st_mtime_ns for who in ("Mine", "rag")])
    assert told == [False, True, False]
    first, changed, anew = written
    assert [changed[0] > first[0], changed[1] > first[1]] == [True, False]
    assert all(now > before for now, before in zip(anew, changed, strict=True))
    (member, *_) = json.loads((out / "verdict.json").read_text())["parts"][0]["members"]
    assert json.loads((out / "named" / "Mine.probed.json").read_text()) == member["probed"]
