"""A model that never answers is told after some calls, and a run that mostly failed says so before its scores count."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from simulator.cli import _call
from simulator.cli.failing import Failing
from simulator.cli.playing import errors_of
from simulator.cli.speak import Voice
from simulator.core.types import SECOND
from simulator.play.player import Played
from simulator.runs.records import Kind
from simulator.session.store import Writer
from tests.endpoint.faults import FaultServer


def failure(kind: str) -> tuple[Kind, dict[str, Any]]:
    return Kind.ERROR, {"error": {"kind": kind, "text": "the key was refused"}}


KEY, DEAD = failure("model_unauthorized"), failure("model_connection")
UNASKED: tuple[Kind, dict[str, Any]] = (Kind.SILENT, {})
ANSWERED: tuple[Kind, dict[str, Any]] = (Kind.SILENT, {"tokens": {"in": 4, "out": 2}})


@pytest.mark.parametrize(
    ("heard", "told"),
    [
        ([KEY] * 4, 0),
        ([KEY] * 5, 1),
        ([KEY] * 50, 1),
        ([UNASKED, KEY] * 5, 1),
        ([DEAD] * 5, 1),
        ([ANSWERED, *[KEY] * 9], 0),
        ([KEY, KEY, ANSWERED, *[KEY] * 9], 0),
        ([KEY, DEAD] * 9, 0),
        ([failure("model_server")] * 9, 0),
    ],
)
def test_equal_failures_from_the_very_start_are_told_once(
    heard: list[tuple[Kind, dict[str, Any]]], told: int, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = Failing(Voice(as_json=False))
    for kind, fields in heard:
        failing.decided(SimpleNamespace(answer=SimpleNamespace(fields=fields)), kind, 0)  # type: ignore[arg-type]
    assert capsys.readouterr().err.count("look at address, key and model name") == told


def test_a_run_with_a_wrong_key_says_so_while_it_goes_on_and_again_when_it_is_found_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-some-length")
    with Writer(tmp_path / "s", session="s", user="u") as writer:  # without pictures there is nothing to read in them
        rows = [(i, i * SECOND, "xterm", f"title {i}") for i in range(8)]
        writer.add_rows(("tick", "captured_ns", "app_name", "window_title"), rows)
    words = ["run", str(tmp_path / "s"), "--agent", "zero-shot", "--memory", "none", "--policy", "stride:1", "--out",
             str(tmp_path / "r"), "--model", "m", "--base-url"]  # fmt: skip
    with FaultServer() as server:
        assert _call([*words, url := server.url("echoes_key_401")]) == 0
        said = capsys.readouterr().err
        assert "the first 5 decisions that asked a model all failed (model_unauthorized: " in said
        assert "a-key-of-some-length" not in said
        assert _call([*words, url]) == 0
        first, second, *_ = capsys.readouterr().err.splitlines()
    assert "all of it was played before; --again plays it anew" in first
    assert "every decision failed" in second


@pytest.mark.parametrize(("n_errors", "told"), [(16, False), (17, True), (21, True)])
def test_a_run_that_failed_by_half_says_that_its_scores_say_little(n_errors: int, told: bool) -> None:
    scores = {"counts": {"decisions": 33, "error": n_errors}}
    said = [f"mine: {n_errors} of 33 decisions failed: these scores say little; --again plays it anew"]
    assert errors_of("mine", Played(Path("run"), scores)) == (said if told else [])
