"""What the review page asks for is what `proact dataset privacy review` would do, or is refused in a sentence."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from simulator.core.errors import InputError, UsageError
from simulator.core.types import MS
from simulator.privacy.rules import load_rules
from simulator.privacy.scan import scan
from simulator.privacy.states import Shelf
from simulator.timing.clock import real_ns
from simulator.web.place import NotHere, Place, id_of
from simulator.web.reviewing_data import Reviews
from tests.privacy import desk
from tests.privacy.desk import readings


class Desk:
    """A recording with seven pictures, as the page sees it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.id = folder, id_of(folder)
        self.place = Place([folder.parent], editable=True)
        self.reviews = Reviews(self.place)

    @property
    def keys(self) -> list[str]:
        return [one["key"] for one in self.reviews.state(self.id)["pictures"]]

    def tell(self, do: str, **given: Any) -> dict[str, Any]:
        return self.reviews.tell(self.id, {"do": do, **given})

    def carried_out(self) -> dict[str, Any]:
        end = real_ns() + 5000 * MS
        while (told := self.reviews.progress(self.id))["going"]:
            assert real_ns() < end
        return told


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return desk.record(tmp_path_factory.mktemp("recorded") / "s")


@pytest.fixture
def page(tmp_path: Path, recorded: Path) -> Iterator[Desk]:
    shutil.copytree(recorded, tmp_path / "s")
    made = Desk(tmp_path / "s")
    yield made
    made.place.close()


def test_what_was_decided_on_another_page_is_not_replaced_unseen(page: Desk) -> None:
    first, second, *_ = page.keys
    seen = page.tell("decide", decision="retain", pictures=[first])["decided"]
    seen = page.tell("decide", decision="blur", pictures=[first], boxes=[[1, 2, 30, 40]], seen=seen)["decided"]
    now = page.tell("decide", decision="delete", pictures=[first], seen=json.loads(json.dumps(seen)))["decided"]
    stale: dict[str, Any]
    for stale in ({}, seen):  # a page from before any decision, and one from before the last
        with pytest.raises(UsageError, match="load the page again"):
            page.tell("decide", decision="retain", pictures=[second, first], seen=stale)
    with pytest.raises(UsageError, match="seen: "):
        page.tell("decide", decision="retain", pictures=[first], seen=[first])
    told = page.reviews.state(page.id)
    assert told["decided"] == now == {first: {"decision": "delete", "boxes": []}}
    assert told["standing"]["decisions"] == 1, "one picture, although it was decided about three times"


def test_the_state_is_json_without_paths_and_titles(page: Desk) -> None:
    scan(page.folder, readings(), load_rules())
    told = page.reviews.state(page.id)
    said = json.dumps(told, allow_nan=False)
    assert "webp" not in said
    assert len(told["pictures"]) == 6
    assert not any(one["waits"] for one in told["pictures"])
    assert any(found["filled"] for one in told["pictures"] for found in one["found"])


def test_decisions_are_those_of_the_command(page: Desk) -> None:
    first, second, third, *_ = page.keys
    page.tell("decide", decision="retain", pictures=[first])
    page.tell("decide", decision="blur", pictures=[second], boxes=[[1, 2, 30, 40]])
    told = page.tell("decide", decision="delete", pictures=[third])
    assert (told["closing"]["retain"], told["closing"]["blur"], told["closing"]["delete"]) == (1, 1, 1)
    with Shelf(page.folder) as shelf:
        assert [(word, boxes) for _, _, word, boxes in shelf.decisions()] == [
            ("retain", []), ("blur", [(1, 2, 30, 40)]), ("delete", []),
        ]  # fmt: skip
    told = page.tell("undo", made=told["made"])
    assert told["undone"] == [third]
    assert page.tell("undo", made=told["newest"])["undone"] == [second]


def test_undo_takes_back_what_the_page_shows_and_never_what_another_page_decided_since(page: Desk) -> None:
    first, second, third, *_ = page.keys
    mine = page.tell("decide", decision="retain", pictures=[first, second])["made"]
    loaded = page.reviews.state(page.id)["newest"]
    assert loaded == mine[-1:]
    page.tell("decide", decision="delete", pictures=[third])
    for stale in (mine, loaded, mine[:1], mine[::-1], ["no mark"], [7]):
        with pytest.raises(UsageError, match="not the newest decision any more; load the page again"):
            page.tell("undo", made=stale)
    with pytest.raises(UsageError, match="which decisions"):
        page.tell("undo")
    assert len(page.reviews.state(page.id)["decided"]) == 3
    told = page.tell("undo", made=page.reviews.state(page.id)["newest"])
    again = page.tell("decide", decision="blur", pictures=[third], boxes=[])  # it has the number of the one taken back
    assert page.tell("undo", made=again["made"])["newest"] == told["newest"] == loaded
    assert page.tell("undo", made=mine)["undone"] == [first, second]


def test_a_number_that_is_given_again_does_not_make_another_decision_the_one_that_was_seen(page: Desk) -> None:
    first, second, *_ = page.keys
    seen = page.tell("decide", decision="retain", pictures=[first])["made"]
    page.tell("undo", made=seen)
    page.tell("decide", decision="retain", pictures=[second])
    with pytest.raises(UsageError, match="not the newest"):
        page.tell("undo", made=seen)
    assert list(page.reviews.state(page.id)["decided"]) == [second]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"do": "decide", "decision": "keep", "pictures": ["first"]}, "retain"),
        ({"do": "decide", "decision": None, "pictures": ["first"]}, "is wanted"),
        (
            {"do": "decide", "decision": "blur", "pictures": ["first"], "boxes": [[0, 0, 99999, 5]]},
            "within the picture",
        ),
        ({"do": "decide", "decision": "blur", "pictures": ["first"], "boxes": [[0.5, 0, 3, 5]]}, "within the picture"),
        ({"do": "decide", "decision": "blur", "pictures": ["first"], "boxes": "all"}, "within the picture"),
        ({"do": "decide", "decision": "retain", "pictures": []}, "which are meant"),
        ({"do": "decide", "decision": "retain", "pictures": ["../../etc/passwd"]}, "not there any more"),
        ({"do": "undo", "made": ["no mark"]}, "nothing that this page shows is left to undo"),
        ({"do": "undo", "made": []}, "nothing that this page shows is left to undo"),
        ({"do": "undo"}, "which decisions are meant"),
        ({"do": "close", "n": 0}, "nothing was decided"),
        ({"do": "erase"}, "is wanted"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(page: Desk, given: dict[str, Any], why: str) -> None:
    keys = page.keys
    if isinstance(given.get("pictures"), list):
        given = {**given, "pictures": [keys[0] if key == "first" else key for key in given["pictures"]]}
    with pytest.raises(UsageError, match=why):
        page.reviews.tell(page.id, given)
    with Shelf(page.folder) as shelf:
        assert shelf.decisions() == []


def test_closing_wants_the_decisions_that_were_looked_at_and_tells_how_far_it_is(page: Desk) -> None:
    first, second, *_ = page.keys
    page.tell("decide", decision="delete", pictures=[first])
    page.tell("decide", decision="retain", pictures=[second])
    with pytest.raises(UsageError, match="made elsewhere"):
        page.tell("close", n=1)
    assert page.tell("close", n=2)["of"] == 2
    told = page.carried_out()
    assert (told["result"]["deleted"], told["result"]["retained"]) == (1, 1)
    with pytest.raises(NotHere):
        page.reviews.picture(page.id, first)
    with sqlite3.connect(page.folder / "session.db") as db:
        assert db.execute("SELECT COUNT(*) FROM privacy_decisions").fetchone() == (0,)


def test_closing_names_the_runs_that_stay_as_they_are(page: Desk) -> None:
    with sqlite3.connect(page.folder / "session.db") as db:
        (user,) = db.execute("SELECT value FROM meta WHERE key = 'user'").fetchone()
        (session,) = db.execute("SELECT value FROM meta WHERE key = 'session'").fetchone()
    run = page.folder.parent / "run"
    (run / "units" / "s").mkdir(parents=True)
    resolved = {"s": {"session": session, "user": user}}
    (run / "run.json").write_text(json.dumps({"schema": 1, "status": "done", "resolved": resolved, "units": {}}))
    page.tell("decide", decision="delete", pictures=[page.keys[0]])
    page.tell("close", n=1)
    said = page.carried_out()["result"]["beside"]
    before, _, named = said.partition(" stays in ")
    assert before == "not changed, and to be looked at: what agents said of it"
    assert named == str(run)


def test_pages_that_only_show_change_nothing_and_show_nothing(page: Desk) -> None:
    (key, *_) = page.keys
    page.place.editable = False
    assert "pictures" not in page.reviews.state(page.id)
    for refused in (
        lambda: page.tell("decide", decision="retain", pictures=[key]),
        lambda: page.reviews.picture(page.id, key),
        lambda: page.reviews.about(page.id, key),
    ):
        with pytest.raises(UsageError, match="proact view --edit"):
            refused()


def test_two_who_decide_at_once_both_count(page: Desk) -> None:
    keys = page.keys
    told = [
        Thread(target=page.tell, args=("decide",), kwargs={"decision": "retain", "pictures": [key]}) for key in keys
    ]
    for one in told:
        one.start()
    for one in told:
        one.join()
    assert page.reviews.state(page.id)["closing"]["n"] == len(keys)


def test_a_session_that_is_being_recorded_is_not_reviewed(page: Desk) -> None:
    with sqlite3.connect(page.folder / "session.db") as db:
        db.execute("UPDATE meta SET value = 'recording' WHERE key = 'state'")
    with pytest.raises(InputError, match="being recorded"):
        page.reviews.state(page.id)


def test_a_picture_outside_of_the_session_is_not_sent(page: Desk, tmp_path: Path) -> None:
    (tmp_path / "secret.webp").write_bytes(next(page.folder.rglob("*.webp")).read_bytes())
    with sqlite3.connect(page.folder / "session.db") as db:
        db.execute("UPDATE screenshots SET file_path = '../secret.webp' WHERE id = 1")
    page.reviews = Reviews(page.place)
    state = page.reviews.state(page.id)
    said = []
    for one in state["pictures"]:
        try:
            page.reviews.picture(page.id, one["key"])
        except InputError as error:
            said.append(str(error))
    assert len(said) == 1
    assert "outside of its session" in said[0]
