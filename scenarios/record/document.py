"""A text that is far too long for its place, and a mail that does not want to begin."""

from __future__ import annotations

from scenarios.record.desk import Desk
from scenarios.record.needs import Case, Need, Script

SHORTEN = Need(
    id="shorten",
    intention="Document Editing",
    query="cut my text for the leaflet to 60 words in whole sentences",
    why="The mail allows 60 words, and `wc -w` prints 142: opens with the first snapshot of that number. He deletes "
    "a sentence, puts half of it back, counts again: 124. Closes when he goes to his mail to ask for more room: "
    "given up.",
)
MAIL = Need(
    id="mail",
    intention="Content Generation",
    query="a short mail to Ada: the text has 124 words, may we have a second corner or another day",
    why="Opens when the first line of the reply has been deleted for the second time. Closes with the first key of the "
    "line that he then sends: done alone.",
)
TEXT = """Open day at the boat hall

This year, as in the years before, the association of friends of wooden boats
opens the doors of the old boat hall to everybody who is interested in boats,
in wood, or in both. On Saturday the 12th of December, from ten in the morning
until five in the afternoon, you can see how planks are bent over steam, how
ropes are laid by hand, and how a hull is made tight with cotton and tar.
There will be soup and coffee.
For the children there will be a small workshop in which they can build a
boat of their own, which they may take home and sail wherever there is water.
The boat hall is on the east side of the harbour, behind the ice cellar.
Admission is free; we are glad of every visitor.
"""


def prepare(desk: Desk) -> None:
    desk.file("leaflet/open-day.txt", TEXT)
    desk.browser("mail.example/grant")
    desk.terminal("leaflet: bash", "leaflet", geometry="70x12+560+440")
    desk.editor("leaflet/open-day.txt")
    desk.raise_("Webmail")
    desk.rest_at(1000, 300)


def play(desk: Desk) -> None:
    desk.look(14)
    desk.raise_("open-day.txt")
    desk.look(16)
    desk.raise_("leaflet: bash")
    desk.type("wc -w open-day.txt")
    desk.key("Return")
    desk.opens(SHORTEN)
    desk.look(8)
    desk.raise_("open-day.txt")
    desk.look(7)
    desk.key("ctrl+l")
    desk.wait_for("Go To")
    desk.type("9")
    desk.key("Return")
    desk.wait_for("Mousepad")
    desk.key("Home", "shift+Down", "shift+Down", "Delete", pause=0.6)
    desk.look(6)
    desk.type("Children can build a boat of their own in our small workshop.", pace=1.4)
    desk.key("Return")
    desk.look(4)
    desk.key("ctrl+s")
    desk.raise_("leaflet: bash")
    desk.key("Up", "Return")
    desk.look(7)
    desk.raise_("open-day.txt")
    desk.look(13)
    desk.closes(SHORTEN)
    desk.raise_("Webmail")
    desk.look(4)
    desk.click("reply")
    desk.type("Dear Ada, I am sorry to say that", pace=1.4)
    desk.look(4)
    desk.key("ctrl+a", "Delete", pause=0.5)
    desk.look(3)
    desk.type("Hi Ada, 60 words are not", pace=1.6)
    desk.look(5)
    desk.key("ctrl+a", "Delete", pause=0.5)
    desk.opens(MAIL)
    desk.look(14)
    desk.closes(MAIL)
    desk.type("Hi Ada, it has 124 words and every one is good. Is there a second corner? Tomás", pace=1.1)
    desk.look(3)
    desk.click("send")
    desk.look(5)
    desk.files("leaflet")
    desk.look(9)
    desk.raise_("Webmail")
    desk.go_to("news.example", "Harbour News")
    desk.look(9)
    desk.scroll(3, pause=2)
    desk.look(8)


SCRIPTS = (
    Script(
        folder="document",
        home="tomas",
        about="Tomás has written twice as many words as the leaflet allows. He counts, cuts a little, counts again, "
        "gives up, and writes a mail that he begins three times; then he reads the news.",
        purpose="a text to be cut, a mail that does not begin",
        seed=103,
        prepare=prepare,
        play=play,
        cases=(
            Case(
                name="document",
                person="tomas",
                description="A text of 142 words for a place of 60, and a mail that is begun three times.",
                needs=(SHORTEN, MAIL),
                quiet="While the mail and the text are only read, nobody has seen that the text is too long but who "
                "counts words faster than `wc`; the number makes it plain. A mail begun once or deleted once is how "
                "people write. Files and news ask for nothing.",
            ),
        ),
    ),
)
