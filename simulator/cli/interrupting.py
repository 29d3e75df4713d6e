"""Ctrl-C, heard and answered at once, also while something keeps the event loop from turning."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType

__all__ = ["listening"]


@contextmanager
def listening(heard: Callable[[], str], tell: Callable[[str], None]) -> Iterator[None]:
    """Have each signal that ends a command do something else; elsewhere than in the main thread none can be heard.

    Args:
        heard: called in the signal's handler; gives the sentence to tell, or raises ``KeyboardInterrupt``.
        tell: says it, from a thread of its own.
    """
    said = SimpleQueue[str | None]()  # a signal handler may put into it, and may not print

    def handle(number: int, frame: FrameType | None) -> None:
        said.put(heard())

    def speak() -> None:
        while (sentence := said.get()) is not None:
            tell(sentence)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    speaker = threading.Thread(target=speak, name="proact-interrupt", daemon=True)
    speaker.start()
    before = {number: signal.signal(number, handle) for number in _ending()}
    try:
        yield
    finally:
        said.put(None)
        for number, handler in before.items():
            signal.signal(number, handler)
        speaker.join()


def _ending() -> list[signal.Signals]:
    """The signals that end a run: also that of a terminal which was closed, unless somebody (nohup) ignores it."""
    found = [signal.SIGINT, signal.SIGTERM]
    closed = getattr(signal, "SIGHUP", None)  # Windows has none
    if closed is not None and signal.getsignal(closed) is not signal.SIG_IGN:
        found.append(closed)
    return found
