"""Hands and eyes of a person at the desk: keys, clicks and looks with human pauses, each logged with its instant.

Pauses come from ``simulator.core.rng`` under the names of the action, so that a script takes the same course each time;
when exactly it happens is as the machine has it, and is read from the log.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scenarios.record.needs import Need
from simulator.core.rng import unit
from simulator.core.types import SECOND
from simulator.timing.clock import rest, wall_ns

__all__ = ["Action", "DeskError", "Hands"]


class DeskError(Exception):
    """The desk does not do what the script expects; such a take is thrown away."""


@dataclass(frozen=True, slots=True)
class Action:
    """What was done or what it showed, at an instant of the calendar (ns since the epoch)."""

    wall_ns: int
    what: Mapping[str, Any]


class Hands:
    """One person's hands on one display.

    Args:
        env: the environment of the display.
        seed: fixes the pauses.
        places: where the elements of the page in front are.
    """

    def __init__(self, env: Mapping[str, str], seed: int, places: Callable[[], Mapping[str, tuple[int, int]]]) -> None:
        self.log: list[Action] = []
        self._env, self._seed, self._places = dict(env), seed, places

    # what is done

    def type(self, text: str, *, pace: float = 1.0) -> None:
        """Type a line word by word, as fast as somebody who knows the keyboard; ``pace`` 2 is twice as slow."""
        self._note(do="type", text=text)
        words = text.split(" ")
        for n, word in enumerate(words):
            piece = word if n == len(words) - 1 else word + " "
            delay = round((55 + 60 * self._chance("key")) * pace)
            if piece:
                self._xdotool("type", "--delay", str(delay), "--", piece)
            self._wait(0.05 * pace + 0.25 * pace * self._chance("word"))

    def key(self, *chords: str, pause: float = 0.25) -> None:
        """Press keys, one after the other: ``Return``, ``ctrl+l``."""
        for chord in chords:
            self._note(do="key", key=chord)
            self._xdotool("key", "--clearmodifiers", chord)
            self._wait(pause * (0.7 + 0.6 * self._chance("pause")))

    def click(self, place: str | tuple[int, int], *, times: int = 1, held: str | None = None) -> None:
        """Click on an element of the page in front, or at a point of the screen, with a key held down or without."""
        x, y = self.find(place) if isinstance(place, str) else place
        self._xdotool("mousemove", str(x), str(y))
        self._wait(0.25 + 0.3 * self._chance("aim"))
        self._note(do="click", at=place if isinstance(place, str) else [x, y])
        press = ("click", *(("--repeat", str(times), "--delay", "90") if times > 1 else ()), "1")
        self._xdotool(*(press if held is None else ("keydown", held, *press, "keyup", held)))
        self._wait(0.3)

    def drag(self, start: str | tuple[int, int], end: str | tuple[int, int]) -> None:
        """Mark from one place to another with the button held."""
        (x, y), (to_x, to_y) = (self.find(p) if isinstance(p, str) else p for p in (start, end))
        self._xdotool("mousemove", str(x), str(y))
        self._wait(0.3)
        self._note(do="drag", at=[x, y], to=[to_x, to_y])
        self._xdotool("mousedown", "1")
        for step in range(1, 9):
            self._xdotool("mousemove", str(x + (to_x - x) * step // 8), str(y + (to_y - y) * step // 8))
            self._wait(0.06)
        self._xdotool("mouseup", "1")
        self._wait(0.3)

    def scroll(self, clicks: int, *, pause: float = 0.5) -> None:
        """Turn the wheel: down, or up where negative."""
        for _ in range(abs(clicks)):
            self._note(do="scroll", clicks=1 if clicks > 0 else -1)
            self._xdotool("click", "5" if clicks > 0 else "4")
            self._wait(pause * (0.6 + 0.8 * self._chance("wheel")))

    def rest_at(self, x: int, y: int) -> None:
        """Put the mouse somewhere."""
        self._xdotool("mousemove", str(x), str(y))

    def look(self, seconds: float) -> None:
        """Do nothing but look, for about so long."""
        self._note(do="look", about_s=seconds)
        self._wait(seconds * (0.9 + 0.2 * self._chance("look")))

    def raise_(self, title: str) -> None:
        """Bring the window to the front whose title holds the text."""
        self._note(do="raise", window=title)
        said = ""
        for _ in range(15):
            ids = self._xdotool("search", "--onlyvisible", "--name", title, check=False).split()
            if ids:
                self._xdotool("windowactivate", ids[-1], check=False)
                self._wait(0.15)
                said = self.title()
                if title in said:
                    self._wait(0.2)
                    return
            self._wait(0.3)
        raise DeskError(f"no window with {title!r} came to the front, but {said!r}")

    def go_to(self, page: str, title: str) -> None:
        """In the browser in front: type an address, and wait for the page."""
        self.key("ctrl+l")
        self.type(page)
        self.key("Return")
        self.wait_for(title)

    def new_line(self, number: int, text: str) -> None:
        """In the editor in front: type a line anew."""
        self.key("ctrl+l")
        self.wait_for("Go To")
        self.type(str(number))
        self.key("Return")
        self.wait_for("Mousepad")  # a key too early would go to the dialog that closes
        self.key("Home", "shift+End")
        self.type(text)

    # what is seen

    def title(self) -> str:
        """The title of the window in front."""
        return self._xdotool("getactivewindow", "getwindowname", check=False).strip()

    def wait_for(self, title: str, *, within_s: float = 12) -> None:
        """Wait until the window in front has the text in its title."""
        until = wall_ns() + round(within_s * SECOND)
        while title not in self.title():
            if wall_ns() > until:
                raise DeskError(f"waited for {title!r}, but the title is {self.title()!r}")
            rest(SECOND // 10)
        self._wait(0.3)

    def find(self, name: str, *, within_s: float = 6) -> tuple[int, int]:
        """Where an element of the page in front is."""
        until = wall_ns() + round(within_s * SECOND)
        while name not in self._places():
            if wall_ns() > until:
                raise DeskError(f"no element {name!r} on the page; there are {sorted(self._places())}")
            rest(SECOND // 10)
        rest(SECOND // 4)  # it may still be moving
        return self._places()[name]

    # what it means

    def opens(self, *needs: Need) -> None:
        """From the next snapshot on the screen shows these needs."""
        self._wait(0.25)  # the screen needs a moment to show what was done
        for need in needs:
            self._note(need=need.id, is_="open")

    def closes(self, *needs: Need) -> None:
        """These needs end with the action that follows: the person turns away, or has done it alone."""
        for need in needs:
            self._note(need=need.id, is_="closed")

    def _note(self, **what: Any) -> None:
        self.log.append(Action(wall_ns(), {key.rstrip("_"): value for key, value in what.items()}))

    def _chance(self, purpose: str) -> float:
        return unit(self._seed, "hands", len(self.log), purpose)

    def _wait(self, seconds: float) -> None:
        rest(round(seconds * SECOND))

    def _xdotool(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(["xdotool", *words], env=self._env, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise DeskError(f"xdotool {words[0]}: {done.stderr.strip()}")
        return done.stdout
