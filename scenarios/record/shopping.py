"""Three packs in three shops: which one is the better buy?"""

from __future__ import annotations

from scenarios.record.desk import Desk
from scenarios.record.needs import Case, Need, Script

FRANCS = Need(
    id="francs",
    intention="Mathematical Calculation",
    query="what do 117.50 plus 8 Swiss francs come to in euros",
    why="The third shop asks for francs, and Nora has just opened a page of exchange rates: from its first snapshot on "
    "the screen shows that she wants the price in euros. Closes when she types the sum into a terminal: done alone.",
)
COMPARE = Need(
    id="packs",
    intention="Comparison/Evaluation",
    query="which of the three packs is the better buy with parcel and rain cover, below 1.4 kg",
    why="Opens when she is back on the first shop's page: one visit is looking, the second round is comparing. The "
    "pages give weights in grams and kilograms, one price without the rain cover, one without the parcel. She goes "
    "round and writes a line on each. Closes when she puts one into the basket: decided alone.",
)


def prepare(desk: Desk) -> None:
    desk.file(
        "packs.txt", "a new pack until Friday, up to 130 with everything\nnot over 1.4 kg, I need a rain cover\n\n"
    )
    desk.browser("fjell.example/pack", "wander.example/pack", "kram.example/pack")
    desk.terminal("nora: bash", geometry="80x20+420+330")
    desk.editor("packs.txt")
    desk.key("ctrl+End")
    desk.raise_("Chromium")
    desk.key("ctrl+1")
    desk.wait_for("Ridge 40")
    desk.rest_at(1000, 520)


def play(desk: Desk) -> None:
    desk.look(12)
    desk.scroll(3, pause=1)
    desk.look(7)
    desk.key("ctrl+2")
    desk.look(14)
    desk.scroll(2, pause=1)
    desk.look(5)
    desk.key("ctrl+3")
    desk.look(15)
    desk.key("ctrl+t")
    desk.go_to("rates.example", "Exchange rates")
    desk.opens(FRANCS)
    desk.look(12)
    desk.raise_("nora: bash")
    desk.closes(FRANCS)
    desk.type("python3 -c 'print((117.50 + 8) / 0.9385)'")
    desk.key("Return")
    desk.look(7)
    desk.raise_("Chromium")
    desk.key("ctrl+1")
    desk.wait_for("Ridge 40")
    desk.opens(COMPARE)
    desk.look(8)
    desk.key("ctrl+2")
    desk.scroll(-2)
    desk.look(9)
    desk.raise_("packs.txt")
    desk.type("Ridge 129, cover is in, 1480 g")
    desk.key("Return")
    desk.type("Trail 119 + 9.90, and the cover?")
    desk.key("Return")
    desk.look(3)
    desk.raise_("Chromium")
    desk.key("ctrl+3")
    desk.look(9)
    desk.raise_("packs.txt")
    desk.type("Saentis 133.72, cover is in, 1350 g, customs?")
    desk.key("Return")
    desk.look(16)
    desk.raise_("Chromium")
    desk.key("ctrl+2")
    desk.look(5)
    desk.closes(COMPARE)
    desk.click("buy")
    desk.look(8)
    desk.key("ctrl+4")
    desk.go_to("mail.example/nora", "Inbox")
    desk.look(11)
    desk.scroll(2, pause=2)
    desk.look(9)


SCRIPTS = (
    Script(
        folder="shopping",
        home="nora",
        about="Nora looks at a pack in each of three shops, turns francs into euros, goes round the shops again with a "
        "list, and puts one pack into the basket.",
        purpose="three shops to compare, one of them in another currency",
        seed=106,
        prepare=prepare,
        play=play,
        cases=(
            Case(
                name="shopping",
                person="nora",
                description="Three packs in three shops: francs into euros, then which one is the better buy.",
                needs=(FRANCS, COMPARE),
                quiet="On the first round each page is seen once; nothing is weighed yet, and nobody knows what "
                "will be. After the basket the choice is made, and an offer to compare comes too late.",
            ),
        ),
    ),
)
