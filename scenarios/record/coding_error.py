"""A script fails twice on a table: one error takes a while, the other hardly."""

from __future__ import annotations

from scenarios.record.desk import Desk
from scenarios.record.needs import Case, Need, Script

KEY_ERROR = Need(
    id="key-error",
    intention="Error Correction",
    query="why does csv.DictReader raise KeyError: 'item' although the header has a column item",
    why="Opens with the first traceback. The cause is nowhere in it, and Nora's own steps show that she does not "
    "see it: `head` prints the semicolons, she changes the name of the column instead, and the script fails again. "
    "Closes when she comes back from the page about dialects to mend it: found out alone.",
)
FLOAT = Need(
    id="float-error",
    intention="Error Correction",
    query="how do I turn '4,50' into a number",
    why="The second traceback. Closes a few seconds later, when she goes to mend it. The cause stands in the last "
    "line, so little is gained by help: hence half the weight.",
    weight=0.5,
)
REPORT = """import csv
import sys
from collections import defaultdict


def read(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


def total_by_item(rows):
    totals = defaultdict(float)
    for row in rows:
        totals[row["item"]] += int(row["qty"]) * float(row["price"])
    return totals


for item, total in sorted(total_by_item(read(sys.argv[1])).items()):
    print(f"{item:<14}{total:>9.2f}")
"""
ITEMS = (("rope", 4, "4,50"), ("buoy", 2, "31,00"), ("lamp", 7, "12,90"), ("chart", 1, "18,20"), ("rope", 6, "4,50"),
         ("flag", 3, "7,75"), ("lamp", 2, "12,90"))  # fmt: skip


def prepare(desk: Desk) -> None:
    desk.file("orders/report.py", REPORT)
    rows = [f"2026-11-{3 * n + 2:02};{item};{qty};{price}\n" for n, (item, qty, price) in enumerate(ITEMS)]
    desk.file("orders/orders.csv", "date;item;qty;price\n" + "".join(rows))
    desk.run("git init -q && git add . && git commit -qm 'Report as it is'", "orders")
    desk.browser("docs.example/csv", "mail.example/nora")
    desk.key("ctrl+2")
    desk.wait_for("Inbox")
    desk.terminal("orders: bash", "orders", geometry="88x26+60+60")
    desk.editor("orders/report.py")


def play(desk: Desk) -> None:
    desk.look(15)
    desk.scroll(2)
    desk.look(9)
    desk.raise_("orders: bash")
    desk.look(2)
    desk.type("python3 report.py orders.csv")
    desk.key("Return")
    desk.opens(KEY_ERROR)
    desk.look(12)
    desk.type("head -4 orders.csv")
    desk.key("Return")
    desk.look(10)
    desk.raise_("report.py")
    desk.look(4)
    desk.new_line(14, '        totals[row["Item"]] += int(row["qty"]) * float(row["price"])')
    desk.key("ctrl+s")
    desk.look(2)
    desk.raise_("orders: bash")
    desk.key("Up", "Up", "Return")
    desk.look(11)
    desk.raise_("Chromium")
    desk.key("ctrl+1")
    desk.wait_for("Handbook")
    desk.rest_at(500, 500)
    desk.look(6)
    desk.scroll(5, pause=1.5)
    desk.look(7)
    desk.closes(KEY_ERROR)
    desk.raise_("report.py")
    desk.look(2)
    desk.new_line(8, '        return list(csv.DictReader(stream, delimiter=";"))')
    desk.new_line(14, '        totals[row["item"]] += int(row["qty"]) * float(row["price"])')
    desk.key("ctrl+s")
    desk.raise_("orders: bash")
    desk.key("Up", "Return")
    desk.opens(FLOAT)
    desk.look(10)
    desk.closes(FLOAT)
    desk.raise_("report.py")
    desk.new_line(14, '        totals[row["item"]] += int(row["qty"]) * float(row["price"].replace(",", "."))')
    desk.key("ctrl+s")
    desk.raise_("orders: bash")
    desk.key("Up", "Return")
    desk.look(9)
    desk.type("git commit -qam 'Read the orders as they come'")
    desk.key("Return")
    desk.look(3)
    desk.raise_("Chromium")
    desk.key("ctrl+2")
    desk.wait_for("Inbox")
    desk.look(12)
    desk.scroll(2, pause=2)
    desk.look(15)


SCRIPTS = (
    Script(
        folder="coding_error",
        home="nora",
        about="Nora runs a small report over a table of orders. It fails, she looks in the wrong place, reads a "
        "handbook, mends it, meets the next error and mends that as well; then she reads her mail.",
        purpose="two errors of a script: one puzzles, one hardly does",
        seed=101,
        prepare=prepare,
        play=play,
        cases=(
            Case(
                name="coding-error",
                person="nora",
                description="A script fails on a table: one error that takes a while, one that hardly does.",
                needs=(KEY_ERROR, FLOAT),
                quiet="Before the first run nothing has failed. After the last one the table is printed; committing "
                "and skimming the inbox ask for nothing.",
            ),
        ),
    ),
)
