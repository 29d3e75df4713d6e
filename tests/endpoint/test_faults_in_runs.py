"""Whatever a server does, each decision has its record, of its kind and with its time, and the run goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.core.types import MS, SECOND
from tests.endpoint.asks import choice
from tests.endpoint.faults import FaultServer
from tests.endpoint.replaying import unit
from tests.worlds import play


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("stall", "model_idle_timeout"),
        ("mute", "model_timeout"),
        ("drip", "model_timeout"),
        ("half_json", "model_bad_json"),
        ("limited", "model_rate_limited"),
        ("limited_long", "model_rate_limited"),
        ("fails", "model_server"),
        ("closes_early", "model_truncated"),
        ("closes_at_once", "model_connection"),
        ("long_line", "model_too_large"),
        ("wrong_type", "model_bad_json"),
        ("not_utf8", "model_bad_json"),
        ("nothing", "model_empty"),
        ("no_finish", "model_truncated"),
        ("redirects", "model_refused"),
        ("echoes_key_401", "model_unauthorized"),
        ("length", "model_length"),
    ],
)
def test_a_fault_is_a_record_and_the_run_goes_on(
    name: str, kind: str, tmp_path: Path, server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-some-length")
    patience = {"timeout_ns": 60 * MS if name in ("mute", "drip") else 3 * SECOND, "idle_timeout_ns": 30 * MS}
    asked = choice(server.url(name), max_retries=0 if name == "closes_at_once" else 1, **patience)
    played = play(unit(asked, "acac", clock="measured", latency=None), tmp_path)
    assert played.errors == [kind, kind]
    assert played.log.complete
    assert played.seen == [0, 1, 2, 3]
    services = (played.log.actionable_ns - played.log.started_ns).tolist()
    if name in ("stall", "mute", "drip"):
        assert 30 * MS <= min(services[1], services[3]) <= max(services) < SECOND, "the time of failed calls is charged"
    else:
        assert max(services) < 2 * SECOND, "also where a server asks to be left alone for a day"
    failed = [r for r in played.log.full.values() if "error" in r]
    assert all(r.get("retries", 0) == (1 if name in ("limited", "fails") else 0) for r in failed)
    assert ("first_token_ns" in failed[0]) == (name in ("stall", "half_json", "closes_early", "no_finish", "length"))


def test_what_passes_in_the_end_is_an_offer_with_its_waits(tmp_path: Path, server: FaultServer) -> None:
    played = play(unit(choice(server.url("limited_once")), "c", clock="measured", latency=None), tmp_path)
    assert not played.errors
    (record,) = played.log.full.values()
    assert record["retries"] == 1
    assert 25 * MS < record["throttle_ns"] < SECOND
    assert record["stages_ns"]["wait"] > 25 * MS
    assert record["tokens"]["in"] == 100
    assert [o.text for o in played.log.offers()] == ["Hello"]


def test_a_decision_that_outlasts_the_runs_own_limit_tells_that_it_was_the_model(
    tmp_path: Path, server: FaultServer
) -> None:
    asked = choice(server.url("mute"), timeout_ns=3 * SECOND, idle_timeout_ns=3 * SECOND)
    played = play(unit(asked, "c", clock="measured", latency=None, timeout_ns=60 * MS), tmp_path)
    assert played.errors == ["timeout"]
    (record,) = played.log.full.values()
    assert "the limit is 0.06 s; 0.0" in record["error"]["text"]
    assert record["error"]["text"].endswith(" s of it asking the model")
