"""A take: the desk is set up, our recorder runs, the script is played, and the scenario's files are made of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Any

from scenarios.record.desk import Desk
from scenarios.record.hands import Action, DeskError
from scenarios.record.needs import Case, Need, Script
from simulator.core.errors import InputError
from simulator.core.types import SECOND
from simulator.session.ignored import unhide
from simulator.session.reader import Reader
from simulator.session.scenario import plays
from simulator.timing.clock import rest, wall_ns

__all__ = ["SCENARIOS", "Window", "case_text", "check_looks", "n_snapshots", "readme_text", "take", "windows", "write"]

SCENARIOS = Path(__file__).resolve().parents[1]
PROACT = (sys.executable, "-m", "simulator.cli")
MADE = (
    "Made by `python -m scenarios.record {name}`; what it says is in `scenarios/record/{module}.py`, change it there."
)
MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Window:
    """A need with its instants, seconds since the first snapshot."""

    need: Need
    opens_s: float
    closes_s: float


def take(script: Script, module: str, out: Path = SCENARIOS) -> list[Path]:
    """Record a script and write its folder anew; the scenario files.

    Raises:
        DeskError: the desk did not do what the script expects, the recorder stopped early or was too late; what was
            there before is left as it was.
        InputError: what was made is no sound scenario.
    """
    folder = out / script.folder
    with TemporaryDirectory() as place, Desk(script.home, script.seed) as desk:
        fresh = Path(place) / script.folder.replace("/", "-")  # the session takes its name from it
        script.prepare(desk)
        desk.log.clear()
        with recorder(fresh, desk.env, script.home):
            rest(3 * SECOND // 2)
            script.play(desk)
            rest(2 * SECOND)
        log = list(desk.log)
        check_looks(fresh)
        _proact("dataset", "compact", str(fresh))
        unhide(fresh)  # this one is made to be committed
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(folder / "session", ignore_errors=True)
        shutil.move(fresh, folder / "session")
    _write_actions(log, folder)
    files = write(script, module, out)
    _proact("dataset", "check", str(folder))
    plays(files)
    return files


def write(script: Script, module: str, out: Path = SCENARIOS) -> list[Path]:
    """Write scenario files and README of a recording that is there."""
    folder = out / script.folder
    files = []
    for case in script.cases:
        files.append(folder / case.folder / "scenario.yaml")
        files[-1].parent.mkdir(exist_ok=True)
        files[-1].write_text(case_text(case, script, module, folder), encoding="utf-8")
    (folder / "README.md").write_text(readme_text(script, module, folder), encoding="utf-8")
    return files


@contextmanager
def recorder(session: Path, env: Mapping[str, str], user: str) -> Iterator[None]:
    """Our own recorder, from its first row on; it is asked to stop at the end and must have closed the session."""
    words = [*PROACT, "record", str(session), "--user", user, "--yes"]
    said = session.parent / "recorder.txt"
    with said.open("wb") as stream:
        child = subprocess.Popen(
            words, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream
        )
    try:
        _wait_for_rows(session, child)
        yield
        if child.poll() is not None:
            raise DeskError(f"the recorder stopped early: {said.read_text(encoding='utf-8')[-500:]}")
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
        try:
            child.wait(timeout=60)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    if child.returncode:
        raise DeskError(f"the recorder ended with {child.returncode}: {said.read_text(encoding='utf-8')[-500:]}")


def check_looks(session: Path) -> None:
    """Refuse a recording that a busy machine spoilt: truths are told by its snapshots.

    Raises:
        DeskError: a look was late by more than half of the time to the next one, or did not come at all.
    """
    with Reader(session) as reader:
        late_ms = max(row[0] or 0 for row in reader.rows(("late_ms",)))
        missed = sum(gap.end_ns - gap.start_ns for gap in reader.header.gaps) / SECOND
        if late_ms * MS > reader.header.period_ns / 2 or missed:
            raise DeskError(
                f"looks came up to {late_ms:.0f} ms late and {missed:.0f} s were not recorded: the machine is too busy "
                "for a take; let it do nothing else"
            )


def _wait_for_rows(session: Path, child: subprocess.Popen[bytes]) -> None:
    until = wall_ns() + 30 * SECOND
    while wall_ns() < until and child.poll() is None:
        if (session / "session.db").is_file():
            try:
                with Reader(session) as reader:
                    if next(iter(reader.rows(("tick",))), None) is not None:
                        return
            except (sqlite3.Error, InputError):
                pass  # being made
        rest(SECOND // 5)
    raise DeskError("the recorder recorded nothing")


def _proact(*words: str) -> None:
    done = subprocess.run([*PROACT, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise DeskError(f"proact {' '.join(words)}: {done.stdout[-2000:]}{done.stderr[-1000:]}")


# the session's clock


def _rows(folder: Path) -> list[dict[str, Any]]:
    columns = ("captured_ns", "wall_utc_ms", "app_name", "window_title", "pixels_hash", "late_ms")
    with Reader(folder / "session") as reader:
        return [dict(zip(columns, row, strict=True)) for row in reader.rows(columns)]


def _write_actions(log: Sequence[Action], folder: Path) -> None:
    zero_ns = _rows(folder)[0]["wall_utc_ms"] * MS
    with (folder / "actions.jsonl").open("w", encoding="utf-8") as stream:
        for action in log:
            row = {"t_s": round((action.wall_ns - zero_ns) / SECOND, 3), **action.what}
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def _read_actions(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "actions.jsonl").read_text(encoding="utf-8").splitlines()]


def n_snapshots(folder: Path) -> int:
    """How many rows a recording has."""
    return len(_rows(folder))


def windows(case: Case, folder: Path) -> list[Window]:
    """The windows of a case: from the first snapshot that shows a need to the action that ends it.

    Raises:
        DeskError: the script never showed a need, or never ended it.
    """
    actions, rows = _read_actions(folder), _rows(folder)
    out = []
    for need in case.needs:
        marks = {a["is"]: n for n, a in enumerate(actions) if a.get("need") == need.id}
        if set(marks) != {"open", "closed"}:
            raise DeskError(f"need {need.id}: the script says {sorted(marks)} of it, not open and closed")
        opens = _first_showing(actions, marks["open"], rows)
        closes = next((a["t_s"] for a in actions[marks["closed"] :] if "do" in a), None)
        if opens is None or closes is None:
            raise DeskError(f"need {need.id}: no snapshot after it showed, or no action after it ended")
        out.append(Window(need, opens, closes))
    return sorted(out, key=lambda w: w.opens_s)


def _first_showing(actions: Sequence[Mapping[str, Any]], mark: int, rows: Sequence[Mapping[str, Any]]) -> float | None:
    """The first snapshot that shows a need: the first after the mark, or one just before it with the same picture.

    The script sets its mark a moment after the action that shows the need; a snapshot in between may show it already.
    """
    done = next((a["t_s"] for a in reversed(actions[:mark]) if "do" in a), 0.0)
    times = [(row["captured_ns"] - rows[0]["captured_ns"]) // MS / 1000 for row in rows]
    after = next((n for n, t in enumerate(times) if t >= actions[mark]["t_s"]), None)
    if after is None:
        return None
    first = after
    while first and times[first - 1] > done and rows[first - 1]["pixels_hash"] == rows[after]["pixels_hash"]:
        first -= 1
    shown: float = times[first]
    return shown


# the files


def case_text(case: Case, script: Script, module: str, folder: Path) -> str:
    """What stands in the scenario file of a case."""
    up = "../" * (len(Path(script.folder).parts) + bool(case.folder))
    lines = [
        f"# {MADE.format(name=module, module=module)}",
        "# README.md beside the session defends every window.",
        f"session: {'../' if case.folder else ''}session",
        f"name: {case.name}",
        *([f"recording: {case.version_of}"] if case.version_of else []),
        f"description: {_text(case.description)}",
        f"user: {case.person}",
        f"profile: {up}people/{case.person}.yaml",
        f"history: [{up}people/{case.person}.jsonl]",
        "protocol: stream",
        "truth:",
    ]
    found = windows(case, folder)
    lines.append(
        "  opportunities:" if found else "  opportunities: [] # nothing is wanted: every offer is a false alarm"
    )
    for one in found:
        need = one.need
        lines += [
            f"    - id: {need.id}",
            f"      opens_s: {one.opens_s:g}",
            f"      closes_s: {one.closes_s:g}",
            *([f"      acted_s: {one.closes_s:g}"] if need.acts else []),
            f"      intention: {need.intention}",
            f"      query: {_text(need.query)}",
            *([f"      weight: {need.weight:g}"] if need.weight != 1 else []),
        ]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def readme_text(script: Script, module: str, folder: Path) -> str:
    """What stands in the README.md of a recording."""
    rows = _rows(folder)
    pictures = list((folder / "session" / "screenshots").rglob("*.webp"))
    size = sum(p.stat().st_size for p in pictures)
    parts = [f"# {script.folder}\n", _wrap(script.about), "## What is needed, and when\n"]
    for case in script.cases:
        if len(script.cases) > 1:
            parts.append(f"### {case.person}: [{case.folder}/scenario.yaml]({case.folder}/scenario.yaml)\n")
        parts += [_why(one) for one in windows(case, folder)]
        parts.append(_wrap(case.quiet))
    parts += [
        "## What is on the screen\n",
        "From the rows of the session and the log of the script; times are seconds since the first snapshot.\n",
        "| from | window in front | done |\n|---|---|---|",
        *_stretches(rows, _read_actions(folder)),
        f"\n{len(rows)} snapshots, {len({r['pixels_hash'] for r in rows})} distinct pictures, {size / 1e6:.1f} MB.\n",
        _wrap(
            MADE.format(name=module, module=module)
            + " Real applications on a real X display, recorded by `proact record`. "
            "The people, their data and the pages are made up."
        ),
    ]
    return "\n".join(parts)


def _why(one: Window) -> str:
    need = one.need
    weight = "" if need.weight == 1 else f", weight {need.weight:g}"
    said = f"* **{need.id}**, `[{one.opens_s:g}, {one.closes_s:g})`, *{need.intention}*{weight}. {need.why}"
    return _wrap(said, "  ")


def _wrap(text: str, indent: str = "") -> str:
    """A paragraph of a page."""
    return fill(text, 118, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) + "\n"


def _stretches(rows: Sequence[Mapping[str, Any]], actions: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    runs = []
    for (app, title), group in groupby(rows, key=lambda r: (r["app_name"], r["window_title"])):
        runs.append(((next(group)["captured_ns"] - rows[0]["captured_ns"]) / SECOND, f"{app}: {title}"))
    for n, (start, what) in enumerate(runs):
        end = runs[n + 1][0] if n + 1 < len(runs) else float("inf")
        done = _summary([a for a in actions if start - 1 <= a["t_s"] < end - 1 and "do" in a])
        yield f"| {start:.0f} | {_cell(what)} | {_cell(done)} |"


def _summary(actions: Sequence[Mapping[str, Any]]) -> str:
    out = []
    for kind, group in groupby(actions, key=lambda a: a["do"]):
        some = list(group)
        if kind == "type":
            out += [
                f"types “{text if len(text) < 60 else text[:57] + '…'}”" for a in some if (text := a["text"].strip())
            ]
        elif kind == "scroll":
            out.append(f"scrolls {len(some)}×")
        elif kind == "click":
            out += [f"clicks {a['at']}" for a in some if isinstance(a["at"], str)]
    return ", ".join(out)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'").replace("*", "\\*").replace("<", "&lt;")
