"""The recorder: looks at the screen at every tick, hands out what it saw, and keeps it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.core.types import SECOND
from simulator.recorder.shots import Budget, Shot, Summary
from simulator.recorder.ticks import Clocks

if TYPE_CHECKING:
    from simulator.recorder.windows import Windows

__all__ = ["Recorder"]


class Recorder:
    """Records one desktop into one session folder.

    Args:
        folder: of the session; made if it does not exist. One left by a crash is repaired and continued.
        screen: where pixels come from (``frames.KeptScreen``).
        windows: which windows there are.
        period_ns: of the ticks.
        user: whose session it is.
        rules: what is left out (``exclusions.Exclusions``); None: nothing is.
        screener: looks at distinct pictures off the tick path; None: nobody does.
        budget: how much may be written.
        on_shot: called in the loop's thread with each row as it becomes known.
        on_gap: called in the loop's thread with ``(start_ns, end_ns, reason)`` for each stretch without rows as it
            becomes known, tick by tick; stretches that touch belong together.
        title_mark: title of a window of our own that is filled before anybody sees it.
        clocks: for tests.

    Attributes:
        session: its name.
        user: whose it is.
        period_ns: of the ticks.
    """

    def __init__(
        self,
        folder: Path,
        screen: Any,
        windows: Windows,
        *,
        period_ns: int = SECOND,
        user: str = "user",
        rules: Any = None,
        screener: Any = None,
        budget: Budget | None = None,
        on_shot: Callable[[Shot], None] | None = None,
        on_gap: Callable[[int, int, str], None] | None = None,
        title_mark: str | None = None,
        clocks: Clocks | None = None,
    ) -> None:
        self.folder, self.user, self.period_ns = folder, user, period_ns
        self.session = folder.absolute().name

    def now_ns(self) -> int:
        """The recording's time, the clock of ``captured_ns``; 0 before ``run`` has started."""
        raise NotImplementedError

    def stop(self) -> None:
        """Close the session after the tick in hand. From any thread, also before ``run``."""
        raise NotImplementedError

    def pause(self) -> None:
        """Record nothing (gap ``paused``), and look at nothing, until ``resume``. From any thread."""
        raise NotImplementedError

    def resume(self) -> None:
        """Go on after ``pause``. From any thread."""
        raise NotImplementedError

    async def run(self) -> Summary:
        """Record until ``stop``; the session is closed whatever happens.

        Raises:
            UsageError: the folder holds a closed session, or another recorder writes it.
        """
        raise NotImplementedError
