"""Figures in a spreadsheet: growth by stall, a division by zero, and a mean that is not the one of the mail."""

from __future__ import annotations

from scenarios.record.desk import Desk
from scenarios.record.needs import Case, Need, Script

GROWTH = Need(
    id="growth",
    intention="Data Analysis",
    query="which stall grew most from 2024 to 2025, leaving out those that were closed",
    why="A column of growth is filled in, and its last rows read #DIV/0!, as does the highest of them, the answer "
    "he is after: opens with the first snapshot of that. He looks through the column and tries the maximum over a "
    "part of it. Closes when he types the name of a stall beside it: found by eye.",
)
MEAN = Need(
    id="mean",
    intention="Data Analysis",
    query="why is my mean for 2025 lower than 412 in the mail: it counts the stalls that were closed as zero",
    why="Opens when his own mean stands in the sheet: it is not the one of the mail he has just read. He goes to "
    "and fro between the two. Closes when he writes back that he gets another number: given up.",
)
STALLS = (
    ("Soup", 410, 436, 498), ("Waffles", 388, 402, 455), ("Knives", 240, 231, 262), ("Wool", 305, 344, 371),
    ("Candles", 512, 498, 540), ("Cider", 450, 471, 533), ("Toys", 265, 290, 351), ("Books", 198, 214, 205),
    ("Honey", 330, 351, 364), ("Pottery", 0, 0, 541), ("Brushes", 187, 176, 0), ("Lamps", 0, 0, 0),
)  # fmt: skip


def prepare(desk: Desk) -> None:
    rows = [f"{name},{','.join(str(v) for v in values)}\n" for name, *values in STALLS]
    desk.file("market/stalls.csv", "stall,2023,2024,2025\n" + "".join(rows))
    desk.browser("mail.example/market")
    desk.sheet("market/stalls.csv")
    desk.raise_("Webmail")
    desk.rest_at(1000, 300)


def _cell(desk: Desk, name: str) -> None:
    """Go to a cell by its name."""
    desk.key("ctrl+g", pause=0.6)
    desk.type(name)
    desk.key("Return", pause=0.6)
    desk.key("Escape", pause=0.4)


def play(desk: Desk) -> None:
    desk.look(20)
    desk.raise_("Gnumeric")
    desk.look(16)
    _cell(desk, "E1")
    desk.type("growth")
    desk.key("Return")
    for n in range(2, len(STALLS) + 2):
        desk.type(f"=D{n}/C{n}-1", pace=1.5)
        desk.key("Return", pause=0.4)
    desk.type("=MAX(E2:E13)")
    desk.key("Return")
    desk.opens(GROWTH)
    desk.look(16)
    desk.type("=MAX(E2:E10)")
    desk.key("Return")
    desk.look(14)
    _cell(desk, "F15")
    desk.look(2)
    desk.closes(GROWTH)
    desk.type("Toys")
    desk.key("Return")
    desk.look(5)
    desk.raise_("Webmail")
    desk.look(10)
    desk.raise_("Gnumeric")
    _cell(desk, "D14")
    desk.type("=AVERAGE(D2:D13)")
    desk.key("Return")
    desk.opens(MEAN)
    desk.look(12)
    desk.raise_("Webmail")
    desk.look(8)
    desk.raise_("Gnumeric")
    desk.look(12)
    desk.closes(MEAN)
    desk.raise_("Webmail")
    desk.click("reply")
    desk.type("Toys grew most. But my mean of 2025 is not yours.", pace=1.1)
    desk.look(3)
    desk.click("send")
    desk.look(6)
    desk.raise_("Gnumeric")
    desk.look(16)


SCRIPTS = (
    Script(
        folder="spreadsheet",
        home="tomas",
        about="Tomás works out how much the stalls of a market grew. Two of them had been closed; the sheet says "
        "#DIV/0!, and his mean is not the one of the mail.",
        purpose="figures: growth with a division by zero, a mean that differs",
        seed=105,
        prepare=prepare,
        play=play,
        cases=(
            Case(
                name="spreadsheet",
                person="tomas",
                description="Growth of market stalls in a spreadsheet: #DIV/0!, then a mean that differs from the "
                "mail's.",
                needs=(GROWTH, MEAN),
                quiet="Typing the same formula twelve times could be done faster, but it goes well, and he does not "
                "stop. After the first answer the mail is read once more; nothing is wrong yet. At the end the "
                "reply is sent, and he waits.",
            ),
        ),
    ),
)
