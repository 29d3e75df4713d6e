"""Run logs of each schema version stay readable for ever. Never change a file here: add one for a new schema.

Made once by ``tests/golden/make_log.py`` with the code of that version.
"""

from __future__ import annotations

from pathlib import Path

from simulator.core.types import MS, SECOND
from simulator.runs import runlog
from simulator.runs.journal import Journal
from simulator.runs.records import Flag, Kind

HERE = Path(__file__).parent


def test_schema_1() -> None:
    log = runlog.read(HERE / "runlog-schema-1.jsonl")
    assert log.header["schema"] == 1
    assert log.header["session"] == "golden"
    assert log.header["policy"] == "overlap:2"
    assert log.complete
    assert not log.torn
    assert log.end is not None
    assert log.end["released"] == 30
    assert log.end["changes_ns"] == [6 * SECOND, 12 * SECOND, 18 * SECOND]
    assert log.end["notes"] == {"odd": 3}
    kinds = [Kind(k).name for k in log.kind]
    assert {k: kinds.count(k) for k in sorted(set(kinds))} == {
        "ERROR": 1, "OFFER": 5, "SILENT": 22, "SUPERSEDED": 1, "UNPARSED": 1,
    }  # fmt: skip
    assert log.seq.tolist() == sorted(log.seq.tolist())
    assert (log.started_ns >= log.released_ns).all()
    assert [bool(f & Flag.HELD) for f in log.flags] == [i in range(24, 29) for i in range(30)]
    assert bool(log.flags[-1] & Flag.AFTER_END)
    offer = log.offers()[0]
    assert (offer.intention, offer.text, offer.confidence, offer.thread) == ("Debug", "läuft – “ok”?", 0.25, "t1")
    assert offer.actionable_ns - offer.started_ns == 1300 * MS
    assert [(w["what"], w["event"]) for w in log.writes][:2] == [("observe", "golden/0"), ("feedback", "golden/0")]
    assert log.writes[0]["done_ns"] - log.writes[0]["started_ns"] == 200 * MS
    errors = [r["error"] for r in log.full.values() if "error" in r]
    assert errors == [{"kind": "agent_error", "text": "ValueError: no"}]
    told = next(r for r in log.full.values() if "tokens" in r)
    assert told["tokens"] == {"in": 10, "out": 3, "reasoning": 0, "cached": 0, "images": 1}
    assert told["cost"] is None


def test_schema_1_can_be_replayed() -> None:
    journal = Journal(HERE / "runlog-schema-1.jsonl")
    answer = journal.decision(0)
    assert answer.kind is Kind.OFFER
    assert answer.charge_ns == 1300 * MS
    assert journal.write("observe", "golden/0").charge_ns == 200 * MS
