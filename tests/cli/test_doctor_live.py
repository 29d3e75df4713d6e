"""What `proact doctor live` makes of the run that it tried."""

from __future__ import annotations

from simulator.cli.doctor_live import looks
from simulator.core.types import MS, SECOND
from simulator.timing.audit import judge


def test_looks_that_would_make_a_run_invalid_are_told_beforehand() -> None:
    tried = [
        looks(judge(wall_ns=4 * SECOND, agent_ns=0, lateness_ns=[MS, late, MS], lags_ns=[MS], overruns=0, guarded=0,
                    moved=False, reproducible=False))
        for late in (12 * MS, 206 * MS)
    ]  # fmt: skip
    assert [one.state for one in tried] == ["ok", "note"]
    assert tried[0].said == "the latest of this run 12 ms late, limit 50 ms"
    assert "206 ms is over 50 ms: a live run would be marked INVALID" in tried[1].said
