"""Writing a made-up past: one JSON line an event, as ``simulator.session.history`` reads it, as it is made."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import TextIO

from simulator.workload.hours import DAY_S
from simulator.workload.named import Named, Namer

__all__ = ["HistoryFile"]

_CLOCK = [f"T{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}Z" for s in range(DAY_S)]


class HistoryFile:
    """Appends events to an open file; what repeats is turned into JSON once.

    Attributes:
        n_events: how many were written.
    """

    def __init__(self, file: TextIO, namer: Namer, user: str, first_day: date) -> None:
        self._file, self._user, self._first_day = file, user, first_day
        self._windows = [f'"app":{_json(app)},"title":{_json(title)}' for app, title, _ in namer.windows]
        self._day, self._date = -1, ""
        self._told: dict[tuple[str | None, str | None], str] = {}
        self.n_events = 0

    def write(self, event: Named) -> None:
        """One event."""
        self.n_events += 1
        line = (
            f'{{"id":"{self._user}/h{self.n_events}","start":"{self._time(event.start_s)}",'
            f'"end":"{self._time(event.end_s)}",{self._windows[event.window]}'
        )
        if event.assistance:
            line += f',"assistance":true,{self._asked(event)}}}\n'
        elif event.need:
            line += f',"help":true,{self._asked(event)}}}\n'
        else:
            line += ',"help":false}\n'
        self._file.write(line)

    def _time(self, at_s: int) -> str:
        day, second = divmod(at_s, DAY_S)
        if day != self._day:
            self._day, self._date = day, (self._first_day + timedelta(days=day)).isoformat()
        return self._date + _CLOCK[second]

    def _asked(self, event: Named) -> str:
        key = (event.intention, event.query)
        told = self._told.get(key)
        if told is None:
            told = f'"intention":{_json(event.intention)},"query":{_json(event.query)}'
            if len(self._told) < 10_000:
                self._told[key] = told
        return told


def _json(value: str | None) -> str:
    return json.dumps(value, ensure_ascii=False)
