"""What was found in one picture, looked for at the same place in the pictures before and after it.

A number is typed letter by letter, and only the last picture holds it whole; OCR reads one of two equal fields and not
the other. The letters themselves are the same, to the pixel (``picture.Stencil``), whatever rules and OCR make of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from simulator.core.errors import InputError
from simulator.privacy.layout import Box
from simulator.privacy.picture import Grey, Stencil, stencils, uncovered

__all__ = ["NEAR", "spread"]

NEAR = 30  # pictures before and after, each different from the one before it


def spread(
    order: Sequence[str], found: Mapping[str, Sequence[Box]], load: Callable[[str], Grey]
) -> dict[str, list[Box]]:
    """More boxes, by picture: those of its neighbours whose letters stand in it too, and that none of its own covers.

    Args:
        order: the pictures of one monitor as they follow each other; one may come several times.
        found: the boxes of each.
        load: the picture's levels of grey; may raise ``InputError``, then nothing is spread to or from it.
    """
    if not any(found.get(path) for path in order):
        return {}
    more: dict[str, dict[Box, None]] = {}
    for way in (order, order[::-1]):
        recent: deque[tuple[str, list[Stencil]]] = deque(maxlen=NEAR)
        for path in way:
            if not found.get(path) and not any(marks for _, marks in recent):
                recent.append((path, []))
                continue  # nothing to look for: not even decoded
            try:
                picture = load(path)
            except InputError:
                recent.append((path, []))
                continue
            for box in _fitting(picture, (s for source, marks in recent if source != path for s in marks)):
                if uncovered(found, path, box):
                    more.setdefault(path, {})[box] = None
            recent.append((path, stencils(picture, found.get(path, ()))))
    return {path: list(boxes) for path, boxes in more.items()}


def _fitting(picture: Grey, marks: Iterable[Stencil]) -> list[Box]:
    done: set[tuple[int, int, int, int]] = set()
    boxes = []
    for mark in marks:
        place = (mark.box.x, mark.box.y, mark.box.width, mark.box.height)
        if place not in done and mark.fits(picture):
            done.add(place)
            boxes.append(mark.box)
    return boxes
