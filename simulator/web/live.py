"""The live page: a run as it goes on, told to a browser, and what the person in front of it says back.

``LivePage`` is a ``Watcher`` of the run and lives in its loop; its routes are served from the server's own thread. What
passes between the two is the feed, the hub (both locked), and two commands: pause, and an answer to an offer.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from aiohttp import web

from scorers import feedback
from scorers.feedback import SAID, Feedback
from simulator.core.errors import UsageError
from simulator.core.types import MS, SECOND, ImageRef, Snapshot
from simulator.play.player import Watcher
from simulator.recorder.status import HANGS, Facts
from simulator.recorder.status import SAID as TROUBLES
from simulator.runs.engine import Engine
from simulator.runs.folder import RunFolder
from simulator.runs.gate import Gate
from simulator.runs.unit import UnitPlan, UnitResult
from simulator.screen.pixels import decode
from simulator.timing.audit import invalid_by, percentile
from simulator.timing.clock import pause, real_ns, utc_now, wall_ns
from simulator.web.hub import Hub
from simulator.web.live_feed import LiveFeed
from simulator.web.pages import answer, html, posted
from simulator.web.place import NotHere

__all__ = ["LivePage", "Pausable"]

_LOOK_NS = 100 * MS
_STATUS_NS = SECOND
_LAGS = 600  # a minute of looks
_PICTURES = 400
_ENCODED = 12
_WIDEST = 1920


class Pausable(Protocol):
    """What the page needs of a recorder."""

    @property
    def facts(self) -> Facts:
        """How it is doing."""
        ...

    def pause(self) -> None:
        """Look at nothing until ``resume``."""
        ...

    def resume(self) -> None:
        """Look again."""
        ...


@dataclass
class LivePage(Watcher):
    """A run on a page.

    Args:
        hub: through which open pages hear of it.
        notice: sentences that stand on the page all the time: what is recorded, and where it is sent.
        badge: ``LIVE``, or ``RECORDING`` where a recording is played.
        recorder: what is recording; None where a recording is played: nothing can be paused then.

    Attributes:
        feed: what the page shows.
        lags_ns: how late the run's loop woke for the last looks.
        looked_at: whether anybody ever opened it.
        answers: how often somebody answered an offer, or took that back.
    """

    hub: Hub
    notice: Sequence[str] = ()
    badge: str = "LIVE"
    recorder: Pausable | None = None
    feed: LiveFeed = field(init=False)
    lags_ns: deque[int] = field(init=False)
    looked_at: bool = field(init=False, default=False)
    answers: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.feed = LiveFeed(self.hub.publish, f"{wall_ns():x}")
        self.lags_ns = deque(maxlen=_LAGS)
        self._folder: RunFolder | None = None
        self._plan: UnitPlan | None = None
        self._engine: Engine | None = None
        self._over, self._invalid = False, tuple[str, ...]()
        self._counted = dict[str, int | None]()
        self.feed.tally = self._tally
        self._ended: tuple[int, int] | None = None
        self._newest = -1
        self._n_released = 0
        self._status_ns = 0
        self._pausing: bool | None = None
        self._pictures: OrderedDict[str, Path] = OrderedDict()
        self._encoded: OrderedDict[str, bytes] = OrderedDict()
        self._answering, self._held = Lock(), Lock()
        self._begin({})

    def show(self, badge: str, notice: Sequence[str], recorder: Pausable | None) -> None:
        """From now on something else is shown, such as a recording that takes over."""
        self.badge, self.notice, self.recorder = badge, notice, recorder
        self._begin({})

    # ------------------------------------------------------------------ what the run tells

    def launched(self, folder: RunFolder, missing: Sequence[UnitPlan]) -> None:
        """See ``Watcher``."""
        self._folder = folder

    def unit(self, plan: UnitPlan) -> None:
        """See ``Watcher``."""
        self._plan, self._engine, self._ended, self._newest = plan, None, None, -1
        self._begin(
            {
                "session": plan.source.session,
                "user": plan.source.user,
                "agent": plan.agent_text,
                "memory": plan.memory_text,
                "gate": plan.gate_text,
                "policy": plan.settings.policy.text,
                "period_ms": plan.truth.period_ns / MS,
                "speed": plan.settings.speed if plan.settings.clock == "elastic" else 1,
            },
            Gate.parse(plan.gate_text),
            plan.settings.timeout_ns,
        )

    def engine(self, engine: Engine) -> None:
        """See ``Watcher``."""
        self._engine = engine
        engine.books.listeners.append(self.feed.decided)
        engine.books.departing = self.feed.departed
        self.feed.phase("running")

    def unit_done(self, plan: UnitPlan, result: UnitResult) -> None:
        """See ``Watcher``."""
        self._end(() if result.audit is None else result.audit.invalid)
        self.feed.phase("ended", None if result.error == "interrupted" else result.error)

    def over(self) -> None:
        """The run has ended, however it did: of one that was interrupted nobody tells more."""
        if not self._over:
            self._end(())
            self.feed.phase("ended")

    def _end(self, invalid: tuple[str, ...]) -> None:
        self._look()
        self._over, self._invalid = True, invalid
        if self._engine is not None:
            self.tell()  # the last figures, which stay
            self._ended = self._engine.now_ns(), real_ns()
        self._engine = None

    def linger(self, for_ns: int) -> None:
        """The run has ended; say on the page that answers are taken for so long."""
        self.over()
        self.feed.lingers((wall_ns() + for_ns) // MS)

    async def watch(self) -> None:
        """Look ten times a second what is new; runs beside the run, in its loop, until cancelled."""
        while True:
            due = real_ns() + _LOOK_NS
            await pause(_LOOK_NS)
            self.lags_ns.append(max(0, real_ns() - due))
            self._look()
            if real_ns() - self._status_ns >= _STATUS_NS:
                self.tell()

    def _begin(self, about: Mapping[str, Any], gate: Gate | None = None, timeout_ns: int | None = None) -> None:
        self._over, self._counted = False, {"released": None, "never_seen": None}
        said = {"badge": self.badge, "notice": list(self.notice), "can_pause": self.recorder is not None, **about}
        self.feed.begin(said, gate or Gate(), timeout_ns)

    def _look(self) -> None:
        """Take over what was released since the last look."""
        if (engine := self._engine) is None:
            return
        new: list[Snapshot] = []
        for snapshot in reversed(engine.seen):
            if snapshot.index <= self._newest:
                break
            new.append(snapshot)
        for snapshot in reversed(new):
            self._newest = snapshot.index
            self.feed.snapshot(self._with_picture(snapshot))
        now = engine.now_ns()
        self.feed.gaps(gap for gap in engine.source.gaps if gap[0] <= now)

    def _with_picture(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot, its picture known by its content or, where nobody hashed it, by its place."""
        if (image := snapshot.image) is None:
            return snapshot
        name = image.pixels_hash or sha256(str(image.path).encode(errors="surrogateescape")).hexdigest()
        with self._held:
            self._pictures[name] = image.path
            self._pictures.move_to_end(name)
            while len(self._pictures) > _PICTURES:
                self._pictures.popitem(last=False)
        return snapshot if image.pixels_hash else snapshot._replace(image=ImageRef(image.path, name))

    def tell(self) -> None:
        """Tell how recording and machine are doing, and what time it is."""
        self._status_ns = real_ns()
        engine, lags = self._engine, list(self.lags_ns)
        facts = None if self.recorder is None else self.recorder.facts
        late_ms, lag_ns = None if facts is None else facts.late_p99_ms, percentile(lags, 99) if lags else None
        self.feed.status(
            {
                "now_ms": None if engine is None else round(engine.now_ns() / MS, 1),
                "recording": None if facts is None else self._recording(facts),
                "waiting": None if engine is None else 0 if self._over else engine.waiting,
                "lag_p99_ms": None if lag_ns is None else round(lag_ns / MS, 2),
                "invalid": list(self._invalid) if self._over else invalid_by(late_ms, lag_ns),
                "viewers": self.hub.readers,
                **self._tally(),
            }
        )

    def _tally(self) -> dict[str, int | None]:
        """What the run counts; at its end as its log does, where what still waited was never seen either."""
        if (engine := self._engine) is not None:
            tally = engine.books.tally
            never_seen = tally.never_seen if self._over else engine.dropped
            self._counted = {"released": tally.released, "never_seen": never_seen}
        return self._counted

    def _recording(self, facts: Facts) -> dict[str, Any]:
        trouble = "hangs" if facts.hangs else facts.trouble
        paused = trouble == "paused"
        if self._pausing is paused:
            self._pausing = None
        return {
            "trouble": trouble,
            "said": HANGS if trouble == "hangs" else None if trouble is None else TROUBLES.get(trouble, trouble),
            "paused": paused,
            "pausing": self._pausing,  # asked for, and the next tick will show it
            "age_s": None if facts.last_tick_age_s is None else round(facts.last_tick_age_s, 2),
            "rows": facts.n_rows,
            "bytes": facts.n_bytes,
            "to_write": facts.queue,
            "gaps": dict(facts.gaps),
            "late_p99_ms": None if facts.late_p99_ms is None else round(facts.late_p99_ms, 1),
            "page_missing": facts.page_missing and facts.n_rows > 0,
        }

    # ------------------------------------------------------------------ what browsers ask, in the server's thread

    def routes(self) -> list[web.AbstractRouteDef]:
        """The page and its feed."""
        return [
            web.get("/live", html("live.html")),
            web.get("/api/live", self._state),
            web.get("/api/live/picture/{name:[0-9a-f]{64}}", self._picture),
            web.post("/api/live/pause", self._pause),
            web.post("/api/live/answer", self._answer),
        ]

    async def _state(self, request: web.Request) -> web.StreamResponse:
        self.looked_at = True
        return answer(self.feed.state())

    async def _picture(self, request: web.Request) -> web.StreamResponse:
        """Never to be kept by a browser: the screen of a person is to lie where they know of it, and nowhere else."""
        name = request.match_info["name"]
        with self._held:
            path, data = self._pictures.get(name), self._encoded.get(name)
        if path is None:
            raise NotHere("this picture is not shown any more")
        if data is None:
            data = await asyncio.to_thread(_encode, path)
            with self._held:
                self._encoded[name] = data
                while len(self._encoded) > _ENCODED:
                    self._encoded.popitem(last=False)
        return web.Response(body=data, content_type="image/jpeg", headers={"Cache-Control": "no-store"})

    async def _pause(self, request: web.Request) -> web.StreamResponse:
        told = await posted(request)
        if self.recorder is None:
            raise UsageError("nothing is being recorded here, so nothing can be paused")
        if type(wanted := told.get("paused")) is not bool:
            raise UsageError("`paused` must be true or false")
        self._pausing = wanted
        if wanted:
            self.recorder.pause()
        else:
            await asyncio.to_thread(self.recorder.resume)  # removes a file
        self.tell()
        return answer({"paused": wanted})

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        told = await posted(request)
        id_, said = told.get("offer"), told.get("said")
        if said is not None and said not in SAID:
            raise UsageError(f"`said` must be one of {', '.join(SAID)}, or null to take the last one back")
        now = await asyncio.to_thread(self._write_answer, str(id_), said)
        self.feed.said(str(id_), now)
        return answer({"offer": id_, "said": now})

    def _write_answer(self, id_: str, said: str | None) -> str | None:
        """Put an answer into the unit's file, or take the newest back; what holds now."""
        with self._answering:
            shown, plan, folder = self.feed.offer(id_), self._plan, self._folder
            if shown is None or plan is None or folder is None:
                raise NotHere("this offer is not on the page any more, so nothing was written down")
            file = folder.unit(plan.key) / feedback.FILE
            by = plan.source.user
            if said is not None and said == _last(file, shown.seq, shown.intention, by):
                return said  # said twice is said once, and one undo takes it back
            self.answers += 1
            if said is None:
                return feedback.take_back(file, shown.seq, shown.intention, by)
            at = utc_now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
            now_ns = self._stream_ns()
            t_s = None if now_ns is None else round(now_ns / SECOND, 3)
            feedback.add(file, Feedback(shown.seq, said, by, at, shown.intention, t_s))
            return said

    def _stream_ns(self) -> int | None:
        """The stream's time; after its end as if it had gone on. None before it began."""
        if (engine := self._engine) is not None:
            return engine.now_ns()
        return None if self._ended is None else self._ended[0] + real_ns() - self._ended[1]


def _last(file: Path, seq: int, intention: str, by: str | None) -> str | None:
    """What a person said last of an offer that the page shows."""
    said = [one.said for one in feedback.read(file) or () if (one.seq, one.by, one.intention) == (seq, by, intention)]
    return said[-1] if said else None


def _encode(path: Path) -> bytes:
    """A JPEG of it, no wider than a projector shows. Blocks; lets other threads run meanwhile."""
    picture = decode(path)
    if picture.width > _WIDEST:
        picture = picture.reduce(-(-picture.width // _WIDEST))
    out = BytesIO()
    picture.save(out, "JPEG", quality=80)
    return out.getvalue()
