"""``proact doctor``: what this machine can do, in a dozen lines; nothing of the user's is named or sent."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from itertools import pairwise
from pathlib import Path
from typing import Literal

from cyclopts import App

from simulator.cli import guard
from simulator.cli.live import LiveOptions
from simulator.cli.options import ModelOptions
from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit, UsageError
from simulator.core.types import MS
from simulator.timing.clock import real_ns

__all__ = ["Finding", "doctor", "look", "tell"]

State = Literal["ok", "note", "missing", "wrong"]
_COLOURS: dict[str, str] = {"ok": "green", "note": "yellow", "missing": "bold red", "wrong": "bold red"}
_GB = 10**9
_N_RELEASES, _RELEASE_NS = 40, 25 * MS
_DISPLAY = "needed only for `proact record` and `proact live`"
_ENDPOINT = "needed only by agents that ask a model: docs/models.md"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. ``missing``: proact needs it; ``wrong``: it is there and does not do what it must; ``note``:
    something less will work, or work less well.
    """

    name: str
    state: State
    said: str


doctor = App(name="doctor", help="Look at this machine and say what works.")
doctor.command(
    "simulator.cli.doctor_agent:agent",
    name="agent",
    help="Try an agent in another process on all that a run asks of it.",
)
doctor.command(
    "simulator.cli.doctor_memory:memory",
    name="memory",
    help="Try a memory on every rule that a memory must keep to.",
)


@doctor.default
def machine(*, json: AsJson = False) -> int:
    """Look at this machine and say what works.

    Takes about a second, changes nothing, asks no network. Exit code 1 if something is missing that proact needs.
    """
    return tell(look(), Voice(as_json=json))


@doctor.command
def live(*, options: LiveOptions | None = None, model: ModelOptions | None = None) -> int:
    """Try a live run once for real, which warms the agent up, too: a capture is made, and the agent is asked.

    It takes the options of `proact live`. Exit code 1 if something is missing that a live run needs.
    """
    from simulator.cli.doctor_live import look_live  # what records is imported when it is needed

    asked = model or ModelOptions()
    options = asked.shown_to(options or LiveOptions())
    voice = Voice(as_json=options.json)
    return tell(look_live(options, voice, asked.choice()), voice)


def tell(findings: Iterable[Finding], voice: Voice) -> int:
    """Say what was found; the exit code."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_edge=False, pad_edge=False, show_header=False)
    missing = 0
    for finding in findings:
        voice.record("finding", **asdict(finding))
        table.add_row(plain(finding.name), Text(finding.state, _COLOURS[finding.state]), plain(finding.said))
        missing += finding.state in ("missing", "wrong")
    voice.say(table)
    voice.record("done", missing=missing)
    return Exit.INTERNAL if missing else Exit.DONE


def look() -> Iterator[Finding]:
    """All findings, in order."""
    for one in (_python, _packages, _names, _pictures, _database, _zones, _cores, _clock, _releases, _disk, _folders,
                _display, _endpoint):  # fmt: skip
        yield one()


def _python() -> Finding:
    said = f"{platform.python_implementation()} {platform.python_version()} on {platform.system()} {platform.machine()}"
    return Finding("python", "ok" if sys.version_info >= (3, 11) else "missing", said)


def _packages() -> Finding:
    """The distributions that proact is built on, by the metadata of the installed one."""
    try:
        needed = [line for line in requires("proact") or () if "extra ==" not in line]
    except PackageNotFoundError:
        return Finding("packages", "note", "proact runs from a folder, not installed: its requirements are not known")
    found, lacking = [f"proact {version('proact')}"], []
    for line in needed:
        name = re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lacking.append(name)
    if lacking:
        return Finding("packages", "missing", f"not installed: {', '.join(lacking)}; install proact anew")
    return Finding("packages", "ok", ", ".join(found))


def _names() -> Finding:
    try:
        guard.check()
    except UsageError as error:
        return Finding("names", "missing", str(error))
    owners = packages_distributions()
    others = {name: sorted(set(owners.get(name, ())) - {"proact"}) for name in guard.ROOTS}
    said = [f"'{name}' is also a package of {', '.join(who)}" for name, who in others.items() if who]
    if said:
        return Finding("names", "note", f"{'; '.join(said)}; proact's own is found first, theirs is hidden here")
    return Finding("names", "ok", f"{', '.join(guard.ROOTS)} are proact's own")


def _pictures() -> Finding:
    from PIL import __version__, features

    if not features.check("webp"):
        return Finding(
            "pictures", "missing", f"Pillow {__version__} was built without WebP, in which sessions are kept"
        )
    return Finding("pictures", "ok", f"Pillow {__version__} with WebP")


def _database() -> Finding:
    return Finding("sqlite", "ok", sqlite3.sqlite_version)


def _zones() -> Finding:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo("Asia/Shanghai")
    except ZoneInfoNotFoundError:
        return Finding("time zones", "missing", "no table of time zones: install the package tzdata")
    return Finding("time zones", "ok", "known by name")


def _cores() -> Finding:
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > count:
        return Finding("cores", "note", f"{count}, load {load:.1f}: others work here, measured latencies will suffer")
    return Finding("cores", "ok", f"{count}, load {load:.1f}")


def _clock() -> Finding:
    stamps = [real_ns() for _ in range(5000)]
    steps = [b - a for a, b in pairwise(stamps) if b > a]
    finest = min(steps, default=0)
    fine = 0 < finest < MS
    return Finding("clock", "ok" if fine else "note", f"monotonic, in steps of {finest} ns or less")


def _releases() -> Finding:
    """A second of a paced run without an agent: how late are snapshots released?"""
    import anyio

    from simulator.timing.audit import JITTER_LIMIT_NS, percentile

    late = anyio.run(_released)
    worst, typical = percentile(late, 99) / MS, percentile(late, 50) / MS
    said = f"p50 {typical:.2f} ms, p99 {worst:.2f} ms late in {len(late)} releases"
    if worst * MS > JITTER_LIMIT_NS:
        return Finding("releases", "note", f"{said}: clocks wall and elastic would be marked INVALID")
    return Finding("releases", "ok", said)


async def _released() -> list[int]:
    from simulator.timing.kernel import Kernel, Priority
    from simulator.timing.pace import Paced

    kernel, pace = Kernel(), Paced()
    for i in range(_N_RELEASES):
        kernel.schedule(i * _RELEASE_NS, Priority.SNAPSHOT, i)
    while kernel and await pace.turn(kernel, lambda: False):
        kernel.pop()
    return pace.lateness_ns


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    said = f"{free / _GB:.1f} GB free here"
    return Finding("disk", "ok" if free > _GB else "note", said if free > _GB else f"{said}: little for recordings")


def _folders() -> Finding:
    """May files be written: where temporary ones go, and here, where ``runs/`` will be? No path is told."""
    places: dict[str, Callable[[], str]] = {"the temporary folder": tempfile.gettempdir, "this folder": os.getcwd}
    closed = []
    for name, where in places.items():
        try:
            with tempfile.TemporaryFile(dir=where()) as file:
                file.write(b"proact")
        except OSError as error:
            closed.append((name, error.strerror or "no"))
    if closed:
        said = "; ".join(f"{name} cannot be written ({why})" for name, why in closed)
        return Finding("folders", "missing" if closed[0][0] == "the temporary folder" else "note", said)
    return Finding("folders", "ok", "the temporary folder and this one can be written")


def _display() -> Finding:
    """Only recording needs one. Under Wayland a program may not read the screen unasked."""
    wayland = bool(os.environ.get("WAYLAND_DISPLAY")) or os.environ.get("XDG_SESSION_TYPE") == "wayland"
    here = sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY"))
    if wayland:
        return Finding("display", "ok", f"Wayland, where --screen-command or --portal is needed; {_DISPLAY}")
    if not here:
        return Finding("display", "ok", f"none; {_DISPLAY}")
    import mss
    from mss.exception import ScreenShotError

    try:
        with mss.MSS() as screen:
            sizes = ", ".join(f"{m['width']}x{m['height']}" for m in screen.monitors[1:])
    except ScreenShotError:
        return Finding("display", "ok", f"there is one, which cannot be read; {_DISPLAY}")
    return Finding("display", "ok", f"monitors: {sizes}; {_DISPLAY}")


def _endpoint() -> Finding:
    """Of a model's endpoint only whether it is named; neither address nor key is ever printed, and nobody is called."""
    named = [name for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY") if os.environ.get(name)]
    said = f"set: {', '.join(named)}" if named else "not set"
    return Finding("model endpoint", "ok", f"{said}; {_ENDPOINT}")
