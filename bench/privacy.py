"""Redaction afterwards: how much of planted data is found, how much else is filled, and what a picture costs.

The pictures are those of ``tests/privacy/planted.py``: invented values of eight kinds in five looks. Seeds from 1,000
on, so that no rule was made while looking at them. ``python -m bench.privacy``.
"""

from __future__ import annotations

import resource
from collections import Counter

from simulator.privacy.layout import Box, boxes
from simulator.privacy.rules import load_rules
from simulator.privacy.scan import readings
from tests.privacy.planted import LOOKS, Sheet, covered, sheet

FIRST_SEED, N_SEEDS = 1000, 6


def measure(n_seeds: int = N_SEEDS) -> dict[str, float]:
    """Shares of planted values covered whole, by reading and by kind; boxes on nothing planted; ms of a processor."""
    rules, ocr = load_rules(), readings()[:2]  # the third is for what both leave unread
    n, hits, spent_ms = Counter[str](), Counter[str](), dict.fromkeys(("first", "second", "rules"), 0.0)
    stray = 0
    sheets = [sheet(look, FIRST_SEED + k) for look in LOOKS for k in range(n_seeds)]
    for made in sheets:
        found: dict[str, list[Box]] = {"all": []}
        for name, reading in zip(("first", "second"), ocr, strict=True):
            started = _cpu_ms()
            words = reading.words(made.image)
            read = _cpu_ms()
            found[name] = boxes(words, rules)
            found["all"] += found[name]
            spent_ms[name] += read - started
            spent_ms["rules"] += _cpu_ms() - read
        for kind, _, rect in made.planted:
            for name, of in found.items():
                n[name] += 1
                hits[name] += covered(rect, of)
            n[kind] += 1
            hits[kind] += covered(rect, found["all"])
        stray += sum(not _touches(box, made) for box in found["all"])
    figures = {f"recall_{name}": hits[name] / n[name] for name in n}
    costs = {f"{name}_cpu_ms": spent / len(sheets) for name, spent in spent_ms.items()}
    return {**figures, **costs, "planted": float(n["all"]), "stray_boxes": float(stray), "pictures": float(len(sheets))}


def _cpu_ms() -> float:
    """Milliseconds of processor time of this process and the readers that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used) * 1000


def _touches(box: Box, made: Sheet) -> bool:
    return any(
        box.x < right and box.y < bottom and box.x + box.width > left and box.y + box.height > top
        for _, _, (left, top, right, bottom) in made.planted
    )


if __name__ == "__main__":
    for key, value in measure().items():
        print(f"{key:18} {value:.3f}")
