"""What ``proact live`` does: recorder and agent side by side, watched in the terminal; or a recording, said plainly."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import anyio

from simulator.cli.live import LiveOptions
from simulator.cli.live_page import Page, notice_of, page_of
from simulator.cli.live_recording import ENDING, beat, fall_back, heard_out, hearing, replay, told
from simulator.cli.record import Options as RecordOptions
from simulator.cli.recording import agree, keys, recorder_for, unrecorded
from simulator.cli.speak import Voice, plain
from simulator.cli.states import States
from simulator.cli.watching import Spectator, terminal, titled
from simulator.core.durations import duration
from simulator.core.errors import Exit, InputError, ProactError, UsageError
from simulator.core.types import MS, SECOND
from simulator.endpoint.holding import recording
from simulator.endpoint.transport import base_url_of
from simulator.endpoint.types import ModelChoice, shown_url
from simulator.play.assemble import Choice
from simulator.play.embedding import embedder_of
from simulator.play.live import LiveFolder, play_live, user_of
from simulator.play.makers import agent_maker, memory_maker
from simulator.play.player import Played
from simulator.recorder.exclusions import OWN_MARK, Handle
from simulator.recorder.private import privately
from simulator.recorder.processes import ancestors
from simulator.recorder.recorder import Recorder
from simulator.recorder.shots import Shot
from simulator.recorder.status import Facts
from simulator.runs.engine import Interrupt
from simulator.runs.gate import Gate
from simulator.session.scenario import plays
from simulator.timing.audit import invalid_by
from simulator.timing.clock import pause
from simulator.timing.tasks import beside

__all__ = ["Feed", "asked_host", "play"]

_LOST_NS = 10 * SECOND  # how long a screen may be gone before a fallback takes over
_LOOK_NS = 500 * MS
_UNFOUND_NS = 4 * SECOND
_LONGEST_NUMBER = 10  # of a window, digits


class Feed:
    """A recorder that is made, and tried, before anybody is there to be told of its shots."""

    def __init__(self, place: LiveFolder, options: LiveOptions, voice: Voice) -> None:
        given = RecordOptions(
            period=options.period, monitor=None if options.monitor is None else [options.monitor],
            exclude=options.exclude, screen_command=options.screen_command, portal=options.portal,
            budget=options.budget, keep_free=options.keep_free, user=options.user,
        )  # fmt: skip
        self._shot: Callable[[Shot], None] = lambda shot: None
        self._gap: Callable[[int, int, str], None] = lambda start, end, why: None
        self.recorder = recorder_for(
            place.session, given, voice, session=place.name, on_shot=lambda shot: self._shot(shot),
            on_gap=lambda start, end, why: self._gap(start, end, why), own=_own_windows(),
        )  # fmt: skip

    def made(self, folder: Path, *, session: str, user: str, on_shot: Callable[[Shot], None],
             on_gap: Callable[[int, int, str], None]) -> Recorder:  # fmt: skip
        """See ``play.live.MakeRecorder``."""
        self._shot, self._gap, self.recorder.user = on_shot, on_gap, user
        return self.recorder


def _own_windows() -> frozenset[Handle]:
    """The window that the terminal says is its own (``$WINDOWID``), for those that take no title.

    It counts as a window of a program that started this one only: the word may be of another terminal, from which this
    one was started, or of one that is gone.
    """
    word = os.environ.get("WINDOWID", "")
    if not (word.isdecimal() and len(word) <= _LONGEST_NUMBER):
        return frozenset()
    return frozenset((int(word), pid) for pid in ancestors())


def play(folder: Path, options: LiveOptions, model: ModelChoice | None = None) -> int:
    """Play the screen, or the fallback; the exit code. ``model`` is what the agent asks, if it asks one."""
    voice = Voice(as_json=options.json)
    Gate.parse(options.gate)
    _check(options)
    agent_maker(options.agent)  # a wrong word is told before anything is recorded
    memory_maker(options.memory).make(seed=0, intentions=(), utc_anchor_ns=0)
    if (embedder := embedder_of(options.embedder, memory_maker(options.memory), model)) is not None:
        embedder.make(choice=model)
    if agent_maker(options.agent).wants_model is not None and (chosen := model or ModelChoice()).replays is None:
        base_url_of(chosen)  # and so is an address, also one of the environment, that nothing can be asked at
    if options.for_ is not None:
        duration("for", options.for_)
    duration("linger", options.linger)
    if options.fallback is not None:
        plays([options.fallback])  # what is to save a demo is opened before it begins
    if options.replay is not None:
        plays([options.replay])
    asked = asked_host(options, model)
    if options.replay is not None:
        with page_of(options, folder, voice) as page, privately():
            return replay(folder, options, voice, model, page, asked)
    agree(voice, yes=options.yes, asked=asked)  # before the first look
    with page_of(options, folder, voice) as page, privately():  # a browser that it opens makes files as ever
        return _play(LiveFolder(folder), options, voice, model, page, asked)


def _check(options: LiveOptions) -> None:
    """What goes with what.

    Raises:
        UsageError: something that goes with nothing.
    """
    if options.speed is not None and options.replay is None:
        raise UsageError("--speed goes with --replay: this screen goes on as quickly as it does")
    if options.speed is not None and options.speed < 1:
        raise UsageError("--speed: a whole number from 1")
    if options.replay is not None and options.fallback is not None:
        raise UsageError("--fallback goes with a screen, and --replay shows none")
    if options.replay is not None and (options.past is not None or options.user is not None):
        raise UsageError("--past and --user go with a screen: a recording says itself whose it is, and brings its past")
    if not 0 <= options.port <= 65535:
        raise UsageError("--port: a number from 0 to 65535")
    if options.open_ and not options.web:
        raise UsageError("--open opens the page, and --no-web serves none")


def _play(place: LiveFolder, options: LiveOptions, voice: Voice, model: ModelChoice | None, page: Page,
          asked: str | None) -> int:  # fmt: skip
    """Play the screen, or the fallback; the exit code."""
    folder, gate = place.path, Gate.parse(options.gate)
    limit = None if options.for_ is None else duration("for", options.for_)
    try:
        feed = Feed(place, options, voice)
    except ProactError as error:
        if options.fallback is None:
            raise
        return fall_back(folder, options, voice, f"no live screen: {error}", model, page, asked)
    page.show("LIVE", notice_of(options, place.session, asked), feed.recorder)
    user = place.begin(options.past, options.user)
    if (whose := _whose(options, user)) is not None:
        voice.tell(whose, "yellow")
    own = terminal()
    run = _Run(place, options, voice, gate, feed, limit, page, model, seen=own is not None)
    undo = titled(OWN_MARK, own)
    try:
        with recording(model):
            played = anyio.run(run.play)
    except InputError:
        if (why := unrecorded(feed.recorder.facts)) is None:
            raise
        raise UsageError(f"{why}, so nothing was asked") from None
    except KeyboardInterrupt:
        voice.tell(f"ended at once; what was recorded is closed: proact score {shlex.quote(str(place.run))}")
        raise
    finally:
        undo()
    if run.lost and options.fallback is not None:
        voice.say(plain(f"what was seen until then: {played.folder}"))
        return fall_back(folder, options, voice, "the screen was lost", model, page, asked)
    if played.code is Exit.INTERRUPTED:
        voice.tell("interrupted before anything was recorded")
        voice.record("interrupted", runs=[str(played.folder)])
        return played.code
    played = heard_out(played, options, page, voice)
    voice.say(plain(f"to replay it: {_replay(folder, options)}"))
    voice.say(plain(f"to take it back: proact forget {shlex.quote(user)} --in {shlex.quote(str(folder))}"))
    return told(played, voice, run.shown)


def _whose(options: LiveOptions, user: str) -> str | None:
    """That a past makes this screen somebody's, or that it is given to somebody else than it is of."""
    if options.past is None:
        return None
    past = user_of(options.past)
    if past == user:
        said = f"this screen is recorded as {user}'s, whose past {options.past} is"
        return None if options.user is not None else f"{said}; --user NAME records it as somebody else's"
    return f"the agent gets the past of {past} ({options.past}) as if it were {user}'s"


def _replay(folder: Path, options: LiveOptions) -> str:
    """The command that plays the run again from its journal."""
    words = ["proact", "run", str(folder), "--clock", "journal", "--journal", str(folder / "run")]
    for name in ("agent", "memory", "embedder", "policy", "gate", "seed", "timeout", "window"):
        value, default = getattr(options, name), getattr(LiveOptions(), name)
        words += [] if value in (None, default) else [f"--{name}", str(value)]
    return shlex.join(words)


def asked_host(options: LiveOptions, model: ModelChoice | None) -> str | None:
    """To whom what the screen shows will be sent, programs on this machine too; None where it stays in this one."""
    chosen = model or ModelChoice()
    asked = [chosen.base_url] if agent_maker(options.agent).wants_model is not None else []
    if (embedder := embedder_of(options.embedder, memory_maker(options.memory), model)) is not None and embedder.asks:
        asked.append(embedder.facts["asked"]["base_url"])
    hosts: dict[str, None] = {}
    for address in asked if chosen.replays is None else ():
        parts = urlsplit(shown_url(address or os.environ.get("OPENAI_BASE_URL")) or "")
        if parts.hostname is not None:
            hosts[parts.netloc] = None
    return " and ".join(hosts) or None


@dataclass
class _Run:
    """One live run, from its start to its end."""

    place: LiveFolder
    options: LiveOptions
    voice: Voice
    gate: Gate
    feed: Feed
    limit_ns: int | None
    page: Page
    model: ModelChoice | None = None
    seen: bool = False
    lost: bool = False
    shown: tuple[int, int] = (0, 0)
    asked: int = 0
    unfound: int = 0
    warned: bool = field(default=False)

    async def play(self) -> Played:
        interrupt = Interrupt()
        o = self.options
        choice = Choice([], agent=o.agent, memory=o.memory, policy=o.policy, gate=o.gate, seed=o.seed,
                        timeout=o.timeout, window=o.window, model=self.model, embedder=o.embedder)  # fmt: skip
        period = duration("period", o.period)
        recorder = self.feed.recorder
        with (Spectator(self.voice, "LIVE", self.gate, self._how) as spectator, keys(recorder),
              hearing(self._stop(interrupt), interrupt)):  # fmt: skip
            async with beside(self._watch, partial(beat, spectator), *self.page.workers):
                try:
                    return await play_live(self.place, choice, self.feed.made, period_ns=period,
                                           watcher=self.page.beside(spectator), interrupt=interrupt)  # fmt: skip
                finally:
                    self.shown = spectator.shown, spectator.offered

    def _stop(self, interrupt: Interrupt) -> Callable[[], None]:
        """Ends the recording; before there is one, all of it: the agent may take long to open."""

        def stop() -> None:
            self.asked += 1
            if self.feed.recorder.now_ns() == 0:
                interrupt.asked = True
            self.feed.recorder.stop()

        return stop

    def _how(self) -> str:
        """How the recording is doing."""
        facts = self.feed.recorder.facts
        said = [] if facts.last_tick_age_s is None else [f"last look {facts.last_tick_age_s:.1f} s ago"]
        said += [f"NOT RECORDING ({facts.trouble})"] if facts.trouble else []
        said += [f"INVALID if it ended now ({why})" for why in invalid_by(facts.late_p99_ms)]
        return ", ".join(said)

    async def _watch(self) -> None:
        """End after the time that was given, or when the screen has been gone too long; warn of our own window."""
        lost_ns, recorder = 0, self.feed.recorder
        states = States(self.voice)
        while True:
            await pause(_LOOK_NS)
            states.look(recorder.facts)
            if self.asked == 1:
                self.asked += 1  # told
                self.voice.tell(ENDING)
            if recorder.facts.last_tick_age_s is None:
                continue
            if self.limit_ns is not None and recorder.now_ns() >= self.limit_ns:
                recorder.stop()
            gone = recorder.facts.trouble == "display_lost" or recorder.facts.hangs
            lost_ns = lost_ns + _LOOK_NS if gone else 0
            if lost_ns >= _LOST_NS and self.options.fallback is not None and not self.lost:
                self.lost = True
                recorder.stop()
            self._warn(recorder.facts)

    def _warn(self, facts: Facts) -> None:
        """Once, of a window of ours that is not found: the page's needs a moment until it is on a picture."""
        self.unfound = self.unfound + 1 if facts.page_missing and self.page.open else 0
        what = "this terminal's window" if facts.own_missing and self.seen else None
        if self.unfound * _LOOK_NS >= _UNFOUND_NS:
            what = "the page's window"
        if what is not None and not self.warned:
            self.warned = True
            self.voice.tell(
                f"{what} was not found on the screen, so it cannot be left out of the pictures: keep it "
                "off the watched monitor, or the agent sees its own suggestions",
                "yellow",
            )
