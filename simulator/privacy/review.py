"""People decide about single pictures: retain, blur, delete. Nothing changes until the review is closed.

Decisions are notes in the session, so a review can be left and taken up again, and the last one can be taken back. To
*blur* is the word of the papers; boxes are filled, since what is blurred can be read again.

When a review is closed, what a person marked in one picture is looked for at the same place in the pictures around it
(``spread``), and pictures that are nearly the same as a deleted one wait for a person again, or go with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from simulator.core.errors import InputError, nearest
from simulator.core.files import csv_rows, json_lines
from simulator.core.taxonomy import category
from simulator.core.types import SECOND
from simulator.privacy.layout import Box
from simulator.privacy.picture import Grey, grey, likeness, paint
from simulator.privacy.recorded import Recorded
from simulator.privacy.spread import spread
from simulator.privacy.states import Picture, Shelf, State
from simulator.screen.pixels import decode, size

__all__ = ["DECISIONS", "LIKE", "Closed", "Decision", "Waiting", "alike", "close", "decide", "decision", "queue",
           "read_decisions", "record"]  # fmt: skip

DECISIONS = ("retain", "blur", "delete")
LIKE = 0.95
"""The share of equal blocks from which two pictures are nearly the same; a typed letter changes 0.1 to 0.9 %."""

_FAR = 50  # pictures to walk from a deleted one, each way
_SPREAD = "spread"  # a blur that follows from that of a neighbour: clears no flag
LIKE_DELETED = "like a deleted one"


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided of a picture; boxes (x, y, width, height) for ``blur``, none for what was found."""

    picture: str
    word: Literal["retain", "blur", "delete"]
    boxes: tuple[tuple[int, int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Waiting:
    """A picture in the queue.

    Attributes:
        why: what it waits for; ``not looked at`` where no scan has seen it, with what a screener said of it.
        boxes: found, and not filled.
        filled: found, and filled already.
        decision: of the person, not carried out yet; None for none.
    """

    picture: Picture
    why: tuple[str, ...]
    boxes: tuple[Box, ...]
    decision: str | None
    filled: tuple[Box, ...] = ()


@dataclass(slots=True)
class Closed:
    """What closing a review did; ``n_spread`` pictures were filled as neighbours, ``n_like`` wait or went with a
    deleted one.
    """

    n_retained: int = 0
    n_blurred: int = 0
    n_deleted: int = 0
    n_spread: int = 0
    n_like: int = 0
    n_waiting: int = 0
    moved: dict[str, str | None] = field(default_factory=dict)


def queue(shelf: Shelf, *, everything: bool = False) -> list[Waiting]:
    """The pictures that wait for a person, in order; or all."""
    looks, flags, boxes = shelf.looks(), shelf.flags(), shelf.boxes(filled=False)
    filled = shelf.boxes(filled=True)
    decided = {path: word for _, path, word, _ in shelf.decisions()}
    return [
        Waiting(
            picture,
            tuple(flags.get(picture.path, ()))
            or (
                ()
                if picture.path in looks or picture.state is not State.UNREVIEWED
                else ("not looked at", *shelf.serious(picture.path))
            ),
            tuple(boxes.get(picture.path, ())),
            decided.get(picture.path),
            tuple(filled.get(picture.path, ())),
        )
        for picture in shelf.pictures()
        if everything or picture.state is State.UNREVIEWED
    ]


def record(one: Waiting) -> dict[str, Any]:
    """A line of a queue file, which with ``decision`` filled in is a file of decisions. It holds no title, and of what
    was found its kind and place.
    """
    found = [{"kind": b.kind, "box": [b.x, b.y, b.width, b.height], "filled": b in one.filled}
             for b in (*one.boxes, *one.filled)]  # fmt: skip
    return {
        "picture": one.picture.path,
        "at_s": round(one.picture.captured_ns / SECOND, 3),
        "rows": one.picture.n_rows,
        "state": str(one.picture.state),
        "why": list(one.why),
        "boxes": [[b.x, b.y, b.width, b.height] for b in one.boxes],
        "found": found,
        "decision": one.decision,
    }


def read_decisions(file: Path, shelf: Shelf) -> list[Decision]:
    """Decisions from JSON lines (or CSV, by the name's ending), lines without one left out.

    ``picture`` is a path as in the queue, or the beginning of its file name (8 letters and more); ``boxes`` a list of
    [x, y, width, height], in CSV as JSON.

    Raises:
        InputError: an unknown picture or decision, boxes outside of the picture.
    """
    pictures = {p.path for p in shelf.pictures()}
    return [made for line, row in _lines(file) if (made := decision(line, row, pictures, shelf.folder))]


def decide(shelf: Shelf, decisions: Sequence[Decision]) -> None:
    """Note decisions; a later one of the same picture counts."""
    for one in decisions:
        shelf.decide(one.picture, one.word, one.boxes)


def close(shelf: Shelf, *, neighbours: bool = False, progress: Callable[[str, int, int], None] | None = None) -> Closed:
    """Carry out all decisions, which cannot be undone afterwards. Killed in between, it goes on at the next call.

    Args:
        shelf: the session.
        neighbours: pictures nearly the same as a deleted one are deleted too, instead of waiting for a person.
        progress: called with what is being done, how many are done, of how many.
    """
    done = Closed()
    _add_spread(shelf)
    _look_beside(shelf, done, neighbours)
    found = shelf.boxes(filled=False)
    last: dict[str, tuple[str, list[tuple[int, int, int, int]]]] = {}
    numbers: dict[str, list[int]] = {}
    for number, path, word, boxes in shelf.decisions():
        last[path] = (word, boxes)
        numbers.setdefault(path, []).append(number)
    for n, (path, (word, boxes)) in enumerate(last.items(), 1):
        done.moved[path] = _carry_out(shelf, done, path, word, boxes, found.get(path, []))
        shelf.undo(numbers[path])
        if progress is not None:
            progress("closing", n, len(last))
    done.n_waiting = sum(p.state is State.UNREVIEWED for p in shelf.pictures())
    return done


def _carry_out(
    shelf: Shelf,
    done: Closed,
    path: str,
    word: str,
    given: Sequence[tuple[int, int, int, int]],
    found: Sequence[Box],
) -> str | None:
    """One decision; the picture's path afterwards."""
    if word == "delete":
        private_title = any(why.startswith("window: ") for why in shelf.flags_of(path))
        shelf.delete(path, _scene(shelf, path), with_title=private_title)
        done.n_deleted += 1
        return None
    if word == "retain":
        filled = path in shelf.boxes(filled=True)
        shelf.settle(path, State.REDACTED if filled else State.PASSED, by_person=True)
        done.n_retained += 1
        return path
    image = decode(shelf.folder / path)
    by_person = word != _SPREAD
    boxes = [Box(*box, "person") for box in given] or list(found) or [Box(0, 0, *image.size, "person")]
    left = [] if by_person else found
    new, _ = shelf.replace(path, paint(image, boxes), State.REDACTED, filled=boxes, left=left, by_person=by_person)
    done.n_blurred += by_person
    done.n_spread += not by_person
    return new


def _add_spread(shelf: Shelf) -> None:
    """Decisions for the neighbours in which the letters of a person's boxes stand too."""
    decided = {path for _, path, _, _ in shelf.decisions()}
    marked: dict[str, list[Box]] = {}
    for _, path, word, boxes in shelf.decisions():
        if word == "blur" and boxes:
            marked[path] = [Box(*box, "person") for box in boxes]
    for order in _orders(shelf).values():
        more = spread(order, marked, lambda path: grey(decode(shelf.folder / path)))
        for path, found in more.items():
            if path not in decided:
                shelf.decide(path, _SPREAD, [(b.x, b.y, b.width, b.height) for b in found])


def _look_beside(shelf: Shelf, done: Closed, neighbours: bool) -> None:
    """Pictures nearly the same as one that goes: they go too, or wait. Before it goes, since then it is gone."""
    decided = {path: word for _, path, word, _ in shelf.decisions()}
    going = [path for path, word in decided.items() if word == "delete"]
    like: dict[str, None] = {}
    load = lru_cache(maxsize=64)(lambda path: grey(decode(shelf.folder / path)))  # 2 MB each at 1080p
    for order in _orders(shelf).values():
        for gone in going:
            for path in _like(order, gone, load):
                if decided.get(path, _SPREAD) == _SPREAD:
                    like[path] = None
    for path in like:
        if neighbours:
            shelf.decide(path, "delete")
        else:
            shelf.flag(path, LIKE_DELETED)
    done.n_like = len(like)


def alike(recorded: Recorded, folder: Path, path: str) -> list[str]:
    """Pictures around one that are nearly the same as it, as closing looks for them around a deleted one."""
    load = lru_cache(maxsize=8)(lambda path: grey(decode(folder / path)))
    return list(dict.fromkeys(one for order in _orders(recorded).values() for one in _like(order, path, load)))


def _like(order: Sequence[str], gone: str, load: Callable[[str], Grey]) -> Iterator[str]:
    """Pictures around each place of one that goes, as far as they are nearly the same as it."""
    for i in [i for i, path in enumerate(order) if path == gone]:
        for way in (order[i + 1 : i + 1 + _FAR], order[max(0, i - _FAR) : i][::-1]):
            for path in way:
                try:
                    if path != gone and likeness(load(gone), load(path)) < LIKE:
                        break
                except InputError:  # damaged: nothing to compare with
                    break
                if path != gone:
                    yield path


def _orders(shelf: Recorded) -> dict[int, list[str]]:
    made: dict[int, list[str]] = {}
    for monitor, path in shelf.sequence():
        made.setdefault(monitor, []).append(path)
    return made


def _scene(shelf: Shelf, path: str) -> str:
    """What is left to say of a deleted picture: the class of the application, nothing that it showed."""
    kind = next((category(app, title) for app, title in shelf.windows(path) if app), None)
    return f"A window ({kind or 'of unknown kind'}); the picture was deleted for privacy."


def _lines(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if file.suffix.lower() == ".csv":
        for number, row in csv_rows(file):
            where = f"{file}, line {number}"
            try:
                boxes = json.loads(row["boxes"]) if row.get("boxes") else []
            except ValueError:
                raise InputError(where, "a JSON list of [x, y, width, height]", field="boxes") from None
            yield where, {**row, "boxes": boxes}
        return
    for number, value in json_lines(file):
        where = f"{file}, line {number}"
        if not isinstance(value, dict):
            raise InputError(where, 'an object such as {"picture": "…", "decision": "retain"}')
        yield where, value


def decision(where: str, row: Mapping[str, Any], pictures: set[str], folder: Path) -> Decision | None:
    """A line of a file of decisions, or what else has ``picture``, ``decision`` and ``boxes``; None without a decision.

    Args:
        where: for sentences.
        row: what is given.
        pictures: the session's.
        folder: of the session.

    Raises:
        InputError: an unknown picture or decision, boxes outside of the picture.
    """
    word = row.get("decision")
    if word is None or word == "":
        return None
    if word not in DECISIONS:
        raise InputError(where, nearest(str(word), DECISIONS), field="decision", value=word)
    path = _picture(where, row.get("picture"), pictures)
    boxes = row.get("boxes") or []
    width, height = size(folder / path) if boxes and word == "blur" else (0, 0)
    if not isinstance(boxes, list) or not all(_is_box(box, width, height) for box in boxes if word == "blur"):
        want = f"a list of [x, y, width, height] within the picture of {width} x {height} pixels"
        raise InputError(where, want, field="boxes")
    return Decision(path, word, tuple((b[0], b[1], b[2], b[3]) for b in boxes) if word == "blur" else ())


def _is_box(box: Any, width: int, height: int) -> bool:
    return (
        isinstance(box, list)
        and len(box) == 4
        and all(type(n) is int for n in box)
        and min(box) >= 0
        and min(box[2:]) > 0
        and box[0] + box[2] <= width
        and box[1] + box[3] <= height
    )


def _picture(where: str, given: Any, pictures: set[str]) -> str:
    name = given if isinstance(given, str) else ""
    if name in pictures:
        return name
    found = sorted(p for p in pictures if len(name) >= 8 and p.rsplit("/", 1)[-1].startswith(name))
    if len(found) != 1:
        want = "several pictures begin so" if found else "no picture of the session; the queue lists them"
        raise InputError(where, want, field="picture", value=given)
    return found[0]
