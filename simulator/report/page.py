"""One HTML file that holds all of a run, or of several: figures, sessions, configuration, caveats.

It needs no script, no other file and no network, and prints. It is given to others, so paths stand in it by their names
alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scorers.headlines import HEADLINES
from simulator.cli.show import invalid, remarks
from simulator.cli.speak import counted
from simulator.report.against import against
from simulator.report.configuration import configuration
from simulator.report.facts import RunFacts, read_facts
from simulator.report.frames import Recordings
from simulator.report.moments import moments
from simulator.report.naming import without_folders
from simulator.report.parts import Html, beside, document, listed, number, piece, section, table
from simulator.report.quality import quality_and_time
from simulator.report.sessions import counts, errors, sessions
from simulator.report.svg import clean, escaped
from simulator.runs.lock import status_now
from simulator.runs.stored import stored

__all__ = ["Made", "make"]


@dataclass(frozen=True, slots=True)
class Made:
    """A report.

    Attributes:
        html: the whole file. ``n_frames``: pictures in it. ``private``: one of its recordings is kept out of version
            control, so this must be too.
        notes: sentences for whoever asked for it.
    """

    html: str
    n_frames: int
    private: bool
    notes: tuple[str, ...] = ()


def make(runs: Sequence[str | Path], *, frames: int = 0, force: bool = False) -> Made:
    """Report runs, the first being what others are held against.

    Args:
        runs: run folders.
        frames: how many telling moments are shown with their pictures; 0 shows no pictures.
        force: compare what should not be compared, and say so.

    Raises:
        InputError: not a run folder, or a file of one is not of the form that proact writes.
        UsageError: a run that is named twice, or nothing to report.
    """
    with stored(", ".join(map(str, runs))):
        return _make(runs, frames, force)


def _make(runs: Sequence[str | Path], frames: int, force: bool) -> Made:
    facts = read_facts(runs)
    recordings = [Recordings(f.folder, f.told) for f in facts]
    telling, n_frames = moments(facts, recordings, frames)
    parts = [
        _head(facts),
        section("Scores", _scores(facts), listed(_caveats(facts)), id_="scores"),
        against(facts, force),
        section("Quality and time", beside(quality_and_time(facts)), id_="time"),
        telling,
        section("Sessions", *sessions(facts), id_="sessions"),
        section("What happened", counts(facts), errors(facts), id_="counts"),
        *(configuration(f) for f in facts),
    ]
    private = any(r.hidden() for r in recordings)
    notes = _privacy(private, n_frames)
    body = "".join(parts) + section("About this report", listed([*notes, *_about(facts, frames, force)]), id_="about")
    html = document(", ".join(clean(f.name, 60) for f in facts), body)
    return Made(html, n_frames, private, tuple(notes))


def _head(facts: Sequence[RunFacts]) -> Html:
    said = []
    for f in facts:
        run = f.scores.get("run", {})
        line = "; ".join(f"{k.replace('_', ' ')} {v}" for k, v in run.items())
        status = status_now(str(f.told["status"]), f.folder)
        of = f"{line}; protocol {f.scores['protocol']}; {counted(f.scores['n_units'], 'session')}; status {status}"
        written = str(f.told.get("written") or "")[:16].replace("T", " ")
        what = Html(f'<span class="long">{escaped(without_folders(of), 900)}</span>')
        said.append((f.name, what, f.scores["latency_source"], f"{written} UTC" if written else None))
    runs = table(("run", "what was run", "latency", "written"), said, "Runs")
    return Html(f"<header><h1>proact report</h1>{runs}</header>")


def _scores(facts: Sequence[RunFacts]) -> Html:
    names = dict.fromkeys(m for f in facts for m in HEADLINES[f.scores["protocol"]])
    rows = []
    for metric in names:
        found = [f.scores["details"].get(metric) for f in facts]
        first = next((d for d in found if d is not None), None)
        if first is not None:
            better = {"up": "higher", "down": "lower"}.get(first["direction"], "–")
            rows.append((f"{metric} [{first['unit']}]", better, *map(_figure, found)))
    return table(("metric", "better", *(f.name for f in facts)), rows, "Headlines: figure, 95 % interval, events")


def _figure(detail: Mapping[str, Any] | None) -> Html:
    if detail is None or detail["value"] is None:
        reason = "" if detail is None else escaped(detail.get("reason") or "")
        return Html(f'<span class="soft">– {reason}</span>')
    said = f"<b>{number(detail['value'])}</b>"
    if (interval := detail.get("interval")) is not None:
        narrow = " (too narrow)" if interval.get("few") else ""
        said += f" [{number(interval['low'])}, {number(interval['high'])}]{narrow}"
    few = ", few" if detail.get("few") else ""
    return Html(f'{said} <span class="soft">n {detail["n"]}{few}</span>')


def _caveats(facts: Sequence[RunFacts]) -> list[str]:
    bad = [sentence for f in facts for sentence in invalid(f.folder)]
    unfinished = [f"{f.name} did not come to its end (status {status_now(f.told['status'], f.folder)})" for f in facts
                  if f.told["status"] != "done"]  # fmt: skip
    lost = [f"{f.name}: logs are gone: {', '.join(gone[:5])}" for f in facts if (gone := f.scores["lost"])]
    said = [
        *bad,
        *unfinished,
        *lost,
        *(n for f in facts for n in f.notes),
        *remarks({f.name: f.scores for f in facts}, "marked so"),
    ]
    return [without_folders(sentence) for sentence in said]


def _privacy(private: bool, n_frames: int) -> list[str]:
    if not n_frames:
        said = ["This report holds no pictures."]
        return [*said, "It is of a recording that is kept out of version control, and holds words from it: keep it "
                "where the recording is."] if private else said  # fmt: skip
    pictures = f"This report holds {n_frames} picture{'s' if n_frames > 1 else ''} of a screen."
    if private:
        return [f"{pictures} They are of a recording that is kept out of version control: whoever gets this file sees "
                "them."]  # fmt: skip
    return [pictures]


def _about(facts: Sequence[RunFacts], frames: int, force: bool) -> list[object]:
    options = [f"--with-frames {frames}"] * (frames > 0) + ["--force"] * force
    words = escaped(" ".join([*(f.name for f in facts), *options]), 900)
    made = f"Made by <code>proact report {words}</code> (paths stand here by their names)"
    command = Html(f"{made}; the same runs and options give the same file.")
    return [command, piece("Classes and figures are those of scores.json; what each means: docs/scores.md.")]
