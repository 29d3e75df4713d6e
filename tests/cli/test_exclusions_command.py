"""``proact dataset privacy test`` tries exclusion rules without recording anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulator.cli import _call
from simulator.recorder import windows
from simulator.recorder.windows import NoWindows, Window


def records(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_window_is_judged_by_the_built_in_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["dataset", "privacy", "test", "--app", "chromium", "--title", "My Bank account", "--json"]) == 0
    judged, done = records(capsys)
    assert judged == {
        "event": "judged", "app": "chromium", "title": "My Bank account", "left_out": "banking", "title_kept": None,
    }  # fmt: skip
    assert done["rules"] == ["private window", "private browsing", "passwords", "banking", "health"]


def test_rules_of_ones_own_are_tried_and_the_title_they_keep_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "mine.yaml"
    rules.write_text("titles: {replace: [{match: '[0-9]+', with: '#'}]}\nrules: [{name: chat, apps: [slack]}]\n")
    assert _call(["dataset", "privacy", "test", str(rules), "--app", "xterm", "--title", "order 66"]) == 0
    assert "order #" in capsys.readouterr().out
    assert _call(["dataset", "privacy", "test", str(rules), "--app", "Slack"]) == 0
    assert "left out: chat" in capsys.readouterr().out
    named = ["dataset", "privacy", "test", "--exclude", str(rules), "--app", "Slack"]
    assert _call(named) == 0
    assert "left out: chat" in capsys.readouterr().out
    assert _call([*named, str(rules)]) == 2
    assert "twice" in capsys.readouterr().err


def test_without_a_window_the_file_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = tmp_path / "mine.yaml"
    rules.write_text("rules: [{name: chat, titles: ['(a+)+b']}]\n")
    assert _call(["dataset", "privacy", "test", str(rules)]) == 2
    assert "could take too long" in capsys.readouterr().err
    assert _call(["dataset", "privacy", "test"]) == 0
    assert "the rules are in order" in capsys.readouterr().out


class Desktop(NoWindows):
    def visible(self) -> list[Window] | None:
        return [
            Window("chromium", None, pid=1, x=0, y=0, width=1, height=1),
            Window("chromium", "My bank account", pid=1, x=0, y=0, width=1, height=1),
            Window("xterm", "notes", pid=2, x=0, y=0, width=1, height=1),
        ]


def test_all_windows_of_the_screen_can_be_tried_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    desktop = Desktop()
    monkeypatch.setattr(windows, "choose", lambda: desktop)
    with monkeypatch.context() as patch:
        patch.setattr(windows, "NoWindows", type("Other", (), {}))
        assert _call(["dataset", "privacy", "test", "--now", "--json"]) == 0
    found = records(capsys)
    assert [one.get("left_out") for one in found[:-1]] == ["banking", "banking", None], "a menu goes with its page"
    assert found[-1]["skip"] is None


def test_a_desktop_that_does_not_tell_its_windows_is_said_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(windows, "choose", lambda: NoWindows("DISPLAY is not set"))
    assert _call(["dataset", "privacy", "test", "--now"]) == 2
    assert "cannot be told: DISPLAY is not set" in capsys.readouterr().err
