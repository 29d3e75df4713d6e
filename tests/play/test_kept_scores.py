"""Scores are read back only where they are those of the run, as it is now and as they were written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scorers.base import scorers
from scorers.feedback import FILE as FEEDBACK
from simulator.core.errors import InputError, UsageError
from simulator.play.comparing import Comparison, compare
from simulator.play.kept import FILE, keep, read_scores
from simulator.play.player import run
from simulator.play.scoring import score_folder
from simulator.runs.unit import LOG, TRUTH

SCENARIOS = [Path(__file__).resolve().parents[2] / "scenarios" / name for name in ("coding_error", "tab_search")]
METRIC = "unwanted_per_hour"


def _played(agent: str, out: Path) -> Path:
    return run(SCENARIOS, agent, "none", out=out, clock="modelled", latency="profile:2s").folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs of the same sessions."""
    folder = tmp_path_factory.mktemp("runs")
    for agent in ("always", "silent"):
        _played(agent, folder / agent)
    return folder


@pytest.fixture
def both(runs: Path, tmp_path: Path) -> Path:
    """A copy of them, to be harmed."""
    return Path(shutil.copytree(runs, tmp_path / "runs"))


def _figures(both: Path, **how: Any) -> tuple[float | None, float | None]:
    found: Comparison
    (found,) = compare([both / "always", both / "silent"], [METRIC], **how)
    assert found.rows[0].found is not None
    return found.rows[0].found.first, found.rows[0].found.second


def _changed(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def harm(file: Path) -> None:
        scores = json.loads(file.read_text())
        change(scores)
        file.write_text(json.dumps(scores, indent=1))

    return harm


def _as_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _unit(scores: dict[str, Any]) -> dict[str, Any]:
    unit: dict[str, Any] = scores["units"]["coding-error"]
    return unit


DAMAGE: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "emptied": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-9]),
    "not UTF-8": lambda file: file.write_bytes(b"\xff\xfe{"),
    "a list": lambda file: file.write_text("[]"),
    "null": lambda file: file.write_text("null"),
    "deep": lambda file: file.write_text("[" * 99_999),
    "a figure": _changed(lambda s: s["details"][METRIC].update(value=1.0)),
    "a figure is a word": _changed(lambda s: s["details"][METRIC].update(value="few")),
    "a figure is NaN": _changed(lambda s: s["details"][METRIC].update(value=float("nan"))),
    "an interval": _changed(lambda s: s["details"][METRIC].update(interval=[1])),
    "details": _changed(lambda s: s.update(details={METRIC: {}})),
    "a detail is gone": _changed(lambda s: s["details"].pop(METRIC)),
    "no scorer": _changed(lambda s: s["details"][METRIC].pop("scorer")),
    "units": _changed(lambda s: s.update(units={})),
    "a unit is a list": _changed(lambda s: s["units"].update({"coding-error": []})),
    "what a session adds": _changed(lambda s: _unit(s)["parts"].update({t: [0] for t in _unit(s)["parts"]})),
    "a need": _changed(lambda s: _unit(s)["opportunities"][0].update(served_by="x", id=7)),
    "counts": _changed(lambda s: s.update(counts=[])),
    "the protocol": _changed(lambda s: s.update(protocol="other")),
    "no digest": _changed(lambda s: s.pop("digest")),
    "not said of what": _changed(lambda s: s.pop("made_of")),
}


@pytest.mark.parametrize("harm", DAMAGE)
def test_damaged_or_edited_scores_are_made_again(harm: str, both: Path) -> None:
    file, true = both / "always" / FILE, _figures(both)
    before = file.read_bytes()
    DAMAGE[harm](file)
    assert read_scores(both / "always") is None
    assert _figures(both) == true
    _played("always", both / "always")
    assert file.read_bytes() == before


def test_scores_in_place_of_a_file_a_folder_are_computed(both: Path) -> None:
    true = _figures(both)
    _as_folder(both / "always" / FILE)
    assert _figures(both) == true


def test_scores_that_fit_are_read_and_no_log_is_parsed(both: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again = score_folder(both / "always", save=False)
    monkeypatch.setattr("simulator.runs.runlog.read", lambda path: pytest.fail("a log was read"))
    assert read_scores(both / "always") == json.loads(json.dumps(again))
    _figures(both)


def test_scorers_are_made_once_for_all_runs_that_are_read(both: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_scores(both / "always") is not None
    monkeypatch.setattr(scorers, "make", lambda spec: pytest.fail(f"{spec} was made again"))
    assert read_scores(both / "silent") is not None


def test_scores_of_another_run_are_not_believed(both: Path) -> None:
    true = _figures(both)
    shutil.copy(both / "silent" / FILE, both / "always" / FILE)
    assert read_scores(both / "always") is None
    assert _figures(both) == true


def test_scores_of_other_formulas_are_made_again(both: Path) -> None:
    true, scores = _figures(both), read_scores(both / "always")
    assert scores is not None
    scores["details"][METRIC] |= {"version": 0, "value": 1.0}
    keep(both / "always", scores)
    assert read_scores(both / "always") is None
    assert _figures(both) == true


@pytest.mark.parametrize(
    ("part", "was", "now"), [(LOG, '"confidence":1', '"confidence":0'), (TRUTH, "Correction", "Corruption")]
)
def test_a_log_or_truth_that_was_changed_since_is_refused_by_compare_and_played_anew_by_run(
    part: str, was: str, now: str, both: Path
) -> None:
    true, file = _figures(both), both / "always/units/coding-error" / part
    before = file.read_text()
    file.write_text(before.replace(was, now))
    assert file.read_text() != before
    with pytest.raises(InputError, match="it was changed since the unit was played"):
        _figures(both)
    _played("always", both / "always")
    assert file.read_text() == before
    assert _figures(both) == true


def test_what_people_said_of_offers_since_counts(both: Path) -> None:
    log = both / "always/units/coding-error" / LOG
    offer = next(r for r in map(json.loads, log.read_text().splitlines()) if r["kind"] == "offer")
    said = {"what": "feedback", "seq": offer["seq"], "feedback": "accepted"}
    (log.parent / FEEDBACK).write_text(json.dumps(said) + "\n")
    assert read_scores(both / "always") is None


def test_the_two_small_files_can_be_carried_off_without_their_logs(both: Path) -> None:
    true = _figures(both)
    for agent in ("always", "silent"):
        shutil.rmtree(both / agent / "units")
    assert _figures(both) == true
    shutil.copy(both / "silent" / FILE, both / "always" / FILE)  # of logs that this run does not name
    with pytest.raises(InputError, match="the logs of its units are gone"):
        _figures(both)


def test_figures_without_a_log_that_is_gone_are_refused_or_forced(both: Path) -> None:
    (both / "always/units/coding-error" / LOG).unlink()
    (both / "always" / FILE).unlink()
    with pytest.raises(UsageError, match="always: of 1 of its units, such as 'coding-error', the log is gone"):
        _figures(both)
    assert _figures(both, force=True, common=True)


def test_a_run_named_twice_is_told_whatever_it_is_called(both: Path) -> None:
    (both / "link").symlink_to(both / "always")
    for named in ([both / "always"] * 2, [both / "always", both / "link"], [both / "silent/../always", both / "link"]):
        with pytest.raises(UsageError, match="are the same run; name it once"):
            compare(named)


def test_a_run_whose_list_of_units_was_edited_is_neither_scored_nor_saved(both: Path) -> None:
    file = both / "always" / "run.json"
    told = json.loads(file.read_text())
    kept = (both / "always" / FILE).read_bytes()
    for part in ("units", "resolved"):
        told[part].pop("coding-error")
    file.write_text(json.dumps(told))
    with pytest.raises(InputError, match="it was changed since the run was played"):
        score_folder(both / "always")
    assert (both / "always" / FILE).read_bytes() == kept
