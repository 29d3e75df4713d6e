"""A command that counts wrong, a conversation in between, and the command again."""

from __future__ import annotations

from scenarios.record.desk import Desk
from scenarios.record.needs import Case, Need, Script
from scenarios.record.pictures import boat, whiteboard

_QUERY = "my awk line should count the requests over 500 ms by hour, but it counts 87ms and leaves 1240ms out"
BEFORE = Need(
    id="awk-before",
    intention="Coding/Programming",
    query=_QUERY,
    why="Her command has printed counts; she looks at what was counted, and 87ms is among what ought to be over "
    "500: opens with the first snapshot of that. Closes when she turns to the chat, where somebody waits: "
    "interrupted, unsolved.",
    acts=False,
)
AFTER = Need(
    id="awk-after",
    intention="Coding/Programming",
    query=_QUERY,
    why="The same need, resumed: opens with the first snapshot of the terminal when she is back. Closes with the "
    "first key of the line that cuts off the unit before counting: found out alone.",
)


def prepare(desk: Desk) -> None:
    took = (231, 87, 512, 1240, 98, 640, 92, 305, 77, 1033, 512, 61, 903, 420, 88, 730)
    lines = [f"2026-11-28T{9 + n // 4:02}:{7 * n % 60:02}:22 GET /tide {ms}ms\n" for n, ms in enumerate(took)]
    desk.file("logs/access.log", "".join(lines))
    desk.file("Pictures/whiteboard.png", whiteboard())
    desk.file("Pictures/boat.png", boat())
    desk.browser("chat.example/tide", "news.example")
    desk.key("ctrl+1")
    desk.wait_for("Messenger")
    desk.terminal("logs: bash", "logs", geometry="100x28+60+50")


def play(desk: Desk) -> None:
    desk.look(8)
    desk.type("head -4 access.log")
    desk.key("Return")
    desk.look(9)
    desk.type("awk '{print $4}' access.log | sort | head -3")
    desk.key("Return")
    desk.look(7)
    desk.type("awk '$4 > 500 {n[substr($1, 12, 2)]++} END {for (h in n) print h, n[h]}' access.log")
    desk.key("Return")
    desk.look(7)
    desk.type("awk '$4 > 500 {print $1, $4}' access.log")
    desk.key("Return")
    desk.opens(BEFORE)
    desk.look(15)
    desk.type("awk '$4 > \"500\" {print $1, $4}' access.log")
    desk.key("Return")
    desk.look(6)
    desk.message("Mei, do you have the picture of the whiteboard? I sit in the meeting")
    desk.look(5)
    desk.closes(BEFORE)
    desk.raise_("Messenger")
    desk.look(4)
    desk.click("say")
    desk.type("one moment")
    desk.key("Return")
    desk.files("Pictures")
    desk.look(4)
    desk.picture("Pictures/whiteboard.png")
    desk.look(7)
    desk.key("q")
    desk.raise_("Messenger")
    desk.click("say")
    desk.type("it has three boxes, tide, cache, page, and two arrows to the right")
    desk.key("Return")
    desk.look(5)
    desk.message("That is all I need, thank you! Lunch at twelve?")
    desk.look(5)
    desk.type("yes, at the pier")
    desk.key("Return")
    desk.look(9)
    desk.raise_("logs: bash")
    desk.opens(AFTER)
    desk.look(14)
    desk.key("Up")
    desk.look(6)
    desk.key("ctrl+u")
    desk.look(3)
    desk.closes(AFTER)
    desk.type("sed 's/ms$//' access.log | awk '$4 > 500 {n[substr($1, 12, 2)]++} END {for (h in n) print h, n[h]}'")
    desk.key("Return")
    desk.look(8)
    desk.raise_("Messenger")
    desk.key("ctrl+2")
    desk.wait_for("Harbour News")
    desk.look(6)
    desk.scroll(3, pause=2)
    desk.look(8)


SCRIPTS = (
    Script(
        folder="resumed",
        home="mei",
        about="Mei counts slow requests by hour; her line counts wrong. A colleague asks for a picture; she looks "
        "for it, describes it, arranges lunch, comes back to her terminal, reads herself in again and finds it.",
        purpose="a need that is interrupted and comes back",
        seed=110,
        prepare=prepare,
        play=play,
        cases=(
            Case(
                name="resumed",
                person="mei",
                description="An awk line that counts wrong, interrupted by a chat and resumed.",
                needs=(BEFORE, AFTER),
                quiet="The first commands print what they should, and the wrong counts do not look wrong. In the "
                "chat somebody waits for her: help with awk is out of place there, and the question itself is "
                "answered by one look at a picture. After the last line the counts are right.",
            ),
        ),
    ),
)
