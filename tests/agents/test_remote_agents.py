"""Agents over HTTP: what they are sent, what they may answer, and what becomes of everything else."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agents.base import make_agent
from agents.remote import Remote
from agents.remote_protocol import Answer, RemoteError, encoded, read, read_json, unwrapped
from agents.testing import FakeMeter, observe
from simulator.cli import _call
from simulator.core.errors import UsageError
from simulator.core.types import MS, SECOND, Decision, Event, ImageRef, MemoryItem, Observation, Offer, Setup
from simulator.runs import runlog
from simulator.session.store import Writer
from simulator.timing.clock import rest
from tests import remotes
from tests.remotes import HEALTH, Told

SETUP = Setup("s", "sam", {"languages": "English"}, ["Translation", "Error Correction"], 5)
TOKEN = "tok-Kq83hZp1xYw77Lm2"


def decide(url: str, *seen: Observation, **params: Any) -> list[Decision]:
    """What the agent decides; the session is opened and closed around it."""

    async def work() -> list[Decision]:
        agent = Remote(url, **params)
        try:
            await agent.open(SETUP)
            return [await agent.decide(o) for o in seen or [observe(1)]]
        finally:
            await agent.close()

    return asyncio.run(work())


def fault(url: str, **params: Any) -> str:
    with pytest.raises(RemoteError) as caught:
        decide(url, **params)
    return str(caught.value)


@pytest.fixture
def told() -> Iterator[tuple[Told, str]]:
    agent = Told()
    with agent.served() as url:
        yield agent, url


def test_all_that_an_observation_holds_is_sent_in_seconds(told: tuple[Told, str]) -> None:
    agent, url = told
    agent.answers["open"] = {"id": "session 12"}
    items = [MemoryItem("asked before", float("inf"), help=0.5, intention="Translation", query="why?",
                        latest_source_ns=-SECOND)]  # fmt: skip
    events = [Event("s/1", "sam", 0, 2 * SECOND, "code", "main.py", "editor", "wrote a test")]
    seen = observe(9, app="chromium", title="周报", category="browser", text="本周", since_ns=3 * SECOND, items=items,
                   events=events, profile={"languages": "English"}, user="sam")  # fmt: skip
    decide(url, seen)
    assert [call for call, _ in agent.asked] == ["health", "open", "decide", "close"]
    assert agent.bodies("open") == [
        {
            "protocol": 1,
            "setup": {
                "session": "s",
                "user": "sam",
                "profile": {"languages": "English"},
                "intentions": ["Translation", "Error Correction"],
                "seed": 5,
                "period_s": 1.0,
                "protocol": "stream",
            },
        }
    ]
    (body,) = agent.bodies("decide")
    assert body["id"] == "session 12"
    assert agent.bodies("close") == [{"id": "session 12"}]
    observation = body["observation"]
    assert observation["snapshot"] == {
        "index": 9, "captured_s": 9.0, "content_s": 9.0, "app": "chromium", "title": "周报", "category": "browser",
        "text": "本周", "held": False, "image": None,
    }  # fmt: skip
    assert (observation["now_s"], observation["user"]) == (9.0, "sam")
    assert observation["history"]["events"][0]["summary"] == "wrote a test"
    current = observation["history"]["current"]
    assert (current["start_s"], current["end_s"], current["title"]) == (3.0, 9.0, "周报")
    assert observation["memory"] == {
        "text": "asked before",
        "items": [{"text": "asked before", "score": None, "help": 0.5, "intention": "Translation", "query": "why?",
                   "latest_source_s": -1.0, "neutral": False}],
    }  # fmt: skip


def test_a_whole_answer_is_read_and_booked(told: tuple[Told, str]) -> None:
    agent, url = told
    agent.answers["decide"] = {
        "offers": [{"intention": "Translation", "text": "In English?", "confidence": 1, "thread": "report"}],
        "retracted": ["old"],
        "parse_rule": "json",
        "usage": {"tokens_in": 900, "tokens_out": 4, "images": 1, "cost": 0.25},
        "stages_s": {"ocr": 0.000001, "model": 0.000002},
        "waited_s": 0.5,
        "retries": 2,
        "unheard_of": 1,
    }
    meter = FakeMeter()
    (decision,) = decide(url, observe(1, meter=meter))
    assert decision == Decision((Offer("Translation", "In English?", 1.0, "report"),), ("old",), "json")
    assert (meter.used["tokens_in"], meter.used["images"], meter.costs) == (900, 1, [0.25])
    assert meter.waited_ns == SECOND // 2
    assert {"build", "model", "parse", "ocr"} <= set(meter.stages)
    assert meter.notes == {"remote_unknown_field": 1, "answered_by told 7": 1}


def test_who_answered_is_noted_once_in_a_session(told: tuple[Told, str]) -> None:
    meter = FakeMeter()
    decide(told[1], *[observe(i, meter=meter) for i in range(3)])
    assert meter.notes == {"answered_by told 7": 1}


def test_connections_are_kept(told: tuple[Told, str]) -> None:
    decide(told[1], *[observe(i) for i in range(5)])
    assert len(told[0].connections) == 1


def test_memory_is_asked_for_as_much_as_the_agent_needs_and_no_more(told: tuple[Told, str]) -> None:
    agent, url = told
    items = [MemoryItem(str(i), 0.5) for i in range(5)]
    decide(url, observe(1, items=items))
    assert len(agent.bodies("decide")[0]["observation"]["memory"]["items"]) == 2
    agent.answers["health"] = {**HEALTH, "needs": {"memory": 0}}
    seen = observe(1, items=items)
    decide(url, seen)
    assert seen.memory.asked == 0  # type: ignore[attr-defined]


@pytest.fixture
def picture(tmp_path: Path) -> ImageRef:
    path = tmp_path / "screen.png"
    Image.fromarray(np.zeros((90, 160, 3), np.uint8)).save(path)
    return ImageRef(path, None, 160, 90)


@pytest.mark.parametrize(("needs", "key"), [("none", None), ("path", "path"), ("jpeg", "data_url")])
def test_a_picture_goes_out_only_as_it_is_needed(
    told: tuple[Told, str], picture: ImageRef, needs: str, key: str | None
) -> None:
    agent, url = told
    agent.answers["health"] = {**HEALTH, "needs": {"images": needs, "image_side": 64}}
    decide(url, observe(1, image=picture))
    sent = agent.bodies("decide")[0]["observation"]["snapshot"]["image"]
    if key is None:
        assert sent is None
    else:
        assert set(sent) == {key, "width", "height", "hash"}
        assert sent[key].startswith(("data:image/jpeg;base64,", str(picture.path)))


def test_a_path_to_a_picture_that_is_not_written_yet_is_not_sent(told: tuple[Told, str], tmp_path: Path) -> None:
    agent, url = told
    agent.answers["health"] = {**HEALTH, "needs": {"images": "path"}}
    meter = FakeMeter()
    decide(url, observe(1, image=ImageRef(tmp_path / "soon.webp"), meter=meter))
    assert agent.bodies("decide")[0]["observation"]["snapshot"]["image"] is None
    assert meter.notes["picture_not_written"] == 1


def test_compressed_answers_are_neither_asked_for_nor_unpacked(told: tuple[Told, str]) -> None:
    decide(told[1])
    assert {sent["Accept-Encoding"] for sent in told[0].headers} == {"identity"}


def test_finish_is_asked_only_of_those_that_want_it(told: tuple[Told, str]) -> None:
    agent, url = told
    agent.answers["finish"] = {"offers": [{"intention": "Translation"}]}

    async def work() -> Decision:
        asked = Remote(url)
        await asked.open(SETUP)
        last = await asked.finish(observe(3))
        await asked.close()
        return last

    assert asyncio.run(work()) == Decision()
    agent.answers["health"] = {**HEALTH, "finish": True}
    assert asyncio.run(work()) == Decision((Offer("Translation"),))
    assert len(agent.bodies("finish")) == 1


WRONG: list[tuple[Any, str]] = [
    (b"", "bad_json: the answer is empty"),
    (b"<html>", "bad_json: the answer is no valid JSON"),
    (b'{"offers": [', "bad_json: the answer is no valid JSON"),
    (b'{"offers": [{"intention": "x", "confidence": NaN}]}', "bad_json: the answer is no valid JSON"),
    (b'{"offers": "\xff\xfe"}', "bad_json: the answer is not UTF-8"),
    (b"[" * 100_000, "bad_json: the answer is no valid JSON"),
    ([], "bad_answer: a JSON object is wanted, not a list"),
    (None, "bad_answer: a JSON object is wanted, not null"),
    ({}, "bad_answer: in the answer to decide: offers: field required"),
    ({"offer": []}, "bad_answer: in the answer to decide: offers: field required"),
    ({"offers": {}}, "bad_answer: in the answer to decide: offers: input should be a valid list"),
    ({"offers": ["Translation"]}, "bad_answer: in the answer to decide: offers.0"),
    ({"offers": [{"intention": ""}]}, "bad_answer: in the answer to decide: offers.0.intention"),
    ({"offers": [{"intention": 3}]}, "bad_answer: in the answer to decide: offers.0.intention"),
    ({"offers": [{"intention": "x", "confidence": 1.5}]}, "offers.0.confidence: input should be less than or equal"),
    ({"offers": [{"intention": "x", "confidence": True}]}, "offers.0.confidence: input should be a valid number"),
    ({"offers": [{"intention": "x", "confidence": "0.9"}]}, "offers.0.confidence: input should be a valid number"),
    ({"offers": [{"intention": "x", "text": None}]}, "offers.0.text: input should be a valid string"),
    ({"offers": [], "unparsed": "no"}, "unparsed: input should be a valid boolean"),
    ({"offers": [], "retracted": [1]}, "retracted.0: input should be a valid string"),
    ({"offers": [{"intention": "x"}] * 1001}, "offers: list should have at most 1000 items"),
    ({"offers": [], "usage": {"tokens_in": -1}}, "usage.tokens_in: input should be greater than or equal to 0"),
    ({"offers": [], "usage": {"tokens_in": 1.5}}, "usage.tokens_in: input should be a valid integer"),
    ({"offers": [], "stages_s": {"think": 1}}, "stages_s.think"),
    ({"error": {"kind": "overloaded", "text": "no GPU"}}, "agent: the agent answered with an error of its own: overl"),
    (
        (500, {"error": {"kind": "boom", "text": "no GPU"}}),
        "agent: the agent answered with an error of its own: boom: ",
    ),
    ((500, b"Internal Server Error"), "refused: it answered with status 500: Internal Server Error"),
    ((404, b""), "refused: it answered with status 404"),
    ((302, b""), "refused: it redirects (status 302)"),
    ((401, b"no"), "unauthorized: it wants a token (token=VARIABLE) (status 401)"),
]


@pytest.mark.parametrize(("answer", "sentence"), WRONG)
def test_a_wrong_answer_is_told_in_a_sentence(told: tuple[Told, str], answer: Any, sentence: str) -> None:
    agent, url = told
    agent.answers["decide"] = answer
    assert sentence in fault(url)


def test_an_answer_of_over_10_mb_is_not_read(told: tuple[Told, str]) -> None:
    told[0].answers["decide"] = b'{"offers": [], "more": "' + b"x" * 10_000_000 + b'"}'
    assert fault(told[1]) == "too_large: the answer is over 10 MB"


def _early(connection: socket.socket, read: bytes) -> None:
    """Closes without a word."""


def _half(connection: socket.socket, read: bytes) -> None:
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"offers"')


def _other(connection: socket.socket, read: bytes) -> None:
    connection.sendall(b"220 mail.example ESMTP\r\n")


def _never(connection: socket.socket, read: bytes) -> None:
    connection.recv(1)


def _drip(connection: socket.socket, read: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    connection.recv(1)


@pytest.mark.parametrize(
    ("talk", "sentence"),
    [
        (_early, "connection: it closed the connection without an answer"),
        (_half, "connection: it closed in the middle of its answer"),
        (_other, "connection: what it answers is not HTTP"),
        (_never, "timeout: no answer to decide within 0.05 s"),
        (_drip, "timeout: no answer to decide within 0.05 s"),
    ],
)
def test_a_broken_connection_is_told_in_a_sentence(talk: Callable[[socket.socket, bytes], None], sentence: str) -> None:
    with remotes.raw(talk) as url:
        assert fault(url, limit_s=0.05).startswith(sentence)


def test_nobody_there_is_told_before_anything_is_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert fault(f"http://127.0.0.1:{port}") == "connection: it cannot be reached (Connection refused)"


@pytest.mark.parametrize(
    ("health", "sentence"),
    [
        ({**HEALTH, "protocol": 2}, "protocol: it speaks protocol 2; this version of proact speaks 1"),
        ({**HEALTH, "protocol": "1"}, "bad_answer: in the answer to health: protocol: input should be a valid integer"),
        ({"protocol": 1}, "bad_answer: in the answer to health: name: field required (1 more)"),
        ({**HEALTH, "needs": {"images": "png"}}, "bad_answer: in the answer to health: needs.images"),
        ((404, b"not here"), "refused: it answered with status 404: not here"),
    ],
)
def test_an_agent_of_another_kind_is_not_opened(told: tuple[Told, str], health: Any, sentence: str) -> None:
    told[0].answers["health"] = health
    assert fault(told[1]).startswith(sentence)
    assert not told[0].bodies("open")


def test_another_agent_than_the_expected_one_is_refused(told: tuple[Told, str]) -> None:
    assert fault(told[1], expect="told 8") == "refused: 'told 8' is expected, and 'told 7' answers"
    assert decide(told[1], expect="told 7") == [Decision()]


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("127.0.0.1:8900", "is no address such as http://127.0.0.1:8900"),
        ("ftp://127.0.0.1", "is no address"),
        ("http://127.0.0.1:port", "is no address"),
        ("http://", "is no address"),
        ("http://sam:secret@127.0.0.1", "would be written into the log"),
        ("http://127.0.0.1/?key=secret", "would be written into the log"),
        ("http://192.0.2.7:8900", "'192.0.2.7' is another machine"),
        ("http://localhost.example", "'localhost.example' is another machine"),
    ],
)
def test_an_address_that_will_not_do_is_refused_before_the_run(url: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_agent("remote", url=url)
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.9.9.9", "http://[::1]:8900/base/"])
def test_this_machine_needs_no_token(url: str) -> None:
    Remote(url)


def test_another_machine_needs_a_token_by_the_name_of_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for named in ("NOWHERE", TOKEN, ""):
        with pytest.raises(UsageError) as caught:
            Remote("https://agents.example", token=named)
        assert TOKEN not in str(caught.value)
    monkeypatch.setenv("AGENT_TOKEN", TOKEN)
    Remote("https://agents.example", token="AGENT_TOKEN")


def test_an_agent_elsewhere_gets_no_paths(monkeypatch: pytest.MonkeyPatch, told: tuple[Told, str]) -> None:
    from agents.remote_http import HttpWire

    monkeypatch.setattr(HttpWire, "near", False)
    told[0].answers["health"] = {**HEALTH, "needs": {"images": "path"}}
    assert "mean nothing on another machine" in fault(told[1])


def _session(folder: Path, n: int = 4) -> str:
    with Writer(folder, session="short", user="sam") as writer:
        for i in range(n):
            writer.add(tick=i, captured_ns=i * SECOND, app_name="chromium", window_title="周报")
    return str(folder)


def _log(out: Path) -> list[dict[str, Any]]:
    (file,) = out.glob("units/*/decisions.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _echo(body: Any) -> tuple[int, Any]:
    return 401, {"error": {"kind": "token", "text": f"wrong token {TOKEN}"}}


def _shout(body: Any) -> tuple[int, Any]:
    return 500, f"wrong token {TOKEN[:-1]} or {TOKEN} {TOKEN[3:]}".encode()


def _say(body: Any) -> Any:
    return {"error": {"kind": TOKEN, "text": f"what is {TOKEN}?"}}


@pytest.mark.parametrize("answer", [_echo, _shout, _say])
def test_the_token_is_sent_and_stands_nowhere_else(
    told: tuple[Told, str], answer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    agent, url = told
    monkeypatch.setenv("AGENT_TOKEN", TOKEN)
    agent.answers["decide"] = answer
    session, out = _session(tmp_path / "short"), tmp_path / "run"
    words = ["run", session, "--agent", f"remote:{url},token=AGENT_TOKEN", "--memory", "none", "--out", str(out)]
    assert _call(words) == 0
    assert all(sent["Authorization"] == f"Bearer {TOKEN}" for sent in agent.headers)
    said = capfd.readouterr()
    written = "".join(p.read_text(encoding="utf-8", errors="replace") for p in out.rglob("*") if p.is_file())
    for text in (said.out, said.err, written):
        assert TOKEN not in text
        assert TOKEN[4:12] not in text
    assert "RemoteError" in written


def test_a_token_that_no_header_can_hold_is_not_shown(told: tuple[Told, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_TOKEN", "tok\u00e9n with blanks ")
    said = fault(told[1], token="AGENT_TOKEN")
    assert said == "unauthorized: the token in AGENT_TOKEN cannot stand in a header"


def test_a_run_goes_on_whatever_the_agent_does(
    told: tuple[Told, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent, url = told
    answers = iter([{"offers": [{"intention": "Translation"}]}, (500, b"broken"), b"{", {"offers": []}])
    agent.answers["decide"] = lambda body: next(answers)
    out = tmp_path / "run"
    assert (
        _call(["run", _session(tmp_path / "short"), "--agent", f"remote:{url}", "--memory", "none", "--out", str(out)])
        == 0
    )
    records = [r for r in _log(out) if "seq" in r]
    assert [r["kind"] for r in records] == ["offer", "error", "error", "silent"]
    assert records[1]["error"] == {
        "kind": "agent_error",
        "text": "RemoteError: refused: it answered with status 500: broken",
    }
    assert all(r["stages_ns"]["model"] > 0 for r in records[1:])
    assert records[0]["notes"] == {"answered_by told 7": 1}


def _fast(folder: Path, n: int = 20) -> str:
    with Writer(folder, session="short", user="sam", period_ns=20 * MS) as writer:
        for i in range(n):
            writer.add(tick=i, captured_ns=i * 20 * MS, app_name="chromium", window_title="周报")
    return str(folder)


@pytest.mark.parametrize("how", ["remote", "stdio"])
@pytest.mark.parametrize("policy", ["cancel_in_flight", "overlap:2"])
def test_decisions_that_are_stopped_or_overlap_are_told_apart(
    how: str, policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def slow(body: Any) -> Any:
        index = body["observation"]["snapshot"]["index"]
        rest(45 * MS if index == 0 else 0)
        return {"offers": [{"intention": "Translation", "text": str(index)}]}

    out = tmp_path / "run"
    words = ["run", _fast(tmp_path / "short"), "--memory", "none", "--clock", "wall", "--policy", policy]
    with Told(decide=slow).served() as url:
        file = tmp_path / "child.py"
        file.write_text(CHILD)
        agent = f"remote:{url}" if how == "remote" else f"stdio:{sys.executable} {file}"
        assert _call([*words, "--agent", agent, "--out", str(out)]) == 0
    records = [r for r in _log(out) if "seq" in r]
    assert not [r for r in records if r["kind"] == "error"]
    first = next(r for r in records if r["snapshot"] == 0)
    assert first["kind"] in {"cancel_in_flight": ["cancelled"], "overlap:2": ["superseded", "offer"]}[policy]
    offers = {r["snapshot"]: r["offers"][0]["text"] for r in records if r["kind"] == "offer"}
    assert offers
    assert all(text == str(index) for index, text in offers.items()), "an answer was taken for that to another call"


CHILD = f"""
import json, sys, time
for line in sys.stdin:
    said = json.loads(line)
    body = {{"health": {HEALTH!r}}}.get(said["call"], {{}})
    if said["call"] == "decide":
        index = said["body"]["observation"]["snapshot"]["index"]
        time.sleep(0.045 if index == 0 else 0)
        body = {{"offers": [{{"intention": "Translation", "text": str(index)}}]}}
    print(json.dumps({{"n": said["n"], "body": body}}), flush=True)
"""


def test_an_agent_that_is_not_there_fails_its_unit_and_names_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    words = ["run", _session(tmp_path / "short"), "--agent", "remote:http://127.0.0.1:9", "--memory", "none"]
    assert _call([*words, "--out", str(out)]) == 3
    assert (
        "the agent's open failed before time 0: RemoteError: connection: it cannot be reached"
        in capsys.readouterr().err
    )


def test_the_documented_example_finds_the_failing_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    desktop, out = str(Path(__file__).resolve().parents[2] / "scenarios" / "desktop"), tmp_path / "run"
    with remotes.example() as url:
        assert _call(["run", desktop, "--agent", f"remote:{url}", "--memory", "none", "--out", str(out)]) == 0
    log = runlog.read(next(out.glob("units/*/decisions.jsonl")))
    assert log.complete
    assert {offer.intention for offer in log.offers()} == {"Error Correction"}


def _told(work: Callable[[], Any]) -> Any:
    """What came of it, or the sentence on why nothing did; any other error is one of ours."""
    try:
        return work()
    except RemoteError as error:
        return error


TEXT = st.text(max_size=60) | st.just("\ud800\udc00 \udfff \u2028 \x00")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["offers", "intention", "confidence", "error", "kind", "usage"]) | TEXT, inner
            )
        ),
        max_leaves=20,
    )
)
def test_whatever_is_answered_becomes_a_decision_or_a_sentence(said: Any) -> None:
    data = json.dumps(said).encode("utf-8", "replace")
    told = _told(lambda: read(Answer, unwrapped(read_json(data)), "decide").decision)
    assert isinstance(told, Decision) or (told.sentence and str(told).isprintable())


@given(st.binary(max_size=200))
def test_whatever_bytes_come_are_read_or_told(data: bytes) -> None:
    told = _told(lambda: read_json(data))
    assert not isinstance(told, RemoteError) or told.kind == "bad_json"


@given(st.dictionaries(TEXT, TEXT | st.lists(TEXT, max_size=3)))
def test_what_is_sent_is_always_utf_8(body: dict[str, Any]) -> None:
    json.loads(encoded(body).decode("utf-8"))


def test_decisions_may_overlap(told: tuple[Told, str]) -> None:
    async def work() -> Sequence[Decision]:
        agent = Remote(told[1], stateless=True)
        await agent.open(SETUP)
        one, two = (asyncio.ensure_future(agent.decide(observe(i))) for i in range(2))
        made = [await one, await two]
        await agent.close()
        return made

    assert asyncio.run(work()) == [Decision(), Decision()]
    assert Remote(told[1], stateless=True).concurrent == "stateless"
    assert Remote(told[1]).concurrent is None
