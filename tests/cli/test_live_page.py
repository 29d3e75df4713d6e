"""The word that the live page asks for: kept for its owner, never a weak one."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.cli import _call
from simulator.cli.live import LiveOptions
from simulator.cli.live_page import kept_token, page_of
from simulator.cli.speak import Voice
from simulator.core.errors import Exit

WORD = "0123456789abcdef" * 2


def test_it_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "new" / "page-token"
    assert kept_token(file, lambda: WORD) == WORD
    assert file.stat().st_mode & 0o777 == 0o600
    assert kept_token(file, lambda: "another") == WORD


@pytest.mark.parametrize("there", ["", "short", "../" * 20, "\xff" * 40])
def test_one_that_is_none_is_replaced(there: str, tmp_path: Path) -> None:
    file = tmp_path / "page-token"
    file.write_text(there, encoding="latin-1")
    file.chmod(0o600)
    assert kept_token(file, lambda: WORD) == WORD
    assert file.read_text(encoding="ascii") == WORD


def test_one_that_others_could_read_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "page-token"
    file.write_text(WORD, encoding="ascii")
    file.chmod(0o644)
    assert kept_token(file, lambda: WORD[::-1]) == WORD[::-1]
    assert file.stat().st_mode & 0o777 == 0o600


def test_where_it_cannot_be_kept_there_is_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert kept_token(tmp_path / "file" / "page-token", lambda: WORD) == WORD


def test_without_a_page_nothing_is_served(tmp_path: Path) -> None:
    with page_of(LiveOptions(web=False), tmp_path, Voice(as_json=False)) as page:
        assert (page.live, page.open, page.workers) == (None, False, [])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--speed", "4"], "--speed goes with --replay"),
        (["--replay", "scenarios/nothing", "--speed", "0"], "a whole number from 1"),
        (["--replay", "scenarios/nothing", "--fallback", "scenarios/nothing"], "--replay shows none"),
        (["--replay", "scenarios/nothing", "--past", "scenarios/nothing"], "brings its past"),
        (["--port", "70000"], "0 to 65535"),
        (["--open", "--no-web"], "--no-web serves none"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _call(["live", str(tmp_path / "demo"), *words]) == Exit.USAGE
    assert said in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "demo").exists()
