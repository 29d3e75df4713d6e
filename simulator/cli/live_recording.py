"""What ``proact live`` does besides recording: a recording shown instead, how it is ended, what came of it."""

from __future__ import annotations

import shlex
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import anyio

from scorers.feedback import SAID
from simulator.cli.interrupting import listening
from simulator.cli.live import LiveOptions
from simulator.cli.live_page import Page, sent
from simulator.cli.playing import errors_of
from simulator.cli.show import ScoreTable, invalid
from simulator.cli.speak import Voice, counted, plain
from simulator.cli.watching import Spectator
from simulator.core.durations import duration
from simulator.core.errors import Exit
from simulator.core.types import SECOND
from simulator.endpoint.types import ModelChoice
from simulator.play.assemble import Choice
from simulator.play.player import Played
from simulator.play.player import play as play_recorded
from simulator.play.scoring import score_folder
from simulator.runs.engine import Interrupt
from simulator.runs.gate import Gate
from simulator.session.ignored import hide
from simulator.timing.clock import pause
from simulator.timing.tasks import beside

__all__ = ["ENDING", "beat", "fall_back", "heard_out", "hearing", "play_recording", "replay", "shown_of", "told"]

ENDING = "ending; the agent may still answer what it was asked; once more ends it at once"


async def beat(spectator: Spectator) -> None:
    """Twice a minute say how it goes, where no line is drawn."""
    while True:
        await pause(30 * SECOND)
        spectator.beat()


@contextmanager
def hearing(stop: Callable[[], None], interrupt: Interrupt) -> Iterator[None]:
    """Ctrl-C: the first ends the recording and lets the agent answer, the second ends all at once."""
    n = 0

    def heard(number: int, frame: FrameType | None) -> None:
        nonlocal n
        n += 1
        stop()
        if n > 1:
            interrupt.asked = True
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {number: signal.signal(number, heard) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def fall_back(folder: Path, options: LiveOptions, voice: Voice, why: str, model: ModelChoice | None, page: Page,
              asked: str | None) -> int:  # fmt: skip
    """Play the fallback instead of the screen, and say why; the exit code."""
    assert options.fallback is not None
    voice.tell(
        f"{why}{'' if why.endswith('?') else '.'} What follows is a RECORDING, not this screen: {options.fallback}",
        "bold yellow",
    )
    voice.record("fallback", why=why, recording=str(options.fallback))
    return play_recording(options.fallback, folder / "fallback", options, voice, model, page, asked)


def replay(folder: Path, options: LiveOptions, voice: Voice, model: ModelChoice | None, page: Page,
           asked: str | None) -> int:  # fmt: skip
    """Play a recording because that was asked for; the exit code."""
    assert options.replay is not None
    voice.tell(f"this is a RECORDING, not this screen: {options.replay}", "bold yellow")
    return play_recording(options.replay, folder / "replay", options, voice, model, page, asked)


def play_recording(recording: Path, out: Path, options: LiveOptions, voice: Voice, model: ModelChoice | None,
                   page: Page, asked: str | None) -> int:  # fmt: skip
    """Play a recording as if it were live, and say so all the time; the exit code."""
    page.show(
        "RECORDING", [f"This is a recording, not this screen: {recording}. Nothing is recorded now.", sent(asked)]
    )
    folder, gate = out.parent, Gate.parse(options.gate)
    with suppress(OSError):  # told by what comes next
        folder.mkdir(parents=True, exist_ok=True)
        hide(folder)
    quick = options.speed is not None and options.speed != 1

    async def run() -> Played:
        interrupt = Interrupt()
        choice = Choice([recording], agent=options.agent, memory=options.memory, clock="elastic" if quick else "wall",
                        speed=options.speed if quick else None, policy=options.policy, gate=options.gate,
                        seed=options.seed, timeout=options.timeout, window=options.window, model=model,
                        embedder=options.embedder)  # fmt: skip

        by_hand: list[bool] = []

        def heard() -> str:
            """The first Ctrl-C ends it in order, as it does where a screen is recorded; the second at once."""
            if by_hand:
                raise KeyboardInterrupt
            by_hand.append(True)
            interrupt.asked = True
            return ENDING

        async def end() -> None:
            if limit_ns is not None:
                await pause(limit_ns)
                interrupt.asked = True

        with Spectator(voice, "RECORDING", gate) as spectator, listening(heard, voice.tell):
            async with beside(end, *page.workers):
                return await play_recorded(
                    choice, out=out, watcher=page.beside(spectator), interrupt=interrupt, again=True
                )

    limit_ns = None if options.for_ is None else duration("for", options.for_)
    try:
        played = anyio.run(run)
    except KeyboardInterrupt:
        voice.tell(f"ended at once; what was played is kept: proact score {shlex.quote(str(out))}")
        raise
    if played.code is Exit.INTERRUPTED:  # its time was up, or Ctrl-C: scored as far as it went
        scores = score_folder(played.folder)
        if scores["counts"]["not_played"]:  # agent and memory were still getting ready
            voice.tell("interrupted before anything was played")
            voice.record("interrupted", runs=[str(played.folder)])
            return played.code
        played = replace(played, scores=scores, code=Exit.DONE)
    return told(heard_out(played, options, page, voice), voice)


def heard_out(played: Played, options: LiveOptions, page: Page, voice: Voice) -> Played:
    """Give the person at the page time to answer the last suggestions of a run that ended; scored again if they did."""
    if played.scores is None or not page.linger(duration("linger", options.linger), voice):
        return played
    return replace(played, scores=score_folder(played.folder))


def shown_of(suggestions: int, offers: int) -> str:
    """What the line called suggestions, beside what the table counts.

    >>> shown_of(1, 1)
    'shown: 1 suggestion of 1 offer that the agent made (`offer` in the table: decisions with one or more)'
    """
    said = f"shown: {counted(suggestions, 'suggestion')} of {counted(offers, 'offer')} that the agent made"
    said += " (`offer` in the table: decisions with one or more)"
    return said if offers == suggestions else f"{said}; the others repeated one, and --gate off shows them too"


def answers_of(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Answers to offers as the scores count them, and as a record tells them; empty where nobody was asked.

    >>> told = {"value": 0.75, "n": 4, "accepted": 3, "rejected": 1, "ignored": 0, "n_without": 2}
    >>> answers_of({"details": {"acceptance_rate": told}})["unanswered"]
    2
    """
    told = scores.get("details", {}).get("acceptance_rate")
    if told is None or SAID[0] not in told:
        return {}
    counts = {name: told[name] for name in SAID}
    return {**counts, "unanswered": told["n_without"], "acceptance_rate": told["value"]}


def told(played: Played, voice: Voice, shown: tuple[int, int] | None = None) -> int:
    """What came of it; the exit code. ``shown``: suggestions that reached the person, and offers the agent made."""
    scores = {} if played.scores is None else played.scores
    name = played.folder.parent.name or played.folder.name
    if played.scores is not None:
        voice.say(ScoreTable({name: played.scores}))
    if shown is not None and shown[1]:
        voice.say(plain(shown_of(*shown)))
    answers = answers_of(scores)
    if answers and (n := sum(answers[name] for name in SAID)):
        useful = f"{answers['accepted']} ({answers['acceptance_rate']:.0%})"
        voice.say(plain(f"answered: {n}, of which useful: {useful}"))
    for line in errors_of(name, played):
        voice.tell(line, "red")
    for sentence in (broken := invalid(played.folder)):
        voice.tell(sentence, "bold red")
    voice.say(plain(f"run folder: {played.folder}"))
    counts: dict[str, Any] = {} if shown is None else {"suggestions": shown[0], "offers": shown[1]}
    counts |= answers
    voice.record("done", run=str(played.folder), scores=scores.get("scores", {}), valid=not broken, **counts)
    return played.code
