"""``proact live`` as a person runs it: on a real display, ended by Ctrl-C, and where there is none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from simulator.core.types import SECOND
from simulator.runs.folder import read_units
from simulator.session.check import check
from simulator.session.ignored import is_hidden
from simulator.session.scenario import plays
from simulator.session.store import Writer
from simulator.timing.clock import real_ns, rest
from tests.desks import Desk, needs, until

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "simulator.cli"]
CHANGES = '''"""Offers help whenever the screen is another one than before."""

from simulator import SILENT, Decision, Offer


class Changes:
    """Looks at the pixels, by their hash."""

    last = None
    n = 0

    async def decide(self, observation):
        """An offer at each change."""
        now = observation.snapshot.image.pixels_hash
        if now == self.last:
            return SILENT
        self.last, self.n = now, self.n + 1
        return Decision((Offer("Coding/Programming", f"change number {self.n}"),))
'''

pytestmark = pytest.mark.e2e


@pytest.fixture
def agent(tmp_path: Path) -> str:
    """Names the agent that speaks of every change."""
    (tmp_path / "changes.py").write_text(CHANGES, encoding="utf-8")
    return f"{tmp_path / 'changes.py'}:Changes"


def proact(*words: object, env: Mapping[str, str], timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *map(str, words)], cwd=ROOT, env=dict(env), capture_output=True, text=True,
                          timeout=timeout, check=False)  # fmt: skip


def records(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("xterm", [["xterm"], ["xterm", "-xrm", "*allowTitleOps: false"]], ids=["", "no title"])
def test_what_it_shows_itself_is_neither_recorded_nor_seen_by_the_agent(
    tmp_path: Path, agent: str, xterm: list[str]
) -> None:
    needs("xterm")
    with Desk(1024, 600, manager=True) as desk:
        desk.window("notes.txt - Editor", wm_class=("mousepad", "Mousepad"), x=600, y=20, width=300, height=200)
        words = [
            "live",
            tmp_path / "demo",
            "--agent",
            agent,
            "--memory",
            "none",
            "--gate",
            "off",
            "--for",
            "5s",
            "--yes",
        ]
        terminal = desk.start([*xterm, "-geometry", "80x20+0+60", "-e", *COMMAND, *map(str, words)], cwd=ROOT)
        terminal.wait(60)
    ((_, log, _),) = read_units(tmp_path / "demo" / "run")
    assert len(log) >= 4
    assert [o.text for o in log.offers()] == ["change number 1"], "its own suggestion and its own line are no change"
    assert not [f for f in check(tmp_path / "demo" / "session") if f.severity == "damage"]


def test_ctrl_c_ends_it_well_and_it_can_be_replayed(tmp_path: Path, agent: str) -> None:
    with Desk(640, 400, manager=True) as desk:
        window = desk.window("one - Editor", wm_class=("mousepad", "Mousepad"), x=10, y=10, width=300, height=200)
        words = ["live", tmp_path / "demo", "--agent", agent, "--memory", "none", "--yes", "--json"]
        with (tmp_path / "out").open("w") as out:
            live = desk.start([*COMMAND, *map(str, words)], cwd=ROOT, stdout=out)
            until(lambda: '"suggestion"' in (tmp_path / "out").read_text(), "the first suggestion")
            window.retitle("two - Editor")
            rest(2 * SECOND)
            live.send_signal(signal.SIGINT)
            assert live.wait(30) == 0
    said = [json.loads(line) for line in (tmp_path / "out").read_text(encoding="utf-8").splitlines()]
    assert [r["event"] for r in said][:3] == ["page", "launch", "suggestion"]
    assert said[-1]["event"] == "done"
    ((_, log, truth),) = read_units(tmp_path / "demo" / "run")
    assert log.complete
    (play,) = plays([tmp_path / "demo"])
    assert truth == play.truth
    words = ["run", tmp_path / "demo", "--agent", agent, "--memory", "none", "--clock", "journal", "--journal",
             tmp_path / "demo" / "run", "--out", tmp_path / "again"]  # fmt: skip
    assert proact(*words, env=os.environ).returncode == 0
    ((_, again, _),) = read_units(tmp_path / "again")
    assert again.actionable_ns.tolist() == log.actionable_ns.tolist()
    assert again.snapshot.tolist() == log.snapshot.tolist()


def test_doctor_live_tries_all_of_it(tmp_path: Path, agent: str) -> None:
    with Desk(640, 400, manager=True) as desk:
        desk.window("one - Editor", wm_class=("mousepad", "Mousepad"), x=10, y=10, width=300, height=200)
        refused = proact("doctor", "live", "--agent", agent, env={**desk.env, "XDG_CONFIG_HOME": str(tmp_path)})
        done = proact("doctor", "live", "--agent", agent, "--memory", "none", "--yes", "--json", env=desk.env)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "add --yes" in refused.stderr
    findings = {r["name"]: r for r in records(done) if r["event"] == "finding"}
    assert done.returncode == 0, done.stderr
    assert {
        name: findings[name]["state"] for name in ("capture", "windows", "agent", "answers", "page")
    } == dict.fromkeys(("capture", "windows", "agent", "answers", "page"), "ok")
    assert "one - Editor" not in done.stdout + done.stderr


SLOW = '''"""Agents that take their time, or fall."""

import asyncio


class Opens:
    """Takes half a minute to open."""

    async def open(self, setup):
        """Long."""
        await asyncio.sleep(30)

    async def decide(self, observation):
        """Never asked."""


class Thinks:
    """Takes half a minute to answer."""

    async def decide(self, observation):
        """Long."""
        await asyncio.sleep(30)


class Falls:
    """Raises."""

    async def decide(self, observation):
        """Never well."""
        raise RuntimeError("no weights here")
'''


def stopped(folder: Path, agent: str, ready: str, *, times: int) -> tuple[int, float, str]:
    """Exit code, seconds from the last Ctrl-C to the end, and stderr of a live run that is stopped when ``ready``."""
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    with Desk(640, 400, manager=True) as desk, (folder / "err").open("w") as err:
        desk.window("one - Editor", wm_class=("mousepad", "Mousepad"), x=10, y=10, width=300, height=200)
        words = ["live", folder / "demo", "--agent", f"{folder / 'slow.py'}:{agent}", "--memory", "none", "--yes"]
        live = desk.start([*COMMAND, *map(str, words)], cwd=ROOT, stderr=err)
        until(lambda: (folder / "demo" / ready).exists(), ready)
        rest(SECOND)
        for _ in range(times):
            begun = real_ns()
            live.send_signal(signal.SIGINT)
            rest(SECOND // 2)
        code = live.wait(60)
    return code, (real_ns() - begun) / SECOND, (folder / "err").read_text(encoding="utf-8")


def test_ctrl_c_while_the_agent_opens_ends_it_at_once_and_says_so(tmp_path: Path) -> None:
    code, took, said = stopped(tmp_path, "Opens", "run/run.json", times=1)
    assert (code, took < 10) == (130, True)
    assert "interrupted before anything was recorded" in said
    assert not (tmp_path / "demo" / "session").exists()


def test_a_second_ctrl_c_does_not_wait_for_the_agent(tmp_path: Path) -> None:
    code, took, said = stopped(tmp_path, "Thinks", "session/session.db", times=2)
    assert (code, took < 15) == (130, True), said
    assert "once more ends it at once" in said
    assert "Traceback" not in said
    assert not [f for f in check(tmp_path / "demo" / "session") if f.severity != "note"], "closed"


def test_an_agent_that_falls_is_explained(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    with Desk(640, 400, manager=True) as desk:
        words = ("--agent", f"{tmp_path / 'slow.py'}:Falls", "--memory", "none", "--yes")
        done = proact("live", tmp_path / "demo", *words, "--for", "2s", env=desk.env)
        tried = proact("doctor", "live", *words, env=desk.env)
    assert "no weights here" in done.stderr
    assert "errors.txt" in done.stderr
    assert "--agent" in done.stdout[done.stdout.index("to replay it:") :]
    assert tried.returncode == 1
    assert "no weights here" in tried.stdout


def test_a_fallback_is_opened_before_the_demo_begins(tmp_path: Path) -> None:
    done = proact("live", tmp_path / "demo", "--fallback", tmp_path / "slow.py", "--yes", env=bare(tmp_path))
    assert done.returncode == 2
    assert "slow.py" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def bare(home: Path) -> dict[str, str]:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE")
    return {k: v for k, v in os.environ.items() if k not in hidden} | {"XDG_CONFIG_HOME": str(home / "config")}


def test_without_a_screen_it_says_so_and_records_nothing(tmp_path: Path) -> None:
    done = proact("live", tmp_path / "demo", "--yes", env=bare(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith("proact is about to record"), "told the first time, also with --yes"
    assert "DISPLAY" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "demo").exists()


def test_without_a_screen_a_fallback_is_played_and_says_that_it_is_a_recording(tmp_path: Path) -> None:

    with Writer(tmp_path / "past", session="past") as writer:
        for i in range(3):
            writer.add(tick=i, captured_ns=i * SECOND, app_name="bash", window_title="t")
    done = proact("live", tmp_path / "demo", "--agent", "always", "--memory", "none", "--fallback", tmp_path / "past",
                  "--json", "--yes", env={**bare(tmp_path), "DISPLAY": ":9987"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = [record for record in records(done) if record["event"] != "page"]
    assert said[0]["event"] == "fallback"
    assert "and is it yours? What follows is a RECORDING" in done.stderr
    assert "RECORDING" in done.stderr
    assert is_hidden(tmp_path / "demo")
    assert [r["event"] for r in said if r["event"] in ("suggestion", "done")] == ["suggestion", "done"]


def test_without_room_it_says_so_at_once_and_at_the_end(tmp_path: Path, agent: str) -> None:
    with Desk(640, 400, manager=True) as desk:
        done = proact("live", tmp_path / "demo", "--agent", agent, "--memory", "none", "--for", "2s", "--yes",
                      "--keep-free", "900TB", env=desk.env)  # fmt: skip
    assert done.returncode == 2
    assert "no room: the disk is nearly full" in done.stderr
    assert "nothing was recorded" in done.stderr.splitlines()[-1]
    assert "so nothing was asked" in done.stderr.splitlines()[-1]


def test_work_in_front_of_its_terminal_is_seen(tmp_path: Path, agent: str) -> None:
    needs("xterm")
    with Desk(1024, 600, manager=True) as desk:
        words = [
            "live",
            tmp_path / "demo",
            "--agent",
            agent,
            "--memory",
            "none",
            "--gate",
            "off",
            "--for",
            "6s",
            "--yes",
        ]
        terminal = desk.start(["xterm", "-maximized", "-e", *COMMAND, *map(str, words)], cwd=ROOT)
        until(lambda: (tmp_path / "demo" / "session" / "session.db").exists(), "the recording")
        notes = desk.window(
            "notes.txt - Editor", wm_class=("mousepad", "Mousepad"), x=300, y=200, width=300, height=200
        )
        for colour in (0x113355, 0x557799, 0x99BBDD):
            notes.front()
            notes.paint(colour)
            rest(SECOND)
        terminal.wait(60)
    ((_, log, _),) = read_units(tmp_path / "demo" / "run")
    assert len(log.offers()) >= 3, "its maximised terminal does not blind the agent"


def test_a_fallback_ends_when_its_time_is_up(tmp_path: Path) -> None:
    with Writer(tmp_path / "past", session="past") as writer:
        for i in range(60):
            writer.add(tick=i, captured_ns=i * SECOND, app_name="bash", window_title="t")
    begun = real_ns()
    done = proact("live", tmp_path / "demo", "--agent", "silent", "--memory", "none", "--fallback", tmp_path / "past",
                  "--for", "2s", "--json", "--yes", env=bare(tmp_path))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert real_ns() - begun < 20 * SECOND
    assert records(done)[-1]["event"] == "done"
