"""Agreement of people with an annotator: intervals that are right, a draw that is the same, answers that stay."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.annotate.audit import Agreement, Drawn, draw, kappa, wilson
from simulator.annotate.sample import Target, targets
from simulator.annotate.store import Annotation, Source, Status, Store
from simulator.cli.audit import audit
from simulator.core.errors import InputError, UsageError
from simulator.core.types import SECOND
from tests.annotate.studies import rows, session

WHO = "m1, prompt 0123"


def said(assistance: bool | None, intention: str | None = None, who: str = WHO) -> Annotation:
    source: Source = "person" if who.startswith("person") else "model"
    status: Status = "unannotated" if assistance is None else "annotated"
    return Annotation(who, source, status, assistance=assistance, intention=intention)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),  # Newcombe 1998, Table I, method 3
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1),
    ],
)
def test_intervals_are_those_of_the_literature(k: int, n: int, low: float, high: float) -> None:
    assert wilson(k, n) == pytest.approx((low, high), abs=1e-4)


@given(st.integers(1, 10**6), st.data())
def test_an_interval_holds_its_share_and_stays_within_0_and_1(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    low, high = wilson(k, n)
    assert 0 <= low <= k / n <= high <= 1
    mirrored = wilson(n - k, n)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize(("k", "n"), [(0, 0), (3, 2), (-1, 5)])
def test_what_is_no_share_has_no_interval(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        wilson(k, n)


def test_kappa_takes_out_chance() -> None:
    assert kappa({(True, True): 20, (True, False): 5, (False, True): 10, (False, False): 15}) == pytest.approx(0.4)
    assert kappa({(False, False): 9}) is None
    assert kappa({}) is None


def test_agreement_counts_what_both_say_and_keeps_the_rest_apart() -> None:
    result = Agreement()
    person = "person a"
    for ours, theirs in (
        (said(True, "Translation"), said(True, "Translation", person)),
        (said(True, "Translation"), said(True, "Summarization", person)),
        (said(True), said(True, "Summarization", person)),  # partial: no intention is a disagreement
        (said(True, "Translation"), said(True, None, person)),
        (said(False), said(True, "Translation", person)),
        (said(False), said(False, None, person)),
        (said(None), said(True, "Translation", person)),
        (said(True), None),
    ):
        result.take(ours, theirs)
    told = result.as_dict()
    assert (told["sampled"], told["unanswered"], told["unannotated"]) == (8, 1, 1)
    assert (told["assistance"]["agree"], told["assistance"]["n"]) == (5, 6)
    assert told["assistance"]["annotator_person"] == {"yes_yes": 4, "yes_no": 0, "no_yes": 1, "no_no": 1}
    assert (told["intention"]["agree"], told["intention"]["n"]) == (1, 3)
    assert {"annotator": None, "person": "Summarization", "n": 1} in told["intention"]["confused"]
    assert told["assistance"]["low"] < 5 / 6 < told["assistance"]["high"]


def test_nothing_answered_is_null_and_not_0() -> None:
    told = Agreement().as_dict()
    assert (told["assistance"]["share"], told["assistance"]["low"], told["intention"]["share"]) == (None, None, None)


def population(n: int, session_: str = "s") -> list[Drawn]:
    return [Drawn(session_, Target(i, i * SECOND, i * SECOND + SECOND, "a", "t"), said(False)) for i in range(n)]


def test_a_draw_is_the_same_again_and_another_by_another_seed() -> None:
    everything = population(1000)
    one, again, other = (draw(everything, 100, seed) for seed in (0, 0, 1))
    assert one == again != other
    assert len({d.target.event_id for d in one}) == 100
    assert draw(everything[:50], 100, 0) == everything[:50]
    shared = len({d.target.event_id for d in one} & {d.target.event_id for d in other})
    assert abs(shared - 10) < 4 * math.sqrt(10)


def test_a_larger_sample_holds_the_smaller_one() -> None:
    everything = population(200)
    small, large = ({d.target.event_id for d in draw(everything, n, 0)} for n in (20, 50))
    assert small < large


# The command.


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = session(tmp_path / "s")
    put(folder, [said(False), said(True, "Error Correction"), said(False), said(None)])
    return folder


def put(folder: Path, verdicts: Sequence[Annotation]) -> None:
    _, events, _ = targets(folder)
    with Store(folder) as store:
        for event, one in zip(events, verdicts, strict=True):
            store.put(event, one)


def told(capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    import json

    found: dict[str, Any] = json.loads(capfd.readouterr().out.splitlines()[-1])
    return found


def answered(file: Path, answers: dict[str, tuple[str, str]]) -> None:
    with file.open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    for row in table:
        row["assistance"], row["intention"] = answers.get(row["event"], ("", ""))
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(table[0]))
        writer.writeheader()
        writer.writerows(table)


def test_questions_say_nothing_of_what_the_annotator_said(study: Path, tmp_path: Path) -> None:
    file = tmp_path / "q.csv"
    assert audit([study], questions=file) == 0
    with file.open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream))
    assert [row["event"] for row in table] == ["1", "2", "3", "4"]
    assert [row["at_s"] for row in table] == ["0", "8", "48", "60"]
    assert all(row["assistance"] == row["intention"] == "" for row in table)
    assert all(Path(picture).is_file() for row in table for picture in row["pictures"].split())
    assert "Error Correction" not in file.read_text()


def test_answers_from_a_table_are_kept_and_compared(
    study: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "q.csv"
    audit([study], questions=file)
    answered(file, {"1": ("no", ""), "2": ("Yes", "error correction"), "3": ("yes", "Translation")})
    capfd.readouterr()
    assert audit([study], answers=file, rater="ann", json=True) == 0
    first = told(capfd)
    assert (first["assistance"]["agree"], first["assistance"]["n"], first["unanswered"]) == (2, 3, 1)
    assert (first["intention"]["agree"], first["intention"]["n"]) == (1, 1)
    assert audit([study], rater="ann", json=True) == 0  # they are in the session now
    assert told(capfd) == first
    assert (
        rows(study, "SELECT source, annotator FROM annotations WHERE source = 'person'")
        == [("person", "person ann")] * 3
    )


def test_answers_on_the_terminal_go_on_where_they_were_left(
    study: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def typed(*lines: str) -> None:
        coming = iter(lines)
        monkeypatch.setattr("builtins.input", lambda prompt: next(coming))

    typed("n", "y", "16", "q")
    assert audit([study]) == 0
    assert "4, 2 not answered" in capfd.readouterr().out
    typed("", "n")
    assert audit([study]) == 0
    out = capfd.readouterr().out
    assert "4, 1 not answered" in out
    assert "100.0 % of 2 (95 %: 34.2 to 100.0)" in out
    assert "unannotated" in out


@pytest.mark.parametrize(
    ("change", "said_of"),
    [
        (("assistance", "perhaps"), "yes, no, or empty"),
        (("intention", "gardening"), "unknown intention"),
        (("event", "99"), "not an event of this sample"),
        (("assistance", "no"), "empty where assistance is no"),
    ],
)
def test_an_answer_that_is_none_is_named_with_its_line(
    study: Path, tmp_path: Path, change: tuple[str, str], said_of: str
) -> None:
    file = tmp_path / "q.csv"
    audit([study], questions=file)
    answered(file, {"2": ("yes", "Translation")})
    lines = file.read_text().splitlines()
    old = {"assistance": ",yes,", "intention": ",Translation", "event": "s,2,"}[change[0]]
    new = {"assistance": f",{change[1]},", "intention": f",{change[1]}", "event": f"s,{change[1]},"}[change[0]]
    file.write_text("\n".join(line.replace(old, new) for line in lines) + "\n")
    with pytest.raises(InputError, match=f"line 3.*{said_of}"):
        audit([study], answers=file)


def table_of(file: Path, *lines: str) -> Path:
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


@pytest.mark.parametrize(
    ("lines", "missing"),
    [
        ((), "session"),
        (("session,event,intention", "s,2,Translation"), "assistance"),
        (("session,event,assistance", "s,2,yes"), "intention"),
        (("event,assistance,intention", "2,yes,"), "session"),
        (("session;event;assistance;intention", "s;2;yes;"), "session"),
    ],
)
def test_a_table_that_is_none_is_not_taken_for_nobodys_answer(
    study: Path, tmp_path: Path, lines: Sequence[str], missing: str
) -> None:
    with pytest.raises(InputError, match=f"session, event, assistance, intention is wanted; it has no {missing}"):
        audit([study], answers=table_of(tmp_path / "q.csv", *lines))


@pytest.mark.parametrize(
    ("one", "other"),
    [("yes,Translation", "no,"), ("yes,Translation", "yes,Summarization"), ("yes,", "yes,Translation")],
)
def test_two_answers_to_one_event_that_differ_are_named_and_none_is_kept(
    study: Path, tmp_path: Path, one: str, other: str
) -> None:
    head = "session,event,assistance,intention"
    file = table_of(tmp_path / "q.csv", head, "s,1,no,", f"s,2,{one}", "s,3,no,", f"s,2,{other}")
    with pytest.raises(InputError, match=r"line 5: another answer to the event of line 3"):
        audit([study], answers=file)
    assert not rows(study, "SELECT 1 FROM annotations WHERE source = 'person'")


def test_one_answer_given_twice_is_one(study: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    head = "session,event,assistance,intention"
    file = table_of(tmp_path / "q.csv", head, "s,2,Yes,translation", "s,2,,", "s,2,yes,Translation")
    assert audit([study], answers=file, json=True) == 0
    found = told(capfd)
    assert (found["assistance"]["n"], found["unanswered"]) == (1, 3)


def test_whose_annotations_are_meant_is_asked_where_there_are_several(study: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing is annotated there"):
        audit([session(tmp_path / "t")], json=True)
    put(study, [said(False, who="m2")] * 4)
    with pytest.raises(UsageError, match="--annotator 'm1, prompt 0123'; --annotator m2"):
        audit([study], json=True)
    with pytest.raises(UsageError, match="did you mean 'm2'"):
        audit([study], annotator="m3", json=True)
    assert audit([study], annotator="m2", json=True) == 0
