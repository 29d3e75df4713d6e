"""Model answers that ProactiveBench stored: read out of archives that may be anything, counted as published."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import InputError
from simulator.sources import stored_answers
from simulator.sources.foreign import Ledger
from simulator.sources.published_tables import EPSILON, RATES, Row, rates, recover, tables
from simulator.sources.stored_answers import Split, observed, read_answers, read_judgements, read_splits

REAL = Path(__file__).parents[2] / "../shared/data/proactivebench"
real = pytest.mark.skipif(not REAL.exists(), reason="no ../shared/data/proactivebench")


def _trace(*answers: Any) -> list[dict[str, Any]]:
    return [{"observation": {"time": "1", "event": f"event {i}"}, "agent_response": a} for i, a in enumerate(answers)]


def _zip(file: Path, members: dict[str, Any]) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content if isinstance(content, str | bytes) else json.dumps(content))
    return file


def _left_out(ledger: Ledger) -> dict[str, int]:
    return ledger.of("left out")


def test_answers_are_read_by_model_and_trace(tmp_path: Path) -> None:
    file = _zip(tmp_path / "t.zip", {"eval/b/code_1.json": _trace(["Help"], []), "eval/a/code_1.json": _trace(None)})
    stored = read_answers(file)
    assert list(stored.answers) == ["a", "b"]
    found = [(key, one.proposals, one.counted) for key, one in stored.of("b", None)]
    assert found == [(("b", "code_1.json", 0), ("Help",), True), (("b", "code_1.json", 1), (), False)]
    assert observed(stored, ("b", "code_1.json", 1), 20) == ["event 0", "event 1"]
    assert observed(stored, ("b", "code_1.json", 1), 1) == ["event 1"]
    assert stored.missing("b", Split("x", ("code_1.json", "code_2.json"))) == ("code_2.json",)


def test_what_was_counted_as_a_proposal_is_and_what_is_odd_of_it_is_noted(tmp_path: Path) -> None:
    answers = _trace(["null"], {"candidate_task": []}, {"candidate_task": ["a"]}, 5, [])
    stored = read_answers(_zip(tmp_path / "t.zip", {"m/x.json": [*answers, {"observation": 3}, 7]}))
    found = [(one.counted, one.null_word, one.proposals is None) for _, one in stored.of("m", None)]
    unknown = (False, False, True)
    assert found == [(True, True, False), (True, False, False), (True, False, False), unknown, (False, False, False),
                     unknown, unknown]  # fmt: skip
    assert sorted(stored.ledger.of("noted").values()) == [1, 1, 2, 3]


def test_nothing_of_a_hostile_archive_is_written_or_taken(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    good = _trace(["x"])
    members = {
        "../../evil/x.json": good, "/etc/y.json": good, "..\\up\\z.json": good, "m/a.json": good, "m/b.txt": "no",
        "m/torn.json": "[{", "m/nan.json": '[{"agent_response": NaN}]', "m/deep.json": "[" * 100_000,
        "m/latin.json": "[\"\xe9\"]".encode("latin-1"), "m/other.json": {"a": 1}, "__MACOSX/m/a.json": good,
    }  # fmt: skip
    stored = read_answers(_zip(here / "t.zip", members))
    assert {m: list(t) for m, t in stored.answers.items()} == {"m": ["a.json"]}
    assert _left_out(stored.ledger) == {
        "files that are no stored answers": 1,
        "members that are no JSON": 1,
        "members that are not JSON": 3,
        "members that are not UTF-8": 1,
        "members whose path leads out of the archive": 3,
    }
    assert [p.name for p in tmp_path.rglob("*")] == ["here", "t.zip"], "nothing was unpacked"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_second_answer_to_the_same_trace_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "t.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/m/x.json", json.dumps(_trace(["first"])))
        archive.writestr("b/m/x.json", json.dumps(_trace(["second"])))
        archive.writestr("a/m/x.json", json.dumps(_trace(["third"])))
    stored = read_answers(file)
    assert [one.proposals for _, one in stored.of("m", None)] == [("first",)]
    assert sum(_left_out(stored.ledger).values()) == 2


def test_a_bomb_is_not_unpacked_past_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_answers, "LARGEST_MEMBER", 10_000)
    file = _zip(tmp_path / "t.zip", {"m/bomb.json": b"[" + b" " * 20_000_000 + b"]", "m/x.json": _trace(["a"])})
    tracemalloc.start()
    stored = read_answers(file)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()
    assert _left_out(stored.ledger) == {"members that unpack to more than the limit": 1}
    monkeypatch.setattr(stored_answers, "LARGEST_WHOLE", 10_000)
    many = _zip(tmp_path / "u.zip", {f"m/{i}.json": _trace(["a" * 3000]) for i in range(9)})
    with pytest.raises(InputError, match="MB unpacked"):
        read_answers(many)
    monkeypatch.setattr(stored_answers, "MOST_MEMBERS", 3)
    with pytest.raises(InputError, match="more than 3 members"):
        read_answers(many)


def test_a_member_that_lies_of_its_size_or_is_damaged_or_encrypted_is_counted(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("m/a.json", json.dumps(_trace(["aaaa"])))
        archive.writestr("m/b.json", json.dumps(_trace(["bbbb"])))
    raw = whole.getvalue()
    (tmp_path / "torn.zip").write_bytes(raw.replace(b"aaaa", b"cccc", 1))
    assert _left_out(read_answers(tmp_path / "torn.zip").ledger) == {"members that are damaged (checksum)": 1}
    locked = bytearray(raw)
    at = locked.index(b"PK\x01\x02")
    locked[at + 8] |= 1  # the flag of the first member in the directory
    (tmp_path / "locked.zip").write_bytes(bytes(locked))
    assert _left_out(read_answers(tmp_path / "locked.zip").ledger) == {"members that are encrypted": 1}
    (tmp_path / "cut.zip").write_bytes(raw[:60])
    with pytest.raises(InputError, match="not a zip archive"):
        read_answers(tmp_path / "cut.zip")


def test_an_archive_of_which_nothing_can_be_read_says_why(tmp_path: Path) -> None:
    raw = bytearray(_zip(tmp_path / "t.zip", {"m/a.json": _trace(["a"])}).read_bytes())
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "t.zip").write_bytes(bytes(raw))
    with pytest.raises(InputError, match=r"no stored answers .*\(1 members that are encrypted: a.json\)"):
        read_answers(tmp_path / "t.zip")


def test_a_time_that_is_given_twice_is_no_time(tmp_path: Path) -> None:
    twice = '[{"observation": {"time": "1", "time": "9", "event": "x"}, "agent_response": []}]'
    with pytest.raises(InputError, match=r"1 members that are not JSON: a.json: not JSON \(a key is given twice\)"):
        read_answers(_zip(tmp_path / "t.zip", {"m/a.json": twice}))
    (tmp_path / "v.jsonl").write_text('{"model": "m", "file": "a", "index": 0, "index": 1, "judgement": "accepted"}')
    with pytest.raises(InputError, match=r"line 1: not JSON \(a key is given twice\)"):
        read_judgements(tmp_path / "v.jsonl", Ledger())


def test_a_folder_and_a_single_trace_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "all/m").mkdir(parents=True)
    (tmp_path / "all/m/x.json").write_text(json.dumps(_trace(["a"])), encoding="utf-8")
    (tmp_path / "all/m/bad.json").write_text("[", encoding="utf-8")
    (tmp_path / "outside.json").write_text(json.dumps(_trace(["a"])), encoding="utf-8")
    (tmp_path / "all/m/link.json").symlink_to(tmp_path / "outside.json")
    stored = read_answers(tmp_path / "all")
    assert list(stored.answers["m"]) == ["x.json"]
    assert sum(_left_out(stored.ledger).values()) == 2
    assert list(read_answers(tmp_path / "outside.json").answers) == ["outside"]
    with pytest.raises(InputError, match="no stored answers"):
        read_answers(_zip(tmp_path / "t.zip", {"x.json": "[]"}))
    with pytest.raises(InputError, match="no such file"):
        read_answers(tmp_path / "none")


@pytest.mark.parametrize(
    "raw", ["[]", "{}", '{"a": []}', '{"a": {"files": []}}', '{"a": {"files": [1]}}', '{"a": {"files": ["x", "x"]}}']
)
def test_splits_of_another_form_are_one_sentence(tmp_path: Path, raw: str) -> None:
    file = tmp_path / "splits.json"
    file.write_text(raw, encoding="utf-8")
    with pytest.raises(InputError, match=str(file)):
        read_splits(file)


@pytest.mark.parametrize(
    "line",
    ["5", "{}", '{"model": "m", "file": "x", "index": true, "judgement": "accepted"}',
     '{"model": "m", "file": "x", "index": 0, "judgement": "maybe"}', '{"model": "m"', "NaN"],
)  # fmt: skip
def test_a_verdict_of_another_form_is_one_sentence(tmp_path: Path, line: str) -> None:
    file = tmp_path / "v.jsonl"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        read_judgements(file, Ledger())


def test_verdicts_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "v.jsonl"
    one = {"model": "m", "file": "x.json", "index": 0, "judgement": "accepted"}
    file.write_text(f"{json.dumps(one)}\n{json.dumps(one)}\n", encoding="utf-8")
    assert read_judgements(file, Ledger()) == {("m", "x.json", 0): True}
    file.write_text(f"{json.dumps(one)}\n{json.dumps({**one, 'judgement': 'Rejected'})}\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: a line above says the opposite"):
        read_judgements(file, Ledger())


def test_rates_are_those_of_the_published_script() -> None:
    said = rates(111, 112, 4, 0)  # activeqwen, real_average
    assert [repr(r) for r in said] == [
        "0.99999999990991", "0.4977578475113113", "0.506607929493101", "0.5022421524438456", "0.664670654205063",
    ]  # fmt: skip
    assert rates(0, 0, 0, 0) == rates(0, 0, 0, 0, 0.0) == (0, 0, 0, 0, 0)
    assert rates(1, 1, 1, 1, 0.0) == (0.5, 0.5, 0.5, 0.5, 0.5)


@pytest.mark.parametrize("counts", [(111, 112, 4, 0), (0, 5, 5, 0), (3, 0, 0, 0), (1, 2, 3, 4), (50, 50, 50, 50)])
def test_whole_numbers_come_back_out_of_printed_rates(counts: tuple[int, int, int, int]) -> None:
    row = Row("m", "all", tuple(map(repr, rates(*counts))), sum(counts))
    assert counts in [(f.tp, f.fp, f.tn, f.fn) for f in recover(row)]
    assert all(f.epsilon == EPSILON for f in recover(row))


def test_few_digits_leave_several_answers_or_a_rate_without_epsilon() -> None:
    short = Row("m", "all", tuple(f"{r:.2f}" for r in rates(10, 10, 10, 10)), 40)
    assert len(recover(short)) >= 1
    plain_ = Row("m", "all", tuple(map(repr, rates(111, 112, 4, 0, 0.0))), 227)
    assert [(f.tp, f.epsilon) for f in recover(plain_)] == [(111, 0.0)]
    wrong = Row("m", "all", ("0.5", "0.4977578475113113", "0.506607929493101", "0.5", "0.66"), 227)
    assert recover(wrong) == []


def test_tables_that_are_none_are_counted(tmp_path: Path) -> None:
    head = f"Category,{','.join(RATES)},Accept Rate,Total Events\n"
    (tmp_path / "good.csv").write_text(f"{head}all,1.0,0.5,0.5,0.5,0.6,0.5,4\n", encoding="utf-8")
    (tmp_path / "empty.csv").write_text("\n", encoding="utf-8")
    (tmp_path / "nan.csv").write_text(f"{head}all,nan,0.5,0.5,0.5,0.6,0.5,4\n", encoding="utf-8")
    (tmp_path / "huge.csv").write_text(f"{head}all,1.0,0.5,0.5,0.5,0.6,0.5,999999999999\n", encoding="utf-8")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    ledger = Ledger()
    assert list(tables(tmp_path, ledger)) == ["good"]
    assert _left_out(ledger) == {"tables that are empty": 1, "tables that cannot be read": 3}
    with pytest.raises(InputError, match="no table"):
        tables(tmp_path / "none", Ledger())


@real
def test_the_published_denominators_are_the_proposals_counted() -> None:
    stored = read_answers(REAL / "eval/traces.zip")
    whole = next(s for s in read_splits(REAL / "dataset/test_data/splits.json") if s.name == "real_average")
    counted = {m: sum(one.counted for _, one in stored.of(m, whole)) for m in stored.answers}
    assert len(counted) == 15
    golden = {"activeqwen": 223, "gpt-4o": 226, "activellama": 211, "qwen2-7b": 227, "llama3-70b": 196,
              "claude-3-sonnet-20240229": 134}  # fmt: skip
    assert {m: counted[m] for m in golden} == golden
    assert {sum(1 for _ in stored.of(m, whole)) for m in stored.answers} == {227}
    assert sorted({sum(1 for _ in stored.of(m, None)) for m in stored.answers}) == [227, 507]


@real
def test_every_published_table_is_reproduced_to_its_last_digit() -> None:
    stored = read_answers(REAL / "eval/traces.zip")
    splits = {s.name: s for s in read_splits(REAL / "dataset/test_data/splits.json")}
    found = tables(REAL / "eval/results", Ledger())
    assert len(found) == 16, "the 17th, judged.csv, is an empty file"
    hits = {}
    for model, rows in found.items():
        assert [row.category for row in rows] == ["real_average", "real_coding", "real_writing"]
        parts = []
        for row in rows:
            (one,) = recover(row)
            assert tuple(map(repr, rates(one.tp, one.fp, one.tn, one.fn))) == row.texts
            if model in stored.answers:
                answers = [a for _, a in stored.of(model, splits[row.category])]
                assert (sum(a.counted for a in answers), len(answers)) == (one.proposals, row.events)
            parts.append((one.tp, one.fp, one.tn, one.fn))
        assert parts[0] == tuple(a + b for a, b in zip(parts[1], parts[2], strict=True)), "coding and writing are all"
        hits[model] = (parts[0][0], parts[0][0] + parts[0][1])
    assert hits["activeqwen"] == (111, 223)
    assert hits["gpt-4o"] == (112, 226)
    assert hits["activellama"] == (96, 211)
    assert hits["qwen2-7b"] == (99, 227)
