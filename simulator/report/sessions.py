"""The sessions of runs in a report: their timelines, a table of them, and what happened in all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory.view import RECALLS
from scorers.feedback import SAID
from simulator.cli.show import ALWAYS, CLASSES, IF_ANY, happened
from simulator.report.facts import QUALITY, RunFacts
from simulator.report.naming import without_folders
from simulator.report.parts import Html, number, paragraph, table
from simulator.report.session_figure import KEY, MOST_SIGNS, session_figure
from simulator.report.strips import strips
from simulator.report.svg import escaped

__all__ = ["MOST_ROWS", "MOST_SESSIONS", "counts", "errors", "sessions"]

MOST_SESSIONS = 60
"""Sessions whose timelines are drawn, over all runs; the table of sessions holds the rest."""
MOST_ROWS = 400
"""Sessions of a table."""

_ANSWERS = (*((name, name) for name in SAID), ("none", "n_without"))  # what people said of offers that surfaced


def sessions(facts: Sequence[RunFacts]) -> Iterator[str]:
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


def counts(facts: Sequence[RunFacts]) -> Html:
    """What happened, how often; a dash where it is not known."""
    rows: list[tuple[object, ...]] = []
    told = [happened(f.scores) for f in facts]
    for name in (*ALWAYS, *IF_ANY, *RECALLS):
        found = [of_run.get(name) for of_run in told]
        if name in ALWAYS or any(found):
            rows.append((name, *found))
    offers = [[o["class"] for u in f.scores["units"].values() for o in u.get("offers", ())] for f in facts]
    rows += [(f"offers {c}", *(of_run.count(c) for of_run in offers)) for c in CLASSES if any(offers)]
    said = [f.scores["details"].get("acceptance_rate") or {} for f in facts]
    rows += [(f"answers: {name}", *(of_run.get(key) for of_run in said)) for name, key in _ANSWERS if any(said)]
    return table(("count", *(f.name for f in facts)), rows, "Counts; errors are an outcome of their own")


def errors(facts: Sequence[RunFacts]) -> Html:
    """What failed, by kind."""
    rows = [(f.name, e["kind"], e["n"], without_folders(e["text"])) for f in facts for e in f.scores.get("errors", [])]
    rows += [(f.name, f"{u['kinds']} more kinds", u["n"], "in scores.json") for f in facts
             if (u := f.scores.get("errors_untold", {})).get("kinds")]  # fmt: skip
    return table(("run", "error", "n", "text"), rows, "Errors of agent and memory")
