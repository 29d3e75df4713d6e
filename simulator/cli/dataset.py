"""``proact dataset``: check and describe recordings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit, InputError, UsageError

__all__ = ["dataset"]

dataset = App(name="dataset", help="Check and describe recordings.")

_Json = Annotated[bool, Parameter(help="One JSON record a line on stdout, the last one 'done'.", negative="")]
_SCENARIO_SUFFIXES = (".yaml", ".yml", ".toml")
_COLOURS = {"damage": "bold red", "warning": "yellow", "note": "dim"}


@dataset.command
def check(paths: list[Path], /, *, json: _Json = False) -> int:
    """List every fault of recorded sessions and scenarios, with counts and examples; nothing is changed.

    PATHS are sessions, scenario files, scenario folders or folders of many. Exit code 2 if anything is damaged.
    """
    voice = Voice(as_json=json)
    n = n_damaged = 0
    for place, findings in _checked(_wanted(paths)):
        damaged = any(f["severity"] == "damage" for f in findings)
        n, n_damaged = n + 1, n_damaged + damaged
        voice.record("checked", path=str(place), damaged=damaged, findings=findings)
        if not json:
            voice.say(_report(place, findings))
    if not json:
        voice.say(plain(f"{n} checked, {n_damaged} damaged"))
    voice.record("done", checked=n, damaged=n_damaged)
    return Exit.USAGE if n_damaged else Exit.DONE


@dataset.command
def describe(paths: list[Path], /, *, json: _Json = False) -> int:
    """Say in numbers what recorded sessions hold: hours, applications, events, needs, pictures.

    PATHS are sessions or folders of many. A session that cannot be read is told; the others are described all the same.
    """
    from simulator.session.describe import describe as look

    voice = Voice(as_json=json)
    n = n_unreadable = 0
    for session in _sessions(_wanted(paths)):
        n += 1
        try:
            told = look(session)
        except InputError as error:
            n_unreadable += 1
            voice.record("unreadable", path=str(session), said=str(error))
            voice.progress.print(plain(f"proact: {error}"), soft_wrap=True)
            continue
        voice.record("described", path=str(session), **told)
        if not json:
            voice.say(_description(session, told))
    voice.record("done", described=n - n_unreadable, unreadable=n_unreadable)
    return Exit.USAGE if n_unreadable else Exit.DONE


def _wanted(paths: list[Path]) -> list[Path]:
    if not paths:
        raise UsageError("name a session, a scenario, or a folder of many")
    for path in paths:
        if not path.exists():
            raise InputError(path, "there is no such file or folder")
    return paths


def _sessions(paths: list[Path]) -> Iterator[Path]:
    """Session folders at or below the paths, sound or not, by name; each once.

    Raises:
        InputError: a path that holds none.
    """
    seen: set[Path] = set()
    for path in paths:
        found = [path.parent] if path.name == "session.db" else sorted(p.parent for p in path.rglob("session.db"))
        if not found:
            raise InputError(path, "there is no recorded session (session.db) here")
        for folder in found:
            if folder.resolve() not in seen:
                seen.add(folder.resolve())
                yield folder


def _scenarios(path: Path) -> list[Path]:
    """The scenario files at or below a path: one that is named, and those called ``scenario.…`` in folders."""
    if path.is_file():
        return [path] if path.suffix.lower() in _SCENARIO_SUFFIXES else []
    return sorted(p for suffix in _SCENARIO_SUFFIXES for p in path.rglob(f"scenario{suffix}"))


def _checked(paths: list[Path]) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    """Every scenario and every session at or below the paths, with its findings."""
    from simulator.session.check import check as look

    for path in paths:
        scenarios = _scenarios(path)
        for scenario in scenarios:
            yield scenario, _scenario_faults(scenario)
        if not (path.is_file() and scenarios):
            for session in _sessions([path]) if not scenarios else _sessions_below(path):
                yield session, [asdict(finding) for finding in look(session)]


def _sessions_below(path: Path) -> Iterator[Path]:
    return iter(sorted(p.parent for p in path.rglob("session.db")))


def _scenario_faults(scenario: Path) -> list[dict[str, Any]]:
    """The first fault of a scenario: it is read as a run would read it."""
    from simulator.session.scenario import plays

    try:
        plays([scenario])
    except InputError as error:
        return [{"kind": "scenario", "severity": "damage", "sentence": str(error), "count": 1, "examples": ()}]
    return []


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


def _description(session: Path, told: Mapping[str, Any]) -> Any:
    """Facts as a table; unknown is a dash."""
    from rich.table import Table

    table = Table(title=plain(session), title_justify="left", box=None, show_edge=False, pad_edge=False,
                  show_header=False)  # fmt: skip
    for key, value in told.items():
        if isinstance(value, Mapping) and any(isinstance(v, Mapping) for v in value.values()):
            for inner, one in value.items():
                table.add_row(plain(f"{key} {inner}"), plain(_words(one)))
        else:
            table.add_row(plain(key), plain(_words(value)))
    return table


def _words(value: Any) -> str:
    if value is None or value == {} or value == []:
        return "-"
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {_words(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
