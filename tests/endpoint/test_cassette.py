"""What was recorded comes back as it was, when it was, without a server; what was not is never made up."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from simulator.core.errors import CassetteMiss, InputError, ProactError, UsageError
from simulator.core.lock import is_locked
from simulator.core.types import MS, SECOND, ImageRef
from simulator.endpoint.asking import digest_of
from simulator.endpoint.cassette import Recorder, key_of, load
from simulator.endpoint.chat import Endpoint
from simulator.endpoint.holding import Hold, recording
from simulator.endpoint.together import together
from simulator.endpoint.types import EndpointError, Message, ModelChoice, Reply
from simulator.timing.clock import real_ns
from simulator.timing.meter import CallMeter, ReplayMeter, SilentMeter
from tests.endpoint.asks import HI, ask, choice, refused
from tests.endpoint.faults import FaultServer

ROOT = Path(__file__).resolve().parents[2]
Asking = Callable[[Endpoint], Awaitable[Any]]


def with_endpoint(asked: ModelChoice, work: Asking, scope: str = "") -> Any:
    async def main() -> Any:
        async with Endpoint(asked, scope=scope) as endpoint:
            return await work(endpoint)

    return asyncio.run(main())


def recorded(tmp_path: Path, url: str, work: Asking, scope: str = "", **more: Any) -> tuple[ModelChoice, Any]:
    """The choice that replays what was recorded, and what it was."""
    asked = choice(url, cassette=tmp_path / "c" / "cassette.jsonl", record=True, **more)
    said = with_endpoint(asked, work, scope)
    return replace(asked, record=False, base_url=None), said


def one(endpoint: Endpoint, **more: Any) -> Awaitable[Reply]:
    return endpoint.chat(HI, **more)


def test_a_replay_says_the_same_without_a_server(tmp_path: Path, server: FaultServer) -> None:
    again, first = recorded(tmp_path, server.url("slowly"), one)
    assert ask(again) == replace(first, replayed=True)
    assert len(server.asked["slowly"]) == 1


def test_where_time_is_measured_it_takes_as_long_as_it_took(tmp_path: Path, server: FaultServer) -> None:
    again, first = recorded(tmp_path, server.url("slowly"), one)
    meter, begun = CallMeter(), real_ns()
    ask(again, meter)
    took = real_ns() - begun
    assert first.stamps.done_ns <= took < first.stamps.done_ns + 500 * MS
    assert meter.first_token_ns is not None
    assert first.stamps.first_token_ns <= meter.first_token_ns < first.stamps.done_ns
    assert meter.stages_ns["model"] >= 50 * MS
    assert meter.tokens == {"in": 100, "out": 7, "reasoning": 0, "cached": 40, "images": 0}


@pytest.mark.parametrize("meter", [None, SilentMeter(), ReplayMeter()])
def test_where_it_is_not_nobody_waits(meter: Any, tmp_path: Path, server: FaultServer) -> None:
    async def slow(endpoint: Endpoint) -> None:
        await together(*[partial(endpoint.chat, HI)] * 6)

    again, _ = recorded(tmp_path, server.url("slowly"), slow, concurrency=1)
    begun = real_ns()

    async def six(endpoint: Endpoint) -> list[Reply]:
        return [await endpoint.chat(HI, meter=meter) for _ in range(6)]

    replies = with_endpoint(again, six)
    assert real_ns() - begun < sum(r.stamps.done_ns for r in replies) / 4


def test_calls_in_turn_add_up_and_calls_together_take_the_longest(tmp_path: Path, server: FaultServer) -> None:
    async def all_ways(endpoint: Endpoint, meter: Any = None) -> list[Reply]:
        async def twice() -> Reply:
            await endpoint.chat(HI, meter=meter)
            return await endpoint.chat(HI, meter=meter)

        first = await endpoint.chat(HI, meter=meter)
        sides = await together(partial(endpoint.chat, HI, meter=meter), twice)
        return [first, *sides, await endpoint.chat(HI, meter=meter)]

    again, _ = recorded(tmp_path, server.url("slowly"), all_ways)
    took = {
        entry["nth"]: entry["answer"]["stamps"]["done"]
        for entry in load(tmp_path / "c/cassette.jsonl").entries.values()
    }
    meter = ReplayMeter()
    with_endpoint(again, partial(all_ways, meter=meter))
    # Call 0; then 1 beside 2 and 3 in turn (2 starts after 1, before 3); then 4.
    assert meter.replayed_ns == took[0] + max(took[1], took[2] + took[3]) + took[4]
    first = load(tmp_path / "c/cassette.jsonl").answer(_asked(again), "", 0)
    assert meter.first_token_ns == first["pieces"][0][0]


def _asked(one_choice: ModelChoice) -> dict[str, Any]:
    (entry, *_) = [e for e in load(one_choice.cassette or Path()).entries.values() if e["nth"] == 0]
    return dict(entry["asked"])


def test_another_decision_begins_at_zero(tmp_path: Path, server: FaultServer) -> None:
    async def two(endpoint: Endpoint, meters: Any = (None, None)) -> None:
        for meter in meters:
            await endpoint.chat(HI, meter=meter)

    again, _ = recorded(tmp_path, server.url("counting"), two)
    meters = ReplayMeter(), ReplayMeter()
    with_endpoint(again, partial(two, meters=meters))
    took = {
        entry["nth"]: entry["answer"]["stamps"]["done"]
        for entry in load(tmp_path / "c/cassette.jsonl").entries.values()
    }
    assert [meter.replayed_ns for meter in meters] == [took[0], took[1]]


def test_a_question_that_repeats_gets_each_answer_in_its_turn_and_scope(tmp_path: Path, server: FaultServer) -> None:
    async def three(endpoint: Endpoint) -> list[str]:
        return [(await endpoint.chat(HI)).text for _ in range(3)]

    again, first = recorded(tmp_path, server.url("counting"), three, "monday")
    recorded(tmp_path, server.url("counting"), three, "tuesday")
    assert with_endpoint(again, three, "monday") == first == ["answer 0", "answer 1", "answer 2"]
    assert with_endpoint(again, three, "tuesday") == ["answer 3", "answer 4", "answer 5"]


def test_recording_again_replaces_what_was_there(tmp_path: Path, server: FaultServer) -> None:
    recorded(tmp_path, server.url("counting"), one)
    again, first = recorded(tmp_path, server.url("counting"), one)
    assert first.text == "answer 1"
    assert ask(again).text == "answer 1"


@pytest.mark.parametrize("name", ["stall", "length", "fails", "closes_early", "half_json", "limited_once"])
def test_errors_and_retries_are_replayed_with_their_time(name: str, tmp_path: Path, server: FaultServer) -> None:
    def how(asked: ModelChoice, meter: Any) -> tuple[Any, ...]:
        try:
            reply = ask(asked, meter)
        except EndpointError as error:
            return error.kind, error.sentence, error.status, error.partial, error.waited_ns, error.retries
        return reply.text, reply.stamps

    live = choice(server.url(name), cassette=tmp_path / "c.jsonl", record=True, idle_timeout_ns=20 * MS, max_retries=1)
    meters = ReplayMeter(), ReplayMeter()
    first = how(live, meters[0])
    assert how(replace(live, record=False), meters[1]) == first
    books = [(m.replayed_ns, m.first_token_ns, m.throttle_ns, m.retries, m.tokens, m.notes) for m in meters]
    assert books[0] == books[1]
    assert meters[0].replayed_ns > 0


def test_a_call_that_was_stopped_is_kept_as_such(tmp_path: Path, server: FaultServer) -> None:
    live, meter = ReplayMeter(), ReplayMeter()

    async def stopped(endpoint: Endpoint) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.03):
                await endpoint.chat(HI, meter=live)

    again, _ = recorded(tmp_path, server.url("stall"), stopped)
    error = refused(again, meter)
    assert (error.kind, error.sentence, error.partial) == ("timeout", "stopped before its end", "Hello")
    assert meter.replayed_ns == live.replayed_ns >= 25 * MS
    assert meter.tokens == live.tokens


def test_embeddings_are_replayed(tmp_path: Path, server: FaultServer) -> None:
    again, first = recorded(tmp_path, server.url("embeds"), lambda e: e.embed(["a", "bb"]))
    meter = ReplayMeter()
    rows = with_endpoint(again, lambda e: e.embed(["a", "bb"], meter=meter))
    assert rows.tolist() == first.tolist() == [[1, 1.5, 0], [2, 1.5, -1]]
    assert meter.tokens["in"] == 5
    with pytest.raises(CassetteMiss, match="text 2 is a text of 2 characters"):
        with_endpoint(again, lambda e: e.embed(["a", "b"]))


def test_no_text_of_a_question_is_in_the_file(tmp_path: Path, server: FaultServer) -> None:
    asked = [Message("user", ("a very private window title",))]
    recorded(tmp_path, server.url("ok"), lambda e: e.chat(asked, schema={"title": "private schema"}))
    kept = (tmp_path / "c" / "cassette.jsonl").read_text()
    assert "private" not in kept
    assert "Hel" in kept


# ------------------------------------------------------------------ a miss


def picture(path: Path, shade: int) -> ImageRef:
    Image.new("RGB", (32, 32), (shade, 0, 0)).save(path)
    return ImageRef(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "other"}, 'the model is "m", asked is "other"'),
        ({"temperature": 0.5}, "temperature is none, asked is 0.5"),
        ({"extra_body": {"top_k": 3}}, "top_k is none, asked is 3"),
        ({"image_side": 640}, "pictures are made"),
        ({"schema": {"type": "object"}}, "the JSON schema is another one"),
        ({"messages": 0}, "message 2 (user), part 1 is a text of 10 characters"),
        ({"messages": 1}, "message 2 (user), part 2 is picture"),
        ({"messages": 2}, "there are 2 messages, asked are 1"),
        ({"scope": "tuesday"}, 'the session is "monday", asked is "tuesday"'),
        ({"times": 2}, "the same is asked for the 1. time, here for the 2."),
    ],
)
def test_a_miss_tells_what_differs_in_the_nearest_call(
    change: dict[str, Any], words: str, tmp_path: Path, server: FaultServer
) -> None:
    red, blue = picture(tmp_path / "a.png", 255), picture(tmp_path / "b.png", 3)
    said = [Message("system", ("Be brief.",)), Message("user", ("Say hello.", red))]
    far = [Message("user", ("something else",)), Message("user", ("entirely",)), Message("user", ("!",))]

    async def both(endpoint: Endpoint) -> None:
        await endpoint.chat(far, params={"top_p": 0.1, "seed": 4})
        await endpoint.chat(said)

    again, _ = recorded(tmp_path, server.url("ok"), both, "monday")
    schema, scope, times = change.pop("schema", None), change.pop("scope", "monday"), change.pop("times", 1)
    others = [
        [said[0], Message("user", ("Say goodbye", red))],
        [said[0], Message("user", ("Say hello.", blue))],
        said[1:],
    ]
    messages = others[change.pop("messages")] if "messages" in change else said

    async def asks(endpoint: Endpoint) -> None:
        for _ in range(times):
            await endpoint.chat(messages, schema=schema)

    with pytest.raises(CassetteMiss) as caught:
        with_endpoint(replace(again, **change), asks, scope)
    assert words in str(caught.value)
    assert "does not hold this call" in str(caught.value)
    assert "Say" not in str(caught.value), "texts are private"


def test_a_miss_is_told_to_the_meter_for_an_agent_may_swallow_it(tmp_path: Path, server: FaultServer) -> None:
    again, _ = recorded(tmp_path, server.url("ok"), one)
    meter = SilentMeter()
    with pytest.raises(CassetteMiss):
        ask(replace(again, model="other"), meter)
    assert isinstance(meter.fault, CassetteMiss)


def test_of_another_kind_there_is_nothing_near(tmp_path: Path, server: FaultServer) -> None:
    again, _ = recorded(tmp_path, server.url("ok"), one)
    with pytest.raises(CassetteMiss, match="it holds no call of kind embed at all"):
        with_endpoint(again, lambda e: e.embed(["a"]))


# ------------------------------------------------------------------ the file

HEAD = b'{"kind":"cassette","schema":1}\n'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not a cassette"),
        (b"hello\n", "not a cassette"),
        (b'{"kind":"header","schema":1}\n', "not a cassette"),
        (b'{"kind":"cassette","schema":2}\n', "made by a newer proact"),
    ],
)
def test_another_file_is_refused_before_anything_runs(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        Endpoint(choice(cassette=path))
    with pytest.raises(InputError):
        load(path)


def test_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cassette can be read there"):
        Endpoint(choice(cassette=tmp_path / "c.jsonl"))
    with pytest.raises(InputError, match="no cassette can be read there"):
        _ = choice(cassette=tmp_path / "c.jsonl").header


def test_a_torn_last_line_is_left_out_and_cut_off_by_the_next_recording(tmp_path: Path, server: FaultServer) -> None:
    again, _ = recorded(tmp_path, server.url("counting"), one)
    path = again.cassette
    assert path is not None
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines(keepends=True)[1][:-30])
    assert load(path).torn
    assert ask(again).text == "answer 0"
    recorded(tmp_path, server.url("counting"), partial(one, params={"seed": 1}))
    assert not load(path).torn
    assert len(load(path).entries) == 2
    path.write_bytes(HEAD[:10])
    recorded(tmp_path, server.url("counting"), one)
    assert len(load(path).entries) == 1, "a torn head is made anew"


@pytest.mark.parametrize("line", [b"{broken\n", b'{"kind":"call","key":"x"}\n', b"[1]\n", b"7\n"])
def test_damage_elsewhere_is_told_with_its_line(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(HEAD + line + HEAD)
    with pytest.raises(InputError, match="line 2"):
        load(path)


@pytest.mark.parametrize("change", [{"stamps": {}}, {"pieces": 7}, {"pieces": [["x", "t", "y"]]}, {"error": {}},
                                    {"usage": {"in": 1, "out": []}}, {"stamps": None}])  # fmt: skip
def test_a_damaged_answer_is_a_fault_of_the_file(change: dict[str, Any], tmp_path: Path, server: FaultServer) -> None:
    again, _ = recorded(tmp_path, server.url("ok"), one)
    assert again.cassette is not None
    head, call = again.cassette.read_text().splitlines()
    entry = json.loads(call)
    entry["answer"].update(change)
    again.cassette.write_text(f"{head}\n{json.dumps(entry)}\n")
    meter = SilentMeter()
    with pytest.raises(InputError, match="the answer to a call is damaged"):
        ask(again, meter)
    assert isinstance(meter.fault, InputError)


def test_what_cannot_be_written_is_told_and_not_a_hole(tmp_path: Path, server: FaultServer) -> None:
    (tmp_path / "c").write_text("a file where a folder should be")
    asked = choice(server.url("ok"), cassette=tmp_path / "c" / "cassette.jsonl", record=True)
    with pytest.raises(ProactError, match="the cassette cannot be written"):
        with_endpoint(asked, one)
    recorder = Recorder(tmp_path / "c" / "cassette.jsonl")
    recorder.keep({}, "", 0, {})
    with pytest.raises(ProactError, match="the cassette cannot be written"):
        recorder.close()


@pytest.mark.parametrize("other", ["# Notes\n", '{"kind": "run", "schema": 1}\n', "\n", "\0" * 9000])
def test_nothing_is_recorded_into_another_file(other: str, tmp_path: Path, server: FaultServer) -> None:
    path = tmp_path / "file"
    path.write_text(other)
    with pytest.raises(InputError, match="not a cassette"):
        Endpoint(choice(server.url("ok"), cassette=path, record=True))
    assert path.read_text() == other
    assert not server.asked["ok"]


def test_nothing_is_recorded_into_a_folder_or_a_pipe(tmp_path: Path, server: FaultServer) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(InputError, match="not a file"):
            Endpoint(choice(server.url("ok"), cassette=path, record=True))


@pytest.mark.parametrize("there", ["", '{"kind":"cassette","sch', '{"kind":"cassette","schema":1}\n'])
def test_an_empty_file_one_cut_off_in_its_head_and_a_cassette_are_recorded_into(
    there: str, tmp_path: Path, server: FaultServer
) -> None:
    path = tmp_path / "c" / "cassette.jsonl"
    path.parent.mkdir()
    path.write_text(there)
    again, first = recorded(tmp_path, server.url("ok"), one)
    recorded(tmp_path, server.url("ok"), one, scope="another")
    assert len(load(path).entries) == 2
    assert ask(again).text == first.text


_ANOTHER = """
import sys
from pathlib import Path
from simulator.endpoint.holding import Hold
hold = Hold(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_two_processes_do_not_record_into_one_cassette(tmp_path: Path, server: FaultServer) -> None:
    path = tmp_path / "new" / "cassette.jsonl"
    asked, meter = choice(server.url("ok"), cassette=path, record=True), SilentMeter()
    words = [sys.executable, "-c", _ANOTHER, str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as another:
        assert another.stdout is not None
        assert another.stdout.readline() == b"held\n"
        with pytest.raises(UsageError, match=r"another proact records into .*: name another --cassette"):
            ask(asked)

        async def later() -> None:
            await Endpoint(asked).chat(HI, meter=meter)

        with pytest.raises(UsageError, match="another proact records into"):
            asyncio.run(later())
        assert isinstance(meter.fault, UsageError), "the unit ends, whatever its agent does with the error"
        another.communicate()
    assert not server.asked["ok"]
    assert ask(asked).text == "Hello", "it has ended"


def test_no_empty_file_stays_where_nothing_came_to_be_recorded(tmp_path: Path, server: FaultServer) -> None:
    path = tmp_path / "c" / "cassette.jsonl"
    asked = choice(server.url("ok"), cassette=path, record=True)
    with recording(asked), recording(asked):
        assert path.exists()
    assert not path.exists()
    path.touch()
    with recording(asked):
        pass
    assert path.exists(), "what was there stays"
    with recording(asked):
        ask(asked)
    assert len(load(path).entries) == 1


def test_within_a_process_a_cassette_is_shared_until_the_last_lets_go(tmp_path: Path, server: FaultServer) -> None:
    path = tmp_path / "cassette.jsonl"
    asked = choice(server.url("ok"), cassette=path, record=True)
    with recording(asked), recording(asked):
        ask(asked)
        ask(asked)
        assert is_locked(path)
    assert not is_locked(path)
    with recording(replace(asked, record=False)), recording(None):
        assert not is_locked(path)
    hold = Hold(path)
    hold.release()
    hold.release()
    assert not is_locked(path)


def test_the_header_of_a_replay_names_the_cassette_by_content(tmp_path: Path, server: FaultServer) -> None:
    again, _ = recorded(tmp_path, server.url("ok"), one)
    copy = tmp_path / "elsewhere.jsonl"
    assert again.cassette is not None
    copy.write_bytes(again.cassette.read_bytes())
    assert replace(again, cassette=copy).header == again.header
    assert str(tmp_path) not in json.dumps(again.header)
    copy.write_bytes(copy.read_bytes() + b"\n")
    assert replace(again, cassette=copy).digest != again.digest


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=5), st.randoms(use_true_random=False))
def test_a_key_does_not_depend_on_the_order_of_fields(asked: dict[str, Any], random: Any) -> None:
    items = list(asked.items())
    random.shuffle(items)
    assert key_of(dict(items), "s", 1) == key_of(asked, "s", 1)
    assert digest_of(json.loads(json.dumps(asked))) == digest_of(asked)
    assert (
        len(
            {key_of(asked, "s", 1), key_of(asked, "s", 2), key_of(asked, "t", 1), key_of({**asked, "x" * 6: 1}, "s", 1)}
        )
        == 4
    )


def test_times_are_whole_nanoseconds(tmp_path: Path, server: FaultServer) -> None:
    again, first = recorded(tmp_path, server.url("slowly"), one, timeout_ns=9 * SECOND)
    stamps = ask(again).stamps
    assert all(type(ns) is int for ns in (stamps.built_ns, stamps.done_ns, *stamps.chunks_ns))
    assert stamps == first.stamps
