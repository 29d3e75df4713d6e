"""The screen as it is being recorded, as a stream of snapshots: the ones that the recording will yield later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from PIL import Image

from simulator.core.taxonomy import DEFAULT, Taxonomy
from simulator.core.types import SECOND, ImageRef, Snapshot
from simulator.screen import fresh

__all__ = ["LiveScreen"]


class LiveScreen:
    """A ``LiveSource`` (``core.protocols``). A recorder's callbacks feed it, in its event loop; it is played once.

    Args:
        session: name of the session that is being recorded.
        user: whose screen it is.
        folder: where pictures are going to lie.
        now: the recording's clock, ns: the one of the ``captured_ns`` given to ``snapshot``.
        period_ns: of the stream.
        taxonomy: fills the category of a snapshot.

    Attributes:
        asked_for: set when somebody wants the snapshots.
        last_ns: when the last snapshot was taken, by the recording's clock.
    """

    def __init__(self, session: str, user: str, folder: Path, now: Callable[[], int], *, period_ns: int = SECOND,
                 taxonomy: Taxonomy = DEFAULT) -> None:  # fmt: skip
        self.session, self.user, self.period_ns = session, user, period_ns
        self._gaps: list[tuple[int, int, str]] = []
        self.end_ns: int | None = None
        self.lateness_ns: list[int] = []
        self.utc_anchor_ns: int | None = None
        self.asked_for = asyncio.Event()
        self._folder, self._now, self._category = folder, now, taxonomy.category
        self._zero: int | None = None
        self.last_ns = 0
        self._n = 0
        self._images: dict[str, ImageRef] = {}
        self._taken: asyncio.Queue[Snapshot | None] = asyncio.Queue()

    @property
    def gaps(self) -> Sequence[tuple[int, int, str]]:
        """Those known so far."""
        return self._gaps

    def now_ns(self) -> int:
        """See ``LiveSource``."""
        return self._now() - (self._zero or 0)

    def snapshot(self, captured_ns: int, app: str | None, title: str | None, path: str | None, pixels_hash: str | None,
                 image: Image.Image | None, late_ns: int = 0) -> None:  # fmt: skip
        """One was taken. ``path`` relative to the folder; ``image`` where the picture is a new one (RGB)."""
        if self._zero is None:
            self._zero = captured_ns
        self.last_ns = captured_ns
        self.lateness_ns.append(late_ns)
        t = captured_ns - self._zero
        ref = None
        if path is not None:
            if image is not None:
                fresh.offer(self._folder / path, image)
            size = (None, None) if image is None else image.size
            ref = self._images.setdefault(path, ImageRef(self._folder / path, pixels_hash, *size))
        self._taken.put_nowait(Snapshot(self._n, t, t, app, title, self._category(app, title), ref))
        self._n += 1

    def gap(self, start_ns: int, end_ns: int, reason: str) -> None:
        """Nothing was recorded between these instants of the recording's clock."""
        if self._zero is None:  # there is no stream yet
            return
        gap = (start_ns - self._zero, end_ns - self._zero, reason)
        if self._gaps and self._gaps[-1][1:] == (gap[0], reason):  # it goes on
            self._gaps[-1] = (self._gaps[-1][0], gap[1], reason)
        else:
            self._gaps.append(gap)

    def finish(self, end_ns: int) -> None:
        """The recording ended, by its own clock; a further call does nothing."""
        if self.end_ns is None:
            self.end_ns = max(0, end_ns - (self._zero or 0))
            self._taken.put_nowait(None)

    async def snapshots(self) -> AsyncIterator[Snapshot]:
        """See ``SnapshotSource``. Whoever records may wait for ``asked_for``: before it, nobody looks."""
        self.asked_for.set()
        while (snapshot := await self._taken.get()) is not None:
            yield snapshot
