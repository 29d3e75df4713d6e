"""The page of a live run: served beside it, its address told, what is recorded and where it goes standing on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.cli.browsing import opened
from simulator.cli.live import LiveOptions
from simulator.cli.speak import Voice, plain
from simulator.core.durations import show_duration
from simulator.core.errors import InputError
from simulator.core.files import open_plain
from simulator.core.types import MS
from simulator.play.player import Together, Watcher
from simulator.recorder.consent import recipient, state_file
from simulator.timing.clock import real_ns, rest

if TYPE_CHECKING:
    from simulator.web.live import LivePage, Pausable

__all__ = ["Page", "notice_of", "page_of"]

_LEAST_TOKEN, _LONGEST_TOKEN = 32, 200
_LOOK_NS = 100 * MS
_LAST_NS = 300 * MS  # for open pages to hear that it has ended


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a live run, or none.

    Attributes:
        live: None where no page is wanted.
    """

    live: LivePage | None = None

    @property
    def open(self) -> bool:
        """Whether somebody has it before them (a page in a hidden tab does not count)."""
        return self.live is not None and self.live.hub.readers > 0

    def show(self, badge: str, notice: Sequence[str], recorder: Pausable | None = None) -> None:
        """From now on this is shown; see ``LivePage``."""
        if self.live is not None:
            self.live.show(badge, notice, recorder)

    def beside(self, watcher: Watcher) -> Watcher:
        """A watcher that tells the page too."""
        return watcher if self.live is None else Together(watcher, self.live)

    def linger(self, for_ns: int, voice: Voice) -> bool:
        """After the run: keep the page for answers to its last suggestions, if somebody had it open; whether any came.

        That ends when the time is up, when all of them are answered, and with Ctrl-C.
        """
        live = self.live
        if live is None or not for_ns or not live.looked_at or not live.feed.unanswered:
            return False
        before, until = live.answers, real_ns() + for_ns
        live.linger(for_ns)
        voice.tell(
            f"ended; the page takes answers to its last suggestions for {show_duration(for_ns)}, or until Ctrl-C"
        )
        with suppress(KeyboardInterrupt):
            while real_ns() < until and live.feed.unanswered:
                rest(_LOOK_NS)
        return live.answers > before

    @property
    def workers(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """What is to run beside the run."""
        return [] if self.live is None else [self.live.watch]


@contextmanager
def page_of(options: LiveOptions, folder: Path, voice: Voice) -> Iterator[Page]:
    """Serve the page while the block runs, if one is wanted, and tell where.

    Raises:
        UsageError: the port cannot be had.
    """
    if not options.web:
        yield Page()
        return
    from simulator.web.live import LivePage
    from simulator.web.place import Place
    from simulator.web.server import Web, new_token

    place = Place([folder])
    live = LivePage(place.hub)
    token = kept_token(state_file().with_name("page-token"), new_token)
    with Web(place, more=live.routes(), token=token).in_thread(port=options.port) as url:
        address = url.replace("/?", "/live?")
        voice.say(plain(f"page: {address}"))
        voice.record("page", url=address)
        if options.open_ and not opened(address):
            voice.tell("no browser could be started here: open the address yourself", "yellow")
        try:
            yield Page(live)
        finally:
            live.over()
            if live.hub.readers:
                rest(_LAST_NS)


def kept_token(file: Path, make: Callable[[], str]) -> str:
    """The word that a browser must know: without one every user of this machine could look at this screen.

    It is kept, for its owner alone, so that an open page finds a run that was started anew; where it cannot be kept, a
    new one is made each time.
    """
    with suppress(InputError, OSError, ValueError):
        with open_plain(file) as there:
            known = there.read(2 * _LONGEST_TOKEN).decode("ascii").strip()
        private = os.name != "posix" or not file.stat().st_mode & 0o077
        if private and _LEAST_TOKEN <= len(known) <= _LONGEST_TOKEN and known.isalnum():
            return known
    made = make()
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as stream:
            stream.write(made)
    return made


def notice_of(options: LiveOptions, session: Path, asked: str | None) -> list[str]:
    """What is recorded and where it is sent, in sentences.

    >>> notice_of(LiveOptions(period="2s"), Path("demo/session"), None)[0].partition(",")[0]
    'Recorded: a picture of the first monitor every 2s'
    """
    monitor = "the first monitor" if options.monitor is None else f"monitor {options.monitor}"
    return [
        f"Recorded: a picture of {monitor} every {options.period}, with application and title in front, into {session} "
        "on this machine.",
        "Left out: what the exclusion list names, and this page where its window is found.",
        sent(asked),
    ]


def sent(asked: str | None) -> str:
    """Where what the screen shows goes."""
    if asked is None:
        return "Sent: nothing; agent and memory run in proact itself."
    return f"Sent to {recipient(asked)}: what the screen shows, and what is known of the person, as long as this runs."
