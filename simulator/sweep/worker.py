"""A worker process: tasks come in, how they ended goes out, and it ends itself when its parent is gone.

It leads a process group of its own: Ctrl-C in the terminal reaches the parent only, and what its agents started goes
with it, unless that leaves the group. Started by ``simulator.sweep.processes``; imports once, and lives as long as its
sweep.
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
    own, (inbox, outbox) = os.getpid(), _take_pipes()
    _keep_from_forks(outbox)
    tasks = SimpleQueue[Task | None]()
    threading.Thread(target=_listen, args=(inbox, tasks), name="proact-parent", daemon=True).start()
    player = function(play)
    send(outbox, READY)
    try:
        while (task := tasks.get()) is not None:
            share_in(task.sweep)
            result = played(player, task)
            if os.getpid() != own:
                break
            send(outbox, result)
    finally:
        if os.getpid() != own:  # an agent forked, and its child came back here: it has no part in the sweep
            os._exit(Exit.DONE)


def _keep_from_forks(outbox: BinaryIO) -> None:
    """A process that an agent forks says nothing in our name, and does not keep the pipe open when we are gone."""
    if not hasattr(os, "register_at_fork"):
        return

    def mute() -> None:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, outbox.fileno(), inheritable=False)
        os.close(nothing)

    os.register_at_fork(after_in_child=mute)


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
