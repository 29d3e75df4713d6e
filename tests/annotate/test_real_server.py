"""Against llama.cpp's own server: annotation, judge and personas by a real model, whose answers mean nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.persona_writer import Material, PersonaWriter
from scorers.judge import Judge, JudgeFailed
from simulator.cli.annotate import annotate
from simulator.core.errors import UsageError
from simulator.endpoint import Endpoint, ModelChoice
from tests.annotate.studies import DAY, rows, session
from tests.endpoint.llama import serving

KEY = "sk-planted-0123456789abcdef"


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    with serving() as base_url:
        yield base_url


def told(capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capfd.readouterr().out.splitlines()[0])
    return found


def verdicts(folder: Path) -> list[tuple[Any, ...]]:
    return rows(
        folder, "SELECT start_ns, status, assistance, summary, intention, asked_hash FROM annotations ORDER BY id"
    )


def test_a_real_model_annotates_and_a_cassette_does_it_again_without_it(
    llama: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    live, again = (session(tmp_path / name, DAY[1:2], pictures=False, text=False) for name in ("live", "again"))
    how: dict[str, Any] = {"model": "tiny", "max_tokens": 100, "temperature": 0, "json": True}
    tape = tmp_path / "tape.jsonl"
    assert annotate([live], base_url=llama, cassette=tape, record=True, **how) == 0
    first = told(capfd)
    assert first["n_events"] == sum(first["by_status"].values()) == 1
    assert (first["tokens_in"] > 100) == ("annotated" in first["by_status"] or "partial" in first["by_status"])
    assert first["official"] is False
    before = (live / "session.db").read_bytes()
    assert annotate([live], base_url=llama, **how) == 0
    assert told(capfd)["n_known"] == 1
    assert (live / "session.db").read_bytes() == before
    assert annotate([again], cassette=tape, **how) == 0
    assert verdicts(again) == verdicts(live)
    assert KEY.encode() not in before + tape.read_bytes()
    assert all(status != "annotated" or summary for _, status, _, summary, _, _ in verdicts(live))


async def test_a_real_model_writes_a_persona(llama: str) -> None:
    writer = PersonaWriter(Endpoint(ModelChoice("tiny", llama, max_tokens=60, temperature=0)), "tiny")
    material = Material(
        "Moments in which the user needed help",
        "Moments with help needed (9)",
        "In 9 moments",
        ("code, “parser.py”", "code, “test.py”"),
    )
    (text,) = await writer.write([material])
    await writer.close()
    assert text is None or len(text.split()) * 4 >= 15
    assert writer.n.total() >= 1


def test_a_real_model_judges_or_says_that_it_cannot(llama: str) -> None:
    with Judge(Endpoint(ModelChoice("tiny", llama, max_tokens=60, temperature=0)), "tiny") as judge:
        try:
            found = judge.same({"diet": "vegetarian"}, ["find a restaurant", "book a flight"], ["eat out"])
        except JudgeFailed:
            return
        assert all(0 <= a < 2 and b == 0 for a, b in found)


def test_a_server_that_is_not_there_is_told_in_a_sentence_and_changes_nothing(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", DAY[:1])
    before = (folder / "session.db").read_bytes()
    with pytest.raises(UsageError, match="cannot be reached"):
        annotate([folder], model="m", base_url="http://127.0.0.1:9/v1", json=True)
    assert (folder / "session.db").read_bytes() == before


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({}, "--model NAME, or --rules"),
        ({"model": "m", "rules": True}, "--model NAME, or --rules"),
        ({"model": " "}, "--model NAME, or --rules"),
        ({"model": "a\nb"}, "control characters"),
        ({"model": "m", "temperature": float("inf")}, "temperature of the model must be a finite number"),
        ({"model": "m", "extra_body": '{"a": [NaN]}'}, "without NaN or Infinity"),
        ({"model": "m", "extra_body": '{"stream": false}'}, "must not hold 'stream'"),
        ({"model": "m", "base_url": "http://me:hidden@127.0.0.1:9/v1"}, "a user or a password in it"),
        ({"model": "m", "extra_body": "[1]"}, "a JSON object"),
        ({"model": "m", "extra_body": "{"}, "a JSON object"),
        ({"model": "m", "record": True, "base_url": "http://127.0.0.1:9/v1"}, "--cassette"),
        ({"model": "m"}, "OPENAI_BASE_URL"),
        ({"model": "m", "timeout": "soon"}, "--timeout: "),
        ({"model": "m", "ocr": "tesserect"}, "did you mean 'tesseract'"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is(tmp_path: Path, how: dict[str, Any], said: str) -> None:
    folder = session(tmp_path / "s", DAY[:1])
    with pytest.raises(UsageError, match=said):
        annotate([folder], **how)


def test_rules_need_no_server_and_apply_fills_the_events(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = session(tmp_path / "s")
    assert annotate([tmp_path], rules=True, apply=True, json=True) == 0
    first = told(capfd)
    assert (first["n_assistance"], first["filled"]) == (1, {"is_llm_event": 4, "llm_platform": 1})
    assert rows(folder, "SELECT is_llm_event FROM events ORDER BY id") == [(0,), (1,), (0,), (0,)]
    before = (folder / "session.db").read_bytes()
    assert annotate([tmp_path], rules=True, json=True) == 0
    assert told(capfd)["n_known"] == 4
    assert (folder / "session.db").read_bytes() == before


def test_a_folder_without_sessions_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no session"):
        annotate([tmp_path], rules=True)
    with pytest.raises(UsageError, match="there is no such file or folder"):
        annotate([tmp_path / "x"], rules=True)
    with pytest.raises(UsageError, match="name a recorded session"):
        annotate([], rules=True)
