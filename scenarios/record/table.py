"""``scenarios/README.md``: the table of all scenarios, from the recordings that are there."""

from __future__ import annotations

from collections.abc import Iterable

from scenarios.record.needs import Script
from scenarios.record.take import SCENARIOS, n_snapshots, windows

__all__ = ["table_text"]

_HEAD = """# Scenarios

Sessions that come with proact: real applications on a real X display, driven by scripts and recorded. The people, their
past and their data are made up.

    proact run scenarios                      # all of them
    proact run scenarios/coding_error         # one
    proact dataset check scenarios

A need is given as its window in seconds since the first snapshot. `desktop` was recorded first, by an earlier script;
all others by `proact record`. They last three to five minutes each.

| scenario | snapshots | needs | what it is for |
|---|---|---|---|
| [desktop](desktop/README.md) | 200 | four, see there | a bit of everything, 1920x1080; a trajectory for three people |
"""
_TAIL = """
`recipes/` is no scenario: [recipes](../docs/generating.md) from which `proact dataset generate` makes up users with
known habits, for tests of memories and of size.

## Who

Nora, Tomás and Mei do not exist. `people/` holds a profile and two weeks of history for each: [past.py](people/past.py)
the rules by which a past is drawn, [make_history.py](people/make_history.py) the tables, and what came of them. The
windows of the recordings are among those of the past, with questions now and then; no title says when.

## Recording them anew

    .venv/bin/python -m scenarios.record coding_error      # one, as long as it lasts
    .venv/bin/python -m scenarios.record all
    .venv/bin/python -m scenarios.record --words all       # no take: only scenario files and these pages

It needs a Linux machine with xvfb, openbox, tint2, xdotool, x11-xserver-utils, dbus-x11, chromium, xterm, mousepad,
gnumeric, pcmanfm, feh and fonts (DejaVu; WenQuanYi for the Chinese page), and git for two of the scripts. Each
recording has a module in `record/`, in which script and needs stand side by side: the script says when the screen shows
a need (`desk.opens`) and which action ends it (`desk.closes`). A window opens with the first snapshot that shows the
need and closes at that action; `actions.jsonl` has everything that was done, on the session's clock. The same script
takes the same course with the same pauses; instants differ by what the machine needs for it, so another take has other
pictures and slightly other windows. A take with a look that came half a second late, or not at all, is refused, and
what was there before stays: let the machine do nothing else meanwhile.

Windows are defended, one by one, in the README.md of each recording. Whoever sees one otherwise changes the script, and
says so in its `why`.
"""


def table_text(made: Iterable[tuple[str, Script]]) -> str:
    """The page, from modules' names and their scripts."""
    return _HEAD + "".join(_row(script) for _, script in made) + _TAIL


def _row(script: Script) -> str:
    folder = SCENARIOS / script.folder
    needs = []
    for case in script.cases:
        found = (
            "; ".join(f"{w.need.intention} {w.opens_s:.0f}-{w.closes_s:.0f}" for w in windows(case, folder)) or "none"
        )
        needs.append(f"{case.person}: {found}" if len(script.cases) > 1 else found)
    name = f"[{script.folder}]({script.folder}/README.md)"
    return f"| {name} | {n_snapshots(folder)} | {'<br>'.join(needs)} | {script.purpose} |\n"
