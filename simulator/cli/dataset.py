"""``proact dataset``: bring in what others recorded; check and describe recordings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit, InputError, UsageError
from simulator.core.faults import told
from simulator.core.types import SECOND
from simulator.sources.formats import FORMATS

if TYPE_CHECKING:
    from simulator.session.importing import Report
    from simulator.session.play import Play
    from simulator.session.scenario import Found

__all__ = ["dataset", "found_at", "wanted"]

dataset = App(name="dataset", help="Import, check and describe recordings.")
dataset.command(
    "simulator.cli.describe:describe", name="describe", help="Say in numbers and figures what recordings hold."
)
dataset.command(
    "simulator.cli.generate:generate",
    name="generate",
    help="Make up users with known habits: sessions, scenarios, histories.",
)
dataset.command(
    "simulator.cli.split:split", name="split", help="Split users' time into history and evaluation; check a split."
)
dataset.command("simulator.cli.sessions:status", name="status", help="Say how a recording is doing.")
dataset.command("simulator.cli.sessions:compact", name="compact", help="Make a session smaller, pixels unchanged.")
dataset.command("simulator.cli.privacy:privacy", name="privacy", help="Find, redact and review what is private.")
dataset.command(
    "simulator.cli.annotate:annotate", name="annotate", help="Say what events were about, by a model or rules."
)
dataset.command(
    "simulator.cli.audit:audit",
    name="audit",
    help="Ask a person about annotated events, and say how far they agree with the annotator.",
)
dataset.command(
    "simulator.cli.answers:answers", name="answers", help="Count and judge model answers that ProactiveBench stored."
)
dataset.command(
    "simulator.cli.judge_cases:judge_cases", name="judge-cases", help="Score a judge of proposals on labelled cases."
)
dataset.command("simulator.cli.release:release", name="release", help="Make a session ready to be passed on.")
dataset.command("simulator.cli.submission:submission", name="submission", help="Write a run as PIRA-Bench takes it.")
dataset.command(
    "simulator.cli.accepted:accepted", name="accepted", help="Make what was called useful in a live run its truth."
)
dataset.command("simulator.cli.noise:noise", name="noise", help="Put noise into scenarios, beside clean twins.")

_Paths = Annotated[list[Path], Parameter(help="Sessions, scenario files, scenario folders, or folders of many.")]
if TYPE_CHECKING:
    _Format = str
else:  # the choices that help and completion show
    _Format = Literal["auto", *FORMATS]
_Images = Literal["copy", "reference", "none"]
_Times = Literal["auto", "name", "exif", "mtime", "rate"]
_COLOURS = {"damage": "bold red", "warning": "yellow", "note": "dim"}


@dataset.command(name="import")
def import_foreign(
    src: Annotated[
        Path, Parameter(help="What others recorded: a file or folder of one of the formats ('proact list sources').")
    ],
    out: Annotated[Path, Parameter(help="The folder that gets the sessions, by user.")],
    /,
    *,
    timezone: Annotated[
        str | None,
        Parameter(
            help="IANA zone of the machine that recorded, such as Asia/Shanghai; required where times name none."
        ),
    ] = None,
    format: Annotated[_Format, Parameter(help="What SRC is; auto tells from what lies in it.")] = "auto",
    user: Annotated[str | None, Parameter(help="The user's name, where SRC holds one user.")] = None,
    images: Annotated[
        _Images, Parameter(help="Copy into the sessions, reference where they lie, or none (text only).")
    ] = "copy",
    side: Annotated[
        list[Path] | None, Parameter(help="A file that says more of events; may be given several times.", negative="")
    ] = None,
    split: Annotated[float, Parameter(help="Share of the recorded time that becomes history.")] = 0.7,
    rate: Annotated[float | None, Parameter(help="Snapshots a second; default: told from the times.")] = None,
    times: Annotated[_Times, Parameter(help="For folders of images: where their times come from.")] = "auto",
    stretch_gap: Annotated[
        str | None, Parameter(help="A longer time without a row starts a new session; default: 30min in most formats.")
    ] = None,
    videos: Annotated[Path | None, Parameter(help="For streamingbench: the folder with the videos.")] = None,
    truth: Annotated[Path | None, Parameter(help="For pira: true intents, in the form of a submission.")] = None,
    json: AsJson = False,
) -> int:
    """Turn what others recorded into sessions and ready scenarios, one user a folder.

    SRC is only read. Nothing is dropped silently: a table says what was kept, repaired and left out, and why. Importing
    the same again changes nothing.
    """
    from simulator.core.durations import duration
    from simulator.session.importing import import_

    voice = Voice(as_json=json)
    gap_s = None if stretch_gap is None else duration("stretch-gap", stretch_gap) / SECOND
    report = import_(
        src,
        out,
        zone=timezone,
        format=format,
        user=user,
        images=images,
        side=side or (),
        split=split,
        rate_hz=rate,
        times=times,
        stretch_gap_s=gap_s,
        videos=videos,
        truth=truth,
    )
    told = report.as_dict()
    for line in told["account"]:
        voice.record("account", **line)
    if not json:
        voice.say(_account(report, out))
    voice.record("done", **{k: v for k, v in told.items() if k != "account"}, out=str(out))
    return Exit.DONE


@dataset.command
def check(paths: _Paths, /, *, json: AsJson = False) -> int:
    """List every fault of recorded sessions and scenarios, with counts and examples; nothing is changed.

    Exit code 2 if anything is damaged.
    """
    voice = Voice(as_json=json)
    n = n_damaged = 0
    for place, findings in _checked(wanted(paths)):
        damaged = any(f["severity"] == "damage" for f in findings)
        n, n_damaged = n + 1, n_damaged + damaged
        voice.record("checked", path=str(place), damaged=damaged, findings=findings)
        if not json:
            voice.say(_report(place, findings))
    if not json:
        voice.say(plain(f"{n} checked, {n_damaged} damaged"))
    voice.record("done", checked=n, damaged=n_damaged)
    return Exit.USAGE if n_damaged else Exit.DONE


def _account(report: Report, out: Path) -> Any:
    """By user what was kept, repaired and left out, and why; then what is there now."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    parts: list[Any] = []
    for user in dict.fromkeys([*(line.user for line in report.lines), *report.notes]):
        parts.append(Text(plain(user or "(no user)").plain, "bold"))
        table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(overflow="fold")
        for line in (line for line in report.lines if line.user == user):
            table.add_row(plain(line.outcome), str(line.count), plain(line.reason))
        for key, said in report.notes.get(user, {}).items():
            table.add_row(plain(key), "", plain(said))
        parts.append(Padding(table, (0, 0, 0, 2)))
    unchanged = "nothing changed: all of it was imported before; " if report.unchanged else ""
    last = f"{unchanged}{len(report.sessions)} sessions, {len(report.scenarios)} of them ready scenarios, in {out}"
    return Group(*parts, plain(last))


def wanted(paths: list[Path]) -> list[Path]:
    """The paths, all of which are there.

    Raises:
        UsageError: none is given.
        InputError: one is not there.
    """
    if not paths:
        raise UsageError("name a session, a scenario, or a folder of many")
    for path in paths:
        with told(path):
            there = path.exists()
        if not there:
            raise InputError(path, "there is no such file or folder")
    return paths


def found_at(path: Path) -> Found:
    """What a path holds, as a run finds it.

    Raises:
        InputError: nothing.
    """
    from simulator.session.scenario import find

    found = find(path)
    if not found.scenarios and not found.sessions:
        raise InputError(path, "there is neither a session (session.db) nor a scenario (scenario.yaml) here")
    return found


def _played(found: Sequence[Play]) -> list[Path]:
    """The folders of the sessions that are played."""
    from simulator.sources.recording import Recording

    return [play.source.header.folder for play in found if isinstance(play.source, Recording)]


def _checked(paths: list[Path]) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    """Every scenario at or below the paths and every session, each once, with its findings.

    Raises:
        InputError: a path that holds neither.
    """
    from simulator.session.check import check as find_faults

    seen: set[Path] = set()
    for path in paths:
        found = found_at(path)
        sessions = list(found.sessions)
        for scenario in found.scenarios:
            faults, played = _scenario_faults(scenario)
            yield scenario, faults
            sessions += played
        for session in sessions:
            if session.resolve() not in seen:
                seen.add(session.resolve())
                yield session, [asdict(finding) for finding in find_faults(session)]


def _scenario_faults(scenario: Path) -> tuple[list[dict[str, Any]], list[Path]]:
    """The first fault of a scenario, which is read as a run reads it, or what is odd of it; the sessions it plays."""
    from simulator.session.check import check_needs, without_hint
    from simulator.session.scenario import plays

    try:
        found = plays([scenario])
    except InputError as error:
        return [
            {"kind": "scenario", "severity": "damage", "sentence": without_hint(error), "count": 1, "examples": ()}
        ], []
    odd = check_needs(found[0].truth)  # windows are the same for every profile
    return [asdict(finding) for finding in odd], _played(found)


def _report(place: Path, findings: list[dict[str, Any]]) -> Any:
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    if not findings:
        return plain(f"{place}: sound")
    lines: list[Any] = [plain(place)]
    for f in findings:
        head = Text.assemble((f["severity"], _COLOURS[f["severity"]]), "  ", plain(f["sentence"]), f" ({f['count']})")
        lines.append(Padding(head, (0, 0, 0, 2)))
        lines += [Padding(plain(example), (0, 0, 0, 6)) for example in f["examples"]]
    return Group(*lines)
