"""A large sweep is read by several processes: each reads every n-th cell, and hands it over as a file.

What comes of it is the same. A process that fails is none: its cells are read here, where what is wrong is told.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["LEAST_UNITS", "helpers", "main"]

LEAST_UNITS = 20_000
"""From so many units on a second process pays: it takes a second to start."""
_MOST = 4


@contextmanager
def helpers(sweep: Path, more: Sequence[str], n_units: int) -> Iterator[Helpers]:
    """Processes that read cells of a sweep beside this one; none for a small one.

    Args:
        sweep: its folder.
        more: figures that are wanted besides those of the study.
        n_units: planned.
    """
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    n = min(cpus, _MOST) - 1 if n_units >= LEAST_UNITS else 0
    with tempfile.TemporaryDirectory() as folder:
        made = Helpers(sweep, more, n, Path(folder))
        try:
            yield made
        finally:
            made.end()


class Helpers:
    """See ``helpers``; ``n`` of them."""

    def __init__(self, sweep: Path, more: Sequence[str], n: int, folder: Path) -> None:
        self.n = n
        self._files = [folder / str(i) for i in range(n)]
        root = str(Path(__file__).resolve().parents[2])
        ways = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(ways)}
        self._children = [
            subprocess.Popen(
                [sys.executable, "-m", __name__, str(sweep.resolve()), str(file), str(i + 1), str(n + 1), *more],
                env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            for i, file in enumerate(self._files)
        ]  # fmt: skip

    def found(self) -> dict[int, Any]:
        """By place of the cell what was read of it; of those that failed nothing."""
        cells: dict[int, Any] = {}
        for child, file in zip(self._children, self._files, strict=True):
            if child.wait() == 0:
                with file.open("rb") as stored:
                    cells |= pickle.load(stored)
        return cells

    def end(self) -> None:
        """None outlives the reading."""
        for child in self._children:
            if child.poll() is None:
                child.kill()
            child.wait()


def main(arguments: Sequence[str]) -> None:
    """What a helper does: sweep, file, which, of how many, further figures."""
    from simulator.sweep.reading import read_share

    sweep, file, nth, of, *more = arguments
    with Path(file).open("wb") as out:
        pickle.dump(read_share(Path(sweep), more, int(nth), int(of)), out, protocol=pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main(sys.argv[1:])
