from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from agents.base import majority_intention, make_agent, spoken
from agents.testing import observe
from simulator.core.errors import InputError, UsageError
from simulator.core.types import SECOND, Decision, Setup
from simulator.session.truth import Intent, Moment, Opportunity, Truth

SETUP = Setup("s", "u", {}, ("Debug", "Information Lookup", "Translation"), 7)


async def play(agent: Any, indices: Iterable[int]) -> dict[int, list[str]]:
    """Intentions offered, by second."""
    decisions: dict[int, Decision] = {i: await agent.decide(observe(i)) for i in indices}
    return {i: [o.intention for o in d.offers] for i, d in decisions.items() if d.offers}


async def test_always_offers_the_most_frequent_intention_in_use() -> None:
    agent: Any = make_agent("always")
    await agent.open(SETUP)
    assert await play(agent, range(2)) == {0: ["Information Lookup"], 1: ["Information Lookup"]}
    assert majority_intention(("A", "B")) == "A"
    agent = make_agent("always:Debug")
    await agent.open(SETUP)
    assert await play(agent, range(1)) == {0: ["Debug"]}


async def test_random_speaks_at_its_rate_whatever_was_asked_before() -> None:
    agent: Any = make_agent("random:rate=0.2")
    await agent.open(SETUP)
    said = await play(agent, range(2000))
    assert 300 < len(said) < 500
    assert {i for found in said.values() for i in found} == set(SETUP.intentions)
    assert await play(agent, range(1999, -1, -1)) == said
    with pytest.raises(UsageError, match="rate must be from 0 to 1"):
        make_agent("random:rate=2")


def truth(**more: Any) -> Truth:
    return Truth("s", "u", 100 * SECOND, **more)


async def test_the_oracle_offers_once_in_each_open_window() -> None:
    needs = (
        Opportunity("b", 50 * SECOND, 60 * SECOND, "Translation", query="was heißt das"),
        Opportunity("a", 10 * SECOND, 30 * SECOND, "Debug"),
        Opportunity("c", 20 * SECOND, 21 * SECOND, "Debug", unservable="shorter than 2 s"),
    )
    agent: Any = make_agent("oracle", truth=truth(opportunities=needs))
    assert await play(agent, range(100)) == {10: ["Debug"], 50: ["Translation"]}
    late: Any = make_agent("oracle", truth=truth(opportunities=needs))
    assert await play(late, range(30, 100, 25)) == {55: ["Translation"]}  # at 30 the first one had closed


async def test_the_oracle_answers_the_sampled_moments() -> None:
    asked = (Moment(5 * SECOND, True, "Debug", "why?"), Moment(9 * SECOND, False), Moment(12 * SECOND, True))
    agent: Any = make_agent("oracle", truth=truth(moments=asked))
    assert await play(agent, (5, 9, 12)) == {5: ["Debug"], 12: ["Information Lookup"]}


async def test_the_oracle_names_the_intents_of_a_trajectory_and_needs_a_truth() -> None:
    agent: Any = make_agent("oracle", truth=truth(intents={"p": (Intent("book a train", "Debug"), Intent("eat"))}))
    done = await agent.finish(observe(9))
    assert [(o.intention, o.text) for o in done.offers] == [("Debug", "book a train"), ("eat", "eat")]
    assert agent.sees_truth
    with pytest.raises(UsageError, match="needs the truth"):
        make_agent("oracle")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("o.yaml", "- {t_s: 2.5, intention: Debug, text: hi, confidence: 0.5}\n- {t_s: 1, intention: Translation}\n"),
        ("o.jsonl", '{"t_s": 2.5, "intention": "Debug", "text": "hi", "confidence": 0.5}\n\n'
                    '{"t_s": 1, "intention": "Translation"}\n'),
    ],
)  # fmt: skip
async def test_scripted_offers_come_at_the_first_snapshot_after_their_time(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    agent: Any = make_agent(f"scripted:{tmp_path / name}")
    await agent.open(SETUP)
    assert await play(agent, range(5)) == {1: ["Translation"], 3: ["Debug"]}
    agent = make_agent(f"scripted:{tmp_path / name}")
    assert await play(agent, range(4, 6)) == {4: ["Translation", "Debug"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("intention: x", "a list of offers is wanted"),
        ("- 5", "offer 1: an offer is a mapping"),
        ("- {t_s: 1}", "offer 1: intention: a text is wanted"),
        ("- {t_s: 1, intention: ' '}", "offer 1: intention: ' ': a text is wanted"),
        ("- {t_s: -1, intention: x}", "t_s: '-1': seconds since the first snapshot"),
        ("- {t_s: .nan, intention: x}", "t_s: 'nan'"),
        ("- {t_s: true, intention: x}", "t_s: 'True'"),
        ("- {t_s: 1, intention: x, confidence: 2}", "confidence: '2': a number from 0 to 1"),
        ("- {t_s: 1, intention: x, text: [1]}", "text: "),
        ("- {t_s: 1, intent: x}", "'intent': unknown field; did you mean 'intention'"),
        ("- {t_s: 1, intention: x", "cannot be read as YAML: line 1"),
    ],
)
def test_a_bad_script_is_refused_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "o.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        make_agent(f"scripted:{tmp_path / 'o.yaml'}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_script_with_an_intention_that_the_run_does_not_know_is_refused(tmp_path: Path) -> None:
    (tmp_path / "o.jsonl").write_text('{"t_s": 1, "intention": "Translaton"}', encoding="utf-8")
    agent: Any = make_agent(f"scripted:{tmp_path / 'o.jsonl'}")
    with pytest.raises(InputError, match=r"o\.jsonl, line 1: intention: 'Translaton': did you mean 'Translation'"):
        await agent.open(SETUP)
    with pytest.raises(InputError, match="cannot be read"):
        make_agent("scripted:nowhere.yaml")
    (tmp_path / "o.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="not JSON"):
        make_agent(f"scripted:{tmp_path / 'o.jsonl'}")


def test_an_intention_is_spoken_by_the_name_in_use() -> None:
    assert spoken("coding", ("Coding/Programming",)) == "Coding/Programming"
    assert spoken("book a train", ("Coding/Programming",)) == "book a train"


def test_an_intention_that_is_not_in_use_is_found_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "o.yaml").write_text("- {t_s: 1, intention: Translaton}", encoding="utf-8")
    with pytest.raises(InputError, match="offer 1: intention: 'Translaton': did you mean 'Translation'"):
        make_agent(f"scripted:{tmp_path / 'o.yaml'}", intentions=SETUP.intentions)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("scripted", "agent 'scripted' needs the parameter 'file', as in 'scripted:VALUE'"),
        ("prior:k=many", "agent 'prior': k: a whole number is wanted, not 'many'"),
        ("prior:k=1.5", "k: a whole number is wanted, not '1.5'"),
        ("prior:k=true", "k: a whole number is wanted, not 'True'"),
        ("prior:threshold=high", "threshold: a number is wanted, not 'high'"),
        ("prior:threshold=nan", "threshold: a number is wanted, not 'nan'"),
        ("random:rate=inf", "rate: a number is wanted, not 'inf'"),
        ("random:0.1,0.2", "'random:0.1,0.2': two values have no name"),
        ("random:rate=0.1,rate=0.2", "the parameter 'rate' is given twice"),
        ("random:rate=0.1,0.2", "'rate' is given twice, once without its name"),
        ("oracle:truth=x", "agent 'oracle' has no parameter 'truth'; known: none"),
    ],
)
def test_a_parameter_of_the_wrong_kind_is_told_with_what_is_wanted(spec: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        make_agent(spec)
    assert said in str(caught.value)


async def test_a_number_may_be_a_text_where_one_is_wanted() -> None:
    agent: Any = make_agent("always:404")
    await agent.open(SETUP)
    assert await play(agent, range(1)) == {0: ["404"]}
