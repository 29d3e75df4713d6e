"""``proact dataset annotate`` and ``audit`` as processes: exit codes, records, and what a kill leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.annotate.studies import DAY, rows, session
from tests.endpoint.faults import FaultServer

pytestmark = pytest.mark.e2e
KEY = "sk-planted-fedcba9876543210"


def test_rules_then_an_audit_by_table(proact: Any, tmp_path: Path) -> None:
    session(tmp_path / "study" / "s")
    done = proact("dataset", "annotate", "study", "--rules", "--json")
    assert done.code == 0
    assert [record["event"] for record in done.records] == ["annotated", "done"]
    assert proact("dataset", "audit", "study", "--questions", "q.csv").code == 0
    table = (tmp_path / "q.csv").read_text().splitlines()
    (tmp_path / "q.csv").write_text("\n".join([table[0], *(line[:-2] + ",no," for line in table[1:])]) + "\n")
    done = proact("dataset", "audit", "study", "--answers", "q.csv", "--json")
    assert done.code == 0
    assert done.records[-1]["assistance"]["annotator_person"] == {"yes_yes": 0, "yes_no": 1, "no_yes": 0, "no_no": 3}
    assert "75.0 % of 4" in proact("dataset", "audit", "study", "--answers", "q.csv").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("annotate", "s"), "--model NAME, or --rules"),
        (("annotate", "nowhere", "--rules"), "there is no such file or folder"),
        (("audit", "s"), "nothing is annotated there"),
        (("annotate", "s", "--model", "m"), "OPENAI_BASE_URL"),
    ],
)
def test_what_cannot_be_done_ends_with_2_and_a_sentence(proact: Any, tmp_path: Path, words: Any, said: str) -> None:
    session(tmp_path / "s")
    done = proact("dataset", *words)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("fault", "code", "status"),
    [
        ("echoes_key_401", 2, None),
        ("not_there", 2, None),
        ("fails", 3, None),
        ("half_json", 3, None),
        ("closes_early", 3, None),
        ("ok", 0, 'there is no JSON object with the field "assistance" in it'),
        ("length", 0, "no answer (length)"),
        ("empty", 0, "no answer (empty)"),
        ("echoes_key_as_answer", 0, "no answer (refused)"),
        ("bad_request", 3, None),
    ],
)
def test_a_server_at_fault_leaves_nothing_made_up_and_tells_no_key(
    proact: Any, tmp_path: Path, fault: str, code: int, status: str | None
) -> None:
    session(tmp_path / "s", DAY[:1], pictures=False)
    with FaultServer() as server:
        given = {"OPENAI_BASE_URL": server.url(fault), "OPENAI_API_KEY": KEY}
        done = proact("dataset", "annotate", "s", "--model", "m", **given)
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    said = rows(tmp_path / "s", "SELECT status, reason, assistance, summary FROM annotations")
    assert said == ([] if status is None else [("unannotated", status, None, None)])
    assert KEY not in done.out + done.err
    assert KEY.encode() not in (tmp_path / "s" / "session.db").read_bytes()


@pytest.mark.parametrize("fault", ["echoes_key_401", "not_there", "fails"])
def test_several_questions_at_once_that_fail_are_one_sentence(proact: Any, tmp_path: Path, fault: str) -> None:
    session(tmp_path / "s", [("code", f"file {i}", 2) for i in range(12)], pictures=False)
    with FaultServer() as server:
        given = {"OPENAI_BASE_URL": server.url(fault), "OPENAI_API_KEY": KEY}
        done = proact("dataset", "annotate", "s", "--model", "m", **given)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert done.err.startswith("proact: no annotation: ")
    assert done.err.endswith("what came before is kept, the same command goes on\n")
