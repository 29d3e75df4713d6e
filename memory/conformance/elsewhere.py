"""A memory's answers in another process, where Python's own order of sets and hashes is another."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from memory.conformance.subject import NotAsked, Subject, past

__all__ = ["answers", "answers_elsewhere"]

_LIMIT_S = 45.0
"""Less than a rule may take: what does not come back is then said, and no process is left behind."""
_UNABLE = "it could not be tried in another process: {}"


def answers(s: Subject) -> list[str]:
    """What a memory that was told the made-up past says in its windows, in words that processes can compare."""
    pairs = past()
    return [repr(item) for item in s.ask_all(s.filled(pairs), pairs, pairs[-1][0].end_ns)]


def answers_elsewhere(make: Callable[[], Any]) -> list[str]:
    """The same from a new process with another ``PYTHONHASHSEED``.

    Raises:
        NotAsked: the memory cannot be made there (what makes it is a function within a function, say), or fails there.
    """
    try:
        made = pickle.dumps(make)
    except Exception as error:
        raise NotAsked(_UNABLE.format("what makes it cannot be sent there")) from error
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}
    command = [sys.executable, "-m", __name__]
    try:
        done = subprocess.run(
            command, input=made, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_LIMIT_S,
            check=True,
        )  # fmt: skip
        told = json.loads(done.stdout)
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        raise NotAsked(_UNABLE.format(f"{type(error).__name__} there")) from error
    if "failed" in told:
        raise NotAsked(_UNABLE.format(f"{told['failed']} there"))
    found: list[str] = told["answers"]
    return found


def _main() -> None:
    """In the other process: what makes it comes on stdin, answers go to stdout, whatever else is printed does not."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    told: dict[str, Any]
    try:
        subject = Subject(pickle.load(sys.stdin.buffer))
        try:
            told = {"answers": answers(subject)}
        finally:
            subject.close()
    except Exception as error:  # noqa: BLE001 - the border to foreign code
        told = {"failed": type(error).__name__}
    with out:
        json.dump(told, out)


if __name__ == "__main__":
    _main()
    os._exit(0)  # a thread of the memory's keeps nobody
