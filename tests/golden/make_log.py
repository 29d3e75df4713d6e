"""Makes the golden log of the present schema: ``python -m tests.golden.make_log FILE``. Old ones stay as they are."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from simulator.core.types import MS, SECOND, SILENT, Decision, Observation, Offer
from simulator.session.truth import Opportunity
from simulator.timing.latency import Call
from tests.worlds import Notebook, plan, play, screen


class Uneven:
    text = "uneven"

    def charge_ns(self, call: Call, seed: int) -> int:
        if call.what != "decide":
            return 200 * MS
        return 2500 * MS if call.snapshot == 8 else 1300 * MS


def answer(seen: Observation) -> Decision:
    match seen.snapshot.index:
        case 0:
            return Decision((Offer("Debug", "läuft – “ok”?", 0.25, "t1"),))
        case 4:
            raise ValueError("no")
        case 8 | 9 | 20:
            seen.meter.note("odd")
            return Decision(
                (Offer("Translation"), Offer("Debug")), retracted=("t1",) if seen.snapshot.index == 9 else ()
            )
        case 14:
            return Decision(unparsed=True, parse_rule="json")
        case 16 | 17:
            seen.meter.usage(tokens_in=10, tokens_out=3, images=1)
            return Decision((Offer("Summarization", "x", 1.0),))
    return SILENT


def main() -> None:
    windows = "a" * 6 + "b" * 6 + "c" * 6 + "d" * 12
    source = screen(windows, held=(24, 25, 26, 27, 28), session="golden")
    needs = [Opportunity("n", 3 * SECOND, 5 * SECOND, "Debug", 5 * SECOND, "why?")]
    unit = plan(source, answer, memory=Notebook, latency=Uneven(), policy="overlap:2", needs=needs, seed=7)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(play(unit, Path(folder)).path, sys.argv[1])


if __name__ == "__main__":
    main()
