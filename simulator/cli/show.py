"""Scores as tables, fit for 80 columns: a metric's name is never broken, a number never cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from memory.embed import HashEmbedder
from memory.view import mostly_empty
from scorers.headlines import HEADLINES
from simulator.cli.speak import counted, plain
from simulator.core.registry import Spec, parse_spec
from simulator.runs.folder import read_run

__all__ = ["HEADLINES", "ScoreTable", "happened", "invalid", "number", "remarks", "said_of"]

Scores = Mapping[str, Any]

CLASSES = ("on_time", "redundant", "stale", "early", "wrong_content", "false_alarm")
OFFERS = (*CLASSES, "held_back")
"""Every delivered offer is one of these."""
ALWAYS = ("decisions", "offer", "error", "unparsed", "opportunities")
IF_ANY = ("unservable", "never_seen", "superseded", "cancelled", "after_end", "interrupted", "torn", "not_played",
          "missing", "sessions_without_truth")  # fmt: skip
TRUTH = {"stream": "windows of need", "moments": "windows of need", "trajectory": "intents"}
"""What each protocol is scored against."""
_INTERVAL = "95 % interval"
_GAP = 2


class ScoreTable:
    """Scores side by side, one column a run: the headlines each with n and interval, what happened, what offers were.

    The intervals of a single run have a column of their own, those of several stand below their figures. Runs that do
    not fit beside each other follow below. A figure that rests on few events is dim, like an interval on few sessions.
    """

    def __init__(self, runs: Mapping[str, Scores]) -> None:
        self._runs = dict(runs)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """What was run, tables, then what must be said of them."""
        names, rows = list(self._runs), _rows(list(self._runs.values()))
        if len(names) == 1 and any("\n" in cells[0].plain for section in rows for _, _, cells in section):
            names, rows = [*names, _INTERVAL], _split(rows)
        if self._runs:
            yield from map(Text, _said_of_runs(list(self._runs.values())))
            yield Text()
        for chunk in _chunks(names, rows, options.max_width):
            layout = next(lay for lay in (_table, _without_better, _list) if _fits(lay, names, rows, chunk, options))
            yield layout(names, rows, chunk)
            yield Text()
        yield from _references(self._runs.values())
        yield from (Text(line, "dim") for line in remarks(self._runs))


def _said_of_runs(runs: Sequence[Scores]) -> list[str]:
    """What was run, so that a table tells it wherever it is pasted; what differs stands in the order of the columns."""
    facts: dict[str, dict[str, None]] = {}
    for scores in runs:
        told = {**scores.get("run", {}), "gate": scores["gate"], "protocol": scores["protocol"]}
        for key, value in told.items():
            facts.setdefault(key, {})[value] = None
    if list(facts.get("embedder", ())) == [HashEmbedder.identity]:
        del facts["embedder"]  # the default needs no word
    timed = [f"{key} {', '.join(facts.pop(key))}" for key in ("clock", "latency") if key in facts]
    said = [f"{key.replace('_', ' ')} {', '.join(values)}" for key, values in facts.items()]
    n = dict.fromkeys(scores["n_units"] for scores in runs)
    said.append(f"{', '.join(map(str, n))} session{'' if list(n) == [1] else 's'}")
    return [plain("; ".join(part)).plain for part in (said, timed) if part]


def invalid(run: Path) -> list[str]:
    """One sentence for each unit of a run whose figures should not be used, by its own audit."""
    said = []
    for key, told in read_run(run)["units"].items():
        reasons = (told.get("audit") or {}).get("invalid") or ()
        said += [f"INVALID {run.name}, {key}: {reason}; do not use these figures" for reason in reasons]
    return said


UNCHECKED = "memory_items_unchecked"
UNWRITTEN = "personas_failed"
_SENTENCES = {UNCHECKED, UNWRITTEN}
"""Notes that are sentences, not rows."""
Row = tuple[Text, Text, list[Text]]


def _rows(runs: Sequence[Scores]) -> list[list[Row]]:
    """Sections of rows: a name, which way is better, and a cell a run."""
    sections = [
        [row for metric in _headlines(runs) if (row := _metric(metric, runs)) is not None],
        _counts([happened(r) for r in runs], ALWAYS, IF_ANY),
        _counts([_offers(r) for r in runs], OFFERS, ()),
        _counts(
            [r.get("notes", {}) for r in runs], (), sorted({k for r in runs for k in r.get("notes", {})} - _SENTENCES)
        ),
    ]
    return [section for section in sections if section]


def _headlines(runs: Sequence[Scores]) -> list[str]:
    """The headlines of the protocols, then all figures of scorers in no standard set: they were asked for by name."""
    from scorers.base import STANDARD_SCORERS

    wanted = dict.fromkeys(m for r in runs for m in HEADLINES[r["protocol"]])
    for r in runs:
        usual = ("", *STANDARD_SCORERS[r["protocol"]])
        asked = (m for m, told in r["details"].items() if told.get("scorer", "").partition(":")[0] not in usual)
        wanted.update(dict.fromkeys(asked))
    return list(wanted)


def _metric(metric: str, runs: Sequence[Scores]) -> Row | None:
    found = [r["details"].get(metric) for r in runs]
    first = next((d for d in found if d is not None), None)
    if first is None:
        return None
    name = Text.assemble(metric, (f" [{first['unit']}]", "dim"), (said_of(first.get("scorer", "")), "dim"))
    return name, Text(first["direction"], "dim"), [_figure(d) for d in found]


def said_of(scorer: str) -> str:
    """What a scorer was told, to stand behind a figure's name; empty of one that was told nothing.

    >>> said_of("erde:counts=snapshots"), said_of("erde"), said_of("mine.py:Counts:2")
    (' (counts=snapshots)', '', ' (value=2)')
    """
    told = Spec("", parse_spec(scorer).params).text
    return f" ({told[1:]})" if told else ""


def _figure(detail: Mapping[str, Any] | None) -> Text:
    if detail is None or detail["value"] is None:
        return Text("-", "dim")
    text = number(detail["value"])
    figure = Text.assemble((text, "dim" if detail.get("few") else ""), (f" n{detail['n']}", "dim"))
    if (interval := detail.get("interval")) is None:
        return figure
    ends = f"[{number(interval['low'])}, {number(interval['high'])}]"
    return Text.assemble(figure, "\n", (ends, "dim" if interval.get("few") else ""))


def number(value: float) -> str:
    """A figure as tables show it.

    >>> number(0.5), number(-12.34), number(9.9996), number(-0.0001)
    ('0.500', '-12.3', '10.0', '0.000')
    """
    text = f"{value:.3f}" if abs(value) < 9.9995 else f"{value:.1f}"
    return text.removeprefix("-") if not float(text) else text


def _split(rows: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """Rows of one run with the interval in a cell of its own."""
    found = []
    for section in rows:
        cells = [(name, way, one.split("\n")) for name, way, (one,) in section]
        found.append([(name, way, [parts[0], parts[1] if len(parts) > 1 else Text()]) for name, way, parts in cells])
    return found


def _wide(text: Text) -> int:
    return max((cell_len(line) for line in text.plain.split("\n")), default=0)


Counts = Mapping[str, int | None]


def _counts(counts: Sequence[Counts | None], always: Iterable[str], if_any: Iterable[str]) -> list[Row]:
    """Rows of whole numbers; those of ``if_any`` where one of the runs has some.

    None, for a number or all of them: not known of that run. What is known of no run has no row.
    """
    found = {k: [None if c is None else c.get(k, 0) for c in counts] for k in (*always, *if_any)}
    shown = [k for k in always if any(n is not None for n in found[k])] + [k for k in if_any if any(found[k])]
    return [(Text(k), Text(), [Text("-" if n is None else str(n)) for n in found[k]]) for k in shown]


def happened(scores: Scores) -> Counts:
    """A run's counts. Unknown are those of needs, where it was not scored against needs or they are not known, and how
    many snapshots nobody saw, where a log has no end: it ends at the last decision of a run that was killed.
    """
    counts: dict[str, int | None] = dict(scores["counts"])
    if scores["protocol"] == "trajectory" or _played(scores) <= scores["counts"]["sessions_without_truth"]:
        counts |= dict.fromkeys(("opportunities", "unservable"))
    if scores["counts"].get("interrupted"):
        counts["never_seen"] = None
    return counts


def _played(scores: Scores) -> int:
    n: int = scores["n_units"] - scores["counts"].get("not_played", 0)
    return n


def _offers(scores: Scores) -> Counts | None:
    """How many delivered offers were what; None where nobody classified them."""
    told = [u["offers"] for u in scores["units"].values() if "offers" in u]
    if not told:
        return None
    held = scores["details"].get("held_back", {}).get("value")
    classes = Counter(offer["class"] for offers in told for offer in offers)
    return {**classes, "held_back": None if held is None else int(held)}


def _chunks(names: Sequence[str], rows: Sequence[Sequence[Row]], width: int) -> list[list[int]]:
    """Which runs stand beside each other."""
    flat = [row for section in rows for row in section]
    head = max((cell_len(row[0].plain) for row in flat), default=0) + max(6, _GAP) + 2 * _GAP
    wide = [max([cell_len(n), *(_wide(row[2][i]) for row in flat)]) + _GAP for i, n in enumerate(names)]
    chunks: list[list[int]] = [[]]
    room = width - head
    for i, needed in enumerate(wide):
        if chunks[-1] and needed > room:
            chunks.append([])
            room = width - head
        chunks[-1].append(i)
        room -= needed
    return chunks


Layout = Callable[[Sequence[str], Sequence[Sequence[Row]], Sequence[int]], RenderableType]


def _fits(layout: Layout, names: Sequence[str], rows: Sequence[Sequence[Row]], chunk: Sequence[int],
          options: ConsoleOptions) -> bool:  # fmt: skip
    """Whether nothing of it would be cut; a list always fits, since it can be wrapped."""
    flat = [row for section in rows for row in section]
    names_wide = max((cell_len(row[0].plain) for row in flat), default=0)
    values = sum(max([cell_len(names[i]), *(_wide(row[2][i]) for row in flat)]) + _GAP for i in chunk)
    better = len("better") + _GAP if layout is _table else 0
    return layout is _list or names_wide + better + values <= options.max_width


def _table(names: Sequence[str], rows: Sequence[Sequence[Row]], chunk: Sequence[int], *, better: bool = True) -> Table:
    table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, _GAP, 0, 0))
    table.add_column("metric", no_wrap=True)
    if better:
        table.add_column("better", justify="center", no_wrap=True)
    for i in chunk:
        table.add_column(plain(names[i]), justify="right", no_wrap=True)
    for n, section in enumerate(rows):
        if n:
            table.add_row()
        for name, way, cells in section:
            table.add_row(name, *([way] if better else []), *(cells[i] for i in chunk))
    return table


def _without_better(names: Sequence[str], rows: Sequence[Sequence[Row]], chunk: Sequence[int]) -> Table:
    """On a screen that is too narrow for the column that says which way is better."""
    return _table(names, rows, chunk, better=False)


def _list(names: Sequence[str], rows: Sequence[Sequence[Row]], chunk: Sequence[int]) -> RenderableType:
    """On a screen that is too narrow for a table: a figure a line, below its name."""
    lines: list[Text] = []
    for section in rows:
        for name, _, cells in section:
            lines.append(name)
            for i in chunk:
                shown = Text(" ").join(cells[i].split("\n"))
                lines.append(Text.assemble("  ", (f"{names[i]}: " if len(names) > 1 else ""), shown))
    return Group(*lines)


def _references(runs: Iterable[Scores]) -> Iterator[RenderableType]:
    """Rows to hold the figures against, where the protocol has them: each set once."""
    seen: list[Any] = []
    for scores in runs:
        for rows in scores.get("reference", {}).values():
            if rows in seen:
                continue
            seen.append(rows)
            columns = list(dict.fromkeys(k for row in rows.values() for k, v in row.items() if not isinstance(v, str)))
            table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, _GAP, 0, 0), style="dim")
            table.add_column("to compare with", no_wrap=True)
            for column in columns:
                table.add_column(column.replace("_", " "), justify="right")
            for name, row in rows.items():
                table.add_row(plain(name), *(_bare(row.get(column)) for column in columns))
            yield table
            yield Text()


def _bare(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _of_intervals(runs: Mapping[str, Scores], narrow: str) -> list[str]:
    """What the brackets are, and which are too narrow."""
    found = [d["interval"] for r in runs.values() for d in r["details"].values() if "interval" in d]
    if not found:
        return []
    drawn = dict.fromkeys(f"{i['n_users']} users" if "n_users" in i else f"{i['n_sessions']} sessions" for i in found)
    said = [f"[low, high]: 95 % interval over {', '.join(drawn)} (bootstrap)"]
    if any(i.get("few") for i in found):
        said.append(f"over fewer than 6 an interval is too narrow, and {narrow}")
    return said


def _empty(scores: Scores) -> str | None:
    """A memory that mostly had nothing says little of itself by its scores."""
    counts = scores["counts"]
    said = mostly_empty(counts.get("recalls", 0), counts.get("empty_return", 0))
    return None if said is None else f"the memory {said} (there may have been nothing yet to recall)"


def remarks(runs: Mapping[str, Scores], narrow: str = "shown dim") -> list[str]:
    """What a reader must know of the figures: where latencies come from, what is dim, why some are missing.

    Args:
        runs: their scores, by name.
        narrow: how intervals that are too narrow are told from others, as the sentence says it.
    """
    sources = ", ".join(dict.fromkeys(str(r["latency_source"]) for r in runs.values()))
    said = [f"latency: {sources}; n: events a figure rests on, few where under 10"] if runs else []
    said += _of_intervals(runs, narrow)
    said += [
        f"{n}: the agent or its memory was given the truth" for n, scores in runs.items() if scores.get("sees_truth")
    ]
    for name, scores in runs.items():
        matchers = (scores["details"].get(metric, {}).get("matcher") for metric in HEADLINES[scores["protocol"]])
        said += [f"{name}: {matcher}" for matcher in dict.fromkeys(filter(None, matchers))]
        if n := scores["counts"].get("interrupted"):
            until = f"{scores['counts']['seconds_played']} s were played"
            said.append(f"{name}: {n} interrupted, scored as if the session had ended where its log does; {until}")
        if n := scores.get("notes", {}).get(UNCHECKED):
            said.append(
                f"{name}: {counted(n, 'recalled item')} could not be checked for the future (no latest_source_ns)"
            )
        if n := scores.get("notes", {}).get(UNWRITTEN):
            said.append(
                f"{name}: the model gave no text that can be used for {counted(n, 'persona')}: they are extractive"
            )
        if (empty := _empty(scores)) is not None:
            said.append(f"{name}: {empty}")
    missing: dict[str, None] = {}
    for scores in runs.values():
        if not _played(scores):
            missing |= dict.fromkeys(d["reason"] for d in scores["details"].values())
            continue
        if n := scores["counts"]["sessions_without_truth"]:
            protocol = scores["protocol"]
            of = f"{n} of {_played(scores)} sessions have no truth for protocol {protocol}"
            missing[f"{of} (no {TRUTH[protocol]}): latency only"] = None
        for metric in HEADLINES[scores["protocol"]]:
            detail = scores["details"].get(metric)
            if detail is not None and detail["value"] is None:
                missing[f"{metric}: {detail['reason']}"] = None
    return [*said, *missing]
