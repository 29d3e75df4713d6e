"""``proact dataset privacy test``: what exclusion rules make of a window, or of all that are on the screen now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit, UsageError

if TYPE_CHECKING:
    from simulator.recorder.exclusions import Exclusions
    from simulator.recorder.windows import Window

__all__ = ["try_rules"]


def try_rules(
    rules: Annotated[Path | None, Parameter(help="The file of your rules; default: the built-in list alone.")] = None,
    /,
    *,
    exclude: Annotated[Path | None, Parameter(help="The same file, named as `record` and `live` name it.")] = None,
    app: Annotated[str | None, Parameter(help="An application, such as chromium.")] = None,
    title: Annotated[str | None, Parameter(help="The title of a window.")] = None,
    window_class: Annotated[str | None, Parameter(help="The platform's class of a window.")] = None,
    now: Annotated[bool, Parameter(help="All windows that are on the screen now.", negative="")] = False,
    json: AsJson = False,
) -> int:
    """Say what exclusion rules make of a window.

    Whether a recording would leave it out, by which rule, and what of its title it would keep. Nothing is recorded.
    Without a window, only the file is checked. Exit code 2 for a file with a fault.
    """
    from simulator.recorder.exclusions import Exclusions
    from simulator.recorder.windows import Window

    voice = Voice(as_json=json)
    if rules is not None and exclude is not None:
        raise UsageError("a file of rules twice: give it alone, or with --exclude")
    exclusions = Exclusions.load(exclude if rules is None else rules)
    windows: list[Window] = []
    if app is not None or title is not None or window_class is not None:
        windows.append(Window(app, title, window_class, kind="normal"))
    skip = None
    if now:
        seen, skip = _seen_now(exclusions)
        windows += seen
    found = [_judged(exclusions, window, windows if now else [window]) for window in windows]
    for one in found:
        voice.record("judged", **one)
    if not json:
        voice.say(_report(exclusions, found, skip))
    voice.record("done", rules=[rule.name for rule in exclusions.rules], judged=len(found), skip=skip)
    return Exit.DONE


def _seen_now(exclusions: Exclusions) -> tuple[list[Window], str | None]:
    """The windows on the screen, and why a tick would not be recorded at all."""
    from simulator.recorder.windows import NoWindows, choose

    desktop = choose()
    if isinstance(desktop, NoWindows):
        raise UsageError(f"which windows are on the screen cannot be told: {desktop.why}")
    try:
        visible = desktop.visible()
        verdict = exclusions.judge(desktop.foreground(), visible)
    finally:
        desktop.close()
    return visible or [], verdict.skip


def _judged(exclusions: Exclusions, window: Window, beside: list[Window]) -> dict[str, Any]:
    why = exclusions.reasons(beside)[beside.index(window)]
    kept = None if why is not None else exclusions.titles.applied(window).title
    return {"app": window.app, "title": window.title, "left_out": why, "title_kept": kept}


def _report(exclusions: Exclusions, found: list[dict[str, Any]], skip: str | None) -> Any:
    from rich.console import Group
    from rich.table import Table

    if not found:
        names = ", ".join(rule.name for rule in exclusions.rules)
        return plain(f"the rules are in order: {names}")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("application", "title", "recorded as"):
        table.add_column(head, overflow="fold")
    for one in found:
        kept = "(no title)" if one["title_kept"] is None else one["title_kept"]
        shown = kept if one["left_out"] is None else f"left out: {one['left_out']}"
        table.add_row(plain(one["app"] or "(unknown)"), plain(one["title"] or "(none)"), plain(shown))
    last = [] if skip is None else [plain(f"nothing would be recorded now: {skip}")]
    return Group(table, *last)
