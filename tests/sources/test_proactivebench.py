"""ProactiveBench: traces as scenarios with moments, reward cases for judges."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.errors import InputError
from simulator.core.types import SECOND
from simulator.session.check import check
from simulator.session.importing import Report, import_
from simulator.session.reader import Reader
from simulator.session.scenario import plays
from simulator.sources.foreign import Ledger
from simulator.sources.formats import FORMATS, chosen
from simulator.sources.loose_rows import in_order
from simulator.sources.proactivebench import judge_cases, proposal_of, trace_rows

REAL = Path(__file__).parents[2] / "../shared/data/proactivebench"
real = pytest.mark.skipif(not REAL.exists(), reason="no ../shared/data/proactivebench")


def _row(at: float | str, event: Any = "types", tasks: Any = (), status: Any = False) -> dict[str, Any]:
    return {
        "observation": {"time": str(at), "event": event},
        "agent_response": {"candidate_task": list(tasks)},
        "task_status": status,
    }


TRACE = [
    _row(1717377997.0, "opens a file", ["Review it", "Run it"], True),
    _row(1717378000.744, "searches"),
    _row(1717378020.0, "reads", ["Explain it"], False),
    _row(1717378020.0, "scrolls"),
    _row(1717378010.0, "types", ["Write it"], True),
]


def _write(folder: Path, **files: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def _count(report: Report, outcome: str, words: str) -> int:
    return sum(w.count for w in report.lines if w.outcome == outcome and words in w.reason)


def test_a_trace_is_a_scenario_that_asks_where_people_judged_a_proposal(tmp_path: Path) -> None:
    report = import_(_write(tmp_path / "src", code_1=TRACE, splits={"a": 1}), tmp_path / "out")
    assert [p.as_posix() for p in report.scenarios] == ["code_1/scenario.yaml"]
    (play,) = plays([tmp_path / "out"])
    said = [(m.t_ns / SECOND, m.positive, m.query) for m in play.truth.moments]
    assert said == [(0.0, True, "Review it / Run it"), (23.0, False, None), (25.0, True, "Write it")]
    windows = [(o.opens_ns / SECOND, o.closes_ns / SECOND, o.unservable) for o in play.truth.opportunities]
    assert windows == [(0.0, 3.744, None), (25.0, 55.0, None)]
    assert (play.settings["protocol"], play.user, play.intentions) == ("moments", "code_1", ("Uncategorized",))
    assert "rejected proposal is a moment without a need" in play.truth.rule
    assert _count(report, "repaired", "same time") == 1
    assert _count(report, "repaired", "before the row above") == 1
    assert _count(report, "noted", "accepted (a need)") == 2
    assert _count(report, "noted", "without a proposal, task_status false") == 2
    assert not [f for f in check(tmp_path / "out/code_1") if f.severity == "damage"]


def test_what_was_proposed_and_whether_it_was_accepted_is_kept_beside_the_events(tmp_path: Path) -> None:
    import_(_write(tmp_path / "src", code_1=TRACE), tmp_path / "out")
    with Reader(tmp_path / "out/code_1") as reader:
        rows = reader.table("events", ("id", "start_ns", "window_title", "detailed_description"), order="id")
        texts = [text for (text,) in reader.rows(("text",))]
    assert texts == ["opens a file", "searches", "reads", "scrolls", "types"]
    assert json.loads(rows[0][3]) == {"proposed": ["Review it", "Run it"], "accepted": True}
    assert json.loads(rows[1][3]) == {"proposed": [], "accepted": False}


def test_importing_again_changes_nothing_and_another_trace_beside_it_is_another_import(tmp_path: Path) -> None:
    src = _write(tmp_path / "src", code_1=TRACE)
    first = import_(src, tmp_path / "out")
    again = import_(src, tmp_path / "out")
    assert (first.unchanged, again.unchanged, again.lines) == (False, True, first.lines)
    _write(src, code_2=TRACE)
    with pytest.raises(InputError, match="another source or other options"):
        import_(src, tmp_path / "out")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[{", "not JSON"),
        ('[{"observation": NaN}]', "NaN is not a number"),
        ({"observation": []}, "a list of observations is wanted"),
        ("[" * 100_000, "nested too deeply"),
        ("[" + "1" * 5000 + "]", "not JSON"),
    ],
)
def test_a_file_that_is_no_trace_is_one_sentence(tmp_path: Path, content: Any, words: str) -> None:
    src = _write(tmp_path, code_1=content)
    with pytest.raises(InputError, match=words):
        import_(src / "code_1.json", tmp_path / "out", format="proactivebench")


def test_odd_rows_and_files_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    odd = [*TRACE, 5, {}, _row("NaN"), _row("soon"), _row(1e300), _row(-1), _row(1717378030, 7), _row(1717378031, "  "),
           {**_row(1717378032), "task_status": "yes"}, {**_row(1717378033, "x"), "agent_response": 5}]  # fmt: skip
    report = import_(_write(tmp_path / "src", code_1=odd, code_2="{}", code_3=[]), tmp_path / "out")
    assert _count(report, "left out", "without a time") == 4
    assert _count(report, "left out", "without a text") == 4
    assert _count(report, "noted", "nobody says") == 1
    assert _count(report, "left out", "another form") == 1
    assert _count(report, "left out", "no traces") == 1
    assert _count(report, "left out", "without an observation") == 1
    assert _count(report, "kept", "observations") == 7


def test_half_characters_and_nul_do_not_stop_an_import(tmp_path: Path) -> None:
    src = _write(tmp_path / "src", code_1='[{"observation": {"time": "5", "event": "a\\ud800\\u0000b"}}]')
    import_(src, tmp_path / "out")
    assert plays([tmp_path / "out"])[0].truth.known


def test_auto_knows_a_trace_and_leaves_other_json_alone(tmp_path: Path) -> None:
    assert chosen("auto", _write(tmp_path / "a", code_1=TRACE)).name == "proactivebench"
    assert chosen("auto", _write(tmp_path / "repo/dataset/test_data", code_1=TRACE).parents[1]).name == "proactivebench"
    other = _write(tmp_path / "b", other=[{"x": 1}])
    assert not FORMATS["proactivebench"].sniff(other)


@pytest.mark.parametrize(
    ("answer", "tasks"),
    [
        ({"candidate_task": ["a", "b"]}, ("a", "b")),
        ({"candidate_task": []}, ()),
        (["null"], ("null",)),
        ([], ()),
        (None, ()),
        ("do it", ("do it",)),
        ([None, ""], ()),
        ({"task": "x"}, ('{"task": "x"}',)),
        ([{"task": "x"}], ('{"task": "x"}',)),
        (5, None),
        ({"candidate_task": {"task": "x"}}, None),
        ({"candidate_task": 7}, None),
        ({"candidate_task": ["a", 7]}, None),
        ([["a"]], None),
        ([True], None),
    ],
)
def test_an_answer_is_read_in_every_published_form(answer: Any, tasks: tuple[str, ...] | None) -> None:
    assert proposal_of(answer) == tasks


@pytest.mark.parametrize("answer", [{"task": "x"}, {"candidate_task": {"task": "x"}}, {"candidate_task": [["x"]]}])
def test_a_trace_with_a_task_of_an_unknown_form_makes_no_need_of_it(tmp_path: Path, answer: Any) -> None:
    odd = {**_row(1717378030.0, "reads", (), True), "agent_response": answer}
    report = import_(_write(tmp_path / "src", code_1=[*TRACE[:2], odd]), tmp_path / "out")
    assert _count(report, "left out", "answers of another form") == 1
    (play,) = plays([tmp_path / "out"])
    assert [need.query for need in play.truth.opportunities] == ["Review it / Run it"]


@given(st.lists(st.integers(0, 50), max_size=30))
def test_times_are_put_in_order_and_each_change_is_counted(times: list[int]) -> None:
    ledger = Ledger()
    made = in_order(times, 3, ledger, "x")
    assert all(a < b for a, b in pairwise(made))
    assert sum(a != b for a, b in zip(times, made, strict=True)) <= sum(ledger.counts.values())
    assert in_order(made, 3, Ledger(), "x") == made
    assert made == times or ledger.counts


def _case(**changed: Any) -> dict[str, Any]:
    return {
        "obs": [{"time": "1", "event": "types"}],
        "pred_task": "Help",
        "valid": True,
        "help_needed": True,
        "annotation": [True, True, False],
        "category": "Correct-Detection (CD)",
    } | changed


def test_a_reward_case_is_what_most_annotators_said(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    rows = [
        _case(),
        _case(valid=False),
        _case(pred_task=None, annotation=[False] * 3, valid=False),
        {},
        _case(obs=5),
        _case(annotation=[]),
        _case(annotation=[True, False]),
        _case(annotation=["yes"] * 3),
        _case(pred_task=1),
    ]
    file.write_text("\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    ledger = Ledger()
    found = judge_cases(file, ledger)
    assert [(c.valid, c.proposal, c.category) for c in found] == [
        (True, "Help", "Correct-Detection"),
        (True, "Help", "Correct-Detection"),
        (False, None, "Correct-Detection"),
    ]
    assert list(ledger.of("noted").values()) == [1]
    assert list(ledger.of("left out").values()) == [6]
    file.write_text('{"obs": [', encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        judge_cases(file, Ledger())


@real
def test_the_published_traces_give_the_counted_needs(tmp_path: Path) -> None:
    report = import_(REAL, tmp_path / "out")
    assert _count(report, "kept", "observations") == 213, "the twelfth trace is not here: 233 with it"
    assert _count(report, "noted", "accepted (a need)") == 80
    assert _count(report, "noted", "rejected (no need)") == 37
    assert _count(report, "noted", "without a proposal, task_status false") == 92
    assert _count(report, "noted", "without a proposal, task_status true") == 4
    assert _count(report, "repaired", "before the row above") == 12, "writing_11, _12 and _14"
    found = plays([tmp_path / "out"])
    assert len(found) == 11
    assert sum(m.positive for p in found for m in p.truth.moments) == 80
    assert sum(not m.positive for p in found for m in p.truth.moments) == 37


@real
def test_the_published_reward_cases_are_30_of_each_kind() -> None:
    found = judge_cases(REAL / "dataset/reward_data/test_data.jsonl", Ledger())
    kinds = {c.category: sum(o.category == c.category for o in found) for c in found}
    assert kinds == dict.fromkeys(kinds, 30)
    assert (len(found), sum(c.valid for c in found)) == (120, 60)


def test_a_list_is_wanted() -> None:
    with pytest.raises(InputError, match="a list"):
        trace_rows({}, "x", Ledger())
