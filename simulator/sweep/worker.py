"""A worker process: tasks come in, how they ended goes out, and it ends itself when its parent is gone.

It leads a process group of its own: Ctrl-C in the terminal reaches the parent only, and what its agents started goes
with it. Started by ``simulator.sweep.processes``; imports once, and lives as long as its sweep.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from queue import SimpleQueue
from typing import BinaryIO

from simulator.core.errors import Exit
from simulator.sweep.engines import function, played
from simulator.sweep.leases import share_in
from simulator.sweep.messages import receive, send
from simulator.sweep.types import Task

__all__ = ["READY", "main"]

READY = "ready"


def main(play: str) -> None:
    """Play what comes until a None does.

    Args:
        play: ``module:function``.
    """
    inbox, outbox = _take_pipes()
    tasks = SimpleQueue[Task | None]()
    threading.Thread(target=_listen, args=(inbox, tasks), name="proact-parent", daemon=True).start()
    player = function(play)
    send(outbox, READY)
    while (task := tasks.get()) is not None:
        share_in(task.sweep)
        send(outbox, played(player, task))


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the parent, out of reach of what agents print and read, and of the processes that they start."""
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return inbox, outbox


def _listen(inbox: BinaryIO, tasks: SimpleQueue[Task | None]) -> None:
    """Pass tasks on; a parent that is gone without a word takes everything with it, whatever is being played."""
    try:
        while (task := receive(inbox)) is not None:
            tasks.put(task)
        tasks.put(None)
    except (EOFError, OSError):
        if hasattr(os, "getpgrp") and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(Exit.INTERRUPTED)


if __name__ == "__main__":
    main(sys.argv[1])
