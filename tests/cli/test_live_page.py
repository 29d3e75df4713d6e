"""The page of a live run: the word that it asks for, and how long it is there."""

from __future__ import annotations

import json
import os
import webbrowser
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest

from scorers.feedback import FILE, read
from simulator.cli import _call
from simulator.cli.live import LiveOptions
from simulator.cli.live_page import Page, kept_token, page_of
from simulator.cli.live_recording import heard_out
from simulator.cli.speak import Voice
from simulator.core.errors import Exit
from simulator.core.types import MS, SECOND
from simulator.play.assemble import Choice
from simulator.play.kept import read_scores
from simulator.play.player import play
from simulator.timing.clock import real_ns, rest
from simulator.web.hub import Hub
from simulator.web.live import LivePage
from tests.replays import SAID, Scripted, record

WORD = "0123456789abcdef" * 2


def test_it_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "new" / "page-token"
    assert kept_token(file, lambda: WORD) == WORD
    assert file.stat().st_mode & 0o777 == 0o600
    assert kept_token(file, lambda: "another") == WORD


@pytest.mark.parametrize("there", ["", "short", "../" * 20, "\xff" * 40, "a" * 300])
def test_one_that_is_none_is_replaced(there: str, tmp_path: Path) -> None:
    file = tmp_path / "page-token"
    file.write_text(there, encoding="latin-1")
    file.chmod(0o600)
    assert kept_token(file, lambda: WORD) == WORD
    assert file.read_text(encoding="ascii") == WORD


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(file := tmp_path / "page-token", 0o600)
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


def test_what_is_answered_after_the_end_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    live = LivePage(Hub())
    choice = Choice([record(tmp_path / "day")], agent=lambda: Scripted(SAID), memory="none", clock="modelled",
                    latency="fixed:2s")  # fmt: skip
    played = anyio.run(lambda: play(choice, out=tmp_path / "run", watcher=live))
    assert played.scores is not None
    assert "acceptance_rate" not in played.scores["scores"]
    page, voice, options = Page(live), Voice(as_json=False), LiveOptions(linger="5s")
    assert heard_out(played, options, page, voice) is played, "nobody had the page open"
    live.looked_at = True
    assert heard_out(played, LiveOptions(linger="0s"), page, voice) is played

    def answer_all() -> None:
        while live.feed.state()["about"]["until_ms"] is None:
            rest(MS)
        for n, offer in enumerate(live.feed.state()["offers"]):
            live.feed.said(offer["id"], live._write_answer(offer["id"], "rejected" if n else "accepted"))

    begun = real_ns()
    with ThreadPoolExecutor(1) as pool:
        answering = pool.submit(answer_all)
        after = heard_out(played, options, page, voice)
        answering.result()
    assert real_ns() - begun < 4 * SECOND, "when all is answered nobody is waited for"
    assert after.scores is not None
    counted = after.scores["details"]["acceptance_rate"]
    assert (counted["value"], counted["accepted"], counted["rejected"], counted["n_without"]) == (0.25, 1, 3, 0)
    assert read_scores(tmp_path / "run") == json.loads(json.dumps(after.scores)), "and they are kept"
    said = read(tmp_path / "run" / "units" / "day" / FILE)
    assert said is not None
    assert all(one.t_s is not None and one.t_s >= 59 for one in said), "said after the stream had ended"
    assert "for 5s, or until Ctrl-C" in capsys.readouterr().err


def test_that_no_browser_could_be_started_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":0")
    for opens, said in ((True, ""), (False, "no browser could be started")):
        monkeypatch.setattr(webbrowser, "open", lambda address, opens=opens: opens)
        with page_of(LiveOptions(open_=True), tmp_path, Voice(as_json=False)):
            told = capsys.readouterr().err
        assert (said in told) if said else ("browser" not in told)


PRESSES = """
import os, signal, time
from simulator import SILENT, Decision, Offer

class Presses:
    def __init__(self, at: int = 3, times: int = 1):
        self.at, self.times = at, times

    async def open(self, setup):
        if self.at < 0:
            os.kill(os.getpid(), signal.SIGINT)

    async def decide(self, observation):
        if observation.snapshot.index == 1:
            return Decision((Offer("Translation", "Shall I?"),))
        if observation.snapshot.index == self.at:
            for _ in range(self.times):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.05)  # two at once are one
        return SILENT
"""


def pressed(tmp_path: Path, parameters: str) -> int:
    """Play a recording as if live; the agent presses Ctrl-C itself."""
    (tmp_path / "presses.py").write_text(PRESSES)
    day = record(tmp_path / "day", gap=None)
    words = ["--replay", str(day), "--agent", f"{tmp_path / 'presses.py'}:Presses:{parameters}", "--memory", "none"]
    return _call(["live", str(tmp_path / "demo"), *words, "--speed", "60", "--no-web", "--json"])


def test_the_first_ctrl_c_ends_a_recording_in_order_and_scores_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pressed(tmp_path, "at=3") == Exit.DONE
    told = capsys.readouterr()
    assert "ending; the agent may still answer" in told.err
    done = json.loads(told.out.splitlines()[-1])
    assert done["event"] == "done"
    assert done["scores"]["scheduled_latency@p95"] is not None
    assert json.loads((tmp_path / "demo/replay/scores.json").read_text())["counts"]["interrupted"] == 1


def test_the_second_ctrl_c_ends_a_recording_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="130"):
        pressed(tmp_path, "at=3,times=2")
    assert "ended at once; what was played is kept: proact score" in capsys.readouterr().err
    assert _call(["score", str(tmp_path / "demo/replay")]) == Exit.DONE


def test_ctrl_c_before_anything_was_played_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pressed(tmp_path, "at=-1") == Exit.INTERRUPTED
    told = capsys.readouterr()
    assert "before anything was played" in told.err
    assert json.loads(told.out.splitlines()[-1])["event"] == "interrupted"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--speed", "4"], "--speed goes with --replay"),
        (["--replay", "scenarios/nothing", "--speed", "0"], "a whole number from 1"),
        (["--replay", "scenarios/nothing", "--fallback", "scenarios/nothing"], "--replay shows none"),
        (["--replay", "scenarios/nothing", "--past", "scenarios/nothing"], "brings its past"),
        (["--linger", "long"], "--linger: 'long' is not a duration"),
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
