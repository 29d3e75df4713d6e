"""A person as an agent: they watch the replay and press a key with an intention, stamped and scored like any other."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import signal
import string
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agents.base import agents
from agents.terminal import Terminal, plain
from simulator.core.errors import UsageError, quote
from simulator.core.types import MS, SECOND, SILENT, Decision, ImageRef, Observation, Offer, Setup

__all__ = ["Human", "Viewer", "letters"]

_LEAD_NS = 5 * MS
"""So long before the next snapshot a question ends; what is pressed meanwhile is heard with the next one."""
_RETRACT, _MENU = "-", "?"
_NOTHING = "\r\n "
_RUBOUT = "\x7f\b"
_LONGEST = 500


def letters(intentions: Sequence[str]) -> dict[str, str]:
    """A key for each intention, in their order: a, b, c …

    >>> letters(["Translation", "Summarization"])
    {'a': 'Translation', 'b': 'Summarization'}
    """
    return dict(zip(string.ascii_lowercase + string.digits, intentions, strict=False))


@dataclass(slots=True)
class _Said:
    """What was pressed for one snapshot."""

    offers: list[Offer] = field(default_factory=list)
    retracted: list[str] = field(default_factory=list)

    @property
    def decision(self) -> Decision:
        return Decision(tuple(self.offers), tuple(self.retracted)) if self.offers or self.retracted else SILENT


@agents.register("human")
class Human:
    """Whoever sits at the terminal. Shown is each new window; a letter offers help, a capital one help in words that
    are typed then, ``-`` takes the last offer back.

    A question ends just before the next snapshot: the length of a silence says nothing. What is offered has the instant
    of its key.

    Args:
        viewer: a command that shows a picture and looks again when its file changes, such as ``feh --reload 1``.
        still: ask in a world that stands still too: each snapshot waits for a key (Enter: nothing), and its time is
            charged.
    """

    def __init__(self, viewer: str | None = None, still: bool = False) -> None:
        Terminal.check()
        self.paced = not still
        self._viewer = None if viewer is None else Viewer(viewer)
        self._terminal: Terminal | None = None
        self._keys: dict[str, str] = {}
        self._period_ns = SECOND
        self._shown: object = None
        self._last: str | None = None
        self._typing: Offer | None = None

    async def open(self, setup: Setup) -> None:
        """Show the menu, and wait until the person is ready.

        Raises:
            UsageError: there is no terminal, or the viewer cannot be started.
        """
        if self._viewer is not None:
            await asyncio.to_thread(self._viewer.check)
        terminal = self._terminal = Terminal()
        self._keys, self._period_ns = letters(setup.intentions), setup.period_ns
        terminal.say(f"You are the agent of {plain(setup.user)}, session {plain(setup.session)}.")
        for name, fact in setup.profile.items():
            terminal.say(f"  {plain(name)}: {plain(fact)}")
        self._menu(terminal)
        terminal.say("Press any key to begin.")
        await terminal.key(None)

    def _menu(self, terminal: Terminal) -> None:
        rows = [f"{key}  {plain(intention, 40)}" for key, intention in self._keys.items()]
        half = (len(rows) + 1) // 2
        for left, right in zip(rows[:half], [*rows[half:], ""], strict=False):
            terminal.say(f"  {left:<36}{right}".rstrip())
        more = ["A B …  the same, in words", f"{_RETRACT}  take the last offer back", f"{_MENU}  this menu"]
        more += [] if self.paced else ["Enter  nothing"]
        terminal.say("  " + "   ".join(more))

    async def decide(self, observation: Observation) -> Decision:
        """What is pressed until the next snapshot; in a still world until a key is pressed.

        Raises:
            TerminalLost: nobody is there any more.
        """
        terminal = self._terminal
        if terminal is None:
            raise UsageError("agent human: it was not opened")
        await self._show(terminal, observation)
        return await (self._until_next(terminal, observation) if self.paced else self._one_key(terminal, observation))

    async def _until_next(self, terminal: Terminal, seen: Observation) -> Decision:
        loop = asyncio.get_running_loop()
        wait_ns = seen.snapshot.captured_ns + self._period_ns - seen.now_ns - _LEAD_NS
        end = loop.time() + max(0, wait_ns) / SECOND
        said = _Said()
        while (key := await terminal.key(max(0.0, end - loop.time()))) is not None:
            self._pressed(key, terminal, seen, said)
        return said.decision

    async def _one_key(self, terminal: Terminal, seen: Observation) -> Decision:
        said = _Said()
        while not said.offers and not said.retracted:
            key = await terminal.key(None)
            if key is None or (key in _NOTHING and self._typing is None):
                break
            self._pressed(key, terminal, seen, said)
        return said.decision

    def _pressed(self, key: str, terminal: Terminal, seen: Observation, said: _Said) -> None:
        """What a key means."""
        if self._typing is not None:
            self._type(key, self._typing, terminal, seen, said)
        elif key in self._keys:
            terminal.say(f"      -> {plain(self._keys[key])}")
            self._offer(Offer(self._keys[key]), seen, said)
        elif key.isupper() and key.lower() in self._keys:
            self._typing = Offer(self._keys[key.lower()])
            terminal.say(f"      -> {plain(self._typing.intention)}: ")
        elif key == _RETRACT and self._last is not None:
            said.retracted.append(self._last)
            terminal.say(f"      -> no more {plain(self._last)}")
            self._last = None
        elif key == _MENU:
            self._menu(terminal)

    def _type(self, key: str, typed: Offer, terminal: Terminal, seen: Observation, said: _Said) -> None:
        """A key of a text, which may go on through several snapshots; Enter hands it over."""
        if key in "\r\n":
            self._typing = None
            self._offer(typed, seen, said)
            return
        text = typed.text[:-1] if key in _RUBOUT else (typed.text + key if key.isprintable() else typed.text)
        self._typing = replace(typed, text=text[:_LONGEST])
        terminal.say(f"      -> {plain(typed.intention)}: {text[-100:]}", over=True)

    def _offer(self, offer: Offer, seen: Observation, said: _Said) -> None:
        if offer not in said.offers:
            said.offers.append(offer)
            seen.meter.emit(offer)  # now, not when the question ends
        self._last = offer.intention

    async def _show(self, terminal: Terminal, seen: Observation) -> None:
        s = seen.snapshot
        if (s.app, s.title) != self._shown:
            self._shown = (s.app, s.title)
            minutes, seconds = divmod(s.captured_ns // SECOND, 60)
            terminal.say(f"{minutes:3}:{seconds:02}  {plain(s.app or '?', 40)}  {plain(s.title or '')}")
        if self._viewer is not None and s.image is not None and not await asyncio.to_thread(self._viewer.show, s.image):
            seen.meter.note("picture_not_shown")

    async def close(self) -> None:
        """Put the terminal back, and close the viewer."""
        terminal, self._terminal = self._terminal, None
        if terminal is not None:
            terminal.close()
        if self._viewer is not None:
            await asyncio.to_thread(self._viewer.close)


class Viewer:
    """Somebody else's program that shows one file, which is written anew for each new picture.

    Args:
        command: what to start; the file's name is added at its end.
    """

    def __init__(self, command: str) -> None:
        try:
            self._argv = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"agent human: the viewer {quote(command)} cannot be read: {error}") from None
        if not self._argv:
            raise UsageError("agent human: name the viewer's command")
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._showing: object = None

    def check(self) -> None:
        """Whether it is there.

        Raises:
            UsageError: it is not.
        """
        if shutil.which(self._argv[0]) is None:
            raise UsageError(f"agent human: there is no viewer {quote(self._argv[0])}")

    def show(self, ref: ImageRef) -> bool:
        """Put a picture where the viewer looks, and start it with the first one; False if that failed. Blocks."""
        name = ref.pixels_hash or ref.path
        if name == self._showing:
            return True
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="proact-human-", ignore_cleanup_errors=True)
        folder = Path(self._folder.name)
        file = folder / f"screen{ref.path.suffix}"
        try:
            shutil.copyfile(ref.path, folder / "next")
            os.replace(folder / "next", file)  # the viewer never sees half a picture
            if self._process is None:
                self._process = subprocess.Popen(
                    [*self._argv, str(file)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL, start_new_session=True,
                )  # fmt: skip
        except OSError:
            return False
        self._showing = name
        return True

    def close(self) -> None:
        """End it, and remove the file."""
        if self._process is not None:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1)
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
