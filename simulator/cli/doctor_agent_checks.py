"""What is tried on an agent in another process, check by check, and the sentences on what is wrong with it."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from agents.remote import CLOSE_S, HEALTH_S, OPEN_S, picture, read_health
from agents.remote_http import HttpWire, url_of
from agents.remote_protocol import (
    Answer,
    Health,
    Opened,
    RemoteError,
    observation_body,
    read,
    setup_body,
    unknown_fields,
)
from agents.remote_stdio import StdioWire, argv_of
from agents.testing import FakeHistory, observe
from simulator.cli.doctor import Finding
from simulator.core.intentions import INTENTIONS, canonical
from simulator.core.types import MS, SECOND, Event, ImageRef, MemoryItem, Observation, Setup
from simulator.endpoint.images import Pictures
from simulator.timing.audit import percentile
from simulator.timing.clock import real_ns
from simulator.timing.tasks import task_group

__all__ = ["Bench", "examine"]

_SETUP = Setup("doctor", "sam", {"occupation": "engineer"}, INTENTIONS, 7)
_IN_ORDER = 5
_SIZE = (1920, 1080)


@dataclass
class Bench:
    """The agent that is tried.

    Attributes:
        make: makes a wire to it; a child process is a new one each time.
        limit_s: how long one decision may take.
        token: name of the variable, where it gets one.
        address: of an HTTP agent.
    """

    make: Callable[[], HttpWire | StdioWire]
    limit_s: float
    token: str | None = None
    address: str | None = None
    wire: HttpWire | StdioWire = field(init=False)
    health: Health = field(init=False)
    id: str | None = None
    answers: list[Answer] = field(default_factory=list)
    took_ns: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.wire = self.make()

    @classmethod
    def at(cls, url: str, token: str | None, limit_s: float) -> Bench:
        """One that answers over HTTP.

        Raises:
            UsageError: an address that will not do.
        """
        address = url_of(url, token)
        return cls(partial(HttpWire, address, token), limit_s, token, address)

    @classmethod
    def child(cls, cmd: str, limit_s: float) -> Bench:
        """One that is started.

        Raises:
            UsageError: a command that cannot be read.
        """
        return cls(partial(StdioWire, argv_of(cmd)), limit_s)

    async def open(self) -> None:
        """Open a session."""
        opened = read(Opened, await self.wire.ask("open", setup_body(_SETUP), OPEN_S), "open")
        self.id = opened.id

    async def ask(self, seen: Observation, *, call: str = "decide", more: Mapping[str, Any] | None = None,
                  image: Mapping[str, Any] | None = None) -> Answer:  # fmt: skip
        """One decision, timed."""
        items = await seen.memory.recall(self.health.needs.memory) if self.health.needs.memory else []
        body = observation_body(seen, items, seen.memory.render(items), image) | {"id": self.id} | dict(more or {})
        begun = real_ns()
        answer = read(Answer, await self.wire.ask(call, body, self.limit_s), call)
        self.took_ns.append(real_ns() - begun)
        self.answers.append(answer)
        return answer


async def examine(bench: Bench) -> AsyncIterator[Finding]:
    """All findings, in order; without health and a session there is nothing more to ask."""
    try:
        for name, check in _FIRST.items():
            finding = await _checked(name, check, bench)
            yield finding
            if finding.state == "wrong":
                return
        for name, check in _CHECKS.items():
            yield await _checked(name, check, bench)
        yield _offers(bench)
        yield _fields(bench)
        yield _speed(bench)
        if isinstance(bench.wire, HttpWire):
            yield _connections(bench.wire, len(bench.took_ns))
        yield await _checked("close", _close, bench)
        yield await _checked("again", _again, bench)
    finally:
        await bench.wire.close()


Said = tuple[str, str]
"""A state and a sentence."""


async def _checked(name: str, check: Callable[[Bench], Awaitable[Said]], bench: Bench) -> Finding:
    try:
        state, said = await check(bench)
    except RemoteError as error:
        state, said = "wrong", str(error)
    return Finding(name, state, said)  # type: ignore[arg-type]


async def _health(bench: Bench) -> Said:
    bench.health = health = read_health(await bench.wire.ask("health", {}, HEALTH_S))
    needs = health.needs
    said = f"{health.name} {health.version}; pictures: {needs.images}, memory items: {needs.memory}"
    if needs.images == "path" and not bench.wire.near:
        return "wrong", f"{said}; paths mean nothing on another machine: it must ask for jpeg"
    if extra := unknown_fields(health):
        return "note", f"{said}; fields that are not of this protocol: {_named(extra)}"
    return "ok", said


async def _open(bench: Bench) -> Said:
    await bench.open()
    return "ok", "a session is open" + ("" if bench.id is None else ", and has an id")


def _desk(index: int = 30, **given: Any) -> Observation:
    event = Event("doctor/0", "sam", 0, 12 * SECOND, "chromium", "statistics – Python documentation", "browser")
    item = MemoryItem("In a terminal, “~/stats”: help needed", 0.9, help=0.8, intention="Error Correction")
    seen: dict[str, Any] = {
        "app": "xterm", "title": "sam@desk: ~/stats", "category": "terminal", "since_ns": 12 * SECOND, "user": "sam",
        "text": "$ python burst.py\nStatisticsError: mean requires at least one data point", "items": [item],
        "events": [event], "profile": _SETUP.profile,
    }  # fmt: skip
    return observe(index, **seen | given)


async def _decide(bench: Bench) -> Said:
    answer = await bench.ask(_desk())
    offered = ", ".join(offer.intention for offer in answer.decision.offers)
    return "ok", f"it offers {offered[:80]}" if offered else "it stays silent"


async def _bare(bench: Bench) -> Said:
    seen = observe(31)
    seen.history = FakeHistory()
    await bench.ask(seen)
    return "ok", "a snapshot of which nothing is known is decided on"


async def _odd(bench: Bench) -> Said:
    text = '周报 🙂 \u202e\u2028\u0085\x00\x1b[2J "quoted" \\ </script> ' + "x" * 10_000
    await bench.ask(_desk(32, app=text, title=text, text=text, profile={text[:50]: text}))
    return "ok", "control characters, other scripts and a title of 10,000 letters do no harm"


async def _large(bench: Bench) -> Said:
    events = [Event(f"doctor/{i}", "sam", i * SECOND, (i + 1) * SECOND, "code", "t" * 200, "editor", "s" * 200)
              for i in range(600)]  # fmt: skip
    await bench.ask(_desk(33, events=events, text="line of text on a full screen\n" * 7000))
    return "ok", "a call of half a megabyte is read"


async def _picture(bench: Bench) -> Said:
    needs = bench.health.needs
    if needs.images == "none":
        return "ok", "it wants none"
    from PIL import Image

    with tempfile.TemporaryDirectory(prefix="proact-doctor-") as folder:
        path = Path(folder) / "screen.png"
        Image.effect_noise(_SIZE, 80).convert("RGB").save(path, compress_level=1)
        image = await picture(ImageRef(path, None, *_SIZE), needs, Pictures(needs.image_side, 80))
        await bench.ask(_desk(34), image=image)
    return "ok", f"a picture is taken as {needs.images}"


async def _more(bench: Bench) -> Said:
    await bench.ask(_desk(35), more={"of_a_later_version": {"x": [1]}})
    return "ok", "a field that it does not know is passed over"


async def _in_order(bench: Bench) -> Said:
    for i in range(36, 36 + _IN_ORDER):
        await bench.ask(_desk(i))
    return "ok", f"{_IN_ORDER} decisions in turn"


async def _at_once(bench: Bench) -> Said:
    alone, failed = min(bench.took_ns, default=0), list[RemoteError]()

    async def one(index: int) -> None:
        try:
            await bench.ask(_desk(index))
        except RemoteError as error:
            failed.append(error)

    n, begun = len(bench.took_ns), real_ns()
    async with task_group() as group:
        for index in (51, 52):
            group.start_soon(one, index)
    both = real_ns() - begun
    del bench.took_ns[n:]  # those are not the times of one alone
    if failed:
        raise failed[0]
    if both > 1.7 * alone and alone > 50 * MS:
        return "note", "two calls at once are answered one after the other: policy overlap:n gains nothing"
    return "ok", "two calls at once are answered"


async def _broken(bench: Bench) -> Said:
    """A call that is no JSON must be an error, and no more than that."""
    wire = bench.wire
    try:
        if isinstance(wire, HttpWire):
            await wire.send("POST", "decide", b'{"observation": {', bench.limit_s)
        else:
            await wire.send(b'{"n": 1, "call": \n', "decide", bench.limit_s)
        state, said = "note", "a call that is no JSON is answered as if it were one"
    except RemoteError as error:
        state, said = _error_of(error, "a call that is no JSON")
    await bench.ask(_desk(53))
    return state, said


async def _unknown(bench: Bench) -> Said:
    try:
        await bench.wire.ask("of_a_later_version", {"id": bench.id}, bench.limit_s)
        state, said = "note", "a call that this protocol does not have is answered as if there were one"
    except RemoteError as error:
        state, said = _error_of(error, "a call that this protocol does not have")
    await bench.ask(_desk(54))
    return state, said


def _error_of(error: RemoteError, what: str) -> Said:
    """Whether an error was told as one; a server's own page of status 4xx will do."""
    if error.kind == "agent":
        return "ok", f"{what} is an error, told as one"
    if error.kind == "refused":
        return "note", f'{what} is refused, though not as {{"error": {{"kind": …, "text": …}}}}'
    return "wrong", f"{what} must be an error of the agent's own, not: {error}"


async def _token(bench: Bench) -> Said:
    if bench.token is None or bench.address is None:
        return "ok", "none is used"
    bare = HttpWire(bench.address)
    try:
        await bare.ask("health", {}, HEALTH_S)
    except RemoteError as error:
        return ("ok", "who has none is refused") if error.kind == "unauthorized" else ("note", f"without it: {error}")
    finally:
        await bare.close()
    return "note", "it answers also those who have none"


async def _repeat(bench: Bench) -> Said:
    """The same seed and the same screens, from a new session on."""
    runs = []
    for _ in range(2):
        await bench.wire.ask("close", {"id": bench.id}, CLOSE_S)
        await bench.open()
        runs.append([(await bench.ask(_desk(i))).decision for i in (30, 31)])
    if runs[0] != runs[1]:
        return "note", "the same seed and the same screens give other decisions: its runs cannot be repeated"
    return "ok", "the same seed and the same screens give the same decisions"


async def _finish(bench: Bench) -> Said:
    if not bench.health.finish:
        return "ok", "it is not asked at the end of a trajectory"
    await bench.ask(_desk(60), call="finish")
    return "ok", "the last question of a trajectory is answered"


_FIRST: dict[str, Callable[[Bench], Awaitable[Said]]] = {"health": _health, "open": _open}
_CHECKS: dict[str, Callable[[Bench], Awaitable[Said]]] = {
    "decide": _decide,
    "nothing known": _bare,
    "odd texts": _odd,
    "large call": _large,
    "picture": _picture,
    "unknown field": _more,
    "in turn": _in_order,
    "at once": _at_once,
    "no JSON": _broken,
    "unknown call": _unknown,
    "token": _token,
    "repeat": _repeat,
    "finish": _finish,
}


def _offers(bench: Bench) -> Finding:
    offers = [offer for answer in bench.answers for offer in answer.decision.offers]
    other = list(dict.fromkeys(offer.intention for offer in offers if canonical(offer.intention) is None))
    if other:
        said = "not among those that open told it, and never right by category"
        return Finding("intentions", "note", f"{_named(other)}: {said}")
    return Finding(
        "intentions", "ok", f"{len(offers)} offers, of intentions in use" if offers else "it offered nothing"
    )


def _fields(bench: Bench) -> Finding:
    extra = list(dict.fromkeys(name for answer in bench.answers for name in unknown_fields(answer)))
    if extra:
        return Finding("fields", "note", f"not of this protocol, and passed over (misspelt?): {_named(extra)}")
    return Finding("fields", "ok", "all fields of its answers are known")


def _speed(bench: Bench) -> Finding:
    took = bench.took_ns
    if not took:
        return Finding("speed", "wrong", "not one decision was answered")
    typical, worst = percentile(took, 50), max(took)
    said = f"p50 {typical / MS:.1f} ms, longest {worst / MS:.1f} ms of {len(took)} decisions"
    if typical > SECOND:
        return Finding("speed", "note", f"{said}: slower than one screen a second, so it will see only some of them")
    return Finding("speed", "ok", said)


def _connections(wire: HttpWire, n: int) -> Finding:
    if wire.connections > max(4, n // 2):
        return Finding("connections", "note", f"{wire.connections} for {n} calls: kept ones (HTTP/1.1) cost less time")
    if wire.content_type != "application/json":
        return Finding("connections", "note", "kept; its answers do not say that they are application/json")
    return Finding("connections", "ok", "kept")


async def _close(bench: Bench) -> Said:
    await bench.wire.ask("close", {"id": bench.id}, CLOSE_S)
    wire = bench.wire
    if isinstance(wire, HttpWire):
        return "ok", "the session is closed"
    begun = real_ns()
    await wire.close()
    took_ms = (real_ns() - begun) // MS
    if wire.killed:
        return "note", "it did not end at the end of its input, and had to be stopped"
    return "ok", f"it ended {took_ms} ms after the end of its input"


async def _again(bench: Bench) -> Said:
    """Runs have many sessions: one after the other in one server, each in a child of its own."""
    if isinstance(bench.wire, StdioWire):
        await bench.wire.close()
        bench.wire = bench.make()
        await bench.wire.ask("health", {}, HEALTH_S)
    await bench.open()
    await bench.ask(_desk())
    with suppress(RemoteError):
        await bench.wire.ask("close", {"id": bench.id}, CLOSE_S)
    return "ok", "another session was opened after the first"


def _named(words: list[str]) -> str:
    """At most five, short."""
    shown = ", ".join(f"'{''.join(c if c.isprintable() else '�' for c in word[:40])}'" for word in words[:5])
    return shown + (f" and {len(words) - 5} more" if len(words) > 5 else "")
