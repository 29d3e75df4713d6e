"""How far cells are from the baseline's: the same figures as the effects where these rest on one pair of cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.sweep import gains as module
from simulator.sweep.summary import summarise
from simulator.sweep.sweeping import sweep

STUDY = """
name: gains
axes:
  agent: always
  memory: none
  protocol: stream
  clock: modelled
  latency: [profile:instant, profile:5s, profile:22s]
baseline: {latency: profile:instant}
metrics: [F1_rt@timing, unwanted_per_hour, scheduled_latency@p95]
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gains")
    file = folder / "study.yaml"
    file.write_text(STUDY, encoding="utf-8")
    from simulator.sweep.sweeping import Asked

    return sweep(file, Asked(out=folder / "out"), engine="inline").folder


def cells(summary: Any) -> dict[str, dict[str, Any]]:
    return {cell["values"]["latency"]: cell["metrics"] for cell in summary["cells"]}


def test_a_gain_is_the_effect_where_one_axis_varies(played: Path) -> None:
    summary = summarise(played).summary
    found = cells(summary)
    n = 0
    for effect in summary["effects"]:
        gain = found[effect["value"]][effect["metric"]].get("gain")
        if effect["gain"] is None:
            assert gain is None
            continue
        assert all(gain[key] == effect[key] for key in ("low", "high", "p", "adjusted"))
        assert gain["value"] == effect["gain"]
        assert gain["detectable"] > 0 or gain["value"] == 0
        n += 1
    assert n >= 4
    assert any(f["gain"]["value"] != 0 for latency, f_s in found.items() for f in f_s.values() if f.get("gain"))


def test_the_baseline_has_none_and_a_study_without_one_has_none_at_all(played: Path) -> None:
    assert all("gain" not in figure for figure in cells(summarise(played).summary)["profile:instant"].values())


def test_a_study_that_is_too_large_keeps_the_leading_metrics(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 100 * 3)  # one metric of three cells
    found = cells(summarise(played).summary)["profile:22s"]
    assert [metric for metric, figure in found.items() if "gain" in figure] == ["F1_rt@timing"]
    monkeypatch.setattr(module, "MOST", 0)
    found = cells(summarise(played).summary)["profile:22s"]
    assert not any("gain" in figure for figure in found.values())
