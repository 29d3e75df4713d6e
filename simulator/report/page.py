"""One HTML file that holds all of a run, or of several: figures, sessions, configuration, caveats.

It needs no script, no other file and no network, and prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scorers.feedback import SAID
from scorers.headlines import HEADLINES
from scorers.statistics.interval import Interval
from simulator.cli.show import ALWAYS, CLASSES, IF_ANY, invalid, remarks
from simulator.cli.speak import counted
from simulator.core.errors import InputError, ProactError, UsageError
from simulator.play.assemble import as_path
from simulator.play.comparing import Comparison, Row, compare
from simulator.play.kept import read_scores
from simulator.play.scoring import Opened, open_folder, score_folder
from simulator.play.whereabouts import told_since
from simulator.report.charts import Change, Point, curves, ecdf, forest, pareto
from simulator.report.curves import f1_by_deadline, latencies
from simulator.report.frames import Frame, Recordings
from simulator.report.parts import Html, document, flat, listed, number, paragraph, piece, section, table
from simulator.report.session_figure import KEY, MOST_SIGNS, session_figure
from simulator.report.strips import strips
from simulator.report.svg import clean, escaped, figure
from simulator.report.telling import Telling, telling
from simulator.runs.folder import read_run
from simulator.runs.lock import status_now
from simulator.runs.stored import stored

__all__ = ["Made", "RunFacts", "changes_of", "make", "point_of", "read_facts"]

MOST_SESSIONS = 60
"""Sessions whose timelines are drawn, over all runs; the table of sessions holds the rest."""
MOST_ROWS = 400
"""Sessions of a table."""
QUALITY = {"stream": "F1_rt", "moments": "F1", "trajectory": "S_final"}
"""The figure by which a run of each protocol is drawn against its latency."""
_SINCE = ("{name}: what was needed was told after the run, in {where}: it counts here, as with `proact score --truth`; "
          "scores.json knows nothing of it")  # fmt: skip
_ANSWERS = (*((name, name) for name in SAID), ("none", "n_without"))  # what people said of offers that surfaced
_OF_TRUTH = ("opportunities", "unservable")  # counts that are unknown, not 0, where nothing is known of needs


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


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run as it is reported.

    Attributes:
        name: the end of its path that tells it from the others.
        told: its ``run.json``. ``opened`` is None where its logs are not read; ``notes`` say why they could not be.
    """

    name: str
    folder: Path
    told: Mapping[str, Any]
    scores: Mapping[str, Any]
    opened: Opened | None
    notes: tuple[str, ...] = field(default=())


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
    moments, n_frames = _moments(facts, recordings, frames)
    parts = [
        _head(facts),
        section("Scores", _scores(facts), listed(_caveats(facts)), id_="scores"),
        _against(facts, force),
        section("Quality and time", _beside(_curves(facts)), id_="time"),
        moments,
        section("Sessions", *_sessions(facts), id_="sessions"),
        section("What happened", _counts(facts), _errors(facts), id_="counts"),
        *(_configuration(f) for f in facts),
    ]
    private = any(r.hidden() for r in recordings)
    notes = _privacy(private, n_frames)
    body = "".join(parts) + section("About this report", listed([*notes, *_about(facts, frames, force)]), id_="about")
    html = document(", ".join(clean(f.name, 60) for f in facts), body)
    return Made(html, n_frames, private, tuple(notes))


def read_facts(runs: Sequence[str | Path], *, logs: bool = True) -> list[RunFacts]:
    """Read runs; their names are the ends of their paths that tell them apart. Without ``logs`` none is opened.

    Raises:
        InputError: not a run folder.
        UsageError: one that is named twice.
    """
    paths = [as_path("run", run) for run in runs]
    if len({p.resolve() for p in paths}) < len(paths):
        raise UsageError("a run is named twice; name each once")
    return [_read(name, path, logs=logs) for name, path in zip(_names(paths), paths, strict=True)]


def _names(paths: Sequence[Path]) -> list[str]:
    whole = [p.resolve().parts for p in paths]
    longest = max((len(parts) for parts in whole), default=1)
    tries = (["/".join(parts[-n:]) for parts in whole] for n in range(1, longest + 1))
    return next((names for names in tries if len(set(names)) == len(names)), [p.name for p in paths])


def _read(name: str, path: Path, *, logs: bool) -> RunFacts:
    told = read_run(path)
    scores, notes, opened = read_scores(path), list[str](), None
    try:
        opened = open_folder(path) if logs else None
    except ProactError as error:
        if scores is None:
            raise
        notes.append(f"{name}: its logs cannot be read, so there are no timelines: {error}")
    if scores is None:
        scores = score_folder(path, save=False)
        notes.append(f"{name}: scored for this report; scores.json was absent, or not of what is there now")
    if opened is not None and (where := _told_since(path, told, opened)) is not None:
        with suppress(InputError):  # of one session, and this run has more
            opened = open_folder(path, truth=where)
            scores = score_folder(path, truth=where, save=False)
            notes.append(_SINCE.format(name=name, where=where))
    return RunFacts(name, path, told, scores, opened, tuple(notes))


def _told_since(path: Path, told: Mapping[str, Any], opened: Opened) -> Path | None:
    """The scenario that says by now what was needed in a run that knew nothing of it."""
    if any(u.has_truth(opened.context.protocol) for u in opened.units):
        return None
    since = told_since(path, told, opened.units[0].key)
    return None if since is None else since[1]


def _head(facts: Sequence[RunFacts]) -> Html:
    said = []
    for f in facts:
        run = f.scores.get("run", {})
        line = "; ".join(f"{k.replace('_', ' ')} {v}" for k, v in run.items())
        status = status_now(str(f.told["status"]), f.folder)
        of = f"{line}; protocol {f.scores['protocol']}; {counted(f.scores['n_units'], 'session')}; status {status}"
        written = str(f.told.get("written") or "")[:16].replace("T", " ")
        what = Html(f'<span class="long">{escaped(of, 900)}</span>')
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
        few = " (few)" if interval.get("few") else ""
        said += f" [{number(interval['low'])}, {number(interval['high'])}]{few}"
    return Html(f'{said} <span class="soft">n {detail["n"]}</span>')


def _caveats(facts: Sequence[RunFacts]) -> list[str]:
    bad = [sentence for f in facts for sentence in invalid(f.folder)]
    unfinished = [f"{f.name} did not come to its end (status {status_now(f.told['status'], f.folder)})" for f in facts
                  if f.told["status"] != "done"]  # fmt: skip
    lost = [f"{f.name}: logs are gone: {', '.join(gone[:5])}" for f in facts if (gone := f.scores["lost"])]
    return [*bad, *unfinished, *lost, *(n for f in facts for n in f.notes), *remarks({f.name: f.scores for f in facts})]


def _against(facts: Sequence[RunFacts], force: bool) -> Html:
    """Each run against the first, or the sentence why not."""
    if len(facts) < 2:
        return Html("")
    found, refused = _compared(facts[0], facts[1:], force)
    parts: list[str] = [paragraph(Html(f"<b>Not compared:</b> {escaped(error, 900)}"), "warning") for error in refused]
    for other, one in found:
        parts += _comparison(one, facts[0].name, other.name, n=len(found))
    return section("Compared", *parts, id_="compared")


def _compared(
    first: RunFacts, others: Sequence[RunFacts], force: bool
) -> tuple[list[tuple[RunFacts, Comparison]], list[ProactError]]:
    """All that can be held against the first, at once as ``proact compare`` does (Holm is over all); why others not."""

    def against(some: Sequence[RunFacts]) -> list[Comparison]:
        return compare([first.folder, *(f.folder for f in some)], force=force)

    try:
        return list(zip(others, against(others), strict=True)), []
    except ProactError as error:
        if len(others) == 1:
            return [], [error]
    fine, refused = list[RunFacts](), list[ProactError]()
    for other in others:
        try:
            against([other])
        except ProactError as error:
            refused.append(error)
        else:
            fine.append(other)
    return list(zip(fine, against(fine), strict=True)) if fine else [], refused


def _comparison(c: Comparison, first: str, second: str, n: int) -> Iterator[str]:
    for reason in c.forced:
        yield paragraph(Html(f"<b>Forced:</b> {escaped(reason)}"), "warning")
    label = f"differences of {second} from {first}, with 95 % intervals"
    said = f"{second} against {first}, paired over {counted(c.n_sessions, 'session')}; each row on its own scale. "
    said += "p by sign-flip over whole sessions, Holm over " + ("the table." if n == 1 else f"all {n} comparisons.")
    yield figure(forest(changes_of(c), label, first=first, second=second), said)
    if (f := c.flips) is not None:
        rows = [(f"right by {first}", f.both, len(f.only_first)), (f"wrong by {first}", len(f.only_second), f.neither)]
        yield table((f"{f.of}", f"right by {second}", f"wrong by {second}"), rows, f"{f.of}: who got which right")
        for name, items in ((first, f.only_first), (second, f.only_second)):
            if items:
                more = f", and {len(items) - 20} more" if len(items) > 20 else ""
                yield paragraph(f"Only {name}: {'; '.join(items[:20])}{more}")


def changes_of(c: Comparison) -> list[Change]:
    """The rows of a comparison as those of a forest plot."""
    return [_change(row) for row in c.rows]


def _change(row: Row) -> Change:
    name, found = f"{row.metric} [{row.unit}]", row.found
    if found is None or found.difference is None:
        return Change(name, row.direction, None, note=row.reason or "no difference can be told")
    ends = found.interval if isinstance(found.interval, Interval) else None
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    return Change(name, row.direction, found.difference, low, high, row.adjusted)


def _curves(facts: Sequence[RunFacts]) -> Iterator[str]:
    points = [p for f in facts if (p := point_of(f.name, f.scores)) is not None]
    if points:
        quality = QUALITY[facts[0].scores["protocol"]]
        said = f"{quality} against the 95th percentile of latency, with 95 % intervals; dashed: one second."
        yield figure(pareto(points, quality, f"{quality} against latency"), said)
    lines = {f.name: f1_by_deadline(f.scores) for f in facts}
    if any(lines.values()):
        yield figure(
            curves(lines, ("τ: seconds after a need opened", "F1"), "F1 if only help within τ counts"),
            "Quality against the deadline: F1 if only help that came within τ of a need's opening counts.",
        )
    shares = {f.name: latencies(f.scores) for f in facts}
    if shares and all(ms <= 0 for of_run in shares.values() for ms, _ in of_run):
        shares = {}  # an instant model: there is nothing to draw
    if any(shares.values()):
        yield figure(
            ecdf(shares, "how long decisions took"), "Latency: the share of decisions that took at most so long."
        )


def _beside(parts: Iterator[str]) -> str:
    inner = "".join(parts)
    return f'<div class="figures">{inner}</div>' if inner else ""


def point_of(name: str, scores: Mapping[str, Any], colour: str = "", shape: str = "") -> Point | None:
    """A run as a point of quality against latency; None where one of the two is unknown."""
    quality = scores["details"].get(QUALITY[scores["protocol"]])
    latency = scores["details"].get("scheduled_latency@p95")
    if quality is None or latency is None or quality["value"] is None or latency["value"] is None:
        return None
    ends = [(i["low"], i["high"]) if (i := d.get("interval")) else None for d in (latency, quality)]
    return Point(name, latency["value"], quality["value"], ends[0], ends[1], colour or name, shape)


def _sessions(facts: Sequence[RunFacts]) -> Iterator[str]:
    """The timelines, those of several runs below each other, then a table of all sessions."""
    told = [{s.key: s for s in strips(f.scores)} for f in facts]
    logs = [{} if f.opened is None else {u.key: u.log for u in f.opened.units} for f in facts]
    keys = list(dict.fromkeys(key for of_run in told for key in of_run))
    shown = keys[: max(1, MOST_SESSIONS // len(facts))]
    if shown:
        yield paragraph(KEY, "soft")
    most = MOST_SIGNS // max(1, len(shown) * len(facts))
    for key in shown:
        for f, strips_of, logs_of in zip(facts, told, logs, strict=True):
            if key in strips_of:
                name = f"{key}, {f.name}" if len(facts) > 1 else key
                opened = f'<div class="session" tabindex="0" role="group" aria-label="{escaped(name, 80)}">'
                yield f"{opened}{session_figure(strips_of[key], logs_of.get(key), name, most)}</div>"
    if len(keys) > len(shown):
        yield paragraph(f"{len(keys) - len(shown)} more sessions are not drawn; proact view shows each.")
    rows = []
    for key in list(dict.fromkeys(k for f in facts for k in f.scores["units"]))[:MOST_ROWS]:
        for f, strips_of in zip(facts, told, strict=True):
            unit = f.scores["units"].get(key)
            if unit is not None:
                counts = unit["counts"]
                known = key in strips_of and strips_of[key].note is None
                signs = strips_of[key].counts.values() if known else [None] * 4
                quality = unit["scores"].get(QUALITY[f.scores["protocol"]])
                failed = counts["error"] + counts["unparsed"]
                whose = [f.name] if len(facts) > 1 else []
                rows.append((key, *whose, number(quality), counts["decisions"], failed, *signs))
    quality = QUALITY[facts[0].scores["protocol"]]
    whose = ["run"] if len(facts) > 1 else []
    head = ("session", *whose, quality, "decisions", "failed", "hit", "missed", "late", "unwanted")
    yield table(head, rows, "Sessions")
    n_all = sum(len(f.scores["units"]) for f in facts)
    if n_all > len(rows):
        yield paragraph(f"{n_all - len(rows)} more rows are in scores.json.")


def _counts(facts: Sequence[RunFacts]) -> Html:
    rows: list[tuple[object, ...]] = []
    for name in (*ALWAYS, *IF_ANY):
        found = [_count(f, name) for f in facts]
        if name in ALWAYS or any(found):
            rows.append((name, *found))
    offers = [[o["class"] for u in f.scores["units"].values() for o in u.get("offers", ())] for f in facts]
    rows += [(f"offers {c}", *(of_run.count(c) for of_run in offers)) for c in CLASSES if any(offers)]
    said = [f.scores["details"].get("acceptance_rate") or {} for f in facts]
    rows += [(f"answers: {name}", *(of_run.get(key) for of_run in said)) for name, key in _ANSWERS if any(said)]
    return table(("count", *(f.name for f in facts)), rows, "Counts; errors are an outcome of their own")


def _count(f: RunFacts, name: str) -> int | None:
    counts: Mapping[str, int] = f.scores["counts"]
    n_played = f.scores["n_units"] - counts.get("not_played", 0)
    unknown = name in _OF_TRUTH and counts.get("sessions_without_truth", 0) >= n_played
    return None if unknown else counts.get(name)


def _errors(facts: Sequence[RunFacts]) -> Html:
    rows = [(f.name, e["kind"], e["n"], e["text"]) for f in facts for e in f.scores.get("errors", [])]
    rows += [(f.name, f"{u['kinds']} more kinds", u["n"], "in scores.json") for f in facts
             if (u := f.scores.get("errors_untold", {})).get("kinds")]  # fmt: skip
    return table(("run", "error", "n", "text"), rows, "Errors of agent and memory")


def _moments(facts: Sequence[RunFacts], recordings: Sequence[Recordings], most: int) -> tuple[Html, int]:
    """The most telling moments of each run with their pictures, and how many pictures that are."""
    if most <= 0:
        return Html(""), 0
    parts, n_frames, share = list[str](), 0, -(-most // len(facts))
    for f, of in zip(facts, recordings, strict=True):
        found = [] if f.opened is None else telling(f.opened, min(share, most - len(parts)))
        at: dict[str, list[int]] = {}
        for one in found:
            at.setdefault(one.unit, []).append(one.t_ns)
        pictures = {key: of.frames(key, instants) for key, instants in at.items()}
        for one in found:
            frame = pictures[one.unit][one.t_ns]
            n_frames += frame.data is not None
            parts.append(_moment(one, frame, f.name if len(facts) > 1 else ""))
    return section("Telling moments", *parts, id_="moments"), n_frames


def _moment(one: Telling, frame: Frame, run: str) -> str:
    where = ", ".join(filter(None, (run, one.unit, f"{one.t_ns / 1e9:.1f} s")))
    picture = (
        f'<img src="{frame.data}" width="{frame.width}" height="{frame.height}" alt="the screen at that moment">'
        if frame.data is not None
        else f'<p class="no-picture">{escaped(frame.note)}</p>'
    )
    note = f'<p class="soft">{escaped(frame.note)}</p>' if frame.data is not None and frame.note else ""
    agent = f"<blockquote>{escaped(one.agent, 1000)}</blockquote>" if one.agent else ""
    story = "".join(f"<p>{escaped(s, 1500)}</p>" for s in one.story)
    return (
        f'<article class="moment"><h3>{escaped(one.kind)}</h3><p class="soft">{escaped(where)}</p>{picture}{note}'
        f"<p><b>{escaped(one.title, 600)}</b></p>{agent}{story}</article>"
    )


_OF_A_UNIT = ("session", "user", "dataset", "truth", "recording", "person", "end_ns", "utc_anchor_ns", "period_ns")


def _configuration(f: RunFacts) -> Html:
    """What was asked for, what held for every unit, on what machine, and of which data."""
    units = f.told["resolved"]
    first: Mapping[str, Any] = next(iter(units.values()), {})
    shared = {k: v for k, v in first.items() if k not in _OF_A_UNIT and all(u.get(k) == v for u in units.values())}
    asked = [(f"given: {k}", v) for k, v in flat(f.told.get("given", {}))]
    about = [("folder", f.folder.name), ("identity", f.told["identity"]), ("proact", f.told.get("proact")),
             ("seed", f.told.get("seed"))]  # fmt: skip
    data = [(key, u.get("session"), _hash(u.get("dataset")), _hash(u.get("truth")), _hash(u.get("recording")))
            for key, u in sorted(units.items())[:MOST_ROWS]]  # fmt: skip
    parts = [
        table(("setting", "value"), [*about, *asked, *flat(shared)], f"Configuration of {f.name}"),
        table(("fact", "value"), flat(f.told.get("host", {})), "Machine that played it"),
        table(("unit", "session", "data set (SHA-256)", "truth (SHA-256)", "recording"), data, "Data"),
    ]
    return section(f"Configuration: {f.name}", *parts)


def _hash(value: object) -> Html | None:
    return None if value is None else Html(f'<code title="{escaped(value)}">{escaped(str(value)[:16])}</code>')


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
    words = escaped(" ".join([*(str(f.folder) for f in facts), *options]), 900)
    command = Html(f"Made by <code>proact report {words}</code>; the same runs and options give the same file.")
    return [command, piece("Classes and figures are those of scores.json; what each means: docs/scores.md.")]
