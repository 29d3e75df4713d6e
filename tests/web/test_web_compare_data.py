"""What the page of comparisons is told, held against proact compare."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import UsageError
from simulator.play.comparing import compare
from simulator.play.player import run
from simulator.play.scoring import open_folder
from simulator.report.curves import f1_by_deadline, f1_of_units, latencies
from simulator.runs.lock import Lock
from simulator.web.comparing import _Kept
from simulator.web.comparing_data import compared, known
from simulator.web.place import NotHere, Place, id_of

ROOT = Path(__file__).resolve().parents[2]
DESK = [ROOT / "scenarios" / name for name in ("desktop", "shopping")]
HOW: dict[str, Any] = {"clock": "modelled", "latency": "fixed:1500ms"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("compared")
    for memory in ("rag", "personas"):
        run(DESK, memory=memory, out=folder / memory, **HOW)
    return {memory: folder / memory for memory in ("rag", "personas")}


@pytest.fixture
def place(runs: dict[str, Path]) -> Any:
    made = Place([runs["rag"].parent])
    yield made
    made.close()


def _ids(runs: dict[str, Path]) -> list[str]:
    return [id_of(path) for path in runs.values()]


def test_figures_are_those_of_compare_and_json(place: Place, runs: dict[str, Path]) -> None:
    told = compared(place, _ids(runs), force=False, common=False)
    json.dumps(told, allow_nan=False)
    (c,) = compare(list(runs.values()))
    (page,) = told["comparisons"]
    assert [r["metric"] for r in page["rows"]] == [r.metric for r in c.rows]
    for shown, row in zip(page["rows"], c.rows, strict=True):
        if row.found is not None:
            assert shown["difference"] == row.found.difference
            assert shown["p"] == row.adjusted
    assert c.flips is not None
    assert page["flips"]["both"] == c.flips.both
    assert len(page["flips"]["only_first"]) == len(c.flips.only_first)


def test_what_compare_says_beside_its_tables_is_told_too(place: Place, runs: dict[str, Path]) -> None:
    (page,) = compared(place, _ids(runs), force=False, common=False)["comparisons"]
    (c,) = compare(list(runs.values()))
    assert page["amiss"][0] == f"{c.counts[0]['never_seen']} snapshots never seen"
    without = [
        r.metric for r in c.rows if r.found and r.found.difference is not None and isinstance(r.found.interval, str)
    ]
    assert without
    assert all(any(metric in said for said in page["missing"]) for metric in without)
    standing = [row["standing"] for row in page["rows"] if row.get("standing")]
    assert all(sum(one.values()) == page["n_sessions"] for one in standing)


def test_a_flip_leads_to_the_opening_of_its_need_with_both_runs(place: Place, runs: dict[str, Path]) -> None:
    flips = compared(place, _ids(runs), force=False, common=False)["comparisons"][0]["flips"]
    items = flips["only_first"] + flips["only_second"]
    assert items
    opened = open_folder(runs["rag"])
    for item in items:
        key, _, need = item["name"].partition(": ")
        (unit,) = (u for u in opened.units if u.key == key)
        (found,) = (n for n in unit.truth.opportunities if n.id == need)
        assert item["href"] == {
            "run": _ids(runs)[0],
            "unit": key,
            "t": round(found.opens_ns / 1e9, 6),
            "runs": _ids(runs),
            "need": need,
        }


def test_another_latency_source_is_refused_with_the_sentence_of_compare(runs: dict[str, Path], tmp_path: Path) -> None:
    run(DESK, memory="rag", out=tmp_path / "measured")
    place = Place([runs["rag"].parent, tmp_path])
    ids = [id_of(runs["rag"]), id_of(tmp_path / "measured")]
    told = compared(place, ids, force=False, common=False)
    with pytest.raises(UsageError) as refused:
        compare([runs["rag"], tmp_path / "measured"])
    assert told["refused"] == str(refused.value)
    assert told["can_force"]
    assert told["comparisons"] == []
    forced = compared(place, ids, force=True, common=False)
    assert forced["refused"] is None
    assert any("latency_source" in reason for reason in forced["comparisons"][0]["forced"])
    place.close()


def test_one_run_is_no_comparison_and_an_unknown_one_is_not_here(place: Place, runs: dict[str, Path]) -> None:
    with pytest.raises(UsageError, match="takes 2 to 8 runs"):
        compared(place, _ids(runs)[:1] * 2, force=False, common=False)
    with pytest.raises(NotHere):
        compared(place, [_ids(runs)[0], "0123456789"], force=False, common=False)
    assert {one["name"] for one in known(place)["known"]} == {"rag", "personas"}


def test_quality_against_the_deadline_ends_at_the_score_itself(runs: dict[str, Path]) -> None:
    scores = json.loads((runs["rag"] / "scores.json").read_text(encoding="utf-8"))
    curve = f1_by_deadline(scores)
    assert curve == f1_of_units(open_folder(runs["rag"]), frozenset(scores["units"]))
    assert f1_of_units(open_folder(runs["rag"]), frozenset({"desktop"})) != curve
    values = [f1 for _, f1 in curve]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(scores["scores"]["F1_rt"], abs=1e-6)  # no need here is open for over a minute
    by_hand = {tau: scores["scores"][f"deadline_attainment@{tau}"] for tau in (1, 2, 5, 10)}
    n_needs = scores["counts"]["opportunities"]
    n_said = sum(len(u["offers"]) for u in scores["units"].values())
    for tau, attained in by_hand.items():
        assert dict(curve)[tau] == pytest.approx(2 * attained * n_needs / (n_said + n_needs), abs=1e-6)


def test_the_share_of_latencies_is_that_of_a_fixed_one(runs: dict[str, Path]) -> None:
    scores = json.loads((runs["rag"] / "scores.json").read_text(encoding="utf-8"))
    found = latencies(scores)
    assert found[-1][1] == 1.0
    assert found[0][0] == pytest.approx(1500, rel=0.01)  # nothing is quicker than the charge
    p95 = next(ms for ms, share in found if share >= 0.95)
    assert p95 == pytest.approx(scores["scores"]["scheduled_latency@p95"], rel=0.006)


def test_a_run_that_was_killed_is_told_to_be_killed(runs: dict[str, Path], tmp_path: Path) -> None:
    for name, path in runs.items():
        shutil.copytree(path, tmp_path / name)
    file = tmp_path / "rag/run.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | {"status": "running"}), "utf-8")
    place, lock = Place([tmp_path]), Lock(tmp_path / "rag")
    kept, ids = _Kept(place), [id_of(tmp_path / name) for name in runs]
    statuses = [kept.compared(ids, force=False, common=True)["runs"][0]["status"]]
    lock.release()
    statuses.append(kept.compared(ids, force=False, common=True)["runs"][0]["status"])
    place.close()
    assert statuses == ["running", "killed"]


def test_a_comparison_is_made_anew_when_a_log_of_it_changed(runs: dict[str, Path], tmp_path: Path) -> None:
    for name, path in runs.items():
        shutil.copytree(path, tmp_path / name)
    place = Place([tmp_path])
    kept, ids = _Kept(place), [id_of(tmp_path / name) for name in runs]
    assert kept.compared(ids, force=False, common=True)["comparisons"]
    log = next((tmp_path / "rag/units").glob("*/decisions.jsonl"))
    log.write_text("".join(log.read_text("utf-8").splitlines(keepends=True)[:-3]), "utf-8")
    assert "interrupted" in kept.compared(ids, force=False, common=True)["refused"]
    place.close()
