"""Makes ``nora.jsonl``, ``tomas.jsonl`` and ``mei.jsonl``: two weeks in the lives of three people who do not exist.

    .venv/bin/python scenarios/people/make_history.py

Every event is MADE UP, by the rules of ``past.py`` and the tables below, which were written down with the profiles
before any agent or memory was run on them. The windows are those that the recordings show and others of the same
applications; what is asked follows the profile: nobody asks for what the profile says they can do.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from scenarios.people.past import Past, Task, Window

HERE = Path(__file__).resolve().parent
MONDAY = datetime(2026, 11, 16, tzinfo=UTC)
ASSISTANT = ("Chromium", "Assistant - new chat - Chromium")
Asked = Mapping[str, tuple[str, ...]]


def _window(
    app: str, title: str, *does: str, help_: float = 0.0, longest_s: int = 240, asks: Asked | None = None
) -> Window:
    """A window whose questions are weighted by how many ways of asking there are."""
    words = asks or {}
    return Window(app, title, does, help_, {k: float(len(v)) for k, v in words.items()}, words, longest_s=longest_s)


def _page(title: str, *does: str, help_: float = 0.0, longest_s: int = 240, asks: Asked | None = None) -> Window:
    return _window("Chromium", f"{title} - Chromium", *does, help_=help_, longest_s=longest_s, asks=asks)


def _text(title: str, *does: str, help_: float = 0.0, longest_s: int = 600, asks: Asked | None = None) -> Window:
    return _window("Mousepad", f"{title} - Mousepad", *does, help_=help_, longest_s=longest_s, asks=asks)


NEWS = _page("Harbour News", "reads the news", help_=0.02, asks={"Knowledge Q&A": ("who is the harbour master now",)})
FIND = _page(
    "{topic} — Find",
    "searches the web",
    "looks at the results of a search",
    help_=0.2,
    asks={
        "Information Lookup": ("where do I find out about {topic}", "{topic}: is there an official page"),
        "Knowledge Q&A": ("what does one have to know of {topic}",),
    },
)
CHAT = _page(
    "{room} — Messenger",
    "chats",
    "reads a thread",
    "answers a question",
    help_=0.06,
    asks={"Summarization": ("what did they decide in {room}",), "Content Generation": ("a kind no to this",)},
)
INBOX = _page(
    "Inbox — Webmail",
    "reads mail",
    "skims the inbox",
    help_=0.05,
    longest_s=300,
    asks={"Summarization": ("what does this mail want from me",), "Information Lookup": ("when was that",)},
)
HOME = _window("Pcmanfm", "{folder}", "looks through folders", longest_s=60)
PICTURE = _window("feh", "feh [1 of 1] - {photo}", "looks at a picture", longest_s=60)
PAUSE = Task(1.5, ((NEWS, 2), (HOME, 1), (PICTURE, 1)), (1, 3))

# Nora

SCRIPT_RUNS = _window(
    "XTerm",
    "orders: bash",
    "runs a script",
    "a command prints its output",
    "a command fails",
    help_=0.3,
    asks={
        "Error Correction": (
            "why does this end in a KeyError",
            "ValueError: could not convert string to float",
            "IndexError in my loop, why",
            "no such file although it is there",
        ),
        "Coding/Programming": ("read a table with semicolons", "sum up by name in Python"),
    },
)
SCRIPT = _text(
    "{script}",
    "edits a script",
    "reads code",
    help_=0.12,
    asks={
        "Coding/Programming": ("a function that rounds to five cents", "turn this into one loop"),
        "Error Correction": ("what is wrong with line 14",),
    },
)
HANDBOOK = _page(
    "csv: tables as text — Handbook",
    "reads documentation",
    help_=0.1,
    longest_s=300,
    asks={"Knowledge Q&A": ("what is a dialect of csv",)},
)
LIST = _text(
    "dates.txt",
    "types into a list",
    "tidies a list",
    help_=0.25,
    longest_s=400,
    asks={
        "Format Conversion": ("all these dates as YYYY-MM-DD", "this list as a table with commas"),
        "Document Editing": ("sort this list and take doubles out",),
    },
)
SHOP = _page(
    "{thing} — {shop}",
    "looks at an article",
    "reads what others say",
    help_=0.3,
    asks={
        "Comparison/Evaluation": ("which of the two {thing} is lighter for the money", "is the dearer one worth it"),
        "Mathematical Calculation": ("what is that in euros with the parcel",),
    },
)
POLISH = _page(
    "Piec w domku — Webmail",
    "opens a letter in Polish",
    help_=0.5,
    asks={"Translation": ("translate this letter from Polish", "my answer in Polish, polite")},
)
GERMAN = _page("Hausordnung der Hütte — Webmail", "reads a letter in German")
NORA = {
    "lab": Task(4.0, ((SCRIPT_RUNS, 4), (SCRIPT, 4), (HANDBOOK, 1.5)), (3, 8), moody=True),
    "lists": Task(1.5, ((LIST, 3), (INBOX, 1)), (2, 4)),
    "shop": Task(0.6, ((SHOP, 3), (FIND, 1)), (3, 5)),
    "letters": Task(0.6, ((POLISH, 2), (GERMAN, 2)), (1, 3)),
    "mail": Task(2.5, ((INBOX, 3), (CHAT, 2)), (2, 5)),
    "pause": PAUSE,
}

# Tomás

WRITING = _text(
    "{text}",
    "writes a text",
    "shortens a text",
    "reads a text",
    help_=0.25,
    longest_s=700,
    asks={
        "Document Editing": ("make this half as long", "the same in 60 words", "correct my English here"),
        "Content Generation": ("a friendly first sentence for {text}",),
    },
)
FERRY = _page(
    "{ferry} — Skarra ferry",
    "reads a timetable",
    "looks for a fare",
    help_=0.25,
    asks={"Information Lookup": ("last boat back on Sunday", "what does a group of ten pay")},
)
TRIP = _text(
    "skarra.txt", "notes something", help_=0.05, longest_s=120, asks={"Document Editing": ("make a list of this",)}
)
SHEET = _window(
    "Gnumeric",
    "{sheet} - Gnumeric",
    "fills in a column",
    "checks a sum",
    "sorts a table",
    help_=0.3,
    longest_s=600,
    asks={
        "Data Analysis": ("which row grew most", "the mean without empty rows", "a pivot by month", "why #DIV/0!"),
        "Mathematical Calculation": ("12 percent less, then the tax",),
    },
)
GIT = _window(
    "XTerm",
    "rota: bash",
    "types git commands",
    "git says something went wrong",
    help_=0.5,
    asks={
        "Error Correction": (
            "git: your branch has diverged, what now",
            "how do I undo my last commit",
            "what is a detached HEAD",
        ),
    },
)
ROTA = _text("rota.txt", "edits the rota", help_=0.1, asks={"Error Correction": ("what are these <<<<<<< lines",)})
TOMAS = {
    "events": Task(3.0, ((WRITING, 4), (INBOX, 2), (CHAT, 1)), (2, 6)),
    "trips": Task(1.2, ((FIND, 3), (FERRY, 2), (TRIP, 1)), (3, 6)),
    "figures": Task(2.0, ((SHEET, 4), (INBOX, 1)), (2, 5)),
    "git": Task(0.5, ((GIT, 3), (ROTA, 1)), (2, 4)),
    "notices": Task(
        0.5,
        (
            (
                _page(
                    "实验室通知",
                    "opens a notice in Chinese",
                    help_=0.5,
                    longest_s=150,
                    asks={"Translation": ("what does this Chinese notice say",)},
                ),
                2,
            ),
            (_page("Habitación cerca del puerto", "reads a page in Spanish"), 2),
        ),
        (1, 3),
    ),
    "pause": PAUSE,
}

# Mei

SHELL = _window(
    "XTerm",
    "{repo}: bash",
    "runs tests",
    "looks at a log",
    "merges a branch",
    "a command prints its output",
    help_=0.15,
    asks={
        "Coding/Programming": (
            "an awk line that counts by hour",
            "sed that takes the unit off a number",
            "a find for files over 10 MB",
            "a shell loop over these names",
        ),
        "Error Correction": ("why is the test flaky on Mondays",),
    },
)
CODE = _text(
    "{script}",
    "edits a function",
    "reads code",
    help_=0.05,
    asks={"Coding/Programming": ("a faster way to parse this",)},
)
SPANISH = _page(
    "Habitación en el centro",
    "opens a page in Spanish",
    help_=0.5,
    asks={"Translation": ("what does this Spanish page say on the deposit", "my message to the landlord in Spanish")},
)
MEI = {
    "service": Task(4.0, ((SHELL, 4), (CODE, 3), (CHAT, 1.5)), (3, 8), moody=True),
    "rooms": Task(0.5, ((SPANISH, 3), (FIND, 1)), (1, 3)),
    "notices": Task(0.5, ((_page("实验室通知", "reads a notice in Chinese"), 2),), (1, 2)),
    "mail": Task(2.0, ((INBOX, 3), (CHAT, 2)), (2, 4)),
    "pause": PAUSE,
}

FILLS = {
    "topic": ("winter lamps", "ferry with bicycles", "room near the harbour", "fish soup"),
    "room": ("Sampling", "Canteen", "Tide page", "Open day"),
    "folder": ("Pictures", "orders", "leaflet", "Documents"),
    "photo": ("boat.png", "hut.png", "whiteboard.png"),
    "script": ("report.py", "tides.py", "plot.py"),
    "thing": ("Ridge 40", "Lamp 300", "Boots"),
    "shop": ("Fjell", "Wander & Co", "Kram"),
    "text": ("open-day.txt", "invitation.txt", "minutes.txt"),
    "ferry": ("Timetable", "Fares", "News"),
    "sheet": ("stalls.csv", "costs.csv", "visitors.csv"),
    "repo": ("logs", "tide", "rota"),
}
PASTS = {
    "nora": Past(211, NORA, FILLS, ASSISTANT, MONDAY, 2),
    "tomas": Past(212, TOMAS, FILLS, ASSISTANT, MONDAY, 2),
    "mei": Past(213, MEI, FILLS, ASSISTANT, MONDAY, 2),
}


def texts() -> dict[str, str]:
    """File name -> content."""
    return {f"{name}.jsonl": past.text() for name, past in PASTS.items()}


if __name__ == "__main__":
    for file, content in texts().items():
        (HERE / file).write_text(content, encoding="utf-8")
