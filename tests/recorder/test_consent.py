"""Consent is asked once, in plain words, and never assumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulator.core.errors import UsageError
from simulator.recorder import consent
from simulator.recorder.consent import RECORDING, asking, obtain, screening, state_file, text


class Person:
    def __init__(self, answer: str | None, folder: Path) -> None:
        self.answer, self.told, self.env = answer, list[str](), {"XDG_CONFIG_HOME": str(folder)}

    def obtain(self, *scopes: str, yes: bool = False) -> None:
        answer = self.answer
        ask = None if answer is None else lambda question: answer
        obtain(*scopes, yes=yes, say=self.told.append, ask=ask, env=self.env)


def test_the_text_is_shown_once_and_the_agreement_kept(tmp_path: Path) -> None:
    person = Person("y", tmp_path)
    person.obtain(RECORDING)
    person.obtain(RECORDING)
    assert person.told == [text(RECORDING)]
    kept = json.loads(state_file(person.env).read_text())
    assert kept[RECORDING]["version"] == 1


@pytest.mark.parametrize("answer", ["", "n", "no", "maybe", "yess"])
def test_anything_but_yes_records_nothing_and_is_not_kept(tmp_path: Path, answer: str) -> None:
    person = Person(answer, tmp_path)
    with pytest.raises(UsageError, match="you did not agree to recording"):
        person.obtain(RECORDING)
    assert not state_file(person.env).exists()


def test_without_a_terminal_nothing_is_assumed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="add --yes"):
        Person(None, tmp_path).obtain(RECORDING)


def test_scripts_say_yes_and_still_show_the_text(tmp_path: Path) -> None:
    person = Person(None, tmp_path)
    person.obtain(RECORDING, yes=True)
    assert person.told == [text(RECORDING)]
    Person(None, tmp_path).obtain(RECORDING)


def test_each_host_that_gets_pictures_is_agreed_to_by_name(tmp_path: Path) -> None:
    person = Person("YES ", tmp_path)
    person.obtain(RECORDING, screening("models.example"))
    person.obtain(RECORDING, screening("models.example"), screening("other.example"))
    assert len(person.told) == 3
    assert "sent to other.example" in person.told[-1]
    assert "secret" not in screening("user:secret@other.example")


def test_a_text_that_changed_is_shown_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    person = Person("y", tmp_path)
    person.obtain(RECORDING)
    monkeypatch.setattr(consent, "_VERSION", 2)
    person.obtain(RECORDING)
    assert len(person.told) == 2


@pytest.mark.parametrize("content", ["", "[]", "{", '{"recording": true}', '{"recording": {"version": "1"}}', "\0"])
def test_a_damaged_file_is_no_agreement(tmp_path: Path, content: str) -> None:
    person = Person("y", tmp_path)
    file = state_file(person.env)
    file.parent.mkdir()
    file.write_text(content)
    person.obtain(RECORDING)
    assert len(person.told) == 1
    person.obtain(RECORDING)
    assert len(person.told) == 1


def test_an_agreement_that_cannot_be_kept_holds_this_once(tmp_path: Path) -> None:
    (tmp_path / "proact").write_text("a file in the way")
    person = Person("y", tmp_path)
    person.obtain(RECORDING)
    person.obtain(RECORDING)
    text_, told, *again = person.told
    assert again == [text_, told]
    assert told.startswith("that you agreed could not be kept in ")
    assert told.endswith("so the next recording asks again")


def test_the_text_says_what_where_how_long_and_how_to_stop_and_forget() -> None:
    said = text(RECORDING)
    for words in ("picture", "title", "left out", "folder", "until you delete it", "Ctrl-C", "pause", "proact forget"):
        assert words in said


def test_the_place_follows_the_environment(tmp_path: Path) -> None:
    assert state_file({"HOME": "/home/x"}) == Path("/home/x/.config/proact/consent.json")
    assert state_file({"HOME": "/home/x", "XDG_CONFIG_HOME": "relative"}) == Path("/home/x/.config/proact/consent.json")
    assert state_file({"XDG_CONFIG_HOME": str(tmp_path)}) == tmp_path / "proact" / "consent.json"


def test_a_live_agent_that_asks_a_model_elsewhere_is_agreed_to_for_each_host(tmp_path: Path) -> None:
    person = Person("y", tmp_path)
    person.obtain(asking("me:hidden@models.example"), asking("models.example"), asking("other.example"))
    assert len(person.told) == 2
    assert "models.example" in person.told[0]
    assert "hidden" not in person.told[0] + state_file(person.env).read_text()
