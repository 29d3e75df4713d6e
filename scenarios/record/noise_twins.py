"""The same task twice: as it is, and with what a real morning puts in between."""

from __future__ import annotations

from collections.abc import Callable

from scenarios.record.desk import Desk
from scenarios.record.needs import Case, Need, Script
from scenarios.record.pictures import boat

DATES = Need(
    id="dates",
    intention="Format Conversion",
    query="rewrite all dates of this list as YYYY-MM-DD, one a line",
    why="Two dates of fourteen have been typed anew in the form that the mail asks for: with the second the pattern "
    "is plain, and the window opens with the first snapshot of it. Two more follow by hand. Closes when she leaves "
    "the list for the chat, ten dates undone.",
)
THREAD = Need(
    id="thread",
    intention="Summarization",
    query="what did the group decide about the winter sampling, in two lines",
    why="The thread of forty messages has been read from its end to its start and down again; opens when her wheel "
    "comes to rest at the top of it once more. Closes with the first key of her question to the others for just that.",
)
DATES_AS_WRITTEN = (
    "3 Nov 26", "Nov. 5th, 2026", "9.11.26", "Tue 10 Nov", "12/11/2026", "16 Nov 26", "Nov. 18th, 2026", "19.11.26",
    "Mon 23 Nov", "24/11/2026", "25 Nov 26", "Nov. 26th, 2026", "27.11.26", "Mon 30 Nov",
)  # fmt: skip


def prepare(desk: Desk) -> None:
    desk.file("sampling/dates.txt", "".join(f"{line}\n" for line in DATES_AS_WRITTEN))
    desk.file("Pictures/boat.png", boat())
    desk.browser("mail.example/dates", "chat.example/sampling", "news.example")
    desk.key("ctrl+1")
    desk.wait_for("Sampling dates")
    desk.terminal("nora: bash", geometry="70x16+600+60")
    desk.editor("sampling/dates.txt")
    desk.raise_("Chromium")
    desk.rest_at(1000, 500)


def task(desk: Desk, between: Callable[[Desk, int], None]) -> None:
    """The task; ``between`` is called where something may come in between."""
    desk.look(16)
    between(desk, 1)
    desk.raise_("dates.txt")
    desk.look(12)
    desk.new_line(1, "2026-11-03")
    desk.look(2)
    desk.new_line(2, "2026-11-05")
    desk.opens(DATES)
    desk.look(5)
    desk.new_line(3, "2026-11-09")
    between(desk, 2)
    desk.look(3)
    desk.new_line(4, "2026-11-10")
    desk.key("ctrl+s")
    desk.look(14)
    desk.closes(DATES)
    desk.raise_("Chromium")
    between(desk, 3)
    desk.key("ctrl+2")
    desk.wait_for("Sampling — Messenger")
    desk.look(7)
    desk.scroll(-14, pause=1.7)
    desk.look(5)
    desk.scroll(14, pause=0.6)
    desk.look(3)
    desk.scroll(-14, pause=0.35)
    desk.opens(THREAD)
    desk.look(9)
    between(desk, 4)
    desk.scroll(8, pause=1)
    desk.look(7)
    desk.scroll(10, pause=0.25)
    desk.click("say")
    desk.closes(THREAD)
    desk.type("Sorry, I am lost. What did we decide, in two lines?")
    desk.key("Return")
    desk.look(10)
    between(desk, 5)
    desk.raise_("dates.txt")
    desk.look(16)


def nothing_between(desk: Desk, _place: int) -> None:
    """The clean twin."""


def something_between(desk: Desk, place: int) -> None:
    """The noisy twin: browsing, wrong windows, a picture, a pause."""
    if place == 1:
        desk.key("ctrl+3")
        desk.wait_for("Harbour News")
        desk.scroll(4, pause=2)
        desk.look(5)
        desk.key("ctrl+1")
        desk.look(3)
    elif place == 2:
        for _ in range(2):
            desk.raise_("nora: bash")
            desk.look(1.5)
            desk.raise_("dates.txt")
            desk.look(1.5)
    elif place == 3:
        desk.look(20)
        desk.files("Pictures")
        desk.look(4)
        desk.picture("Pictures/boat.png")
        desk.look(6)
        desk.key("q")
        desk.key("ctrl+w")
        desk.raise_("Chromium")
    elif place == 4:
        desk.key("ctrl+3")
        desk.look(4)
        desk.key("ctrl+1")
        desk.look(2)
        desk.key("ctrl+2")
        desk.look(2)
    else:
        desk.raise_("nora: bash")
        desk.type("ls")
        desk.key("Return")
        desk.look(4)
        desk.raise_("Chromium")
        desk.key("ctrl+3")
        desk.scroll(3, pause=2)
        desk.look(18)


_QUIET = (
    "A first date typed anew is no pattern yet. A thread read once is just read. {noise}After her question in the "
    "chat the need is known to everybody, and an offer comes too late; the list at the end is only looked at."
)


def _script(kind: str, between: Callable[[Desk, int], None], purpose: str, about: str, noise: str) -> Script:
    return Script(
        folder=f"noise_twins/{kind}",
        home="nora",
        about=about,
        purpose=purpose,
        seed=109,
        prepare=prepare,
        play=lambda desk: task(desk, between),
        cases=(
            Case(
                name=f"noise-twins-{kind}",
                person="nora",
                description=f"Dates to be rewritten, a thread to be summed up: {kind}.",
                needs=(DATES, THREAD),
                quiet=_QUIET.format(noise=noise),
                version_of="noise-twins",
            ),
        ),
    )


SCRIPTS = (
    _script(
        "clean",
        nothing_between,
        "a list to be rewritten, a thread to be summed up",
        "Nora is asked for a list of dates in one form, rewrites four of them by hand, reads a long thread up, down "
        "and up again, asks what it comes to, and looks at her list. The twin of this recording is "
        "[noisy](../noisy/README.md): the same task, with what has nothing to do with it in between.",
        "",
    ),
    _script(
        "noisy",
        something_between,
        "the same with browsing, wrong windows and pauses in between: what is noise worth?",
        "The task of [clean](../clean/README.md), but Nora also reads the news, goes to the wrong window and back, "
        "lets the screen stand, looks at a picture, and switches tabs without aim. The needs are the same two.",
        "News, wrong windows, the picture and the pauses add nothing that is wanted; where they fall into a window the "
        "need goes on, for the work is still undone. ",
    ),
)
