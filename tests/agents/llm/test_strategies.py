"""What each strategy asks, and what it makes of the answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents.base import make_agent
from agents.llm.ask import Asking
from agents.llm.cot import Cot
from agents.llm.naive import Naive, read_intents, spread
from agents.llm.pirf import Pirf, read_action
from agents.llm.prompts import FOLDER
from agents.llm.vote import SelfConsistency
from agents.llm.zero_shot import ZeroShot
from agents.testing import FakeHistory, FakeMeter, FakeModel, observe
from simulator.core.errors import InputError, UsageError
from simulator.core.intentions import INTENTIONS
from simulator.core.types import SECOND, Decision, Event, ImageRef, MemoryItem, Observation, Offer, Setup, Snapshot
from simulator.endpoint.types import EndpointError, Message, ModelChoice

YES = "1. Need help: Yes\n2. Intention category: Translation\n3. Offer: Shall I put it into English?"
NO = "1. Need help: No\n2. Intention category: Uncategorized\n3. Offer: none"
OFFER = Offer("Translation", "Shall I put it into English?")


def seen(index: int = 100, **more: Any) -> Observation:
    event = Event("e", "sam", 0, 60 * SECOND, "xterm", "bash", summary="x" * 300)
    given: dict[str, Any] = {"app": "chromium", "title": "项目周报", "text": "主动智能体", "since_ns": 90 * SECOND}
    given |= {"profile": {"languages": "English"}, "events": [event], "items": [MemoryItem("asked before", 0.9)]} | more
    return observe(index, **given)


def asked(model: FakeModel, nth: int = 0) -> tuple[str, str]:
    """System part and user part of a call, pictures as their names."""
    system, user = model.calls[nth]
    words = [part if isinstance(part, str) else f"<{part.path.name}>" for part in user.parts]
    return "".join(p for p in system.parts if isinstance(p, str)), "\n".join(words)


def meter_of(observation: Observation) -> FakeMeter:
    meter = observation.meter
    assert isinstance(meter, FakeMeter)
    return meter


async def test_the_parts_come_in_the_order_context_memory_task_and_the_profile_is_among_them() -> None:
    model, observation = FakeModel(YES), seen()
    decision = await ZeroShot(model=model).decide(observation)
    assert decision == Decision((OFFER,), parse_rule="format")
    system, user = asked(model)
    parts = ("languages: English", "xterm, “bash”", "项目周报", "open for 10 s", "主动智能体", "asked before")
    places = [user.index(word) for word in (*parts, "Your task", "Translation", "Need help: Yes or No")]
    assert places == sorted(places)
    assert "40 s ago, for 1 min" in user
    assert "x" * 199 + "…" in user
    assert "x" * 200 not in user, "a summary has 200 characters at most"
    assert "instruction" in system
    assert [message.role for message in model.calls[0]] == ["system", "user"]
    assert meter_of(observation).stages.keys() >= {"build", "model", "parse"}
    assert "ocr" not in meter_of(observation).stages


async def test_personas_may_stand_in_the_system_part() -> None:
    model = FakeModel(NO)
    await ZeroShot(personas="system", model=model).decide(seen())
    system, user = asked(model)
    assert "asked before" in system
    assert "asked before" not in user


async def test_a_memory_that_recalls_nothing_is_no_part() -> None:
    model = FakeModel(NO)
    await ZeroShot(model=model).decide(seen(items=[]))
    assert "past" not in asked(model)[1]


async def test_silence_unparsed_and_an_unread_category_are_three_things() -> None:
    assert await ZeroShot(model=FakeModel(NO)).decide(seen()) == Decision(parse_rule="format")
    assert await ZeroShot(model=FakeModel("Hm.")).decide(seen()) == Decision(unparsed=True)
    observation = seen()
    unread = await ZeroShot(model=FakeModel("Need help: Yes\nCategory: banana")).decide(observation)
    assert unread == Decision((Offer("Uncategorized"),), parse_rule="format, category unread")
    assert meter_of(observation).notes["category_unread"] == 1
    agent = ZeroShot(model=FakeModel("Need help: Yes\nCategory: banana"))
    await agent.open(Setup("s", "sam", {}, ("Book a train",), 0))
    assert await agent.decide(seen()) == Decision(unparsed=True, parse_rule="format")


async def test_an_endpoints_error_is_left_alone() -> None:
    error = EndpointError("length", "the answer was cut", partial="Need help: Yes")
    with pytest.raises(EndpointError):
        await ZeroShot(model=FakeModel(error)).decide(seen())


async def test_a_form_in_json_goes_with_a_schema_and_lines_go_without() -> None:
    lines, as_json = FakeModel(YES), FakeModel('{"need_help": true, "intention": "Translation", "offer": "x"}')
    await ZeroShot(model=lines).decide(seen())
    decision = await ZeroShot(form="json", model=as_json).decide(seen())
    assert decision == Decision((Offer("Translation", "x"),), parse_rule="json")
    assert lines.schemas == [None]
    (schema,) = as_json.schemas
    assert schema is not None
    assert schema["required"] == ["need_help", "intention", "offer"]
    assert "JSON object" in asked(as_json)[1]


async def test_two_stages_ask_how_only_where_help_is_wanted() -> None:
    def answer(messages: Sequence[Message]) -> str:
        task = str(messages[-1].parts[-1])
        return (
            "Intention category: Translation\nOffer: x"
            if "would be glad of help from an assistant right now. Say" in (" ".join(task.split()))
            else "Need help: Yes"
        )

    model = FakeModel(answer)
    decision = await ZeroShot(stages=2, model=model).decide(seen())
    assert decision == Decision((Offer("Translation", "x"),), parse_rule="format, format")
    assert len(model.calls) == 2
    assert "Categories" not in asked(model)[1]
    silent = FakeModel("Need help: No")
    assert await ZeroShot(stages=2, model=silent).decide(seen()) == Decision(parse_rule="format")
    assert len(silent.calls) == 1


async def test_cot_asks_for_four_steps_and_sends_no_schema_that_would_forbid_them() -> None:
    model = FakeModel(f"Step 1: reads\nStep 2: slow\nStep 3: yes\nStep 4: translation\n{YES}")
    assert await Cot(form="json", model=model).decide(seen()) == Decision((OFFER,), parse_rule="format")
    assert "Step 4" in asked(model)[1]
    assert model.schemas == [None]
    two = FakeModel("Step 3: yes\nNeed help: No")
    await Cot(stages=2, model=two).decide(seen())
    assert "Step 3" in asked(two)[1]
    assert "Step 4" not in asked(two)[1]


# ---------------------------------------------------------------------------------------------- self-consistency


def in_turn(*answers: str | Exception) -> Callable[[Sequence[Message]], str | Exception]:
    left = list(answers)
    return lambda messages: left.pop(0)


@pytest.mark.parametrize("concurrent", [False, True])
async def test_the_majority_of_the_samples_decides(concurrent: bool) -> None:
    other = YES.replace("Translation", "Summarization")
    model, observation = FakeModel(in_turn(NO, other, YES, "Hm.", YES)), seen()
    decision = await SelfConsistency(5, concurrent, model=model).decide(observation)
    assert decision == Decision((Offer("Translation", OFFER.text, 0.4),), parse_rule="vote: format")
    assert meter_of(observation).notes == {"sample_unparsed": 1}
    assert len(model.calls) == 5
    assert meter_of(observation).used["tokens_out"] > 0


async def test_ties_go_to_silence_and_then_to_the_earlier_sample() -> None:
    tied = seen()
    decision = await SelfConsistency(2, model=FakeModel(in_turn(YES, NO))).decide(tied)
    assert decision == Decision(parse_rule="vote: format")
    assert meter_of(tied).notes == {"vote_tied": 1}
    two = in_turn(YES.replace("Translation", "Summarization"), YES)
    decision = await SelfConsistency(2, model=FakeModel(two)).decide(seen())
    assert [offer.intention for offer in decision.offers] == ["Summarization"]


async def test_samples_that_fail_do_not_vote_and_are_counted_but_not_all_may() -> None:
    error = EndpointError("server", "no")
    observation = seen()
    decision = await SelfConsistency(3, True, model=FakeModel(in_turn(error, YES, error))).decide(observation)
    assert decision.offers
    assert meter_of(observation).notes == {"sample_failed": 2}
    with pytest.raises(EndpointError):
        await SelfConsistency(2, True, model=FakeModel(error)).decide(seen())


async def test_samples_of_a_run_with_a_seed_count_up_from_it() -> None:
    @dataclass
    class Seeded(FakeModel):
        choice = ModelChoice("m", seed=7)

        def __post_init__(self) -> None:
            super().__init__(NO)

    model = Seeded()
    await SelfConsistency(3, model=model).decide(seen())
    assert [params["seed"] for params in model.params] == [7, 8, 9]
    plain = FakeModel(NO)
    await SelfConsistency(2, model=plain).decide(seen())
    assert plain.params == [{}, {}]


# ---------------------------------------------------------------------------------------------- PIRA


def frame(index: int, name: str | None = None, **more: Any) -> Snapshot:
    image = ImageRef(Path(f"{name or index}.webp"), pixels_hash=name or str(index))
    return Snapshot(index, index * SECOND, index * SECOND, image=image, **more)


def at(snapshots: Sequence[Snapshot], **more: Any) -> Observation:
    observation = observe(snapshots[-1].index, profile={"languages": "English"}, **more)
    observation.snapshot = snapshots[-1]
    observation.history = FakeHistory((), None, snapshots)
    return observation


async def test_naive_is_asked_once_at_the_end_about_the_whole_trajectory() -> None:
    answer = {
        "intents": [{"intent": "find a train", "category": "Information Lookup"}, {"intent": "rest", "category": "?"}]
    }
    model = FakeModel(json.dumps(answer))
    agent = Naive(model=model)
    frames = [frame(i, "ab"[i // 30]) for i in range(60)]
    for i in range(60):
        assert await agent.decide(at(frames[: i + 1])) == Decision()
    assert not model.calls
    observation = at(frames)
    decision = await agent.finish(observation)
    train = Offer("Information Lookup", "find a train", thread="intent-1")
    assert decision.offers == (train, Offer("Uncategorized", "rest", thread="intent-2"))
    assert meter_of(observation).notes == {"category_unread": 1}
    user = asked(model)[1]
    assert user.count(".webp>") == 2, "frames that nobody could tell apart are one"
    assert user.index("The screen 59 s ago:") < user.index("The last screen:")
    assert "languages: English" in user


async def test_of_a_long_trajectory_an_even_choice_is_shown_and_that_is_noted() -> None:
    model = FakeModel("[]")
    agent = Naive(frames=3, model=model)
    frames = [frame(i) for i in range(9)]
    for i in range(9):
        await agent.decide(at(frames[: i + 1]))
    observation = at(frames)
    assert await agent.finish(observation) == Decision(parse_rule="json")
    assert meter_of(observation).notes["frames_left_out"] == 1
    assert [word for word in asked(model)[1].split() if word.startswith("<")] == ["<0.webp>", "<4.webp>", "<8.webp>"]
    assert [s.index for s in spread(frames, 1)] == [8]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('[{"intent": "a", "category": "翻译"}, {"intent": "b"}]', ("json", [("a", "Translation"), ("b", None)])),
        ('{"intents": []}', ("json", [])),
        ('{"intents": ["a", "", 3]}', ("json", [("a", None)])),
        ("1. [Translation] put it into English\n2. find a train", ("lines", [("put it into English", "Translation"),
                                                                            ("find a train", None)])),
        ("Intents:\n\n- find a train\n  since the site was open\n- 翻译 a report", ("lines", [("find a train", None),
                                                                                     ("翻译 a report", None)])),
        ("What I saw:\n1. a terminal\n2. a train site\n\n**Intents**\n1. find a train",
         ("lines", [("find a train", None)])),
        ("1. a terminal was opened\n2. a train site was read\nSo the person was busy.", None),
        ("Let me go through the frames.\n1. a terminal\n2. a train site", None),
        ("**A terminal**\n**A train site**", None),
        ("There were no intents.", ("none", [])),
        ("I see a screen with a great many windows on it", None),
        ("", None),
    ],
)  # fmt: skip
def test_lists_of_intents(text: str, found: object) -> None:
    assert read_intents(text, INTENTIONS) == found


def act(action: str, **fields: Any) -> str:
    return json.dumps({"action": action, **fields})


async def test_pirf_creates_updates_resumes_and_deletes_threads() -> None:
    told = in_turn(
        act("CREATE", intent="find a train", category="Information Lookup", why="train site"),
        act("IDLE", why="a glance"),
        act("CREATE", intent="fix it", category="Error Correction"),
        act("UPDATE", intent="fix the empty list", category="Error Correction"),
        act("RESUME", intent_id="t1"),
        act("IDLE", delete_intent_id="T2"),
        act("UPDATE", intent_id="T9", intent="x"),
        "I do not know.",
    )
    model, agent_decisions = FakeModel(told), list[Decision]()
    agent = Pirf(model=model)
    frames = [frame(i) for i in range(8)]
    meters = []
    for i in range(8):
        observation = at(frames[: i + 1])
        agent_decisions.append(await agent.decide(observation))
        meters.append(meter_of(observation))
    train = Offer("Information Lookup", "find a train", thread="T1")
    rule: dict[str, Any] = {"parse_rule": "json"}
    assert agent_decisions == [
        Decision((train,), **rule),
        Decision(**rule),
        Decision((Offer("Error Correction", "fix it", thread="T2"),), **rule),
        Decision((Offer("Error Correction", "fix the empty list", thread="T2"),), **rule),
        Decision((train,), **rule),
        Decision(retracted=("T2",), **rule),
        Decision(**rule),
        Decision(unparsed=True),
    ]
    assert meters[6].notes["unknown_thread"] == 1
    assert await agent.finish(at(frames)) == Decision((train,))
    user = asked(model, 4)[1]
    assert "T2 (active): fix the empty list [Error Correction]" in user
    assert "T1 (suspended): find a train" in user
    assert "CREATE T1: train site" in user
    assert "deleted T2" in asked(model, 6)[1]


async def test_pirf_reflects_in_a_call_of_its_own_where_that_is_wanted() -> None:
    told = in_turn(
        act("CREATE", intent="find a train", category="Information Lookup"),
        act("CREATE", intent="fix it", category="Error Correction"),
        '{"delete_intent_id": "T1", "why": "booked"}',
        act("IDLE", delete_intent_id="T2"),
        "none of them is over",
        act("UPDATE", intent="fix the empty list"),
        '{"delete_intent_id": null}',
    )
    model = FakeModel(told)
    agent = Pirf(model=model, reflection="call")
    frames = [frame(i) for i in range(4)]
    meters, decisions = [], list[Decision]()
    for i in range(4):
        observation = at(frames[: i + 1])
        decisions.append(await agent.decide(observation))
        meters.append(meter_of(observation))
    assert [d.retracted for d in decisions] == [(), ("T1",), (), ()]
    assert [[o.thread for o in d.offers] for d in decisions] == [["T1"], ["T2"], [], ["T2"]]
    assert [m.notes.get("reflection_unread", 0) for m in meters] == [0, 0, 1, 0]
    assert len(model.schemas) == 7, "no threads, no second call"
    task, second = asked(model, 1)[1], asked(model, 2)[1]
    assert "delete_intent_id" not in task
    assert "Take exactly one action" not in second
    assert "T1 (active): find a train" in second, "what it reflects on is the list before the action"
    assert "T2" not in second
    assert "delete_intent_id" in second
    frames_of = [[word for word in asked(model, n)[1].split() if word.endswith(".webp>")] for n in (1, 2)]
    assert frames_of[0] == frames_of[1] != []


async def test_a_reflection_that_fails_leaves_the_threads_as_they_were() -> None:
    told = iter([act("CREATE", intent="find a train"), act("CREATE", intent="fix it"), None, act("IDLE"), "{}"])

    def answer(*given: Any) -> str:
        said = next(told)
        if said is None:
            raise EndpointError("server", "busy")
        return said

    agent = Pirf(model=FakeModel(answer), reflection="call")
    frames = [frame(i) for i in range(3)]
    await agent.decide(at(frames[:1]))
    with pytest.raises(EndpointError):
        await agent.decide(at(frames[:2]))
    await agent.decide(at(frames))
    assert [o.text for o in (await agent.finish(at(frames))).offers] == ["find a train"]


async def test_pirf_sees_the_last_ten_frames_that_differ() -> None:
    model = FakeModel(act("IDLE"))
    frames = [frame(i, str(i // 2)) for i in range(40)]
    await Pirf(model=model).decide(at(frames))
    shown = [word.strip("<>").removesuffix(".webp") for word in asked(model)[1].split() if word.endswith(".webp>")]
    assert shown == [str(n) for n in range(10, 20)]


def test_actions_are_read_from_fields_in_text_too() -> None:
    action = read_action("Action: UPDATE\nintent_id: T3\nintent: find a train\ncategory: Translation", INTENTIONS)
    assert action is not None
    assert (action.what, action.thread, action.intent, action.category, action.rule) == (
        "UPDATE", "T3", "find a train", "Translation", "fields",
    )  # fmt: skip
    assert read_action('{"action": "DANCE"}', INTENTIONS) is None


# ---------------------------------------------------------------------------------------------- parameters, prompts


@pytest.mark.parametrize(
    "spec",
    ["zero-shot:modality=smell", "zero-shot:frames=2", "zero-shot:stages=3", "zero-shot:form=verse",
     "zero-shot:budget=3", "zero-shot:personas=nowhere", "zero-shot:recall=-1", "self-consistency:k=0", "pirf:frames=0",
     "pirf:reflection=both",
     "naive:frames=0", "zero-shot:prompts=/nowhere", "zero-shot:model=gpt", "cot:k=3"],
)  # fmt: skip
def test_parameters_that_cannot_be_are_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        make_agent(spec, model=FakeModel())


def test_a_lone_value_is_a_strategys_own_first_parameter() -> None:
    assert SelfConsistency.header_facts({"value": 3})["k"] == 3
    assert SelfConsistency.header_facts({"k": 3, "form": "json"}) == {
        "k": 3, "concurrent": False, "stages": 1, "modality": "text", "frames": 0, "recall": 5, "budget": 6000,
        "memory_budget": 1000, "personas": "memory", "form": "json", "ocr": "tesseract",
        "truncation": "quarter-profile-half-screen-oldest-events/1", "ties": "silent-then-first-sample/1",
        "prompts": SelfConsistency.header_facts({"form": "json"})["prompts"],
    }  # fmt: skip


def test_what_changes_a_prompt_changes_its_hash_and_nothing_else_does(tmp_path: Path) -> None:
    plain = ZeroShot.header_facts({})["prompts"]
    assert ZeroShot.header_facts({"prompts": str(tmp_path)})["prompts"] == plain
    (tmp_path / "task_pirf.md").write_text("{{threads}}", encoding="utf-8")
    assert ZeroShot.header_facts({"prompts": str(tmp_path)})["prompts"] == plain, "a part that it does not use"
    (tmp_path / "task_zero_shot.md").write_text("<!-- mine -->\r\nHelp? {{answer}}\n", encoding="utf-8")
    assert ZeroShot.header_facts({"prompts": str(tmp_path)})["prompts"] != plain


async def test_prompts_of_ones_own_come_before_ours(tmp_path: Path) -> None:
    (tmp_path / "task_zero_shot.md").write_text("<!-- mine -->\nHelp? {{answer}}\n", encoding="utf-8")
    model = FakeModel(NO)
    await ZeroShot(prompts=str(tmp_path), model=model).decide(seen(title="{{answer}} {{profile}}"))
    user = asked(model)[1]
    assert "Help? Answer in exactly these three lines" in user
    assert "mine" not in user
    assert "{{answer}} {{profile}}" in user, "what is filled in is not read again"


async def test_places_and_files_that_are_not_known_are_told(tmp_path: Path) -> None:
    (tmp_path / "system.md").write_text("{{intention}}", encoding="utf-8")
    with pytest.raises(InputError, match="intentions"):
        await ZeroShot(prompts=str(tmp_path), model=FakeModel(NO)).decide(seen())
    (tmp_path / "task_zeroshot.md").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match="did you mean 'task_zero_shot'"):
        ZeroShot(prompts=str(tmp_path))


@pytest.mark.parametrize("strategy", [ZeroShot, Cot, SelfConsistency, Naive, Pirf])
@pytest.mark.parametrize("form", ["lines", "json"])
def test_every_part_that_a_strategy_uses_is_there_and_each_file_is_used(strategy: type[Asking], form: str) -> None:
    assert all((FOLDER / f"{part}.md").is_file() for part in strategy.parts(form))


def test_no_file_of_prompts_is_left_over_and_the_readme_names_each() -> None:
    used = {p for s in (ZeroShot, Cot, SelfConsistency, Naive, Pirf) for f in ("lines", "json") for p in s.parts(f)}
    files = {file.stem for file in FOLDER.glob("*.md")} - {"README"}
    assert files == used
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}.md`" in readme or name.startswith("answer_") for name in files)


async def test_a_strategy_that_was_given_no_model_says_so_and_closing_closes_the_model() -> None:
    with pytest.raises(UsageError, match="ZeroShot asks a model"):
        await ZeroShot().decide(seen())
    model = FakeModel()
    await ZeroShot(model=model).close()
    assert model.closed == 1
