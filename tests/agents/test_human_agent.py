"""A person as an agent: keys become offers with the instant of the key, and the terminal is left as it was."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import termios
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from agents import terminal
from agents.base import make_agent
from agents.human import Human, Viewer, letters
from agents.terminal import TerminalLost
from agents.testing import FakeMeter, observe
from simulator.cli import _call
from simulator.core.errors import UsageError
from simulator.core.intentions import INTENTIONS
from simulator.core.types import MS, SECOND, SILENT, Decision, ImageRef, Observation, Offer, Setup
from simulator.session.store import Writer
from simulator.timing.clock import real_ns, rest

SETUP = Setup("s", "sam", {"languages": "Engl\x1bish"}, ["Translation", "Summarization"], 0, period_ns=40 * MS)


class Desk:
    """The other end of a terminal: what was shown, and a hand that types."""

    def __init__(self) -> None:
        self.near, self.far = os.openpty()
        self.place = os.ttyname(self.far)
        self.modes = termios.tcgetattr(self.far)
        self.shown = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                self.shown += os.read(self.near, 65536)
            except OSError:
                return

    def type(self, keys: str) -> None:
        os.write(self.near, keys.encode())

    def wait_for(self, text: str) -> None:
        for _ in range(300):
            if text in self.text:
                return
            rest(10 * MS)
        raise AssertionError(f"{text!r} was not shown, but {self.text!r}")

    @property
    def text(self) -> str:
        return self.shown.decode("utf-8", "replace")

    def close(self) -> None:
        for fd in (self.near, self.far):
            try:
                os.close(fd)
            except OSError:
                continue
        self._reader.join(1)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    made = Desk()
    monkeypatch.setattr(terminal, "_PLACE", made.place)
    yield made
    made.close()


def ask(desk: Desk, *seen: Observation, typed: str = "", still: bool = False, viewer: str | None = None,
        before: Callable[[], None] = lambda: None) -> list[Decision]:  # fmt: skip
    """Open, begin, type, and ask once for each observation."""

    async def work() -> list[Decision]:
        agent = Human(viewer, still)
        desk.type(" ")
        await agent.open(SETUP)
        try:
            before()
            if typed:
                desk.type(typed)
                await asyncio.to_thread(rest, 20 * MS)
            return [await agent.decide(o) for o in seen]
        finally:
            await agent.close()

    return asyncio.run(work())


def test_a_key_is_an_offer_handed_over_at_once(desk: Desk) -> None:
    meter = FakeMeter()
    (decision,) = ask(desk, observe(0, meter=meter), typed="b")
    assert decision == Decision((Offer("Summarization"),))
    assert meter.offers == [Offer("Summarization")]


def test_no_key_is_silence_that_ends_just_before_the_next_snapshot(desk: Desk) -> None:
    meter = FakeMeter()
    took: list[int] = []

    def begin() -> None:
        took.append(real_ns())

    first = observe(0, meter=meter)
    assert ask(desk, first, before=begin) == [SILENT]
    took.append(real_ns())
    assert took[1] - took[0] >= 30 * MS
    assert not meter.offers
    late = observe(0, now_ns=39 * MS)
    begun = real_ns()
    assert ask(desk, late) == [SILENT]
    assert real_ns() - begun < SECOND


def test_several_keys_are_several_offers_and_the_same_twice_is_one(desk: Desk) -> None:
    meter = FakeMeter()
    (decision,) = ask(desk, observe(0, meter=meter), typed="abba")
    assert [o.intention for o in decision.offers] == ["Translation", "Summarization"]
    assert len(meter.offers) == 2


def test_the_last_offer_is_taken_back(desk: Desk) -> None:
    (decision,) = ask(desk, observe(0), typed="a-")
    assert decision.retracted == ("Translation",)
    assert ask(desk, observe(0), typed="--") == [SILENT]


def test_an_offer_can_have_words_typed_through_several_snapshots(desk: Desk) -> None:
    seen = [observe(i, meter=(meter := FakeMeter())) for i in range(2)]
    first, second = ask(desk, *seen, typed="Ain 德语 pleX\x7fase\r")
    offer = Offer("Translation", "in 德语 please")
    assert (first, second) == (Decision((offer,)), SILENT)
    assert "Translation: in 德语 please" in desk.text

    async def late() -> list[Decision]:
        agent = Human()
        desk.type(" ")
        await agent.open(SETUP)
        desk.type("B")
        one = await agent.decide(observe(0))
        desk.type("one\t page\n")
        two = await agent.decide(observe(1, meter=meter))
        await agent.close()
        return [one, two]

    assert asyncio.run(late()) == [SILENT, Decision((Offer("Summarization", "one page"),))]
    assert meter.offers == [Offer("Summarization", "one page")]
    typed = ask(desk, observe(0), observe(1), typed="A b\n\n", still=True)
    assert typed == [Decision((Offer("Translation", " b"),)), SILENT]


def test_keys_without_a_meaning_arrows_and_pastes_of_them_do_nothing(desk: Desk) -> None:
    assert ask(desk, observe(0), typed="z!\t") == [SILENT]
    assert ask(desk, observe(0), typed="\x1b[A") == [SILENT]


def test_what_is_seen_is_shown_once_and_cannot_write_to_the_terminal(desk: Desk) -> None:
    title = "evil \x1b[2J\u202e title " + "x" * 500
    ask(desk, *[observe(i, app="code", title=title) for i in (0, 61)], observe(62, app="xterm", title="报告"))
    assert desk.text.count("evil") == 1
    assert "\x1b[2J" not in desk.text
    assert "\u202e" not in desk.text
    assert "  1:02  xterm  报告" in desk.text
    assert "languages: Engl�ish" in desk.text
    assert "a  Translation" in desk.text


def test_the_menu_comes_again(desk: Desk) -> None:
    ask(desk, observe(0), typed="?")
    assert desk.text.count("a  Translation") == 2


def test_the_terminal_is_left_as_it_was(desk: Desk) -> None:
    during: list[Any] = []
    ask(desk, observe(0), before=lambda: during.append(termios.tcgetattr(desk.far)[3]))
    assert not during[0] & (termios.ECHO | termios.ICANON)
    assert during[0] & termios.ISIG, "Ctrl-C must stay what it is"
    assert termios.tcgetattr(desk.far) == desk.modes


def test_in_a_still_world_each_snapshot_waits_for_its_key(desk: Desk) -> None:
    decisions = ask(desk, *[observe(i) for i in range(4)], typed="\n a?z-", still=True)
    assert [[o.intention for o in d.offers] for d in decisions[:3]] == [[], [], ["Translation"]]
    assert decisions[3].retracted == ("Translation",)


def test_a_terminal_that_is_closed_is_an_error_of_that_decision(desk: Desk) -> None:
    def leave() -> None:
        os.close(desk.near)

    with pytest.raises(TerminalLost, match="the terminal was closed"):
        ask(desk, observe(0), before=leave, still=True)


def test_without_a_terminal_nothing_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "_PLACE", "/nowhere/tty")
    with pytest.raises(UsageError, match="agent human: it needs a terminal, and there is none here"):
        make_agent("human")


def test_sixteen_intentions_have_a_letter_each() -> None:
    assert list(letters(INTENTIONS)) == list("abcdefghijklmnop")


def _picture(path: Path, grey: int) -> ImageRef:
    Image.fromarray(np.full((9, 16, 3), grey, np.uint8)).save(path)
    return ImageRef(path, f"hash {grey}")


def test_the_viewer_gets_one_file_that_changes_and_ends_with_the_session(desk: Desk, tmp_path: Path) -> None:
    one, two = _picture(tmp_path / "1.png", 0), _picture(tmp_path / "2.png", 99)
    note = tmp_path / "viewer"
    script = tmp_path / "view.sh"
    script.write_text(f'#!/bin/sh\necho $$ "$@" >> {note}\nexec sleep 60\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    viewer = Viewer(f"{script} --reload 1")
    viewer.check()
    assert viewer.show(one)
    for _ in range(100):
        if note.exists() and note.read_text().endswith("\n"):
            break
        rest(10 * MS)
    pid, *argv = note.read_text().split()
    assert argv[:2] == ["--reload", "1"]
    file = Path(argv[2])
    assert file.read_bytes() == one.path.read_bytes()
    assert viewer.show(two)
    assert file.read_bytes() == two.path.read_bytes()
    assert not viewer.show(ImageRef(tmp_path / "gone.png"))
    viewer.close()
    assert not file.exists()
    assert len(note.read_text().splitlines()) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)
    meter = FakeMeter()
    ask(desk, observe(0, image=ImageRef(tmp_path / "gone.png"), meter=meter), viewer=str(script))
    assert meter.notes == {"picture_not_shown": 1}


@pytest.mark.parametrize(
    ("viewer", "said"), [("", "name the viewer's"), ('x "', "No closing"), ("no-such-viewer", "there is no viewer")]
)
def test_a_viewer_that_is_none_is_told(desk: Desk, viewer: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ask(desk, observe(0), viewer=viewer)


def _session(folder: Path, n: int) -> str:
    with Writer(folder, session="short", user="sam", period_ns=50 * MS) as writer:
        for i in range(n):
            writer.add(tick=i, captured_ns=i * 50 * MS, app_name="chromium", window_title="周报")
    return str(folder)


def _records(out: Path) -> list[dict[str, Any]]:
    (log,) = out.glob("units/*/decisions.jsonl")
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("clock", ["wall", "elastic"])
def test_a_key_in_a_run_is_stamped_when_it_was_pressed(
    desk: Desk, tmp_path: Path, clock: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def person() -> None:
        desk.wait_for("Press any key to begin.")
        desk.type(" ")
        desk.wait_for("chromium")
        rest(20 * MS)
        desk.type("j")

    hand = threading.Thread(target=person, daemon=True)
    hand.start()
    out = tmp_path / "run"
    words = ["run", _session(tmp_path / "short", 10), "--agent", "human", "--memory", "none", "--clock", clock]
    assert _call([*words, "--out", str(out)]) == 0
    hand.join(5)
    (offered,) = [r for r in _records(out) if r["kind"] == "offer"]
    (offer,) = offered["offers"]
    assert offer["intention"] == "Translation"
    assert offered["started_ns"] <= offer["actionable_ns"] < offered["actionable_ns"]
    assert _records(out)[-1]["kind"] == "end"


@pytest.mark.parametrize("clock", [["measured"], ["modelled", "--latency", "fixed:1s"]])
def test_a_world_that_stands_still_is_refused_unless_it_is_asked_for(
    desk: Desk, tmp_path: Path, clock: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", _session(tmp_path / "short", 3), "--memory", "none", "--clock", *clock]
    assert _call([*words, "--agent", "human", "--out", str(tmp_path / "no")]) == 2
    said = capsys.readouterr().err
    assert "holds the world still during a decision" in said
    assert "human:still=true" in said
    desk.type("   j")
    assert _call([*words, "--agent", "human:still=true", "--out", str(tmp_path / "yes")]) == 0


def test_thinking_in_a_still_world_is_charged_truly(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def person() -> None:
        desk.wait_for("Press any key to begin.")
        desk.type(" ")
        desk.wait_for("chromium")
        rest(50 * MS)
        desk.type("j" + " " * 10)

    threading.Thread(target=person, daemon=True).start()
    out = tmp_path / "run"
    words = ["run", _session(tmp_path / "short", 3), "--memory", "none", "--agent", "human:still=true"]
    assert _call([*words, "--out", str(out)]) == 0
    (first, *_) = [r for r in _records(out) if "seq" in r]
    assert first["kind"] == "offer"
    assert first["actionable_ns"] - first["started_ns"] >= 50 * MS
