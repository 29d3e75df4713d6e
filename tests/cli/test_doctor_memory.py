"""``proact doctor memory``: the rules of the suite without pytest, in sentences, with an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory.conformance import CHECKS
from simulator.cli.doctor_memory import memory
from simulator.core.errors import UsageError
from tests.answering import Answering

EXAMPLE = "docs/examples/last_question.py:LastQuestion"
LEAKY = '''
from simulator.core.types import MemoryItem

class Leaky:
    """Everybody's titles, to everybody."""

    def __init__(self):
        self.titles = []

    def observe(self, event):
        self.titles.append(event.title or "")

    def recall(self, query, k, token_budget):
        return [MemoryItem(title, 1.0) for title in self.titles[:k]]
'''


@pytest.mark.parametrize("spec", ["rag", "kg", EXAMPLE])
def test_memories_of_ours_and_the_example_have_nothing_wrong(
    spec: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    assert memory(spec, json=True) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert records[-1] == {"event": "done", "missing": 0}
    assert [r["event"] for r in records[:-1]] == ["finding"] * (len(CHECKS) + 1)


def test_what_is_wrong_is_said_in_a_sentence_and_the_exit_code_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(LEAKY)
    assert memory(f"{file}:Leaky", json=True) == 1
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    wrong = {r["name"]: r["said"] for r in records if r.get("state") == "wrong"}
    assert "another user's past was recalled" in wrong["nothing of another user is recalled"]
    assert wrong["items fit the token budget together"]
    assert records[-1]["missing"] == len(wrong)


def test_what_cannot_be_tried_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="unknown memory 'ragg'"):
        memory("ragg")
    with pytest.raises(UsageError, match="--limit 0s"):
        memory("rag", limit="0s")


def test_one_fault_that_breaks_every_rule_is_told_once_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "class Broken:\n    def observe(self, event): raise KeyError('x')\n    def recall(self, *a): return []\n"
    )
    assert memory(f"{file}:Broken", json=True) == 1
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    raised = [r for r in records if "raised KeyError" in r.get("said", "")]
    assert len(raised) == 1
    (more,) = [r for r in records if "more rules" in r.get("name", "")]
    assert more["said"] == "the same as in “every call comes back”"


def test_a_constructor_that_blocks_is_told_within_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import threading\n\nclass Blocks:\n    def __init__(self): threading.Event().wait(30)\n"
        "    def observe(self, event): ...\n    def recall(self, *a): return []\n"
    )
    assert memory(f"{file}:Blocks", limit="50ms", json=True) == 1
    found, done = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (found["name"], found["state"]) == ("made", "wrong")
    assert found["said"].startswith("its constructor did not come back within 0.05 s: it blocks")
    assert done["missing"] == 1


def test_a_memory_that_a_model_writes_can_be_tried(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "The user keeps going back and forth between the parser and its tests, and is glad of a short hint there."
    monkeypatch.setattr("simulator.endpoint.chat.Endpoint", lambda choice, scope: Answering(text))
    assert memory("personas:writer=model", model="m1", json=True) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert records[-1] == {"event": "done", "missing": 0}
