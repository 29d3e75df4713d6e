"""How a made-up past is drawn: tasks of a workday, windows that a task visits, questions to an assistant.

Every event that comes of it is MADE UP, by these rules and a person's tables and nothing else:

* A workday (Monday to Friday) is a row of *episodes* from about 07:30 to 16:30 UTC with a break at noon. An episode is
  a task, a handful of windows visited one after the other. How often a task comes up is its ``weight``, times ``days``
  for tasks that have their days.
* How long a window stays open is drawn log-uniformly between the bounds of the window.
* Whether a visit ends in a question to the assistant is drawn with the window's ``help``. An episode of a *moody* task
  is first drawn as going well (2 of 3) or badly (1 of 3); badly multiplies ``help`` by 2.5, well by 0.3. So the same
  window title ends in a question now and then, and never says when.
* What is asked is drawn from the window's ``asks``, weighted; the words from its ``words`` for that intention.
* A question is followed by an event in the assistant's own window (``assistance``); its label, help with intention and
  query, stands on the window before it, in which the need arose. All other events say ``help: false``.

Chance comes from ``simulator.core.rng`` under names (day, episode, step, purpose): the same seed gives the same past.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from simulator.core.rng import below, unit

__all__ = ["Past", "Task", "Window"]

T = TypeVar("T")
MOOD = {True: 2.5, False: 0.3}
P_BADLY = 1 / 3


@dataclass(frozen=True, slots=True)
class Window:
    """A window that a task visits.

    ``title`` and the questions may hold names in braces, filled once an episode. ``help`` is how often a visit ends in
    a question, ``asks`` the weights of the intentions, ``words`` the questions for each.
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


@dataclass(frozen=True, slots=True)
class Past:
    """A person's past.

    Args:
        seed: fixes every draw.
        tasks: by name.
        fills: what may stand for a name in braces.
        assistant: application and title of the assistant's window.
        first_day: a Monday, 00:00 UTC.
        n_weeks: how many weeks of five days.
    """

    seed: int
    tasks: Mapping[str, Task]
    fills: Mapping[str, tuple[str, ...]]
    assistant: tuple[str, str]
    first_day: datetime = datetime(2026, 11, 2, tzinfo=UTC)
    n_weeks: int = 4

    def text(self) -> str:
        """The past as JSON lines, oldest first."""
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.events())

    def events(self) -> Iterator[dict[str, Any]]:
        """All events, oldest first."""
        for number in range(5 * self.n_weeks):
            week, weekday = divmod(number, 5)
            yield from self._day(self.first_day + timedelta(days=7 * week + weekday), number)

    def _pick(self, choices: Sequence[tuple[T, float]], *names: str | int) -> T:
        """One of the choices, by weight."""
        left = unit(self.seed, *names) * sum(weight for _, weight in choices)
        for choice, weight in choices:
            left -= weight
            if left < 0:
                return choice
        return choices[-1][0]

    def _one_of(self, choices: Sequence[T], *names: str | int) -> T:
        """One of the choices, each as likely."""
        return choices[below(len(choices), self.seed, *names)]

    def _length_s(self, window: Window, *names: str | int) -> int:
        """How long a visit lasts: log-uniform between the window's bounds."""
        stretch: float = (window.longest_s / window.shortest_s) ** unit(self.seed, *names, "length")
        return round(window.shortest_s * stretch)

    def _visits(self, task: Task, *names: str | int) -> Iterator[tuple[Window, dict[str, str], float]]:
        """The windows of an episode with the fillings and the chance of a question; never one twice in a row."""
        fills = {slot: self._one_of(options, *names, slot) for slot, options in self.fills.items()}
        mood = MOOD[unit(self.seed, *names, "badly") < P_BADLY] if task.moody else 1.0
        low, high = task.n_visits
        before: Window | None = None
        for step in range(low + below(high - low + 1, self.seed, *names, "n")):
            choices = [w for w in task.windows if w[0] is not before] or task.windows
            window = self._pick(choices, *names, step, "window")
            yield window, fills, min(1.0, window.help * mood)
            before = window

    def _episode(self, task: Task, start: datetime, *names: str | int) -> Iterator[dict[str, Any]]:
        """The events of one episode, one after the other from ``start``."""
        now = start
        for step, (window, fills, chance) in enumerate(self._visits(task, *names)):
            here = (*names, step)
            end = now + timedelta(seconds=self._length_s(window, *here))
            asked = unit(self.seed, *here, "help") < chance
            label: dict[str, Any] = {"help": asked}
            if asked:
                intention = self._pick(tuple(window.asks.items()), *here, "intention")
                query = self._one_of(window.words[intention], *here, "query").format(**fills)
                label |= {"intention": intention, "query": query}
            summary = self._one_of(window.summaries, *here, "summary")
            yield _row(now, end, window.app, window.title.format(**fills), summary, **label)
            if asked:
                now, end = end, end + timedelta(seconds=25 + below(200, self.seed, *here, "answer"))
                yield _row(now, end, *self.assistant, "asks an assistant and reads the answer", assistance=True,
                           intention=intention, query=query)  # fmt: skip
            now = end

    def _day(self, date: datetime, number: int) -> Iterator[dict[str, Any]]:
        """The events of one workday."""
        now = date + timedelta(hours=7, minutes=15 + below(40, self.seed, number, "start"))
        stop = date + timedelta(hours=16, minutes=below(50, self.seed, number, "stop"))
        noon = date + timedelta(hours=11, minutes=30 + below(40, self.seed, number, "noon"))
        weights = [(name, t.weight * t.days.get(date.weekday(), 1.0)) for name, t in self.tasks.items()]
        n, eaten = 0, False
        while now < stop:
            if not eaten and now >= noon:
                now, eaten = now + timedelta(minutes=40 + below(30, self.seed, number, "break")), True
            for row in self._episode(self.tasks[self._pick(weights, number, n, "task")], now, number, n):
                yield row
                now = datetime.fromisoformat(row["end"])
            now += timedelta(minutes=10 + below(60, self.seed, number, n, "pause"))  # talks, calls, meetings, paper
            n += 1


def _row(start: datetime, end: datetime, app: str, title: str, summary: str, **rest: Any) -> dict[str, Any]:
    times = {key: at.isoformat().replace("+00:00", "Z") for key, at in (("start", start), ("end", end))}
    return {**times, "app": app, "title": title, "summary": summary, **rest}
