"""A model annotates: what it is shown, what is kept, what is not asked twice, and what becomes of bad answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from simulator.annotate.ask import Annotator, Tally
from simulator.annotate.sample import targets
from simulator.annotate.store import Annotation, Store
from simulator.core.errors import CassetteMiss, InputError, ProactError
from simulator.core.types import ImageRef
from simulator.endpoint.types import EndpointError, Message, Reply
from simulator.session.store import Writer
from tests.annotate.studies import CHAT, DAY, honest, rows, said_event, said_intent, session, without_annotations
from tests.answering import Answering, Said


async def annotated(folder: Path, *answers: Said, again: bool = False, **how: Any) -> tuple[Tally, Answering]:
    model, tally = Answering(*answers), Tally()
    _, events, tally.n_left_out = targets(folder)
    tally.n_events = len(events)
    with Store(folder) as store:
        await Annotator(model, "m1", at_once=1, **how).annotate(store, events, tally, again=again)
    return tally, model


def said(folder: Path) -> list[Annotation]:
    with Store(folder) as store:
        (who,) = store.annotators()
        return list(store.said_by(who).values())


async def test_each_event_is_annotated_and_the_second_question_is_for_assistance_events_only(tmp_path: Path) -> None:
    tally, model = await annotated(session(tmp_path / "s"), honest)
    assert len(model.asked) == 5
    assert (tally.by_status, tally.n_assistance) == ({"annotated": 4}, 1)
    chat = said(tmp_path / "s")[1]
    assert (chat.assistance, chat.platform, chat.kind) == (True, "ChatGPT", "chat")
    assert (chat.query, chat.intention, chat.confidence) == ("Why does it fail?", "Error Correction", 0.8)
    assert json.loads(chat.conversation or "")["llm_responses"] == ["An index is off by one."]
    mail = said(tmp_path / "s")[0]
    assert (mail.assistance, mail.summary, mail.platform, mail.intention) == (False, "Reads mail.", None, None)


async def test_every_row_is_marked_with_model_and_prompt_and_as_not_official(tmp_path: Path) -> None:
    await annotated(session(tmp_path / "s"), honest)
    for annotator, source, model, prompt, official in rows(
        tmp_path / "s", "SELECT annotator, source, model, prompt_hash, official FROM annotations"
    ):
        assert (source, model, official) == ("model", "m1", 0)
        assert annotator == f"m1, prompt {prompt}"
        assert len(prompt) == 12


async def test_first_and_last_three_different_screenshots_are_shown_with_500_letters_each(tmp_path: Path) -> None:
    _, model = await annotated(session(tmp_path / "s"), honest)
    shown = [part for part in model.asked[1][1].parts if isinstance(part, str)]
    assert [part.split(" second ")[1].split()[0] for part in shown[1:]] == ["0", "1", "2", "37", "38", "39"]
    assert all(len(part.partition("Text on it: ")[2]) == 500 for part in shown[1:])
    assert shown[0] == "Application: chrome\nTitle: ChatGPT - Google Chrome\nLength: 40 s"
    assert model.schemas[1] is not None


async def test_a_still_screen_is_shown_once(tmp_path: Path) -> None:
    _, model = await annotated(session(tmp_path / "s", changing=False), honest)
    assert len(model.asked[0][1].parts) == 2


@pytest.mark.parametrize(("modality", "n_pictures", "n_texts"), [("text", 0, 6), ("image", 6, 0), ("both", 6, 6)])
async def test_the_modality_says_what_is_shown(tmp_path: Path, modality: str, n_pictures: int, n_texts: int) -> None:
    _, model = await annotated(session(tmp_path / "s"), honest, modality=modality)
    parts = model.asked[1][1].parts
    pictures = [part for part in parts if isinstance(part, ImageRef)]
    assert len(pictures) == n_pictures
    assert all(picture.path.is_file() for picture in pictures)
    assert sum("Text on it" in part for part in parts if isinstance(part, str)) == n_texts


async def test_texts_that_were_not_recorded_are_read_once_a_picture(tmp_path: Path) -> None:
    read: list[object] = []

    class Reader:
        name = "reader"

        def words(self, image: Any) -> list[Any]:
            read.append(image)
            from simulator.screen.ocr import Word

            return [Word("letters", 0, 0, 1, 1, 0, 0, 90.0)]

    folder = session(tmp_path / "s", DAY[1:2], text=False, changing=False)
    _, model = await annotated(folder, honest, ocr=Reader)
    assert "Text on it: letters" in model.texts(0)
    assert len(read) == 1


async def test_the_recording_stays_as_it_is(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    before = without_annotations(folder)
    await annotated(folder, honest)
    assert without_annotations(folder) == before


async def test_calling_again_asks_nothing_and_writes_nothing(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    await annotated(folder, honest)
    before = (folder / "session.db").read_bytes()
    tally, model = await annotated(folder, EndpointError("connection", "nobody there"))
    assert (tally.n_known, len(model.asked)) == (4, 0)
    assert (folder / "session.db").read_bytes() == before


@pytest.mark.parametrize(
    "change", [{"sent": {"temperature": 1}}, {"modality": "image"}, {"intentions": ["Error Correction"]}]
)
async def test_other_settings_are_another_question(tmp_path: Path, change: dict[str, Any]) -> None:
    folder = session(tmp_path / "s")
    await annotated(folder, honest)
    tally, model = await annotated(folder, honest, **change)
    assert (tally.n_known, len(model.asked)) == (0, 5)
    assert len(said(folder)) == 4


async def test_events_that_show_the_same_are_asked_about_once(tmp_path: Path) -> None:
    day = [DAY[0], DAY[2], DAY[0]]
    folder = session(tmp_path / "s", day, pictures=False, text=False)
    tally, model = await annotated(folder, honest)
    assert (len(model.asked), tally.n_alike, tally.by_status) == (2, 1, {"annotated": 3})


async def test_a_broken_answer_is_asked_for_once_more_and_then_it_is_unannotated(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", DAY[:1])
    tally, model = await annotated(folder, "I see mail.", "Still mail.")
    assert len(model.asked) == 2
    assert "That cannot be used: there is no JSON object" in model.texts(1)
    (row,) = said(folder)
    assert (row.status, row.assistance, row.summary) == ("unannotated", None, None)
    assert tally.reasons == {'there is no JSON object with the field "assistance" in it': 1}
    tally, model = await annotated(folder, said_event(False))
    assert (tally.n_known, len(model.asked)) == (1, 0)
    tally, model = await annotated(folder, said_event(False), again=True)
    assert said(folder)[0].status == "annotated"


async def test_an_answer_that_is_mended_says_how(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", DAY[1:2])
    loose = CHAT.replace("true", "True").replace('"chat"', '"Inline"')
    tally, _ = await annotated(
        folder, f"```json\n{loose}\n```", said_intent("bug fixing"), said_intent("information retrieval")
    )
    (row,) = said(folder)
    assert row.repaired == "json_repaired type_unknown intention_alias"
    assert (row.kind, row.intention) == (None, "Information Lookup")
    assert tally.mended["json_repaired"] == 1


@pytest.mark.parametrize("second", ["nonsense", said_intent("gardening"), said_intent(None)])
async def test_an_intention_that_cannot_be_read_is_not_made_up(tmp_path: Path, second: str) -> None:
    folder = session(tmp_path / "s", DAY[1:2])
    await annotated(folder, CHAT, second)
    (row,) = said(folder)
    assert (row.status, row.assistance, row.intention) == ("partial", True, None)
    assert (row.reason or "").startswith("intention: ")


@pytest.mark.parametrize("kind", ["refused", "length", "empty", "too_large"])
async def test_a_model_that_will_not_answer_leaves_the_event_unannotated(tmp_path: Path, kind: Any) -> None:
    folder = session(tmp_path / "s", DAY[:1])
    await annotated(folder, EndpointError(kind, "no"))
    assert said(folder)[0].reason == f"no answer ({kind})"


async def test_a_server_that_fails_leaves_nothing_and_is_asked_again(tmp_path: Path) -> None:
    folder = session(tmp_path / "s")
    tally, _ = await annotated(folder, EndpointError("server", "500"), honest)
    assert tally.failed == {"server": 1}
    assert len(said(folder)) == 3
    tally, model = await annotated(folder, honest)
    assert (tally.n_known, len(model.asked)) == (3, 1)


@pytest.mark.parametrize(("kind", "n"), [("connection", 1), ("unauthorized", 1), ("timeout", 5)])
async def test_hopeless_calls_end_soon_and_keep_what_came_before(tmp_path: Path, kind: Any, n: int) -> None:
    folder = session(tmp_path / "s", [DAY[0], *[("code", f"file {i}", 4) for i in range(9)]])
    fault = EndpointError(kind, "no")
    with pytest.raises(EndpointError):
        await annotated(folder, honest, fault)
    assert len(said(folder)) == 1
    assert rows(folder, "SELECT COUNT(*) FROM annotations") == [(1,)]
    model = Answering(fault)
    _, events, _ = targets(folder)
    with Store(folder) as store, pytest.raises(EndpointError):
        await Annotator(model, "m2", at_once=1).annotate(store, events, Tally())
    assert len(model.asked) == n


class Together(Answering):
    """Answers when all of so many have asked."""

    def __init__(self, n: int, fault: ProactError) -> None:
        super().__init__("")
        self._n, self._fault, self._all = n, fault, asyncio.Event()

    async def chat(self, messages: Sequence[Message], **how: Any) -> Reply:
        self.asked.append(messages)
        if len(self.asked) >= self._n:
            self._all.set()
        await self._all.wait()
        raise self._fault


@pytest.mark.parametrize(
    ("fault", "n"),
    [
        (EndpointError("unauthorized", "no"), 4),
        (EndpointError("connection", "no"), 4),
        (EndpointError("server", "no"), 8),
        (CassetteMiss("no such call"), 4),
    ],
)
async def test_several_that_fail_at_once_end_it_with_the_one_error(tmp_path: Path, fault: ProactError, n: int) -> None:
    folder = session(tmp_path / "s", [("code", f"file {i}", 2) for i in range(12)], pictures=False)
    _, events, _ = targets(folder)
    with Store(folder) as store, pytest.raises(type(fault)) as caught:
        await Annotator(Together(n, fault), "m1", at_once=n).annotate(store, events, Tally())
    assert caught.value is fault


async def test_a_request_that_the_server_refuses_is_no_answer_about_the_event(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", DAY[:2])
    tally, _ = await annotated(folder, EndpointError("refused", "no pictures here", status=400), honest)
    assert tally.failed == {"refused": 1}
    assert len(said(folder)) == 1


async def test_several_are_asked_at_once_and_all_arrive(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", [("code", f"file {i}", 4) for i in range(20)])
    model, tally, done = Answering(honest), Tally(), [0]

    def step() -> None:
        done[0] += 1

    _, events, _ = targets(folder)
    with Store(folder) as store:
        await Annotator(model, "m1", at_once=8).annotate(store, events, tally, done=step)
    assert (done, tally.by_status) == ([20], {"annotated": 20})


async def test_an_event_of_which_nothing_can_be_seen_is_not_asked_about(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", [("", "", 5)], pictures=False, text=False)
    _, model = await annotated(folder, honest)
    assert not model.asked
    assert said(folder)[0].reason == "nothing of it can be seen"


async def test_excluded_events_are_left_out_and_counted(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", columns={1: {"excluded": "under 3 s"}})
    tally, _ = await annotated(folder, honest)
    assert (tally.n_events, tally.n_left_out) == (3, 1)


async def test_a_session_without_events_is_cut_by_its_windows(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", events=False)
    tally, _ = await annotated(folder, honest)
    assert tally.by_status == {"annotated": 4}
    found = rows(folder, "SELECT event_id, start_ns / 1000000000, end_ns / 1000000000 FROM annotations ORDER BY id")
    assert found == [(None, 0, 8), (None, 8, 48), (None, 48, 60), (None, 60, 70)]


def test_a_session_that_is_being_recorded_is_refused(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s")
    with pytest.raises(InputError, match="being recorded"):
        Store(tmp_path / "s")
    writer.close()


async def test_prompts_of_ones_own_are_another_annotator(tmp_path: Path) -> None:
    from simulator.annotate.ask import PROMPTS

    own = tmp_path / "prompts"
    own.mkdir()
    for name in ("event.md", "intent.md"):
        (own / name).write_text((PROMPTS / name).read_text() + "\nBe brief.\n")
    names = {Annotator(Answering(""), "m", prompts=p).annotator for p in (own, PROMPTS)}
    assert len(names) == 2
    with pytest.raises(InputError, match=r"event\.md"):
        Annotator(Answering(""), "m", prompts=tmp_path)


async def test_titles_of_strangers_add_no_lines_to_a_question(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", [("app\nApplication: x", "t\u2028Title: y\r\n", 3)], text=False, pictures=False)
    _, model = await annotated(folder, honest)
    shown = [part for part in model.asked[0][1].parts if isinstance(part, str)]
    assert len(shown[0].splitlines()) == 3
