"""Agents that fork: the child ends with the call, and neither waits in its parent's place nor writes into its log."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import Exit
from simulator.sweep.sweeping import Swept
from tests.sweep.small import LATENCY, swept, world, write

AGENTS = '''"""Agents that fork in every decision."""

import asyncio
import os

from simulator import SILENT


class Returns:
    """The child returns as its parent does."""

    async def decide(self, observation):
        """Fork."""
        os.fork()
        return SILENT


class Waits:
    """The parent waits for its child."""

    async def decide(self, observation):
        """Fork."""
        if child := os.fork():
            os.waitpid(child, 0)
        return SILENT


class Sleeps:
    """The child goes back to the loop."""

    async def decide(self, observation):
        """Fork."""
        if os.fork() == 0:
            await asyncio.sleep(0.001)
        return SILENT


class Inline(Returns):
    """In the simulator's own thread."""

    inline = True
'''


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["Returns", "Waits", "Sleeps", "Inline"])
def test_the_child_of_a_fork_ends_with_the_call(name: str, tmp_path: Path) -> None:
    (tmp_path / "forks.py").write_text(AGENTS)
    axes = {"agent": "silent", "memory": "none", "latency": LATENCY}
    plain, _ = swept(world(tmp_path, n=1, axes=axes), tmp_path / "plain")
    file = write(tmp_path, axes={**axes, "agent": f"{tmp_path / 'forks.py'}:{name}"})
    done, _ = swept(file, tmp_path / "out", engine="processes")
    assert (done.code, done.ended) == (Exit.DONE, {"done": 1})
    assert told(done) == told(plain), "as if nobody had forked"


def told(done: Swept) -> list[Any]:
    assert done.summary is not None
    (cell,) = done.summary.summary["cells"]
    return [cell["counts"], cell["metrics"], cell["units"]]
