"""Nothing planted is found in a prompt of an adapter: another process, Letta's and Graphiti's form, mem0."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.memory.adapters.test_letta_and_graphiti import Stub
from tests.memory.canaries import ensure_nothing_leaks, made, told_by

ROOT = Path(__file__).resolve().parents[3]
N = 10


@pytest.fixture(scope="module")
def urls() -> Iterator[dict[str, str]]:
    """Where the example of the documentation answers, and the stub of Letta and Graphiti."""
    stub = Stub()
    command = [sys.executable, str(ROOT / "docs/examples/memory_server.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        yield {"example": child.stdout.readline().strip(), "stub": stub.url}
        child.kill()
    stub.server.shutdown()
    stub.server.server_close()


def looked_through(spec: str) -> None:
    """What an adapter told, in which nothing was found; where it knows the newest moment only, it is asked no other."""
    memory: Any = made(spec, N)
    try:
        told = asyncio.run(told_by(memory, N, again=memory.capabilities["as_of"] == "native"))
    finally:
        closed = memory.close()
        if closed is not None:
            asyncio.run(closed)
    ensure_nothing_leaks(told, N)
    assert any("canary" in one.text for one in told), "the canaries can be seen at all"


@pytest.mark.parametrize(
    "spec", ["http:{example}", "http:{example}+graph", "letta:{stub}", "letta:{stub},template=fact", "graphiti:{stub}"]
)
def test_nothing_planted_stands_in_a_prompt_of_a_server(spec: str, urls: dict[str, str]) -> None:
    looked_through(spec.format_map(urls))


@pytest.mark.skipif(find_spec("mem0") is None, reason="the extra mem0 is not installed: pip install 'proact[mem0]'")
@pytest.mark.filterwarnings("ignore")  # of its libraries, on import and at the end
@pytest.mark.parametrize("spec", ["mem0", "mem0:template=fact", "mem0+graph"])
def test_nothing_planted_stands_in_a_prompt_of_mem0(spec: str) -> None:
    looked_through(spec)
