"""Makes ``history.jsonl``: four weeks in the life of Sam, who does not exist.

    .venv/bin/python scenarios/desktop/make_history.py

Every event in it is MADE UP, by the rules below and nothing else: none was recorded, and the rules were written down
before any agent or memory was run on the result. They are rules of a plausible person, not of an easy task:

* A workday (20 of them, 2 to 27 November 2026, Monday to Friday) is a row of *episodes* from about 07:30 to 16:30 UTC
  with a break at noon. An episode is a task, a handful of windows visited one after the other. How often a task
  comes up is ``TASKS[…].weight``, times ``days`` for tasks that have their days.
* How long a window stays open is drawn log-uniformly between the bounds of the window.
* Whether a visit ends in a question to the assistant is drawn with the window's ``help``. A coding episode is first
  drawn as going well (2 of 3) or badly (1 of 3); badly multiplies ``help`` by 2.5, well by 0.3. So the same window
  title, ``proj: bash``, ends in a question about three times in ten, and its title never says which.
* What is asked is drawn from the window's ``asks``, weighted; the words from its ``words`` for that intention.
* A question is followed by an event in the assistant's own window (``assistance``); its label, help with intention
  and query, stands on the window before it, in which the need arose. All other events say ``help: false``.

Chance comes from ``simulator.core.rng`` under names (day, episode, step, purpose): the same seed gives the same file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from simulator.core.rng import below, unit

HERE = Path(__file__).resolve().parent
SEED = 20261130
FIRST_DAY = datetime(2026, 11, 2, tzinfo=UTC)
N_WEEKS = 4
ASSISTANT = ("chromium", "Assistant - new chat - Chromium")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Window:
    """A window that a task visits.

    ``title`` may hold ``{week}``, ``{file}``, ``{city}``, filled once an episode. ``help`` is how often a visit ends
    in a question, ``asks`` the weights of the intentions, ``words`` the questions for each.
    """

    app: str
    title: str
    summaries: tuple[str, ...]
    help: float = 0.0
    asks: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shortest_s: int = 8
    longest_s: int = 240


@dataclass(frozen=True, slots=True)
class Task:
    """A task: its windows with the weight of each next visit, and how many visits it takes."""

    weight: float
    windows: tuple[tuple[Window, float], ...]
    n_visits: tuple[int, int]
    days: Mapping[int, float] = field(default_factory=dict)  # weekday (0 Monday) -> factor
    moody: bool = False  # goes well or badly


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
MOOD = {True: 2.5, False: 0.3}
P_BADLY = 1 / 3


def pick(choices: Sequence[tuple[T, float]], *names: str | int) -> T:
    """One of the choices, by weight."""
    left = unit(SEED, *names) * sum(weight for _, weight in choices)
    for choice, weight in choices:
        left -= weight
        if left < 0:
            return choice
    return choices[-1][0]


def one_of(choices: Sequence[T], *names: str | int) -> T:
    """One of the choices, each as likely."""
    return choices[below(len(choices), SEED, *names)]


def length_s(window: Window, *names: str | int) -> int:
    """How long a visit lasts: log-uniform between the window's bounds."""
    stretch: float = (window.longest_s / window.shortest_s) ** unit(SEED, *names, "length")
    return round(window.shortest_s * stretch)


def visits(task: Task, *names: str | int) -> Iterator[tuple[Window, dict[str, str], float]]:
    """The windows of one episode in order, with the fillings and the chance of a question; never one twice in a row."""
    fills = {slot: one_of(options, *names, slot) for slot, options in FILLS.items()}
    mood = MOOD[unit(SEED, *names, "badly") < P_BADLY] if task.moody else 1.0
    low, high = task.n_visits
    before: Window | None = None
    for step in range(low + below(high - low + 1, SEED, *names, "n")):
        window = pick([w for w in task.windows if w[0] is not before] or task.windows, *names, step, "window")
        yield window, fills, min(1.0, window.help * mood)
        before = window


def episode(task: Task, start: datetime, *names: str | int) -> Iterator[dict[str, Any]]:
    """The events of one episode, one after the other from ``start``."""
    now = start
    for step, (window, fills, chance) in enumerate(visits(task, *names)):
        here = (*names, step)
        end = now + timedelta(seconds=length_s(window, *here))
        asked = unit(SEED, *here, "help") < chance
        label: dict[str, Any] = {"help": asked}
        if asked:
            intention = pick(tuple(window.asks.items()), *here, "intention")
            query = one_of(window.words[intention], *here, "query").format(**fills)
            label |= {"intention": intention, "query": query}
        summary = one_of(window.summaries, *here, "summary")
        yield _row(now, end, window.app, window.title.format(**fills), summary, **label)
        if asked:
            now, end = end, end + timedelta(seconds=25 + below(200, SEED, *here, "answer"))
            yield _row(now, end, *ASSISTANT, "asks an assistant and reads the answer", assistance=True,
                       intention=intention, query=query)  # fmt: skip
        now = end


def _row(start: datetime, end: datetime, app: str, title: str, summary: str, **rest: Any) -> dict[str, Any]:
    times = {key: at.isoformat().replace("+00:00", "Z") for key, at in (("start", start), ("end", end))}
    return {**times, "app": app, "title": title, "summary": summary, **rest}


def day(date: datetime, number: int) -> Iterator[dict[str, Any]]:
    """The events of one workday."""
    now = date + timedelta(hours=7, minutes=15 + below(40, SEED, number, "start"))
    stop = date + timedelta(hours=16, minutes=below(50, SEED, number, "stop"))
    noon = date + timedelta(hours=11, minutes=30 + below(40, SEED, number, "noon"))
    weights = [(name, t.weight * t.days.get(date.weekday(), 1.0)) for name, t in TASKS.items()]
    n, eaten = 0, False
    while now < stop:
        if not eaten and now >= noon:
            now, eaten = now + timedelta(minutes=40 + below(30, SEED, number, "break")), True
        for row in episode(TASKS[pick(weights, number, n, "task")], now, number, n):
            yield row
            now = datetime.fromisoformat(row["end"])
        now += timedelta(minutes=10 + below(60, SEED, number, n, "pause"))  # talks, calls, meetings, paper
        n += 1


def history() -> Iterator[dict[str, Any]]:
    """All events, oldest first."""
    for number in range(5 * N_WEEKS):
        week, weekday = divmod(number, 5)
        yield from day(FIRST_DAY + timedelta(days=7 * week + weekday), number)


def text() -> str:
    """The file's content."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in history())


if __name__ == "__main__":
    (HERE / "history.jsonl").write_text(text(), encoding="utf-8")
