"""A live run: the screen is recorded and played into an agent at once; afterwards both lie in one folder.

    FOLDER/session/        the recording
    FOLDER/scenario.yaml   profile and history that the agent had, and the place for a truth
    FOLDER/run/            the run folder

While it goes on nobody knows when it will end, so the run log's header says what is known by then. ``settle`` puts the
rest in from the recording once that is closed, also after a kill: the run is then the very one that a wall-clock run
over the recording would be, and can be scored, or replayed as a journal.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import yaml

from simulator.core.durations import duration
from simulator.core.errors import Exit, UsageError
from simulator.core.types import SECOND
from simulator.play.assemble import Choice, unit_of
from simulator.play.player import Played, Watcher
from simulator.play.scoring import score_folder
from simulator.play.settling import settle
from simulator.recorder.shots import Shot, Summary
from simulator.runs.engine import Interrupt
from simulator.runs.folder import RunFolder
from simulator.runs.unit import UnitResult, play_unit
from simulator.session.ignored import hide
from simulator.session.scenario import beginning
from simulator.session.scenario_file import load, read_mapping
from simulator.sources.live import LiveScreen
from simulator.timing.clock import wall_ns
from simulator.timing.tasks import task_group

__all__ = ["LiveFolder", "MakeRecorder", "Records", "play_live", "user_of"]

_HEAD = "# Written by `proact live`: what the agent was given. Whose screen it was, and what they had done before.\n"
_HOW_TO_SAY = """\

# Nobody has said yet when help was needed. Write it down here (without the #), in seconds since the first snapshot;
# `proact list intentions` names the intentions, docs/sessions.md says all that may stand here.
# truth:
#   opportunities:
#     - {{opens_s: 31, closes_s: 51.5, intention: Error Correction, query: why does this fail}}
# Then these score the run by it, and say of each offer and need why it counted as it did:
# {score}
# {explain}
"""
_BY_TRUTH = ("score", "explain")
ANYBODY = "user"
_KEPT = ("user", "intentions", "segmentation", "window_s", "policy", "gate", "seed")


class Records(Protocol):
    """What a live run needs of a recorder."""

    def now_ns(self) -> int:
        """The recording's clock."""
        ...

    def stop(self) -> None:
        """End the recording soon."""
        ...

    async def run(self) -> Summary:
        """Record until ``stop``."""
        ...


class MakeRecorder(Protocol):
    """Makes a recorder."""

    def __call__(self, folder: Path, *, session: str, user: str, on_shot: Callable[[Shot], None],
                 on_gap: Callable[[int, int, str], None]) -> Records:  # fmt: skip
        """Of the session's folder, its name, its user, and what to call with each shot and each gap."""
        ...


@dataclass(frozen=True, slots=True)
class LiveFolder:
    """The parts of a live run's folder."""

    path: Path

    @property
    def name(self) -> str:
        """Of the session and the unit."""
        return self.path.absolute().name

    @property
    def session(self) -> Path:
        """The recording."""
        return self.path / "session"

    @property
    def scenario(self) -> Path:
        """The scenario file."""
        return self.path / "scenario.yaml"

    @property
    def run(self) -> Path:
        """The run folder."""
        return self.path / "run"

    def begin(self, past: Path | None, user: str | None) -> str:
        """Make the folder with its scenario file, and keep a version control system from taking any of it.

        Args:
            past: a scenario file, or a folder with one, whose profile, history and rules are taken over.
            user: whose screen it is, where the past does not say.

        Raises:
            UsageError: something is there already.
            InputError: a fault of ``past``.

        Returns:
            Whose screen it is.
        """
        if self.path.exists() and any(self.path.iterdir()):
            raise UsageError(f"{self.path} is not empty; a live run needs a folder of its own")
        said: dict[str, Any] = {"session": "session", "name": self.name}
        if past is not None:
            said |= _taken_over(past)
        if user is not None:
            said["user"] = user
        self.path.mkdir(parents=True, exist_ok=True)
        hide(self.path)
        written = yaml.safe_dump(said, allow_unicode=True, sort_keys=False)
        told = {word: shlex.join(["proact", word, str(self.run), "--truth", str(self.path)]) for word in _BY_TRUTH}
        for word in told:
            if not told[word].isprintable():  # a comment ends with its line
                told[word] = f"proact {word} FOLDER/run --truth FOLDER"
        self.scenario.write_text(_HEAD + written + _HOW_TO_SAY.format(**told), encoding="utf-8")
        return str(said.get("user") or ANYBODY)


def user_of(past: Path) -> str:
    """Whose past a scenario file, or a folder with one, says it is; ``user`` where it says nobody's.

    Raises:
        InputError: a fault of it.
    """
    return load(_file_of(past)).user or ANYBODY


def _file_of(past: Path) -> Path:
    return past / "scenario.yaml" if past.is_dir() else past


def _taken_over(past: Path) -> dict[str, Any]:
    """What a scenario says but for its session and its truth, with paths that hold from anywhere."""
    file = _file_of(past)
    spec, raw, base = load(file), read_mapping(file), file.absolute().parent
    said = {k: raw[k] for k in _KEPT if k in raw}
    said["history"] = [str(base / entry) for entry in spec.history]
    if spec.taxonomy is not None:
        said["taxonomy"] = str(base / spec.taxonomy)
    if spec.profile is not None:
        said["profile"] = str(base / spec.profile) if isinstance(spec.profile, str) else dict(spec.profile)
    return said


async def play_live(folder: LiveFolder, choice: Choice, make_recorder: MakeRecorder, *, period_ns: int = SECOND,
                    watcher: Watcher | None = None, interrupt: Interrupt | None = None) -> Played:  # fmt: skip
    """Record and play until the recorder is stopped, then settle and score.

    Args:
        folder: begun, see ``LiveFolder.begin``.
        choice: agent, memory and rules; its scenarios and clock are set here.
        make_recorder: see ``MakeRecorder``.
        period_ns: of the snapshots.
        watcher: is told how it goes on.
        interrupt: set it to have everything stop at once, what is in flight included.

    Raises:
        UsageError: an unknown word, an impossible combination.
    """
    watcher, interrupt = watcher or Watcher(), interrupt or Interrupt()
    choice = replace(choice, scenarios=[folder.scenario], clock="wall")
    user = user_of(folder.scenario)
    feed: list[LiveScreen] = []
    chosen: list[int] = []

    def shot(one: Shot) -> None:
        if not chosen:
            chosen.append(one.monitor)
        if one.monitor == chosen[0]:  # an agent watches one screen
            feed[0].snapshot(one.captured_ns, one.app, one.title, one.path, one.pixels_hash, one.image, one.late_ns)

    def gap(start_ns: int, end_ns: int, reason: str) -> None:
        feed[0].gap(start_ns, end_ns, reason)

    recorder = make_recorder(folder.session, session=folder.name, user=user, on_shot=shot, on_gap=gap)
    source = LiveScreen(folder.name, user, folder.session, recorder.now_ns, period_ns=period_ns)
    feed.append(source)
    window = None if choice.window is None else duration("window", choice.window, above_0=True)
    play = beginning(folder.scenario, source, period_ns, wall_ns())
    plan = await unit_of(play, choice, window=window)
    run = RunFolder(folder.run, [plan], {"live": str(folder.scenario.absolute()), "settled": False})
    run.open()
    watcher.launched(run, [plan])
    watcher.unit(plan)

    async def record() -> None:
        await source.asked_for.wait()
        try:
            await recorder.run()
        finally:
            source.finish(source.last_ns + period_ns)

    try:
        async with task_group() as group:
            group.start_soon(record)
            result = await play_unit(plan, run.unit(plan.key), interrupt, watcher.engine)
            if source.asked_for.is_set():
                recorder.stop()
            else:  # an agent that could not be opened never asked
                group.cancel_scope.cancel()
    except BaseException:
        run.close("stopped")
        raise
    run.done(result)
    run.close(
        "interrupted" if result.error == "interrupted" else "done" if result.error is None else "some_units_erred"
    )
    watcher.unit_done(plan, result)
    return _ended(folder, result)


def _ended(folder: LiveFolder, result: UnitResult) -> Played:
    if result.error is not None and not folder.session.exists():  # it never began, and the error tells why
        code = Exit.INTERRUPTED if result.error == "interrupted" else Exit.SOME_UNITS_ERRED
        return Played(folder.run, None, (result,), code)
    settle(folder.run)
    failed = result.error is not None and result.error != "interrupted"
    return Played(folder.run, score_folder(folder.run), (result,), Exit.SOME_UNITS_ERRED if failed else Exit.DONE)
