"""What ``proact record`` does: put a recorder together, watch it, tell people and machines how it goes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

from simulator.cli.record import Options
from simulator.cli.speak import Voice, counted, missed
from simulator.cli.states import States
from simulator.core.durations import parse_duration
from simulator.core.errors import Exit, UsageError, quote
from simulator.core.sizes import parse_size, show_size
from simulator.core.types import SECOND
from simulator.recorder import screens, windows
from simulator.recorder.exclusions import Exclusions, Handle
from simulator.recorder.frames import ScreenLost
from simulator.recorder.private import privately
from simulator.recorder.recorder import Recorder
from simulator.recorder.shots import Budget, Shot, Summary
from simulator.recorder.status import BEAT, LOCK, PAUSE, Facts
from simulator.session.ignored import IGNORED, hide
from simulator.session.schema import FILE_NAME
from simulator.timing.clock import real_ns

if TYPE_CHECKING:
    from simulator.recorder.frames import Screen
    from simulator.recorder.screener import Screener

__all__ = [
    "LEAST_PERIOD_NS",
    "agree",
    "keys",
    "listening",
    "record_all",
    "recorder_for",
    "sentence",
    "unrecorded",
    "user_named",
]

LEAST_PERIOD_NS = SECOND // 50
_TELL_NS = 30 * SECOND  # how often a sentence is told where no line can be drawn
_RECORD_NS = 10 * SECOND  # how often a machine is told
_LONGEST_NAME = 80
_OURS = (PAUSE, LOCK, BEAT, FILE_NAME + ".part", IGNORED)  # what may lie in the folder of a session that is none yet


def record_all(folder: Path, options: Options) -> int:
    """Record until somebody stops it; the exit code."""
    voice = Voice(as_json=options.json)
    _own(folder)
    if options.screener is not None:
        _screener(options.screener)  # before anybody is asked whether pictures may go there
    agree(voice, yes=options.yes, screener=options.screener)
    for_ns = None if options.for_ is None else _read("--for", options.for_, parse_duration)
    recorder = recorder_for(folder, options, voice)
    with privately():
        _hidden(folder)
        summary = anyio.run(_run, recorder, for_ns, voice)
    return _tell(recorder, summary, voice)


def _own(folder: Path) -> None:
    """Refuse a folder of other things: a recording would lie about among them, and `forget` look at them."""
    if not folder.is_dir() or (folder / FILE_NAME).exists():
        return
    if any(there.name not in _OURS for there in folder.iterdir()):
        raise UsageError(f"{folder} is not empty, and no session; a recording needs a folder of its own")


def _hidden(folder: Path) -> None:
    """A new session in a folder that git leaves out; what keeps it from being made is told by whoever begins it."""
    if not (folder / FILE_NAME).exists():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            hide(folder)


def agree(voice: Voice, *, yes: bool, screener: str | None = None, asked: str | None = None) -> None:
    """Make sure that whoever sits here knows what is recorded, and where pictures go.

    Args:
        voice: tells it.
        yes: it was read before.
        screener: see ``--screener``.
        asked: the host of a model that a live agent asks.

    Raises:
        UsageError: nobody agreed.
    """
    from simulator.recorder.consent import RECORDING, asking, obtain, screening

    scopes = [RECORDING] if screener is None else [RECORDING, screening(urlsplit(screener).netloc or screener)]
    if asked is not None:
        scopes.append(asking(asked))
    asks = sys.stdin is not None and sys.stdin.isatty()
    obtain(*scopes, yes=yes, say=voice.tell, ask=input if asks else None)


def recorder_for(
    folder: Path,
    options: Options,
    voice: Voice,
    *,
    session: str | None = None,
    on_shot: Callable[[Shot], None] | None = None,
    on_gap: Callable[[int, int, str], None] | None = None,
    own: frozenset[Handle] = frozenset(),
) -> Recorder:
    """A recorder as the options want it, after a look at whether this desktop can be recorded at all.

    Args:
        folder: of the session.
        options: of ``proact record``.
        voice: where warnings are told.
        session: see ``Recorder``.
        on_shot: see ``Recorder``.
        on_gap: see ``Recorder``.
        own: see ``Exclusions``.

    Raises:
        UsageError: it cannot, or an option says what cannot be done.
    """
    period_ns = _read("--period", options.period, parse_duration)
    if period_ns < LEAST_PERIOD_NS:
        raise UsageError(f"--period: at least 20ms, and '{options.period}' is less")
    budget = Budget(
        None if options.budget is None else _read("--budget", options.budget, parse_size),
        _read("--keep-free", options.keep_free, parse_size),
    )
    if options.user is not None:
        user_named("--user", options.user)
    screener = None if options.screener is None else _screener(options.screener)
    rules = replace(Exclusions.load(options.exclude), own=own)
    make = screens.choose(command=options.screen_command, portal=options.portal)
    found = windows.choose()
    if not options.portal:  # where each opening asks the user, the first look is the test
        _test(make, options.monitor, voice)
    if found.visible() is None and not rules.accept_unseen_windows:
        why = f" ({found.why})" if isinstance(found, windows.NoWindows) and found.why else ""
        raise UsageError(
            f"which windows are to be seen cannot be told here{why}, so nothing that is excluded could be covered: to "
            "record all the same, write `accept_unseen_windows: true` into a YAML file and give it with --exclude"
        )
    return Recorder(
        folder,
        screens.KeptScreen(make, monitors=options.monitor),
        found,
        period_ns=period_ns,
        user=options.user,
        session=session,
        on_shot=on_shot,
        on_gap=on_gap,
        rules=rules,
        screener=screener,
        budget=budget,
    )


def _test(make: Callable[[], Screen], wanted: list[int] | None, voice: Voice) -> None:
    """Look once: what cannot be captured at the start is told then, and not recorded as one long gap."""
    try:
        screen = make()
        try:
            for said in screens.self_test(screen):
                voice.tell(said, "yellow")
            there = [monitor.number for monitor in screen.monitors()]
        finally:
            with suppress(Exception):
                screen.close()
    except ScreenLost as error:
        raise UsageError(screens.uncaptured(error)) from error
    missing = [number for number in wanted or () if number not in there]
    if missing:
        raise UsageError(f"--monitor: there is no monitor {missing[0]}; there are {', '.join(map(str, there))}")


def user_named(option: str, user: str) -> str:
    """The name of a user, if it can be told, typed and found again.

    Raises:
        UsageError: it is empty or long, or holds control characters or blanks at its ends.
    """
    if not user or user != user.strip() or not user.isprintable() or len(user) > _LONGEST_NAME:
        raise UsageError(
            f"{option} {quote(user)}: a name of 1 to {_LONGEST_NAME} characters that can be printed, without blanks at "
            "its ends"
        )
    return user


def _screener(text: str) -> Screener:
    from simulator.recorder.screener_endpoint import EndpointScreener

    address, _, model = text.rpartition(",")
    if not address or not model:
        raise UsageError("--screener: an address and a model, such as http://127.0.0.1:8000/v1,qwen")
    return EndpointScreener(address, model)


def _read(option: str, text: str, parse: Callable[[str], int]) -> int:
    try:
        return parse(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error


async def _run(recorder: Recorder, for_ns: int | None, voice: Voice) -> Summary:
    done = asyncio.Event()
    watcher = asyncio.create_task(_watch(recorder, voice, done))
    try:
        with listening(recorder.stop), keys(recorder):
            return await recorder.run(for_ns)
    finally:
        done.set()
        await asyncio.wait([watcher])


@contextmanager
def listening(stop: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C, a polite kill and a terminal that is closed all end the recording; a second one changes nothing, since
    closing takes a second at most and cutting it short is what would lose something.
    """

    def heard(number: int, frame: FrameType | None) -> None:
        stop()

    if threading.current_thread() is not threading.main_thread():  # only there can signals be heard
        yield
        return
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    before = {n: signal.signal(n, heard) for name in names if (n := getattr(signal, name, None)) is not None}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def keys(recorder: Recorder) -> Iterator[None]:
    """``p`` and Enter pause and resume, where there is a terminal to type at."""

    def typed() -> None:
        if os.tcgetpgrp(0) != os.getpgrp():  # in the background: reading would stop the whole process
            return
        word = os.read(0, 1024).decode("utf-8", "replace").strip().casefold()
        if word == "p":
            recorder.resume() if recorder.paused else recorder.pause()

    loop = asyncio.get_running_loop()
    try:
        if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdin.fileno() == 0):
            raise NotImplementedError
        loop.add_reader(0, typed)
    except (NotImplementedError, OSError, ValueError):  # no terminal, or Windows: the file still pauses
        yield
        return
    try:
        yield
    finally:
        loop.remove_reader(0)


async def _watch(recorder: Recorder, voice: Voice, done: asyncio.Event) -> None:
    """Tell how it goes: a line on a terminal, elsewhere a sentence now and then, and each trouble at once."""
    drawn = voice.progress.is_terminal
    states = States(voice, (lambda: _draw(voice, "")) if drawn else lambda: None)
    told_ns, recorded_ns = real_ns(), real_ns()
    while not done.is_set():
        facts = recorder.facts
        states.look(facts)
        if drawn:
            _draw(voice, sentence(facts, voice.progress.width - 1))
        elif real_ns() - told_ns >= _TELL_NS and not voice.as_json:
            told_ns = real_ns()
            voice.tell(sentence(facts))
        if real_ns() - recorded_ns >= _RECORD_NS:
            recorded_ns = real_ns()
            voice.record("recording", **facts.as_dict())
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await done.wait()
    if drawn:
        _draw(voice, "")


def _draw(voice: Voice, said: str) -> None:
    """One line that is written over; a terminal that is gone ends nothing."""
    with suppress(OSError, ValueError):
        voice.progress.file.write(f"\r\x1b[K{said[: max(0, voice.progress.width - 1)]}")
        voice.progress.file.flush()


def sentence(facts: Facts, width: int | None = None) -> str:
    """How a recording is doing, in one line; with a width, as much of it as fits, what matters first.

    >>> sentence(Facts(last_tick_age_s=0.4, n_rows=61, n_pictures=1, n_bytes=2_100_000, kb_per_s=34.4))
    'last tick 0 s ago; 61 rows, 1 picture, 2.1 MB, 34 KB/s, CPU 0 %'
    """
    if facts.last_tick_age_s is None:
        return "starting"
    said = f"last tick {facts.last_tick_age_s:.0f} s ago"
    if facts.trouble is not None:
        said += f" ({facts.trouble})"
    parts = [counted(facts.n_rows, "row"), counted(facts.n_pictures, "picture")]
    parts += [missed(facts.gaps)] if facts.gaps else []
    parts += [f"{facts.queue} to write"] if facts.queue > 1 else []
    parts += [show_size(facts.n_bytes), f"{facts.kb_per_s:.0f} KB/s", f"CPU {facts.cpu_percent:.0f} %"]
    if facts.rss_bytes is not None:
        parts.append(show_size(facts.rss_bytes) + " memory")
    if facts.late_p99_ms is not None:
        parts.append(f"late p99 {facts.late_p99_ms:.1f} ms")
    whole = [f"{said}; {', '.join(parts[:n])}" for n in range(len(parts), 0, -1)]
    if width is None:
        return whole[0]
    return next((line for line in whole if len(line) <= width), said[: max(0, width)])


def unrecorded(facts: Facts) -> str | None:
    """The sentence of a recording without a row: what kept it from having any; None if it has some.

    >>> unrecorded(Facts(gaps={"disk_full": 4}))
    'nothing was recorded, 4 ticks disk_full'
    """
    if facts.n_rows:
        return None
    return "nothing was recorded" + (f", {missed(facts.gaps)}" if facts.gaps else "")


def _tell(recorder: Recorder, summary: Summary, voice: Voice) -> int:
    """What came of it; the exit code."""
    if summary.recovered is not None:
        voice.tell(f"gone on with a session that a crash had left: {summary.recovered}")
    facts = recorder.facts
    gaps = f", {missed(summary.gaps)}" if summary.gaps else ""
    said = f"{counted(summary.n_rows, 'row')}, {counted(summary.n_pictures, 'picture')}, {show_size(summary.n_bytes)}"
    said += f", {counted(facts.events_closed, 'event')}{gaps}"
    if not summary.closed:
        why = f" ({facts.fault})" if facts.fault else ""
        voice.tell(
            f"{summary.folder}: the session could not be written to its end and closed{why}; `proact dataset compact` "
            "closes it once there is room",
            "red",
        )
    if (nothing := unrecorded(facts)) is not None:
        voice.tell(f"{summary.folder}: {nothing}", "red")
    else:
        voice.tell(f"{summary.folder}: {said}")
    voice.record(
        "done", session=str(summary.folder), rows=summary.n_rows, ticks=summary.n_ticks, pictures=summary.n_pictures,
        bytes=summary.n_bytes, gaps=dict(summary.gaps), quality=dict(summary.events), closed=summary.closed,
        recovered=summary.recovered, late_p99_ms=facts.late_p99_ms, cpu_percent=facts.cpu_percent,
    )  # fmt: skip
    return Exit.DONE if summary.n_rows and summary.closed else Exit.USAGE
