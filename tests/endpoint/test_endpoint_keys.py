"""A key is sent, and is found nowhere else: no log, no run folder, no cassette, no repr, no error, no traceback."""

from __future__ import annotations

import asyncio
import json
import traceback
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.cli.options import ModelOptions
from simulator.core.errors import UsageError
from simulator.core.types import MS, SECOND, Decision, Observation, Offer
from simulator.endpoint.chat import Endpoint
from simulator.endpoint.redact import holds_key, shown
from simulator.endpoint.types import EndpointError
from simulator.timing.meter import CallMeter
from tests.endpoint.asks import HI, ask, choice, refused
from tests.endpoint.faults import FAULTS, LAST, FaultServer, Wire, chunk, sse
from tests.worlds import plan, play, screen

KEY = "sq-Planted0Key9With8Many7Letters6"
PIECES = [KEY[i : i + 8] for i in range(len(KEY) - 7)]


def leaks(text: str) -> list[str]:
    return [piece for piece in PIECES if piece in text]


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def told(error: BaseException) -> str:
    """All that an error can come to be shown as."""
    said = [repr(error), str(error), *map(repr, error.args), *traceback.format_exception(error)]
    return "\n".join([*said, repr(vars(error))]) if not isinstance(error, EndpointError) else "\n".join(said)


@pytest.mark.parametrize("name", sorted(set(FAULTS) - {"long_line", "long_reply"}))
def test_no_server_brings_us_to_tell_the_key(
    name: str, tmp_path: Path, server: FaultServer, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []
    asked = choice(server.url(name), timeout_ns=80 * MS, idle_timeout_ns=30 * MS, max_retries=1,
                   cassette=tmp_path / "cassette.jsonl", record=True)  # fmt: skip

    async def main() -> None:
        async with Endpoint(asked) as endpoint:
            for call in (endpoint.chat(HI, meter=CallMeter()), endpoint.embed(["a", "b"])):
                try:
                    said.append(repr(await call))
                except EndpointError as error:
                    said.append(told(error))
            said.append(repr(endpoint) + repr(vars(endpoint)) + repr(vars(endpoint._transport)))

    asyncio.run(main())
    assert server.asked[name][0].headers["authorization"] == f"Bearer {KEY}", "it was sent"
    out, err = capfd.readouterr()
    kept = (tmp_path / "cassette.jsonl").read_text()
    assert not leaks("\n".join([*said, out, err, caplog.text, kept, repr(asked), str(asked.header)]))


def test_an_answer_that_repeats_the_key_is_thrown_away(server: FaultServer) -> None:
    error = refused(choice(server.url("echoes_key_as_answer")))
    assert (error.kind, error.partial) == ("refused", "")


@pytest.mark.parametrize("piece", [KEY[:-3], KEY[3:], KEY[5:13], KEY[:8], KEY[-8:]])
@pytest.mark.parametrize(
    "form", ["text", "reasoning", "around a thought", "apart", "broken off", "silent", "whole", "model"]
)
def test_an_answer_that_repeats_a_piece_of_the_key_is_thrown_away(
    piece: str, form: str, tmp_path: Path, server: FaultServer
) -> None:
    first, then, end = f"It is {piece[:5]}", f"{piece[5:]}, is it not?", (chunk(finish="stop"), *LAST)
    streams: dict[str, tuple[bytes, ...]] = {
        "text": (chunk(first), chunk(then), *end),
        "reasoning": (chunk(reasoning_content=first), chunk(reasoning_content=then), chunk("Yes."), *end),
        "around a thought": (chunk(f"{first}<think>hm</think>{then}"), *end),
        "apart": (chunk(first), chunk(reasoning_content="hm"), chunk(then), *end),
        "broken off": (chunk(first), chunk(then)),
        "model": (chunk("Yes."), sse({"model": piece, "choices": []}), chunk(finish=piece)),
    }

    async def repeats(wire: Wire) -> None:
        if form == "whole":
            said = {"message": {"content": first + then}, "finish_reason": "stop"}
            await wire.whole(json.dumps({"choices": [said]}))
        elif form == "silent":
            await wire.begin()
            await wire.piece(chunk(first) + chunk(then))
            await wire.until_told()
        else:
            await wire.stream(*streams[form])

    server.faults["repeats"] = repeats
    tape = tmp_path / "c.jsonl"
    asked = choice(server.url("repeats"), cassette=tape, record=True, max_retries=0, idle_timeout_ns=50 * MS)
    error = refused(asked)
    assert error.partial == ""
    assert error.kind == ("idle_timeout" if form == "silent" else "refused")
    assert piece not in told(error) + tape.read_text()


def test_another_variable_holds_another_key(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "other-key")
    ask(choice(server.url("ok"), key_variable="LAB_KEY"))
    assert server.asked["ok"][0].headers["authorization"] == "Bearer other-key"
    assert "LAB_KEY" in refused(choice(server.url("echoes_key_401"), key_variable="LAB_KEY")).sentence
    monkeypatch.delenv("LAB_KEY")
    ask(choice(server.url("ok"), key_variable="LAB_KEY"))
    assert "authorization" not in server.asked["ok"][1].headers


@pytest.mark.parametrize("bad", [f"{KEY}\nX-Other: 1", f" {KEY}", f"{KEY}é"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_told(
    bad: str, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", bad)
    error = refused(choice(server.url("ok")))
    assert error.kind == "unauthorized"
    assert not leaks(told(error))


@pytest.mark.parametrize("who", ["someone:hunter2pass@", ":hunter2pass@", "hunter2pass@"])
@pytest.mark.parametrize("key", [KEY, None])
def test_a_password_in_the_address_is_refused_in_a_sentence_that_does_not_tell_it(
    who: str, key: str | None, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    if key is None:
        monkeypatch.delenv("OPENAI_API_KEY")
    url = server.url("ok").replace("http://", f"http://{who}")
    for asked in (choice(url), choice()):  # given, and by the variable
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        with pytest.raises(UsageError, match="a user or a password in it") as caught:
            Endpoint(asked)
        assert "hunter2" not in str(caught.value) + str(choice(url).header)
    with pytest.raises(UsageError, match="a user or a password in it"):
        ModelOptions("m", url).choice()
    assert not server.asked["ok"], "nothing was sent"


def test_an_address_with_control_characters_is_refused() -> None:
    with pytest.raises(UsageError, match="not of the form"):
        Endpoint(choice("http://127.0.0.1:9/v1\x1b[31m"))


@pytest.mark.parametrize("name", ["echoes_key_401", "echoes_key_500", "echoes_key_in_stream", "echoes_key_as_answer"])
def test_no_run_folder_holds_the_key(name: str, tmp_path: Path, server: FaultServer) -> None:
    """The agent lets everything through that it gets, as the worst one would."""

    class Agent:
        async def open(self, setup: Any) -> None:
            self.endpoint = Endpoint(
                choice(server.url(name), timeout_ns=2 * SECOND, cassette=tmp_path / "unit" / "c.jsonl", record=True)
            )

        async def close(self) -> None:
            await self.endpoint.close()

        async def decide(self, observation: Observation) -> Decision:
            reply = await self.endpoint.chat(HI, meter=observation.meter)
            return Decision((Offer("Translation", reply.text),))

    result = play(plan(screen("ab"), Agent, clock="measured"), tmp_path / "unit")
    assert result is not None
    files = [path for path in (tmp_path / "unit").rglob("*") if path.is_file()]
    assert {"decisions.jsonl", "errors.txt", "c.jsonl"} <= {path.name for path in files}
    for path in files:
        assert not leaks(path.read_text()), path.name


@given(st.text(max_size=60), st.text(max_size=60), st.integers(0, len(KEY) - 8), st.integers(8, len(KEY)))
def test_no_piece_of_a_key_is_shown(before: str, after: str, start: int, length: int) -> None:
    text = shown(before + KEY[start : start + length] + after, KEY, 10_000)
    assert not leaks(text)


def test_what_is_no_key_is_left_alone() -> None:
    assert shown("model `m` not found", KEY) == "model `m` not found"
    assert shown("a\nb\x1b[31m", None) == "a�b�[31m"
    assert shown("Incorrect API key provided: sk-abcd****wxyz.", None).startswith("Incorrect API key provided: [key]")
    assert not holds_key("nothing", KEY)
    assert not holds_key(f"{KEY[:7]} {KEY[8:15]}", KEY), "shorter pieces tell nothing"
    assert not holds_key("Help is required.", "sk-no-key-required"), "a word is no piece of a key"
    assert holds_key("the key is k-no-key-required", "sk-no-key-required")
    assert not holds_key("EMPTY", "EMPTY")
    assert not holds_key("anything", None)


def test_names_of_models_that_a_server_lists_are_shown_without_the_key(server: FaultServer) -> None:
    error = refused(choice(server.url("names_models_after_the_key"), model=None))
    assert "name one with --model: 'model-[key]', 'b'" in error.sentence
    assert not leaks(told(error))
