"""The server of the pages: who may ask, what answers look like, and the thread that it lives in.

Bound to this machine unless an address and a token are given. Names that are not this machine's are refused (a page of
somebody else's cannot reach it by a name that it lets point here), commands need a header that only our pages send, and
pages may load nothing from elsewhere.
"""

from __future__ import annotations

import asyncio
import errno
import hmac
import ipaddress
import os
import re
import socket
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

from aiohttp import web

from simulator.core.errors import InputError, ProactError, UsageError
from simulator.core.operators import operators
from simulator.core.types import MS, SECOND
from simulator.report.naming import told_by_name
from simulator.timing.clock import pause, real_ns
from simulator.web import pages
from simulator.web.door import Door
from simulator.web.following import follow
from simulator.web.pages import answer
from simulator.web.place import NotHere, Place

__all__ = ["HEADERS", "Web", "new_token"]

END_S = 2.0
UNDONE_S = 1.0
"""How long answers that are being made or fetched at the end may still take, and then to break off."""
SWITCH_S = 0.001
"""After which a thread that computes gives way to another one; Python's own 5 ms are felt by a run beside a page."""
LARGEST_POST = 64 * 1024
SWEEP_NS = 10 * SECOND
UNASKED_NS = 20 * SECOND
"""How long a connection may take to ask for something."""
ANSWERED_NS = 300 * SECOND
"""How long an answer may take to be made and to be fetched; streams of events see to themselves."""
EVENTS = "/api/events"
_FULL = (errno.ENOSPC, errno.EDQUOT)
WRONG_NS = 200 * MS
"""What a wrong token costs whoever guesses."""
HEADER = "X-Proact"
"""What a command must carry: pages of other sites cannot send it without asking first, and they are told no."""

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), display-capture=()",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def new_token() -> str:
    """A word that nobody guesses. The one kind of chance that must not be repeatable, so no named draw."""
    return os.urandom(16).hex()


class Web:
    """The pages, served.

    Args:
        place: what may be shown.
        more: routes beside those of the registered pages, such as the live page's.
        token: a word that everybody must know who asks; needed for another address than this machine's own.

    Raises:
        UsageError: a token that does not fit into an address, or is soon guessed.
    """

    def __init__(self, place: Place, *, more: Iterable[web.AbstractRouteDef] = (), token: str | None = None) -> None:
        if token is not None and not re.fullmatch(r"[A-Za-z0-9_.~-]{8,200}", token):
            raise UsageError("--token: at least 8 letters and digits, or: --token new")
        self.place = place
        self._token = token
        self._host, self.port = "127.0.0.1", 0
        self._runner: web.AppRunner | None = None
        self._door: Door | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._until: dict[object, int] = {}
        self.app = web.Application(client_max_size=LARGEST_POST, middlewares=[self._guard, _faults])
        self.app.add_routes(
            [
                *more,
                *pages.routes(place),
                *place.pictures.routes(),
                web.get(EVENTS, place.hub.serve),
                web.get("/static/{name:.+}", _static()),
            ]
        )
        self.app.on_response_prepare.append(_headers)
        operators()  # imported now: where no more files can be opened, it could not be

    @property
    def url(self) -> str:
        """Where it is reached, with the token if there is one."""
        try:
            address = ipaddress.ip_address(self._host)
            host = "127.0.0.1" if address.is_unspecified else self._host
            host = f"[{host}]" if ":" in host else host
        except ValueError:
            host = self._host
        return f"http://{host}:{self.port}/" + (f"?token={self._token}" if self._token else "")

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listen in the running loop; gives the address.

        Args:
            host: where; other than this machine's own only with a token.
            port: which; 0 for any that is free.

        Raises:
            UsageError: another address without a token, an unknown one, or a port that is taken.
        """
        if not _is_own(host) and not self._token:
            raise UsageError(
                f"--host {host} shows screens to others: it needs --token WORD, or --token new for a new one"
            )
        self._host = host
        self._runner = web.AppRunner(self.app, handle_signals=False, shutdown_timeout=UNDONE_S)
        await self._runner.setup()
        assert self._runner.server is not None
        self._door = Door(self._runner.server, HEADERS)
        try:
            self.port = await self._door.listen(host, port)
        except OSError as error:
            await self.stop()
            raise UsageError(_why(host, port, error)) from None
        self._tasks = [asyncio.create_task(self._sweep()), asyncio.create_task(follow(self.place))]
        return self.url

    async def stop(self) -> None:
        """Close every connection."""
        for task in self._tasks:
            task.cancel()
        self.place.hub.close()
        if self._door is not None:
            await self._door.close()
        if self._runner is not None:
            await self._runner.cleanup()
        if self._door is not None:
            await self._door.end()

    @contextmanager
    def in_thread(self, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
        """Serve from a thread with a loop of its own while the block runs; gives the address.

        Whoever else works in this process waits less long for a thread of ours meanwhile (``docs/decisions/012``).

        Raises:
            UsageError: see ``start``.
        """
        before = sys.getswitchinterval()
        sys.setswitchinterval(min(before, SWITCH_S))
        loop = asyncio.new_event_loop()
        thread = Thread(target=loop.run_forever, name="proact-web", daemon=True)
        thread.start()
        try:
            yield asyncio.run_coroutine_threadsafe(self.start(host, port), loop).result()
        finally:
            asyncio.run_coroutine_threadsafe(self.stop(), loop).result()
            with suppress(TimeoutError):  # a page that computes is not waited for
                asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result(END_S)
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
            self.place.close()
            sys.setswitchinterval(before)

    async def _sweep(self) -> None:
        """Let go of connections whose other end is stuck: they would be held for ever, and their answers with them."""
        while True:
            await pause(SWEEP_NS)
            assert self._runner is not None
            now, server = real_ns(), self._runner.server
            open_ = list(server.connections) if server is not None else []
            self._until = {one: self._until.get(one, now + UNASKED_NS) for one in open_}
            for one in open_:
                if self._until[one] < now and one.transport is not None:
                    one.transport.abort()

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Who may ask what; see the module."""
        self._until[request.protocol] = real_ns() + (ANSWERED_NS if request.path != EVENTS else 10**9 * SECOND)
        if not self._is_ours(request.headers.get("Host", "")):
            return _no(403, "this server answers to the name of this machine only")
        if (
            request.headers.get("Sec-Fetch-Site") == "cross-site"
            and request.headers.get("Sec-Fetch-Mode") != "navigate"
        ):
            return _no(403, "pages of other sites may not ask this server")
        if self._token and (refused := await self._let_in(request)) is not None:
            return refused
        assert self._door is not None
        self._door.known(request.protocol)
        if request.method == "POST":
            if HEADER not in request.headers:
                return _no(403, f"commands need the header {HEADER}")
            if request.content_type != "application/json":
                return _no(415, "commands are JSON")
            if "Content-Encoding" in request.headers:  # nothing is unpacked: it could be without end
                return _no(415, "commands are not compressed")
        elif request.method not in ("GET", "HEAD"):
            return _no(405, "this server knows GET and POST")
        return await handler(request)

    def _is_ours(self, host: str) -> bool:
        """Whether a Host header names this machine. A number always may: only names can be made to point here."""
        try:
            name = host.rpartition("]")[0].strip("[") if host.startswith("[") else host.partition(":")[0]
            address = ipaddress.ip_address(name)
        except ValueError:
            known = {"localhost", self._host.lower()} | (
                set() if _is_own(self._host) else {socket.gethostname().lower()}
            )
            return name.lower().rstrip(".") in known
        return address.is_loopback or not _is_own(self._host)

    async def _let_in(self, request: web.Request) -> web.StreamResponse | None:
        """Ask for the token: a header, a cookie, or once in the address, from where it goes into the cookie."""
        assert self._token
        cookie = f"proact-{self.port}"  # cookies are shared by all ports of a machine
        if request.method == "GET" and _same(request.query.get("token", ""), self._token):
            rest = str(request.rel_url.without_query_params("token"))
            moved = web.Response(status=302, headers={"Location": f"/{rest.lstrip('/')}", "Cache-Control": "no-store"})
            moved.set_cookie(cookie, self._token, httponly=True, samesite="Lax", path="/", max_age=86_400)
            return moved
        if _same(request.headers.get("X-Proact-Token") or request.cookies.get(cookie) or "", self._token):
            return None
        await pause(WRONG_NS)
        return _no(401, "this server wants a token: open the address that `proact` printed, with ?token=… at its end")


def _same(said: str, token: str) -> bool:
    """Compare in a time that tells nothing."""
    return hmac.compare_digest(said.encode(errors="replace"), token.encode())


def _is_own(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _why(host: str, port: int, error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return f"--host {host}: this machine knows no such address"
    if error.errno in (98, 48, 10048):
        return f"port {port} is taken by another program; --port 0 takes one that is free"
    if error.errno in (13, 10013):
        return f"port {port} may not be used by you; --port 0 takes one that may"
    return f"{host}:{port} cannot be listened on ({error.strerror})"


def _static() -> Handler:
    """Files of ``static``, by the names that there were when the server started."""
    files = {str(p.relative_to(pages.STATIC).as_posix()): p for p in sorted(pages.STATIC.rglob("*")) if p.is_file()}

    async def file(request: web.Request) -> web.StreamResponse:
        if (path := files.get(request.match_info["name"])) is None:
            raise web.HTTPNotFound(text="there is no such file")
        return web.FileResponse(path, headers={"Cache-Control": "no-cache"})

    return file


async def _headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)
    response.headers.pop("Server", None)


@web.middleware
async def _faults(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Whatever goes wrong becomes a sentence as JSON."""
    try:
        return await handler(request)
    except ConnectionError:  # who asked is gone
        raise
    except NotHere as error:
        return _no(404, str(error))
    except InputError as error:
        return _no(422, told_by_name(error))  # a page may be on a projector, and on another machine
    except UsageError as error:
        return _no(400, str(error))
    except web.HTTPException as error:
        if error.status < 400:
            raise
        said = {404: "there is no such page", 413: "that is too large"}.get(error.status)
        text = said if said and (error.text or "").startswith(f"{error.status}:") else error.text
        return _no(error.status, text or error.reason)
    except (ProactError, OSError) as error:
        operators().warning("page failed", page=_page(request), kind=type(error).__name__)
        verb = "written" if request.method == "POST" else "read"
        return _no(500, f"this cannot be {verb} now ({_because(error)})")
    except Exception as error:  # noqa: BLE001  # a bug of ours: told in the terminal, without the words that it met
        ways = [f"{Path(at.filename).name}:{at.lineno}" for at in traceback.extract_tb(error.__traceback__)[-5:]]
        operators().error("page failed", page=_page(request), kind=type(error).__name__, at=" ".join(ways))
        return _no(500, "this is a fault of proact's own; its terminal says more")


def _because(error: Exception) -> str:
    return "the disk is full" if getattr(error, "errno", None) in _FULL else type(error).__name__


def _page(request: web.Request) -> str:
    """Which page, without the names in its address."""
    resource = request.match_info.route.resource
    return resource.canonical if resource is not None else "?"


def _no(status: int, sentence: str) -> web.Response:
    return answer({"error": sentence}, status)
