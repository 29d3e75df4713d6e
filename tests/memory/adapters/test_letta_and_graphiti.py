"""``letta`` on a stub in the form of what Letta 0.16.8 really answered; ``graphiti`` on one of its documented routes.

What of Letta's answers matters here was seen on a real server: handles that it did not list are refused, passages name
an archive, which stays when the agent goes, ``end_datetime`` is inclusive, hits have ``content`` and no score, and
among what is equally near there is no order, nor a rule for which of them come.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from memory.adapters.graphiti import GraphitiMemory
from memory.adapters.letta import LettaMemory
from memory.adapters.wire import ServerError
from memory.conformance import past, query
from simulator.core.errors import UsageError
from tests.conformance.memory_conformance import MemoryConformance

HANDLES = ("openai-proxy/qwen", "openai/text-embedding-3-small")  # a model behind OPENAI_BASE_URL has another prefix


class Stub:
    """A server in the form of both: agents with passages, groups with messages, words as likeness."""

    def __init__(self) -> None:
        self.agents: dict[str, str] = {}  # each with its archive
        self.archives: dict[str, dict[str, dict[str, Any]]] = {}
        self.groups: dict[str, list[dict[str, Any]]] = {}
        self.calls: list[str] = []
        self.n = 0
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
                parts = urlsplit(self.path)
                status, said = stub.answer(self.command, parts.path, parse_qs(parts.query), body)
                told = b"" if status == 204 else json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(told)))
                self.end_headers()
                self.wfile.write(told)

            do_GET = do_POST = do_DELETE = do

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def answer(self, method: str, path: str, asked: dict[str, list[str]], body: Any) -> tuple[int, Any]:
        self.n += 1
        self.calls.append(f"{method} {re.sub(r'(agent|archive|passage|proact)-[^/]+', '*', path)}")
        if method == "POST" and path == "/v1/agents/":
            for handle in (body.get("model"), body.get("embedding")):
                if handle is not None and handle not in HANDLES:
                    return 404, {"detail": f"NOT_FOUND: Handle {handle} not found, must be one of []"}
            if "llm_config" not in body and "model" not in body:
                return 400, {"detail": "INVALID_ARGUMENT: Must specify either model or llm_config in request"}
            self.agents[f"agent-{self.n}"] = f"archive-{self.n}"
            return 200, {"id": f"agent-{self.n}", "name": body["name"], "timezone": "UTC"}
        if found := re.fullmatch(r"/v1/agents/(agent-\d+)", path):
            del self.agents[found[1]]
            return 200, {"message": f"Agent id={found[1]} successfully deleted"}
        if found := re.fullmatch(r"/v1/archives/(archive-\d+)", path):
            del self.archives[found[1]]
            return 204, None
        if found := re.fullmatch(r"/v1/agents/(agent-\d+)/archival-memory(?:/(.+))?", path):
            archive = self.agents[found[1]]
            passages = self.archives.setdefault(archive, {})
            if method == "DELETE":
                del passages[found[2]]
                return 200, {"message": f"Memory id={found[2]} successfully deleted"}
            if method == "POST":
                made = {"id": f"passage-{self.n}", "archive_id": archive, "metadata": {}, "is_deleted": False, **body}
                passages[made["id"]] = {**made, "created_at": body["created_at"].replace("+00:00", "Z")}
                return 200, [passages[made["id"]]]
            until = datetime.fromisoformat(asked["end_datetime"][0])
            known = [p for p in passages.values() if datetime.fromisoformat(p["created_at"]) <= until]
            known.sort(key=lambda p: (-_alike(p["text"], asked["query"][0]), p["id"][::-1]))
            hits = [
                {"id": p["id"], "timestamp": p["created_at"].replace("Z", "+00:00"), "content": p["text"],
                 "tags": p["tags"]} for p in known[: int(asked["top_k"][0])]
            ]  # fmt: skip
            return 200, {"results": hits, "count": len(hits)}
        if (method, path) == ("POST", "/messages"):
            self.groups.setdefault(body["group_id"], []).extend(body["messages"])
            return 202, {"message": "Messages added to processing queue", "success": True}
        if (method, path) == ("POST", "/search"):
            told = [m for group in body["group_ids"] for m in self.groups.get(group, [])]
            told.sort(key=lambda m: -_alike(m["content"], body["query"]))
            facts = [{"uuid": m["name"], "name": "DID", "fact": m["content"], "valid_at": m["timestamp"],
                      "invalid_at": None, "created_at": m["timestamp"], "expired_at": None} for m in told]  # fmt: skip
            return 200, {"facts": facts[: body["max_facts"]]}
        if method == "DELETE" and path.startswith("/group/"):
            self.groups.pop(path.removeprefix("/group/"), None)
            return 200, {"message": "Group deleted", "success": True}
        return 404, {"detail": "Not Found"}


def _alike(one: str, other: str) -> int:
    return len(set(re.findall(r"\w+", one)) & set(re.findall(r"\w+", other)))


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    made = Stub()
    yield made
    made.server.shutdown()
    made.server.server_close()


class TestLettaConforms(MemoryConformance):
    @pytest.fixture(autouse=True, params=["window", "fact"])
    def _stub(self, stub: Stub, request: pytest.FixtureRequest) -> None:
        self.url, self.template = stub.url, request.param

    def make(self) -> Any:
        return LettaMemory(self.url, template=self.template)


class TestGraphitiConforms(MemoryConformance):
    @pytest.fixture(autouse=True)
    def _stub(self, stub: Stub) -> None:
        self.url = stub.url

    def make(self) -> Any:
        return GraphitiMemory(self.url)

    # Its facts are a model's: a later one is to contradict an earlier one, and none is taken back.
    test_a_corrected_label_takes_the_place_of_the_first = None


def test_a_letta_server_gets_the_documented_calls_and_nothing_stays_there() -> None:
    stub, pairs = Stub(), past(4)
    memory = LettaMemory(stub.url)
    for event, label in pairs:
        memory.feedback(event, label)
    items = memory.recall(query(pairs[1][0], pairs[-1][0].end_ns), 2, None)
    assert [len(items), items[0].source_event_ids] == [2, ("ada-s1/1",)]
    memory.close()
    assert (stub.agents, stub.archives) == ({}, {})
    assert list(dict.fromkeys(stub.calls)) == [
        "POST /v1/agents/",
        "POST /v1/agents/*/archival-memory",
        "GET /v1/agents/*/archival-memory/search",
        "DELETE /v1/archives/*",
        "DELETE /v1/agents/*",
    ]
    stub.server.shutdown()
    stub.server.server_close()


def test_of_the_same_window_a_hundred_times_the_newest_come(stub: Stub) -> None:
    memory = LettaMemory(stub.url)
    (event, label), *_ = past(1)
    for i in range(100):
        one = replace(event, id=f"s/{i}", end_ns=event.end_ns + i)
        memory.feedback(one, replace(label, event_id=one.id, available_ns=one.end_ns))
    items = memory.recall(query(event, event.end_ns + 100), 3, None)
    assert [item.source_event_ids for item in items] == [("s/99",), ("s/98",), ("s/97",)]
    assert all(item.score == 1.0 for item in items)
    memory.close()


def test_a_letta_server_may_be_asked_for_models_of_its_own_and_says_which_it_has_not(stub: Stub) -> None:
    event, label = past(1)[0]
    memory = LettaMemory(stub.url, model=HANDLES[0], embedding=HANDLES[1])
    memory.feedback(event, label)
    memory.close()
    memory = LettaMemory(stub.url, model="openai/none")
    with pytest.raises(ServerError, match="Handle openai/none not found"):
        memory.feedback(event, label)
    memory.close()


def test_a_letta_server_elsewhere_cannot_ask_the_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETTA_KEY", "a")
    with pytest.raises(UsageError, match="cannot ask the counting proxy"):
        LettaMemory("https://letta.example", token="LETTA_KEY", model="a/b")


def test_equal_texts_of_letta_come_newest_first(stub: Stub) -> None:
    pairs = [(replace(event, app="code", title="same"), label) for event, label in past(8)]
    memory = LettaMemory(stub.url)
    for event, label in pairs:
        memory.feedback(event, label)
    items = memory.recall(query(pairs[0][0], pairs[-1][0].end_ns), 8, None)
    memory.close()
    times = [item.latest_source_ns or 0 for item in items]
    assert len(times) > 3
    assert times == sorted(times, reverse=True)


def test_facts_of_graphiti_are_texts_that_name_no_events() -> None:
    stub, pairs = Stub(), past(4)
    memory = GraphitiMemory(stub.url)
    for event, label in pairs:
        memory.feedback(event, label)
    items = memory.recall(query(pairs[1][0], pairs[1][0].end_ns), 5, None)
    assert len(items) == 2  # the two later ones are held for valid later
    assert {i.source_event_ids for i in items} == {()}
    memory.close()
    assert stub.groups == {}
    stub.server.shutdown()
    stub.server.server_close()


def test_a_server_of_another_version_is_told_from_one_that_is_not_there() -> None:
    stub = Stub()
    stub.answer = lambda *_: (200, {"detail": "all different"})  # type: ignore[method-assign]
    memory = LettaMemory(stub.url)
    event, label = past(1)[0]
    with pytest.raises(ServerError, match=r"an agent has no 'id': is it another version\?"):
        memory.feedback(event, label)
    memory.close()
    stub.server.shutdown()
    stub.server.server_close()
