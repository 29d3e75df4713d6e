"""``mem0`` for real: its library with its own local Qdrant, offline, in the environment that has the extra."""

from __future__ import annotations

import socket
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from memory.base import make_memory
from simulator.core.errors import UsageError
from simulator.core.types import Event, Label, Query
from tests.conformance.memory_conformance import MemoryConformance

HERE = find_spec("mem0") is not None
real = pytest.mark.skipif(not HERE, reason="the extra mem0 is not installed: pip install 'proact[mem0]'")
quiet = pytest.mark.filterwarnings("ignore")  # of its libraries, on import and at the end


@real
@quiet
class TestMem0Conforms(MemoryConformance):
    def make(self) -> Any:
        return make_memory("mem0")


@real
@quiet
def test_it_connects_to_nothing_but_our_proxy_and_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []
    connect = socket.socket.connect

    def watched(self: socket.socket, address: Any) -> Any:
        asked.append(str(address[0]) if isinstance(address, tuple) else str(address))
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", watched)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    from memory.adapters.mem0 import Mem0Memory

    memory = Mem0Memory()
    event = Event("s/1", "ada", 0, 10**9, "code", "main.py")
    memory.feedback(event, Label("s/1", "ada", True, 10**9, "Translation", "why"))
    (item,) = memory.recall(Query("ada", "code", "main.py", None, 10**9), 5, None)
    assert (item.source_event_ids, item.intention, item.latest_source_ns) == (("s/1",), "Translation", 10**9)
    counts = memory.stats()
    assert (counts["model_calls"], counts["embedding_calls"], counts["embedder"]) == (0, 2, "hash512-v1")
    memory.close()
    assert set(asked) == {"127.0.0.1"}
    assert list((tmp_path / "t").iterdir()) == []
    assert not (tmp_path / ".mem0").exists()


@pytest.mark.skipif(HERE, reason="the extra mem0 is installed")
def test_without_the_extra_it_says_how_to_get_it() -> None:
    with pytest.raises(UsageError, match=r"pip .*install .*\[mem0\]'"):
        make_memory("mem0")
