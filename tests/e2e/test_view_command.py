"""``proact view`` as a process: what it says, how it ends."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.e2e


def _line(stream: Any, pattern: str) -> str:
    for line in stream:
        if found := re.search(pattern, line):
            return found[0]
    raise AssertionError(f"ended without {pattern}")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_it_tells_its_address_serves_and_ends_in_a_sentence(proact: Any, tmp_path: Path, sign: signal.Signals) -> None:
    (tmp_path / "runs").mkdir()
    child = proact.start("view")
    try:
        assert child.stderr is not None
        url = _line(child.stderr, r"http://127\.0\.0\.1:\d+/")
        with urllib.request.urlopen(f"{url}about") as answer:
            assert answer.status == 200
        events = urllib.request.urlopen(f"{url}api/events")  # a page that listens holds nothing up
        child.send_signal(sign)
        out, err = child.communicate(timeout=10)
        events.close()
    finally:
        child.kill()
    assert (child.returncode, out) == (0, "")
    assert err.splitlines()[-1] == "The pages are closed."
    assert "Traceback" not in err


def test_json_tells_the_address_as_a_record(proact: Any, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    child: subprocess.Popen[str] = proact.start("view", "runs", "--json", "--token", "new")
    try:
        assert child.stdout is not None
        told = json.loads(child.stdout.readline())
        assert told["event"] == "serving"
        assert re.fullmatch(rf"http://127\.0\.0\.1:{told['port']}/\?token=[0-9a-f]{{32}}", told["url"])
        child.send_signal(signal.SIGTERM)
        out, _ = child.communicate(timeout=10)
    finally:
        child.kill()
    assert json.loads(out) == {"event": "done"}


def test_a_port_that_is_taken_is_one_sentence(proact: Any, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = proact("view", "--port", port, "--no-open")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"proact: port {port} is taken by another program; --port 0 takes one that is free\n"
