"""A model's opinion on how private a picture is, asked while recording and off the tick path.

Part of the first phase of privacy. An opinion: it fills ``privacy_level`` and ``scene_description`` and decides
nothing; people and rules do that afterwards (``simulator.privacy``). A picture that was not screened, for whatever
reason, has no level, stays unreviewed and is counted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, get_args

from PIL import Image

from simulator.core.operators import operators
from simulator.core.types import SECOND

__all__ = ["ACTIONS", "KINDS", "LEVELS", "Action", "Level", "Screener", "ScreenerFailed", "ScreenerQueue", "Screening"]

Level = Literal["none", "low", "medium", "high"]
Action = Literal["retain", "blur", "delete"]

LEVELS: tuple[Level, ...] = get_args(Level)
ACTIONS: tuple[Action, ...] = get_args(Action)
KINDS = (
    "credentials", "financial", "health", "identity", "contact", "messages", "names", "faces", "location", "legal",
    "business", "other",
)  # fmt: skip

DEPTH = 8  # pictures that may wait: 50 MB at 1080p
_REMEMBERED = 4096  # opinions kept, for pictures that come back
_LONGEST_SCENE = 300


@dataclass(frozen=True, slots=True)
class Screening:
    """What a screener says of one picture.

    Args:
        level: how private it is.
        kinds: of what there is, words of ``KINDS``.
        action: what a person is advised to do.
        scene: what is to be seen, without anything private; stands in for the picture where that is deleted.
    """

    level: Level
    kinds: tuple[str, ...] = ()
    action: Action = "retain"
    scene: str | None = None

    def columns(self) -> dict[str, Any]:
        """What is stored with the rows of the picture. ``privacy_level`` is such as ``high/blur: financial, names``."""
        level = f"{self.level}/{self.action}" + (f": {', '.join(self.kinds)}" if self.kinds else "")
        return {"privacy_level": level, "scene_description": self.scene}

    @classmethod
    def from_answer(cls, answer: Mapping[str, Any]) -> Screening:
        """An opinion from what a model answered; kinds that are none of ours become ``other``.

        Raises:
            ScreenerFailed: no level, or a level or action that is none.
        """
        level, action = _word(answer.get("level")), _word(answer.get("action")) or "retain"
        kinds, scene = answer.get("kinds"), answer.get("scene")
        if level not in LEVELS or action not in ACTIONS:
            raise ScreenerFailed("nonsense")
        given = [_word(kind) for kind in kinds] if isinstance(kinds, list) else []
        known = [kind if kind in KINDS else "other" for kind in given]
        text = " ".join(scene.split())[:_LONGEST_SCENE] if isinstance(scene, str) else ""
        return cls(level, tuple(dict.fromkeys(known)), action, text or None)


class ScreenerFailed(Exception):
    """There is no opinion; the reason is one word that tells nothing private."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Screener(Protocol):
    """Looks at pictures. Whatever it raises leaves the picture unreviewed."""

    async def look(self, image: Image.Image, app: str | None, title: str | None) -> Screening:
        """An opinion on one picture, RGB, exclusions already covered.

        Raises:
            ScreenerFailed: there is none.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class _Work(NamedTuple):
    digest: str
    image: Image.Image
    app: str | None
    title: str | None


class ScreenerQueue:
    """Distinct pictures on their way to a screener, one at a time; never waited for.

    Use from one event loop: ``run`` as a task, ``offer`` and ``columns`` from callbacks of that loop.

    Args:
        screener: closed when ``run`` ends.
        done: called with hash and opinion, in the loop's thread.
        depth: pictures that may wait; a further one is turned away and counted.

    Attributes:
        n_screened: pictures with an opinion.
        unreviewed: pictures without one, by reason: ``queue full``, ``stopped``, or what the screener said.
    """

    def __init__(self, screener: Screener, done: Callable[[str, Screening], None], *, depth: int = DEPTH) -> None:
        self._screener, self._done = screener, done
        self._queue: asyncio.Queue[_Work] = asyncio.Queue(depth)
        self._known: dict[str, Screening] = {}
        self._pending: set[str] = set()
        self.n_screened = 0
        self.unreviewed: Counter[str] = Counter()

    def offer(self, digest: str, image: Image.Image, app: str | None, title: str | None) -> None:
        """Hand a picture in; one that was seen before is not looked at again. Never waits."""
        if digest in self._pending or digest in self._known:
            return
        try:
            self._queue.put_nowait(_Work(digest, image, app, title))
        except asyncio.QueueFull:
            self.unreviewed["queue full"] += 1
        else:
            self._pending.add(digest)

    def columns(self, digest: str) -> dict[str, Any]:
        """What is known of a picture, as columns of its row: nothing, or ``Screening.columns``."""
        known = self._known.get(digest)
        return {} if known is None else known.columns()

    async def run(self) -> None:
        """Screen what comes, until cancelled; what waits then is counted as ``stopped``."""
        try:
            while True:
                work = await self._queue.get()
                await self._screen(work)
                self._queue.task_done()
        finally:
            self.unreviewed["stopped"] += len(self._pending)
            self._pending.clear()
            self.unreviewed += Counter()  # drops zeros
            await self._screener.close()

    async def drain(self, limit_ns: int = 10 * SECOND) -> None:
        """Wait until nothing waits any more, at most so long. Beside a running ``run``."""
        try:
            async with asyncio.timeout(limit_ns / SECOND):
                await self._queue.join()
        except TimeoutError:
            return

    async def _screen(self, work: _Work) -> None:
        try:
            screening = await self._screener.look(work.image, work.app, work.title)
        except ScreenerFailed as failed:
            self._failed(failed.reason)
        except Exception as error:  # noqa: BLE001  somebody else's screener must not end a recording
            self._failed(type(error).__name__)
        else:
            if len(self._known) >= _REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[work.digest] = screening
            self.n_screened += 1
            self._done(work.digest, screening)
        self._pending.discard(work.digest)

    def _failed(self, reason: str) -> None:
        self.unreviewed[reason] += 1  # told in a sentence by who shows the recording; operators see it if they ask
        if self.unreviewed[reason] == 1:
            operators().info("a picture could not be screened and stays unreviewed", reason=reason)


def _word(value: object) -> str:
    return value.strip().casefold() if isinstance(value, str) else ""
