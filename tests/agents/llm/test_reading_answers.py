"""What models write, read by the cascade: each rule by examples, the whole by hostile text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.llm.aliases import MORE, last_mentioned, read_intention
from agents.llm.parse import MOST_CHARS, Said, json_objects, read_answer
from simulator.core.intentions import ALIASES, INTENTIONS
from simulator.timing.clock import real_ns


def read(text: str, **more: str) -> tuple[bool | None, str, str | None] | None:
    said = read_answer(text, INTENTIONS, **more)
    return None if said is None else (said.help, said.rule, said.intention)


YES_TRANSLATION = (True, "format", "Translation")


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("1. Need help: Yes\n2. Intention category: Translation\n3. Offer: Shall I?", YES_TRANSLATION),
        ("Need help: yes\nIntent category: [translation]", YES_TRANSLATION),
        ("**Need help**: **Yes**\n**Intention category:** *Translation*", YES_TRANSLATION),
        ("- Need help：Yes\n- Category：翻译", YES_TRANSLATION),
        ("1）需要帮助：是\n2）意图类别：【翻译】\n3）建议：要我翻译吗？", YES_TRANSLATION),
        ("是否需要帮助：否", (False, "format", None)),
        ("Need help: No; Intent category: Uncategorized.", (False, "format", None)),
        ("Need help: Yes\nIntention category: Code Programming", (True, "format", "Coding/Programming")),
        ("Need help: Yes\nIntention category: Information Retrieval", (True, "format", "Information Lookup")),
        ("Need help: Yes\nIntention category: It is about translation, I think", YES_TRANSLATION),
        ("Need help: Yes\nIntention category: banana", (True, "format", None)),
    ],
)
def test_the_lines_that_were_asked_for(text: str, means: object) -> None:
    assert read(text) == means


@pytest.mark.parametrize(
    ("text", "helps"),
    [
        ("Need help = No", False), ("Need help - Yes", True), ("Need help – No", False), ("Need help? No", False),
        ("| Need help | Yes |", True), ("The answer: Need help: No", False), ("<answer>Need help: Yes</answer>", True),
        ("Does the user need help? Yes.", True), ("Need help: not needed", False), ("Need help: Probably not", False),
        ("Need help: None", False), ("need_help: true", True), ("Assistance needed: no", False), ("需要帮助=否", False),
    ],
)  # fmt: skip
def test_the_verdict_however_it_is_marked(text: str, helps: bool) -> None:
    assert read(text, asked="when") == (helps, "format", None)


@pytest.mark.parametrize(
    "text", ["Need help: Maybe", "Need help: Notable", "Need help: not sure", "Need help: yesterday"]
)
def test_neither_yes_nor_no_is_neither(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("{'need_help': True, 'intention': 'Translation', 'offer': 'Shall I?'}", (True, "json-mended", "Translation")),
        ('{"need_help": true, "intention": "Translation", "offer": "unfini', (True, "json-mended", "Translation")),
        ('{"need_help": false,', (False, "json-mended", None)),
    ],
)
def test_what_was_meant_as_json(text: str, means: object) -> None:
    assert read(text) == means


def test_the_later_of_two_verdicts_wins() -> None:
    assert read("Need help: Yes\nHm, wait.\nNeed help: No") == (False, "format", None)
    assert read("They need help. On second thought, they do not need help.") == (False, "keywords", None)
    assert read("No help is needed at first, but now help is needed.") == (True, "keywords", None)


@pytest.mark.parametrize(
    "text",
    ["Need help: Yes or No", "Need help: Yes/No", "Need help: [Yes | No]", "Does the user need help?", "",
     "I cannot tell.", "需要帮助：是或否", "Whether the user needs help is hard to say.", "{}", "[]", "null",
     '{"offer": "x"}'],
)  # fmt: skip
def test_a_form_said_over_again_a_question_or_nothing_is_no_answer(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ('{"need_help": true, "intention": "Translation", "offer": "x"}', (True, "json", "Translation")),
        ('```json\n{"Need Help": "Yes", "category": "debugging"}\n```', (True, "json", "Error Correction")),
        ('Here: {"need_help": "否", "intention": null}', (False, "json", None)),
        ('{"need_help": 1, "intention": 7}', (True, "json", None)),
        ('{"a": {"need_help": true}} {"need_help": false}', (False, "json", None)),
        ('{"need_help": true} then {"need_help": "perhaps"}', (True, "json", None)),
    ],
)
def test_json_wherever_it_stands(text: str, means: object) -> None:
    assert read(text) == means


@pytest.mark.parametrize(
    ("text", "helps"),
    [
        ("The user does not currently need any help.", False), ("No assistance is required.", False),
        ("Help isn't needed.", False), ("There is no need for help here", False), ("用户不需要任何帮助。", False),
        ("The user could use some help.", True), ("Assistance would be welcome", True), ("用户现在需要帮助", True),
        ("Yes.", True), ("No, they are fine", False), ("Verdict: yes", True), ("答案：否", False),
    ],
)  # fmt: skip
def test_keywords(text: str, helps: bool) -> None:
    said = read_answer(text, INTENTIONS)
    assert said is not None
    assert (said.help, said.rule) == (helps, "keywords")


def test_words_of_no_verdict_are_not_taken_for_one() -> None:
    assert read("There is no error on the screen, and yes-men abound.") is None


def test_step_three_is_read_where_nothing_else_can_be() -> None:
    steps = "Step 1: writes\nStep 2: {}\nStep 3: {}\nStep 4: translation of the page"
    assert read(steps.format("not stuck", "An offer would be useful.")) == (True, "cot-step-3", "Translation")
    assert read(steps.format("useful?", "Not at this moment.")) == (False, "cot-step-3", None)
    assert read("步骤1：写\n步骤3：有帮助\n步骤4：翻译") == (True, "cot-step-3", None)
    assert read("Step 1: useful\nStep 2: useful") is None


def test_two_stages_are_read_each_by_what_was_asked() -> None:
    assert read("Need help: Yes", asked="when") == (True, "format", None)
    assert read("Intention category: Translation\nOffer: Shall I?", asked="how") == (None, "format", "Translation")
    assert read('{"intention": "Translation", "offer": "x"}', asked="how") == (None, "json", "Translation")
    assert read("I would offer a translation", asked="how") == (None, "keywords", "Translation")
    assert read("I would offer a hand", asked="how") is None


def test_what_is_offered_is_a_text_for_a_person() -> None:
    answer = "Need help: Yes\nCategory: Translation\nOffer: “Shall I put\nit into English?”\n\nConfidence: 80%"
    assert read_answer(answer, INTENTIONS) == Said(True, "format", "Translation", "Shall I put it into English?", 0.8)
    none = read_answer("Need help: Yes\nCategory: Translation\nOffer: none", INTENTIONS)
    assert none is not None
    assert none.text == ""


def test_intentions_of_a_scenarios_own_are_known_by_their_names() -> None:
    own = ("Book a train", "Translation")
    assert read_intention("book a TRAIN", own) == "Book a train"
    assert last_mentioned("first translation, then book a train please", own) == "Book a train"
    assert read_intention("Summarization", own) is None, "known, but not in use"


@pytest.mark.parametrize(
    ("alias", "of"), [*ALIASES.items(), *((name, of) for of, names in MORE.items() for name in names)]
)
def test_every_alias_names_its_category_whatever_is_around_it(alias: str, of: str) -> None:
    assert read_intention(alias, INTENTIONS) == of
    assert read_intention(f" **[{alias.upper()}]**. ", INTENTIONS) == of


def test_no_alias_names_two_categories() -> None:
    names = [name for many in MORE.values() for name in many]
    assert len(names) == len(set(names))
    assert not {n.casefold() for n in INTENTIONS} & set(names)
    assert set(MORE) == set(INTENTIONS)


PIECES = st.sampled_from(
    ["Need help: ", "Yes", "No", "是", "\n", "Step 3", "Step 4:", "{", "}", '{"need_help": ', "true", "[", "**", " or ",
     "Intention category: ", "Offer: ", "翻译", "Translation", "不需要帮助", "needs help", "\x00", "\ud800", ":",
     "\u202e", "1. ", '"', "\\", "</think>", "if ", "🧨", "\r", "\u2028"]
)  # fmt: skip
HOSTILE = st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=60).map("".join)


@given(HOSTILE, st.sampled_from(["both", "when", "how"]))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_or_is_not_and_what_is_read_can_be_used(text: str, asked: str) -> None:
    said = read_answer(text, INTENTIONS, asked=asked)
    if said is None:
        return
    assert (said.help is None) == (asked == "how")
    assert said.intention is None or said.intention in INTENTIONS
    assert said.confidence is None or 0 <= said.confidence <= 1
    assert "\n" not in said.text
    assert said.rule in ("format", "json", "json-mended", "keywords", "cot-step-3")
    if said.help is False:
        assert said.intention is None


@given(HOSTILE, st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_verdict_in_the_asked_form_at_the_end_wins_over_whatever_came_before(text: str, helps: bool) -> None:
    said = read_answer(f"{text}\n\nNeed help: {'Yes' if helps else 'No'}\n", INTENTIONS, asked="when")
    assert said is not None
    assert (said.help, said.rule) == (helps, "format")


@pytest.mark.parametrize(
    "piece",
    ["{", "[{", '{"a":', "*", " ", "\n", "\n* ", "- ", "1. ", "*_ ", "step 3 ", "\nstep 3", "needs some ", "if ", "0",
     "does not yet ", "need help ", "no help ", "\noffer: ", "信", "\ud800", "is not "],
)  # fmt: skip
def test_text_made_to_be_slow_is_not(piece: str) -> None:
    text = piece * (2 * MOST_CHARS // len(piece))
    begun = real_ns()
    read_answer(text, INTENTIONS)
    assert real_ns() - begun < 3_000_000_000  # about 0.1 s; by a careless pattern it was minutes


def test_only_the_end_of_a_very_long_answer_is_read() -> None:
    assert read("Need help: Yes\n" + "x" * MOST_CHARS) is None
    assert read("x" * MOST_CHARS + "\nNeed help: No") == (False, "format", None)


def test_json_objects_of_any_depth_cost_no_stack() -> None:
    assert list(json_objects('{"a":' * 50_000)) == []
    assert list(json_objects('x {"a": 1} {b} {"c": {"d": 2}}')) == [{"a": 1}, {"c": {"d": 2}}]
