"""Bars on stderr of how far a command is; nothing is drawn where that is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simulator.cli.speak import Voice, plain

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["bar", "bars"]


def _drawn(voice: Voice) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=voice.progress, transient=True, disable=not voice.progress.is_terminal)


@contextmanager
def bar(voice: Voice, what: str, n: int) -> Iterator[Callable[[], None]]:
    """One bar; what is yielded is to be called for each of the n that is done."""
    with _drawn(voice) as drawn:
        task = drawn.add_task(plain(what).plain, total=n)
        yield lambda: drawn.advance(task)


@contextmanager
def bars(voice: Voice) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each thing that is told of: what is yielded takes its name, how many are done, and of how many."""
    with _drawn(voice) as drawn:
        tasks: dict[str, TaskID] = {}

        def step(what: str, n: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = drawn.add_task(what, total=of)
            drawn.update(tasks[what], completed=n, total=of)

        yield step
