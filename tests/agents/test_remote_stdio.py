"""Agents as child processes: what they say wrongly, how they die, and that nothing of them stays."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents import remote, remote_stdio
from agents.base import make_agent
from agents.remote_protocol import RemoteError
from agents.remote_stdio import Stdio, argv_of
from agents.testing import FakeMeter, observe
from simulator.cli import _call
from simulator.core.errors import UsageError
from simulator.core.types import MS, SECOND, Decision, Offer, Setup
from simulator.runs.seam import CLOSE_LIMIT_NS
from simulator.session.store import Writer
from simulator.timing.clock import rest
from tests.remotes import HEALTH, STDIO, python

pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are looked into")
CLOSE_S, LEAVE_S = remote.CLOSE_S, remote_stdio._LEAVE_S
SETUP = Setup("s", "sam", {}, ["Translation", "Error Correction"], 5)
HEAD = f"""
import json, os, subprocess, sys, time
def say(n, body): print(json.dumps({{"n": n, "body": body}}), flush=True)
def calls():
    for line in sys.stdin:
        said = json.loads(line)
        if said["call"] == "health": say(said["n"], {HEALTH!r})
        elif said["call"] != "decide": say(said["n"], {{}})
        else: yield said["n"], said["body"]
"""


def child(body: str, head: str = "") -> str:
    """The command of a child that answers well but for ``decide``: ``n`` and ``body`` are its call."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return python(f"{HEAD}{head}\nfor n, body in calls():\n{lines}\n")


def decide(cmd: str, n: int = 1, meter: FakeMeter | None = None, **params: Any) -> list[Decision | str]:
    """What the agent decides on each of n snapshots, or the sentence on why it does not."""

    async def work() -> list[Decision | str]:
        agent = Stdio(cmd, **params)
        try:
            await agent.open(SETUP)
            found: list[Decision | str] = []
            for i in range(n):
                try:
                    found.append(await agent.decide(observe(i, title="a\u2028b\u0085c", meter=meter)))
                except RemoteError as error:
                    found.append(str(error))
            return found
        finally:
            with contextlib.suppress(RemoteError):  # of a dead one, or one that is busy
                await agent.close()

    return asyncio.run(work())


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "CLOSE_S", 0.1)
    monkeypatch.setattr(remote_stdio, "_LEAVE_S", 0.3)


def test_closing_takes_less_than_a_run_waits_for_it() -> None:
    assert (CLOSE_S + 3 * LEAVE_S) * SECOND < CLOSE_LIMIT_NS


def gone(pid: int) -> bool:
    """Whether no process of that id does anything any more, soon."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        rest(10 * MS)
    return False


def test_the_documented_example_answers() -> None:
    assert decide(STDIO, 2) == [Decision(), Decision()]


def test_ends_of_lines_within_texts_do_not_end_a_line() -> None:
    said = 'say(n, {"offers": [{"intention": body["observation"]["snapshot"]["title"]}]})'
    assert decide(child(said)) == [Decision((Offer("a\u2028b\u0085c"),))]
    bytes_ = 'say(n, {"offers": [], "parse_rule": str(len(line.splitlines()))})'
    raw = f"{HEAD}\nfor line in sys.stdin.buffer:\n    line = line.decode()\n    n = json.loads(line)['n']\n    "
    raw += f"if 'decide' not in line: say(n, {HEALTH!r})\n    else: {bytes_}\n"
    assert decide(python(raw)) == [Decision(parse_rule="1")]


FAULTS = [
    (
        'print("thinking"); say(n, {"offers": []})',
        "bad_json: a line on its standard output is no answer (prints belong",
    ),
    ("print()", "timeout: no answer to decide within 0.3 s"),
    ("say(n + 1, {'offers': []})", "bad_answer: a line on its standard output has no number 'n' of a call"),
    ("say(None, {'offers': []})", "bad_answer: a line on its standard output has no number 'n' of a call"),
    ("print('[]', flush=True)", "bad_answer: a line on its standard output has no number 'n' of a call"),
    ("say(n, [])", "bad_answer: a JSON object is wanted, not a list"),
    ("say(n, {})", "bad_answer: in the answer to decide: offers: field required"),
    ("print(json.dumps({'n': n}), flush=True)", "bad_answer: a JSON object is wanted, not null"),
    (
        "print(json.dumps({'n': n, 'error': {'kind': 'x', 'text': 'y'}}), flush=True)",
        "agent: the agent answered with an",
    ),
    (
        "print(json.dumps({'n': None, 'error': 'what?'}), flush=True)",
        "agent: the agent answered with an error of its own",
    ),
    (
        "os.write(1, b'\\xff\\xfe\\n')",
        "bad_json: a line on its standard output is no answer (prints belong on standard er",
    ),
    ("os.write(1, b'x' * 11_000_000 + b'\\n')", "too_large: a line of over 10 MB on its standard output"),
    ("raise ValueError('no GPU')", "ended: the process has ended (exit code 1); its last words: ValueError: no GPU"),
    ("sys.exit(0)", "ended: the process has ended (exit code 0)"),
    ("os.kill(os.getpid(), 9)", "ended: the process has ended (signal 9)"),
    ("os.write(1, b'{\"n\": '); os._exit(3)", "ended: the process has ended (exit code 3)"),
    ("os.close(1); time.sleep(60)", "timeout: no answer to decide within 0.3 s"),
]


@pytest.mark.parametrize(("body", "sentence"), FAULTS)
def test_a_fault_is_told_in_a_sentence(body: str, sentence: str) -> None:
    limit = 5.0 if "11_000_000" in body or "ended" in sentence else 0.3
    (said,) = decide(child(body), limit_s=limit)
    assert isinstance(said, str)
    assert said.startswith(sentence)
    assert said.isprintable()


def test_after_a_wrong_line_the_agent_is_asked_again() -> None:
    body = "if n == 3: print('hello', flush=True)\nelse: say(n, {'offers': [{'intention': 'Translation'}]})"
    first, second = decide(child(body), 2)
    assert "bad_json" in str(first)
    assert second == Decision((Offer("Translation"),))


def test_a_line_that_nobody_asked_for_is_told_with_the_next_call() -> None:
    body = "say(n, {'offers': []}); print('by the way', flush=True); time.sleep(0.02)"
    said = decide(child(body), 8)
    assert any("bad_json" in str(one) for one in said[1:])


def test_after_a_late_answer_the_next_one_is_right() -> None:
    body = "time.sleep(0.1 if n == 3 else 0)\nsay(n, {'offers': [{'intention': f'answer {n}'}]})"
    first, second = decide(child(body), 2, limit_s=0.06)
    assert str(first).startswith("timeout")
    assert second == Decision((Offer("answer 4"),))


def test_a_dead_agent_stays_dead_and_says_so_each_time() -> None:
    said = decide(child("sys.exit('lost my way')"), 3)
    assert said == ["ended: the process has ended (exit code 1); its last words: lost my way"] * 3


def test_answers_may_come_in_any_order() -> None:
    async def work() -> list[Decision]:
        agent = Stdio(child("kept.append(n)\nif len(kept) == 2: [say(k, {'offers': [{'intention': str(k)}]}) for k in "
                            "kept[::-1]]", "kept = []"))  # fmt: skip
        await agent.open(SETUP)
        calls = [asyncio.ensure_future(agent.decide(observe(i))) for i in range(2)]
        found = [await call for call in calls]
        await agent.close()
        return found

    assert asyncio.run(work()) == [Decision((Offer("3"),)), Decision((Offer("4"),))]


@pytest.mark.parametrize(
    "stubborn",
    [
        "",
        "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "import signal; signal.signal(signal.SIGTERM, lambda *_: None)",
    ],
    ids=["well-behaved", "ignores SIGTERM", "handles SIGTERM"],
)
def test_the_process_and_what_it_started_are_gone_after_close(stubborn: str) -> None:
    grand = (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)"
        if stubborn
        else "import time; time.sleep(60)"
    )
    head = f"{stubborn}\ngrandchild = subprocess.Popen([sys.executable, '-c', {grand!r}])"
    body = "say(n, {'offers': [], 'parse_rule': f'{os.getpid()} {grandchild.pid}'})"
    if stubborn:
        body += "\ntime.sleep(60)"
    (said,) = decide(child(body, head))
    assert isinstance(said, Decision)
    assert said.parse_rule is not None
    assert all(gone(int(pid)) for pid in said.parse_rule.split())


def test_what_a_dead_agent_left_behind_goes_with_it() -> None:
    grand = "import time; time.sleep(60)"
    body = f"p = subprocess.Popen([sys.executable, '-c', {grand!r}])\n"
    body += "print(p.pid, file=sys.stderr, flush=True)\nos._exit(1)"
    (said,) = decide(child(body))
    assert str(said).startswith("ended: the process has ended (exit code 1); its last words: ")
    assert gone(int(str(said).rpartition(" ")[2]))


def test_an_agent_that_reads_nothing_does_not_hold_the_run_up() -> None:
    lazy = f"{HEAD}\nfor line in sys.stdin:\n    said = json.loads(line)\n    say(said['n'], {HEALTH!r})\n    "
    lazy += "if said['call'] == 'open': time.sleep(60)\n"

    async def work() -> list[str]:
        agent = Stdio(python(lazy), limit_s=0.05)
        await agent.open(SETUP)
        said = []
        for i in range(3):
            with pytest.raises(RemoteError) as caught:
                await agent.decide(observe(i, text="x" * 1_000_000))
            said.append(str(caught.value))
        with contextlib.suppress(RemoteError):
            await agent.close()
        return said

    assert asyncio.run(work()) == ["timeout: no answer to decide within 0.05 s"] * 3


def test_standard_error_goes_to_a_file_where_one_is_named(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    body = "print('thinking hard', file=sys.stderr, flush=True)\nsay(n, {'offers': []})"
    assert decide(child(body), 2, log=str(log)) == [Decision(), Decision()]
    assert log.read_text() == "thinking hard\n" * 2


def test_standard_error_is_drained_and_shown_to_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    body = "print('private ' * 100_000, file=sys.stderr, flush=True)\nsay(n, {'offers': []})"
    assert decide(child(body), 2) == [Decision(), Decision()]
    assert "private" not in "".join(capfd.readouterr())


def test_a_command_that_is_not_there_is_told() -> None:
    with pytest.raises(RemoteError, match=r"ended: 'no-such-agent' cannot be started \(No such file"):
        decide("no-such-agent --fast")


@pytest.mark.parametrize(("cmd", "sentence"), [("", "name a command"), ('python "x', "cannot be read: No closing")])
def test_a_command_that_is_none_is_refused_before_the_run(cmd: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        make_agent("stdio", cmd=cmd)


def test_a_command_is_split_into_words() -> None:
    assert argv_of("python3 'my agent.py' --x=1") == ["python3", "my agent.py", "--x=1"]


def test_nothing_is_started_until_the_session_opens(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    Stdio(python(f"open({str(mark)!r}, 'w')"))
    rest(20 * MS)
    assert not mark.exists()


def _session(folder: Path, n: int = 4) -> str:
    with Writer(folder, session="short", user="sam") as writer:
        for i in range(n):
            writer.add(tick=i, captured_ns=i * SECOND, app_name="chromium", window_title="周报")
    return str(folder)


@pytest.mark.parametrize("clock", ["measured", "elastic"])
def test_a_run_goes_on_whatever_the_child_does(tmp_path: Path, clock: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "agent.py"
    file.write_text(
        HEAD
        + "for n, body in calls():\n"
        + "    if n == 4: print('hello', flush=True)\n"
        + "    elif n == 6: sys.exit('no more')\n"
        + "    else: say(n, {'offers': [{'intention': 'Translation'}], 'stages_s': {'ocr': 0.0}})\n"
    )
    out = tmp_path / "run"
    words = ["run", _session(tmp_path / "short", 5), "--agent", f"stdio:{sys.executable} {file}"]
    assert _call([*words, "--memory", "none", "--clock", clock, "--out", str(out)]) == 0
    (log,) = out.glob("units/*/decisions.jsonl")
    records = [r for line in log.read_text(encoding="utf-8").splitlines() if "seq" in (r := json.loads(line))]
    assert [r["kind"] for r in records] == ["offer", "error", "offer", "error", "error"]
    assert records[3]["error"]["text"].endswith("exit code 1); its last words: no more")


def test_a_process_ends_with_a_run_that_is_stopped(tmp_path: Path) -> None:
    """The unit's end closes the agent, whatever the reason."""
    agent = Stdio(child("say(n, {'offers': [], 'parse_rule': str(os.getpid())})\ntime.sleep(60)"))

    async def work() -> Callable[[], bool]:
        await agent.open(SETUP)
        (pid,) = [(await agent.decide(observe(1))).parse_rule]
        call = asyncio.ensure_future(agent.decide(observe(2)))
        await asyncio.wait({call}, timeout=0.02)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        with contextlib.suppress(RemoteError):
            await agent.close()
        return lambda: gone(int(pid or 0))

    assert asyncio.run(work())()


PARENT = """
import asyncio, sys
from agents.remote_stdio import StdioWire

async def main():
    wire = StdioWire(sys.argv[1:])
    await wire._started()
    print(wire.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system kills children on Linux alone")
def test_a_child_that_reads_nothing_does_not_outlive_proact_that_is_killed() -> None:
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    words = [sys.executable, "-c", PARENT, sys.executable, "-c", deaf]
    with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(pid, 0)
        parent.kill()
        parent.wait()
    assert gone(pid)
