"""A study as one HTML file."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import _call
from simulator.core.errors import InputError
from simulator.report.study_page import make_study
from simulator.session.ignored import hide

_FILE = Path(__file__).resolve().parents[1] / "web" / "test_web_ablation_data.py"
_SPEC = importlib.util.spec_from_file_location("study_summaries", _FILE)
assert _SPEC is not None
assert _SPEC.loader is not None
_MADE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MADE)


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    (tmp_path / "sweep.json").write_text("{}", encoding="utf-8")
    (tmp_path / "summary.json").write_text(json.dumps(_MADE.a_summary("<script>")), encoding="utf-8")
    return tmp_path


def test_a_study_is_reported_with_maps_curves_effects_and_cells(sweep: Path) -> None:
    html = make_study(sweep).html
    # the leading figure at both windows with its latency, the other once; two curves; an effect of each figure
    assert html.count("<svg") == 2 * 2 + 1 + 2 + 2
    assert "F1_rt by agent and memory at window 5min" in html
    assert "latencies are modelled, not measured" in html
    assert html.count("<tr>") > 8
    assert "<script" not in html
    assert len(html.encode()) < 1_000_000


def test_the_command_takes_a_study_alone(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["report", str(sweep)]) == 0
    assert (sweep / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert _call(["report", str(sweep), "--with-frames", "2"]) == 2
    assert "reported alone and without pictures" in capsys.readouterr().err


def test_a_study_that_is_not_summed_up_yet_says_so(sweep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sweep / "summary.json").unlink()
    assert _call(["report", str(sweep)]) == 2
    assert "has not been summed up yet" in capsys.readouterr().err


def test_a_summary_of_another_form_is_a_sentence(sweep: Path) -> None:
    whole = json.loads((sweep / "summary.json").read_text(encoding="utf-8"))
    said = 0
    for field in whole:
        wrong: list[Any] = [None, 3, "x", [1], [{}], {"a": None}, [[]], "\ud800", 10**400]
        for value in wrong:
            (sweep / "summary.json").write_text(json.dumps({**whole, field: value}), encoding="utf-8")
            try:
                make_study(sweep)
            except InputError as error:
                said += "summary.json" in str(error)
    assert said > 20


def test_the_report_of_a_study_that_is_kept_out_of_git_is_too(sweep: Path) -> None:
    assert not make_study(sweep).private
    hide(sweep)
    assert make_study(sweep).private
