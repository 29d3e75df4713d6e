"""What a well-behaved server answers arrives as it was said, when it was said, with what it cost."""

from __future__ import annotations

import asyncio
import json
import math
from base64 import b64decode
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from simulator.core.errors import InputError, UsageError
from simulator.core.types import MS, SECOND, ImageRef
from simulator.endpoint.chat import Endpoint
from simulator.endpoint.together import together
from simulator.endpoint.types import EndpointError, Message, ModelChoice, Usage
from simulator.timing.meter import CallMeter, charging
from tests.endpoint.asks import HI, ask, choice, refused
from tests.endpoint.faults import FaultServer, Wire

SCHEMA = {"type": "object", "properties": {"help": {"type": "boolean"}}, "required": ["help"]}


def test_an_answer_has_its_text_its_figures_and_its_stamps(server: FaultServer) -> None:
    meter = CallMeter()
    reply = ask(choice(server.url("slowly")), meter)
    assert (reply.text, reply.reasoning, reply.finish_reason, reply.model) == ("Hello", "", "stop", "served")
    assert reply.usage == Usage(100, 7, 0, 40, 0)
    stamps = reply.stamps
    assert 0 < stamps.built_ns <= stamps.sent_ns < (stamps.first_token_ns or 0)
    assert 20 * MS <= stamps.chunks_ns[0] < 500 * MS
    assert stamps.chunks_ns[1] - stamps.chunks_ns[0] >= 5 * MS, "pieces keep their distance"
    assert stamps.done_ns >= stamps.chunks_ns[-1] + 20 * MS
    assert (stamps.waited_ns, stamps.retries) == (0, 0)
    assert meter.tokens == {"in": 100, "out": 7, "reasoning": 0, "cached": 40, "images": 0}
    assert meter.cost is None, "an unknown price is not 0"
    assert meter.first_token_ns is not None
    assert meter.stages_ns["model"] >= 40 * MS
    assert (meter.throttle_ns, meter.retries) == (0, 0)


def test_decoding_is_the_providers_unless_something_was_chosen(server: FaultServer) -> None:
    reply = ask(choice(server.url("ok")))
    sent = server.asked["ok"][0].json
    assert set(sent) == {"model", "stream", "stream_options", "messages"}
    assert reply.sent == {"model": "m", "stream": True, "stream_options": {"include_usage": True}}
    chosen = choice(server.url("ok"), temperature=0.5, top_p=0.9, max_tokens=50, seed=3, extra_body={"top_k": 4})
    reply = ask(chosen, params={"seed": 8, "top_p": None})
    said = {"temperature": 0.5, "max_tokens": 50, "seed": 8, "top_k": 4}
    assert {k: v for k, v in server.asked["ok"][1].json.items() if k in (*said, "top_p")} == said
    assert said.items() <= reply.sent.items()
    assert server.asked["ok"][0].json["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Say hello."},
    ]


def test_reasoning_is_kept_apart_whichever_way_it_is_told(server: FaultServer) -> None:
    told = ask(choice(server.url("reasons")))
    assert (told.text, told.reasoning) == ("Yes", "Let me think")
    assert (told.usage.tokens_out, told.usage.reasoning) == (10, 20)
    marked = ask(choice(server.url("thinks")))
    assert (marked.text, marked.reasoning) == ("Yes", "No, no")
    assert marked.usage.tokens_out + marked.usage.reasoning == 7
    assert marked.usage.reasoning > marked.usage.tokens_out


def test_without_figures_tokens_are_estimated_and_marked(server: FaultServer) -> None:
    meter = CallMeter()
    reply = ask(choice(server.url("no_usage"), prices=None), meter)
    assert reply.usage == Usage(6, 2, 0, 0, 0, estimated=True)
    assert meter.notes == {"tokens_estimated": 1}


def test_a_server_that_does_not_stream_is_understood(server: FaultServer) -> None:
    reply = ask(choice(server.url("not_streamed")))
    assert (reply.text, reply.reasoning, reply.notes) == ("Hello", "hm", ("not_streamed",))


@pytest.mark.parametrize("name", ["no_done", "open_after_done"])
def test_an_answer_that_has_its_end_is_whole(name: str, server: FaultServer) -> None:
    assert ask(choice(server.url(name))).text == "Hello"


def test_halves_of_a_character_are_joined_and_lone_ones_replaced(server: FaultServer) -> None:
    assert ask(choice(server.url("lone_surrogate"))).text == "a\ufffdb 😀"


def test_a_form_the_server_does_not_know_is_left_out_once_and_noted(server: FaultServer) -> None:
    meter = CallMeter()

    async def main() -> list[Any]:
        async with Endpoint(choice(server.url("no_schema"), max_retries=0)) as endpoint:
            return [await endpoint.chat(HI, schema=SCHEMA, meter=meter) for _ in range(2)]

    replies = asyncio.run(main())
    assert [r.notes for r in replies] == [("no_json_schema",), ("no_json_schema",)]
    assert [r.stamps.retries for r in replies] == [0, 0]
    assert meter.notes == {"no_json_schema": 2}
    forms = ["response_format" in asked.json for asked in server.asked["no_schema"]]
    assert forms == [True, False, False]
    assert server.asked["no_schema"][0].json["response_format"]["json_schema"]["schema"] == SCHEMA


def test_a_server_that_counts_no_tokens_in_streams_is_asked_without(server: FaultServer) -> None:
    reply = ask(choice(server.url("no_stream_options"), max_retries=0))
    assert (reply.notes, reply.usage.estimated) == (("no_stream_usage",), True)


def test_who_names_no_model_gets_the_only_one(server: FaultServer) -> None:
    meter = CallMeter()
    assert ask(choice(server.url("ok"), model=None), meter).sent["model"] == "the-only-one"
    assert meter.notes == {"served_by served": 1}, "the run tells which one it was"
    error = refused(choice(server.url("many_models"), model=None))
    assert error.kind == "not_found"
    assert "serves 2 models; name one with --model: 'a', 'b'" in error.sentence


def test_nothing_is_sent_where_nobody_named_a_server(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> None:
    with pytest.raises(UsageError, match="no model server is named"):
        Endpoint(ModelChoice("m"))
    for bad in ("127.0.0.1:8000", "ftp://h/v1", "http://h/v1?key=secret", "http://[::1"):
        with pytest.raises(UsageError) as caught:
            Endpoint(ModelChoice("m", bad))
        assert "secret" not in str(caught.value)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url("ok"))
    assert ask(choice()).text == "Hello"


def test_pictures_go_scaled_down_in_place_and_are_encoded_once(tmp_path: Path, server: FaultServer) -> None:
    path = tmp_path / "screen.png"
    Image.new("RGB", (1920, 1080), (200, 30, 30)).save(path)
    ref = ImageRef(path)
    meter = CallMeter()

    async def main() -> list[Any]:
        async with Endpoint(choice(server.url("ok"), image_side=640)) as endpoint:
            asked = [Message("user", ("Before", ref, "after", ref))]
            first = await endpoint.chat(asked, meter=meter)
            path.unlink()
            return [first, await endpoint.chat(asked)]

    replies = asyncio.run(main())
    assert [r.usage.images for r in replies] == [2, 2]
    assert meter.tokens["images"] == 2
    parts = server.asked["ok"][0].json["messages"][0]["content"]
    assert [p["type"] for p in parts] == ["text", "image_url", "text", "image_url"]
    head, _, data = parts[1]["image_url"]["url"].partition(",")
    assert head == "data:image/jpeg;base64"
    with Image.open(BytesIO(b64decode(data))) as image:
        assert image.size == (640, 360)
    assert server.asked["ok"][1].body == server.asked["ok"][0].body


def test_a_picture_that_cannot_be_read_is_an_error_without_its_path(tmp_path: Path, server: FaultServer) -> None:
    error = refused(choice(server.url("ok")), messages=[Message("user", (ImageRef(tmp_path / "gone.png"),))])
    assert error.kind == "refused"
    assert error.sentence == "picture 1 cannot be sent: there is no such picture"


def test_no_more_calls_are_in_flight_than_allowed(server: FaultServer) -> None:
    async def main() -> list[Any]:
        async with Endpoint(choice(server.url("slowly"), concurrency=2)) as endpoint:
            return await together(*[partial(endpoint.chat, HI)] * 6)

    replies = asyncio.run(main())
    assert server.most_in_flight == 2
    assert [r.stamps.waited_ns > 0 for r in replies] == [False, False, True, True, True, True]


def test_together_keeps_the_order_of_the_calls_and_raises_the_first_error(server: FaultServer) -> None:
    async def numbered(wire: Wire) -> None:
        said = wire.asked.json["messages"][0]["content"]
        await asyncio.sleep(0.02 if said == "0" else 0)  # noqa: TID251 - the server's own loop
        await wire.whole(json.dumps({"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}))

    server.faults["numbered"] = numbered

    async def main() -> list[str]:
        async with Endpoint(choice(server.url("numbered"))) as endpoint:
            calls = [partial(endpoint.chat, [Message("user", (str(i),))]) for i in range(4)]
            said = [r.text for r in await together(*calls)]
        async with Endpoint(choice(server.url("bad_request"))) as endpoint:
            with pytest.raises(EndpointError, match="temperature"):
                await together(*[partial(endpoint.chat, HI)] * 3)
        assert await together() == []
        return said

    assert asyncio.run(main()) == ["0", "1", "2", "3"]


def test_a_call_within_a_decision_finds_its_meter_by_itself(server: FaultServer) -> None:
    meter = CallMeter()

    async def main() -> None:
        charging.set(meter)
        async with Endpoint(choice(server.url("ok"))) as endpoint:
            await endpoint.chat(HI)

    asyncio.run(main())
    assert meter.tokens["in"] == 100


def test_a_price_that_is_known_gives_a_cost_and_a_server_may_tell_its_own(tmp_path: Path, server: FaultServer) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("m: {in: 10, out: 100, cached: 1}\nother: {in: 1, out: 1}\n")
    assert ask(choice(server.url("ok"), prices=prices)).cost == pytest.approx((60 * 10 + 40 * 1 + 7 * 100) / 1e6)
    assert ask(choice(server.url("ok"), model="dear", prices=prices)).cost is None
    assert ask(choice(server.url("no_usage"), prices=prices)).cost is None, "estimated tokens have no known price"
    for text in ("m: {in: 10}", "m: {in: 10, out: -1}", "- m", "m: {in: true, out: 1}"):
        prices.write_text(text)
        with pytest.raises(InputError):
            Endpoint(choice(server.url("ok"), prices=prices))


def test_embeddings_come_in_the_order_of_the_texts(server: FaultServer) -> None:
    meter = CallMeter()

    async def main() -> Any:
        async with Endpoint(choice(server.url("embeds"))) as endpoint:
            assert (await endpoint.embed([])).shape == (0, 0)
            return await endpoint.embed(["a", "bb", "ccc"], meter=meter)

    rows = asyncio.run(main())
    assert rows.dtype == np.float32
    assert rows.tolist() == [[1, 1.5, 0], [2, 1.5, -1], [3, 1.5, -2]]
    assert meter.tokens["in"] == 5
    assert "embed" in meter.stages_ns
    assert server.asked["embeds"][0].json == {"model": "m", "encoding_format": "float", "input": ["a", "bb", "ccc"]}


@pytest.mark.parametrize("name", ["embeds_ragged", "embeds_too_few", "embeds_nan"])
def test_embeddings_that_are_no_table_are_an_error(name: str, server: FaultServer) -> None:
    async def main() -> None:
        async with Endpoint(choice(server.url(name))) as endpoint:
            await endpoint.embed(["a", "b"])

    with pytest.raises(EndpointError) as caught:
        asyncio.run(main())
    assert caught.value.kind == "bad_json"


@pytest.mark.parametrize("wrong", [{"timeout_ns": 0}, {"max_retries": -1}, {"concurrency": 0}, {"temperature": -1},
                                   {"top_p": 1.5}, {"max_tokens": 0}, {"image_side": 1}, {"record": True}])  # fmt: skip
def test_a_choice_that_cannot_be_meant_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ModelChoice("m", **wrong)


@pytest.mark.parametrize("name", ["temperature", "top_p"])
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_no_number_is_refused(name: str, value: float) -> None:
    said: dict[str, Any] = {name: value}
    with pytest.raises(UsageError, match=f"^{name} of the model must be a finite number"):
        ModelChoice("m", **said)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ({"top_k": math.nan}, "without NaN or Infinity"),
        ({"deep": [{"er": -math.inf}]}, "without NaN or Infinity"),
        ({"set": {1, 2}}, "must be JSON"),
        ({1: 2}, "a JSON object"),
        ([], "a JSON object"),
        ({"messages": []}, "must not hold 'messages': they are what is asked"),
        ({"model": "other"}, "must not hold 'model': name it with --model"),
        ({"stream": False}, "must not hold 'stream': answers are always streamed"),
    ],
)
def test_extra_fields_that_cannot_be_sent_or_are_ours_are_refused(extra: Any, words: str) -> None:
    with pytest.raises(UsageError, match=f"^extra_body of the model .*{words}"):
        ModelChoice("m", extra_body=extra)


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_a_blank_name_of_a_model_is_none(blank: str) -> None:
    assert ModelChoice(blank) == ModelChoice()


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31m", "a\x00", "a\u202eb", "m\r"])
def test_control_characters_in_the_name_of_a_model_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="control characters") as caught:
        ModelChoice(name)
    assert str(caught.value).isprintable()


def test_the_header_of_a_choice_tells_what_bears_on_answers() -> None:
    one = ModelChoice("m", "http://user:secret@host:8000/v1", temperature=0.2, extra_body={"top_k": 3})
    assert one.header["base_url"] == "http://host:8000/v1"
    assert one.header["sent"] == {"temperature": 0.2, "top_k": 3}
    assert "secret" not in json.dumps(one.header)
    assert one.digest == ModelChoice("m", "http://host:8000/v1", temperature=0.2, extra_body={"top_k": 3}).digest
    assert one.digest != ModelChoice("m", "http://host:8000/v1", temperature=0.3, extra_body={"top_k": 3}).digest
    assert ModelChoice("m", timeout_ns=SECOND).digest != ModelChoice("m").digest
