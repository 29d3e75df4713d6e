"""Who may ask the pages' server, and what its answers carry."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from blockbuster import blockbuster_ctx
from PIL import Image

from simulator.core.errors import InputError, UsageError
from simulator.core.types import MS
from simulator.timing.clock import pause
from simulator.web import pages
from simulator.web import server as servers
from simulator.web.place import Place
from simulator.web.server import Web

TOKEN = "a-word-of-mine-1"


@asynccontextmanager
async def asking(
    pages: Web, host: str = "127.0.0.1"
) -> AsyncIterator[Callable[..., aiohttp.client._RequestContextManager]]:
    """A client of a running server: `ask("GET", "/about")`."""
    await pages.start(host)
    address = f"http://127.0.0.1:{pages.port}"
    try:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            yield lambda method, path, **how: session.request(method, address + path, allow_redirects=False, **how)
    finally:
        await pages.stop()
        pages.place.close()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place([tmp_path])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:9000", "localhost", "LOCALHOST.:1", "[::1]:80", "127.9.9.9"])
async def test_this_machine_s_own_names_are_answered(place: Place, host: str) -> None:
    async with asking(Web(place)) as ask, ask("GET", "/about", headers={"Host": host}) as answer:
        assert answer.status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.1.7", "", "[",
     "::1", "0.0.0.0"],
)  # fmt: skip
async def test_other_names_are_not(place: Place, host: str) -> None:
    """DNS rebinding: a page of another site reaches this server under its own name."""
    async with asking(Web(place)) as ask, ask("GET", "/api/about", headers={"Host": host}) as answer:
        assert answer.status == 403
        assert "name of this machine" in (await answer.json())["error"]


async def test_every_answer_carries_the_policy(place: Place) -> None:
    async with asking(Web(place)) as ask:
        for path in ("/about", "/api/about", "/static/base.js", "/nothing", "/picture/" + "0" * 64):
            async with ask("GET", path) as answer:
                assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
                assert "unsafe" not in answer.headers["Content-Security-Policy"]
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert not [name for name in answer.headers if name.lower().startswith("access-control")]


async def test_pages_of_other_sites_may_link_here_and_not_ask(place: Place) -> None:
    async with asking(Web(place)) as ask:
        async with ask(
            "GET", "/about", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        ) as answer:
            assert answer.status == 200
        async with ask(
            "GET", "/api/about", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
        ) as answer:
            assert answer.status == 403


def _echo() -> web.RouteDef:
    async def echo(request: web.Request) -> web.Response:
        return pages.answer(dict(await pages.posted(request)))

    return web.post("/api/echo", echo)


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"X-Proact": "1", "Content-Type": "application/json"}, b'{"a": 1}', 200),
        ({"Content-Type": "application/json"}, b"{}", 403),
        ({"X-Proact": "1", "Content-Type": "text/plain"}, b"{}", 415),
        ({"X-Proact": "1", "Content-Type": "application/json"}, b"{", 400),
        ({"X-Proact": "1", "Content-Type": "application/json"}, b"[1]", 400),
        ({"X-Proact": "1", "Content-Type": "application/json"}, b"\xff\xfe", 400),
        ({"X-Proact": "1", "Content-Type": "application/json; charset=nonsense"}, b"{}", 200),
        ({"X-Proact": "1", "Content-Type": "application/json"}, b"[" * 60_000, 400),
        ({"X-Proact": "1", "Content-Type": "application/json"}, b" " * 70_000, 413),
    ],
)
async def test_commands(place: Place, headers: dict[str, str], body: bytes, status: int) -> None:
    async with (
        asking(Web(place, more=[_echo()])) as ask,
        ask("POST", "/api/echo", headers=headers, data=body) as answer,
    ):
        assert answer.status == status
        assert ("error" in await answer.json()) == (status != 200)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
async def test_other_methods_are_not_known(place: Place, method: str) -> None:
    async with asking(Web(place)) as ask, ask(method, "/about") as answer:
        assert answer.status == 405


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [
        (InputError("a.json", "must be whole"), 422, "a.json: must be whole"),
        (InputError("/home/secret/my runs/a.json", "must be whole"), 422, "a.json: must be whole"),
        (UsageError("no such thing"), 400, "no such thing"),
        (PermissionError("/secret/place"), 500, "cannot be read now"),
        (KeyError("a private title"), 500, "a fault of proact's own"),
    ],
)
async def test_a_fault_is_a_sentence(
    place: Place, fault: Exception, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(request: web.Request) -> web.Response:
        raise fault

    served = Web(place, more=[web.get("/api/broken/{x}", broken)])
    async with asking(served) as ask, ask("GET", "/api/broken/PRIVATE") as answer:
        assert answer.status == status
        assert said in (error := (await answer.json())["error"])
    assert "secret" not in error
    assert not [word for word in ("PRIVATE", "secret", "title") if word in capsys.readouterr().err]


@pytest.mark.parametrize(
    "path",
    ["/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py", "/static/", "/static//etc/passwd",
     "/static/vendor/../../server.py", "/static/base.js%00", "/static/vendor"],
)  # fmt: skip
async def test_only_our_files_are_served(place: Place, path: str) -> None:
    async with asking(Web(place)) as ask, ask("GET", path) as answer:
        assert answer.status in (403, 404)


async def test_our_files_are_asked_for_again_and_not_sent_again(place: Place) -> None:
    async with asking(Web(place)) as ask:
        async with ask("GET", "/static/base.css") as answer:
            tag = answer.headers["ETag"]
            assert answer.headers["Cache-Control"] == "no-cache"
        async with ask("GET", "/static/base.css", headers={"If-None-Match": tag}) as answer:
            assert answer.status == 304


def test_whoever_opens_a_page_first_waits_for_no_import(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from simulator.web.place import Place; from simulator.web.server import Web\n"
        "Web(Place([pathlib.Path(sys.argv[1])]))\n"
        "assert {'scorers.explaining_stream', 'scorers.pira', 'PIL.WebPImagePlugin'} <= set(sys.modules)\n"
        "from PIL import Image; Image.new('RGB', (2, 2)).save(sys.argv[1] + '/a.webp')\n"
        "from simulator.screen.pixels import decode; decode(pathlib.Path(sys.argv[1] + '/a.webp'))\n"
        "assert 'PIL.PcxImagePlugin' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=60)


async def test_a_page_names_all_its_scripts_so_that_none_waits_for_another(place: Place) -> None:
    async with asking(Web(place)) as ask:
        async with ask("GET", "/run/0123abcdef") as answer:
            named = re.findall(r"<(/static/[^>]+)>; rel=modulepreload", answer.headers["Link"])
        assert "/static/timeline.js" in named
        for script in named:
            async with ask("GET", script) as answer:
                assert answer.status == 200
                assert set(re.findall(r'from "([^"]+)"', await answer.text())) <= set(named)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "some-name"])
async def test_another_address_needs_a_token(place: Place, host: str) -> None:
    with pytest.raises(UsageError, match="--token"):
        await Web(place).start(host)
    place.close()


@pytest.mark.parametrize("token", ["", "short", "with space in it", "ünïcödé-word", "a/b/c/d/e/f/g"])
def test_a_token_must_be_one(place: Place, token: str) -> None:
    with pytest.raises(UsageError, match="at least 8"):
        Web(place, token=token)
    place.close()


async def test_a_token_is_asked_for_and_kept_as_a_cookie(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "WRONG_NS", 0)
    async with asking(Web(place, token=TOKEN), "0.0.0.0") as ask:
        for path in (
            "/about",
            "/api/about",
            "/static/base.js",
            "/api/events",
            "/nothing",
            "/about?token=wrong",
            "/about?token=",
        ):
            async with ask("GET", path) as answer:
                assert answer.status == 401, path
                assert TOKEN not in await answer.text()
        async with ask("GET", "/api/about", headers={"X-Proact-Token": TOKEN}) as answer:
            assert answer.status == 200
        async with ask("GET", f"//evil.example/about?x=1&token={TOKEN}") as answer:
            assert answer.headers["Location"] == "/evil.example/about?x=1"
        async with ask("GET", f"/about?token={TOKEN}&x=1") as answer:
            assert (answer.status, answer.headers["Location"]) == (302, "/about?x=1")
            assert "HttpOnly" in answer.headers["Set-Cookie"]
        async with ask("GET", "/about?x=1") as answer:
            assert answer.status == 200


async def test_a_number_may_be_asked_for_where_others_may_look(place: Place) -> None:
    async with asking(Web(place, token=TOKEN), "0.0.0.0") as ask:
        for host, status in {"192.168.1.7:80": 200, socket.gethostname(): 200, "evil.example": 403}.items():
            async with ask("GET", "/about", headers={"Host": host, "X-Proact-Token": TOKEN}) as answer:
                assert answer.status == status, host


async def test_a_port_that_is_taken_is_one_sentence(place: Place) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(
            UsageError, match=r"^port \d+ is taken by another program; --port 0 takes one that is free$"
        ):
            await Web(place).start(port=taken.getsockname()[1])
    place.close()


async def test_an_address_that_is_not_this_machine_s_is_one_sentence(place: Place) -> None:
    with pytest.raises(UsageError, match=r"192\.0\.2\.1"):
        await Web(place, token=TOKEN).start("192.0.2.1")
    place.close()


async def test_a_connection_that_asks_for_nothing_is_let_go(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "SWEEP_NS", 5 * MS)
    monkeypatch.setattr(servers, "UNASKED_NS", 20 * MS)
    served = Web(place)
    async with asking(served) as ask:
        for begun in (b"", b"GET / HTTP/1.1\r\nHost: local"):
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(begun)
            async with asyncio.timeout(2):
                with suppress(ConnectionResetError):
                    assert await reader.read() == b""
            writer.close()
        async with ask("GET", "/api/events") as answer:
            await pause(40 * MS)
            assert b"hello" in await answer.content.read(200)


async def test_two_pages_of_one_server_are_not_mixed_up(place: Place) -> None:
    """Routes that a caller hands in come first, and beside the registered ones."""
    async with asking(Web(place, more=[_echo()])) as ask:
        async with ask("GET", "/api/echo") as answer:
            assert answer.status == 405
        async with ask("GET", "/about") as answer:
            assert "text/html" in answer.headers["Content-Type"]


def test_it_serves_from_a_thread_and_ends(place: Place) -> None:
    import threading
    import urllib.request

    with Web(place).in_thread() as url:
        with urllib.request.urlopen(f"{url}about") as answer:
            assert answer.status == 200
        assert any(thread.name == "proact-web" for thread in threading.enumerate())
    assert not any(thread.name.startswith("proact-") for thread in threading.enumerate())


async def test_the_server_s_loop_is_never_blocked(tmp_path: Path) -> None:
    """It may be the loop in which other things run; files are read in threads."""
    run = tmp_path / "a"
    (run / "units" / "u").mkdir(parents=True)
    (run / "run.json").write_text("{}")
    picture = tmp_path / "a.png"
    Image.new("RGB", (32, 18)).save(picture)
    place = Place([tmp_path])
    ids = place.pictures.add([(picture, None), (tmp_path / "missing.png", None)], tmp_path)
    (sheet,) = place.pictures.sheets(ids)
    paths = (
        "/",
        "/about",
        "/api/about",
        "/static/base.js",
        "/api/runs",
        f"/picture/{ids[0]}",
        f"/picture/{ids[1]}",
        f"/sheet/{sheet}",
    )
    async with asking(Web(place)) as ask:
        with blockbuster_ctx(["simulator"]):
            for path in paths:
                async with ask("GET", path) as answer:
                    assert answer.status == (422 if path.endswith(ids[1]) else 200), path


async def test_what_is_large_becomes_text_in_pieces_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python makes JSON in one go: all pages, and a live run beside them, would wait."""
    numbers, where, sizes = list(range(3001)), list[object](), list[int]()
    data = {"a": {"b": [numbers, 'é"', None], "c": tuple(numbers), "d": []}, "e": {}, "f": {1: 2}, "g": numbers}
    whole = pages._dumped
    monkeypatch.setattr(pages, "PIECE", 100)

    def dumped(part: object) -> str:
        where.append(threading.current_thread())
        sizes.append(len(text := whole(part)))
        return text

    monkeypatch.setattr(pages, "_dumped", dumped)
    made = await pages.answered(lambda: data)
    assert made.body == json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    assert threading.current_thread() not in where
    assert len(sizes) > 60
    with pytest.raises(ValueError, match="JSON"):
        pages.answer({"a": [float("nan")] * 200})
