"""A question that no page answers, looked for across tabs; and one that is answered at once."""

from __future__ import annotations

from scenarios.record.desk import Desk
from scenarios.record.needs import Case, Need, Script

BIKES = Need(
    id="bikes",
    intention="Information Lookup",
    query="does the small winter boat to Skarra take folded bicycles, for a group of ten on 13 December",
    why="Three pages are read, none answers, and the search is typed again with more words: opens with the first "
    "snapshot of its results, which are the same pages. He goes back to the forum, whose answers contradict each "
    "other, and to the fares, which speak of the large boat. Closes when he turns to his notes to write that he "
    "will call: given up.",
)


def prepare(desk: Desk) -> None:
    desk.file(
        "skarra.txt",
        "Skarra, Sunday 13 December\n10 people, 4 with folding bikes\n\n- which boat?\n- bikes??\n- soup\n",
    )
    desk.browser("find.example")
    desk.rest_at(1000, 600)
    desk.editor("skarra.txt")
    desk.key("ctrl+End")


def play(desk: Desk) -> None:
    desk.look(9)
    desk.raise_("Chromium")
    desk.click("q")
    desk.type("skarra ferry timetable winter")
    desk.key("Return")
    desk.wait_for("winter — Find")
    desk.look(5)
    desk.click("r1", held="ctrl")
    desk.key("ctrl+2")
    desk.wait_for("Skarra ferry")
    desk.look(8)
    desk.scroll(2, pause=1)
    desk.look(6)
    desk.go_to("ferry.example/news", "News")
    desk.look(9)
    desk.raise_("skarra.txt")
    desk.type("boat 9:00, back 16:20, no low water that day")
    desk.key("Return", "ctrl+s")
    desk.look(3)
    desk.raise_("Chromium")
    desk.key("ctrl+1")
    desk.click("q", times=3)
    desk.type("bicycle on ferry skarra winter boat")
    desk.key("Return")
    desk.wait_for("bicycle on")
    desk.look(5)
    for result in ("r1", "r3", "r4"):
        desk.click(result, held="ctrl")
    for tab in ("ctrl+2", "ctrl+3", "ctrl+4"):
        desk.key(tab)
        desk.look(6)
        desk.scroll(2, pause=1)
        desk.look(5)
    desk.key("ctrl+1")
    desk.click("q", times=3)
    desk.type("folding bike small boat winter group luggage")
    desk.key("Return")
    desk.wait_for("luggage")
    desk.opens(BIKES)
    desk.look(9)
    desk.key("ctrl+2")
    desk.look(9)
    desk.key("ctrl+3")
    desk.look(5)
    desk.scroll(-2, pause=1)
    desk.look(10)
    desk.closes(BIKES)
    desk.raise_("skarra.txt")
    desk.type("bikes: nobody knows, call the pier on Monday")
    desk.key("Return", "ctrl+s")
    desk.look(4)
    desk.raise_("Chromium")
    desk.key("ctrl+t")
    desk.go_to("forum.example/soup", "soup")
    desk.look(7)
    desk.scroll(4, pause=2)
    desk.look(9)


SCRIPTS = (
    Script(
        folder="tab_search",
        home="tomas",
        about="Tomás plans a trip for ten. He finds a boat at once, then looks for whether it takes folding "
        "bicycles: one search, three tabs, a second search, the same tabs, no answer. He notes that he will call, "
        "and reads a forum about fish soup.",
        purpose="a question that no page answers, among two that are answered at once",
        seed=102,
        prepare=prepare,
        play=play,
        cases=(
            Case(
                name="tab-search",
                person="tomas",
                description="A search across tabs: the boat is found at once, whether it takes bicycles is on no page.",
                needs=(BIKES,),
                quiet="The first search is answered by the first page that it finds; the tides are on the next. The "
                "three tabs that are read for the first time may hold the answer: until the search is repeated "
                "nothing shows that they do not. The forum on soup is leisure.",
            ),
        ),
    ),
)
