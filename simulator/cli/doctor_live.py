"""``proact doctor live``: everything that a live run needs, tried once for real, with what it took."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

import anyio

from simulator.cli.doctor import Finding
from simulator.cli.live import LiveOptions
from simulator.cli.live_playing import Feed, asked_host
from simulator.cli.recording import agree, unrecorded
from simulator.cli.speak import Voice
from simulator.core.errors import ProactError
from simulator.core.types import MS, SECOND
from simulator.endpoint.types import ModelChoice
from simulator.play.assemble import Choice
from simulator.play.live import LiveFolder, Records, play_live
from simulator.play.player import Played
from simulator.recorder import screens, windows
from simulator.recorder.exclusions import PAGE_MARK
from simulator.recorder.frames import ScreenLost
from simulator.recorder.recorder import Recorder
from simulator.recorder.shots import Summary
from simulator.runs.folder import read_units
from simulator.timing.audit import JITTER_LIMIT_NS, Audit, percentile
from simulator.timing.clock import real_ns

__all__ = ["look_live", "looks"]

_GRABS = 5
_SNAPSHOTS_NS = 4 * SECOND


def look_live(options: LiveOptions, voice: Voice, model: ModelChoice | None = None) -> Iterator[Finding]:
    """All findings, in order; what was recorded for them is removed. ``model`` is what the agent asks.

    Raises:
        UsageError: nobody agreed that the screen is looked at.
    """
    agree(voice, yes=options.yes, asked=asked_host(options, model))  # a look is a look, also one that is thrown away
    with tempfile.TemporaryDirectory(prefix="proact-doctor-") as folder:
        place = LiveFolder(Path(folder) / "live")
        try:
            feed = Feed(place, options, voice)
        except ProactError as error:
            yield Finding("screen", "missing", str(error))
            return
        yield _capture(options)
        yield _windows()
        try:
            place.begin(options.past, options.user)
            played = anyio.run(_live, place, options, feed, model)
        except ProactError as error:
            facts = feed.recorder.facts
            if facts.gaps and (nothing := unrecorded(facts)) is not None:  # or else it was not the recording's fault
                yield Finding("capture", "missing", nothing)
            else:
                yield Finding("agent", "missing", str(error))
            return
        yield from _agent(played)
        if (audit := played.results[0].audit) is not None:
            yield looks(audit)
    yield _page(options)


def _page(options: LiveOptions) -> Finding:
    """Served on the port that is wanted and loaded as a browser would, with the mark by which it is left out."""
    from simulator.web.live import LivePage
    from simulator.web.place import Place
    from simulator.web.server import Web

    if not options.web:
        return Finding("page", "note", "none is wanted: suggestions are shown in the terminal")
    live = LivePage((place := Place([])).hub)
    begun = real_ns()
    try:
        with Web(place, more=live.routes()).in_thread(port=options.port) as url:
            head = _title(_loaded(url + "live").decode("utf-8"))
            for part in ("static/live.js", "static/live.css", "static/base.js", "static/base.css", "api/live"):
                _loaded(url + part)
    except (ProactError, OSError) as error:
        return Finding("page", "missing", f"it cannot be loaded ({error})")
    if PAGE_MARK not in head:
        return Finding("page", "wrong", f"its title lacks the mark {PAGE_MARK}, so that it would be recorded")
    took = (real_ns() - begun) / MS
    return Finding("page", "ok", f"served, loaded in {took:.0f} ms, and its title has the mark by which it is left out")


def _loaded(address: str) -> bytes:
    """What a browser on this machine gets, whatever proxy the environment names."""
    direct = build_opener(ProxyHandler({}))
    with direct.open(address, timeout=5) as answer:
        return bytes(answer.read())


def _title(page: str) -> str:
    return page.partition("<title>")[2].partition("</title>")[0]


def _capture(options: LiveOptions) -> Finding:
    numbers = None if options.monitor is None else [options.monitor]
    kept = screens.KeptScreen(screens.choose(command=options.screen_command, portal=options.portal), monitors=numbers)
    took = []
    try:
        for _ in range(_GRABS):
            begun = real_ns()
            frames = kept.look()
            took.append(real_ns() - begun)
        name = kept.screen.name if kept.screen is not None else "screen"
    except ScreenLost as error:
        return Finding("capture", "missing", f"{error.reason}: {error.detail}")
    finally:
        kept.close()
    sizes = ", ".join(f"{f.width}x{f.height}" for f in frames)
    first, typical = took[0] / MS, percentile(took[1:], 50) / MS
    return Finding("capture", "ok", f"{name}: {sizes} in {typical:.1f} ms, the first in {first:.0f} ms")


def _windows() -> Finding:
    """Whether windows are told; no title or application is named."""
    found = windows.choose()
    front, visible = found.foreground(), found.visible()
    found.close()
    said = "the one in front is known" if front is not None else "none is in front, or it cannot be told"
    if visible is None:
        return Finding(
            "windows", "note", f"{found.name}: which are visible cannot be told: exclusions stop the recording"
        )
    return Finding("windows", "ok", f"{found.name}: {len(visible)} visible; {said}")


async def _live(place: LiveFolder, options: LiveOptions, feed: Feed, model: ModelChoice | None) -> Played:
    choice = Choice([], agent=options.agent, memory=options.memory, timeout=options.timeout, model=model)

    def make(folder: Path, **given: Any) -> Records:
        return _Brief(feed.made(folder, **given))

    return await play_live(place, choice, make)


class _Brief:
    """A recorder that stops by itself."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.now_ns, self.stop = recorder.now_ns, recorder.stop

    async def run(self) -> Summary:
        return await self._recorder.run(_SNAPSHOTS_NS)


def looks(audit: Audit) -> Finding:
    """How late the screen was looked at in the run that was tried, which is judged as a longer one would be."""
    late = "unknown" if audit.release_jitter_p99_ns is None else f"{audit.release_jitter_p99_ns / MS:.0f} ms"
    said = f"the latest of this run {late} late, limit {JITTER_LIMIT_NS // MS} ms"
    if audit.valid:
        return Finding("looks", "ok", said)
    why = f"{'; '.join(audit.invalid)}: a live run would be marked INVALID, and its figures say nothing of the agent"
    return Finding("looks", "note", f"{why}. Others work here, or the screen is slow: see capture")


def _agent(played: Played) -> Iterator[Finding]:
    result = played.results[0]
    if result.error is not None:
        yield Finding("agent", "missing", result.error)
        return
    ready = 0 if result.cold_start_ns is None else result.cold_start_ns
    yield Finding("agent", "ok", f"ready in {ready / MS:.0f} ms, memory included")
    ((_, log, _),) = read_units(played.folder)
    if not len(log):
        yield Finding("answers", "missing", "nothing was recorded, so nothing was asked")
        return
    took = (log.actionable_ns - log.captured_ns).tolist()
    later = f", then {percentile(took[1:], 50) / MS:.0f} ms" if len(took) > 1 else ""
    said = f"{len(took)}: {took[0] / MS:.0f} ms from the screen to the first answer{later}"
    failed = (played.scores or {}).get("errors", [])
    if failed:
        n = sum(error["n"] for error in failed)
        yield Finding("answers", "missing", f"{n} of {len(took)} failed: {failed[0]['kind']}: {failed[0]['text']}")
    else:
        yield Finding("answers", "ok", said)
