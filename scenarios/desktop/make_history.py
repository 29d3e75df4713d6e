"""Makes ``history.jsonl``: four weeks in the life of Sam, who does not exist.

    .venv/bin/python scenarios/desktop/make_history.py

Every event in it is MADE UP, by the rules of ``scenarios/people/past.py`` and the tables below and nothing else: none
was recorded, and rules and tables were written down before any agent or memory was run on the result. They are rules
of a plausible person, not of an easy task: 20 workdays, 2 to 27 November 2026. Coding goes well or badly: the window
title ``proj: bash`` ends in a question about three times in ten, and never says which.
"""

from __future__ import annotations

from pathlib import Path

from scenarios.people.past import Past, Task, Window

HERE = Path(__file__).resolve().parent

SHELL = Window(
    "xterm",
    "proj: bash",
    ("runs a script", "runs the tests", "looks through the sources", "lists files", "a command prints its output"),
    help=0.3,
    asks={"Error Correction": 5, "Coding/Programming": 3.5, "Knowledge Q&A": 1, "Information Lookup": 0.5},
    words={
        "Error Correction": (
            "why does this traceback end in StatisticsError and how do I fix it",
            "pytest says assert 0.89 > 0.9, what is wrong with my function",
            "ModuleNotFoundError although the package is installed, what now",
            "ZeroDivisionError for an empty list, what should the function return",
            "TypeError: unsupported operand type(s), where does the None come from",
        ),
        "Coding/Programming": (
            "write a test for burstiness with an empty list",
            "how do I run only the failing tests with pytest",
            "turn this loop into a list comprehension",
            "a grep that finds a function and everything that calls it",
        ),
        "Knowledge Q&A": ("what is the difference between pstdev and stdev", "what does burstiness measure"),
        "Information Lookup": ("which python version added the override decorator",),
    },
)
EDITOR = Window(
    "code",
    "{file} - proj - Visual Studio Code",
    ("edits a function", "reads code", "renames a variable", "writes a docstring"),
    help=0.14,
    asks={"Coding/Programming": 7, "Error Correction": 2, "Document Editing": 1},
    words={
        "Coding/Programming": (
            "how do I type a function that takes any sequence of floats",
            "make this function work for an empty list",
            "async generator with a limiter, show me the pattern",
        ),
        "Error Correction": ("mypy says incompatible return value, why", "why is this test flaky"),
        "Document Editing": ("make this docstring shorter and clearer",),
    },
    longest_s=900,
)
DOCS = Window(
    "chromium",
    "asyncio streaming guide — Local Docs - Chromium",
    ("reads documentation", "scrolls through a guide", "looks for an example"),
    help=0.1,
    asks={"Knowledge Q&A": 5, "Coding/Programming": 3, "Summarization": 2},
    words={
        "Knowledge Q&A": ("what happens to a task group when one task is cancelled", "what is backpressure"),
        "Coding/Programming": ("an example of a bounded queue between two tasks",),
        "Summarization": ("the main points of this guide in five lines",),
    },
    longest_s=400,
)
NEW_TAB = Window("chromium", "New Tab - Chromium", ("opens a new tab",), shortest_s=3, longest_s=9)
TRAINS = Window(
    "chromium",
    "Züge & Trains — Fahrkarten 🚆 Suche - Chromium",
    ("searches trains", "looks at a list of connections and prices", "changes the date of a search"),
    help=0.42,
    asks={"Comparison/Evaluation": 6, "Information Lookup": 3, "Mathematical Calculation": 1},
    words={
        "Comparison/Evaluation": (
            "which connection is cheaper and not much slower",
            "compare the direct train with the one that has a change, price and hours",
            "is it worth leaving on Thursday night instead of Friday",
        ),
        "Information Lookup": ("is there a direct train from Paris to {city}", "how long is the change in Lyon"),
        "Mathematical Calculation": ("add up both ways with the seat reservation",),
    },
    longest_s=200,
)
HOTELS = Window(
    "chromium",
    "Hotels in {city} - Chromium",
    ("looks at hotels", "reads reviews of a hotel"),
    help=0.25,
    asks={"Comparison/Evaluation": 4, "Information Lookup": 5, "Advice/Consultation": 1},
    words={
        "Comparison/Evaluation": ("which of these two hotels is closer to the station",),
        "Information Lookup": ("hotels near the main station in {city} under 110 a night",),
        "Advice/Consultation": ("which part of {city} is best for one night",),
    },
)
NOTES = Window(
    "mousepad",
    "/home/sam/Documents/notes.txt - Mousepad",
    ("adds a to-do", "reads the notes", "ticks something off"),
    help=0.15,
    asks={"Information Lookup": 4, "Document Editing": 3, "Content Generation": 2, "Mathematical Calculation": 1},
    words={
        "Information Lookup": ("hotels near Centrale for Friday to Sunday", "when does the finance office open"),
        "Document Editing": ("turn these notes into a clean list",),
        "Content Generation": ("a packing list for a weekend in {city}",),
        "Mathematical Calculation": ("what is left of 300 after the train and two nights",),
    },
    longest_s=120,
)
UNSAVED = Window(
    "mousepad", "*/home/sam/Documents/notes.txt - Mousepad", ("types into the notes",), help=0.04,
    asks={"Document Editing": 1}, words={"Document Editing": ("fix the spelling of this paragraph",)}, longest_s=60,
)  # fmt: skip
REPORT = Window(
    "chromium",
    "项目周报 2026-W{week} — 主动智能体 - Chromium",
    ("opens a weekly report in Chinese", "scrolls through a report in Chinese"),
    help=0.55,
    asks={"Translation": 6.5, "Summarization": 3, "Knowledge Q&A": 0.5},
    words={
        "Translation": (
            "translate this weekly report into English",
            "what does the second paragraph say in English",
            "把这份周报翻译成英文",
        ),
        "Summarization": ("what did the team finish this week, three lines in English",),
        "Knowledge Q&A": ("what does 主动智能体 mean here",),
    },
    longest_s=180,
)
SHEET = Window(
    "libreoffice",
    "invoices_Q3.ods - LibreOffice Calc",
    ("fills in a table", "checks sums", "sorts a table"),
    help=0.24,
    asks={"Data Analysis": 5, "Mathematical Calculation": 3, "Format Conversion": 2},
    words={
        "Data Analysis": ("which vendor's invoices grew most since Q2", "a pivot table by month and vendor"),
        "Mathematical Calculation": ("the sum without VAT at 19 percent",),
        "Format Conversion": ("turn this table into csv with semicolons",),
    },
    longest_s=500,
)
INBOX = Window(
    "thunderbird",
    "Inbox - Mozilla Thunderbird",
    ("reads mail", "skims the inbox", "deletes newsletters"),
    help=0.05,
    asks={"Summarization": 6, "Information Lookup": 4},
    words={
        "Summarization": ("what does this thread want from me",),
        "Information Lookup": ("when is the review meeting",),
    },
    longest_s=300,
)
WRITE = Window(
    "thunderbird",
    "Write: {subject} - Mozilla Thunderbird",
    ("writes a mail",),
    help=0.22,
    asks={"Content Generation": 5, "Document Editing": 4, "Translation": 1},
    words={
        "Content Generation": (
            "a short mail that asks finance about the Q3 invoices",
            "a polite no to this invitation",
        ),
        "Document Editing": ("make this mail friendlier and half as long",),
        "Translation": ("this mail in French",),
    },
    longest_s=400,
)
HOME = Window("pcmanfm", "sam", ("looks through folders",), shortest_s=4, longest_s=40)
DOCUMENTS = Window(
    "pcmanfm", "Documents", ("looks through folders", "renames a file"), help=0.02,
    asks={"Format Conversion": 1}, words={"Format Conversion": ("convert all reports to pdf at once",)},
    shortest_s=4, longest_s=60,
)  # fmt: skip
PICTURES = Window("pcmanfm", "Pictures", ("looks through pictures",), shortest_s=4, longest_s=60)
PHOTO = Window(
    "feh", "feh [1 of 1] - /home/sam/Pictures/{photo}", ("looks at a picture",), help=0.015,
    asks={"Creative Design": 1}, words={"Creative Design": ("a caption for this picture",)}, shortest_s=4, longest_s=60,
)  # fmt: skip
FORM = Window(
    "chromium", "New hire form — HR - Chromium", ("fills in a form",), help=0.03,
    asks={"Advice/Consultation": 1}, words={"Advice/Consultation": ("which date of entry do they mean here",)},
)  # fmt: skip
EXPENSES = Window(
    "chromium", "Travel expenses — HR - Chromium", ("fills in a form", "uploads a receipt"), help=0.1,
    asks={"Advice/Consultation": 2, "Mathematical Calculation": 2, "Information Lookup": 1},
    words={
        "Advice/Consultation": ("may I claim the seat reservation",),
        "Mathematical Calculation": ("convert 84 CHF into euros at the rate of the 12th",),
        "Information Lookup": ("the daily allowance for Italy",),
    },
)  # fmt: skip
NEWS = Window("chromium", "Morning news - Chromium", ("reads the news",), help=0.02,
              asks={"Knowledge Q&A": 1}, words={"Knowledge Q&A": ("who is that in the second article",)})  # fmt: skip

TASKS: dict[str, Task] = {
    "coding": Task(5.0, ((SHELL, 4), (EDITOR, 4), (DOCS, 1.5), (NEW_TAB, 0.5)), (4, 9), moody=True),
    "mail": Task(3.0, ((INBOX, 3), (WRITE, 1.2)), (2, 4)),
    "travel": Task(0.9, ((NEW_TAB, 1), (TRAINS, 3), (HOTELS, 1.3), (NOTES, 1), (UNSAVED, 0.5)), (3, 6), days={3: 2.0}),
    "report": Task(0.6, ((NEW_TAB, 0.7), (REPORT, 3), (NOTES, 0.6)), (2, 4), days={0: 2.5, 1: 1.5}),
    "files": Task(1.3, ((HOME, 2), (DOCUMENTS, 2), (PICTURES, 1), (PHOTO, 1.2)), (2, 5)),
    "sheet": Task(0.9, ((SHEET, 3), (DOCUMENTS, 0.7), (INBOX, 0.6)), (2, 4), days={4: 1.8}),
    "forms": Task(0.5, ((NEW_TAB, 0.6), (FORM, 1.2), (EXPENSES, 1.4)), (2, 3)),
    "notes": Task(1.0, ((NOTES, 2), (UNSAVED, 1.4)), (1, 3)),
    "news": Task(0.8, ((NEWS, 2), (NEW_TAB, 1)), (1, 3)),
}
FILLS: dict[str, tuple[str, ...]] = {
    "week": ("36", "37", "38", "39"),
    "file": ("stats.py", "test_stats.py", "stream.py", "limiter.py", "README.md"),
    "city": ("Milano", "Lyon", "Wien", "Köln"),
    "subject": ("Q3 invoices", "Re: review on Friday", "Travel plan", "Re: weekly report"),
    "photo": ("photo_like.jpg", "team.jpg", "whiteboard.png"),
}
PAST = Past(seed=20261130, tasks=TASKS, fills=FILLS, assistant=("chromium", "Assistant - new chat - Chromium"))


def text() -> str:
    """The file's content."""
    return PAST.text()


if __name__ == "__main__":
    (HERE / "history.jsonl").write_text(text(), encoding="utf-8")
