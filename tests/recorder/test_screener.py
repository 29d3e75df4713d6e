"""A screener never holds up the recording, and what it could not say stays unreviewed and is counted."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from io import BytesIO
from typing import Any

import pytest
from aiohttp import web
from PIL import Image

from simulator.core.errors import UsageError
from simulator.core.types import MS
from simulator.recorder.screener import Screener, ScreenerFailed, ScreenerQueue, Screening
from simulator.recorder.screener_endpoint import EndpointScreener
from simulator.timing.clock import pause

PICTURE = Image.new("RGB", (40, 30), (200, 10, 10))
HIGH = Screening("high", ("financial", "names"), "blur", "someone reads a statement")


class Scripted:
    """Answers with what it is given, in order; an exception is raised."""

    def __init__(self, *answers: Screening | Exception, hold: asyncio.Event | None = None) -> None:
        self.answers, self.hold, self.seen, self.closed = list(answers), hold, 0, False

    async def look(self, image: Image.Image, app: str | None, title: str | None) -> Screening:
        self.seen += 1
        if self.hold is not None:
            await self.hold.wait()
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        self.closed = True


async def screened(
    screener: Screener, *digests: str, depth: int = 8
) -> tuple[ScreenerQueue, list[tuple[str, Screening]]]:
    said: list[tuple[str, Screening]] = []
    queue = ScreenerQueue(screener, lambda digest, screening: said.append((digest, screening)), depth=depth)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(queue.run())
        for digest in digests:
            queue.offer(digest, PICTURE, "app", "title")
        await queue.drain()
        task.cancel()
    return queue, said


async def test_opinions_come_back_with_the_picture_they_are_about() -> None:
    low = Screening("low")
    screener = Scripted(HIGH, low)
    queue, said = await screened(screener, "a", "b", "a")
    assert said == [("a", HIGH), ("b", low)]
    assert screener.seen == 2, "a picture that comes back is not looked at again"
    assert queue.columns("a") == {
        "privacy_level": "high/blur: financial, names",
        "scene_description": "someone reads a statement",
    }
    assert queue.columns("nobody") == {}
    assert (queue.n_screened, dict(queue.unreviewed), screener.closed) == (2, {}, True)


async def test_a_screener_that_fails_leaves_pictures_unreviewed_and_counted() -> None:
    screener = Scripted(ScreenerFailed("timeout"), ZeroDivisionError("title"), HIGH)
    queue, said = await screened(screener, "a", "b", "c")
    assert said == [("c", HIGH)]
    assert dict(queue.unreviewed) == {"timeout": 1, "ZeroDivisionError": 1}


async def test_a_slow_screener_turns_pictures_away_and_never_waits() -> None:
    hold = asyncio.Event()
    queue = ScreenerQueue(Scripted(*[HIGH] * 9, hold=hold), lambda digest, screening: None, depth=2)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(queue.run())
        queue.offer("0", PICTURE, None, None)
        await pause(MS)
        for n in range(1, 6):
            queue.offer(str(n), PICTURE, None, None)
        await queue.drain(5 * MS)
        task.cancel()
    assert dict(queue.unreviewed) == {"queue full": 3, "stopped": 3}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"level": "High ", "kinds": ["Financial", "spaceships", "faces"], "action": "DELETE", "scene": " a\n b "},
         Screening("high", ("financial", "other", "faces"), "delete", "a b")),
        ({"level": "none"}, Screening("none")),
        ({"level": "low", "kinds": "names", "scene": 3}, Screening("low")),
        ({"level": "low", "scene": "x" * 999}, Screening("low", scene="x" * 300)),
    ],
)  # fmt: skip
def test_what_a_model_answers_becomes_an_opinion(answer: dict[str, Any], expected: Screening) -> None:
    assert Screening.from_answer(answer) == expected


@pytest.mark.parametrize("answer", [{}, {"level": 3}, {"level": "huge"}, {"level": "low", "action": "shred"}])
def test_an_answer_without_a_level_is_no_opinion(answer: dict[str, Any]) -> None:
    with pytest.raises(ScreenerFailed, match="nonsense"):
        Screening.from_answer(answer)


Answer = Callable[[web.Request], Any]


class Endpoint:
    """A local server that answers chat completions as the test says, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.text = json.dumps({"level": "low", "kinds": ["names"], "action": "retain", "scene": "mail"})
        self.respond: Answer | None = None
        self.address = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.json())
        self.headers.append(dict(request.headers))
        if self.respond is not None:
            made = self.respond(request)
            return await made if asyncio.iscoroutine(made) else made  # type: ignore[no-any-return]
        return web.json_response({"choices": [{"message": {"content": self.text}}]})


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    made = Endpoint()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", made.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    made.address = f"http://{host}:{port}/v1"
    yield made
    await runner.cleanup()


async def look(endpoint: Endpoint, **more: Any) -> Screening:
    screener = EndpointScreener(endpoint.address, "tiny", **{"env": {}, **more})
    try:
        return await screener.look(PICTURE, "mail", "Inbox")
    finally:
        await screener.close()


async def test_an_endpoint_gets_the_picture_and_the_window_and_its_answer_is_read(endpoint: Endpoint) -> None:
    assert await look(endpoint) == Screening("low", ("names",), "retain", "mail")
    (asked,) = endpoint.asked
    assert asked["model"] == "tiny"
    text, picture = asked["messages"][1]["content"]
    assert json.loads(text["text"].split(": ", 1)[1]) == {"application": "mail", "title": "Inbox"}
    url = picture["image_url"]["url"]
    assert url.startswith("data:image/jpeg;base64,")
    assert Image.open(BytesIO(base64.b64decode(url.partition(",")[2]))).size == PICTURE.size
    assert "Authorization" not in endpoint.headers[0]


async def test_the_key_comes_from_the_environment_and_is_never_said(endpoint: Endpoint) -> None:
    def refuse(request: web.Request) -> web.Response:
        return web.json_response({"error": request.headers["Authorization"]}, status=401)

    endpoint.respond = refuse
    with pytest.raises(ScreenerFailed) as caught:
        await look(endpoint, env={"MY_KEY": "sk-very-secret"}, key_variable="MY_KEY")
    assert endpoint.headers[0]["Authorization"] == "Bearer sk-very-secret"
    assert str(caught.value) == "http 401"
    assert caught.value.__cause__ is None


async def test_a_model_may_talk_around_its_answer(endpoint: Endpoint) -> None:
    endpoint.text = 'Sure!\n```json\n{"level": "high", "action": "blur"}\n```'
    assert (await look(endpoint)).level == "high"


@pytest.mark.parametrize("text", ["no", "{", "[]", "{}{", "", '{"level": "unclear"}', "{" * 100_000 + "}"])
async def test_nonsense_is_no_opinion(endpoint: Endpoint, text: str) -> None:
    endpoint.text = text
    with pytest.raises(ScreenerFailed, match="nonsense"):
        await look(endpoint)


async def test_a_redirect_is_not_followed_with_the_picture(endpoint: Endpoint) -> None:
    def redirect(request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": endpoint.address + "/chat/completions"})

    endpoint.respond = redirect
    with pytest.raises(ScreenerFailed, match="http 307"):
        await look(endpoint)
    assert len(endpoint.asked) == 1


async def test_an_endless_answer_and_a_silent_endpoint_end(endpoint: Endpoint) -> None:
    async def silent(request: web.Request) -> web.Response:
        await pause(40 * MS)
        return web.Response()

    endpoint.respond = silent
    with pytest.raises(ScreenerFailed, match="timeout"):
        await look(endpoint, timeout_ns=5 * MS)
    endpoint.respond = lambda request: web.Response(body=b" " * 1_100_000)
    with pytest.raises(ScreenerFailed, match="nonsense"):
        await look(endpoint)


async def test_an_endpoint_that_is_not_there_is_unreachable(endpoint: Endpoint) -> None:
    endpoint.address = "http://127.0.0.1:9/v1"
    with pytest.raises(ScreenerFailed, match="unreachable"):
        await look(endpoint)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://models.example/v1", "in the clear"),
        ("http://192.168.1.5:8000/v1", "in the clear"),
        ("ftp://x/v1", "not of the form"),
        ("models.example/v1", "not of the form"),
        ("https://key@models.example/v1", "not of the form"),
        ("https://models.example/v1?key=1", "not of the form"),
        ("http://[::1/v1", "not of the form"),
    ],
)
def test_an_address_that_would_give_pictures_or_keys_away_is_refused(address: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        EndpointScreener(address, "m")
    assert "key@" not in str(caught.value)


def test_addresses_of_this_machine_and_encrypted_ones_are_taken() -> None:
    for address in (
        "http://127.0.0.1:8000/v1",
        "http://localhost/v1/",
        "http://[::1]:1/v1",
        "https://models.example/v1",
    ):
        EndpointScreener(address, "m")
