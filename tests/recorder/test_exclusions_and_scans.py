"""What the exclusions pass over in terminals waits for a person after a scan, as README.md and docs/privacy.md say."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.privacy.rules import load_rules
from simulator.recorder.exclusions import Exclusions
from simulator.recorder.windows import Window

ROOT = Path(__file__).resolve().parents[2]
SAID = "not in terminals and editors of code"


@pytest.mark.parametrize("app", ["xterm", "code"])
@pytest.mark.parametrize(("title", "kind"), [("Online banking - My bank", "banking"), ("Patient portal", "health")])
def test_terminals_and_editors_are_recorded_and_their_pictures_wait_as_the_pages_say(
    app: str, title: str, kind: str
) -> None:
    rules = Exclusions.load()
    assert rules.reason(Window("chromium", title, None, kind="normal")) == kind
    assert rules.reason(Window("a bank's own program", title, None, kind="normal")) == kind
    assert rules.reason(Window(app, title, None, kind="normal")) is None
    assert load_rules().title(title) == kind
    assert all(
        SAID in " ".join((ROOT / page).read_text(encoding="utf-8").split()) for page in ("README.md", "docs/privacy.md")
    )


def test_a_rule_of_your_own_holds_in_a_terminal_too(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("rules: [{name: bank, words: [online banking]}]\n", encoding="utf-8")
    window = Window("xterm", "Online banking - My bank", None, kind="normal")
    assert Exclusions.load(file).reason(window) == "bank"
