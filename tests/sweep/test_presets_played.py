"""The papers' studies end to end, at small size, with a model on this machine that knows nothing."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.core.errors import Exit
from simulator.endpoint.types import ModelChoice
from simulator.sweep.papers import NAME, file_name
from simulator.sweep.sweeping import Asked, Swept, sweep
from tests.endpoint.faults import FaultServer
from tests.sweep.helpful import helpful

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
MOMENTS = {"paper:table2": 3, "paper:fig5": 6, "paper:fig7": 14, "paper:table6": 14, "paper:fig9": 6}
PERSONA = "You describe one side of a computer user"
TRAJECTORIES = {"pira:naive-vs-pirf": 2, "clean-vs-noise": 4}
FIGURES = {
    "paper:fig5": ["context"], "paper:fig7": ["heatmap"], "paper:table6": ["heatmap"], "paper:fig9": ["pareto"],
    "pira:naive-vs-pirf": ["pareto"],
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with helpful() as running:
        yield running


def play(preset: str, out: Path, server: FaultServer) -> Swept:
    small = {"ocr": ["none"]}
    sessions = [SCENARIOS / "translation"]
    if preset in TRAJECTORIES:
        small, sessions = {"ocr": ["none"], "modality": ["text"], "rate": ["0.05"]}, []
    asked = Asked(out=out, sessions=sessions, set_=small, model=ModelChoice("m", server.url("helps")))
    return sweep(preset, asked, engine="inline")


@pytest.mark.parametrize("preset", [*MOMENTS, *TRAJECTORIES])
def test_a_preset_is_played_summarised_laid_out_and_drawn(preset: str, tmp_path: Path, server: FaultServer) -> None:
    n_asked = len(server.asked["helps"])
    swept = play(preset, tmp_path / "out", server)
    asked_for = [json.dumps(asked.json) for asked in server.asked["helps"][n_asked:] if asked.body]
    written = [body for body in asked_for if PERSONA in body]
    bodies = [body for body in asked_for if PERSONA not in body]
    assert bool(written) == (preset in ("paper:fig7", "paper:table6", "paper:fig9")), (
        "the study's model writes personas"
    )
    assert not any("image_url" in body for body in written)
    pictures = sum("image_url" in body for body in bodies) / len(bodies)
    assert pictures == (0.5 if preset in ("paper:fig7", "paper:table6") else 0), "half of their cells show the picture"
    n_cells = (MOMENTS | TRAJECTORIES)[preset]
    assert swept.code == Exit.DONE
    assert set(swept.ended) == {"done"}
    assert swept.summary is not None
    summary = swept.summary.summary
    assert len(summary["cells"]) == n_cells
    for cell in summary["cells"]:
        assert cell["model"] == "m"
        assert cell["counts"].get("error", 0) == cell["counts"].get("unparsed", 0) == 0
        assert not any("persona" in note for note in cell.get("notes", ())), "no text of theirs was missing"
    assert {row["mark"] for row in summary["published"]} <= {NAME}
    assert bool(summary["published"]) == (preset != "paper:fig5")
    rows = list(csv.DictReader((swept.folder / f"{file_name(preset)}.csv").read_text(encoding="utf-8").splitlines()))
    ours = [row for row in rows if row["from"] == "here"]
    assert ours
    assert {row.get("model", "m") for row in ours} == {"m"}
    assert len(rows) > len(ours) or preset == "paper:fig5"
    assert (swept.folder / f"{file_name(preset)}.tex").read_text(encoding="ascii").count(r"\toprule") == 1
    drawn = sorted(file.stem for file in (swept.folder / "figures").glob("*.svg"))
    assert drawn == sorted([file_name(preset), *FIGURES.get(preset, [])])


def test_the_same_preset_again_asks_nobody_and_gives_the_same_bytes(tmp_path: Path, server: FaultServer) -> None:
    swept = play("paper:table2", tmp_path / "out", server)
    files = [file for file in sorted(swept.folder.rglob("*.*")) if file.suffix in (".md", ".tex", ".csv", ".svg")]
    before = {file: file.read_bytes() for file in files}
    n_asked = len(server.asked["helps"])
    again = play("paper:table2", tmp_path / "out", server)
    assert not again.ended
    assert len(server.asked["helps"]) == n_asked
    assert {file: file.read_bytes() for file in files} == before
    assert len(before) == 8
