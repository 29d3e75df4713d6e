"""A study as one HTML file."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import _call
from simulator.core.errors import InputError
from simulator.report.study import View
from simulator.report.study_page import make_study
from simulator.report.summary_file import read_summary
from simulator.session.ignored import hide
from simulator.web.ablation_data import ablation

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
    assert "★ best, † not significantly worse" in html
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


WRONG: tuple[Any, ...] = (None, True, -1, 0.5, 3, "x", [], [1], [{}], {}, {"a": None}, [[]], "\ud800", 10**400, 2**60)


def _parts(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all parts of a JSON value."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield from _parts(one, (*at, name))


def _put(whole: Any, at: tuple[Any, ...], value: Any) -> Any:
    made = json.loads(json.dumps(whole))
    here = made
    for name in at[:-1]:
        here = here[name]
    if value is MISSING:
        del here[at[-1]]
    else:
        here[at[-1]] = value
    return made


MISSING = object()


def test_whatever_is_wrong_with_one_field_of_a_summary_its_reader_names_the_field_or_it_does_not_matter(
    sweep: Path,
) -> None:
    whole = json.loads((sweep / "summary.json").read_text(encoding="utf-8"))
    for many, most in {"cells": 2, "metrics": 1, "effects": 1}.items():
        whole[many] = whole[many][:most]
    for cell in whole["cells"]:
        cell["metrics"] = {"F1_rt": cell["metrics"]["F1_rt"]}
    whole["cells"][0] |= {"runs": ["runs/a"], "tokens": {"in": 5, "out": 2}}
    whole["published"] = [{"row": "a", "column": "b", "value": 1.5, "source": "c"}]
    named = set()
    for at in [at for at in _parts(whole) if at not in ((), ("schema",))]:
        for wrong in (MISSING, *WRONG):
            (sweep / "summary.json").write_text(json.dumps(_put(whole, at, wrong)), encoding="utf-8")
            try:
                made = read_summary(sweep)
            except InputError as error:
                named.add(error.field or str(error).partition(": ")[2])
            else:
                ablation("s", made, View())  # what is let through is shown, without a border in between
                assert make_study(sweep).html
    sentences = {field for field in named if " " in field}
    assert sentences == {"no cell of this study has a figure yet"}
    assert {
        "axes[0].values",
        "baseline.memory",
        "cells[0].runs[0]",
        "cells[0].tokens.in",
        "cells[1].metrics.F1_rt.value",
        "effects[0].gain",
        "metrics[0].direction",
        "published[0].source",
        "study.name",
    } <= named


def test_a_wrong_field_of_a_summary_is_one_sentence_with_file_field_value_and_what_is_wanted(sweep: Path) -> None:
    whole = json.loads((sweep / "summary.json").read_text(encoding="utf-8"))
    whole["cells"][3]["metrics"]["F1_rt"]["low"] = "low"
    (sweep / "summary.json").write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        make_study(sweep)
    assert str(caught.value) == (
        f"{sweep / 'summary.json'}: cells[3].metrics.F1_rt.low: 'low': not a summary of a study: a number or null is "
        "wanted"
    )


@pytest.mark.parametrize("content", ['{"schema": 1}', "[]", "{}", '{"schema": "1"}', '{"schema": NaN}', "[" * 100_000])
def test_another_file_is_no_summary(sweep: Path, content: str) -> None:
    (sweep / "summary.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"summary\.json: .*(wanted|schema|cannot be read)"):
        read_summary(sweep)


def test_the_report_of_a_study_that_is_kept_out_of_git_is_too(sweep: Path) -> None:
    assert not make_study(sweep).private
    hide(sweep)
    assert make_study(sweep).private
