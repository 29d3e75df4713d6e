"""``mem0`` for real: its library with its own local Qdrant, offline, in the environment that has the extra."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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
    held: list[socket.socket] = []
    connect = socket.socket.connect

    def watched(self: socket.socket, address: Any) -> Any:
        held.append(self)
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
    assert [one.fileno() for one in held] == [-1] * len(held), "it leaves its connections to whoever made it"
    assert list((tmp_path / "t").iterdir()) == []
    assert not (tmp_path / ".mem0").exists()


class Writer:
    """A model server in the OpenAI-compatible form that answers as mem0 2.x wants it: facts of the new messages."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        writer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version, disable_nagle_algorithm = "HTTP/1.1", True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked = body["messages"][-1]["content"]
                writer.asked.append(asked)
                new = asked.partition("## New Messages\n")[2].partition("\n\n## Observation Date")[0]
                said = " ".join(new.split())
                facts = [] if "nothing of note" in said else [said, f"The user was seen at {said[-40:]}"]
                told = {"memory": [{"id": str(n), "text": f"Noted: {fact}"} for n, fact in enumerate(facts)]}
                message = {"role": "assistant", "content": json.dumps(told)}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                usage = {"prompt_tokens": 9_000, "completion_tokens": 20, "total_tokens": 9_020}
                whole = {"id": "c", "object": "chat.completion", "created": 0, "model": "stub", "choices": [choice]}
                answer = json.dumps(whole | {"usage": usage}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture(scope="module")
def writer() -> Iterator[Writer]:
    made = Writer()
    yield made
    made.server.shutdown()
    made.server.server_close()


@real
@quiet
class TestMem0ConformsWhereAModelWrites(MemoryConformance):
    @pytest.fixture(autouse=True)
    def _writer(self, writer: Writer) -> None:
        self.url = writer.url

    def make(self) -> Any:
        return make_memory(f"mem0:infer=true,model=stub,upstream={self.url}")


@real
@quiet
def test_what_a_model_wrote_of_an_event_is_told_with_its_event_and_counted(writer: Writer) -> None:
    from memory.adapters.mem0 import Mem0Memory

    memory = Mem0Memory(infer=True, upstream=writer.url, model="stub")
    for n, title in enumerate(["main.py", "nothing of note"]):
        ends_ns = (n + 1) * 10**9
        event = Event(f"s/{n}", "ada", n * 10**9, ends_ns, "code", title)
        memory.feedback(event, Label(event.id, "ada", True, ends_ns, "Translation", "why"))
    (item,) = memory.recall(Query("ada", "code", "main.py", None, 9 * 10**9), 5, None)
    assert (item.source_event_ids, item.intention, item.latest_source_ns) == (("s/0",), "Translation", 10**9)
    assert item.text.startswith("Noted: ")
    assert "main.py" in item.text
    assert "Noted: " in writer.asked[-1].partition("## Existing Memories")[2], "it reads what was stored before"
    stats = memory.stats()
    assert (stats["model_calls"], stats["tokens_in"], stats["facts"], stats["events_without_facts"]) == (
        2,
        18_000,
        2,
        1,
    )
    assert memory.capabilities["llm_per_write"]
    memory.close()


@real
def test_a_model_that_writes_has_to_be_named() -> None:
    with pytest.raises(UsageError, match="name its server with upstream="):
        make_memory("mem0:infer=true")


@pytest.mark.skipif(HERE, reason="the extra mem0 is installed")
def test_without_the_extra_it_says_how_to_get_it() -> None:
    with pytest.raises(UsageError, match=r"pip .*install .*\[mem0\]'"):
        make_memory("mem0")
