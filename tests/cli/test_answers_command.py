"""``proact dataset answers`` and ``proact dataset judge-cases``."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import _call
from tests.answering import Answering

REAL = Path(__file__).parents[2] / "../shared/data/proactivebench"
real = pytest.mark.skipif(not REAL.exists(), reason="no ../shared/data/proactivebench")
Records = list[dict[str, Any]]


def _records(capsys: pytest.CaptureFixture[str]) -> Records:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def _archive(folder: Path) -> Path:
    def trace(*answers: Any) -> str:
        return json.dumps(
            [{"observation": {"time": "1", "event": f"e{i}"}, "agent_response": a} for i, a in enumerate(answers)]
        )

    with zipfile.ZipFile(folder / "t.zip", "w") as archive:
        archive.writestr("m/code_1.json", trace(["a"], ["b"], [], []))
        archive.writestr("m/writing_1.json", trace(["c"], []))
        archive.writestr("n/code_1.json", trace(["null"], 5, [], []))
    return folder / "t.zip"


def _verdicts(file: Path, *said: tuple[str, str, int, bool]) -> Path:
    lines = [
        json.dumps({"model": m, "file": f, "index": i, "judgement": "accepted" if yes else "rejected"})
        for m, f, i, yes in said
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_answers_are_counted_by_model_and_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    splits = tmp_path / "splits.json"
    splits.write_text(
        json.dumps({"all": {"files": ["code_1.json", "writing_1.json"]}, "code": {"files": ["code_1.json"]}})
    )
    assert _call(["dataset", "answers", str(_archive(tmp_path)), "--splits", str(splits), "--json"]) == 0
    *records, done = _records(capsys)
    rows = [r for r in records if r["event"] == "answers"]
    keys = ("model", "split", "events", "proposals", "silences", "unknown", "null_words", "missing_traces")
    assert [tuple(r[k] for k in keys) for r in rows] == [
        ("m", "all", 6, 3, 3, 0, 0, 0),
        ("m", "code", 4, 2, 2, 0, 0, 0),
        ("n", "all", 4, 1, 2, 1, 1, 1),
        ("n", "code", 4, 1, 2, 1, 1, 0),
    ]
    assert done == {"event": "done", "models": 2, "judge": None}


def test_verdicts_of_a_file_give_the_five_rates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = [("m", "code_1.json", i, yes) for i, yes in enumerate((True, False, True, False))]
    said = _verdicts(tmp_path / "v.jsonl", *code, ("m", "writing_1.json", 0, True))
    command = ["dataset", "answers", str(_archive(tmp_path)), "--judgements", str(said), "--only", "m"]
    assert _call([*command, "--json"]) == 0
    row = _records(capsys)[0]
    assert [row[k] for k in ("judged", "tp", "fp", "tn", "fn")] == [5, 2, 1, 1, 1]
    rates = [row[k] for k in ("recall", "precision", "accuracy", "false_alarm", "f1")]
    assert rates == pytest.approx([2 / 3, 2 / 3, 3 / 5, 1 / 3, 2 / 3])
    assert _call(command) == 0
    assert "0.667" in capsys.readouterr().out


def test_a_model_can_be_asked_for_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class There(Answering):
        async def __aenter__(self) -> There:
            return self

        async def __aexit__(self, *error: object) -> None:
            await self.close()

    model = There(lambda text: json.dumps({"thought": "", "judgement": "accepted" if "- a" in text else "rejected"}))
    monkeypatch.setattr("simulator.endpoint.chat.Endpoint", lambda choice, scope: model)
    command = ["dataset", "answers", str(_archive(tmp_path)), "--judge-model", "m1", "--only", "m", "--json"]
    assert _call([*command, "--kept", str(tmp_path / "kept.jsonl")]) == 0
    row, *_, done = _records(capsys)
    assert [row[k] for k in ("judged", "tp", "fp", "tn", "fn")] == [6, 1, 2, 0, 3]
    assert done["judge"].startswith("judge (m1, prompt ")
    assert (len(model.asked), model.closed) == (6, 1)
    assert _call([*command, "--kept", str(tmp_path / "kept.jsonl")]) == 0
    assert len(model.asked) == 6, "the same is not asked twice"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--judgements", "v", "--judge-model", "m"], "not from both"),
        (["--only", "q"], "no answers of the model 'q'"),
        (["--judge-model", "m", "--at-once", "0"], "one question at least"),
        (["--judge-model", "m", "--timeout", "soon"], "--timeout"),
        (["--results", "none"], "no table"),
        (["--splits", "none"], "none"),
        (["--judgements", "none"], "none"),
        (
            ["--judge-model", "m", "--base-url", "http://127.0.0.1:9/v1", "--kept", "none/there/x.jsonl"],
            "none/there/x.jsonl",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert _call(["dataset", "answers", str(_archive(tmp_path)), *options]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said


@real
def test_published_tables_agree_with_the_answers_they_were_made_of(capsys: pytest.CaptureFixture[str]) -> None:
    data = REAL / "dataset/test_data/splits.json"
    command = [
        "dataset",
        "answers",
        str(REAL / "eval/traces.zip"),
        "--splits",
        str(data),
        "--results",
        str(REAL / "eval/results"),
    ]
    assert _call([*command, "--json"]) == 0
    *records, done = _records(capsys)
    results = {k: done["results"][k] for k in ("rows", "reproduced", "compared", "agree", "epsilon")}
    assert results == {"rows": 48, "reproduced": 48, "compared": 45, "agree": 45, "epsilon": [1e-8]}
    row = next(
        r for r in records if r["event"] == "published" and (r["model"], r["split"]) == ("activeqwen", "real_average")
    )
    assert [row[k] for k in ("tp", "fp", "tn", "fn")] == [111, 112, 4, 0]
    assert row["precision"] == pytest.approx(0.49776, abs=5e-6)
    assert row["f1"] == pytest.approx(0.6647, abs=5e-5)
    assert _call(command) == 0
    assert "45 of 45 rows that have answers" in capsys.readouterr().out


def _case(valid: bool, task: str | None, category: str) -> str:
    return json.dumps({"obs": [{"time": "1", "event": "types"}], "pred_task": task, "valid": valid, "help_needed": True,
                       "annotation": [valid] * 3, "category": category})  # fmt: skip


def _cases(folder: Path) -> Path:
    rows = [_case(True, "Help", "CD"), _case(False, "Help", "FA"), _case(True, None, "CR"), _case(False, None, "MN")]
    (folder / "cases.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return folder / "cases.jsonl"


def test_a_judge_is_scored_against_people_beside_judges_that_look_at_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = tmp_path / "v.jsonl"
    said.write_text("\n".join(json.dumps({"line": n, "judgement": w}) for n, w in ((1, "accepted"), (2, "accepted"),
                                                                                   (4, "rejected"))))  # fmt: skip
    assert _call(["dataset", "judge-cases", str(_cases(tmp_path)), "--verdicts", str(said), "--json"]) == 0
    *records, done = _records(capsys)
    rows = {r["judge"]: r for r in records if r["event"] == "judge"}
    assert [rows["accepts all"][k] for k in ("tp", "fp", "tn", "fn", "recall", "precision")] == [2, 2, 0, 0, 1, 0.5]
    assert rows["rejects all"]["precision"] is None
    given = rows["as given in v.jsonl"]
    assert [given[k] for k in ("unjudged", "tp", "fp", "tn", "fn")] == [1, 1, 1, 1, 1], "no verdict is a wrong one"
    assert given["agreement"] == {"CD": 1.0, "CR": 0.0, "FA": 0.0, "MN": 1.0}
    assert done == {"event": "done", "cases": 4, "judges": 5}
    assert _call(["dataset", "judge-cases", str(_cases(tmp_path)), "--verdicts", str(said)]) == 0
    assert "4 cases, 2 accepted" in capsys.readouterr().out


def test_no_heading_breaks_in_mid_word_on_80_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = ("Correct-Detection", "False-Alarm", "Correct-Rejection", "Missed-Need")
    rows = [_case(True, "Help", kind) for kind in kinds]
    (tmp_path / "cases.jsonl").write_text("\n".join(rows), encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "80")
    assert _call(["dataset", "judge-cases", str(tmp_path / "cases.jsonl")]) == 0
    said = capsys.readouterr().out.split()
    assert {"Detection", "Rejection", "Alarm", "Need"} <= set(said)


@pytest.mark.parametrize("command", ["answers", "judge-cases"])
def test_verdicts_are_not_kept_in_what_is_only_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    file = _archive(tmp_path) if command == "answers" else _cases(tmp_path)
    before = file.read_bytes()
    assert _call(["dataset", command, str(file), "--judge-model", "m", "--kept", str(file)]) == 2
    assert "must lie apart" in capsys.readouterr().err
    assert file.read_bytes() == before


def test_verdicts_of_answers_that_are_not_there_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = _verdicts(tmp_path / "v.jsonl", ("m", "code_1.json", 0, True), ("m", "code_1.json", 99, True))
    assert _call(["dataset", "answers", str(_archive(tmp_path)), "--judgements", str(said), "--json"]) == 0
    account = {r["reason"]: r["count"] for r in _records(capsys) if r["event"] == "account"}
    assert account["verdicts of answers that are not counted (no such model, trace or index)"] == 1


@pytest.mark.parametrize("line", ['{"line": true, "judgement": "accepted"}', "[]", '{"line": 1}', "{"])
def test_verdicts_on_cases_of_another_form_are_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    said = tmp_path / "v.jsonl"
    said.write_text(line, encoding="utf-8")
    assert _call(["dataset", "judge-cases", str(_cases(tmp_path)), "--verdicts", str(said)]) == 2
    assert "line 1" in capsys.readouterr().err


@real
def test_judges_that_look_at_nothing_have_known_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["dataset", "judge-cases", str(REAL / "dataset/reward_data/test_data.jsonl"), "--json"]) == 0
    rows = {r["judge"]: r for r in _records(capsys) if r["event"] == "judge"}
    counts = {name: [row[k] for k in ("tp", "fp", "tn", "fn")] for name, row in rows.items()}
    assert counts == {
        "accepts all": [60, 60, 0, 0],
        "rejects all": [0, 0, 60, 60],
        "accepts proposals": [30, 30, 30, 30],
        "accepts silence": [30, 30, 30, 30],
    }
    assert rows["accepts all"]["f1"] == pytest.approx(2 / 3)
    assert rows["accepts proposals"]["agreement"] == {
        "Correct-Detection": 1.0,
        "Correct-Rejection": 0.0,
        "False-Alarm": 0.0,
        "Missed-Need": 1.0,
    }
