"""What ``proact view`` refuses, and where it opens no browser."""

from __future__ import annotations

import sys
import tempfile
import webbrowser
from pathlib import Path

import pytest

from simulator.cli import browsing, viewing
from simulator.cli.view import view
from simulator.core.errors import UsageError
from simulator.web.place import Place


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing: there is no such folder; `proact run` makes runs"):
        view([tmp_path / "nothing"])


def test_other_addresses_ports_and_tokens_are_checked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs --token WORD, or --token new"):
        view([tmp_path], host="0.0.0.0")
    with pytest.raises(UsageError, match="a port is a number from 0 to 65535"):
        view([tmp_path], port=70_000)
    with pytest.raises(UsageError, match="at least 8 letters and digits"):
        view([tmp_path], token="short")


def test_no_browser_is_opened_where_it_would_take_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)  # type: ignore[func-returns-value]
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert not browsing.opened("http://127.0.0.1:1/")
    monkeypatch.setenv("DISPLAY", ":0")
    assert browsing.opened("http://127.0.0.1:1/")
    assert opened == ["http://127.0.0.1:1/"]


def test_a_word_is_not_in_what_a_browser_is_called_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every user of a machine can read what programs are called with."""
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)  # type: ignore[func-returns-value]
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":0")
    assert browsing.opened("http://127.0.0.1:1/live?token=SECRETSECRET")
    assert opened[0].startswith("file://")
    assert "SECRET" not in opened[0]
    (file,) = tmp_path.rglob("*.html")
    assert file.as_uri() == opened[0]
    assert 'url=http://127.0.0.1:1/live?token=SECRETSECRET"' in file.read_text()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_browser_that_fails_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(url: str) -> bool:
        raise webbrowser.Error("no browser")

    monkeypatch.setattr(webbrowser, "open", fail)
    monkeypatch.setenv("DISPLAY", ":0")
    assert not browsing.opened("http://127.0.0.1:1/")


def test_pages_that_may_change_recordings_always_want_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[bool, str | None]] = []

    class Stop(Exception):
        pass

    def serve(place: Place, *, token: str | None) -> None:
        made.append((place.editable, token))
        place.close()
        raise Stop

    monkeypatch.setattr(viewing, "Web", serve)
    for how in ({}, {"edit": True}, {"edit": True, "token": "12345678"}):
        with pytest.raises(Stop):
            view([tmp_path], **how)
    assert made[0] == (False, None)
    assert made[1][0]
    assert len(made[1][1] or "") == 32
    assert made[2] == (True, "12345678")
