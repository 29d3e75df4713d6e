"""A made-up event with its words: window, question, intention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from simulator.workload import words
from simulator.workload.person import Made, Person

__all__ = ["Named", "Namer"]


class Named(NamedTuple):
    """An event as it is written down; times in seconds since the first day's midnight.

    ``title`` is the number of a window among the namer's ``windows``.
    """

    start_s: int
    end_s: int
    window: int
    assistance: bool
    need: bool
    intention: str | None
    query: str | None


class Namer:
    """The windows and questions of one user.

    Attributes:
        windows: application, title and topic of every window that the user may have in front; the last one is the
            assistant's.
    """

    def __init__(self, person: Person) -> None:
        self._person = person
        self.assistant = words.assistant(person.seed, person.user)
        self.windows: list[tuple[str, str, str]] = []
        self._first: list[int] = []
        self._questions: dict[tuple[int, int], list[str]] = {}
        for cell in person.habits.cells:
            self._first.append(len(self.windows))
            self.windows += [(cell.app, title, cell.topic) for title in words.titles(cell.app, cell.topic)]
        self._first.append(len(self.windows))
        self.windows.append((self.assistant.app, self.assistant.title, ""))

    def events(self) -> Iterator[Named]:
        """All events of the user; no window comes twice in a row, since that would be one event."""
        assistant, first, before = len(self.windows) - 1, self._first, -1
        for made in self._person.events():
            if made.assistance:
                window = assistant
            else:
                start = first[made.cell]
                n = first[made.cell + 1] - start
                window = start + made.draw % n
                if window == before:
                    window = start + (made.draw + 1) % n
            before = window
            if made.intention < 0:
                yield Named(made.start_s, made.end_s, window, False, False, None, None)
                continue
            intention = self._person.habits.intentions[made.intention]
            yield Named(made.start_s, made.end_s, window, made.assistance, made.need, intention, self._question(made))

    def _question(self, made: Made) -> str:
        key = (made.cell, made.intention)
        known = self._questions.get(key)
        if known is None:
            habits = self._person.habits
            topic = habits.cells[made.cell].topic
            known = self._questions[key] = words.questions(habits.intentions[made.intention], topic)
        return known[made.question % len(known)]
