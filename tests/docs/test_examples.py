"""The examples of the documentation keep to the rules that they teach, and do what the pages say."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agents.testing import FakeMeter, observe
from scorers.base import Unit
from simulator.cli import _call
from simulator.core.types import SILENT, MemoryItem, Setup
from tests.conformance.agent_conformance import AgentConformance
from tests.conformance.memory_conformance import MemoryConformance
from tests.conformance.scorer_conformance import ScorerConformance
from tests.logs import D, log, need, truth

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples"


def _class(file: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{file}", EXAMPLES / f"{file}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return getattr(module, name)


class TestStuckConforms(AgentConformance):
    def make(self) -> Any:
        return _class("stuck", "Stuck")()


class TestLastQuestionConforms(MemoryConformance):
    def make(self) -> Any:
        return _class("last_question", "LastQuestion")()


class TestHeardConforms(ScorerConformance):
    def make(self) -> Any:
        return _class("heard", "Heard")()

    def test_it_gives_the_figures_that_one_counts_by_hand(self) -> None:
        true = truth(120, [need("A", 10, 30), need("B", 50, 60), need("C", 80, 90)])
        said = [D(10, 14, ["Debug"]), D(20, 21, ["Email"]), D(50, 60, ["Debug"]), D(80, 82, ["Translation"])]
        assert self.figures([Unit("s", log(said), true)]) == {"heard": 2 / 3, "heard_wait_s": (4 + 2) / 2}


ANSWER = {"help": True, "intention": "Translation", "text": "In English?", "confidence": 0.8, "tokens_in": 90}


class Server:
    """Answers whatever it is told to, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answer: Any = ANSWER
        self.status = 200
        self.asked: list[Any] = []
        self.connections: set[int] = set()
        told = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                told.connections.add(self.client_address[1])
                told.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                body = json.dumps(told.answer).encode()
                self.send_response(told.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing on stderr."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/decide"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.stop()


def _decide(url: str, *observations: Any) -> list[Any]:
    async def work() -> list[Any]:
        agent = _class("over_http", "OverHttp")(url)
        await agent.open(Setup("s", "sam", {}, ["Translation"], 0))
        try:
            return [await agent.decide(o) for o in observations]
        finally:
            await agent.close()

    return asyncio.run(work())


def test_the_http_agent_sends_the_window_and_reads_the_offer(server: Server) -> None:
    meter = FakeMeter()
    seen = observe(9, app="chromium", title="周报", since_ns=0, items=[MemoryItem("asked before", 0.9)], meter=meter)
    (decision,) = _decide(server.url, seen)
    assert [(o.intention, o.text, o.confidence) for o in decision.offers] == [("Translation", "In English?", 0.8)]
    (asked,) = server.asked
    assert asked["title"] == "周报"
    assert asked["seconds_in_window"] == 9
    assert asked["memory"] == "asked before"
    assert (meter.used["tokens_in"], meter.costs) == (90, [None])
    assert {"build", "model", "parse"} <= set(meter.stages)


def test_the_http_agent_keeps_its_connection(server: Server) -> None:
    server.answer = {"help": False}
    assert _decide(server.url, observe(1), observe(2)) == [SILENT, SILENT]
    assert len(server.connections) == 1


def test_help_with_something_unknown_is_unparsed(server: Server) -> None:
    server.answer = {"help": True, "intention": "Small talk"}
    assert _decide(server.url, observe(1))[0].unparsed


def _scores(out: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((out / "scores.json").read_text(encoding="utf-8"))
    return told


def _run(out: Path, scenario: str, *words: str) -> dict[str, Any]:
    assert _call(["run", str(ROOT / scenario), *words, "--out", str(out)]) == 0
    return _scores(out)


def test_a_run_asks_the_server_and_turns_its_failures_into_records(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session, agent = str(tmp_path / "short"), f"{EXAMPLES}/over_http.py:OverHttp:url={server.url}"
    _short(Path(session))
    assert _call(["run", session, "--agent", agent, "--out", str(tmp_path / "well")]) == 0
    assert _scores(tmp_path / "well")["counts"]["offer"] == 3
    assert len(server.connections) == 1
    server.status = 500
    assert _call(["run", session, "--agent", agent, "--out", str(tmp_path / "ill")]) == 0
    counts = _scores(tmp_path / "ill")["counts"]
    assert (counts["error"], counts["silent"]) == (3, 0)


def _short(folder: Path) -> None:
    from simulator.session.store import Writer

    with Writer(folder, session="short", user="sam") as writer:
        for i in range(3):
            writer.add(tick=i, captured_ns=i * 10**9, app_name="chromium", window_title="周报")


def test_the_agent_in_ten_lines_does_what_the_page_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = _run(
        tmp_path / "run",
        "scenarios/desktop",
        *("--agent", f"{EXAMPLES}/stuck.py:Stuck", "--memory", "none", "--clock", "modelled", "--latency", "fixed:0ms"),
    )
    offers = scores["units"]["desktop"]["offers"]
    assert [(o["class"], o["opportunity"]) for o in offers] == [("on_time", "traceback"), ("false_alarm", None)]


def test_the_example_scenario_derives_two_needs_and_builds_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = _run(
        tmp_path / "run",
        "docs/examples/desk.yaml",
        *("--memory", f"{EXAMPLES}/last_question.py:LastQuestion", "--clock", "modelled", "--latency", "fixed:0ms"),
    )
    needs = scores["units"]["desk"]["opportunities"]
    assert [(n["opens_ns"], n["closes_ns"]) for n in needs] == [(0, 51_500_000_000), (85_400_000_000, 145_400_000_000)]
    assert scores["counts"]["offer"] > 0
    assert scores["details"]["F1_rt"]["few"] is True
