"""Files of a run that were edited, or written by something else: one sentence, never a fault of proact's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import InputError, UsageError
from simulator.play.kept import keep
from simulator.report.page import make
from simulator.runs.stored import stored
from simulator.session import truth as truths
from simulator.web import timeline
from simulator.web.index_data import Index
from simulator.web.pages import answered
from simulator.web.place import Place, id_of
from tests.replays import play, record

Change = Callable[[dict[str, Any]], object]
HUGE, ENDLESS = 10**400, "1e999"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    said = dict.fromkeys((5, 20), ("Error Correction", "shall I?"))
    play(record(tmp_path / "day"), tmp_path / "runs/played", said)
    return tmp_path / "runs/played"


def _unit(run: Path) -> tuple[str, Path]:
    (key,) = json.loads((run / "run.json").read_text(encoding="utf-8"))["resolved"]
    return key, run / "units" / key


def _edit(file: Path, change: Change) -> None:
    told = json.loads(file.read_text(encoding="utf-8"))
    change(told)
    file.write_text(json.dumps(told).replace('"ENDLESS"', ENDLESS) + "\n", encoding="utf-8")


def _edit_log(run: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """As somebody who makes the digest anew, too."""
    key, folder = _unit(run)
    log = folder / "decisions.jsonl"
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    change(records)
    log.write_text("".join(json.dumps(r).replace('"ENDLESS"', ENDLESS) + "\n" for r in records), encoding="utf-8")
    digest = sha256(log.read_bytes()).hexdigest()
    _edit(run / "run.json", lambda told: told["units"][key].update(log_sha256=digest))


def _looked_at(run: Path) -> list[str]:
    """The sentences of all that shows a run; anything but a refusal is raised."""
    place = Place([run.parent])
    sheets, key, id_ = timeline._Sheets(place), _unit(run)[0], id_of(run)
    said = list[str]()
    offer = next((r["seq"] for r in _records(run) if r.get("kind") == "offer"), 0)
    for look in (
        lambda: Index().rows([("a", run, "a")]),
        lambda: sheets.timeline(id_, key),
        lambda: sheets.decision(id_, key, offer),
        lambda: sheets.recording(id_, key),
        lambda: sheets.search(id_, key, "a"),
        lambda: make([run]),
    ):
        try:
            shown = look()
            json.dumps(shown if isinstance(shown, dict | tuple) else None, allow_nan=False)
        except UsageError as error:
            said.append(str(error))
    place.close()
    return said


def _records(run: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in (_unit(run)[1] / "decisions.jsonl").read_text("utf-8").splitlines()]
    except RecursionError:
        return []


def _first(records: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(r for r in records if r["kind"] == kind)


@pytest.mark.parametrize(
    "change",
    [
        lambda rs: rs[0].pop("protocol"),
        lambda rs: rs[0].update(protocol="nonsense"),
        lambda rs: _first(rs, "offer").pop("offers"),
        lambda rs: _first(rs, "offer").update(stages_ns=[1]),
        lambda rs: _first(rs, "offer").update(stages_ns={"model": "long"}),
        lambda rs: _first(rs, "offer").update(extra="ENDLESS"),
        lambda rs: rs[0].update(timeout_ns=[1]),
    ],
)
def test_an_edited_log_is_a_sentence(run: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    _edit_log(run, change)
    assert _looked_at(run)


def test_a_log_that_is_nested_without_end_is_a_sentence(run: Path) -> None:
    log = _unit(run)[1] / "decisions.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines()
    log.write_text("\n".join([lines[0], '{"kind":' + "[" * 100_000, *lines[1:]]) + "\n", encoding="utf-8")
    assert any("line 2: not a record" in one for one in _looked_at(run))


@pytest.mark.parametrize("field", ["user", "session", "period_ns", "protocol", "dataset"])
def test_a_run_file_that_lacks_a_field_is_shown_or_refused(run: Path, field: str) -> None:
    key, _ = _unit(run)
    _edit(run / "run.json", lambda told: told["resolved"][key].pop(field))
    _looked_at(run)


def test_a_run_file_of_another_form_says_what_is_wanted(run: Path) -> None:
    _edit(run / "run.json", lambda told: told.update(host=[1]))
    assert any("an object is wanted" in one for one in _looked_at(run))


@pytest.mark.parametrize("key", ["\ud800", "a" * 300])
def test_what_no_folder_can_be_called_is_no_unit(run: Path, key: str) -> None:
    _edit(run / "run.json", lambda told: told["resolved"].update({key: next(iter(told["resolved"].values()))}))
    with pytest.raises(InputError, match="the name of a folder"):
        make([run])


def test_a_weight_that_is_no_float_and_half_a_sign_are_refused(run: Path) -> None:
    file = _unit(run)[1] / "truth.json"
    _edit(file, lambda told: told["opportunities"][0].update(weight=HUGE))
    with pytest.raises(InputError, match="a number from 0"):
        truths.read(file)
    _edit(file, lambda told: told["opportunities"][0].update(weight=1.0, intention="\ud800"))
    assert truths.read(file).digest()
    assert _looked_at(run)


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.pop("made_of"),
        lambda s: s.update(details=[1]),
        lambda s: next(iter(s["details"].values())).pop("value"),
        lambda s: s.update(counts={}),
        lambda s: next(iter(s["units"].values())).update(offers=3, counts=[]),
        lambda s: s.update(protocol=[1]),
    ],
)
def test_scores_with_a_digest_of_their_own_are_a_sentence_or_made_anew(run: Path, change: Change) -> None:
    told = json.loads((run / "scores.json").read_text(encoding="utf-8"))
    told.pop("digest")
    change(told)
    keep(run, told)
    _looked_at(run)


def test_the_border_says_which_files_and_lets_refusals_through() -> None:
    with pytest.raises(InputError, match=r"^that run: a file there is not of the form"), stored("that run"):
        json.loads("{}")["a"]
    with pytest.raises(UsageError, match=r"^no such metric$"), stored("that run"):
        raise UsageError("no such metric")


async def test_a_number_that_is_none_is_not_answered_with() -> None:
    with pytest.raises(InputError, match="not of the form"):
        await answered(lambda: {"user": float("inf")})
