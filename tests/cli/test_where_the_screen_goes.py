"""A live run tells where what the screen shows is sent, before anything is."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.cli import _call
from simulator.cli.live import LiveOptions
from simulator.cli.live_page import sent
from simulator.cli.live_playing import asked_host
from simulator.core.errors import Exit
from simulator.endpoint.types import ModelChoice
from simulator.recorder.consent import asking, text


@pytest.mark.parametrize(
    ("agent", "url", "host"),
    [
        ("zero-shot", "https://me:hidden@models.example:8443/v1?key=x", "models.example:8443"),
        ("zero-shot", "http://127.0.0.1:8000/v1", "127.0.0.1:8000"),
        ("cot", "http://localhost:8000/v1", "localhost:8000"),
        ("prior", "https://models.example/v1", None),
        ("self-consistency:k=3", None, "variable.example"),
    ],
)
def test_only_an_agent_that_asks_a_model_sends_the_screen_away(
    agent: str, url: str | None, host: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://variable.example/v1")
    assert asked_host(LiveOptions(agent), ModelChoice("m", url)) == host
    assert asked_host(LiveOptions(agent), None) == (None if agent == "prior" else "variable.example")


def test_a_server_on_this_machine_may_pass_it_on_which_is_said_before_and_all_the_time() -> None:
    asked = asked_host(LiveOptions("zero-shot"), ModelChoice("m", "http://localhost:8899/v1"))
    assert asked is not None
    assert sent(asked).startswith("Sent to localhost:8899 (a program on this machine, which may pass it on): what")
    assert "localhost:8899 (a program on this machine, which may pass it on) as long" in text(asking(asked))
    assert sent("models.example").startswith("Sent to models.example: what")
    assert sent("[::1]:80 and a.example").startswith("Sent to [::1]:80 (a program on this machine,")
    assert sent(None) == "Sent: nothing; agent and memory run in proact itself."


def test_a_cassette_sends_nothing(tmp_path: Path) -> None:
    model = ModelChoice("m", "https://models.example/v1", cassette=tmp_path / "c")
    assert asked_host(LiveOptions("zero-shot"), model) is None


def test_an_address_of_the_environment_at_which_nothing_can_be_asked_is_told_before_the_first_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("OPENAI_BASE_URL", "https://me:hidden@models.example/v1")
    words = ["live", str(tmp_path / "demo"), "--agent", "zero-shot", "--memory", "none", "--screen-command", "false"]
    assert _call(words) == Exit.USAGE
    said = capsys.readouterr().err
    assert "with a user or a password in it" in said
    assert "hidden" not in said
    assert "proact is about to record" not in said, "nobody is asked to agree to what cannot be"
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert _call(words) == Exit.USAGE
    assert "no model server is named" in capsys.readouterr().err
